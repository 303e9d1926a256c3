"""What the results of a game count: no triple games, and the Point Game, whose scores are estimated."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from fibsbot.engine.arrays import other_side
from fibsbot.engine.cube import (
    DEFAULT_EFFICIENCY,
    TURNED,
    Stakes,
    accepts_resignation,
    cube_verdict,
    level_to_resign,
)
from fibsbot.engine.cube.stakes import resigned_equity
from fibsbot.engine.cube.verdict import along
from fibsbot.engine.match_equity import POINTS_PER_GAME, GamePoints, chance_after_points, estimated_points
from fibsbot.match import CubeAction, MatchState, Owner, Phase
from fibsbot.position import Position
from fibsbot.rules.backgammon import sides_of
from fibsbot.rules.laws import point_game_score
from fibsbot.strategies.heuristic import HeuristicStrategy
from tests.engine.cube.cube_samples import LIVE

START = MatchState(Position.start(), point_game=True)
EVEN = np.array([0.5, 0.14, 0.01, 0.5, 0.14, 0.01])
BEHIND = np.array([0.8, 0.25, 0.01, 0.2, 0.03, 0.0])
SURE = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
LAST_CHECKERS = Position.from_sides(own=[2, *[0] * 24], opponent=[0] * 3 + [3] + [0] * 21)
"""The player is certain to bear off the last two; the opponent has three left."""


@pytest.mark.parametrize("length", [0, 7])
def test_without_triple_games_a_backgammon_is_worth_a_gammon(length: int) -> None:
    state = MatchState(Position.start(), length=length, triple=False)
    gammons, backgammons = np.array([0.6, 0.3, 0.0, 0.4, 0.1, 0.0]), np.array([0.6, 0.3, 0.2, 0.4, 0.1, 0.1])
    assert cube_verdict(state, gammons) == cube_verdict(state, backgammons)
    assert cube_verdict(evolve(state, triple=True), gammons) != cube_verdict(evolve(state, triple=True), backgammons)
    stakes = Stakes.of(state)
    assert np.allclose(stakes.cubeless(gammons), stakes.cubeless(backgammons))
    assert resigned_equity(stakes, Owner.CENTRED, 2) == resigned_equity(stakes, Owner.CENTRED, 3)


def test_the_score_of_a_finished_point_game_is_exact() -> None:
    over = Position.from_sides(own=[0] * 25, opponent=[0] * 13 + [2] + [0] * 4 + [3] + [0] * 6)
    assert (float(point_game_score(sides_of(over).opponent.row)),) * 3 == estimated_points(over)


def test_the_estimate_grows_with_the_loser_s_pips_and_with_the_level() -> None:
    behind = Position.from_sides(own=[3, 3, 3, 2, 2, 2, *[0] * 19], opponent=[0] * 11 + [5, 5, 5] + [0] * 11)
    near = Position.from_sides(own=[3, 3, 3, 2, 2, 2, *[0] * 19], opponent=[5, 5, 5, *[0] * 22])
    for position in (behind, near, Position.start()):
        single, gammon, backgammon = estimated_points(position)
        assert 1 <= single <= 14 < gammon < backgammon
    assert estimated_points(behind)[0] > estimated_points(near)[0]


def test_an_early_double_of_the_point_game_is_taken_as_a_pass_costs_all_checkers_where_they_are() -> None:
    """A pass at the start costs 34 points, a game about 12."""
    assert 34 == GamePoints.of(START).passed
    verdict = cube_verdict(START, BEHIND)
    assert CubeAction.TAKE is verdict.answer
    assert verdict.double_pass == pytest.approx(34 / POINTS_PER_GAME)
    doubled = evolve(START, phase=Phase.DOUBLED)
    assert CubeAction.TAKE is HeuristicStrategy().answer_double(doubled).action


def test_a_lost_point_game_is_passed_for_what_is_left() -> None:
    state = MatchState(LAST_CHECKERS, point_game=True)
    verdict = cube_verdict(state, SURE)
    assert (CubeAction.PASS, CubeAction.DOUBLE) == (verdict.answer, verdict.action)
    assert verdict.double_pass == pytest.approx(3 / POINTS_PER_GAME)
    doubled = evolve(state.swapped(), phase=Phase.DOUBLED)
    assert CubeAction.PASS is HeuristicStrategy().answer_double(doubled).action


def test_nobody_resigns_the_point_game_and_offers_are_judged_by_the_checkers_left() -> None:
    state = MatchState(LAST_CHECKERS, point_game=True)
    stakes = Stakes.of(state.swapped())
    lost = SURE[[3, 4, 5, 0, 1, 2]]
    assert 0 == level_to_resign(stakes, Owner.CENTRED, lost, DEFAULT_EFFICIENCY.of_position(LAST_CHECKERS.swapped()))
    assert 0 == HeuristicStrategy().resign(state.swapped())
    assert accepts_resignation(Stakes.of(state), Owner.CENTRED, 1, 3 / POINTS_PER_GAME)
    assert not accepts_resignation(Stakes.of(state), Owner.CENTRED, 1, 6 / POINTS_PER_GAME)


@pytest.mark.parametrize("length", [3, 25, 60])
def test_both_sides_of_a_point_game_see_opposite_equities(length: int) -> None:
    stakes = Stakes.of(evolve(START, length=length))
    assert stakes.equity(12) == pytest.approx(-stakes.swapped.equity(-12))
    assert np.allclose(stakes.cubeless(EVEN), 0, atol=1e-6)


def test_a_match_of_point_games_is_even_at_equal_scores_and_won_by_enough_points() -> None:
    assert 0.5 == pytest.approx(chance_after_points((40, 40), 0))
    assert 1.0 == chance_after_points((20, 40), 20)
    assert 0.0 == chance_after_points((20, 40), -41)
    assert 0.5 < chance_after_points((40, 40), 10) < chance_after_points((40, 40), 20) < 1


def test_plain_games_are_the_limit_of_the_model_with_passes_of_their_own() -> None:
    """The corners of the general formula are Janowski's where a pass counts as much as a single game."""
    plain = Stakes.of(MatchState(Position.start()))
    general = evolve(plain, points=GamePoints(lost=(1 + 1e-9, 2, 3)))
    assert np.allclose(plain.market(EVEN), general.market(EVEN), atol=1e-6)


@pytest.mark.parametrize("passed", [0.8, 1.2, 1.5])
def test_at_the_corners_of_a_live_cube_a_take_is_worth_a_pass(passed: float) -> None:
    """Where a pass costs one side more than the other, too."""
    stakes = evolve(Stakes.of(MatchState(Position.start())), points=GamePoints(lost=(passed, 2, 3)))
    take, cash = stakes.market(EVEN)[1]
    assert 0 < take < cash < 1
    for side, win, chances in ((stakes, cash, EVEN), (stakes.swapped, 1 - take, other_side(EVEN))):
        double_take = side.no_double_values(along(np.array([win]), chances), LIVE)[0, TURNED]
        assert double_take == pytest.approx(side.pass_value)
