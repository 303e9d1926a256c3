"""Plays, dice and game states as JSON values, and back. Fields that have their default value are left out."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import Attribute, evolve, fields

from fibsbot.match import Dice
from fibsbot.position import BAR, OFF, Flaw, Move, Play, Position
from fibsbot.rules.laws import LAWS, AutomaticRaise, Laws, Level
from fibsbot.rules.state import Ending, GameState, Resignation, Result, Seat, Stage

DANCE: Final = "cannot move"
"""Text of the play without a move."""
_MOVE: Final = re.compile(r"(bar|[0-9]{1,2})/(off|[0-9]{1,2})")
_MOST_MOVES: Final = 4
_NUMBERS: Final = frozenset("123456")


# -- plays and dice ---------------------------------------------------------------------------------------------


def write_play(play: Play) -> str:
    """Return a play move by move, in the order in which the moves were made: `24/18 18/13`."""
    return " ".join(map(str, play.moves)) or DANCE


def read_play(text: str) -> Play:
    """Return the play that `write_play` wrote. Raises ValueError."""
    if text == DANCE:
        return Play()
    found = [_MOVE.fullmatch(word) for word in text.split()]
    if not 1 <= len(found) <= _MOST_MOVES or not all(found):
        raise ValueError(f"expected a play such as 24/18 18/13, got {text!r}")
    return Play(tuple(Move(_point(it[1], BAR), _point(it[2], OFF)) for it in found if it))


def _point(word: str, end: int) -> int:
    return end if word in {"bar", "off"} else int(word)


def read_dice(value: object) -> Dice:
    """Return two dice, given as two digits or two numbers. Raises ValueError."""
    numbers = list(map(str, value)) if isinstance(value, str | list | tuple) else []
    if len(numbers) != 2 or not set(numbers) <= _NUMBERS:
        raise ValueError(f"expected two dice, got {value!r}")
    return int(numbers[0]), int(numbers[1])


# -- states -----------------------------------------------------------------------------------------------------


def write_state(state: GameState) -> dict[str, Any]:
    """Return a state as JSON values."""
    written: dict[str, Any] = {"laws": _write_laws(state.laws)}
    for attribute in fields(GameState):
        value = getattr(state, attribute.name)
        if attribute.name != "laws" and value != attribute.default:
            written[attribute.name] = _plain(value)
    return written


def _plain(value: Any) -> Any:
    match value:
        case Position():
            return list(value.points)
        case Seat():
            return value.name
        case Resignation():
            return [value.seat.name, int(value.level), value.points]
        case Result():
            return [value.winner.name, value.points, int(value.level), value.how.value]
        case enum.Enum():
            return value.value
    return list(value) if isinstance(value, tuple) else value


def _write_laws(laws: Laws) -> dict[str, Any]:
    """Return the name of the laws, and the fields in which they differ from the laws of that name."""
    known = LAWS.get(laws.name, Laws(laws.name))
    differences = {it.name: getattr(laws, it.name) for it in fields(Laws)}
    return {
        name: value.value if isinstance(value, AutomaticRaise) else value
        for name, value in differences.items()
        if name == "name" or value != getattr(known, name)
    }


def read_state(written: object) -> GameState:
    """Return the state that `write_state` wrote. Raises ValueError for anything else."""
    try:
        return _read_state(written)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"expected the state of a game, got {written!r:.200}") from error


def _read_state(written: Any) -> GameState:
    known = {**written, "laws": _read_laws(written["laws"])}
    unknown = known.keys() - {attribute.name for attribute in fields(GameState)}
    if unknown:
        raise ValueError(f"expected the state of a game, got the field {min(unknown)!r}")
    for name, read in _READERS.items():
        if known.get(name) is not None:
            known[name] = read(known[name])
    for attribute in fields(GameState):
        _check(attribute, known)
    return GameState(**known)


def _check(attribute: Attribute[Any], known: Mapping[str, Any]) -> None:
    """Check that numbers are numbers and flags are flags; the other fields have readers."""
    value = known.get(attribute.name)
    kind = {"int": int, "bool": bool}.get(str(attribute.type))
    if kind and value is not None and type(value) is not kind:
        raise ValueError(f"expected {attribute.name} to be {kind.__name__}, got {value!r}")


def _read_laws(written: Mapping[str, Any]) -> Laws:
    laws = LAWS.get(written["name"], Laws(str(written["name"])))
    changed = {**written, **({"automatic": AutomaticRaise(written["automatic"])} if "automatic" in written else {})}
    return evolve(laws, **changed)


def _read_position(cells: Any) -> Position:
    position = Position(tuple(cells))
    if any(type(cell) is not int for cell in cells) or position.status() is not Flaw.VALID:
        raise ValueError(f"expected a position, got {cells!r:.200}")
    return position


def _read_pair(value: Any) -> tuple[int, int]:
    first, second = value
    return int(first), int(second)


def _read_resignation(it: Any) -> Resignation:
    return Resignation(Seat[it[0]], Level(it[1]), int(it[2]))


def _read_result(it: Any) -> Result:
    return Result(Seat[it[0]], int(it[1]), Level(it[2]), Ending(it[3]))


_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "position": _read_position,
    "scores": _read_pair,
    "dice": read_dice,
    "stage": Stage,
    **dict.fromkeys(("turn", "owner", "answering"), Seat.__getitem__),
    "resignation": _read_resignation,
    "result": _read_result,
}
