"""Decisions by rollouts: the same for the same seed and number of games, and in time."""

from __future__ import annotations

import pytest
from attrs import evolve

from fibsbot.engine.rollout.rollout_engine import RolloutEngine, RolloutLimits
from fibsbot.engine.search import SearchLimits
from fibsbot.match import MatchState, Phase
from fibsbot.position import Position
from tests.engine.toy_engines import pip_engine

STATE = MatchState(Position.start(), length=5, phase=Phase.MOVE, dice=(4, 3))
ONE_PLY = SearchLimits(1)
WIDE = RolloutLimits(72, truncated=2, margin=10.0, most=3, clear=100.0)
"""Limits by which nothing is clear at once."""


def decided(limits: RolloutLimits) -> list[tuple[str, float, int]]:
    """Return the plays, with their equities and games."""
    ranking = RolloutEngine.around(pip_engine(), limits).rank(STATE, limits=ONE_PLY)
    return [(str(it.play), it.equity, it.games) for it in ranking.plays]


@pytest.mark.slow
def test_the_same_seed_and_games_give_the_same_whatever_the_threads() -> None:
    expected = decided(WIDE)
    assert [72, 72] == [games for _, _, games in expected[:2]]
    assert expected == decided(WIDE)
    assert expected == decided(evolve(WIDE, threads=2))
    assert expected != decided(evolve(WIDE, seed=2))


def test_what_is_clear_is_not_rolled_out_any_further() -> None:
    games = [it[2] for it in decided(evolve(WIDE, clear=0.0, trials=360))]
    assert 36 == max(games)


def test_plays_that_the_search_finds_far_behind_are_not_rolled_out() -> None:
    assert {0} == {games for _, _, games in decided(evolve(WIDE, margin=0.0, most=1))}


@pytest.mark.slow
def test_the_deadline_is_heeded() -> None:
    engine = RolloutEngine.around(pip_engine(), evolve(WIDE, trials=36_000, truncated=50))
    engine.rank(STATE, limits=SearchLimits(1, 0.05))  # compiles
    ranking = engine.rank(STATE, limits=SearchLimits(1, 0.3))
    assert 36_000 > max(it.games for it in ranking.plays)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_close_cube_decision_is_rolled_out(threads: int) -> None:
    limits = evolve(WIDE, cube_margin=10.0, threads=threads)
    engine = RolloutEngine.around(pip_engine(), limits)
    state = evolve(STATE, phase=Phase.ROLL, dice=None)
    analysis = engine.analyse_cube(state, ONE_PLY)
    assert 72 == analysis.games
    assert analysis.verdict == engine.analyse_cube(state, ONE_PLY).verdict
    assert 0 == RolloutEngine.around(pip_engine(), evolve(limits, cube_margin=0.0)).analyse_cube(state, ONE_PLY).games
