"""The heuristic strategy as an evaluator: it agrees with itself, and counts in the units of all evaluators."""

from __future__ import annotations

from typing import Final

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.analysis.luck import equity_of_points
from fibsbot.match import CubeAction, MatchState, Owner, Phase
from fibsbot.position import Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.base import DetailedEvaluator, Evaluator, reversed_chances
from fibsbot.strategies.heuristic import HeuristicStrategy
from fibsbot.strategies.heuristic.strategy import BEAVER_THRESHOLD, RESIGNATION_TOLERANCE, cube_is_open
from fibsbot.strategies.loader import load
from tests.hypothesis_strategies import dice, match_states, positions

STRATEGY: Final = HeuristicStrategy()
LAST_CHECKERS: Final = Position((0, 2, *(0,) * 16, *(-2, -2, -3, -3, -2), 0, -2, 0))
"""Two on the ace point against one who has a checker off."""
LOST: Final = Position((*(0,) * 12, 14, *(0,) * 11, -2, 0))
"""A race that no dice can save, with a checker off: 14 on the midway against two on the ace point."""

SCORES: Final = [(length, (a, b)) for length in (1, 2, 3, 5) for a in range(length) for b in range(length)]


def states_at(length: int, score: tuple[int, int]) -> list[MatchState]:
    """List the states of a score: before Crawford, in that game, after it, whichever there are."""
    state = MatchState(LAST_CHECKERS, length=length, score=score)
    if length == 1 or length - 1 not in score:
        return [state]
    after = evolve(state, post_crawford=True)
    return [after] if score[0] == score[1] else [evolve(state, crawford=True), after]


EVERY_SCORE: Final = [MatchState(LAST_CHECKERS), *(state for it in SCORES for state in states_at(*it))]


def asked(state: MatchState, phase: Phase) -> MatchState:
    """Ask something else of a state."""
    return evolve(state, phase=phase, dice=None, resignation=0)


def test_it_is_found_as_an_evaluator() -> None:
    assert isinstance(load("heuristic"), DetailedEvaluator)
    assert not isinstance(load("random"), Evaluator)


@given(match_states(), dice())
def test_it_says_that_it_looks_no_roll_ahead_and_what_the_chances_are(
    state: MatchState, thrown: tuple[int, int]
) -> None:
    state = evolve(asked(state, Phase.MOVE), dice=thrown, cube=1, owner=Owner.CENTRED, crawford=False)
    plays = legal_plays(state.position, thrown)[:3]
    compared = STRATEGY.compare_plays(state, plays, plays[0]) if plays else []
    for play, it in zip(plays, compared, strict=True):
        assert (0, True) == (it.plies, it.chances is not None)
        after = state.position.play(play)
        if it.chances is not None and not after.over:
            left = evolve(state, board=after, phase=Phase.ROLL, dice=None).swapped()
            theirs = STRATEGY.value_cube(left)
            assert theirs.plies == 0
            assert pytest.approx(reversed_chances(it.chances)) == theirs.chances


@given(match_states())
def test_a_position_is_worth_the_same_with_its_chances_and_without(state: MatchState) -> None:
    state = asked(state, Phase.ROLL)
    value = STRATEGY.value_position(state)
    assert (STRATEGY.value(state), 0) == (value.equity, value.plies)
    if cube_is_open(state):
        assert value.chances == STRATEGY.value_cube(state).chances
    assert value == value.reversed().reversed()


# -- it agrees with itself --------------------------------------------------------------------------------------


@pytest.mark.slow
@given(match_states(), dice())
def test_no_play_is_worth_more_than_the_chosen_one(state: MatchState, thrown: tuple[int, int]) -> None:
    state = evolve(asked(state, Phase.MOVE), dice=thrown)
    plays = legal_plays(state.position, thrown)
    if plays:
        values = STRATEGY.value_plays(state, plays)
        assert len(plays) == len(values)
        assert max(values) == values[plays.index(STRATEGY.choose_play(state, plays).play)]


@given(match_states())
def test_it_doubles_if_that_is_worth_more(state: MatchState) -> None:
    state = asked(state, Phase.ROLL)
    if state.crawford or state.owner is Owner.OPPONENT:
        with pytest.raises(ValueError, match="may double"):
            STRATEGY.value_cube(state)
        assert CubeAction.ROLL is STRATEGY.offer_double(state).action
        return
    values = STRATEGY.value_cube(state)
    doubles = STRATEGY.offer_double(state).action is CubeAction.DOUBLE
    assert doubles == (values.double > values.no_double)
    assert values.best == STRATEGY.value(state)


@given(match_states())
def test_it_takes_in_a_match_if_that_is_worth_no_less_than_a_pass(state: MatchState) -> None:
    state = asked(state, Phase.ROLL)
    if state.length and not state.crawford and state.owner is not Owner.OPPONENT:
        values = STRATEGY.value_cube(state)
        answer = STRATEGY.answer_double(asked(state.swapped(), Phase.DOUBLED)).action
        expected = CubeAction.TAKE if values.double_take <= values.double_pass else CubeAction.PASS
        assert expected is answer or abs(values.double_take - values.double_pass) < 1e-9


