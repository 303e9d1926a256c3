"""Our own format: everything that a transcript holds, one JSON object a match, one match a line.

The names are those of the classes of fibsbot/transcript and fibsbot/rules. What has its usual value is left out, so
that the text stays short; docs/formats.md shows an example.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Iterator
from functools import cache, partial
from typing import Any, Final, TypeVar

from cattrs import ClassValidationError, Converter, override, transform_error
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn
from cattrs.strategies import configure_tagged_union, include_subclasses

from fibsbot.formats import JSON_BEGINNING, FormatError, expected
from fibsbot.formats.checked_game import HIGHEST_CUBE, HIGHEST_NUMBER
from fibsbot.position import Flaw, Move, Play, Position
from fibsbot.rules.laws import Level
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Entry, Game, Gap, Transcript, TranscriptError, walk

VERSION: Final = 1
"""Goes up when an older program would misunderstand what a newer one writes."""
VERSION_KEY: Final = JSON_BEGINNING[2:-2]
"""The key of the version, the first one of every object."""
_T = TypeVar("_T")
_BLANK: Final = re.compile(r"\s*")


# -- writing ----------------------------------------------------------------------------------------------------------


def write_json(transcript: Transcript) -> str:
    """Return a match as one line of JSON."""
    values = {VERSION_KEY: VERSION, **_converter().unstructure(transcript)}
    return json.dumps(values, separators=(",", ":"), allow_nan=False) + "\n"


# -- reading ----------------------------------------------------------------------------------------------------------


def read_json(text: str) -> Transcript:
    """Read the match of a text. Raises FormatError, also where there are several or it cannot have happened so."""
    found = list(iter_json(text))
    if len(found) != 1:
        raise expected("one match", str(len(found)))
    return found[0]


def iter_json(text: str) -> Iterator[Transcript]:
    """Yield the matches of a text, at least one. Raises FormatError."""
    decoder = json.JSONDecoder(parse_constant=_reject_constant)
    place, number = _after_blanks(text, len("\ufeff") if text.startswith("\ufeff") else 0), 0
    while place < len(text) or not number:
        try:
            values, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            raise FormatError(f"line {error.lineno}: expected JSON: {error.msg}, column {error.colno}") from None
        except (ValueError, RecursionError):
            raise FormatError("expected JSON with finite numbers, nested a few times, got something else") from None
        number += 1
        yield _read(values, number)
        place = _after_blanks(text, place)


def _after_blanks(text: str, place: int) -> int:
    blanks = _BLANK.match(text, place)
    return blanks.end() if blanks else place


def _reject_constant(constant: str) -> float:
    raise ValueError(f"{constant} is no number")


def _read(values: object, number: int) -> Transcript:
    if not isinstance(values, dict) or VERSION_KEY not in values:
        raise expected(f"a match, a JSON object with the key {VERSION_KEY!r}", json.dumps(values)[:80])
    version = values.pop(VERSION_KEY)
    if version != VERSION:
        raise expected(f"a match as version {VERSION} writes it", str(version))
    try:
        transcript = _converter().structure(values, Transcript)
    except ClassValidationError as error:
        first = transform_error(error, path="match")[0].split("\n")[0][:200]
        raise FormatError(f"match {number}: {first}") from None
    for game in transcript.games:
        _check_game(transcript, game, number)
    return transcript


def _check_game(transcript: Transcript, game: Game, number: int) -> None:
    """Check what the rules core takes for granted, and what it can check itself."""
    place = f"match {number}: game {game.number}"
    if any(type(entry) is Entry for entry in game.entries):
        raise FormatError(f"{place}: expected entries that say what happened")
    for state in (game.start, *(entry.then for entry in game.entries if isinstance(entry, Gap))):
        problem = _problem(state, transcript.length)
        if problem:
            raise FormatError(f"{place}: {problem}")
    try:
        for step in walk(game):
            if max(step.after.cube, step.after.offered) > HIGHEST_CUBE:
                raise FormatError(f"{place}: expected a cube up to {HIGHEST_CUBE}, got more")
    except TranscriptError as error:
        raise FormatError(f"match {number}: {error}") from None


def _problem(state: GameState, length: int) -> str:
    """Return what is wrong with a state, empty if nothing is."""
    doubled = state.stage is Stage.DOUBLED
    dice = state.dice or (1, 1)
    problems = {
        "expected the length of the match in every game": state.length != length or length < 0,
        "expected a board of 15 checkers a side": state.position.status() is not Flaw.VALID,
        "expected scores of at least 0": min(state.scores) < 0,
        f"expected a cube from 1 to {HIGHEST_CUBE}": not 1 <= state.cube <= HIGHEST_CUBE,
        "expected dice from 1 to 6": not all(1 <= number <= 6 for number in dice),
        "expected dice where there is something to play": (state.stage is Stage.MOVE) != (state.dice is not None),
        "expected an answer to be given where somebody has doubled": doubled != (state.answering is not None),
        "expected a double of the cube": state.offered != (2 * state.cube if doubled else 0),
        "expected 0 to 20 redoubles": not 0 <= state.redoubles <= 20 or (state.cube >> state.redoubles) < 1,
        "expected 0 turns or more": state.turns < 0,
    }
    return next((problem for problem, there in problems.items() if there), "")


# -- classes and their JSON values ------------------------------------------------------------------------------------


@cache
def _converter() -> Converter:
    """Return what turns transcripts into plain values and back, and takes nothing for what it only looks like."""
    converter = Converter(omit_if_default=True, forbid_extra_keys=True)
    for kind in (int, str, bool):
        converter.register_structure_hook(kind, _checked_type)
    converter.register_structure_hook(Level, lambda number, _: Level(_checked_type(number, int)))
    converter.register_structure_hook(float, _read_float)
    converter.register_unstructure_hook(float, lambda number: number if math.isfinite(number) else None)
    converter.register_structure_hook(Seat, lambda name, _: Seat[_checked_type(name, str)])
    converter.register_unstructure_hook(Seat, lambda seat: seat.name)
    converter.register_structure_hook(Play, lambda rows, _: Play(tuple(map(_read_move, _checked_type(rows, list)))))
    converter.register_unstructure_hook(Play, lambda play: [[move.source, move.target] for move in play.moves])
    converter.register_structure_hook(Position, lambda row, _: Position(tuple(_read_numbers(row))))
    converter.register_unstructure_hook(Position, lambda position: list(position.points))
    converter.register_structure_hook(dt.datetime, lambda text, _: dt.datetime.fromisoformat(_checked_type(text, str)))
    converter.register_unstructure_hook(dt.datetime, dt.datetime.isoformat)
    tagged = partial(configure_tagged_union, tag_name="kind", tag_generator=lambda kind: kind.__name__.lower())
    include_subclasses(Entry, converter, union_strategy=tagged)
    no_file = override(omit=True)
    write = make_dict_unstructure_fn(Transcript, converter, _cattrs_omit_if_default=True, remarks=no_file)
    read = make_dict_structure_fn(Transcript, converter, _cattrs_forbid_extra_keys=True, remarks=no_file)
    converter.register_unstructure_hook(Transcript, write)
    converter.register_structure_hook(Transcript, read)
    return converter


def _checked_type(value: Any, kind: type[_T]) -> _T:
    """Return a value of exactly this kind; a number has to be one that the rest of the program can bear."""
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, got {str(value)[:40]!r}")
    if isinstance(value, int) and abs(value) > HIGHEST_NUMBER:
        raise ValueError(f"expected numbers up to {HIGHEST_NUMBER}, got more")
    return value


def _read_float(value: Any, _: type[float]) -> float:
    return float(value) if type(value) is float else _checked_type(value, int)


def _read_numbers(row: Any) -> list[int]:
    return [_checked_type(number, int) for number in _checked_type(row, list)]


def _read_move(row: Any) -> Move:
    source, target = _read_numbers(row)
    return Move(source, target)
