"""A decision that is written as a board is read as the same decision."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given

from fibs_protocol.board import BoardState
from fibs_protocol.words import Colour
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.position import Position
from fibsbot.strategies.child_process.engine_process import DeclinedError
from fibsbot.strategies.child_process.wire_format import board_line, decision_of_board, state_of_line
from tests.hypothesis_strategies import match_states

START = MatchState(Position.start(), length=5, score=(1, 2))


@given(match_states(resignations=False))
def test_a_decision_comes_back_as_it_was(state: MatchState) -> None:
    """But for the Jacoby rule, which no board tells."""
    assert evolve(state, jacoby=False) == state_of_line(board_line(state))


def test_a_double_is_seen_as_fibs_tells_it_while_neither_may_double() -> None:
    board = BoardState.from_line(board_line(START))
    pending = evolve(board, was_doubled=True, may_double=False, opponent_may_double=False)
    assert Phase.DOUBLED is decision_of_board(pending).phase
    assert Phase.ROLL is decision_of_board(evolve(board, was_doubled=True)).phase  # left over from earlier


@pytest.mark.parametrize(
    "change",
    [
        {"turn": Colour.X},
        {"turn": None},
        {"turn": Colour.X, "opponent_dice": (3, 1)},
        {"points": (0,) * 26, "off": 15, "opponent_off": 15},
    ],
)
def test_a_board_without_a_decision_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected a board"):
        decision_of_board(evolve(BoardState.from_line(board_line(START)), **change))


def test_what_is_no_board_is_refused() -> None:
    with pytest.raises(ValueError, match="not a board line"):
        state_of_line("roll")


def test_a_cube_that_no_board_can_show_is_no_question() -> None:
    with pytest.raises(DeclinedError, match="cannot be asked: expected numbers of at most four digits"):
        board_line(evolve(START, cube=1 << 14))
    with pytest.raises(DeclinedError, match="cannot be asked: expected a power of two"):
        board_line(evolve(START, cube=7, owner=Owner.PLAYER))
