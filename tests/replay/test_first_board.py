"""The state that the first board of a session shows."""

from __future__ import annotations

import pytest

from fibs_protocol import messages as m
from fibs_protocol.grammar import parse
from fibsbot.replay.board_view import BoardView
from fibsbot.rules.state import Seat, Stage

BOARD = (
    "board:You:ford:3:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
    ":{turn}:0:0:0:0:1:{may}:{other}:{doubled}:1:-1:0:25:0:0:0:0:2:0:0:0"
)


@pytest.mark.parametrize(
    ("shown", "stage", "turn", "answering"),
    [
        ({"turn": 1, "may": 1, "other": 1, "doubled": 0}, Stage.ROLL, Seat.A, None),
        ({"turn": -1, "may": 1, "other": 1, "doubled": 0}, Stage.ROLL, Seat.B, None),
        ({"turn": -1, "may": 0, "other": 0, "doubled": 0}, Stage.DOUBLED, Seat.A, Seat.B),
        ({"turn": 1, "may": 0, "other": 0, "doubled": 1}, Stage.DOUBLED, Seat.B, Seat.A),
    ],
)
def test_a_pending_double_is_seen(shown: dict[str, int], stage: Stage, turn: Seat, answering: Seat | None) -> None:
    message = parse(BOARD.format(**shown))
    assert isinstance(message, m.Board)
    state = BoardView.from_board(message.state, Seat.A).state()
    assert state is not None
    assert (stage, turn, answering, None) == (state.stage, state.turn, state.answering, state.owner)
