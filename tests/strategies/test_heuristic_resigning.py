"""Nothing is resigned that any dice could save, and never more or less than is lost."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.position import CHECKERS, Position
from fibsbot.rules.plays import resulting_positions
from fibsbot.strategies.heuristic.race import certain_loss


def race(own: dict[int, int], opponent: dict[int, int]) -> Position:
    """Build a race; both sides number the points as their own."""
    rows = [[side.get(point, 0) for point in range(1, 26)] for side in (own, opponent)]
    return Position.from_sides(*rows)


@pytest.mark.parametrize(
    ("own", "opponent", "expected"),
    [
        ({6: 5}, {1: 2}, 1),
        ({6: 4}, {1: 2}, 0),
        ({6: 5}, {1: 3}, 0),
        ({6: 5}, {6: 1, 1: 1}, 0),
        ({6: 15}, {1: 2}, 0),
        ({7: 15}, {1: 2}, 2),
        ({7: 3, 1: 12}, {1: 2}, 0),
        ({7: 4, 1: 11}, {1: 2}, 2),
        ({18: 15}, {1: 4}, 2),
        ({19: 4, 7: 11}, {1: 2}, 0),
        ({19: 5, 7: 10}, {1: 2}, 3),
        ({20: 15}, {1: 4}, 3),
        ({20: 14}, {1: 4}, 1),
    ],
)
def test_level_of_a_certain_loss(own: dict[int, int], opponent: dict[int, int], expected: int) -> None:
    assert expected == certain_loss(race(own, opponent))


def test_where_the_sides_can_still_meet_nothing_is_certain() -> None:
    position = Position((-1, -1, *(0,) * 4, 15, *(0,) * 19))
    assert 0 == certain_loss(position.swapped()) == certain_loss(position)


@cache
def can_still_win(position: Position) -> bool:
    """Whether the player on roll wins with some rolls of both sides, both playing as well as can be."""
    rolls = [(a, b) for a in range(1, 7) for b in range(1, a + 1)]
    for dice in rolls:
        for cells in resulting_positions(position.points, dice):
            after = Position(cells)
            if after.off == CHECKERS or _opponent_may_fail(after):
                return True
    return False


def _opponent_may_fail(after: Position) -> bool:
    """Whether some roll leaves the opponent only plays after which we can still win."""
    opponent = after.swapped()
    return any(
        all(
            Position(cells).off < CHECKERS and can_still_win(Position(cells).swapped())
            for cells in resulting_positions(opponent.points, (a, b))
        )
        for a in range(1, 7)
        for b in range(1, a + 1)
    )


@pytest.mark.slow
@given(st.lists(st.integers(1, 6), min_size=5, max_size=6), st.lists(st.integers(1, 3), min_size=1, max_size=2))
def test_a_resigned_position_cannot_be_won_with_any_rolls(own: list[int], opponent: list[int]) -> None:
    position = race({p: own.count(p) for p in own}, {p: opponent.count(p) for p in opponent})
    if certain_loss(position):
        assert not can_still_win(position)
