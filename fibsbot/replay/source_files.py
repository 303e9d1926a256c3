"""What is replayed: files and the parts of session logs, found by path, and the events in them."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from attrs import evolve, field, frozen

from fibsbot.formats import read_chunks
from fibsbot.replay.captures import OffsetCallback, read_captures, read_parts
from fibsbot.replay.events import EntryAdded, GameBegan, GameEnded, MatchBegan, MatchEnded, MatchEvent
from fibsbot.replay.match_files import (
    find_content_format,
    find_format,
    group_log_parts,
    open_log_part,
    read_match_content,
    read_match_file,
)
from fibsbot.replay.transcriber import events_of_capture
from fibsbot.transcript import Transcript, walk


@frozen
class SentContent:
    """The content of a source, for a worker on another machine."""

    parts: tuple[bytes, ...]
    size: int
    """Bytes on disk."""
    error: str = ""
    """Why it could not be read or sent; then there are no parts."""


@frozen
class ReplaySource:
    """A file that is replayed, or several that continue each other."""

    paths: tuple[Path, ...]
    is_explicit: bool = True
    """Whether it was named on the command line; else it was found in a folder."""
    sent: SentContent | None = field(default=None, repr=False)
    """In a worker on another machine."""

    @property
    def name(self) -> str:
        """The name of its first file."""
        return str(self.paths[0])

    @property
    def size(self) -> int:
        """Bytes on disk; 0 for a pipe and the like."""
        return self.sent.size if self.sent else sum(_size(path) for path in self.paths)

    def with_content(self) -> ReplaySource:
        """Return the source with its content, or the error that it cannot be read."""
        size = self.size
        if size > LARGEST_SENT:
            error = f"expected at most {LARGEST_SENT >> 20} MiB to send to a worker, got {size >> 20} MiB"
            return evolve(self, sent=SentContent((), size, error))
        try:
            parts = tuple(_read_part(path) for path in self.paths)
        except OSError as error:
            return evolve(self, sent=SentContent((), size, error.strerror or str(error)))
        return evolve(self, sent=SentContent(parts, size))


LARGEST_SENT: Final = 2**26
"""Bytes of a source that is sent to a worker, at most: scheduler and worker hold it in memory."""


def _read_part(path: Path) -> bytes:
    with open_log_part(path) as file:
        return file.read()


def find_sources(paths: Iterable[Path]) -> list[ReplaySource]:
    """Return the sources to replay: files, and all files below folders by name; the parts of a log are one source."""
    is_explicit = dict.fromkeys(path for path in paths if not path.is_dir())
    found = list(is_explicit)
    for path in paths:
        if path.is_dir():
            found += [it for it in _files_below(path) if it not in is_explicit]
    return [ReplaySource(group, is_explicit=group[0] in is_explicit) for group in group_log_parts(dict.fromkeys(found))]


def _files_below(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders.sort()
        paths = (Path(place, name) for name in sorted(files))
        yield from (path for path in paths if path.is_file())


def events_in(source: ReplaySource, on_offset: OffsetCallback, *, logged_details: bool = True) -> Iterator[MatchEvent]:
    """Yield the events of a source; without `logged_details`, entries lack the equities that a session log has.

    Raises CaptureError or FormatError for a file of another kind, TranscriptError where a match breaks the rules, and
    OSError where a file cannot be read.
    """
    sent = source.sent
    if sent and sent.error:
        raise OSError(0, sent.error)
    one = len(source.paths) == 1
    kind = (
        find_content_format(source.paths[0].name, sent.parts) if sent else find_format(source.paths[0]) if one else None
    )
    if kind is None:
        parts = (read_chunks(io.BytesIO(part)) for part in sent.parts) if sent else ()
        yield from events_of_capture(
            read_parts(parts, on_offset, decisions=logged_details)
            if sent
            else read_captures(source.paths, on_offset, decisions=logged_details)
        )
        return
    matches = read_match_content(sent.parts[0], kind) if sent else read_match_file(source.paths[0], kind)
    for number, transcript in enumerate(matches, 1):
        yield from events_of_transcript(number, transcript)


def events_of_transcript(match: int, transcript: Transcript) -> Iterator[MatchEvent]:
    """Yield the events of a transcript. Raises TranscriptError where it breaks the rules."""
    yield MatchBegan(match, evolve(transcript, games=(), ended=None), transcript.started)
    for game in transcript.games:
        yield GameBegan(match, evolve(game, entries=(), result=None))
        yield from (EntryAdded(match, step) for step in walk(game))
        yield GameEnded(match, game)
    yield MatchEnded(match, transcript)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
