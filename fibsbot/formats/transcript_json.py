"""Our own format: everything that a transcript holds, one JSON object a match, one match a line.

The names are those of the classes of fibsbot/transcript and fibsbot/rules. What has its usual value is left out, so
that the text stays short; docs/reference/formats.md shows an example.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from fibsbot.formats import JSON_BEGINNING, FormatError, expected
from fibsbot.games.state_json import HIGHEST_CUBE, state_flaw
from fibsbot.transcript import Entry, Game, Gap, Transcript, TranscriptError, walk

VERSION: Final = 1
"""Goes up when an older program would misunderstand what a newer one writes."""
VERSION_KEY: Final = JSON_BEGINNING[2:-2]
"""The key of the version, the first one of every object."""
_BLANK: Final = re.compile(r"\s*")


# -- writing ----------------------------------------------------------------------------------------------------------


def write_json(transcript: Transcript) -> str:
    """Return a match as one line of JSON."""
    from fibsbot.formats.transcript_values import values_of  # noqa: PLC0415 - needs cattrs, and no other format does

    values = {VERSION_KEY: VERSION, **values_of(transcript)}
    return json.dumps(values, separators=(",", ":"), allow_nan=False) + "\n"


# -- reading ----------------------------------------------------------------------------------------------------------


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
    from fibsbot.formats.transcript_values import transcript_from  # noqa: PLC0415 - see `write_json`

    try:
        transcript = transcript_from(values)
    except FormatError as error:
        raise FormatError(f"match {number}: {error}") from None
    for game in transcript.games:
        _check_game(transcript, game, number)
    return transcript


def _check_game(transcript: Transcript, game: Game, number: int) -> None:
    """Check what the rules core takes for granted, and what it can check itself."""
    place = f"match {number}: game {game.number}"
    if any(type(entry) is Entry for entry in game.entries):
        raise FormatError(f"{place}: expected entries that say what happened")
    for state in (game.start, *(entry.then for entry in game.entries if isinstance(entry, Gap))):
        whole = state.length == transcript.length >= 0
        if problem := state_flaw(state) if whole else "expected the length of the match in every game":
            raise FormatError(f"{place}: {problem}")
    try:
        for step in walk(game):
            if max(step.after.cube, step.after.offered) > HIGHEST_CUBE:
                raise FormatError(f"{place}: expected a cube up to {HIGHEST_CUBE}, got more")
    except TranscriptError as error:
        raise FormatError(f"match {number}: {error}") from None
