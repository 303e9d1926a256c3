"""Bear-off tables on disk: load, compute or skip them.

A file begins with a page of 4,096 bytes: one line of JSON, padded with blanks, with the format, its version, the number
of checkers of the two-sided table, and the SHA-256 of the rest of the file. The rest are the arrays of
`tables.TableArrays` one after the other, little-endian. Their shapes follow from version and checkers.

A file is written under another name and then renamed, so that it is always complete, even if two programs write it at
the same time. It is memory-mapped: programs on one machine share the memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from attrs import frozen

from fibsbot.engine.arrays import CHECKERS
from fibsbot.engine.bearoff.tables import (
    COLUMNS,
    MAX_ROLLS,
    MAX_ROLLS_TO_FIRST,
    BearoffTables,
    TableArrays,
    position_count,
)
from fibsbot.files import replacing
from fibsbot.workers.pool import WorkerPool

FORMAT: Final = "fibsbot bear-off tables"
VERSION: Final = 1
"""Raised when the arrays or their computation change; files of other versions are ignored."""
HEADER_SIZE: Final = 4096
"""Bytes before the arrays: a page, for alignment."""


class UnusableTablesError(Exception):
    """A file of tables that is there but cannot be used; the text says why."""


@frozen
class TableFile:
    """A valid file of tables."""

    path: Path
    checkers: int
    """Checkers per side of the two-sided table."""
    bytes: int
    checksum: str
    """SHA-256 of the arrays."""
    written: float
    """Modification time in seconds since 1970."""


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
    """Return the path of the file for a number of checkers per side."""
    return (folder or cache_folder()) / f"bearoff-{checkers}-v{VERSION}.tables"


def write_tables(tables: BearoffTables, path: Path) -> TableFile:
    """Write the tables; raise OSError if that fails, without leaving a file behind."""
    arrays = [_little(array) for array in tables.columns]
    checksum = _checksum(arrays)
    head = {"format": FORMAT, "version": VERSION, "checkers": tables.checkers, "sha256": checksum}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part, part.open("xb") as file:
        file.write(json.dumps(head).encode().ljust(HEADER_SIZE - 1) + b"\n")
        for array in arrays:
            file.write(array.data)
    return _kept(path, tables.checkers, checksum, path.stat())


def read_tables(path: Path, checkers: int) -> tuple[BearoffTables, TableFile]:
    """Map a file of tables and verify all of it.

    Raises FileNotFoundError if there is none, UnusableTablesError if it cannot be used.
    """
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            head = _head(file.read(HEADER_SIZE), checkers)
            expected = HEADER_SIZE + 4 * sum(int(np.prod(shape)) for shape in _shapes(checkers))
            if about.st_size != expected:
                raise UnusableTablesError(f"expected {expected:,} bytes, got {about.st_size:,}")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(*error.args) from None
    except OSError as error:
        raise UnusableTablesError(error.strerror or str(error)) from None
    arrays = []
    offset = HEADER_SIZE
    for shape in _shapes(checkers):
        array = np.frombuffer(mapped, "<f4", int(np.prod(shape)), offset).reshape(shape)
        offset += array.nbytes
        arrays.append(array)
    checksum = _checksum(arrays)
    if checksum != head["sha256"]:
        raise UnusableTablesError("its checksum is wrong")
    return BearoffTables(TableArrays(*map(_native, arrays))), _kept(path, checkers, checksum, about)


def _head(page: bytes, checkers: int) -> dict[str, Any]:
    try:
        head = json.loads(page)
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise UnusableTablesError("it is no file of bear-off tables")
    for name, value in {"version": VERSION, "checkers": checkers}.items():
        if head.get(name) != value:
            raise UnusableTablesError(f"expected {name} {value}, got {head.get(name)!r:.20}")
    return {"sha256": None, **head}


def _shapes(checkers: int) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of the arrays in the order of `TableArrays`."""
    all_, few = position_count(CHECKERS), position_count(checkers)
    return (all_, MAX_ROLLS), (all_ - position_count(CHECKERS - 1), MAX_ROLLS_TO_FIRST), (all_,), (few, few, COLUMNS)


