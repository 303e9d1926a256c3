"""The heuristic strategy and the cube: clear decisions are clear, and the score changes them as every book says."""

from __future__ import annotations

from typing import Final

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine.match_equity import match_chance
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.position import Position
from fibsbot.strategies.base import CubeAction
from fibsbot.strategies.heuristic import HeuristicStrategy
from fibsbot.strategies.heuristic.cube import CubeModel, OutcomeChances, chance_after, points_equity

STRATEGY: Final = HeuristicStrategy()
START: Final = Position.start()

SURE_RACE: Final = Position((0, 3, 3, 3, 0, 0, 0, *(0,) * 12, -3, -3, -3, -2, -2, -2, 0))
"""9 checkers on low points against 15 that have not begun: won, and perhaps a gammon."""
CLOSED_OUT: Final = Position((-2, 2, 2, 2, 2, 2, 2, 1, 2, *(0,) * 10, -5, -3, -3, -2, 0, 0, 0))
"""Two on the bar against a closed board, none borne off by either side."""


def race(lead: int) -> Position:
    """Build a race of 100 pips each; then one side, for a negative lead the player on roll, gets more to go."""
    even = [4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 8, 9, 9, 9, 9]
    behind = list(even)
    for pip in range(abs(lead)):
        behind[-1 - pip % 5] += 1
    own, opponent = ([side.count(point) for point in range(1, 26)] for side in (even, behind))
    position = Position.from_sides(own, opponent)
    return position if lead >= 0 else position.swapped()


def offered(state: MatchState) -> CubeAction:
    return STRATEGY.offer_double(state).action


def answered(state: MatchState) -> CubeAction:
    """Let the opponent of the player on roll answer a double."""
    return STRATEGY.answer_double(evolve(state.swapped(), phase=Phase.DOUBLED)).action


@pytest.mark.parametrize(
    ("position", "offer", "answer"),
    [
        (START, CubeAction.ROLL, CubeAction.TAKE),
        (race(-4), CubeAction.ROLL, CubeAction.TAKE),
        (race(9), CubeAction.DOUBLE, CubeAction.TAKE),
        (race(20), CubeAction.DOUBLE, CubeAction.PASS),
        (CLOSED_OUT, CubeAction.ROLL, CubeAction.PASS),
    ],
    ids=["opening", "even race", "9 % ahead", "20 % ahead", "too good"],
)
def test_clear_decisions_for_money(position: Position, offer: CubeAction, answer: CubeAction) -> None:
    state = MatchState(position)
    assert offer is offered(state)
    assert answer is answered(state)


def test_under_the_jacoby_rule_no_position_is_too_good_before_the_first_double() -> None:
    state = MatchState(CLOSED_OUT, jacoby=True)
    assert CubeAction.DOUBLE is offered(state)
    assert CubeAction.ROLL is offered(evolve(state, owner=Owner.PLAYER, cube=2))


def test_a_redouble_waits_longer_than_a_double() -> None:
    """The owner of the cube gives up more: from some lead on one doubles, and only from a greater one redoubles."""
    doubles = [lead for lead in range(20) if offered(MatchState(race(lead))) is CubeAction.DOUBLE]
    redoubles = [
        lead for lead in range(20) if offered(MatchState(race(lead), cube=2, owner=Owner.PLAYER)) is CubeAction.DOUBLE
    ]
    assert doubles[0] < redoubles[0]
    assert set(redoubles) < set(doubles)


def test_a_take_in_a_race_ends_at_about_a_lead_of_12_percent() -> None:
    takes = [lead for lead in range(25) if answered(MatchState(race(lead))) is CubeAction.TAKE]
    assert 9 <= max(takes) <= 14
    assert list(range(max(takes) + 1)) == takes


def test_a_cube_that_wins_nothing_more_stays_where_it_is() -> None:
    leader = MatchState(race(9), length=5, score=(4, 2), post_crawford=True)
    assert CubeAction.ROLL is offered(leader)
    last = MatchState(race(9), length=5, score=(3, 2), cube=2, owner=Owner.PLAYER)
    assert CubeAction.ROLL is offered(last)


def test_after_crawford_the_trailer_doubles_at_once() -> None:
    for position in (START, race(-15), race(9), START.swapped()):
        for length in (3, 4, 5, 7):
            state = MatchState(position, length=length, score=(0, length - 1), post_crawford=True)
            assert CubeAction.DOUBLE is offered(state)


def test_after_crawford_a_gammon_that_wins_the_match_is_played_for() -> None:
    state = MatchState(CLOSED_OUT, length=5, score=(3, 4), post_crawford=True)
    assert CubeAction.ROLL is offered(state)


def test_after_crawford_the_leader_has_a_free_drop_at_an_even_score_only() -> None:
    """A little behind, he passes where the point costs nothing, and takes where it does."""
    behind = race(6)
    even = MatchState(behind, length=5, score=(1, 4), post_crawford=True)
    odd = MatchState(behind, length=5, score=(2, 4), post_crawford=True)
    assert CubeAction.PASS is answered(even)
    assert CubeAction.TAKE is answered(odd)


def test_a_take_that_stakes_the_match_needs_more_at_two_away_each() -> None:
    """About 32 % instead of 22 %: passing leaves 32 %, and the cube cannot be turned again."""
    assert CubeAction.TAKE is answered(MatchState(race(8)))
    assert CubeAction.PASS is answered(MatchState(race(8), length=7, score=(5, 5)))


