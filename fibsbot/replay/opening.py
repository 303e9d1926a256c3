"""From files to what happens in them, whatever they are: captures and session logs, or matches that a program wrote."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import evolve, frozen

from fibsbot.replay.captures import Reach, read_captures
from fibsbot.replay.happenings import GameBegan, GameEnded, Happened, Happening, MatchBegan, MatchEnded
from fibsbot.replay.paper import find_format, read_paper
from fibsbot.replay.parts import in_groups
from fibsbot.replay.scribe import replay
from fibsbot.transcript import Transcript, walk


@frozen
class Source:
    """A file that is replayed, or several that continue each other."""

    paths: tuple[Path, ...]
    named: bool = True
    """Whether it was asked for by its own name; else it was found in a folder."""

    @property
    def name(self) -> str:
        """What it is called: as its first file."""
        return str(self.paths[0])

    @property
    def size(self) -> int:
        """Bytes on the disk; 0 for what has no size, as a pipe."""
        return sum(_size(path) for path in self.paths)


def find_sources(paths: Iterable[Path]) -> list[Source]:
    """List what is to be replayed, folders with all that is below them by name; the parts of a log are one source."""
    named = dict.fromkeys(path for path in paths if not path.is_dir())
    found = list(named)
    for path in paths:
        if path.is_dir():
            found += [it for it in _below(path) if it not in named]
    return [Source(group, named=group[0] in named) for group in in_groups(dict.fromkeys(found))]


def _below(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders.sort()
        paths = (Path(place, name) for name in sorted(files))
        yield from (path for path in paths if path.is_file())


def happenings_in(source: Source, reach: Reach) -> Iterator[Happening]:
    """Yield what happens in a source.

    Raises CaptureError or FormatError where it is not what it should be, TranscriptError where a match breaks the
    rules, OSError where it cannot be read.
    """
    kind = find_format(source.paths[0]) if len(source.paths) == 1 else None
    if kind is None:
        yield from replay(read_captures(source.paths, reach))
        return
    for number, transcript in enumerate(read_paper(source.paths[0], kind), 1):
        yield from retold(number, transcript)


def retold(match: int, transcript: Transcript) -> Iterator[Happening]:
    """Yield what happens in a match on paper. Raises TranscriptError where it breaks the rules."""
    yield MatchBegan(match, evolve(transcript, games=(), ended=None), transcript.started)
    for game in transcript.games:
        yield GameBegan(match, evolve(game, entries=(), result=None))
        yield from (Happened(match, step) for step in walk(game))
        yield GameEnded(match, game)
    yield MatchEnded(match, transcript)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
