"""Games of a rollout: unbiased with any evaluator, and more accurate when adjusted for luck."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from fibsbot.engine.arrays import Boards, Outcomes, boards_of
from fibsbot.engine.bearoff import BearoffTables
from fibsbot.engine.engine import Engine
from fibsbot.engine.network_evaluator import NetworkEvaluator
from fibsbot.engine.rollout import (
    Candidate,
    CandidateResult,
    RolloutPlan,
    cube_candidates,
    games,
    play_candidates,
    position_candidate,
)
from fibsbot.engine.rollout.games import BlockPlayer
from fibsbot.engine.search.lookahead import DecisionCubes
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.position import Play, Position
from tests.engine.search.brute_force import EVERY_PLAY
from tests.engine.toy_engines import pip_engine, toy_engine
from tests.engine.toys import solved, toy_network, toy_pruner

RACE = Position.from_sides(own=[1, 0, 1, 0, 1, 1] + [0] * 19, opponent=[0, 1, 1, 1, 0, 0] + [0] * 19)
ENDS_SOON = Position.from_sides(own=[0, 2] + [0] * 23, opponent=[1, 1, 1] + [0] * 22)


@pytest.fixture(scope="module")
def tables() -> BearoffTables:
    return solved(4)


@pytest.fixture(autouse=True)
def _nothing_pruned(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pruner of these tests knows nothing."""
    monkeypatch.setattr(games, "ROLLOUT_FILTER", EVERY_PLAY)


class Timid:
    """Ranks positions as the tables do, but thinks that everything is nearer to even than it is."""

    name = "timid"

    def __init__(self, tables: BearoffTables) -> None:
        self._inner = NetworkEvaluator("tables", toy_network(), tables.columns)

    def evaluate(self, boards: Boards) -> Outcomes:
        """Return chances that are half as far from even, but for games that are over."""
        sure = self._inner.evaluate(boards)
        going = (boards < 0).any(axis=1)
        sure[going, 0] = 0.25 + sure[going, 0] / 2
        sure[going, 3] = 1 - sure[going, 0]
        return sure


def blocks(engine: Engine, candidate: Candidate, plan: RolloutPlan, count: int) -> CandidateResult:
    roller = BlockPlayer(engine)
    return CandidateResult(
        candidate, np.concatenate([roller.play([candidate], plan, block)[0] for block in range(count)])
    )


@pytest.mark.slow
def test_it_is_unbiased_whatever_the_evaluator_thinks(tables: BearoffTables) -> None:
    engine = Engine(Timid(tables), toy_pruner())
    (candidate,) = position_candidate(MatchState(RACE))
    win = float(tables.evaluate(boards_of([RACE]))[0, 0])
    assert abs(win - float(engine.evaluate([RACE])[0, 0])) > 0.05
    surely = blocks(engine, candidate, RolloutPlan(cubeful=False), 36)
    unreduced = blocks(engine, candidate, RolloutPlan(cubeful=False, variance_reduction=False), 36)
    for found in (surely, unreduced):
        assert abs(found.outcomes[0] - win) < 4 * found.outcome_errors[0]
        assert abs(found.equity - (2 * win - 1)) < 4 * found.error
        assert found.cubeless == pytest.approx(found.equity, abs=1e-6)
    assert surely.error < 0.6 * unreduced.error, "the luck that half of a right evaluation sees is taken out"


