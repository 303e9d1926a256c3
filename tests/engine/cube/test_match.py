"""The cube at match scores."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fibsbot.engine.cube import CENTRED, OWNED, THEIRS, TURNED, Market, Stakes, cube_verdict
from fibsbot.engine.match_equity import after_crawford, match_chance
from fibsbot.match import CubeAction, Owner
from tests.engine.cube.cube_samples import DEAD, USUAL, chances, stakes, state


def test_winning_a_single_game_is_1_and_losing_it_minus_1_at_any_score() -> None:
    for own, other in ((2, 2), (4, 1), (7, 3), (60, 2)):
        here = stakes(own, other)
        assert pytest.approx(1.0) == here.equity(1)
        assert pytest.approx(-1.0) == here.equity(-1)
        assert pytest.approx(match_chance(own - 1, other, crawford_played=1 in (own, other))) == here.match_chance(1.0)


def test_gammons_are_worth_nothing_at_double_match_point() -> None:
    here = stakes(1, 1)
    assert here.equity(1) == here.equity(2) == here.equity(3)
    assert pytest.approx(2 * 0.6 - 1) == here.no_double_values(chances(0.6, 0.5, 0.1), USUAL)[0, CENTRED]


def test_gammon_price_of_the_trailer_in_the_crawford_game() -> None:
    """Two away in the Crawford game a gammon wins the match: it is worth as much as the game (price 1)."""
    here = stakes(2, 1, crawford=True)
    assert pytest.approx(1.0) == (here.equity(2) - here.equity(1)) / 2
    assert 0.0 == here.equity(-2) - here.equity(-1)
    outcomes = chances(0.4, 0.2, 0.3)
    assert pytest.approx(0.4 * 1 + 0.2 * 2 - 0.6) == here.no_double_values(outcomes, USUAL)[0, CENTRED]


def test_neither_player_doubles_in_the_crawford_game() -> None:
    here = stakes(3, 1, crawford=True)
    assert not here.can_double(Owner.CENTRED)
    assert here.no_double_values(chances(0.5), USUAL)[0, CENTRED] == here.values(chances(0.5), USUAL)[0, CENTRED]
    assert "Cube not available" == cube_verdict(state(3, 1, crawford=True), chances(0.7)).words


def test_neither_player_doubles_without_a_cube() -> None:
    assert CubeAction.ROLL is cube_verdict(state(5, 5, cubeless=True), chances(0.7)).action


@pytest.mark.parametrize("win", [0.33, 0.4, 0.5, 0.6, 0.67])
def test_at_two_away_each_doubling_at_once_costs_next_to_nothing(win: float) -> None:
    """The opponent doubles at the next turn if the player doesn't, and the game is for the match in any case."""
    verdict = cube_verdict(state(2, 2), chances(win))
    assert CubeAction.TAKE is verdict.answer
    assert pytest.approx((2 * win - 1) / (2 * 0.67736 - 1)) == verdict.double_take
    assert verdict.best - verdict.double < 0.15
    assert (CubeAction.DOUBLE is verdict.action) == (win >= 0.5)


def test_at_two_away_each_the_take_point_is_that_of_the_score() -> None:
    market = Market.of(stakes(2, 2), Owner.CENTRED, chances(0.5), USUAL)
    assert market.cash_from is not None
    assert pytest.approx(1 - 0.32264) == market.cash_from
    assert market.dead_cash_from == pytest.approx(market.live_cash_from)


@pytest.mark.parametrize("away", [2, 3, 4, 5, 8, 13, 40])
@pytest.mark.parametrize("win", [0.1, 0.3, 0.48])
def test_after_crawford_the_trailer_doubles_at_once(away: int, win: float) -> None:
    verdict = cube_verdict(state(away, 1), chances(win, 0.25 * win, 0.2 * (1 - win)))
    assert CubeAction.DOUBLE is verdict.action


def test_the_free_drop() -> None:
    """Two away the leader passes as soon as he is the underdog: a pass leaves him an even match."""
    two = Market.of(stakes(2, 1), Owner.CENTRED, chances(0.5, 0.1), USUAL)
    assert two.cash_from is not None
    assert pytest.approx(0.5) == two.cash_from
    three = Market.of(stakes(3, 1), Owner.CENTRED, chances(0.5, 0.1), USUAL)
    assert three.cash_from is not None
    four = Market.of(stakes(4, 1), Owner.CENTRED, chances(0.5, 0.1), USUAL)
    assert four.cash_from is not None
    assert four.cash_from < 0.6 < three.cash_from
    gammon = 0.2
    expected = after_crawford(3) / ((1 - gammon) * after_crawford(2) + gammon)
    assert pytest.approx(expected, abs=1e-6) == four.cash_from


def test_no_length_that_a_file_can_have_takes_long() -> None:
    chances = [after_crawford(away) for away in (1, 100, 1000, 5000, 2**30)]
    assert chances == sorted(chances, reverse=True)
    assert not chances[-1]


def test_the_leader_never_doubles_after_crawford() -> None:
    verdict = cube_verdict(state(1, 3), chances(0.9, 0.3))
    assert CubeAction.ROLL is verdict.action
    assert "Never double, take (dead cube)" == verdict.words


