"""Worked positions of each game, with all their plays: own row after the play, `*n` for hits, `_p_` for pins."""

from __future__ import annotations

import pytest

from fibsbot.games import load_ruleset
from fibsbot.rules.general_plays import outcome, parts_of, resulting_boards
from fibsbot.rules.ruleset import Part
from fibsbot.rules.sides import Mark, Sides
from tests.games.boards import format_side, results, sides

RELEASED = Mark.RELEASED
FREE = Mark.RELEASED | Mark.FIVE_LEFT
STARTED = Mark.STARTED


@pytest.mark.parametrize(
    ("game", "board", "numbers", "expected"),
    [
        ("tabula", sides("20 1:14", ""), (2, 4, 5), ["9 1:14"]),
        ("tabula", sides("20 15 1:13", ""), (2, 4, 5), [
            "20 4 1:13", "18 6 1:13", "16 8 1:13", "15 9 1:13", "14 10 1:13", "13 11 1:13",
        ]),
        ("tabula", sides("25:2 20:13", "23:2 1:13"), (2, 4, 5), ["21 20:13 18", "20:14 19"]),
        ("tabula", sides("25:3 20:12", "23:2 1:13"), (2, 4, 5), ["25 21 20:13"]),
        ("tabula", sides("25 2:5", "22 21:2"), (3, 3, 4), ["15 2:5 *1"]),
        ("tabula", sides("19:7 16 15:2 6:2 5:2 2", "17:2 14:2 13:2 12 11:2 10:2 7:2 4:2"), (2, 5, 6), [
            "19:7 16 15 9 6 5 3 2 1",
        ]),
        ("irish", sides("20 10 1:13", ""), (3, 3), ["20 4 1:13", "17 7 1:13", "14 10 1:13"]),
        ("irish", sides("25 13:14", "8:3 6:2 5:2 4:2 3:2 2:2 1:2"), (6, 5), []),
        ("irish", sides("6 5 4", ""), (6, 6), ["4"]),
        ("swedish", sides("24:12 23 21 20", "24:15"), (3, 1), [
            "24:12 23 21 16", "24:12 23 20 17", "24:12 22 21 17", "24:12 23 19 18", "24:12 22 20 18", "24:12 21 20 19",
        ]),
        ("swedish", sides("24:11 14:3 13", "24:15", marks=RELEASED), (6, 5), [
            "24:9 19 18 14:3 13", "24:10 14:3 13:2", "24:10 18 14:2 13 9", "24:10 18 14:3 8", "24:10 19 14:2 13 8",
            "24:10 19 14:3 7",
        ]),
        ("swedish", sides("24:10 21:5", "24:3 8:2 7:2 6:2 5:2 4:2 3:2", marks=FREE), (1, 2), [
            "24:9 23 21:4 19 *2", "24:9 22 21:4 20 *2", "24:9 21:6", "24:8 23 22 21:5",
        ]),
        ("swedish", sides("24:10 21:5", "24:2 8:2 7:3 6:2 5:2 4:2 3:2", marks=FREE), (2,), ["24:9 22 21:5"]),
        ("swedish", sides("25:2 24:8 23 20 10:3", "24:15"), (1, 3), ["25 24:8 23 22 20 10:3"]),
        ("dutch:early", sides("24:14 9", "8:13 5 1"), (4, 3), ["24:14 2", "24:13 21 5", "24:13 20 6 *1"]),
        ("dutch:early", sides("25:14 24", "8:14 2"), (2, 1), ["25:14 21", "25:13 24 22"]),
        ("acey-deucey", sides("25:15", ""), (1, 2), ["25:13 24 23"]),
        ("acey-deucey", sides("25:2 10:13", "8:13 1:2"), (1, 2), ["25 23 10:13"]),
        ("acey-deucey", sides("25 10:14", "8:13 1:2"), (1, 2), ["23 10:13 9", "22 10:14"]),
        ("buff", sides("25:15", ""), (6, 6, 1), ["25:12 24 19:2"]),
        ("buff", sides("25 20:14", "8:14 1"), (5, 5, 1), [
            "24 20:13 10 *1", "20:14 14", "20:14 14 *1", "24 20:12 15:2 *1", "20:13 19 15 *1", "20:13 19 15",
        ]),
        ("around", sides("2", ""), (5, 1), ["21"]),
        ("around", sides("1:2", ""), (6,) * 4, ["2 1"]),
        ("around", sides("7 3", ""), (6, 5), ["23 1", "22 2", "21 3"]),
        ("around", sides("2", ""), (2, 1), ["", "24"]),
        ("around", sides("4", "2:2 1:2"), (6, 5), []),
        ("around:exact", sides("4 2", ""), (6, 3), ["2 1"]),
        ("around:exact", sides("3 2", ""), (5, 2), ["3", "2 1"]),
        ("plakoto", sides("24 20 1:13", "24:14 7"), (2, 4), ["24 14 1:13", "22 16 1:13", "20 18 1:13 _7_"]),
        ("plakoto", sides("22 20 10 1:12", "24:14 5", pinned=(20,)), (2, 6), [
            "20 16 8 1:12", "20 14 10 1:12", "22 20 2 1:12",
        ]),
        ("plakoto", sides("18 3:14", "24:14 7", opponent_pinned=(7,)), (1, 2), ["16 3:13 2", "15 3:14"]),
        ("plakoto", sides("7 6:13 4", "24 1:14"), (3, 6), [
            "7 6:13 1 _24_", "6:13 4 1 _24_", "6:12 4 3 1 _24_", "6:12 4:2",
        ]),
        ("gioul", sides("24 1:14", "24:13 5 3"), (2, 4), []),
        ("gioul", sides("24 10 1:13", "24:14 3"), (2, 4), ["24 4 1:13", "20 8 1:13", "18 10 1:13"]),
        ("gioul", sides("24 1:14", "24:14 11"), (5,) * 4, ["19 1:14"]),
        ("greek", sides("3 2", "24:14 22", pinned=(3,)), (1, 2), ["3"]),
        ("russian1", sides("25:15", "25:15"), (5, 3), ["25:13 22 20"]),
        ("russian1", sides("25:14 22", "24:15"), (5, 3), ["25:13 22 17", "25:13 20 19", "25:12 22:2 20"]),
        ("russian1", sides("25:14 22", "24:13 20:2"), (5, 3), ["25:13 22 17"]),
        ("russian1:enter-first", sides("25:13 22 20", "25:15", marks=STARTED), (5, 3), ["25:11 22:2 20:2"]),
        ("russian1", sides("25:14 20", "24:2 1:13", marks=STARTED, hit=1), (1, 4), ["25:13 21 19", "25:13 20:2"]),
        ("russian1", sides("20 1:14", "24:13 11:2", marks=STARTED), (3,) * 4, ["14 1:14"]),
        ("longgammon", sides("24:15", "24:15"), (6, 5), ["24:14 13", "24:13 19 18"]),
        ("misere", sides("1", "24:15"), (6, 5), [""]),
        ("fevga", sides("24:15", "24:15"), (6, 5), ["24:14 13"]),
        ("fevga", sides("24:15", "24:15"), (6,) * 4, ["24:14 18"]),
        ("fevga", sides("24:15", "24:15"), (3,) * 4, ["24:14 15"]),
        ("fevga", sides("24:15", "24:15"), (4,) * 4, ["24:14 16"]),
        ("fevga", sides("24:15", "24:15"), (5,) * 4, ["24:14 4", "24:13 19 9"]),
        ("fevga", sides("24:14 14", "24:15"), (4, 2), ["24:14 8", "24:13 22 10"]),
    ],
)  # fmt: skip
def test_exactly_these_plays_are_legal(game: str, board: Sides, numbers: tuple[int, ...], expected: list[str]) -> None:
    assert sorted(expected) == results(game, board, *numbers)


