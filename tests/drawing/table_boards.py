"""Tables of games that show what their boards have to show."""

from __future__ import annotations

from typing import Final

from fibsbot.games import load_ruleset
from fibsbot.games.sides_text import parse_sides
from fibsbot.rules.game import start_at, start_match_of
from fibsbot.rules.state import GameState

BOARDS: Final = {
    "tabula": ("25:2 20:9 14:2 9 3 hit=1 / 25:5 23:2 19 12:4 8:3", (6, 4, 4)),
    "irish": ("25 20 13:5 8:3 6:5 / 24:2 13:4 9 6:4 4:2 2:2", (5, 5)),
    "swedish": ("25:2 24:8 23 20 10:3 hit=2 marks=five_left / 24:10 21 18 13 10 3 marks=released,five_left", (3, 1)),
    "dutch": ("25:6 24 21:3 9 4:4 / 25:2 20:4 12:3 8:5 2", (4, 3)),
    "acey-deucey": ("25:3 20:10 12:2 hit=1 / 25:2 21:2 18:3 7:8", (2, 1)),
    "buff": ("25 20:14 / 8:14 1", (5, 5, 1)),
    "around": ("6:2 4 2 / 24:2 20 5:3", (6, 5)),
    "plakoto": ("13:11 7:2 24 6 pinned=6 / 12 23:9 19:3 7 24 pinned=12", (6, 1)),
    "gioul": ("24:7 18:3 13:2 11 8:2 / 24:9 19:2 16:2 10:2", (4, 4)),
    "greek": ("24 10:4 6:6 1:4 pinned=24 / 1:3 24 8:6 5:5 pinned=24", (2, 1)),
    "russian1": ("25:5 20:3 11 3:4 hit=1 marks=started / 25:7 22:2 14 8:3 marks=started", (5, 5)),
    "russian2": ("25 24 13:5 8:3 6:5 throws=3 / 24:2 13:5 8:3 6:5 throws=3", (2, 2)),
    "ticktack": ("24:9 19:2 16:3 14 / 24:12 20:2 13", (5, 4)),
    "nackgammon": ("24:2 23 20 13:4 8:2 6:5 / 24 23:2 20 13:3 8:3 6:4 25", (6, 3)),
    "hyper": ("25 23 / 21 5", (3, 1)),
    "portes": ("6:5 5:3 4:2 2 1 / 6:4 5:4 3:2 25", (4, 2)),
    "fevga": ("24:12 10 8 7 / 24:11 18 17 9 2", (6, 5)),
    "narde": ("24 19 17:3 16:3 15:3 14:3 13 throws=5 / 24:12 22 20 18 throws=5", (6, 1)),
    "gulbara": ("24:9 18:4 11:2 throws=3 / 24:14 14 throws=4", (3, 3)),
    "tapa": ("18:5 12:3 6:4 3 1 7 pinned=1 / 18 24 20:9 9:4 pinned=18", (5, 2)),
    "longgammon": ("24:9 20:2 13:2 7 5 / 24:11 23:2 15 9", (6, 6)),
    "misere": ("6:2 3 1 / 5:2 2:3", (5, 3)),
}
"""A table of each game, and dice."""
NAMES: Final = ("marvin", "ford")


def start_of(name: str) -> GameState:
    """Return a game of a match before its opening roll."""
    return start_match_of(load_ruleset(name), 3)


def board_of(name: str) -> GameState:
    """Return the game of BOARDS in which marvin, who has seat A, has rolled."""
    text, dice = BOARDS[name]
    rules = load_ruleset(name)
    return start_at(rules, parse_sides(text, rules), dice)
