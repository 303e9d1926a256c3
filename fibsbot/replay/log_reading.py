"""Reads files of sessions as lines, and says what is no capture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final


class CaptureError(ValueError):
    """A file is not a capture; the text is one line with what was expected and what was found."""


LONGEST_LINE: Final = 2**22
"""Bytes of the longest line that is read from a session log; real lines are far shorter."""


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