@pytest.mark.parametrize(
    ("game", "board", "numbers", "count"),
    [
        ("tabula:free", sides("19:7 16 15:2 6:2 5:2 2", "17:2 14:2 13:2 12 11:2 10:2 7:2 4:2"), (2, 5, 6), 8),
        ("russian1", sides("25:13 22 20", "25:15", marks=STARTED), (5, 3), 8),
        ("ticktack", sides("24:15", "24:10 10 6:2 5:2"), (5, 4), 0),
        ("ticktack", sides("24:13 17 16", "24:15"), (6, 5), 10),
        ("ticktack", sides("24:3 19 18:2 17:2 16:2 15:2 14:2 13", ""), (6, 1), 62),
        ("longgammon", sides("24:15", "24:15"), (6,) * 4, 4),
        ("portes", sides("7 3:2 2:2 1:2", "24:2 20 8:12"), (2, 1), 5),
        ("portes:tavla", sides("7 3:2 2:2 1:2", "24:2 20 8:12"), (2, 1), 4),
        ("fevga", sides("24:9 23 22 21 20 8:2", "24:15"), (5, 1), 32),
        ("fevga", sides("1 2:2 3:3 4:3 5:3 6:3", "19:15"), (2, 1), 5),
        ("fevga", sides("1 2:2 3:3 4:3 5:3 6:3", "19:15"), (6, 5), 2),
        ("narde", sides("24 19 17:3 16:3 15:3 14:3 13", "24:15"), (1,), 5),
        ("narde", sides("24 19 17:3 16:3 15:3 14:3 13", "24:15"), (6,), 6),
    ],
)
def test_the_number_of_legal_plays_is_as_counted(game: str, board: Sides, numbers: tuple[int, ...], count: int) -> None:
    rules = load_ruleset(game)
    board = rules.on_roll(board, numbers) if game == "narde" else board
    assert count == len(resulting_boards(rules, board, Part(numbers)))