class _Blind(DecisionCubes):
    """Plays on even where the tables know all."""

    def are_final(self, boards: Boards) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return np.asarray((boards <= 0).all(axis=1) | (boards >= 0).all(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("owner", [Owner.CENTRED, Owner.PLAYER])
def test_with_an_evaluator_that_knows_there_is_nothing_left_but_luck(
    tables: BearoffTables, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Played to the end with the cube: each single game gives what the tables say, once its luck is taken out."""
    monkeypatch.setattr("fibsbot.engine.search.searcher.DecisionCubes", _Blind)
    engine = Engine(NetworkEvaluator("tables", toy_network(), tables.columns), toy_pruner())
    state = MatchState(RACE, owner=owner, cube=1 if owner is Owner.CENTRED else 2)
    exact = tables.money(boards_of([RACE])[0])
    assert exact
    for candidate, expected in zip(cube_candidates(state), (exact.no_double(owner), exact.double_take), strict=True):
        found = blocks(engine, candidate, RolloutPlan(), 1)
        assert np.full(36, expected) == pytest.approx(found.trials[:, 6], abs=1e-4)
        unreduced = blocks(engine, candidate, RolloutPlan(variance_reduction=False), 20)
        assert unreduced.error > 0.01
        assert abs(unreduced.equity - expected) < 4 * unreduced.error
    (whole,) = position_candidate(state)
    assert exact.value(owner) == pytest.approx(blocks(engine, whole, RolloutPlan(), 1).equity, abs=1e-4)


@pytest.mark.slow
def test_what_the_tables_know_is_not_played(tables: BearoffTables) -> None:
    engine = Engine(NetworkEvaluator("tables", toy_network(), tables.columns), toy_pruner())
    found = blocks(engine, position_candidate(MatchState(RACE, cubeless=True))[0], RolloutPlan(), 1)
    assert tables.evaluate(boards_of([RACE]))[0] == pytest.approx(found.outcomes, abs=1e-6)
    assert 0 == pytest.approx(found.error, abs=1e-9)


def test_after_one_turn_it_is_what_is_found_one_roll_ahead() -> None:
    engine = pip_engine()
    state = MatchState(Position.start(), length=7, score=(2, 4))
    searcher = BlockPlayer(engine)._searcher
    cubes = searcher.cubes(state)
    ahead = searcher.lookahead
    ahead._filters = evolve(ahead._filters, last_ply=EVERY_PLAY)
    expected = ahead.no_double_values(cubes, 0, (cubes.start,), boards_of([state.position]), 1)
    found = blocks(engine, cube_candidates(state)[0], RolloutPlan(truncated=1), 1)
    assert expected.outcomes[0] == pytest.approx(found.outcomes, abs=1e-5)
    assert np.full(36, expected.equities[0, 0]) == pytest.approx(found.trials[:, 6], abs=1e-5)


def test_plays_are_seen_by_who_makes_them() -> None:
    engine = pip_engine()
    state = MatchState(ENDS_SOON, cubeless=True, phase=Phase.MOVE, dice=(2, 1))
    (candidate,) = play_candidates(state, [Play.of((2, 0), (2, 1))], ["2/off 2/1"])
    theirs = position_candidate(MatchState(Position(candidate.state.position.points), cubeless=True))[0]
    ours, seen = blocks(engine, candidate, RolloutPlan(), 2), blocks(engine, theirs, RolloutPlan(), 2)
    assert ours.equity == pytest.approx(-seen.equity)
    assert ours.outcomes[:3] == pytest.approx(seen.outcomes[3:])


def test_a_double_that_is_passed_ends_the_game() -> None:
    won = Position.from_sides(own=[0, 0, 0, 0, 0, 1] + [0] * 19, opponent=[0, 0, 0, 0, 0, 15] + [0] * 19)
    state = MatchState(won, jacoby=True)
    found = blocks(pip_engine(), position_candidate(state)[0], RolloutPlan(), 1)
    assert np.ones(36) == pytest.approx(found.trials[:, 6])


@pytest.mark.parametrize(
    "plan", [RolloutPlan(), RolloutPlan(truncated=5), RolloutPlan(variance_reduction=False), RolloutPlan(cubeful=False)]
)
def test_chances_add_up_and_games_repeat(plan: RolloutPlan) -> None:
    state = MatchState(ENDS_SOON, length=7, score=(3, 1))
    engine = pip_engine()
    first, again = ([blocks(engine, it, plan, 1) for it in cube_candidates(state)] for _ in range(2))
    for found, same in zip(first, again, strict=True):
        assert (found.trials == same.trials).all()
        assert np.ones(36) == pytest.approx(found.trials[:, 0] + found.trials[:, 3], abs=1e-5)


def test_games_that_are_over_give_what_they_give() -> None:
    over = Position.from_sides(own=[0] * 20 + [15] + [0] * 4, opponent=[0] * 25)
    found = blocks(toy_engine(), position_candidate(MatchState(over, cubeless=True))[0], RolloutPlan(), 1)
    assert [0, 0, 0, 1, 1, 1] == found.outcomes.tolist()
    assert -3 == found.equity