@given(positions(), st.sampled_from([0, 1]))
def test_it_takes_and_beavers_for_money_as_it_evaluates(position: Position, redoubles: int) -> None:
    """It beavers only from a margin on, which is caution and no evaluation."""
    state = MatchState(position, redoubles=redoubles)
    worth = -STRATEGY.value_cube(state).double_take
    answer = STRATEGY.answer_double(asked(state.swapped(), Phase.DOUBLED)).action
    expected = CubeAction.PASS if worth < -1 else CubeAction.TAKE
    if abs(worth + 1) > 1e-9 and abs(worth - BEAVER_THRESHOLD) > 1e-9:
        assert (CubeAction.BEAVER if redoubles and worth > BEAVER_THRESHOLD else expected) is answer


@given(match_states(), st.integers(1, 3))
def test_it_accepts_resignations_as_it_evaluates(state: MatchState, level: int) -> None:
    state = asked(state, Phase.ROLL)
    offered = equity_of_points(STRATEGY, state, level * state.cube)
    accepts = STRATEGY.accept_resignation(evolve(state, phase=Phase.RESIGNED, resignation=level))
    short = STRATEGY.value(state) - offered
    if abs(short - RESIGNATION_TOLERANCE) > 1e-9:
        assert accepts == (short < RESIGNATION_TOLERANCE)


# -- its units --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", EVERY_SCORE, ids=str)
def test_to_win_a_single_game_is_1_and_to_lose_it_minus_1(state: MatchState) -> None:
    for cube in (1, 2, 4):
        held = evolve(state, cube=cube, owner=Owner.CENTRED if cube == 1 else Owner.PLAYER)
        (off,) = STRATEGY.value_plays(evolve(held, phase=Phase.MOVE, dice=(2, 1)), legal_plays(LAST_CHECKERS, (2, 1)))
        assert pytest.approx(1) == off
        assert pytest.approx(1) == STRATEGY.value(held)
        assert pytest.approx(-1) == STRATEGY.value(evolve(held.swapped(), board=LOST))


@pytest.mark.parametrize("state", EVERY_SCORE, ids=str)
def test_chances_to_win_the_match_are_what_the_units_are_made_of(state: MatchState) -> None:
    if not state.length:
        with pytest.raises(ValueError, match="unlimited"):
            STRATEGY.match_chance(state, 1)
        return
    away, opponent_away = state.away
    assert STRATEGY.match_chance(state, away) == 1
    assert STRATEGY.match_chance(state, -opponent_away) == 0
    for points in range(-8, 9):
        theirs = STRATEGY.match_chance(state.swapped(), -points)
        assert pytest.approx(1 - theirs) == STRATEGY.match_chance(state, points)
        assert STRATEGY.match_chance(state, points) <= STRATEGY.match_chance(state, points + 1)
    assert pytest.approx(1) == equity_of_points(STRATEGY, state, state.cube)
    assert pytest.approx(-1) == equity_of_points(STRATEGY, state, -state.cube)


@given(match_states())
def test_equities_lie_between_losing_and_winning_the_most(state: MatchState) -> None:
    state = asked(state, Phase.ROLL)
    most, least = (equity_of_points(STRATEGY, state, sign * 3 * state.cube) for sign in (1, -1))
    assert min(least, -1) - 1e-9 <= STRATEGY.value(state) <= max(most, 1) + 1e-9


def test_in_the_crawford_game_the_cube_is_put_away() -> None:
    """Neither side gains by a cube that neither may turn: the trailer's value is that of a dead one."""
    state = MatchState(Position.start(), length=5, score=(2, 4), crawford=True)
    assert pytest.approx(-STRATEGY.value(state), abs=0.2) == STRATEGY.value(state.swapped())
    live = evolve(state, crawford=False, post_crawford=True)
    assert STRATEGY.value(live) > STRATEGY.value(state)


def test_cubeless_games_have_cubeless_values() -> None:
    ahead = MatchState(Position((0, 2, 2, 3, 3, 3, 2, *(0,) * 11, -2, -2, -2, -3, -3, -2, -1, 0, 0)))
    assert STRATEGY.value(evolve(ahead, cubeless=True)) < STRATEGY.value(ahead)


@given(match_states())
def test_a_dead_cube_is_not_turned(state: MatchState) -> None:
    state = asked(state, Phase.ROLL)
    if 0 < state.away[0] <= state.cube and not state.crawford and state.owner is not Owner.OPPONENT:
        values = STRATEGY.value_cube(state)
        assert values.double <= values.no_double


@given(match_states(), dice())
def test_repeated_evaluations_agree(state: MatchState, thrown: tuple[int, int]) -> None:
    rolling, moving = asked(state, Phase.ROLL), evolve(asked(state, Phase.MOVE), dice=thrown)
    plays = legal_plays(moving.position, thrown)
    first = STRATEGY.value(rolling), STRATEGY.value_plays(moving, plays) if plays else None
    again = HeuristicStrategy()
    assert first == (again.value(rolling), again.value_plays(moving, plays) if plays else None)
