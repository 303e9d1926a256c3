"""Boards of tables games, as text and as pictures.

`FIBSBOT_GOLDEN=write pytest tests/drawing/test_tables.py` writes the golden files; look at them before committing.
"""

from __future__ import annotations

import os
import random
from itertools import islice
from pathlib import Path
from typing import Final

import pytest

from fibs_protocol.drawing_reader import DrawingReader
from fibsbot.drawing.board_text import draw_game, draw_state
from fibsbot.drawing.layout import STACK
from fibsbot.drawing.sentences import describe_game, situation
from fibsbot.drawing.svg import ViewOptions, game_svg
from fibsbot.fast_evolve import fast_evolve
from fibsbot.games import GAMES, load_ruleset
from fibsbot.games.sides_text import parse_sides
from fibsbot.match import MatchState
from fibsbot.notation import parse_play
from fibsbot.position import Position
from fibsbot.rules.game import play, start_at
from fibsbot.rules.general_plays import legal_plays
from fibsbot.rules.sides import HAND, OFF
from fibsbot.rules.state import GameState, Seat, Stage
from tests.drawing.svg_checks import NASTY, SVG, parsed, reaches_out, said, texts
from tests.drawing.table_boards import BOARDS, NAMES, board_of, start_of
from tests.games.random_games import random_game

GOLDEN: Final = Path(__file__).parent.parent / "data" / "drawing" / "tables"
LARGEST: Final = 14_000
STATES: Final = 20
"""States of a random game that are drawn."""


def text_of(name: str) -> str:
    """Return both drawings of a game: the start in style 1, another table in style 2, seen by both players."""
    start, board = start_of(name), board_of(name)
    drawings = [
        draw_game(start, Seat.A, NAMES),
        draw_game(board, Seat.A, NAMES, style=2),
        [f"{key}: {fact}" for key, fact in describe_game(board, NAMES)],
        draw_game(board, Seat.B, NAMES, own_colour="X"),
    ]
    return "\n\n".join("\n".join(lines) for lines in drawings) + "\n"