def test_who_wins_clearly_beavers_if_allowed() -> None:
    state = MatchState(race(-20), redoubles=1)
    assert CubeAction.BEAVER is answered(state)
    assert CubeAction.TAKE is answered(evolve(state, redoubles=0))
    assert CubeAction.TAKE is answered(MatchState(race(3), redoubles=1))


def test_a_beaver_of_our_own_double_is_answered_as_the_player_on_roll() -> None:
    won = MatchState(SURE_RACE, phase=Phase.DOUBLED, cube=2, redoubles=1)
    assert CubeAction.BEAVER is STRATEGY.answer_double(won).action
    lost = MatchState(SURE_RACE.swapped(), phase=Phase.DOUBLED, cube=4, owner=Owner.PLAYER)
    assert CubeAction.PASS is STRATEGY.answer_double(lost).action


@pytest.mark.parametrize(
    ("state", "level", "accepted"),
    [
        (MatchState(race(20)), 1, True),
        (MatchState(START), 1, True),
        (MatchState(CLOSED_OUT), 1, False),
        (MatchState(CLOSED_OUT), 2, True),
        (MatchState(CLOSED_OUT), 3, True),
        (MatchState(CLOSED_OUT, length=5, score=(4, 0), crawford=True), 1, True),
        (MatchState(CLOSED_OUT, length=5, score=(3, 0)), 1, False),
    ],
)
def test_a_resignation_has_to_be_worth_the_position(state: MatchState, level: int, accepted: bool) -> None:  # noqa: FBT001
    assert accepted is STRATEGY.accept_resignation(evolve(state, phase=Phase.RESIGNED, resignation=level))


def test_what_is_lost_for_certain_is_resigned() -> None:
    lost = Position((0, 0, 0, 0, 0, 0, 0, 15, *(0,) * 16, -2, 0))
    assert 2 == STRATEGY.resign(MatchState(lost))
    assert 1 == STRATEGY.resign(MatchState(lost, length=5, score=(0, 4), post_crawford=True)), "more costs nothing more"
    assert 0 == STRATEGY.resign(MatchState(START))


wins = st.floats(0, 1)
cubes = st.sampled_from([1, 2, 4, 8])


@st.composite
def games(draw: st.DrawFn) -> tuple[CubeModel, float, int, tuple[int, int]]:
    win = draw(wins)
    gammons = draw(st.floats(0, 0.6)) * win, draw(st.floats(0, 0.6)) * (1 - win)
    length = draw(st.sampled_from([0, 3, 5, 7, 11]))
    score = (draw(st.integers(0, length - 1)), draw(st.integers(0, length - 1))) if length else (0, 0)
    cube = draw(cubes)
    state = MatchState(START, length=length, score=score, cube=cube)
    chances = OutcomeChances(win, gammons[0], 0.0, gammons[1], 0.0)
    return CubeModel.of(chances, points_equity(state), state.away), win, cube, state.away


@given(games(), st.sampled_from(Owner))
def test_what_one_wins_the_other_loses(game: tuple[CubeModel, float, int, tuple[int, int]], owner: Owner) -> None:
    ours, win, cube, _ = game
    value = ours.value(win, cube, owner)
    assert pytest.approx(-value, abs=1e-9) == ours.reversed().value(1 - win, cube, Owner(-owner.value))


@given(games(), st.sampled_from(Owner), wins)
def test_a_better_chance_is_never_worth_less(
    game: tuple[CubeModel, float, int, tuple[int, int]], owner: Owner, other: float
) -> None:
    ours, win, cube, _ = game
    low, high = sorted((win, other))
    assert ours.value(low, cube, owner) <= ours.value(high, cube, owner) + 1e-9


@given(games())
def test_owning_the_cube_is_worth_most(game: tuple[CubeModel, float, int, tuple[int, int]]) -> None:
    ours, win, cube, _ = game
    own, centred, other = (ours.value(win, cube, owner) for owner in (Owner.PLAYER, Owner.CENTRED, Owner.OPPONENT))
    assert other - 1e-9 <= centred <= own + 1e-9


def test_take_points_for_money_are_those_of_janowski() -> None:
    """Without gammons a dead cube is taken from 25 %, a perfect one from 20 %."""
    game = CubeModel.of(OutcomeChances(0.5), points_equity(MatchState(START)))
    assert pytest.approx(0.2, abs=0.001) == game.take_point(2)
    assert pytest.approx(0.8, abs=0.001) == game.cash_point(1)
    assert 0.25 == game.take_point(64)


def test_for_money_a_point_is_worth_a_point() -> None:
    equity = points_equity(MatchState(START, cube=4))
    assert (1, -2, 0.5) == (equity(4), equity(-8), equity(2))


def test_a_match_is_scaled_to_what_the_cube_decides() -> None:
    equity = points_equity(MatchState(START, length=7, score=(4, 2), cube=2))
    assert pytest.approx(1) == equity(2)
    assert pytest.approx(-1) == equity(-2)
    assert equity(4) == equity(3), "3 points win the match"
    assert equity(-8) < equity(-4) < -1


def test_match_equities_are_those_of_the_engine() -> None:
    state = MatchState(START, length=7, score=(2, 4))
    assert match_chance(4, 3, crawford_played=False) == chance_after(state, 1)
    assert match_chance(5, 1, crawford_played=False) == chance_after(state, -2)
