"""Reading and writing the 53 tokens of a board; contradictory boards are refused with their reason."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.errors import BoardError, LocalProtocolError
from fibs_protocol.grammar import parse, write
from fibs_protocol.words import YOU, Colour
from tests.examples import more_examples
from tests.protocol.message_examples import boards

START = (
    "board:You:someplayer:3:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:1:6:2:0:0:1:1:1:0:1:-1:0:25:"
    "0:0:0:0:2:0:0:0"
)


def with_token(index: int, value: str) -> str:
    tokens = START.split(":")
    tokens[index] = value
    return ":".join(tokens)


@more_examples(2.5)
@given(boards())
def test_a_board_is_read_as_it_was_written(board: BoardState) -> None:
    assert board == BoardState.from_line(board.to_line())
    assert m.Board(board) == parse(write(m.Board(board)))


@more_examples(2.5)
@given(boards(), boards(), st.permutations(range(4)))
def test_a_board_is_read_the_same_whatever_was_read_before(
    one: BoardState, other: BoardState, order: list[int]
) -> None:
    """The beginning of the last board is kept, since the next one often has it."""
    others = (attrs.evolve(one, can_move=one.can_move + 1), attrs.evolve(other, redoubles=other.redoubles + 1))
    known = (one, other, *others)
    for index in order:
        line = known[index].to_line()
        for broken in (
            f"{line}:0",
            line.rpartition(":")[0],
            line[: line.index(":", 40) + 1],
            line.replace(":", ":x", 1),
        ):
            with pytest.raises(BoardError):
                BoardState.from_line(f"{broken}:")
        assert known[index] == BoardState.from_line(line)


def test_the_board_of_the_specification() -> None:
    board = BoardState.from_line(START)
    assert (YOU, "someplayer", 3) == (board.player, board.opponent, board.length)
    assert (Colour.O, Colour.O, (6, 2)) == (board.turn, board.colour, board.dice)
    assert START == board.to_line()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (START + "5", "^$"),
        (START[:-4], "53 tokens"),
        (START + ":0", "53 tokens"),
        (with_token(1, ""), "names"),
        (with_token(2, "a b"), "names"),
        (with_token(6, "x"), "whole numbers"),
        (with_token(6, "99999"), "whole numbers"),
        (with_token(6, "1_0"), "whole numbers"),
        (with_token(32, "2"), "turn"),
        (with_token(41, "0"), "colour"),
        (with_token(42, "0"), "direction"),
        (with_token(3, "0"), "length"),
        (with_token(4, "-1"), "scores"),
        (with_token(33, "7"), "two dice"),
        (with_token(34, "0"), "two dice"),
        (with_token(37, "7"), "power of two"),
        (with_token(7, "-3"), "15 checkers a side, got O 15, X 16"),
        (with_token(30, "1"), "15 checkers a side, got O 14, X 15"),
        (with_token(45, "1"), "15 checkers a side"),
        (with_token(31, "1"), "bars disagree"),
        (with_token(6, "-1"), "bars disagree"),
        (with_token(47, "1"), "bars disagree"),
        (with_token(45, "-1"), "negative"),
        ("board:", "53 tokens, got 2"),
        ("board:You:x", "53 tokens, got 3"),
        ("bored:" + START[6:], "not a board"),
    ],
)
def test_a_contradictory_board_is_refused_with_its_reason(line: str, reason: str) -> None:
    if reason == "^$":
        assert 5 == BoardState.from_line(line).redoubles
        return
    with pytest.raises(BoardError, match=reason):
        BoardState.from_line(line)
    if line.startswith("board:") and reason != "bars disagree":
        message = parse(line)
        assert isinstance(message, m.RefusedBoard)
        assert line == write(message)


@pytest.mark.parametrize("index", [38, 39, 40, 43, 44, 49, 50, 51, 52])
def test_fields_that_servers_do_not_update_are_not_checked(index: int) -> None:
    assert isinstance(parse(with_token(index, "9")), m.Board)


@pytest.mark.parametrize(
    ("changes", "pending"),
    [
        ({}, True),
        ({"was_doubled": False}, False),
        ({"dice": (6, 2)}, False),
        ({"opponent_dice": (6, 2)}, False),
        ({"may_double": True}, False),
        ({"opponent_may_double": True}, False),
    ],
)
def test_a_double_is_pending_if_nobody_has_rolled_or_may_double(changes: dict[str, Any], *, pending: bool) -> None:
    doubled = {"was_doubled": True, "dice": (0, 0), "may_double": False, "opponent_may_double": False}
    assert pending is attrs.evolve(BoardState.from_line(START), **{**doubled, **changes}).double_pending


@more_examples(2.5)
@given(boards(), st.data())
def test_a_changed_number_of_checkers_is_always_noticed(board: BoardState, data: st.DataObject) -> None:
    """If the number of one point is wrong, a side does not have 15 checkers, or a bar disagrees."""
    place = data.draw(st.integers(0, 25))
    by = data.draw(st.integers(-15, 15).filter(bool))
    points = list(board.points)
    points[place] += by
    with pytest.raises(LocalProtocolError):
        attrs.evolve(board, points=tuple(points)).to_line()


@pytest.mark.parametrize(
    "change",
    [
        *({"player": "a b"}, {"points": (0,)}, {"length": 10**5}, {"redoubles": -(10**4)}, {"player": None}),
        *({"dice": (3, 1, 1)}, {"opponent_dice": (3,)}, {"dice": [3, 1]}, {"points": (0.0,) * 26}, {"cube": "2"}),
        *({"turn": 5}, {"colour": 5}, {"colour": None}, {"can_move": 1.5}),
    ],
)
def test_a_board_that_no_line_can_carry_is_not_written(change: dict[str, object]) -> None:
    with pytest.raises(LocalProtocolError):
        attrs.evolve(BoardState.from_line(START), **change).to_line()  # type: ignore[arg-type] # any field


# -- boards that contradict themselves ------------------------------------------------------------------------------


def with_cells(board: BoardState, x_bar: int, o_bar: int) -> str:
    """Write a board with other values in cells 0 and 25."""
    tokens = board.to_line().split(":")
    tokens[6], tokens[31] = str(x_bar), str(o_bar)
    return ":".join(tokens)


@more_examples(2.5)
@given(boards())
def test_a_bar_with_the_wrong_sign_or_in_the_wrong_cell_is_corrected_from_the_counts(board: BoardState) -> None:
    """JIBS: X's bar as +1 in cell 0, or, as O sees it, in cell 25."""
    x_bar, o_bar = -board.points[0], board.points[25]
    for line in (with_cells(board, x_bar, o_bar), with_cells(board, o_bar, x_bar)):
        message = parse(line)
        assert isinstance(message, m.Board)
        assert board == message.state
        assert (message.repaired is None) is (line == board.to_line())


@more_examples(2.5)
@given(boards(), st.sampled_from([6, 31, 47, 48]), st.integers(-15, 15))
def test_one_wrong_number_of_a_bar_is_corrected_and_reported(board: BoardState, index: int, value: int) -> None:
    tokens = board.to_line().split(":")
    tokens[index] = str(value)
    line = ":".join(tokens)
    message = parse(line)
    assert isinstance(message, m.Board)
    assert board == message.state
    assert line == board.to_line() or (message.repaired or "").startswith("bars disagree")
