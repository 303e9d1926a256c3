"""Copies of a store: the file itself while bots write into it, or all its rows as text."""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

from sqlalchemy import Table, func, select

from fibsbot.permissions import make_private
from fibsbot.records.store.database import BUSY, StoreError, is_sqlite, locate, shown, sqlite_uri
from fibsbot.records.store.reading import CHUNK, Store
from fibsbot.records.store.schema import METADATA

PAGES: Final = 2000
"""Pages of a file that are copied at once."""

Progress: TypeAlias = Callable[[int, int], None]
"""Is told how much is done, and of how much."""


def _quiet(_done: int, _of: int) -> None:
    pass


def backup(where: str | Path, target: Path, progress: Progress = _quiet) -> None:
    """Copy a store on SQLite as it is at this moment, and check the copy; what is there under its name is replaced.

    The copy is one file, which a bot can go on with. Raises StoreError when it cannot be made; then nothing is left of
    it, and what was there before still is.
    """
    url = locate(where)
    if not is_sqlite(url):
        raise StoreError(f"a store on PostgreSQL is backed up with its own tool: pg_dump -Fc -f {target} {shown(url)}")
    source = Path(str(url.database))
    if not source.is_file():
        raise StoreError(f"there is no store {source}")
    try:
        with _in_place_of(target) as part:
            _copy(source, part, progress)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"cannot back up {source} to {target}: {_said(error)}") from None


def _copy(source: Path, target: Path, progress: Progress) -> None:
    make_private(target)
    uri = sqlite_uri(source, "rw")
    with (
        contextlib.closing(sqlite3.connect(uri, uri=True, timeout=BUSY, isolation_level=None)) as opened,
        contextlib.closing(sqlite3.connect(target, isolation_level=None)) as copy,
    ):
        # Within one transaction the copy shows one moment; without it SQLite would begin anew whenever a bot writes.
        opened.execute("BEGIN")
        opened.execute("SELECT count(*) FROM sqlite_master").fetchone()
        opened.backup(copy, pages=PAGES, progress=lambda _, left, of: progress(of - left, of))
        opened.execute("ROLLBACK")
        copy.execute("PRAGMA journal_mode = DELETE")
        (said,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        if said != "ok":
            raise sqlite3.DatabaseError(f"the copy is damaged: {said}")


# -- rows as text -------------------------------------------------------------------------------------------------


def rows(store: Store, progress: Progress = _quiet) -> Iterator[tuple[Table, Mapping[str, Any]]]:
    """Yield every row of the store as JSON can write it, in an order that does not change, all from one moment."""
    with store.reading() as connection:
        of = sum(connection.scalar(select(func.count()).select_from(table)) or 0 for table in METADATA.sorted_tables)
        done = 0
        for table in METADATA.sorted_tables:
            query = select(table).order_by(*table.primary_key.columns)
            with connection.execution_options(yield_per=CHUNK).execute(query) as result:
                for row in result.mappings():
                    yield table, {name: _plain(value) for name, value in row.items()}
                    done += 1
                    if done % CHUNK == 0:
                        progress(done, of)
        progress(done, of)


def write_jsonl(store: Store, file: IO[str], progress: Progress = _quiet) -> None:
    """Write one JSON object a row, with the table's name as `table`."""
    for table, row in rows(store, progress):
        file.write(json.dumps({"table": table.name, **row}, ensure_ascii=False) + "\n")


def write_csv(store: Store, folder: Path, progress: Progress = _quiet) -> None:
    """Write a file for each table into a folder that is there, with the columns' names in the first line."""
    with contextlib.ExitStack() as stack:
        writers = {}
        for table in METADATA.sorted_tables:
            path = folder / f"{table.name}.csv"
            make_private(path)
            file = stack.enter_context(path.open("w", encoding="utf-8", newline=""))
            writers[table.name] = csv.DictWriter(file, [column.name for column in table.columns])
            writers[table.name].writeheader()
        for table, row in rows(store, progress):
            writers[table.name].writerow(row)


def export(store: Store, target: Path, *, as_csv: bool, progress: Progress = _quiet) -> None:
    """Write all rows into a file, or for CSV into a folder, which must not be there. Nothing half-written is left.

    Raises StoreError.
    """
    try:
        with _in_place_of(target) as part:
            if as_csv:
                part.mkdir(mode=0o700)
                write_csv(store, part, progress)
            else:
                make_private(part)
                with part.open("w", encoding="utf-8") as file:
                    write_jsonl(store, file, progress)
    except OSError as error:
        raise StoreError(f"cannot write {target}: {_said(error)}") from None


@contextlib.contextmanager
def _in_place_of(target: Path) -> Iterator[Path]:
    """Give another name beside a target, and move what is made under it there in the end, or remove it."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield part
        for path in (*(part.iterdir() if part.is_dir() else ()), part):
            _sync(path)
        part.rename(target)
        _sync(target.parent)
    except BaseException:
        for left in sorted(part.glob("*")) if part.is_dir() else ():
            left.unlink()
        if part.is_dir():
            part.rmdir()
        part.unlink(missing_ok=True)
        raise


def _sync(path: Path) -> None:
    """Have a file's bytes, or a folder's names, on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, dt.datetime) else value


def _said(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or " ".join(str(error).split())
