"""The tables on disk: where, and how a file is known to be good.

A file begins with a page of 4,096 bytes: one line of JSON, filled up with blanks. It names the format, its version, how
many checkers the two-sided table is for, and the SHA-256 of all bytes that follow. Those are the arrays of
`lookup.Columns` one after the other, little-endian. Shapes follow from version and checkers.

A file is written under another name and then renamed, so that nobody ever sees half of one, and two programs that write
the same at once leave one that is whole. It is mapped, not read: programs on one machine share the memory.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import secrets
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from attrs import frozen

from fibsbot.engine.bearoff.indexing import size
from fibsbot.engine.bearoff.lookup import COLUMNS, LONGEST, LONGEST_FIRST, Columns
from fibsbot.engine.bearoff.tables import Tables
from fibsbot.engine.boards import CHECKERS

FORMAT: Final = "fibsbot bear-off tables"
VERSION: Final = 1
"""Goes up when the arrays or the way in which they are computed change; files of other versions are left alone."""
HEAD: Final = 4096
"""Bytes before the arrays: a page, so that they lie where the processor likes them."""


class UnusableError(Exception):
    """A file of tables that is there but cannot be used; the text says why."""


@frozen
class Kept:
    """A good file of tables."""

    path: Path
    checkers: int
    """For how many checkers of each side the two-sided table is."""
    bytes: int
    checksum: str
    """SHA-256 of the arrays."""
    written: float
    """When, in seconds since 1970."""


def cache_folder() -> Path:
    """Return where the tables are kept: FIBSBOT_CACHE, else `fibsbot` in XDG_CACHE_HOME, else in ~/.cache."""
    own = os.environ.get("FIBSBOT_CACHE")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification: a path that is not absolute is as if it were not there.
    base = Path(shared) if os.path.isabs(shared) else Path(os.path.expanduser("~")) / ".cache"  # noqa: PTH111, PTH117 - pathlib's raise without a home
    return base / "fibsbot"


def path_for(checkers: int, folder: Path | None = None) -> Path:
    """Return where the file is kept whose two-sided table is for so many checkers."""
    return (folder or cache_folder()) / f"bearoff-{checkers}-v{VERSION}.tables"


def keep(tables: Tables, path: Path) -> Kept:
    """Write the tables. Raises OSError where that is impossible; nothing is left behind then."""
    arrays = [_little(array) for array in tables.columns]
    checksum = _checksum(arrays)
    head = {"format": FORMAT, "version": VERSION, "checkers": tables.checkers, "sha256": checksum}
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with unfinished.open("xb") as file:
            file.write(json.dumps(head).encode().ljust(HEAD - 1) + b"\n")
            for array in arrays:
                file.write(array.data)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return _kept(path, tables.checkers, checksum, path.stat())


def load(path: Path, checkers: int) -> tuple[Tables, Kept]:
    """Map a file of tables and check all of it.

    Raises FileNotFoundError where there is none, UnusableError where it cannot be used.
    """
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            head = _head(file.read(HEAD), checkers)
            expected = HEAD + 4 * sum(int(np.prod(shape)) for shape in _shapes(checkers))
            if about.st_size != expected:
                raise UnusableError(f"expected {expected:,} bytes, got {about.st_size:,}")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(*error.args) from None
    except OSError as error:
        raise UnusableError(error.strerror or str(error)) from None
    arrays = []
    offset = HEAD
    for shape in _shapes(checkers):
        array = np.frombuffer(mapped, "<f4", int(np.prod(shape)), offset).reshape(shape)
        offset += array.nbytes
        arrays.append(array)
    checksum = _checksum(arrays)
    if checksum != head["sha256"]:
        raise UnusableError("its checksum is wrong")
    return Tables(Columns(*map(_native, arrays))), _kept(path, checkers, checksum, about)


def _head(page: bytes, checkers: int) -> dict[str, Any]:
    try:
        head = json.loads(page)
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise UnusableError("it is no file of bear-off tables")
    for name, value in {"version": VERSION, "checkers": checkers}.items():
        if head.get(name) != value:
            raise UnusableError(f"expected {name} {value}, got {head.get(name)!r:.20}")
    return {"sha256": None, **head}


def _shapes(checkers: int) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of the arrays in the order of `Columns`."""
    all_, few = size(CHECKERS), size(checkers)
    return (all_, LONGEST), (all_ - size(CHECKERS - 1), LONGEST_FIRST), (all_,), (few, few, COLUMNS)


def _kept(path: Path, checkers: int, checksum: str, about: os.stat_result) -> Kept:
    return Kept(path, checkers, about.st_size, checksum, about.st_mtime)


def _checksum(arrays: list[npt.NDArray[np.float32]]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(array.data)
    return digest.hexdigest()


def _little(array: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.ascontiguousarray(array, "<f4")


def _native(array: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the array as this machine computes with it; only a big-endian one copies."""
    return array if sys.byteorder == "little" else array.astype(np.float32)
