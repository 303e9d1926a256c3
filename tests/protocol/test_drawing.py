"""Our drawings are identical to those of the server in 100 captures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given

from fibs_protocol.board import BoardState
from fibs_protocol.drawing import draw
from fibs_protocol.words import UNLIMITED, YOU
from tests.protocol.message_examples import boards

CAPTURES = Path(__file__).parents[1] / "data" / "protocol" / "board_captures.jsonl"

TOKENS = [
    *("player1", "player2", "matchLength", "player1Score", "player2Score", "board", "turnColor"),
    *("player1Dice", "player2Dice", "doublingCube", "player1MayDouble", "player2MayDouble", "wasDoubled"),
    *("player1Color", "direction", "HOME_AND_BAR", "player1Home", "player2Home", "player1Bar", "player2Bar"),
    *("canMove", "UNUSED", "redoubles"),
]
MOVED_ON = {9, 38, 42, 46, 72}
"""Captures in which the drawing and the board line were made before and after a roll."""


def captures() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CAPTURES.read_text("utf-8").splitlines()]


def line_of(tokens: dict[str, str]) -> str:
    """Restore the line; the capture lacks four tokens, two of which follow from the direction."""
    rest = {"HOME_AND_BAR": "0:25" if tokens["direction"] == "-1" else "25:0", "UNUSED": "0:0"}
    return ":".join(["board", *((tokens | rest)[name] for name in TOKENS)])


@pytest.mark.parametrize(("number", "capture"), list(enumerate(captures())))
def test_drawings_are_identical_to_those_of_the_server(number: int, capture: dict[str, Any]) -> None:
    board = BoardState.from_line(line_of(capture["board"]))
    assert line_of(capture["board"]) == board.to_line()
    expected, actual = capture["ascii"], draw(board)
    if number in MOVED_ON:
        expected[-1], actual[-1] = (line[: line.rindex("  ")] for line in (expected[-1], actual[-1]))
    assert expected == actual


@given(boards())
def test_style_2_has_two_more_lines_and_shows_the_same_checkers(board: BoardState) -> None:
    first, second = draw(board), draw(board, style=2)
    assert len(first) + 2 == len(second)
    assert first[1:12] == second[2:13]
    assert all(line.isascii() and line == line.rstrip() for line in first + second)


def test_the_own_name_is_drawn_on_the_board() -> None:
    board = BoardState.from_line(line_of(captures()[0]["board"]))
    drawn = "\n".join(draw(attrs.evolve(board, player=YOU, length=UNLIMITED), own_name="marvin"))
    assert "marvin - score: 11" in drawn
    assert "unlimited match" in drawn


def test_an_unknown_board_style_is_refused() -> None:
    with pytest.raises(ValueError, match="style"):
        draw(BoardState.from_line(line_of(captures()[0]["board"])), style=3)
