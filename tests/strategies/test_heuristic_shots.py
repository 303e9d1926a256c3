"""Shots are counted exactly: every roll with which some sequence of moves over open points hits, and no other."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given

from fibsbot.position import BAR, OFF, Move, Position
from fibsbot.strategies.heuristic import contact
from tests.hypothesis_strategies import positions

ROLLS: Final = [(a, b) for a in range(1, 7) for b in range(1, 7)]


def shots(position: Position, blot: int) -> int:
    own = [max(n, 0) for n in position.points]
    opponent = [max(-n, 0) for n in position.points]
    if position.bar:
        return contact._shots_from_bar(own, opponent, blot)
    return contact._shots_from_points(contact._occupied(own), contact._blocked(opponent) >> blot, blot)


def moves(position: Position, number: int) -> list[Move]:
    """Every move by one number that stays on the board."""
    sources = [BAR] if position.bar else [point for point in range(1, 25) if position.points[point] > 0]
    return [Move(p, p - number) for p in sources if p - number > OFF and position.points[p - number] > -2]


def can_hit(position: Position, blot: int, numbers: tuple[int, ...]) -> bool:
    for move in moves(position, numbers[0]) if numbers else ():
        if move.target == blot and position.points[blot] == -1:
            return True
        if can_hit(position.after(move), blot, numbers[1:]):
            return True
    return False


def hits(position: Position, blot: int, a: int, b: int) -> bool:
    if a == b:
        return can_hit(position, blot, (a,) * 4)
    return can_hit(position, blot, (a, b)) or can_hit(position, blot, (b, a))


@given(positions())
def test_the_rolls_are_those_that_can_hit(position: Position) -> None:
    for blot in (point for point in range(1, 25) if position.points[point] == -1):
        rolls = shots(position, blot)
        assert [hits(position, blot, a, b) for a, b in ROLLS] == [bool(rolls >> n & 1) for n in range(36)]


@pytest.mark.parametrize(
    ("distance", "expected"),
    [(1, 11), (2, 12), (3, 14), (4, 15), (5, 15), (6, 17), (7, 6), (8, 6), (9, 5), (10, 3), (11, 2), (12, 3), (15, 1)],
)
def test_a_single_checker_hits_as_often_as_every_book_says(distance: int, expected: int) -> None:
    cells = [0] * 26
    cells[1], cells[1 + distance] = -1, 1
    assert expected == shots(Position(tuple(cells)), 1).bit_count()


def test_a_point_in_between_takes_combinations_away() -> None:
    """6 away, and the points 2, 3 and 4 before it held: the sixes are left, and 5-1 over the open points."""
    cells = [0] * 26
    cells[1], cells[7] = -1, 1
    cells[3] = cells[4] = cells[5] = -2
    assert 11 + 2 == shots(Position(tuple(cells)), 1).bit_count()


def test_from_the_bar_a_checker_has_to_enter_first() -> None:
    cells = [0] * 26
    cells[BAR], cells[10], cells[4] = 1, 1, -1
    sixes, doubles = 11, 2
    assert sixes + doubles == shots(Position(tuple(cells)), 4).bit_count()
    cells[BAR] = 2
    assert 2 == shots(Position(tuple(cells)), 4).bit_count(), "3-3 and 6-6"
