"""Parsing and formatting plays."""

from __future__ import annotations

import contextlib
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.match import Dice
from fibsbot.notation import format_play, parse_play
from fibsbot.position import BAR, Play, Position
from fibsbot.rules.errors import AmbiguousPlayError, DiceError, IllegalPlayError, InvalidPlayError, Law
from fibsbot.rules.plays import check_play, legal_plays
from tests.hypothesis_strategies import Edit, bear_offs, dice, edited, edits, positions

START = Position.start()


def board(**cells: int) -> Position:
    """Set up a position: `p24=2` is two own checkers on the 24-point, 25 is the bar, negative the opponent's."""
    points = [0] * 26
    for name, count in cells.items():
        points[int(name[1:])] = count
    return Position(tuple(points))


@given(st.one_of(positions(), bear_offs()), dice())
def test_a_written_play_is_read_as_the_same_play(position: Position, roll: Dice) -> None:
    for play in legal_plays(position, roll):
        text = format_play(play, position)
        assert position.play(play) == position.play(parse_play(text, position, roll)), text


@pytest.mark.parametrize(
    ("position", "roll", "text"),
    [
        (START, (3, 1), "8/5 6/5"),
        (START, (6, 5), "24/13"),
        (START, (6, 6), "24/18(2) 13/7(2)"),
        (START, (4, 4), "24/16 13/9(2)"),
        (board(p25=1, p6=1, p20=-1, p1=-2), (5, 3), "bar/20*/17"),
        (board(p25=2, p6=1, p22=-1, p1=-2), (3, 3), "bar/22*/19 bar/22 6/3"),
        (board(p24=1, p18=-1, p1=-2), (6, 5), "24/18*/13"),
        (board(p8=1, p6=1, p5=-1, p24=-2), (3, 1), "8/5* 6/5"),
        (board(p6=2, p4=1, p24=-2), (6, 4), "6/off 4/off"),
        (board(p6=3, p5=2, p24=-2), (6, 6), "6/off(3) 5/off"),
        (board(p5=1, p6=1, p1=2, p0=-1), (6, 1), "6/5/off"),
        (board(p8=1, p1=2, p24=-2), (6, 2), "8/off"),
        (board(p13=1, p9=-1, p24=-2), (6, 4), "13/7/3"),
        (board(p25=1, p24=-2, p23=-2), (2, 1), "cannot move"),
    ],
)
def test_plays_are_written_as_in_books(position: Position, roll: Dice, text: str) -> None:
    play = parse_play(text, position, roll)
    assert text == format_play(play, position)


@pytest.mark.parametrize(
    ("text", "roll", "expected"),
    [
        ("6/5 8/5", (3, 1), "8/5 6/5"),
        ("8-5 6-5", (3, 1), "8/5 6/5"),
        ("24/18/13", (5, 6), "24/13"),
        ("24/18 18/13", (5, 6), "24/13"),
        ("24/18(2), 13/7(2)", (6, 6), "24/18(2) 13/7(2)"),
        ("24/12(2)", (6, 6), "24/12(2)"),
        ("  13/11\t13/8 ", (5, 2), "13/11 13/8"),
    ],
)
def test_other_ways_to_write_a_play_are_read_too(text: str, roll: Dice, expected: str) -> None:
    position = board(p24=2, p6=2, p1=-2) if expected == "24/12(2)" else START
    assert expected == format_play(parse_play(text, position, roll), position)


@pytest.mark.parametrize("text", ["bar/22 6/off", "Bar/22 6/Off", "25/22 6/0", "b-22 6-o", "bar-22, 6-off"])
def test_bar_and_off_have_many_names(text: str) -> None:
    with pytest.raises(IllegalPlayError) as caught:
        parse_play(text, board(p25=1, p6=1, p1=-2), (6, 3))
    assert Law.TOO_EARLY is caught.value.law


def test_moves_joined_into_one_are_resolved_into_single_dice() -> None:
    assert Play.of((13, 7), (7, 3)) == parse_play("13/3", board(p13=1, p9=-2, p1=-2), (6, 4))
    assert Play.of((20, 17), (17, 14), (14, 11), (11, 8)) == parse_play("20/8", board(p20=1, p1=-2), (3, 3))


