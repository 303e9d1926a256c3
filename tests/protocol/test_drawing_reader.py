"""A board drawn for people is read back unchanged, and no other lines are taken for one."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibs_protocol.board import BoardState
from fibs_protocol.drawing import draw
from fibs_protocol.drawing_reader import DrawingReader, is_drawn
from fibs_protocol.words import YOU
from tests.examples import examples
from tests.protocol.message_examples import boards
from tests.protocol.test_drawing import captures


def read(lines: list[str], watched: str | None = None) -> list[BoardState]:
    reader = DrawingReader()
    return [board for line in lines if (board := reader.read(line, watched)) is not None]


@pytest.mark.parametrize("capture", captures())
def test_a_captured_drawing_is_read_and_drawn_again_identically(capture: dict[str, list[str]]) -> None:
    (board,) = read(capture["ascii"], watched=capture["ascii"][12].split(": ")[1].split(" ")[0])
    assert capture["ascii"] == draw(board)


@given(board=boards(), style=st.sampled_from([1, 2]), chat=st.integers(0, 12))
def test_both_styles_are_read_with_chat_between_the_lines(board: BoardState, style: int, chat: int) -> None:
    lines = draw(board, style=style)
    (read_back,) = read([*lines[:chat], "ford kibitzes: +13-14-15-+ X: me", *lines[chat:]], watched=board.player)
    assert lines == draw(read_back, style=style)
    for field in ["points", "colour", "direction", "home", "bar", "off", "opponent_off", "on_bar", "opponent_on_bar"]:
        assert getattr(board, field) == getattr(read_back, field), field


@given(board=boards(), data=st.data())
def test_a_drawing_without_one_of_its_lines_is_not_a_board(board: BoardState, data: st.DataObject) -> None:
    lines = draw(board)
    del lines[data.draw(st.integers(0, 13))]
    assert [] == read(lines)


@given(board=boards(), data=st.data())
def test_a_drawing_with_a_wrong_number_of_checkers_is_not_a_board(board: BoardState, data: st.DataObject) -> None:
    lines = draw(board)
    row = data.draw(st.sampled_from([*range(1, 6), *range(7, 12)]))
    place = data.draw(st.sampled_from([*range(4, 20, 3), *range(28, 44, 3)])) + 1
    sign = data.draw(st.sampled_from([letter for letter in " OX" if letter != lines[row][place]]))
    lines[row] = lines[row][:place] + sign + lines[row][place + 1 :]
    assert [] == read(lines)


def test_columns_of_checkers_have_no_gaps_and_no_other_letters() -> None:
    lines = captures()[0]["ascii"]
    assert [" ", "O", "O"] == [line[5] for line in lines[9:12]]
    for column in ["O", " ", "O"], [" ", "Z", "Z"]:
        changed = [line[:5] + letter + line[6:] for line, letter in zip(lines[9:12], column, strict=True)]
        assert [] == read([*lines[:9], *changed, *lines[12:]])


def test_the_player_is_you_unless_a_player_is_watched() -> None:
    lines = captures()[0]["ascii"]
    assert [YOU] == [board.player for board in read(lines)]
    assert ["ford"] == [board.player for board in read(lines, "ford")]


def test_consecutive_drawings_are_read() -> None:
    drawings = [capture["ascii"] for capture in captures()]
    assert len(drawings) == len(read([line for drawing in drawings for line in drawing]))


@given(other=boards(), board=boards(), style=st.sampled_from([1, 2]))
@examples(10)
def test_a_drawing_is_read_after_any_part_of_another(other: BoardState, board: BoardState, style: int) -> None:
    lines, others = draw(board, style=style), draw(other, style=style)
    alone = read(lines, board.player)
    for start, end in combinations(range(len(others)), 2):
        assert alone == read([*others[start:end], *lines], board.player), (start, end)


@given(st.lists(st.text(max_size=60), max_size=30))
def test_other_lines_are_not_a_board(lines: list[str]) -> None:
    assert [] == read(lines)
    assert not any(map(is_drawn, lines))


@given(board=boards(), style=st.sampled_from([1, 2]))
def test_every_line_of_a_drawing_is_known_as_one(board: BoardState, style: int) -> None:
    assert all(map(is_drawn, draw(board, style=style)))
