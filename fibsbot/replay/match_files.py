"""Files that hold matches: recognise what a file is, group the parts of a session log, read matches as transcripts.

Quick to import: what can parse a server's messages is imported only when a capture is read.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from fibsbot.formats import Format, FormatError, decode_text, detect_format, read_chunks
from fibsbot.formats.conversion import read_matches
from fibsbot.records.session_log import is_session_log
from fibsbot.transcript import Transcript

if TYPE_CHECKING:
    from fibsbot.replay.captures import CaptureEvent


class CaptureError(ValueError):
    """A file is no capture; the text is one line and says what was expected and what came."""


LONGEST_LINE: Final = 2**22
"""Bytes of the longest line of a session log that is read; a read of a connection becomes far less."""

_FINISHED_PART: Final = re.compile(
    r"(?P<log>.+)-(?P<time>\d{8}T\d{6}Z)(?:_(?P<number>\d+))?(?P<suffix>\.jsonl)(?:\.gz)?"
)
_LATEST_PART: Final = re.compile(r"(?P<log>.+)(?P<suffix>\.jsonl)(?:\.gz)?")


def open_log_part(path: Path) -> IO[bytes]:
    """Open a file, or what has become of it: a finished part of a log is compressed at any time."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        compressed = path.with_name(f"{path.name}.gz")
        if not compressed.exists():
            raise
        return compressed.open("rb")


def lines_with_offsets(pieces: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield lines with their offsets. One that is too long is left out, as is its rest."""
    held, begin, skipping = bytearray(), 0, False
    for piece in pieces:
        held += piece
        if b"\n" not in piece:
            if len(held) > LONGEST_LINE:
                begin += len(held)
                held.clear()
                skipping = True
            continue
        *whole, last = bytes(held).split(b"\n")
        for line in whole:
            if not skipping:
                yield begin, line
            begin += len(line) + 1
            skipping = False
        held = bytearray(last)
    if held and not skipping:
        yield begin, bytes(held)


def group_log_parts(paths: Iterable[Path]) -> list[tuple[Path, ...]]:
    """Group files that are parts of one session log, the oldest part first; any other file is a group of its own.

    The parts are recognised by their names (fibsbot/records/archive.py).
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
"""Bytes of a file of another program; a capture may have any size."""
_LIST_HEADING: Final = re.compile(rb".{1,200} is X - .{1,200} is O\.?\s*")
"""A line above the server's list of a game's moves."""
_PLAY_MARKS: Final = (b"board:", b" rolls ", b" rolled ")
"""What stands in lines of a game that is played or watched."""


def find_format(path: Path) -> Format | None:
    """Tell which program's file it is; None for what only a capture can be. Raises OSError where it can't be read."""
    if path.exists() and not path.is_file():
        return None  # what is read from a pipe to look at it would be lost
    head = b""
    with path.open("rb") as file, contextlib.suppress(FormatError):  # reading it tells what is damaged
        head = next(read_chunks(file), b"")[:4096]
    kind = detect_format(head.decode("utf-8", "replace"), path.name.removesuffix(".gz"))
    if kind is None and not is_session_log(head) and _has_only_lists(path):
        return Format.OLDMOVES
    return kind


def _has_only_lists(path: Path) -> bool:
    """Whether the server was asked for lists of moves in a capture, and no game was played: then they are its matches.

    The first line of a play ends the search, so that large captures are not read twice.
    """
    found = False
    with path.open("rb") as file, contextlib.suppress(FormatError):
        for _, line in lines_with_offsets(read_chunks(file)):
            if any(it in line for it in _PLAY_MARKS):
                return False
            found = found or _LIST_HEADING.fullmatch(line) is not None
    return found


def read_match_file(path: Path, kind: Format) -> Iterator[Transcript]:
    """Yield the matches in a file of another program. Raises CaptureError, FormatError, OSError."""
    if not kind.readable:
        raise CaptureError(f"expected a capture or a match, got a file of the format {kind.value}")
    data = bytearray()
    with path.open("rb") as file:
        for piece in read_chunks(file):
            data += piece
            if len(data) > LARGEST_FILE:
                raise FormatError(f"expected a file of at most {LARGEST_FILE >> 20} MiB, got more")
    yield from read_matches(kind, decode_text(bytes(data)))


def load_transcripts(path: Path) -> Iterator[Transcript]:
    """Yield the matches in a file, one after the other, as soon as each is over.

    Raises CaptureError or FormatError for a file that holds none, OSError where it cannot be read.
    """
    kind = find_format(path)
    if kind is not None:
        yield from read_match_file(path, kind)
        return
    from fibsbot.replay.captures import read_captures  # noqa: PLC0415 - slow to import: all that a server can say

    yield from transcripts_of_capture(read_captures([path]))


def transcripts_of_capture(spoken: Iterable[CaptureEvent]) -> Iterator[Transcript]:
    """Yield the matches of a capture."""
    from fibsbot.replay.events import MatchEnded  # noqa: PLC0415 - slow to import: all that a server can say
    from fibsbot.replay.transcriber import events_of_capture  # noqa: PLC0415 - likewise

    for happening in events_of_capture(spoken):
        if isinstance(happening, MatchEnded):
            yield happening.transcript
