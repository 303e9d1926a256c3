"""Boards as arrays are positions, and nothing is lost on the way."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine.arrays import boards_of, have_passed, position_of, swapped
from fibsbot.engine.generator import swap
from fibsbot.position import Position
from tests.engine.toys import board_of
from tests.hypothesis_strategies import positions


@given(st.lists(positions(over=True), max_size=3))
def test_positions_become_boards_and_positions_again(some: list[Position]) -> None:
    boards = boards_of(iter(some))
    assert (len(some), 26) == boards.shape
    assert np.int8 == boards.dtype
    assert some == [position_of(board) for board in boards]


@given(positions(over=True))
def test_a_board_is_swapped_as_a_position_is(position: Position) -> None:
    board = board_of(position)
    seen = np.empty_like(board)
    swap(board, seen)
    assert position.swapped() == position_of(seen)
    assert position.swapped() == position_of(swapped(board))
    assert position == position_of(swapped(swapped(board)))
    assert position == position_of(board), "what was given is as it was"


@given(st.lists(positions(over=True), max_size=3))
def test_sides_have_passed_that_have_checkers_left_and_cannot_meet(some: list[Position]) -> None:
    assert [not (it.contact or it.over) for it in some] == have_passed(boards_of(some)).tolist()


def test_many_boards_are_swapped_at_once() -> None:
    boards = boards_of([Position.start(), Position.start().swapped()])
    assert (boards[::-1] == swapped(boards)).all()
