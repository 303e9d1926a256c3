"""Evaluations of the TD network."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine.arrays import OUTPUTS, boards_of
from fibsbot.engine.features import encode_all
from fibsbot.engine.generator import write_game_over
from fibsbot.engine.training.td_network import new_td_buffers, new_td_network, value
from fibsbot.position import CHECKERS, Position
from tests.engine.toys import board_of
from tests.hypothesis_strategies import positions

STUDENT = new_td_network(6, 1)
DESK = new_td_buffers(STUDENT)


@st.composite
def lost(draw: st.DrawFn) -> tuple[Position, list[int]]:
    """A finished game, seen by the loser, and the points of the remaining checkers."""
    points = draw(st.lists(st.integers(1, 25), min_size=1, max_size=CHECKERS))
    cells = [0] * 26
    for point in points:
        cells[point] += 1
    return Position(tuple(cells)), points


@given(lost())
def test_a_finished_game_is_worth_exactly_the_points_lost(game: tuple[Position, list[int]]) -> None:
    position, points = game
    gammon = len(points) == CHECKERS
    backgammon = gammon and max(points) > 18
    assert -(1 + gammon + backgammon) == value(STUDENT, DESK, board_of(position))
    assert [0, 0, 0, gammon, backgammon] == DESK.chances.tolist()


@given(positions())
def test_what_is_not_over_is_no_ending(position: Position) -> None:
    chances = np.full(OUTPUTS, 9, np.float32)
    assert not write_game_over(board_of(position), chances)
    assert (chances == 9).all()


@given(positions())
def test_chances_are_what_the_weights_say_in_their_order(position: Position) -> None:
    student = new_td_network(9, 5)
    student.output_bias[:] = (0, 1, 1, 1, 1)
    desk = new_td_buffers(student)
    equity = value(student, desk, board_of(position))
    hidden = encode_all(boards_of([position]))[0].astype(float) @ student.input_weights + student.hidden_bias
    said = 1 / (1 + np.exp(-(student.output_weights @ (hidden / (1 + abs(hidden))) + student.output_bias)))
    win, gammon, lose_gammon = said[0], min(said[1], said[0]), min(said[3], 1 - said[0])
    expected = [win, gammon, min(said[2], gammon), lose_gammon, min(said[4], lose_gammon)]
    assert expected == pytest.approx(desk.chances.tolist(), abs=1e-4)
    assert 2 * win - 1 + sum(expected[1:3]) - sum(expected[3:]) == pytest.approx(equity, abs=1e-4)
