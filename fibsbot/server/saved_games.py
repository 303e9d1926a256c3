"""Games as values that JSON has, for the database, and games of them again, also of earlier versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from attrs import evolve
from cattrs import Converter

from fibsbot.games import load_ruleset
from fibsbot.games.sides_text import parse_sides
from fibsbot.games.state_json import laws_to_json, state_from_json, state_to_json
from fibsbot.rules.backgammon import is_backgammon, position_of
from fibsbot.rules.state import GameState, Naming, Seat

SAVED_GAMES: Final = Converter()
"""For what consists of games."""


def values_to_game(values: Mapping[str, Any]) -> GameState:
    """Return the game that `game_to_values` wrote, or an earlier version; raise any exception for other values."""
    if "ruleset" in values:
        return state_from_json(_of_ruleset(values["ruleset"]))
    state = values["state"]
    return state_from_json(_of_fields(state) if isinstance(state["position"], dict) else state)


def game_to_values(state: GameState) -> dict[str, Any]:
    """Return a game as one of the values that are saved of a match."""
    return {"state": state_to_json(state)}


SAVED_GAMES.register_unstructure_hook(GameState, state_to_json)
SAVED_GAMES.register_structure_hook(GameState, lambda state, _: values_to_game({"state": state}))


# -- earlier versions -------------------------------------------------------------------------------------------------


def _of_fields(state: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a game of backgammon of which all fields were written, seats as numbers."""
    values = {name: _with_seat_names(value) for name, value in _with_seat_names(state).items() if value is not None}
    return {**values, "position": state["position"]["points"]}


def _with_seat_names(values: Any) -> Any:
    if not isinstance(values, dict):
        return values
    seats = {"turn", "owner", "answering", "seat", "winner"}
    return {name: Seat(value).name if name in seats and value is not None else value for name, value in values.items()}


def _of_ruleset(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a game of another ruleset, which was written without the laws.

    A match that does not say when its Crawford game is has none: both players left it out, or the match was saved
    before there was one in other games, and goes on as it began.
    """
    rules = load_ruleset(saved["game"])
    when = saved.get("crawford")
    crawford, post_crawford = _CRAWFORD[when]
    laws = evolve(rules.laws, crawford=rules.laws.crawford and (saved["length"] < 2 or when is not None))
    offer, result = saved["resignation"], saved["result"]
    sides = parse_sides(saved["table"], rules)
    changed = {
        "rules": rules.full_name,
        "laws": laws_to_json(laws),
        "crawford": crawford,
        "post_crawford": post_crawford,
        "position": saved["table"],
        "naming": None if saved["naming"] is None else Naming[saved["naming"]].value,
        "resignation": None if offer is None else dict(zip(("seat", "level", "points"), offer, strict=True)),
        "result": None if result is None else dict(zip(("winner", "points", "level", "how"), result, strict=True)),
    }
    if is_backgammon(rules):  # whose turns are the dice
        changed |= {"position": list(position_of(sides).points), "todo": "", "throws": 0}
    values = {**saved, **changed}
    return {name: value for name, value in values.items() if value is not None and name not in {"game", "table"}}


_CRAWFORD: Final = {
    None: (False, False),
    "to come": (False, False),
    "this game": (True, False),
    "played": (False, True),
}
"""Whether a game is the Crawford game, and whether that has been played, by when it is in the match."""
