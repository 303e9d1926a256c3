"""All formats side by side: the reader and writer of each, and what each cannot represent.

A new format is added here.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Final

from fibsbot.formats import Format, FormatError, decode_text, plain_text
from fibsbot.formats.bgf import iter_bgf
from fibsbot.formats.csv_table import csv_lines
from fibsbot.formats.javafibs import iter_javafibs
from fibsbot.formats.mat import write_mat
from fibsbot.formats.mat_reader import read_mats
from fibsbot.formats.match_laws import unusual_setup
from fibsbot.formats.oldmoves import iter_oldmoves, write_oldmoves
from fibsbot.formats.position_lists import write_positions
from fibsbot.formats.sgf import iter_sgf, write_sgf
from fibsbot.formats.sgf_properties import DATE_TAG, TAG_NAMES
from fibsbot.formats.text_analysis import iter_text_analysis
from fibsbot.formats.text_sheet import write_text_sheet
from fibsbot.formats.transcript_json import iter_json, write_json
from fibsbot.formats.xg import iter_xg
from fibsbot.rules.law_words import is_by_other_laws
from fibsbot.rules.laws import Level
from fibsbot.rules.state import Stage
from fibsbot.transcript import Cube, Entry, Game, Gap, Resign, Throw, Transcript

READERS: Final[Mapping[Format, Callable[[str], Iterable[Transcript]]]] = {
    Format.MAT: read_mats,
    Format.SGF: iter_sgf,
    Format.OLDMOVES: iter_oldmoves,
    Format.JSON: iter_json,
    Format.ANALYSIS: iter_text_analysis,
    Format.JAVAFIBS: iter_javafibs,
}
BINARY_READERS: Final[Mapping[Format, Callable[[bytes], Iterable[Transcript]]]] = {
    Format.XG: iter_xg,
    Format.BGF: iter_bgf,
}
"""The readers of formats that are no text."""
WRITERS: Final[Mapping[Format, Callable[[Transcript], str]]] = {
    Format.MAT: write_mat,
    Format.SGF: write_sgf,
    Format.OLDMOVES: write_oldmoves,
    Format.JSON: write_json,
    Format.GNUBG_IDS: partial(write_positions, kind=Format.GNUBG_IDS),
    Format.XGID: partial(write_positions, kind=Format.XGID),
    Format.SNOWIE: partial(write_positions, kind=Format.SNOWIE),
    Format.POSITIONS: partial(write_positions, kind=Format.POSITIONS),
    Format.SHEET: write_text_sheet,
}
OF_EVERY_GAME: Final = (Format.JSON, Format.CSV, Format.POSITIONS, Format.SHEET)
"""Formats that can say matches of every game; the others can say backgammon, and games that are like it."""
ONE_MATCH_FORMATS: Final = (Format.MAT, Format.SGF, Format.OLDMOVES)
"""Formats with one match per file: other programs would merge several, or read only the first."""


def read_matches(kind: Format | str, text: str) -> Iterator[Transcript]:
    """Return the matches of a text, at least one; `kind` is a format or its name.

    Reading raises FormatError. Raises ValueError for a format that cannot be read.
    """
    chosen = _one_of(READERS, kind)
    return iter(READERS[chosen](text if chosen in _STRUCTURED else plain_text(text)))


def read_file(kind: Format | str, content: bytes) -> Iterator[Transcript]:
    """Return the matches in the content of a file, which `read_chunks` has unpacked; else as `read_matches`."""
    chosen = _one_of((*READERS, *BINARY_READERS), kind)
    if chosen in BINARY_READERS:
        return iter(BINARY_READERS[chosen](content))
    return read_matches(chosen, decode_text(content))


_STRUCTURED: Final = (Format.JSON, Format.SGF)
"""The formats whose texts may hold any characters and lines."""


def write_matches(kind: Format | str, transcripts: Iterable[Transcript]) -> Iterator[str]:
    """Return the pieces of a file with these matches; `kind` is a format or its name.

    Writing raises TranscriptError for positions of a match that breaks the rules, and FormatError for a match of a game
    that the format cannot say. Raises ValueError for what is no format that can be written.
    """
    kind = _one_of((*WRITERS, Format.CSV), kind)
    return csv_lines(transcripts) if kind is Format.CSV else map(partial(_write, kind), transcripts)


def can_say(kind: Format, transcript: Transcript) -> bool:
    """Return whether a format has words for the game of a match."""
    return kind in OF_EVERY_GAME or transcript.is_backgammon


def _write(kind: Format, transcript: Transcript) -> str:
    if not can_say(kind, transcript):
        raise FormatError(f"{kind.value} cannot say a match of {transcript.rules.full_name}; {_SAYING}")
    return WRITERS[kind](transcript)


_SAYING: Final = f"{', '.join(kind.value for kind in OF_EVERY_GAME)} can"


def _one_of(known: Iterable[Format], kind: Format | str) -> Format:
    found = next((form for form in known if kind in {form, form.value}), None)
    if found is None:
        raise ValueError(f"expected one of the formats {', '.join(form.value for form in known)}, got {kind!r}")
    return found


def _any_entry(holds: Callable[[Entry], object]) -> Callable[[Transcript], bool]:
    return lambda match: any(holds(entry) for game in match.games for entry in game.entries)


_TIMES: Final = "times"
_CLOCK: Final = "the time of day"
_EQUITIES: Final = "equities"
_VERDICTS: Final = "what an analysis in the file says"
_REBUILT: Final = "what was rebuilt"
_USER: Final = "whose log it was"
_RATINGS: Final = "ratings"
_SITE: Final = "when and where it was played"
_REFUSED: Final = "resignations that were refused"
_UNPLAYED_ROLLS: Final = "throws that were not played"
_LAWS: Final = "other laws than those of FIBS"
_GAPS: Final = "what follows a gap"
_REPEATED_ROLLS: Final = "rolls before a refused resignation, which come again"
_COUNTED_ONCE: Final = "resigned gammons that the Jacoby rule counts once"
_JACOBY: Final = "the Jacoby rule"
_BEAVERS: Final = "that beavers were allowed"
_MORE_BEAVERS: Final = "how many beavers in a row were allowed"
_MIDDLE: Final = "games that do not begin with an opening roll"
_SETUP: Final = "the set-up"
_HEADERS: Final = "other headers"
_OTHER_FORMATS: Final = "headers of other formats"


def _is_counted_once(game: Game) -> bool:
    """Whether the result does not tell the level of the resignation that ended the game."""
    end = game.entries[-1] if game.entries else None
    return (
        game.start.laws.jacoby
        and isinstance(end, Resign)
        and end.accepted
        and end.level > Level.SINGLE
        and not any(isinstance(entry, Cube) for entry in game.entries)
    )


_HAS_DETAIL: Final[Mapping[str, Callable[[Transcript], bool]]] = {
    _TIMES: lambda match: bool(match.ended) or _any_entry(lambda entry: entry.at or entry.seconds is not None)(match),
    _CLOCK: lambda match: match.started is not None and match.started.astimezone(dt.UTC).time() != dt.time(),
    _EQUITIES: _any_entry(lambda entry: entry.equity is not None),
    _VERDICTS: _any_entry(lambda entry: entry.verdict or (isinstance(entry, Throw) and entry.undoubled)),
    _REBUILT: _any_entry(lambda entry: entry.rebuilt),
    _USER: lambda match: match.user is not None,
    _RATINGS: lambda match: any(player.rating is not None for player in match.players),
    _SITE: lambda match: bool(match.site or match.started),
    _REFUSED: _any_entry(lambda entry: isinstance(entry, Resign) and not entry.accepted),
    _UNPLAYED_ROLLS: _any_entry(lambda entry: isinstance(entry, Throw) and entry.play is None),
    _REPEATED_ROLLS: lambda match: any(
        isinstance(entry, Throw) and entry.play is None and isinstance(after, Resign) and not after.accepted
        for game in match.games
        for entry, after in pairwise(game.entries)
    ),
    _COUNTED_ONCE: lambda match: any(map(_is_counted_once, match.games)),
    _JACOBY: lambda match: not match.length and any(game.start.laws.jacoby for game in match.games),
    _BEAVERS: lambda match: not match.length and any(game.start.laws.redoubles for game in match.games),
    _MORE_BEAVERS: lambda match: not match.length and any(game.start.laws.redoubles > 1 for game in match.games),
    _LAWS: lambda match: any(is_by_other_laws(game.start.laws) for game in match.games),
    _GAPS: _any_entry(lambda entry: isinstance(entry, Gap)),
    _MIDDLE: lambda match: any(game.start.stage is not Stage.OPENING for game in match.games),
    _SETUP: lambda match: any(unusual_setup(game.start) for game in match.games),
    _HEADERS: lambda match: bool(match.tags),
    _OTHER_FORMATS: lambda match: bool(set(match.tags) - {*TAG_NAMES.values(), DATE_TAG}),
}
"""The details that a transcript may have, and the test for each."""

NOT_REPRESENTED: Final[Mapping[Format, tuple[str, ...]]] = {
    Format.MAT: (_TIMES, _EQUITIES, _VERDICTS, _REBUILT, _USER, _REFUSED, _COUNTED_ONCE, _MORE_BEAVERS, _GAPS, _MIDDLE),
    Format.SGF: (_TIMES, _CLOCK, _EQUITIES, _VERDICTS, _REPEATED_ROLLS, _COUNTED_ONCE, _BEAVERS, _OTHER_FORMATS),
    Format.OLDMOVES: tuple(
        what for what in _HAS_DETAIL if what not in {_CLOCK, _REPEATED_ROLLS, _MORE_BEAVERS, _OTHER_FORMATS}
    ),
}
"""The details that each match format cannot represent; tables and position lists are not meant to."""


def lost_details(kind: Format, transcript: Transcript) -> list[str]:
    """Return the details of a match that are lost in this format, each in a few words."""
    return [what for what in NOT_REPRESENTED.get(kind, ()) if _HAS_DETAIL[what](transcript)]


def reading_remarks(transcript: Transcript) -> Iterator[str]:
    """Yield a line for each problem of a file that was read: what was unclear, impossible points, and gaps."""
    yield from transcript.remarks
    for game in transcript.games:
        if points := transcript.tags.get(f"Points {game.number}"):
            yield f"game {game.number}: points {points}"
        for entry in game.entries:
            if isinstance(entry, Gap):
                yield f"game {game.number}: {entry.reason}"
