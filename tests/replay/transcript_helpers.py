"""Helpers of the replay's tests: captures as transcripts, and comparison of one match as seen by several users."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from fibsbot.position import Position
from fibsbot.replay.captures import read_captures, read_parts
from fibsbot.replay.events import DifferenceFound, MatchEnded, MatchEvent
from fibsbot.replay.transcriber import events_of_capture
from fibsbot.rules.state import Seat
from fibsbot.transcript import Cube, Entry, Game, Gap, Resign, Step, Throw, Transcript, walk

DATA: Final = Path(__file__).parent.parent / "data"
RECORDED: Final = DATA / "replay"
CAPTURES: Final = tuple(
    sorted([*(path for path in RECORDED.glob("*.gz") if "games.json" not in path.name), *DATA.glob("bot/*.jsonl")])
)
"""Recorded sessions: on the embedded server, and two on servers of others."""


def events_of_bytes(data: bytes | Iterable[bytes]) -> list[MatchEvent]:
    """Replay a capture, whole or in pieces."""
    return list(events_of_capture(read_parts([[data] if isinstance(data, bytes) else data])))


def transcripts_in(happenings: Iterable[MatchEvent]) -> list[Transcript]:
    """Return the matches that were told."""
    return [it.transcript for it in happenings if isinstance(it, MatchEnded)]


def differences_in(happenings: Iterable[MatchEvent]) -> list[DifferenceFound]:
    """Return what was told to differ."""
    return [it for it in happenings if isinstance(it, DifferenceFound)]


@cache
def recorded_events(path: Path) -> tuple[MatchEvent, ...]:
    """Replay a recorded session, once for all tests that read it."""
    return tuple(events_of_capture(read_captures([path])))


def matches_of(path: Path) -> list[Transcript]:
    """Read the matches of a recorded session."""
    return transcripts_in(recorded_events(path))


def unpacked(name: str) -> bytes:
    """Return what a recorded file holds."""
    return gzip.decompress((RECORDED / f"{name}.gz").read_bytes())


def entry_facts(entry: Entry, names: Sequence[str] = ("A", "B")) -> tuple[Any, ...]:
    """Return what an entry says happened, by name, without how and when it was seen."""
    seat = getattr(entry, "seat", None)
    who = None if seat is None else names[seat]
    match entry:
        case Throw(dice=dice, play=play):
            return ("throw", who, tuple(sorted(dice)), play is None)
        case Cube(action=action):
            return (action.value, who)
        case Resign(level=level, accepted=accepted):
            return ("resign", who, int(level), accepted)
        case Gap():
            return ("gap",)
    raise AssertionError(entry)


def game_facts(game: Game, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return what happened in a game and where it led, as the one whose name comes first in the alphabet sees it."""
    first = Seat.A if names[0] < names[1] else Seat.B
    return [(*entry_facts(step.entry, names), step.after.position_for(first).points) for step in walk(game)]


def match_facts(transcript: Transcript) -> list[tuple[Any, ...]]:
    """Return all that happened in a match, the same whoever's side it was seen from."""
    names = [player.name for player in transcript.players]
    out: list[tuple[Any, ...]] = []
    for game in transcript.games:
        scores = sorted(zip(names, game.start.scores, strict=True))
        end = game.result and (names[game.result.winner], game.result.points, game.result.how, game.result.level)
        out.append((scores, game.start.cube, game_facts(game, names), end))
    return out


def steps_of(transcripts: Iterable[Transcript]) -> Iterator[tuple[Game, Step]]:
    """Walk through everything."""
    for transcript in transcripts:
        for game in transcript.games:
            for step in walk(game):
                yield game, step


def position_of_seat_a(step: Step) -> Position:
    """Return the position after a step."""
    return step.after.position_for(Seat.A)