def _kept(path: Path, checkers: int, checksum: str, about: os.stat_result) -> TableFile:
    return TableFile(path, checkers, about.st_size, checksum, about.st_mtime)


def _checksum(arrays: list[npt.NDArray[np.float32]]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(array.data)
    return digest.hexdigest()


def _little(array: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.ascontiguousarray(array, "<f4")


def _native(array: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the array in native byte order; copies only on big-endian machines."""
    return array if sys.byteorder == "little" else array.astype(np.float32)


DEFAULT_CHECKERS: Final = 6
"""Checkers per side of the two-sided table by default."""
MAX_CHECKERS: Final = 8
"""The maximum number of checkers per side: each one more takes three times the memory."""


def print_to_stderr(text: str) -> None:
    """Print a line to stderr."""
    sys.stderr.write(f"{text}\n")


def load_tables(
    *,
    compute: bool,
    checkers: int | None = None,
    folder: Path | None = None,
    report: Callable[[str], None] = print_to_stderr,
    pool: WorkerPool | None = None,
) -> BearoffTables | None:
    """Return the bear-off tables.

    Args:
        compute: Whether to compute and store missing or unusable tables. That takes a few seconds, with a progress bar
            if stderr is a terminal. A program with several processes should let one of them do so before it starts the
            others.
        checkers: Checkers per side of the two-sided table; None takes the largest that is stored, or computes one for
            6 checkers.
        folder: The folder of the files, by default `cache_folder()`.
        report: Called with one line if a file cannot be used or written.
        pool: Computes what is missing; None does it in this process.

    Returns:
        The tables; None if there are none and `compute` is false. An engine works without them, with `NO_TABLES`, by
        its networks alone, and should say so.
    """
    for count in range(MAX_CHECKERS, DEFAULT_CHECKERS - 1, -1) if checkers is None else (checkers,):
        path = path_for(count, folder)
        try:
            return read_tables(path, count)[0]
        except FileNotFoundError:
            continue
        except UnusableTablesError as error:
            then = "; they are computed again" if compute and count == (checkers or DEFAULT_CHECKERS) else ""
            report(f"cannot use the bear-off tables {path}: {error}{then}")
    if not compute:
        return None
    tables, _ = compute_and_save(checkers or DEFAULT_CHECKERS, folder, report, pool)
    return tables


def tables_in_use(folder: Path | None = None) -> str:
    """Return which tables `load_tables` takes by default, for the fingerprint of workers: `6 checkers, version 1`."""
    counts = range(MAX_CHECKERS, DEFAULT_CHECKERS - 1, -1)
    checkers = next((count for count in counts if path_for(count, folder).exists()), DEFAULT_CHECKERS)
    return f"{checkers} checkers, version {VERSION}"


def compute_and_save(
    checkers: int, folder: Path | None, report: Callable[[str], None], pool: WorkerPool | None = None
) -> tuple[BearoffTables, TableFile | None]:
    """Compute and store the tables; if they cannot be written, report that and return None for the file."""
    from fibsbot.engine.bearoff.solver import compute_tables  # noqa: PLC0415 - loads the engine

    with _progress() as show:
        tables = compute_tables(checkers, show, pool)
    path = path_for(checkers, folder)
    try:
        return tables, write_tables(tables, path)
    except OSError as error:
        report(
            f"cannot keep the bear-off tables as {path}: {error.strerror or error}; they last as long as this program"
        )
    return tables, None


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[float], None]]:
    """Show a progress bar if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - only who computes needs it
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn  # noqa: PLC0415

    with Progress(
        TextColumn("bear-off tables"),
        BarColumn(),
        TaskProgressColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("", total=None)
        yield lambda part: bar.update(task, completed=part, total=1)
