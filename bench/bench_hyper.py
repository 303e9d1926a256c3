"""What the network of Hyper-backgammon loses against the exact table, without a cube.

Usage: python -m bench.bench_hyper [--games 500] [--network FILE] [--seed 1]

The table is that of the training (`fibsbot.engine.training.hyper`); it is made first unless the cache folder of the
user has it.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from pathlib import Path
from typing import Final

from fibsbot.engine.rulesets.evaluator import RulesetEvaluator
from fibsbot.engine.rulesets.network import GameNetwork, load_network
from fibsbot.engine.rulesets.parameters import state_of
from fibsbot.engine.training.hyper import ExactTable, exact_table, points_of, solve_all
from fibsbot.games import load_ruleset
from fibsbot.position import Play
from fibsbot.rules.game import play, roll, roll_opening, start_match_of
from fibsbot.rules.general_plays import outcome, resulting_boards, turn_over
from fibsbot.rules.state import GameState, Stage

RULES: Final = load_ruleset("hyper")
WRONG: Final = 1e-4
"""Points; a choice that loses more is not the best play."""


def solved() -> ExactTable:
    """Return the table, made first if there is none yet."""
    began = time.monotonic()
    for change in solve_all():
        print(f"largest change {change:.6f} after {time.monotonic() - began:.0f} s", flush=True)
    return exact_table()


def losses(table: ExactTable, network: GameNetwork | None, games: int, seed: int) -> tuple[list[float], int]:
    """Return what each choice of the network loses in games against itself, in points, and how many it had."""
    evaluator = RulesetEvaluator(RULES, network)
    rng = random.Random(seed)
    lost, rolls = [], 0
    for _ in range(games):
        state = start_match_of(RULES, 0)
        while state.stage is Stage.OPENING:
            state = roll_opening(state, rng.randint(1, 6), rng.randint(1, 6))
        while state.stage is not Stage.OVER:
            if state.stage is Stage.ROLL:
                state = roll(state, state.turn, (rng.randint(1, 6), rng.randint(1, 6)))
            rolls += 1
            chosen, loss = choice(table, evaluator, state)
            state = play(state, state.turn, chosen)
            lost += [] if loss is None else [loss]
    return lost, rolls


def choice(exact: ExactTable, evaluator: RulesetEvaluator, state: GameState) -> tuple[Play, float | None]:
    """Return the network's play and what it loses; None if there is no choice."""
    plays = resulting_boards(RULES, state.sides, state.part)
    if len(plays) < 2:
        return Play(next(iter(plays.values()), ())), None
    tables = list(plays)
    guessed, true = [], []
    for table in tables:
        end, seen = outcome(RULES, state.sides, table), turn_over(table)
        guessed.append(float(end.points) if end else -float(evaluator.points([seen])[0]))
        true.append(float(end.points) if end else -points_of(exact, state_of(seen)))
    best = max(range(len(tables)), key=guessed.__getitem__)
    return Play(plays[tables[best]]), max(true) - true[best]


def main() -> None:
    """Solve, and print what the network loses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--network", type=Path, help="by default the bundled one")
    options = parser.parse_args()
    table = solved()
    network = None if options.network is None else load_network(options.network)
    lost, rolls = losses(table, network, options.games, options.seed)
    wrong = sum(it > WRONG for it in lost)
    start = points_of(table, state_of(RULES.start()))
    print(f"the player who rolls first from the set-up can expect {start:+.4f} points")
    print(
        f"{len(lost)} choices in {rolls} rolls of {options.games} games: {statistics.fmean(lost):.5f} points lost a "
        f"choice, {sum(lost) / options.games:.4f} a game; {100 * wrong / len(lost):.1f} % not the best play"
    )


if __name__ == "__main__":
    main()
