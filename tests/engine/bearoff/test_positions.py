"""Numbers of bear-off positions, and what a throw makes of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine.bearoff.indexing import all_counts, number_of_counts, opponent_number, own_number, size
from fibsbot.engine.bearoff.moves import WIDEST, Numbers, positions_after, single_moves
from fibsbot.engine.boards import BAR, swapped
from fibsbot.match import Dice
from tests.engine.bearoff.witnesses import NOTHING, after, board_of

COUNTS = st.lists(st.integers(0, 6), max_size=15).map(lambda points: tuple(points.count(it) for it in range(1, 7)))
"""One side's checkers on the points 1 to 6, up to 15; what stands on 0 is off."""
DICE = st.tuples(st.integers(1, 6), st.integers(1, 6))
ALL = all_counts(15)


@pytest.fixture(scope="module")
def moves() -> Numbers:
    return single_moves(ALL)


@pytest.mark.parametrize(("checkers", "positions"), [(0, 1), (1, 7), (6, 924), (15, 54264)])
def test_there_are_as_many_positions_as_combinations(checkers: int, positions: int) -> None:
    assert positions == size(checkers) == len(all_counts(checkers))


def test_positions_stand_at_their_numbers() -> None:
    assert list(range(size(15))) == [number_of_counts(counts) for counts in ALL]


def test_positions_of_a_small_table_are_the_first_of_a_large_one() -> None:
    assert np.array_equal(all_counts(6), ALL[: size(6)])


@given(COUNTS, COUNTS)
def test_either_side_of_a_board_has_its_number(own: tuple[int, ...], opponent: tuple[int, ...]) -> None:
    board = board_of(own, opponent)
    assert own == tuple(ALL[own_number(board)])
    assert opponent == tuple(ALL[opponent_number(board)])
    assert own_number(board) == opponent_number(swapped(board))


@given(COUNTS, st.integers(7, BAR))
def test_a_checker_outside_has_no_number(own: tuple[int, ...], cell: int) -> None:
    board = board_of(own, NOTHING)
    board[cell] = 1
    assert own_number(board) == -1
    assert opponent_number(swapped(board)) == -1


@given(st.lists(st.integers(-128, 127), min_size=26, max_size=26))
def test_no_board_leads_out_of_the_table(cells: list[int]) -> None:
    board = np.array(cells, np.int8)
    assert -1 <= own_number(board) < size(15)
    assert -1 <= opponent_number(board) < size(15)


@given(own=COUNTS.filter(any), opponent=COUNTS, dice=DICE)
def test_a_throw_leaves_what_the_rules_say(
    moves: Numbers, own: tuple[int, ...], opponent: tuple[int, ...], dice: Dice
) -> None:
    found, scratch = np.empty(WIDEST, np.int32), np.empty(WIDEST, np.int32)
    number = own_number(board_of(own, opponent))
    count = positions_after(moves, number, *dice, found, scratch)
    left = found[:count].tolist()
    assert after(own, (max(dice), min(dice))) == {tuple(ALL[it]) for it in left}
    assert len(set(left)) == len(left)
    assert max(left) < number


def test_every_move_leads_to_a_lower_number(moves: Numbers) -> None:
    assert (moves[1:].max(axis=(1, 2)) < np.arange(1, len(moves))).all()
