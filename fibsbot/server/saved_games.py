"""SAVED_GAMES: makes plain values of games of backgammon that the server saves, and games of them again."""

from __future__ import annotations

from typing import Any, Final

from cattrs import Converter, override
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn

from fibsbot.position import Position
from fibsbot.rules.backgammon import Board
from fibsbot.rules.state import GameState

SAVED_GAMES: Final = Converter()

_FIELDS: Final[Any] = {
    "board": override(rename="position"),
    **dict.fromkeys(
        ("rules", "todo", "naming", "namer", "passed", "throws", "drawn", "reason"),
        override(omit=True),  # what only other games have
    ),
}
SAVED_GAMES.register_structure_hook(Board, lambda values, _: SAVED_GAMES.structure(values, Position))
SAVED_GAMES.register_structure_hook(GameState, make_dict_structure_fn(GameState, SAVED_GAMES, **_FIELDS))
SAVED_GAMES.register_unstructure_hook(GameState, make_dict_unstructure_fn(GameState, SAVED_GAMES, **_FIELDS))
