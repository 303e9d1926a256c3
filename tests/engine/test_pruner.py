"""The pruner says what the network says of which it is made, only faster."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine.arrays import Board, boards_of
from fibsbot.engine.features import RAW_INPUTS, encode_all, input_names
from fibsbot.engine.pruner import pruner_equity, pruner_of, raw_columns
from fibsbot.position import Position
from tests.engine.toys import board_of, toy_pruner, toy_pruner_network
from tests.hypothesis_strategies import positions

NETWORK = toy_pruner_network()
PRUNER = pruner_of(NETWORK)


def chances_by_network(board: Board) -> list[float]:
    """Return what the network says, which has the inputs written down."""
    said: list[float] = NETWORK.chances(encode_all(board[None])[:, raw_columns()])[0].tolist()
    return said


@given(positions())
def test_it_says_what_its_network_says(position: Position) -> None:
    board = board_of(position)
    equity = pruner_equity(PRUNER, board)
    win, gammon, backgammon, lose_gammon, lose_backgammon = said = chances_by_network(board)
    assert said == pytest.approx(PRUNER.chances.tolist(), abs=1e-4)
    assert 2 * win - 1 + gammon + backgammon - lose_gammon - lose_backgammon == pytest.approx(equity, abs=1e-3)


@given(st.integers(1, 25), st.integers(1, 15))
def test_a_finished_game_is_worth_the_points_lost(point: int, left: int) -> None:
    cells = [0] * 26
    cells[point] = left
    gammon = left == 15
    assert -1 - gammon - (gammon and point > 18) == pruner_equity(PRUNER, board_of(Position(tuple(cells))))


def test_it_sees_the_counts_of_checkers_of_both_sides() -> None:
    seen = np.array(input_names())[raw_columns()]
    assert (2 * RAW_INPUTS,) == seen.shape
    assert ["own_1_blot", "own_borne_off"] == [seen[0], seen[RAW_INPUTS - 1]]
    assert ["opponent_1_blot", "opponent_borne_off"] == [seen[RAW_INPUTS], seen[-1]]


def test_several_pruners_of_one_network_work_side_by_side() -> None:
    one, other = toy_pruner(), toy_pruner()
    start = boards_of([Position.start()])[0]
    before = pruner_equity(one, start)
    pruner_equity(other, boards_of([Position.start().swapped()])[0])
    assert before == pruner_equity(one, start)
    assert one.hidden is not other.hidden
