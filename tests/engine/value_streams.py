"""Values of everything that the engine computes, as digests of their bits.

`python -m tests.engine.value_streams` prints them as JSON, for the target that FIBSBOT_TARGET names; with names of
streams, only these; with `--expected FILE` it compares them with that file's.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from fibsbot.engine.bearoff.solver import compute_tables
from fibsbot.engine.engine import Engine
from fibsbot.engine.match_equity import match_chance
from fibsbot.engine.rollout.games import BlockPlayer, RolloutPlan, play_candidates
from fibsbot.engine.rulesets.evaluator import RulesetEvaluator
from fibsbot.engine.rulesets.network import GAME_NETWORKS
from fibsbot.engine.search import SearchLimits
from fibsbot.games import load_ruleset
from fibsbot.match import MatchState, Phase
from fibsbot.position import Play, Position
from fibsbot.rules.game import play, roll, start_match_of
from fibsbot.rules.general_plays import resulting_boards
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import Seat, Stage
from tests.engine.toys import some_positions

Stream = Iterator[npt.ArrayLike]
_CHECKERS: Final = 6
"""Checkers of the bear-off tables that are computed: as many as take a second."""


@cache
def _engine() -> Engine:
    return Engine.load(tables=False)


def evaluation() -> Stream:
    """Yield the chances of positions with contact and of races."""
    yield _engine().evaluate(some_positions(3000, 1))


def plays() -> Stream:
    """Yield the equities of plays at 1 and 2 plies."""
    rng = random.Random(2)
    for number, position in enumerate(some_positions(240, 2)[::12]):
        state = MatchState(position, length=number % 9, phase=Phase.MOVE, dice=(rng.randint(1, 6), rng.randint(1, 6)))
        for plies in (1, 2):
            ranking = _engine().rank(state, limits=SearchLimits(plies))
            yield [it.equity for it in ranking.plays]
            yield from (it.outcomes for it in ranking.plays)


def cube() -> Stream:
    """Yield the equities of cube actions at 1 ply, for money and at scores."""
    for number, position in enumerate(some_positions(300, 3)[::15]):
        away = number % 5 * 3
        analysis = _engine().analyse_cube(MatchState(position, length=away, cube=1 + number % 2), SearchLimits(1))
        verdict = analysis.verdict
        yield [verdict.no_double, verdict.double_take, verdict.double_pass, analysis.double_take]
        yield analysis.outcomes


def rollouts() -> Stream:
    """Yield the results of a block of games of a rollout, with and without reduced variance."""
    state = MatchState(Position.start(), length=5, phase=Phase.MOVE, dice=(4, 3))
    candidates = play_candidates(state, legal_plays(state.position, (4, 3))[:2], ["one", "other"])
    for reduction in (True, False):
        plan = RolloutPlan(trials=36, seed=7, variance_reduction=reduction, truncated=9)
        yield from BlockPlayer(_engine()).play(candidates, plan, 0)


def bearoff() -> Stream:
    """Yield bear-off tables."""
    tables = compute_tables(_CHECKERS)
    yield from (tables.columns.rolls, tables.columns.first, tables.columns.means, tables.columns.pairs)


def match_equity() -> Stream:
    """Yield the chances to win matches, also of lengths beyond the table."""
    yield [match_chance(own, theirs, crawford_played=False) for own in range(1, 80, 3) for theirs in range(1, 80, 3)]


def _game(name: str) -> Stream:
    """Yield the chances of tables of a game, and the plays that are chosen at 0 and at 1 ply."""
    rules = load_ruleset(name)
    evaluator, rng = RulesetEvaluator(rules), random.Random(name)
    state = start_match_of(rules, 0, begins=Seat.A)
    for _ in range(12):
        if state.stage is Stage.OVER:
            return
        if state.stage is Stage.ROLL:
            state = roll(state, state.turn, tuple(rng.randint(1, 6) for _ in range(rules.dice)))
        if state.stage is Stage.MOVE:
            found = resulting_boards(state.rules, state.sides, state.part)
            if found:
                after = sorted(found, key=repr)[:40]
                yield evaluator.chances(after)
                steps = [(it, len(found[it])) for it in after]
                for plies in (0, 1):
                    yield evaluator.best_play(state.sides, state.turn_left, steps, passed=state.passed, plies=plies)
            state = play(state, state.turn, Play(rng.choice(list(found.values()))) if found else Play())


STREAMS: Final[dict[str, Callable[[], Stream]]] = {
    **{it.__name__: it for it in (evaluation, plays, cube, rollouts, bearoff, match_equity)},
    **{path.stem: partial(_game, path.stem) for path in sorted(GAME_NETWORKS.glob("*.npz"))},
}
"""The streams by their names."""


def digest(name: str) -> str:
    """Return a digest of all bits of a stream."""
    found = hashlib.sha256()
    for values in STREAMS[name]():
        found.update(np.ascontiguousarray(values).tobytes())
    return found.hexdigest()[:16]


def main() -> int:
    """Print the digests of all streams, or of those that are named; after `--expected` compare all with a file's."""
    if sys.argv[1:2] == ["--expected"]:
        expected = json.loads(Path(sys.argv[2]).read_text("utf-8"))
        different = [name for name in STREAMS if digest(name) != expected[name]]
        print(f"{len(STREAMS)} streams of values, different: {' '.join(different) or 'none'}")  # noqa: T201
        return int(bool(different))
    print(json.dumps({name: digest(name) for name in sys.argv[1:] or STREAMS}, indent=1))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
