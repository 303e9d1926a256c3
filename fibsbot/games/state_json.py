"""The state of a game as values of JSON, and back: one form for transcripts, the store, the server and the programs.

The names are those of the fields of `GameState` (fibsbot/rules/state.py), but for `position`, which is the board: 26
numbers in backgammon, a text of both sides in other games. What has its usual value is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from attrs import fields

from fibsbot.games import load_ruleset
from fibsbot.games.sides_text import format_sides, format_turn, parse_sides, parse_turn
from fibsbot.position import Flaw, Position
from fibsbot.rules.backgammon import BACKGAMMON, Board, is_backgammon
from fibsbot.rules.laws import LAWS, AutomaticRaise, Laws, Level
from fibsbot.rules.ruleset import Part
from fibsbot.rules.state import Ending, GameState, Naming, Resignation, Result, Seat, Stage

_T = TypeVar("_T")
HIGHEST_CUBE: Final = 1 << 20
"""The highest cube that a file may have; XGID and our own programs cannot represent more."""
HIGHEST_NUMBER: Final = 1 << 30
"""The highest length, score or number of games that a file may have."""
MOST_DICE: Final = 3
"""Dice of a roll, in the game that has most of them."""


class StateJsonError(ValueError):
    """Values that are no state of a game; the text is one line."""


# -- writing ----------------------------------------------------------------------------------------------------------


def state_to_json(state: GameState) -> dict[str, Any]:
    """Return a state as values of JSON."""
    written: dict[str, Any] = {}
    for attribute in fields(GameState):
        value = getattr(state, attribute.name)
        if value is not attribute.default and value != attribute.default:
            write = _WRITERS.get(attribute.name)
            name = "position" if attribute.name == "board" else attribute.name
            written[name] = write(value) if write else value
    return written


def laws_to_json(laws: Laws) -> dict[str, Any]:
    """Return the name of laws, and in what they differ from the defaults or from the laws of that name."""
    named = LAWS.get(laws.name, laws)
    values = {
        attribute.name: getattr(laws, attribute.name)
        for attribute in fields(Laws)
        if not getattr(laws, attribute.name) == getattr(named, attribute.name) == attribute.default
    }
    return {name: value.value if isinstance(value, AutomaticRaise) else value for name, value in values.items()}


def _write_board(board: Board) -> list[int] | str:
    return list(board.points) if isinstance(board, Position) else format_sides(board)


def _write_resignation(offer: Resignation) -> dict[str, Any]:
    return {"seat": offer.seat.name, "level": int(offer.level), "points": offer.points}


def _write_result(result: Result) -> dict[str, Any]:
    return {
        "winner": result.winner.name,
        "points": result.points,
        "level": int(result.level),
        "how": result.how.value,
    }


_SEATS: Final = ("turn", "owner", "answering", "namer")
_WRITERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "laws": laws_to_json,
    "scores": list,
    "board": _write_board,
    "stage": lambda stage: stage.value,
    "dice": list,
    "resignation": _write_resignation,
    "result": _write_result,
    "rules": lambda rules: rules.full_name,
    "todo": format_turn,
    "naming": lambda naming: naming.value,
    **dict.fromkeys(_SEATS, lambda seat: seat.name),
}
"""How fields are written that JSON has no values for."""


# -- reading ----------------------------------------------------------------------------------------------------------


def state_from_json(values: object) -> GameState:
    """Return the state that values describe, which may break the rules of the game; see `state_flaw`.

    Raises StateJsonError for values that describe none.
    """
    known = dict(checked(values, dict))
    board = known.pop("position", None)
    try:
        read = {name: _read_field(name, value) for name, value in known.items()}
        rules = read.get("rules", BACKGAMMON)
        if is_backgammon(rules):
            return GameState(board=Position(tuple(read_numbers(board))), **read)
        return GameState(board=parse_sides(checked(board, str), rules), **read)
    except StateJsonError:
        raise
    except (LookupError, TypeError, ValueError) as error:
        raise StateJsonError(f"expected the state of a game: {error}"[:200]) from None


def _read_field(name: str, value: Any) -> Any:
    read = _READERS.get(name)
    if read is None:
        raise StateJsonError(f"expected the fields of a game, got {name[:40]!r}")
    return None if value is None and name in _OPTIONAL else read(value)


def checked(value: Any, kind: type[_T]) -> _T:
    """Return a value of exactly this kind; a number has to be one that the rest of the program can bear.

    Raises StateJsonError.
    """
    if type(value) is not kind:
        raise StateJsonError(f"expected {kind.__name__}, got {str(value)[:40]!r}")
    if isinstance(value, int) and abs(value) > HIGHEST_NUMBER:
        raise StateJsonError(f"expected numbers up to {HIGHEST_NUMBER}, got more")
    return value


def _whole(value: Any) -> int:
    return checked(value, int)


def _flag(value: Any) -> bool:
    return checked(value, bool)


def _text(value: Any) -> str:
    return checked(value, str)


def read_numbers(row: Any) -> list[int]:
    """Return a row of whole numbers. Raises StateJsonError."""
    return [_whole(number) for number in checked(row, list)]


def read_dice(row: Any) -> tuple[int, ...]:
    """Return the dice of a roll. Raises StateJsonError."""
    dice = tuple(read_numbers(row))
    if not 1 < len(dice) <= MOST_DICE:
        raise StateJsonError(f"expected two or three dice, got {str(row)[:40]}")
    return dice


def _read_scores(row: Any) -> tuple[int, int]:
    a, b = read_numbers(row)
    return a, b


def _read_seat(name: Any) -> Seat:
    return Seat[_text(name)]


def _read_laws(values: Any) -> Laws:
    limits = ("automatic_limit", "cube_limit")
    known = dict(checked(values, dict))
    laws: dict[str, Any] = {"name": _text(known.pop("name", None))}
    for attribute in fields(Laws):
        if attribute.name not in known:
            continue
        value = known.pop(attribute.name)
        if attribute.name == "automatic":
            laws["automatic"] = AutomaticRaise(value)
        elif attribute.name in limits:
            laws[attribute.name] = None if value is None else _whole(value)
        else:
            laws[attribute.name] = checked(value, type(attribute.default))
    if known:
        raise StateJsonError(f"expected the fields of laws, got {min(known)[:40]!r}")
    return Laws(**laws)


def _read_resignation(values: Any) -> Resignation:
    offer = checked(values, dict)
    return Resignation(_read_seat(offer["seat"]), Level(_whole(offer["level"])), _whole(offer["points"]))


def _read_result(values: Any) -> Result:
    result = checked(values, dict)
    level = Level(_whole(result["level"]))
    return Result(_read_seat(result["winner"]), _whole(result["points"]), level, Ending(result["how"]))


_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "laws": _read_laws,
    "scores": _read_scores,
    "stage": Stage,
    "dice": read_dice,
    "resignation": _read_resignation,
    "result": _read_result,
    "rules": lambda name: load_ruleset(_text(name)),
    "todo": lambda text: parse_turn(_text(text)),
    "naming": Naming,
    "reason": _text,
    **dict.fromkeys(("length", "cube", "offered", "redoubles", "turns", "throws"), _whole),
    **dict.fromkeys(("crawford", "post_crawford", "rejected", "passed", "drawn"), _flag),
    **dict.fromkeys(_SEATS, _read_seat),
}
_OPTIONAL: Final = frozenset(attribute.name for attribute in fields(GameState) if attribute.default is None)


def state_flaw(state: GameState) -> str:
    """Return what is wrong with a state that was read, as far as the rules core relies on it; empty if nothing is."""
    doubled = state.stage is Stage.DOUBLED
    dice, board = state.dice or (1, 1), state.board
    plays = state.dice is not None if isinstance(board, Position) else isinstance(next(iter(state.todo), None), Part)
    problems = {
        "expected a length of at least 0": state.length < 0,
        "expected a board of 15 checkers a side": isinstance(board, Position) and board.status() is not Flaw.VALID,
        "expected scores of at least 0": min(state.scores) < 0,
        f"expected a cube from 1 to {HIGHEST_CUBE}": not 1 <= state.cube <= HIGHEST_CUBE,
        f"expected {state.rules.dice} dice": len(dice) != state.rules.dice and state.dice is not None,
        "expected nothing of other games": isinstance(board, Position) and _has_more_than_backgammon(state),
        "expected dice from 1 to 6": not all(1 <= number <= 6 for number in dice),
        "expected dice where there is something to play": (state.stage is Stage.MOVE) != plays,
        "expected an answer to be given where somebody has doubled": doubled != (state.answering is not None),
        "expected a double of the cube": state.offered != (2 * state.cube if doubled else 0),
        "expected 0 to 20 redoubles": not 0 <= state.redoubles <= 20 or (state.cube >> state.redoubles) < 1,
        "expected 0 turns or more": state.turns < 0,
    }
    return next((problem for problem, there in problems.items() if there), "")


def _has_more_than_backgammon(state: GameState) -> bool:
    parts = (state.todo, state.naming, state.namer is not None, state.passed, state.throws, state.drawn)
    return any(parts) or state.stage in {Stage.NAME, Stage.CONTEST}
