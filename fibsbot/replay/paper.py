"""Files of other programs, as transcripts. Nothing here knows how a server speaks."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fibsbot.formats.detect import Format, format_of
from fibsbot.formats.errors import FormatError
from fibsbot.formats.files import read_matches
from fibsbot.formats.text import chunks, decoded
from fibsbot.records.session_log import is_session_log
from fibsbot.replay import parts
from fibsbot.replay.errors import CaptureError
from fibsbot.transcript import Transcript

LARGEST: Final = 2**28
"""Bytes of a file of another program; a capture may have any size."""
_LISTED: Final = re.compile(rb".{1,200} is X - .{1,200} is O\.?\s*")
"""A line above the server's list of a game's moves."""
_PLAYED: Final = (b"board:", b" rolls ", b" rolled ")
"""What stands in lines of a game that is played or watched."""


def find_format(path: Path) -> Format | None:
    """Tell which program's file it is; None for what only a capture can be. Raises OSError where it can't be read."""
    if path.exists() and not path.is_file():
        return None  # what is read from a pipe to look at it would be lost
    head = b""
    with path.open("rb") as file, contextlib.suppress(FormatError):  # reading it tells what is damaged
        head = next(chunks(file), b"")[:4096]
    kind = format_of(head.decode("utf-8", "replace"), path.name.removesuffix(".gz"))
    if kind is None and not is_session_log(head) and _is_about_lists(path):
        return Format.OLDMOVES
    return kind


def _is_about_lists(path: Path) -> bool:
    """Whether the server was asked for lists of moves in a capture, and no game was played: then they are its matches.

    The first line of a play ends the search, so that large captures are not read twice.
    """
    found = False
    with path.open("rb") as file, contextlib.suppress(FormatError):
        for _, line in parts.lines(chunks(file)):
            if any(it in line for it in _PLAYED):
                return False
            found = found or _LISTED.fullmatch(line) is not None
    return found


def read_paper(path: Path, kind: Format) -> Iterator[Transcript]:
    """Yield the matches in a file of another program. Raises CaptureError, FormatError, OSError."""
    if not kind.readable:
        raise CaptureError(f"expected a capture or a match, got a file of the format {kind.value}")
    data = bytearray()
    with path.open("rb") as file:
        for piece in chunks(file):
            data += piece
            if len(data) > LARGEST:
                raise FormatError(f"expected a file of at most {LARGEST >> 20} MiB, got more")
    yield from read_matches(kind, decoded(bytes(data)))