@pytest.mark.parametrize(
    ("game", "dice", "expected"),
    [
        ("swedish", (6, 6), ["24:11 18:4"]),
        ("swedish", (5, 5), ["24:14 14"]),
        ("swedish", (4, 4), ["24:14 16"]),
        ("swedish", (3, 3), ["24:14 15"]),
        ("swedish", (2, 2), ["24:14 16"]),
        ("swedish", (1, 1), ["24:14 20"]),
        ("nackgammon", (6, 6), 3),
        ("nackgammon", (6, 5), 7),
        ("nackgammon", (3, 1), 22),
        ("hyper", (6, 5), 9),
        ("hyper", (2, 1), 6),
        ("narde", (6, 6), ["24:13 18:2"]),
        ("narde", (4, 4), ["24:13 16:2"]),
        ("narde", (3, 3), ["24:13 18:2", "24:13 21 15"]),
        ("narde", (5, 5), ["24:14 4"]),
        ("narde", (2, 2), ["24:14 16"]),
        ("narde", (6, 5), ["24:14 13"]),
        ("gulbara", (6, 6), ["24:11 18:4"]),
    ],
)
def test_first_rolls_have_exactly_these_plays(game: str, dice: tuple[int, ...], expected: list[str] | int) -> None:
    rules = load_ruleset(game)
    noted, turn = parts_of(rules, rules.start(), dice)
    part = turn[0]
    assert isinstance(part, Part)
    after = resulting_boards(rules, noted, part)
    assert expected == (len(after) if isinstance(expected, int) else sorted(format_side(it.own) for it in after))


@pytest.mark.parametrize(
    ("board", "numbers", "row", "points"),
    [
        (sides("24:15", "24:12 10 6:2"), (5, 4), "24:14 15", 1),
        (sides("24:13 17 16", "24:15"), (6, 5), "24:13 11:2", 2),
        (sides("24:3 19 18:2 17:2 16:2 15:2 14:2 13", "24:15"), (6, 1), "24:2 23 18:2 17:2 16:2 15:2 14:2 13:2", 2),
    ],
)
def test_ticktack_is_won_by_these_plays(board: Sides, numbers: tuple[int, ...], row: str, points: int) -> None:
    rules = load_ruleset("ticktack")
    ends = {format_side(it.own): outcome(rules, board, it) for it in resulting_boards(rules, board, Part(numbers))}
    ended = ends[row]
    assert ended is not None
    assert (1, points) == (ended.winner, ended.points)
