"""Decisions as text: golden files, and independence of the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from attrs import evolve
from hypothesis import given
from rich.console import Console

from fibsbot.drawing.board_text import draw_game, draw_state
from fibsbot.drawing.coloured_board import styled_board
from fibsbot.drawing.sentences import describe_state
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.notation import Xgid
from fibsbot.position import Position
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS
from fibsbot.rules.state import Seat, Stage
from tests.hypothesis_strategies import match_states

GOLDEN: Final = Path(__file__).parent.parent / "data" / "rules" / "drawing.txt"
MIDGAME: Final = Xgid.parse("XGID=-a-B--E-B-a-dDB--b-bcb----:1:1:-1:63:2:1:0:5:10").state()
START: Final = MatchState(Position.start())


def test_a_board_matches_the_golden_file() -> None:
    lines = [*draw_state(MIDGAME, "fibsbot", "bob"), *(f"{name}: {fact}" for name, fact in describe_state(MIDGAME))]
    assert GOLDEN.read_text().splitlines() == lines


@given(match_states())
def test_every_checker_is_drawn_or_counted(state: MatchState) -> None:
    """Each column of the drawing shows at most five, and more as a number."""
    lines = draw_state(state)
    assert 14 == len(lines)
    shown = sum(line.count(" O") + line.count(" X") for line in lines[1:-2] if line.startswith("   |"))
    heaps = sum(abs(n) - 4 for n in state.position.points if abs(n) > 5)
    on_points = sum(abs(n) for n in state.position.points)
    assert on_points == shown + heaps


@given(match_states())
def test_colours_change_only_styles_and_signs(state: MatchState) -> None:
    lines = draw_state(state)
    plain = styled_board(lines).plain.replace("●", "O").replace("○", "X")
    assert "\n".join(lines) == plain


def test_only_terminals_get_colours() -> None:
    terminal, file = Console(force_terminal=True, width=100, _environ={}), Console(force_terminal=False, width=100)
    with terminal.capture() as coloured:
        terminal.print(styled_board(draw_state(START)))
    with file.capture() as plain:
        file.print(styled_board(draw_state(START)))
    assert "\x1b[" in coloured.get()
    assert "\x1b[" not in plain.get()


@pytest.mark.parametrize(
    ("state", "facts"),
    [
        (
            START,
            ["double or roll", "167 to 167", "0 to 0 in an unlimited match", "1, in the middle"],
        ),
        (
            evolve(START, length=3, score=(1, 2), crawford=True),
            ["roll", "167 to 167", "1 to 2 in a match to 3, Crawford game", "1, in the middle"],
        ),
        (
            evolve(START, length=1),
            ["roll", "167 to 167", "0 to 0 in a match to 1", "1, in the middle"],
        ),
        (
            evolve(START, jacoby=True, redoubles=1, phase=Phase.DOUBLED, cube=2, owner=Owner.OPPONENT),
            [
                "the opponent doubles to 4: take, pass or redouble",
                "167 to 167",
                "0 to 0 in an unlimited match with Jacoby and beavers",
                "2, owned by the opponent",
            ],
        ),
        (
            evolve(START, length=5, score=(4, 2), crawford=True, phase=Phase.RESIGNED, resignation=2),
            [
                "the opponent resigns a gammon: accept or reject",
                "167 to 167",
                "4 to 2 in a match to 5, Crawford game",
                "1, in the middle",
            ],
        ),
        (
            evolve(
                START, length=5, score=(4, 2), post_crawford=True, phase=Phase.MOVE, dice=(6, 1), owner=Owner.PLAYER
            ),
            ["play 6-1", "167 to 167", "4 to 2 in a match to 5, after the Crawford game", "1, owned by the player"],
        ),
    ],
)
def test_facts_are_described(state: MatchState, facts: list[str]) -> None:
    assert facts == [fact for _, fact in describe_state(state)]


def test_a_game_is_always_seen_from_the_same_seat() -> None:
    """The drawing differs only in whose turn it is and in the dice."""
    game = evolve(start_match(FIBS, 5, (1, 2)), turn=Seat.B, stage=Stage.MOVE, dice=(6, 5))
    theirs = draw_game(game, Seat.A, ("marvin", "ford"))
    assert draw_state(MatchState(Position.start(), 5, (1, 2)), "marvin", "ford")[:-1] == theirs[:-1]
    assert theirs[-1].endswith("Cube: 1  ford rolled 6 5.")
    ours = evolve(game, turn=Seat.A, stage=Stage.DOUBLED, dice=None, cube=2, owner=Seat.A)
    doubled = evolve(ours, offered=4, answering=Seat.B)
    assert draw_game(doubled, Seat.A, ("marvin", "ford"))[-1].endswith("Cube: 2 (owned by marvin)  turn: ford")
    assert draw_game(start_match(FIBS, 5), Seat.B, ("marvin", "ford"))[-1].endswith("Cube: 1")
