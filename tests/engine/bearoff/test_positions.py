"""Numbers of bear-off positions, and the positions after a roll."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine.arrays import BAR, CELLS, Board, Int32s, swapped
from fibsbot.engine.bearoff.solver import positions_after, single_moves
from fibsbot.engine.bearoff.tables import all_counts, indices_of, indices_on_boards, position_count
from fibsbot.match import Dice
from tests.engine.bearoff.references import after, board_of

Rows: TypeAlias = list[list[list[int]]]

SIDE = st.lists(st.integers(0, 6), max_size=15).map(lambda points: tuple(points.count(it) for it in range(1, 7)))
"""One side's checkers on the points 1 to 6, up to 15; those on 0 are off."""
LEFT = SIDE.filter(any)
"""The same with a checker left."""
HOSTILE = st.lists(st.integers(-128, 127), min_size=CELLS, max_size=CELLS).map(lambda cells: np.array(cells, np.int8))
DICE = st.tuples(st.integers(1, 6), st.integers(1, 6))
ALL = all_counts(15)


def numbers(board: Board) -> tuple[int, int] | None:
    """Return the numbers on one board."""
    places, own, opponent = indices_on_boards(board[None])
    return (int(own[0]), int(opponent[0])) if len(places) else None


@pytest.fixture(scope="module")
def moves() -> Int32s:
    return single_moves(ALL)


@pytest.fixture(scope="module")
def rows(moves: Int32s) -> Rows:
    found: Rows = moves.tolist()
    return found


@pytest.mark.parametrize(("checkers", "positions"), [(0, 1), (1, 7), (6, 924), (15, 54264)])
def test_there_are_as_many_positions_as_combinations(checkers: int, positions: int) -> None:
    assert positions == position_count(checkers) == len(all_counts(checkers))


def test_positions_stand_at_their_numbers() -> None:
    assert np.array_equal(np.arange(position_count(15)), indices_of(ALL))


def test_positions_of_a_small_table_are_the_first_of_a_large_one() -> None:
    assert np.array_equal(all_counts(6), ALL[: position_count(6)])


@given(LEFT, SIDE)
def test_both_sides_of_a_board_have_their_numbers(own: tuple[int, ...], opponent: tuple[int, ...]) -> None:
    board = board_of(own, opponent)
    found = numbers(board)
    assert found is not None
    assert (own, opponent) == tuple(tuple(ALL[number]) for number in found)
    assert found[::-1] == numbers(swapped(board))


@given(SIDE, LEFT, st.integers(7, BAR))
def test_with_a_checker_outside_there_are_no_numbers(
    own: tuple[int, ...], opponent: tuple[int, ...], cell: int
) -> None:
    board = board_of(own, opponent)
    board[cell] = 1
    assert numbers(board) is numbers(swapped(board)) is None


@given(HOSTILE)
def test_no_board_leads_out_of_the_table(board: Board) -> None:
    found = numbers(board)
    assert found is None or 0 <= min(found) <= max(found) < position_count(15)


@given(st.lists(st.one_of(st.builds(board_of, SIDE, SIDE), HOSTILE), max_size=5))
def test_many_boards_have_the_numbers_of_each(boards: list[Board]) -> None:
    numbered = zip(
        *(them.tolist() for them in indices_on_boards(np.array(boards, np.int8).reshape(-1, CELLS))), strict=True
    )
    found = {place: (own, opponent) for place, own, opponent in numbered}
    assert list(map(numbers, boards)) == [found.get(place) for place in range(len(boards))]


@pytest.mark.slow
@given(own=LEFT, dice=DICE)
def test_a_roll_leads_to_the_positions_that_the_rules_allow(rows: Rows, own: tuple[int, ...], dice: Dice) -> None:
    number = int(indices_of(np.array(own)))
    left = positions_after(rows, number, *dice)
    assert after(own, (max(dice), min(dice))) == {tuple(ALL[it]) for it in left}


def test_every_move_leads_to_a_lower_number(moves: Int32s) -> None:
    assert (moves[1:].max(axis=(1, 2)) < np.arange(1, len(moves))).all()