@pytest.mark.parametrize("name", GAMES)
def test_the_boards_of_a_game_match_the_golden_file(name: str) -> None:
    path, text = GOLDEN / f"{name}.txt", text_of(name)
    if os.environ.get("FIBSBOT_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
    assert path.read_text(encoding="ascii") == text


def test_every_game_has_a_board() -> None:
    assert list(GAMES) == list(BOARDS)


def drawn_checkers(lines: list[str]) -> int:
    """Count the checkers of a drawing, those shown as a number too."""
    rows = [line[4:46] for line in lines if line.startswith("   |")]
    cells = [cell for row in rows for cell in row.replace("|", " ").split()]
    return sum(int(cell) - STACK + 1 if cell.isdigit() else 1 for cell in cells)


def heaps_of(game: GameState) -> list[int]:
    """Return the numbers of checkers on all points and on both bars."""
    return [
        count
        for side in (game.sides.own, game.sides.opponent)
        for count in (*side.row[OFF + 1 : HAND], side.row[HAND] - game.rules.in_hand(side))
    ]


@pytest.mark.parametrize("name", ["tabula", "swedish", "plakoto", "greek", "dutch", "around", "narde"])
def test_every_checker_of_a_random_game_is_drawn_or_counted(name: str) -> None:
    rng = random.Random(name)
    for state in islice(random_game(load_ruleset(name), rng), 20, 20 + 9 * STATES, 9):
        seat, view = rng.choice(list(Seat)), ViewOptions(left=rng.random() < 0.5, opponents_side=rng.random() < 0.5)
        lines = draw_game(state, seat, NAMES)
        pins = state.sides.own.pinned.bit_count() + state.sides.opponent.pinned.bit_count()
        assert pins == sum(line.count(" o") + line.count(" x") for line in lines if line.startswith("   |"))
        assert all("".join(lines).isascii() for line in lines)
        text = game_svg(state, seat, names=NAMES, view=view)
        root = parsed(text)
        circles = [it for it in root.iter(f"{SVG}circle") if it.attrib["r"] == "17.5"]
        assert sum(min(count, STACK) for count in heaps_of(state)) == len(circles)
        assert all(str(count) in texts(root) for count in heaps_of(state) if count > STACK)
        if not pins:  # more than five with a pinned one are shown by a number that does not count it
            assert sum(heaps_of(state)) == drawn_checkers(lines)
        slabs = [it for it in root.iter(f"{SVG}rect") if it.attrib.get("rx") == "3"]
        places = (state.sides.own, state.sides.opponent)
        assert sum(side.row[OFF] + state.rules.in_hand(side) for side in places) == len(slabs)


@pytest.mark.parametrize("name", GAMES)
def test_a_picture_is_small_loads_nothing_and_shows_any_play(name: str) -> None:
    game = board_of(name)
    for made in legal_plays(game.rules, game.sides, game.part)[:4]:
        text = game_svg(game, Seat.B, names=(NASTY, "ford"), play=made)
        root = parsed(text)
        assert [] == reaches_out(text)
        assert len(text.encode()) < LARGEST
        assert "plays" in said(root, "title")
        height = float(root.attrib["viewBox"].split()[3])
        assert all(0 < float(it.attrib["cy"]) < height for it in root.iter(f"{SVG}circle"))


@pytest.mark.parametrize(("name", "called"), [("plakoto", " 1"), ("tabula", "24"), ("narde", "12")])
def test_points_have_the_numbers_of_the_player_below(name: str, called: str) -> None:
    """The opponent's 24-point has another number for us in each kind of course."""
    rules = load_ruleset(name)
    lines = draw_game(start_at(rules, parse_sides("20:15 / 24:15", rules)), Seat.A, NAMES, style=2)
    edges = ((lines[2], lines[0]), (lines[12], lines[14]))
    found = [numbers[row.index("X") - 1 : row.index("X") + 1] for row, numbers in edges if "X" in row]
    assert [called] == found


def test_hand_and_bar_are_apart_where_the_game_distinguishes_them() -> None:
    rules = load_ruleset("tabula")
    lines = draw_game(start_at(rules, parse_sides("25:3 20:12 hit=1 / 25 2:14", rules)), Seat.A, NAMES)
    assert "   HAND: O-2 X-1   BAR: O-1 X-0   OFF: O-0 X-0  turn: marvin" in lines
    hyper = load_ruleset("hyper")
    board = start_at(hyper, parse_sides("25 20 / 2", hyper), (5, 1))
    assert "   BAR: O-1 X-0   OFF: O-1 X-2   Cube: 1  marvin rolled 5 1." in draw_game(board, Seat.A, NAMES)


def test_the_rest_of_a_turn_is_written_below_the_board() -> None:
    rules = load_ruleset("gioul")
    stopped = start_at(rules, parse_sides("24 2:14 / 24:14 11", rules), (5, 5))
    passed = play(stopped, Seat.A, parse_play("24/19", stopped))
    lines = draw_game(passed, Seat.A, NAMES)
    assert "   ford to play: 5 5 5, then 6 6 6 6." in lines
    assert "marvin rolled 5 5." in lines[-2]


def test_the_title_says_who_has_to_act_and_how_a_game_ended() -> None:
    game = board_of("plakoto")
    assert "marvin to play 6-1" == situation(game, NAMES)
    drawn = fast_evolve(game, stage=Stage.OVER, dice=None, todo=(), drawn=True, reason="both are pinned")
    assert "a draw: both are pinned" == situation(drawn, NAMES)
    assert "a draw: both are pinned" in game_svg(drawn, Seat.A, names=NAMES)


@pytest.mark.parametrize("name", GAMES)
def test_a_drawing_of_another_game_is_not_read_as_backgammon(name: str) -> None:
    reader = DrawingReader()
    for style in (1, 2):
        lines = draw_game(start_of(name), Seat.A, NAMES, style=style)
        assert [] == [line for line in lines if reader.read(line)]
    backgammon = draw_state(MatchState(Position.start()))
    assert 1 == sum(reader.read(line) is not None for line in backgammon)
