"""A cube with a highest value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine.arrays import Floats64
from fibsbot.engine.cube import CENTRED, OWNED, TURNED, cube_verdict
from fibsbot.engine.engine import Engine
from fibsbot.engine.search import SearchLimits
from fibsbot.match import CubeAction, MatchState, Owner
from fibsbot.position import Position
from tests.engine.cube.cube_samples import DEAD, LIVE, USUAL, any_chances, chances, stakes, state


def test_nobody_turns_a_cube_at_its_limit() -> None:
    for score in ((), (9, 9)):
        limited = stakes(*score, cube_limit=4)
        for expected in (True, True, False, False):
            assert [expected] * 2 == [limited.can_double(owner) for owner in (Owner.CENTRED, Owner.PLAYER)]
            assert not limited.can_double(Owner.OPPONENT)
            limited = limited.swapped.turned


@pytest.mark.parametrize(("limit", "cash"), [(2, 0.75), (4, 0.8125), (8, 0.796875), (None, 0.8)])
def test_the_opponent_takes_up_to_where_the_cubes_that_follow_allow_it(limit: int | None, cash: float) -> None:
    """Without gammons: the last cube is taken with 25 % to win, a live one before it with less, and so on."""
    assert cash == pytest.approx(stakes(cube_limit=limit).market(chances(0.5))[1, 1])


@given(any_chances(), st.sampled_from([CENTRED, OWNED]))
def test_a_cube_at_its_limit_is_worth_what_none_is(outcomes: Floats64, column: int) -> None:
    for efficiency in (DEAD, USUAL, LIVE):
        limited = stakes(cube=4, cube_limit=4).values(outcomes, efficiency)
        assert stakes(cube=4, cubeless=True).values(outcomes, efficiency)[0, column] == limited[0, column]


@given(st.floats(0, 1), st.floats(0, 0.3), st.floats(0, 0.3))
def test_a_limit_far_away_makes_no_difference(win: float, gammons: float, lost_gammons: float) -> None:
    outcomes = chances(win, gammons * win, lost_gammons * (1 - win))
    free, limited = (stakes(cube_limit=limit).no_double_values(outcomes, USUAL) for limit in (None, 512))
    assert free == pytest.approx(limited, abs=1e-3)


def test_a_taken_double_to_the_limit_is_dead() -> None:
    taken = stakes(cube_limit=2).no_double_values(chances(0.7), LIVE)[0, TURNED]
    assert 2 * 0.4 == pytest.approx(taken)


def test_the_verdict_at_the_limit() -> None:
    at_limit = cube_verdict(state(cube=8, owner=Owner.PLAYER, cube_limit=8), chances(0.75))
    assert "Cube not available" == at_limit.words
    # The last cube of a money game is turned by any favourite.
    assert CubeAction.DOUBLE is cube_verdict(state(cube_limit=2), chances(0.55)).action
    assert CubeAction.ROLL is cube_verdict(state(), chances(0.55)).action


def test_there_is_no_beaver_above_the_limit() -> None:
    assert [False, True, True] == [stakes(redoubles=1, cube_limit=limit).beavers for limit in (2, 4, 8)]
    assert not stakes(redoubles=1, cube_limit=4).turned.beavers
    assert stakes(redoubles=1, cube_limit=None).turned.beavers


def test_a_search_obeys_the_limit() -> None:
    """Who takes the last cube cannot redouble, so a double is worth more; also where bear-off tables know the rest."""
    sides = ([0, 1, 0, 1, 1, 1], [0, 0, 2, 1, 1, 0])
    race = Position.from_sides(*([*side, *[0] * 19] for side in sides))
    free, limited, closed = (
        Engine.load().analyse_cube(MatchState(race, cube_limit=limit), SearchLimits(1)).verdict
        for limit in (None, 2, 1)
    )
    assert limited.double_take > free.double_take + 0.02
    assert (True, True, False) == (free.may_double, limited.may_double, closed.may_double)
