"""Files of other programs, as transcripts. Nothing here knows how a server speaks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fibsbot.formats.detect import Format, format_of
from fibsbot.formats.errors import FormatError
from fibsbot.formats.files import read_matches
from fibsbot.formats.text import decoded
from fibsbot.replay import parts
from fibsbot.replay.errors import CaptureError
from fibsbot.transcript import Transcript

LARGEST: Final = 2**28
"""Bytes of a file of another program; a capture may have any size."""


def find_format(path: Path) -> Format | None:
    """Tell which program's file it is; None for what only a capture can be. Raises OSError where it can't be read."""
    if path.exists() and not path.is_file():
        return None  # what is read from a pipe to look at it would be lost
    with path.open("rb") as file:
        head = next(parts.chunks(file), b"")[:4096]
    return format_of(head.decode("utf-8", "replace"), path.name.removesuffix(".gz"))


def read_paper(path: Path, kind: Format) -> Iterator[Transcript]:
    """Yield the matches in a file of another program. Raises CaptureError, FormatError, OSError."""
    if not kind.readable:
        raise CaptureError(f"expected a capture or a match, got a file of the format {kind.value}")
    data = bytearray()
    with path.open("rb") as file:
        for piece in parts.chunks(file):
            data += piece
            if len(data) > LARGEST:
                raise FormatError(f"expected a file of at most {LARGEST >> 20} MiB, got more")
    yield from read_matches(kind, decoded(bytes(data)))
