"""Games as values that JSON has, for the database, and games of them again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cattrs import Converter, override
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn

from fibsbot.games.text import game_from_json, game_to_json
from fibsbot.position import Position
from fibsbot.rules.backgammon import BACKGAMMON, Board
from fibsbot.rules.state import GameState

SAVED_GAMES: Final = Converter()
"""For games of backgammon, and what consists of them."""

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


def game_to_values(state: GameState) -> dict[str, Any]:
    """Return a game under a key that says how it is written: by its fields in backgammon, else by its ruleset."""
    if state.rules is BACKGAMMON:
        return {"state": SAVED_GAMES.unstructure(state)}
    return {"ruleset": game_to_json(state)}


def values_to_game(values: Mapping[str, Any]) -> GameState:
    """Return the game among some values; raise any exception for other values."""
    if "ruleset" in values:
        return game_from_json(values["ruleset"])
    return SAVED_GAMES.structure(values["state"], GameState)
