"""Matches as a CSV table for spreadsheets: one row per match, column names in the first line."""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from fibsbot.formats import single_line
from fibsbot.match import CubeAction
from fibsbot.rules.state import Seat
from fibsbot.transcript import Cube, Decision, Gap, Resign, Throw, Transcript, TranscriptError, decisions, walk

CellValue: TypeAlias = str | int | float | None
FORMULA_BEGINNINGS: Final = tuple("=+-@|%\t\r\uff1d\uff0b\uff0d\uff20")
"""Beginnings of cells that a spreadsheet may take for a formula; the last four are full-width signs."""


def csv_lines(transcripts: Iterable[Transcript]) -> Iterator[str]:
    """Yield the lines of the table one by one."""
    yield _csv_line(COLUMNS)
    for transcript in transcripts:
        yield _csv_line(column(transcript) for column in COLUMNS.values())


def _csv_line(values: Iterable[CellValue]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow([_safe(value) for value in values])
    return line.getvalue()


def _safe(value: CellValue) -> CellValue:
    """Return a value that no spreadsheet takes for a formula: a suspicious text gets an apostrophe in front."""
    if not isinstance(value, str):
        return value
    text = single_line(value)
    return f"'{text}" if text.startswith((*FORMULA_BEGINNINGS, "'")) else text


def _time(time: dt.datetime | None) -> str | None:
    return time.astimezone(dt.UTC).isoformat(sep=" ", timespec="seconds").removesuffix("+00:00") if time else None


def _name(seat: Seat | None, transcript: Transcript) -> str | None:
    return None if seat is None else transcript.players[seat].name


def _count(transcript: Transcript, counts: Callable[[object], bool]) -> int:
    return sum(counts(entry) for game in transcript.games for entry in game.entries)


def _throws(seat: Seat) -> Callable[[Transcript], int]:
    return lambda match: _count(match, lambda entry: isinstance(entry, Throw) and entry.seat is seat)


def _doubles(seat: Seat) -> Callable[[Transcript], int]:
    def counts(entry: object) -> bool:
        return isinstance(entry, Cube) and entry.seat is seat and entry.action in {CubeAction.DOUBLE, CubeAction.BEAVER}

    return lambda match: _count(match, counts)


def _choices(seat: Seat) -> Callable[[Transcript], int]:
    return lambda match: sum(decision.seat is seat and not decision.forced for decision in _decisions(match))


def _decisions(transcript: Transcript) -> Iterator[Decision]:
    """Yield the decisions of each game, as far as it follows the rules."""
    for game in transcript.games:
        with contextlib.suppress(TranscriptError):
            for step in walk(game):
                yield from decisions(step)


COLUMNS: Final[Mapping[str, Callable[[Transcript], CellValue]]] = {
    "id": lambda match: match.match_id,
    "site": lambda match: match.site,
    "started": lambda match: _time(match.started),
    "ended": lambda match: _time(match.ended),
    "player1": lambda match: match.players[Seat.A].name,
    "player2": lambda match: match.players[Seat.B].name,
    "rating1": lambda match: match.players[Seat.A].rating,
    "rating2": lambda match: match.players[Seat.B].rating,
    "experience1": lambda match: match.players[Seat.A].experience,
    "experience2": lambda match: match.players[Seat.B].experience,
    "user": lambda match: _name(match.user, match),
    "length": lambda match: match.length,
    "score1": lambda match: match.scores[Seat.A],
    "score2": lambda match: match.scores[Seat.B],
    "winner": lambda match: _name(match.winner, match),
    "games": lambda match: len(match.games),
    "decisions1": _choices(Seat.A),
    "decisions2": _choices(Seat.B),
    "throws1": _throws(Seat.A),
    "throws2": _throws(Seat.B),
    "doubles1": _doubles(Seat.A),
    "doubles2": _doubles(Seat.B),
    "resignations": lambda match: _count(match, lambda entry: isinstance(entry, Resign) and entry.accepted),
    "gaps": lambda match: _count(match, lambda entry: isinstance(entry, Gap)),
    "whole": lambda match: int(bool(match.games) and all(game.whole and game.result for game in match.games)),
    "game": lambda match: match.rules.full_name,
}
"""The columns and their values.

Times are UTC; an unlimited match has length 0. Only decisions with a choice are counted.
"""
