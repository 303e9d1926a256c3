"""Plays of tables games as text."""

from __future__ import annotations

import random

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.games import load_ruleset
from fibsbot.games.sides_text import parse_sides
from fibsbot.notation import format_play, parse_play
from fibsbot.notation.play_notation import NO_MOVE, NOTHING_TO_PIN
from fibsbot.position import Move, Play
from fibsbot.rules.errors import AmbiguousPlayError, IllegalPlayError, InvalidPlayError, Law, PlayError
from fibsbot.rules.game import start_at
from fibsbot.rules.general_plays import check_play, legal_plays
from fibsbot.rules.ruleset import Part, Ruleset
from fibsbot.rules.sides import HAND, Sides
from fibsbot.rules.state import GameState, Stage
from tests.games.random_games import decisions
from tests.marks import is_long, some_slow

CHECKED_GAMES = (
    "tabula:free",
    "swedish",
    "dutch:early",
    "buff",
    "around",
    "plakoto",
    "gioul:may",
    "russian1",
    "narde",
    "hyper",
    "portes:tavla",
)
"""A game for each kind of course, entering, landing, turn and bearing off."""
CHECKED_DECISIONS = 8
"""Decisions of each game whose plays are written and read."""


def to_play(rules: Ruleset, sides: Sides, part: Part) -> GameState:
    """Return a game in which a part of a turn is to be played on this board."""
    return evolve(start_at(rules, sides), stage=Stage.MOVE, dice=part.numbers[:2], todo=(part,))


def on_board(game: str, board: str, part: Part) -> GameState:
    rules = load_ruleset(game)
    return to_play(rules, parse_sides(board, rules), part)


@pytest.mark.parametrize("game", some_slow(CHECKED_GAMES, is_long))
def test_a_written_play_is_read_as_the_same_play(game: str) -> None:
    rng, rules = random.Random(game), load_ruleset(game)
    for board, part in decisions(game, CHECKED_DECISIONS):
        decision = (rules, board, part)
        plays = legal_plays(*decision) or (Play(),)
        for play in rng.sample(plays, min(3, len(plays))):
            state = to_play(*decision)
            text = format_play(play, state)
            assert text.isascii()
            assert check_play(*decision, play)[1] == check_play(*decision, parse_play(text, state))[1], text


@pytest.mark.parametrize(
    ("game", "board", "numbers", "moves", "text"),
    [
        ("irish", "13:2 24:13 / 18 7 24:13", (6, 5), [(13, 7), (24, 19)], "24/19 13/7*"),
        ("nackgammon", "24:15 / 7 3 24:13", (6, 4), [(24, 18), (18, 14)], "24/18*/14"),
        ("nackgammon", "25:2 6:5 / 18:2 6:2", (5,) * 4, [(25, 20)] * 2 + [(6, 1)] * 2, "bar/20(2) 6/1(2)"),
        ("tabula", "25:15 / 25:15", (5, 3, 3), [(25, 20), (25, 22), (25, 22)], "hand/22(2) hand/20"),
        ("tabula", "25:2 20:13 hit=1 / 25:15", (3, 3, 1), [(25, 22), (25, 22), (22, 21)], "bar/22 hand/21"),
        ("plakoto", "13:15 / 18 24:14", (3, 3, 3, 3), [(13, 10), (10, 7), (13, 10), (10, 7)], "13/7^(2)"),
        ("plakoto", "13:15 / 18 24:14", (6, 1), [(13, 7), (7, 6)], "13/6"),
        ("greek", "24:2 1:13 / 7 23:14", (4, 2, 2), [(24, 20), (20, 18), (24, 22)], "24/22 24/18^"),
        ("plakoto", "6:1 5:1 / 24:15", (6, 5), [(6, 0), (5, 0)], "6/off 5/off"),
        ("around", "2 / 8:15", (5, 1), [(2, 1), (1, 21)], "2/21"),
        ("gioul", "24 2:14 / 24:13 5 3", (4, 2), [], "cannot move"),
    ],
)
def test_plays_are_written_with_hits_pins_hand_and_bar(
    game: str, board: str, numbers: tuple[int, ...], moves: list[tuple[int, int]], text: str
) -> None:
    assert text == format_play(Play.of(*moves), on_board(game, board, Part(numbers)))


def test_an_intermediate_point_is_written_if_the_play_could_be_misread_without_it() -> None:
    board = on_board("irish", "24 2:14 / 7 24:14", Part((6, 5)))
    assert "24/18*/13" == format_play(Play.of((24, 18), (18, 13)), board)
    assert "24/19/13" == format_play(Play.of((24, 19), (19, 13)), board)


