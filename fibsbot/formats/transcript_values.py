"""Transcripts as plain values of JSON, and back. The only module of the package that needs cattrs.

`make_converter` and `structured` are for others whose values contain plays, states and transcripts.

The names are those of the classes of fibsbot/transcript. What has its usual value is left out.
"""

from __future__ import annotations

import datetime as dt
import math
from functools import partial
from typing import Any, Final, TypeVar

from cattrs import BaseValidationError, Converter, override, transform_error
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn
from cattrs.strategies import configure_tagged_union, include_subclasses
from cattrs.v import format_exception

from fibsbot.formats import FormatError
from fibsbot.games.state_json import StateJsonError, checked, read_dice, read_numbers, state_from_json, state_to_json
from fibsbot.match import Dice
from fibsbot.position import Move, Play
from fibsbot.rules.laws import Level
from fibsbot.rules.state import GameState, Seat
from fibsbot.transcript import Entry, Transcript

_T = TypeVar("_T")


def values_of(transcript: Transcript) -> dict[str, Any]:
    """Return a match as values of JSON."""
    values: dict[str, Any] = _CONVERTER.unstructure(transcript)
    return values


def transcript_from(values: dict[str, Any]) -> Transcript:
    """Return the match that values describe, which may break the rules of the game. Raises FormatError."""
    return structured(_CONVERTER, values, Transcript, "match")


def structured(converter: Converter, values: Any, kind: type[_T], path: str) -> _T:
    """Return the object that values describe; `path` is its name in errors. Raises FormatError."""
    try:
        return converter.structure(values, kind)
    except BaseValidationError as error:
        problems = transform_error(error, path=path, format_exception=_describe)
        raise FormatError(problems[0].split("\n")[0][:200]) from None


def _describe(error: BaseException, kind: type | None) -> str:
    return str(error) if isinstance(error, StateJsonError) else format_exception(error, kind)


def make_converter() -> Converter:
    """Return what turns transcripts into plain values and back, and takes nothing for what it only looks like."""
    converter = Converter(omit_if_default=True, forbid_extra_keys=True)
    for kind in (int, str, bool):
        converter.register_structure_hook(kind, checked)
    converter.register_structure_hook(Level, lambda number, _: Level(checked(number, int)))
    converter.register_structure_hook(float, _read_float)
    converter.register_unstructure_hook(float, lambda number: number if math.isfinite(number) else None)
    converter.register_structure_hook(Seat, lambda name, _: Seat[checked(name, str)])
    converter.register_unstructure_hook(Seat, lambda seat: seat.name)
    converter.register_structure_hook(Play, lambda rows, _: Play(tuple(map(_read_move, checked(rows, list)))))
    converter.register_unstructure_hook(Play, lambda play: [[move.source, move.target] for move in play.moves])
    converter.register_structure_hook(dt.datetime, lambda text, _: dt.datetime.fromisoformat(checked(text, str)))
    converter.register_unstructure_hook(dt.datetime, dt.datetime.isoformat)
    converter.register_structure_hook_func(_is_dice, lambda row, _: read_dice(row))
    converter.register_structure_hook(GameState, lambda values, _: state_from_json(values))
    converter.register_unstructure_hook(GameState, state_to_json)
    tagged = partial(configure_tagged_union, tag_name="kind", tag_generator=lambda kind: kind.__name__.lower())
    include_subclasses(Entry, converter, union_strategy=tagged)
    no_file = override(omit=True)
    write = make_dict_unstructure_fn(Transcript, converter, _cattrs_omit_if_default=True, remarks=no_file)
    read = make_dict_structure_fn(Transcript, converter, _cattrs_forbid_extra_keys=True, remarks=no_file)
    converter.register_unstructure_hook(Transcript, write)
    converter.register_structure_hook(Transcript, read)
    return converter


def _read_float(value: Any, _: type[float]) -> float:
    return float(value) if type(value) is float else checked(value, int)


def _is_dice(kind: Any) -> bool:
    return bool(kind == Dice)


def _read_move(row: Any) -> Move:
    source, target = read_numbers(row)
    return Move(source, target)


_CONVERTER: Final = make_converter()
