"""Files of matches: finds them by path, detects their format, and reads them as transcripts or as events.

The parts of a session log are grouped. Quick to import: the parser of the server's messages is imported only when a
capture is read.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from attrs import evolve, field, frozen

from fibsbot.formats import Format, FormatError, describe_foreign, detect_format, read_chunks
from fibsbot.formats.conversion import read_file
from fibsbot.records.session_log import is_session_log
from fibsbot.replay.log_reading import CaptureError, lines_with_offsets, open_log_part
from fibsbot.transcript import Transcript, walk

if TYPE_CHECKING:
    from fibsbot.replay.captures import CaptureEvent, OffsetCallback
    from fibsbot.replay.events import MatchEvent


_FINISHED_PART: Final = re.compile(
    r"(?P<log>.+)-(?P<time>\d{8}T\d{6}Z)(?:_(?P<number>\d+))?(?P<suffix>\.jsonl)(?:\.gz)?"
)
_LATEST_PART: Final = re.compile(r"(?P<log>.+)(?P<suffix>\.jsonl)(?:\.gz)?")


def group_log_parts(paths: Iterable[Path]) -> list[tuple[Path, ...]]:
    """Group files that are parts of one session log, the oldest part first; any other file is a group of its own.

    The parts are recognised by their names (fibsbot/records/finished_logs.py).
    """
    groups: dict[tuple[Path, str], list[tuple[tuple[str, int], Path]]] = {}
    for path in paths:
        finished = _FINISHED_PART.fullmatch(path.name)
        latest = _LATEST_PART.fullmatch(path.name)
        if finished:
            key, place = finished["log"] + finished["suffix"], (finished["time"], int(finished["number"] or 1))
        elif latest:
            key, place = latest["log"] + latest["suffix"], ("~", 0)
        else:
            key, place = path.name, ("~", 0)
        groups.setdefault((path.parent, key), []).append((place, path))
    return [tuple(path for _, path in sorted(parts)) for parts in groups.values()]


LARGEST_FILE: Final = 2**28
"""Bytes of another program's file, at most; a capture may have any size."""
_LIST_HEADING: Final = re.compile(rb".{1,200} is X - .{1,200} is O\.?\s*")
"""The heading of the server's list of a game's moves."""
_PLAY_MARKS: Final = (b"board:", b" rolls ", b" rolled ")
"""Parts of lines about a game that is played or watched."""


def find_format(path: Path) -> Format | None:
    """Return the format of a match file; None for a capture.

    Raises OSError where it can't be read, FormatError for a file of which it is known that it holds no match to read.
    """
    if path.exists() and not path.is_file():
        return None  # bytes read from a pipe would be lost
    with path.open("rb") as file:
        return _format_of(file, path.name)


def _format_of(file: IO[bytes], name: str) -> Format | None:
    head = b""
    with contextlib.suppress(FormatError):  # a later read reports the damage
        head = next(read_chunks(file), b"")[:4096]
    kind = detect_format(head.decode("utf-8", "replace"), name.removesuffix(".gz"))
    if kind is not None and kind.readable:
        return kind
    if is_session_log(head):
        return None
    if foreign := describe_foreign(head):
        raise FormatError(f"expected a match, got {foreign}")
    if kind is None and _has_only_lists(file):
        return Format.OLDMOVES
    return kind


def _has_only_lists(file: IO[bytes]) -> bool:
    """Whether a capture has lists of moves and no game that was played, so that the lists are its matches.

    The first line about a play ends the search, so that large captures are not read twice. It looks for a few words,
    because the parser of messages would be slow to import.
    """
    found = False
    file.seek(0)
    with contextlib.suppress(FormatError):
        for _, line in lines_with_offsets(read_chunks(file)):
            if any(mark in line for mark in _PLAY_MARKS):
                return False
            found = found or _LIST_HEADING.fullmatch(line) is not None
    return found


def read_match_file(path: Path, kind: Format) -> Iterator[Transcript]:
    """Yield the matches in a file of another program. Raises CaptureError, FormatError, OSError."""
    with path.open("rb") as file:
        yield from _matches_in(file, kind)


def _matches_in(file: IO[bytes], kind: Format) -> Iterator[Transcript]:
    if not kind.readable:
        raise CaptureError(f"expected a capture or a match, got a file of the format {kind.value}")
    data = bytearray()
    for piece in read_chunks(file):
        data += piece
        if len(data) > LARGEST_FILE:
            raise FormatError(f"expected a file of at most {LARGEST_FILE >> 20} MiB, got more")
    yield from read_file(kind, bytes(data))


def find_content_format(name: str, parts: Sequence[bytes]) -> Format | None:
    """Return the format of a match file by its content; None for a capture, which may have several parts.

    Raises FormatError for a file of which it is known that it holds no match to read.
    """
    return _format_of(io.BytesIO(parts[0]), name) if len(parts) == 1 else None


def read_match_content(data: bytes, kind: Format) -> Iterator[Transcript]:
    """Yield the matches in the content of a file of another program. Raises CaptureError, FormatError."""
    return _matches_in(io.BytesIO(data), kind)


def read_content(name: str, parts: Sequence[bytes]) -> tuple[Format | None, Iterator[Transcript]]:
    """Return the format of a file by its content, and its matches; None: a capture.

    `parts` are the contents of several files that continue each other. The matches raise CaptureError or FormatError.
    """
    kind = find_content_format(name, parts)
    if kind is not None:
        return kind, read_match_content(parts[0], kind)
    from fibsbot.replay.captures import read_parts  # noqa: PLC0415 - slow to import: every message of the server

    return None, transcripts_of_capture(read_parts(read_chunks(io.BytesIO(part)) for part in parts))


def load_transcripts(path: Path) -> Iterator[Transcript]:
    """Yield the matches in a file, each as soon as it is over.

    Raises CaptureError or FormatError for a file without matches, OSError where it cannot be read.
    """
    kind = find_format(path)
    if kind is not None:
        yield from read_match_file(path, kind)
        return
    from fibsbot.replay.captures import read_captures  # noqa: PLC0415 - slow to import: every message of the server

    yield from transcripts_of_capture(read_captures([path]))


def transcripts_of_capture(capture: Iterable[CaptureEvent]) -> Iterator[Transcript]:
    """Yield the matches in a capture."""
    from fibsbot.replay.events import MatchEnded  # noqa: PLC0415 - slow to import: every message
    from fibsbot.replay.transcriber import events_of_capture  # noqa: PLC0415 - likewise

    for event in events_of_capture(capture):
        if isinstance(event, MatchEnded) and event.transcript.games:
            yield event.transcript


# -- sources of a replay -----------------------------------------------------------------------------------------------


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
            found += [file for file in _files_below(path) if file not in is_explicit]
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
        from fibsbot.replay.captures import read_captures, read_parts  # noqa: PLC0415 - slow to import: every message
        from fibsbot.replay.transcriber import events_of_capture  # noqa: PLC0415 - likewise

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
    from fibsbot.replay.events import (  # noqa: PLC0415 - slow to import: every message of the server
        EntryAdded,
        GameBegan,
        GameEnded,
        MatchBegan,
        MatchEnded,
    )

    yield MatchBegan(match, evolve(transcript, games=(), ended=None), transcript.started, transcript.rules)
    for game in transcript.games:
        yield GameBegan(match, evolve(game, entries=(), result=None))
        end = game.start
        for step in walk(game):
            yield EntryAdded(match, step)
            end = step.after
        yield GameEnded(match, game, end)
    yield MatchEnded(match, transcript)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