def test_declining_what_is_offered_differs_from_having_no_move() -> None:
    offered, rolled = (
        on_board("gioul:may", "24:15 / 24:15", Part((2, 2), compulsory=compulsory)) for compulsory in (False, True)
    )
    assert NO_MOVE == format_play(Play(), offered)
    assert Play() == parse_play("no move", offered)
    with pytest.raises(IllegalPlayError, match=Law.MUST_PLAY.value):
        parse_play("no move", rolled)


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("24/18 13/7", [(24, 18), (13, 7)]),
        ("24-18, 13-7", [(24, 18), (13, 7)]),
        ("13/7(2)", [(13, 7), (13, 7)]),
        ("  24/18/12 ", [(24, 18), (18, 12)]),
    ],
)
def test_plays_are_read_as_people_type_them(text: str, moves: list[tuple[int, int]]) -> None:
    board = on_board("irish", "24:2 13:13 / 24:15", Part((6, 6)))
    assert moves == [(move.source, move.target) for move in parse_play(text, board).moves]


@pytest.mark.parametrize("text", ["bar/20", "b-20", "hand/20", "h/20", "25/20"])
def test_bar_and_hand_have_several_names(text: str) -> None:
    board = on_board("tabula", "25 1:14 / 24:15", Part((5,)))
    assert (Move(HAND, 20),) == parse_play(text, board).moves


@pytest.mark.parametrize("text", ["", "hello", "24", "24/", "24/18x", "0/5", "30/24", "24/25", "24/off/3", "24/18(9)"])
@pytest.mark.parametrize("game", ["nackgammon", "irish"])
def test_a_text_that_is_no_play_is_refused_in_one_line(game: str, text: str) -> None:
    with pytest.raises(InvalidPlayError, match=r"^expected [^\n]*, got [^\n]*$"):
        parse_play(text, on_board(game, "24:15 / 24:15", Part((6, 5))))


@pytest.mark.parametrize(
    ("game", "board", "text", "law"),
    [
        ("nackgammon", "24:2 13:13 / 24:15", "24/20 13/7", Law.NOT_ROLLED),
        ("nackgammon", "24:2 13:13 / 24:15", "13/18", Law.WRONG_DIRECTION),
        ("nackgammon", "24:2 13:13 / 24:15", "24/18 13/8 13/8", Law.TOO_MANY_MOVES),
        ("nackgammon", "24:2 13:13 / 24:15", "24/18* 13/8", Law.NOTHING_TO_HIT),
        ("nackgammon", "24:2 13:13 / 24:15", "24/18", Law.BOTH_NUMBERS),
        ("plakoto", "24:2 13:13 / 24:15", "24/18^ 13/8", NOTHING_TO_PIN),
        ("plakoto", "24:2 13:13 / 24:15", "2/24", Law.WRONG_DIRECTION),
    ],
)
def test_the_law_that_forbids_a_play_is_named(game: str, board: str, text: str, law: Law) -> None:
    with pytest.raises(IllegalPlayError) as caught:
        parse_play(text, on_board(game, board, Part((6, 5))))
    assert law is caught.value.law
    assert law.value in str(caught.value)


def test_a_play_that_can_hit_or_not_on_its_way_is_ambiguous_without_the_mark() -> None:
    board = on_board("irish", "24 2:14 / 7 24:14", Part((6, 5)))
    with pytest.raises(AmbiguousPlayError, match="24/18 18/13 or 24/19 19/13"):
        parse_play("24/13", board)
    assert Play.of((24, 18), (18, 13)) == parse_play("24/18*/13", board)


def test_a_checker_is_borne_off_by_one_number_unless_more_points_are_written() -> None:
    board = on_board("tabula", "2 / 25:14 1", Part((5, 1, 1)))
    assert Play.of((2, 0)) == parse_play("2/off", board)
    assert Play.of((2, 1), (1, 0)) == parse_play("2/1*/off", board)


BOARDS = (
    ("tabula", "25:2 20:9 14:2 9 3 hit=1 / 25:5 23:2 19 12:4 8:3", (6, 4, 4)),
    ("plakoto", "13:11 7:2 24 6 pinned=6 / 12 23:9 19:3 7 24 pinned=12", (6, 1)),
    ("around", "6:2 4 2 / 24:2 20 5:3", (6, 5)),
)


@given(
    st.sampled_from(BOARDS),
    st.text("0123456789/-*^() barhndo,", max_size=30)
    | st.lists(
        st.sampled_from(["bar/21", "hand/19*", "13/7", "7/1^", "24/23", "4/18", "6/off", "2/24"]), max_size=4
    ).map(" ".join),
)
def test_any_text_is_a_legal_play_or_an_error_in_one_line(board: tuple[str, str, tuple[int, ...]], text: str) -> None:
    game, rows, numbers = board
    rules = load_ruleset(game)
    decision = (rules, parse_sides(rows, rules), Part(numbers))
    try:
        play = parse_play(text, to_play(*decision))
    except PlayError as error:
        message = str(error)
    else:
        message = ""
        assert play == check_play(*decision, play)[0]
    assert "\n" not in message