def test_a_cube_is_dead_where_the_own_score_is_covered() -> None:
    """Owning a cube of 2 at two away has the equity of a game without a cube."""
    here = stakes(2, 5, cube=2, owner=Owner.PLAYER)
    outcomes = chances(0.6, 0.2, 0.1)
    assert not here.can_double(Owner.PLAYER)
    assert (
        pytest.approx(here.no_double_values(outcomes, DEAD)[0, OWNED])
        == here.no_double_values(outcomes, USUAL)[0, OWNED]
    )
    assert here.can_double(Owner.PLAYER) is stakes(2, 5).can_double(Owner.OPPONENT) is False


@pytest.mark.parametrize(("away", "last"), [((2, 2), True), ((2, 3), False), ((3, 2), False), ((2, 4), False)])
@pytest.mark.parametrize("win", [0.35, 0.5, 0.65])
def test_a_lost_market_is_reckoned_where_neither_could_turn_the_cube_again(
    away: tuple[int, int],
    last: bool,  # noqa: FBT001 - a parameter of the test
    win: float,
) -> None:
    """If one of both has a use for turning it again, it has the efficiency of other cubes, whatever a roll changes."""
    still, wild = (stakes(*away).no_double_values(chances(win), np.array([0.6, 0.6, it]))[0] for it in (0.0, 0.1))
    assert last == (still[CENTRED] != pytest.approx(wild[CENTRED], abs=1e-9))


def test_who_has_nothing_to_lose_turns_the_cube_at_once() -> None:
    """At 3-away, 2-away the leader's double to 2 is answered by 4 at the next turn: he plays for the match."""
    leader = stakes(2, 3)
    taken = leader.no_double_values(chances(0.5), USUAL)[0, TURNED]
    for_the_match = (0.5 - leader.middle) / leader.half
    assert pytest.approx(for_the_match, abs=0.1) == taken
    assert for_the_match <= taken


def test_the_dead_take_point_is_reckoned_from_three_scores() -> None:
    """At 5-away each, without gammons: two points won or lost by a take, one lost by a pass."""
    win, lose, passed = (match_chance(*it, crawford_played=False) for it in ((3, 5), (5, 3), (5, 4)))
    market = Market.of(stakes(5, 5), Owner.CENTRED, chances(0.6), USUAL)
    assert pytest.approx((passed - lose) / (win - lose), abs=1e-6) == 1 - market.dead_cash_from


def test_the_live_take_point_follows_from_the_redouble() -> None:
    """At 4-away each the redouble to 4 is for the match, and passed where that leaves more than the chance to win.

    Until then the cube of 2 is worth more and more: from what it loses up to what that pass brings.
    """
    lost, won, passed = (match_chance(*it, crawford_played=False) for it in ((4, 2), (2, 4), (4, 3)))
    cash = 1 - lost
    expected = cash * (passed - lost) / (won - lost)
    market = Market.of(stakes(4, 4), Owner.CENTRED, chances(0.6), USUAL)
    assert pytest.approx(expected) == 1 - market.live_cash_from


def test_a_gammon_that_wins_nothing_more_is_not_played_for() -> None:
    outcomes = chances(0.9, 0.7)
    assert "Too good to redouble" in cube_verdict(state(9, 9, cube=2, owner=Owner.PLAYER), outcomes).words
    assert "Redouble, pass" == cube_verdict(state(4, 5, cube=2, owner=Owner.PLAYER), chances(0.9)).words


def test_stakes_keep_their_unit_when_turned_or_seen_by_the_other() -> None:
    here = stakes(7, 5)
    assert here.equity(2) == here.turned.equity(2) == pytest.approx(-here.swapped.equity(-2))
    assert (
        here.no_double_values(chances(0.6, 0.1), USUAL)[0, TURNED]
        == here.turned.no_double_values(chances(0.6, 0.1), USUAL)[0, THEIRS]
    )
    assert here.turned.swapped == here.swapped.turned


def test_a_score_that_decides_nothing_is_played_as_money() -> None:
    lost_for_good = Stakes.of(state(2000, 2))
    assert not lost_for_good.match
    assert 2.0 == lost_for_good.equity(2)


def test_the_chance_to_win_the_match_is_had_back() -> None:
    here = stakes(3, 8)
    assert pytest.approx(match_chance(1, 8, crawford_played=False)) == here.match_chance(here.equity(2))
    with pytest.raises(ValueError, match="unlimited"):
        stakes().match_chance(0.0)


def test_chances_of_many_positions_are_valued_each_for_itself() -> None:
    here = stakes(5, 3)
    many = np.array([chances(0.2), chances(0.5, 0.1), chances(0.8, 0.3, 0.1)])
    together = here.values(many, USUAL)
    assert (3, 3) == together.shape
    for row, outcomes in zip(together, many, strict=True):
        assert row.tolist() == here.values(outcomes, USUAL)[0].tolist()


@pytest.mark.parametrize("away", range(2, 6))
@pytest.mark.parametrize("win", [0.1, 0.4, 0.7])
def test_a_lost_market_costs_the_same_from_both_sides(away: int, win: float) -> None:
    """After the Crawford game. The trailer misses two rolls if on roll, one if the leader is, so the swing differs."""
    trailer, leader = chances(win, win / 5, 0.1), chances(1 - win, 0.1, win / 5)
    one, two = np.array([0.7, 0.7, 0.07]), np.array([0.7, 0.7, 0.07 / math.sqrt(2)])
    trailing = stakes(away, 1).no_double_values(trailer[None], two)[0]
    leading = stakes(1, away).no_double_values(leader[None], one)[0]
    assert pytest.approx(-trailing[CENTRED], abs=1e-12) == leading[CENTRED]