def test_a_play_is_ambiguous_that_hits_on_one_of_two_ways() -> None:
    position = board(p13=1, p9=-1, p1=-2)
    with pytest.raises(AmbiguousPlayError, match=r"13/3 can be 13/7 7/3 or 13/9 9/3"):
        parse_play("13/3", position, (6, 4))
    assert Play.of((13, 9), (9, 3)) == parse_play("13/9*/3", position, (6, 4))
    assert Play.of((13, 7), (7, 3)) == parse_play("13/7/3", position, (6, 4))
    assert Play.of((13, 7), (7, 3)) == parse_play("13/3", position, (6, 4), hits_are_marked=True)
    with pytest.raises(AmbiguousPlayError):
        parse_play("13/3", board(p13=1, p9=-1, p7=-1, p1=-2), (6, 4), hits_are_marked=True)


def test_only_legal_readings_count() -> None:
    """Bearing off with the 6 would leave the 1 unplayed, so `6/off` must have played the 1 first."""
    position = board(p6=1, p5=1, p24=-2)
    with pytest.raises(IllegalPlayError) as caught:
        check_play(position, (6, 1), Play.of((6, 0)))
    assert Law.BOTH_NUMBERS is caught.value.law
    assert Play.of((6, 5), (5, 0)) == parse_play("6/off", position, (6, 1))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "hello",
        "24",
        "24/",
        "/18",
        "24/18(5)",
        "24/18)",
        "24//18",
        "off/6",
        "30/24",
        "24/bar",
        "0/3",
        "6/off/3",
    ],
)
def test_texts_that_are_not_plays_are_distinguished_from_illegal_plays(text: str) -> None:
    with pytest.raises(InvalidPlayError, match=r"^expected .*, got .*$"):
        parse_play(text, START, (3, 1))


@pytest.mark.parametrize(
    ("text", "roll", "law"),
    [
        ("5/8 6/5", (3, 1), Law.WRONG_DIRECTION),
        ("24/18* 13/12", (6, 1), Law.NOTHING_TO_HIT),
        ("24/20 13/11", (3, 1), Law.NOT_ROLLED),
        ("24/21 8/7 6/5", (3, 1), Law.TOO_MANY_MOVES),
        ("24/19 13/12", (5, 1), Law.POINT_HELD),
        ("8/5", (3, 1), Law.BOTH_NUMBERS),
        ("cannot move", (3, 1), Law.BOTH_NUMBERS),
        ("can't move", (3, 3), Law.WHOLE_DOUBLE),
    ],
)
def test_an_illegal_play_names_the_law_it_breaks(text: str, roll: Dice, law: Law) -> None:
    with pytest.raises(IllegalPlayError) as caught:
        parse_play(text, START, roll)
    assert law is caught.value.law
    assert law.value in str(caught.value)


def test_a_dance_is_read_and_written() -> None:
    closed = Position.from_sides(own=[0] * 24 + [1], opponent=[2] * 6 + [0] * 19)
    assert Play() == parse_play("cannot move", closed, (6, 1))


ALPHABET: Final = "0123456789/-*()bof ar"


@given(st.one_of(st.text(max_size=30), st.text(ALPHABET, max_size=24)), dice())
def test_any_text_is_a_play_or_one_of_three_errors(text: str, roll: Dice) -> None:
    with contextlib.suppress(InvalidPlayError, IllegalPlayError, AmbiguousPlayError):
        parse_play(text, START, roll)


@given(st.one_of(st.just(START), positions(), bear_offs()), dice(), st.integers(0, 10_000), edits(ALPHABET))
def test_a_play_with_a_typing_error_is_a_legal_play_or_one_of_three_errors(
    position: Position, roll: Dice, which: int, changes: list[Edit]
) -> None:
    plays = legal_plays(position, roll)
    reached = {position.play(play) for play in plays}
    text = format_play(plays[which % len(plays)], position) if plays else "cannot move"
    assert not plays or position.play(parse_play(text, position, roll)) in reached
    try:
        play = parse_play(edited(text, changes), position, roll)
    except (InvalidPlayError, IllegalPlayError, AmbiguousPlayError):
        return
    # A play that bears off the last checker is legal, even if the other order of the numbers uses both.
    after = position.play(play)
    assert after in reached or after.over or not (plays or play.moves)


def test_impossible_dice_are_refused() -> None:
    with pytest.raises(DiceError):
        parse_play("8/5 6/5", START, (3, 7))


def test_a_move_alone_is_written_as_in_a_play() -> None:
    assert ["bar/22", "24/18", "6/off"] == [str(move) for move in Play.of((BAR, 22), (24, 18), (6, 0)).moves]
