"""The bytes of a capture in lines of bounded length, and the files that continue each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final

LONGEST_LINE: Final = 2**22
"""Bytes of the longest line of a session log that is read; a read of a connection becomes far less."""

_FINISHED: Final = re.compile(r"(?P<log>.+)-(?P<time>\d{8}T\d{6}Z)(?:_(?P<number>\d+))?(?P<suffix>\.jsonl)(?:\.gz)?")
_LATEST: Final = re.compile(r"(?P<log>.+)(?P<suffix>\.jsonl)(?:\.gz)?")


def opened(path: Path) -> IO[bytes]:
    """Open a file, or what has become of it: a finished part of a log is compressed at any time."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        compressed = path.with_name(f"{path.name}.gz")
        if not compressed.exists():
            raise
        return compressed.open("rb")


def lines(pieces: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
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


def in_groups(paths: Iterable[Path]) -> list[tuple[Path, ...]]:
    """Group files that are parts of one session log, the oldest part first; any other file is a group of its own.

    The parts are recognised by their names (fibsbot/records/archive.py).
    """
    groups: dict[tuple[Path, str], list[tuple[tuple[str, int], Path]]] = {}
    for path in paths:
        finished = _FINISHED.fullmatch(path.name)
        latest = _LATEST.fullmatch(path.name)
        if finished:
            key, place = finished["log"] + finished["suffix"], (finished["time"], int(finished["number"] or 1))
        elif latest:
            key, place = latest["log"] + latest["suffix"], ("~", 0)
        else:
            key, place = path.name, ("~", 0)
        groups.setdefault((path.parent, key), []).append((place, path))
    return [tuple(path for _, path in sorted(parts)) for parts in groups.values()]
