"""Match files: detect the format of a file, group the parts of a session log, read matches as transcripts.

Quick to import: the parser of the server's messages is imported only when a capture is read.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from fibsbot.draw.markup import clean
from fibsbot.formats import Format, FormatError, decode_text, detect_format, read_chunks
from fibsbot.formats.conversion import read_matches
from fibsbot.records.session_log import is_session_log
from fibsbot.transcript import Transcript

if TYPE_CHECKING:
    from fibsbot.replay.captures import CaptureEvent


class CaptureError(ValueError):
    """A file is not a capture; the text is one line with what was expected and what was found."""


LONGEST_LINE: Final = 2**22
"""Bytes of the longest line that is read from a session log; real lines are far shorter."""

_FINISHED_PART: Final = re.compile(
    r"(?P<log>.+)-(?P<time>\d{8}T\d{6}Z)(?:_(?P<number>\d+))?(?P<suffix>\.jsonl)(?:\.gz)?"
)
_LATEST_PART: Final = re.compile(r"(?P<log>.+)(?P<suffix>\.jsonl)(?:\.gz)?")


def open_log_part(path: Path) -> IO[bytes]:
    """Open a file, or its compressed copy: a finished part of a log may be compressed at any time."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        compressed = path.with_name(f"{path.name}.gz")
        if not compressed.exists():
            raise
        return compressed.open("rb")


def lines_with_offsets(pieces: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield lines with their offsets; a line that is too long is left out."""
    pending, start, skipping = bytearray(), 0, False
    for piece in pieces:
        pending += piece
        if b"\n" not in piece:
            if len(pending) > LONGEST_LINE:
                start += len(pending)
                pending.clear()
                skipping = True
            continue
        *whole, last = bytes(pending).split(b"\n")
        for line in whole:
            if not skipping:
                yield start, line
            start += len(line) + 1
            skipping = False
        pending = bytearray(last)
    if pending and not skipping:
        yield start, bytes(pending)


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
    """Return the format of a match file; None for a capture. Raises OSError where it can't be read."""
    if path.exists() and not path.is_file():
        return None  # bytes read from a pipe would be lost
    with path.open("rb") as file:
        return _format_of(file, path.name)


def _format_of(file: IO[bytes], name: str) -> Format | None:
    head = b""
    with contextlib.suppress(FormatError):  # a later read reports the damage
        head = next(read_chunks(file), b"")[:4096]
    kind = detect_format(head.decode("utf-8", "replace"), name.removesuffix(".gz"))
    if kind is None and not is_session_log(head) and _has_only_lists(file):
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
            if any(it in line for it in _PLAY_MARKS):
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
    yield from read_matches(kind, decode_text(bytes(data)))


def find_content_format(name: str, parts: Sequence[bytes]) -> Format | None:
    """Return the format of a match file by its content; None for a capture, which may have several parts."""
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
    """Yield the matches of backgammon in a capture. Raises CaptureError if it has only ones of other games."""
    from fibsbot.replay.events import MatchEnded, TableMatchBegan  # noqa: PLC0415 - slow to import: every message
    from fibsbot.replay.transcriber import events_of_capture  # noqa: PLC0415 - likewise

    others: dict[str, None] = {}
    found = False
    for event in events_of_capture(capture):
        if isinstance(event, MatchEnded):
            found = True
            yield event.transcript
        elif isinstance(event, TableMatchBegan):
            others[event.game] = None
    if others and not found:
        games = clean(", ".join(others), 60)
        raise CaptureError(f"expected matches of backgammon, got only {games}, whose moves `fibsbot replay` lists")
