"""The folder of an archive: its Parquet files, the lock for writing, and batches that appear as a whole or not at all.

    ARCHIVE/archive.json                        version of the schema
    ARCHIVE/decisions/year=2026/NAME.parquet    likewise matches, games, players and judgements
    ARCHIVE/sources/NAME.parquet

Files are written under names that no glob for `*.parquet` matches and flushed to disk. Then a list of what is to be
renamed and removed is written; from that moment on the batch is part of the archive, whatever happens, because the next
command that opens the folder completes the list.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Self

from attrs import define, field, frozen

from fibsbot.archive.schema import RENAMED, SCHEMA_VERSION, TABLES, VERSIONS, Column, TableSchema
from fibsbot.files import os_errors_as, read_json, replacing, write_to_disk
from fibsbot.text import one_line

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from fibsbot.archive.columns import TableData

MARK: Final = "archive.json"
"""The file by which an archive is recognised."""
MEMORY: Final = "512MB"
"""Memory that DuckDB may use; beyond it, sorting and grouping go to disk."""
MERGE_MEMORY: Final = "192MB"
"""The same for one thread that merges files: the rows to sort grow with the archive, up to twice FILE_ROWS."""
ROW_GROUP: Final = 122_880
FILE_ROWS: Final = 1_000_000
"""Rows of a file that is compacted no more."""
SMALL_FILES: Final = 8
"""Files of fewer rows in one partition from which they are compacted while an archive is being written."""

COMPACT_BATCHES: Final = 8
"""Batches after which small files are merged."""

_VERSION_KEY: Final = "fibsbot_archive"
_LOCK: Final = ".lock"
_READERS: Final = ".readers"
_COMMIT: Final = ".commit.json"
_PART: Final = ".part"
_TEMPORARY: Final = ".tmp"
_FETCHED: Final = 10_000
"""Rows that are fetched at once."""
_NAME_LENGTH: Final = 16
_GROUP_MARK: Final = "~"
_SPECIAL: Final = re.compile(r"[*?\[]")
_SYSTEM_ERROR: Final = re.compile(r'\{"exception_type".*\}', re.DOTALL)
_ENCODINGS: Final = "FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, COMPRESSION_LEVEL 3"


class ArchiveError(Exception):
    """An archive that cannot be used; the text says why, in one line."""


class MissingDuckDBError(ArchiveError):
    """DuckDB is not installed."""

    def __init__(self) -> None:
        """Say how to install it."""
        super().__init__("expected DuckDB, which the extra `archive` installs: pip install 'fibsbot[archive]'")


def connect() -> DuckDBPyConnection:
    """Return a new connection of DuckDB, in memory; raise MissingDuckDBError without the extra."""
    try:
        import duckdb  # noqa: PLC0415 - an optional extra
    except ImportError:
        raise MissingDuckDBError from None
    connection = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
    connection.execute(f"SET memory_limit = '{MEMORY}'; SET preserve_insertion_order = false")
    return connection


def quoted(text: object) -> str:
    """Return a text as a literal of SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def quoted_path(path: Path, pattern: str = "") -> str:
    """Return a path to read from, and perhaps a pattern of files below it, as a literal of SQL.

    DuckDB takes every path to read from for a pattern.
    """
    escaped = _SPECIAL.sub(r"[\g<0>]", str(path))
    return quoted(f"{escaped}/{pattern}" if pattern else escaped)


@contextlib.contextmanager
def duckdb_errors_as(kind: type[Exception]) -> Iterator[None]:
    """Turn an error of DuckDB into one of this kind, of one line, without the place in the text that it draws."""
    import duckdb  # noqa: PLC0415 - an optional extra

    try:
        yield
    except duckdb.Error as error:
        raise kind(one_line(_message_of(error))[:300]) from None


def _message_of(error: Exception) -> str:
    """Return what an error of DuckDB says: what the system said comes as JSON in the text of another error."""
    text = str(error)
    if match := _SYSTEM_ERROR.search(text):
        with contextlib.suppress(ValueError, KeyError):
            return str(json.loads(match[0])["exception_message"])
    return text.split("\nLINE ", maxsplit=1)[0]


def file_name(group: str, contents: Sequence[object]) -> str:
    """Return the name of a file, without its extension, made of what is in it.

    Only files of one group, which may be empty, are merged.
    """
    digest = hashlib.sha256("\n".join(map(str, contents)).encode()).hexdigest()[:_NAME_LENGTH]
    return f"{group}{_GROUP_MARK}{digest}" if group else digest


def _group(name: str) -> str:
    return name.rpartition(_GROUP_MARK)[0]


@frozen
class WrittenFile:
    """A file that is complete under a temporary name."""

    temporary: Path
    final: Path


@define
class Dataset:
    """The folder of an archive that this process may write to. Made by `Dataset.open`."""

    folder: Path
    connection: DuckDBPyConnection
    _lock: IO[bytes] = field(repr=False)
    _batches: int = field(default=0, init=False)
    """Batches that were written."""

    @classmethod
    @contextlib.contextmanager
    def open(cls, folder: Path) -> Iterator[Self]:
        """Open an archive for writing, or make a new one.

        Raises ArchiveError if the folder is something else or another process writes to it, and where the block that
        uses it meets a file that cannot be read.
        """
        connection = connect()
        make_folder(folder)
        with contextlib.ExitStack() as held:
            with _writing(folder):
                lock = held.enter_context(_locked(folder / _LOCK, fcntl.LOCK_EX | fcntl.LOCK_NB))
                if lock is None:
                    raise ArchiveError(f"{folder}: another process is writing to this archive")
                if check_folder(folder) != SCHEMA_VERSION:
                    _write_version(folder)
                dataset = cls(folder, connection, lock)
                dataset._recover()
            temporary = folder / _TEMPORARY
            connection.execute(f"SET temp_directory = {quoted(temporary)}")
            try:
                with duckdb_errors_as(ArchiveError):
                    yield dataset
            finally:
                connection.close()
                shutil.rmtree(temporary, ignore_errors=True)

    # -- writing ------------------------------------------------------------------------------------------------------

    def write(self, name: str, tables: Mapping[str, TableData]) -> None:
        """Add rows, all of them or, if the process is killed, none; `name` is that of the files.

        Tables by year have a column `year`. A file of this name is replaced. Now and then small files are merged.
        Raises ArchiveError where the system cannot write, as do the other methods that write.
        """
        import numpy as np  # noqa: PLC0415 - slow to import

        from fibsbot.archive.columns import YEAR, count_rows, for_database  # noqa: PLC0415 - likewise

        written = []
        with _writing(self.folder):
            for table_name, data in tables.items():
                table = TABLES[table_name]
                if not count_rows(data):
                    continue
                self.connection.register("batch", for_database(data))
                try:
                    every = np.unique(data[YEAR]).tolist() if table.by_year else [None]
                    for year in every:
                        where = "" if year is None else f"WHERE {YEAR} = {year}"
                        target = self._folder_of(table, year) / f"{name}.parquet"
                        written.append(self._copy(table, f"SELECT {_casts(table)} FROM batch {where}", target))
                finally:
                    self.connection.unregister("batch")
            self._commit(written, [])
        self._batches += 1
        if self._batches % COMPACT_BATCHES == 0:
            self.compact()

    def compact(self, *, finish: bool = False) -> None:
        """Merge small files; with `finish` also where there are only a few of them."""
        with _writing(self.folder):
            for table in TABLES.values():
                for folder in self._partitions(table):
                    self._compact(table, folder, 2 if finish else SMALL_FILES)

    def _compact(self, table: TableSchema, folder: Path, least: int) -> None:
        groups: dict[str, list[Path]] = {}
        for path in sorted(folder.glob("*.parquet")):
            groups.setdefault(_group(path.stem), []).append(path)
        for group, files in groups.items():
            if len(files) < least:
                continue
            sized = [(path, self._count(path)) for path in files]
            small = [(path, rows) for path, rows in sized if rows < FILE_ROWS]
            while len(small) >= least:
                merged, rows = [], 0
                while small and rows < FILE_ROWS:
                    path, more = small.pop()
                    merged.append(path)
                    rows += more
                if len(merged) > 1:
                    self._merge(table, group, sorted(merged))

    def _merge(self, table: TableSchema, group: str, files: Sequence[Path]) -> None:
        """Replace files by one, unless somebody is reading them."""
        source = _read(self.connection, f"[{', '.join(map(quoted_path, files))}]", table)
        rows = f"SELECT {_casts(table)} FROM {source}"
        name = file_name(group, [path.stem for path in files])
        self.connection.execute(f"SET memory_limit = '{MERGE_MEMORY}'; SET threads = 1")
        try:
            written = self._copy(table, rows, files[0].with_name(f"{name}.parquet"))
        finally:
            self.connection.execute(f"SET memory_limit = '{MEMORY}'; RESET threads")
        with _locked(self.folder / _READERS, fcntl.LOCK_EX | fcntl.LOCK_NB) as alone:
            if alone is None:
                written.temporary.unlink()
            else:
                self._commit([written], files)

    def _copy(self, table: TableSchema, rows: str, target: Path) -> WrittenFile:
        temporary = target.with_name(f".{target.name}{_PART}")
        target.parent.mkdir(parents=True, exist_ok=True)
        metadata = f"KV_METADATA {{{_VERSION_KEY}: '{SCHEMA_VERSION}'}}"
        self.connection.execute(
            f"COPY ({rows} ORDER BY {table.order}) TO {quoted(temporary)} "
            f"({_ENCODINGS}, ROW_GROUP_SIZE {ROW_GROUP}, {metadata})"
        )
        write_to_disk(temporary)
        return WrittenFile(temporary, target)

    def _commit(self, written: Sequence[WrittenFile], removed: Sequence[Path]) -> None:
        """Rename and remove files as a whole."""
        if not written and not removed:
            return
        plan = {
            "rename": [[self._relative(file.temporary), self._relative(file.final)] for file in written],
            "remove": [self._relative(path) for path in removed],
        }
        with replacing(self.folder / _COMMIT) as part:
            part.write_text(json.dumps(plan))
        self._complete()

    def _complete(self) -> None:
        """Do what the list of a commit says, as far as it has not been done."""
        path = self.folder / _COMMIT
        try:
            plan = json.loads(path.read_text())
        except FileNotFoundError:
            return
        folders = set()
        for temporary, final in plan["rename"]:
            source, target = self.folder / temporary, self.folder / final
            if source.exists():
                source.replace(target)
            folders.add(target.parent)
        for name in plan["remove"]:
            (self.folder / name).unlink(missing_ok=True)
        for folder in folders:
            write_to_disk(folder)
        path.unlink()

    def _recover(self) -> None:
        """Complete the last commit of a process that was killed, and remove what it had begun besides."""
        self._complete()
        for table in TABLES.values():
            for part in (self.folder / table.name).glob(f"**/.*{_PART}"):
                part.unlink()

    # -- reading ------------------------------------------------------------------------------------------------------

    def values(self, query: str) -> Iterator[Any]:
        """Yield the values of a query for one column."""
        cursor = self.connection.execute(query)
        while rows := cursor.fetchmany(_FETCHED):
            for (value,) in rows:
                yield value

    def rows_from(self, table: TableSchema) -> str:
        """Return what to select from to read a table; one without files is empty."""
        return source_of(self.connection, self.folder, table)

    def _count(self, path: Path) -> int:
        (count,) = self.values(f"SELECT num_rows FROM parquet_file_metadata({quoted_path(path)})")
        return int(count)

    def _partitions(self, table: TableSchema) -> list[Path]:
        root = self.folder / table.name
        return sorted(root.glob("year=*")) if table.by_year else [root]

    def _folder_of(self, table: TableSchema, year: int | None) -> Path:
        root = self.folder / table.name
        return root if year is None else root / f"year={year}"

    def _relative(self, path: Path) -> str:
        return str(path.relative_to(self.folder))


def source_of(connection: DuckDBPyConnection, folder: Path, table: TableSchema) -> str:
    """Return what to select from to read a table of an archive; without files it has no rows.

    It has all columns, also those that no file has because a later version added them.
    """
    root = folder / table.name
    pattern = "year=*/*.parquet" if table.by_year else "*.parquet"
    if any(root.glob(pattern)):
        return _read(connection, quoted_path(root, pattern), table, with_year=table.by_year)
    columns = _nulls(table.columns)
    year = ", NULL::SMALLINT AS year" if table.by_year else ""
    return f"(SELECT {columns}{year} WHERE false)"


def _read(connection: DuckDBPyConnection, files: str, table: TableSchema, *, with_year: bool = False) -> str:
    """Return what to select from to read files, with all columns of the table."""
    hive = "hive_partitioning = true, hive_types = {'year': SMALLINT}" if with_year else "hive_partitioning = false"
    source = f"read_parquet({files}, union_by_name = true, {hive})"
    present = {name for name, *_ in connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
    if present >= set(table.column_names) and present.isdisjoint(RENAMED.values()):
        return source
    columns = [_from_files(column, present) for column in table.columns]
    if with_year:
        columns.append("year")
    return f"(SELECT {', '.join(columns)} FROM {source})"


def _from_files(column: Column, present: set[str]) -> str:
    """Return a column as the files have it: by its name, by its former one, or not at all."""
    names = [f'"{name}"' for name in (column.name, RENAMED.get(column.name)) if name in present]
    value = f"coalesce({', '.join(names)})" if names else f"NULL::{column.type}"
    return f'{value} AS "{column.name}"'


def _nulls(columns: Iterable[Column]) -> str:
    return ", ".join(f'NULL::{column.type} AS "{column.name}"' for column in columns)


def _casts(table: TableSchema) -> str:
    return ", ".join(f'"{column.name}"::{column.type} AS "{column.name}"' for column in table.columns)


def make_folder(folder: Path) -> None:
    """Make an archive's folder; raise ArchiveError if it is something else, or of another version."""
    _check_path(folder)
    with os_errors_as(ArchiveError, f"cannot make the archive {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / MARK).exists():
            if any(path for path in folder.iterdir() if path.name not in {_LOCK, _READERS}):
                raise ArchiveError(f"{folder}: expected an archive or an empty folder, got a folder without {MARK}")
            _write_version(folder)
    check_folder(folder)


def _check_path(folder: Path) -> None:
    """Raise ArchiveError for a path that DuckDB does not take."""
    try:
        str(folder.absolute()).encode()
    except UnicodeEncodeError:
        raise ArchiveError(f"expected a path in UTF-8 for an archive, got {folder}") from None


def _write_version(folder: Path) -> None:
    with replacing(folder / MARK) as part:
        part.write_text(json.dumps({_VERSION_KEY: SCHEMA_VERSION}) + "\n")


def check_folder(folder: Path) -> int:
    """Return the version of an archive; raise ArchiveError if a folder is none, or one of an unknown version."""
    _check_path(folder)
    try:
        found = read_json((folder / MARK).read_bytes())[_VERSION_KEY]
    except FileNotFoundError:
        raise ArchiveError(f"{folder}: expected an archive, found none; `fibsbot archive add` makes one") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise ArchiveError(f"{folder / MARK}: expected the version of an archive") from None
    if type(found) is not int or found not in VERSIONS:
        raise ArchiveError(f"{folder}: expected an archive of version 1 to {SCHEMA_VERSION}, got version {found}")
    return int(found)


@contextlib.contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Keep files from being merged meanwhile; new ones may appear.

    Where the lock cannot be made, the archive is read without it: this user, or everybody, may only read the folder, or
    the disk is full.
    """
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError):
            held.enter_context(_locked(folder / _READERS, fcntl.LOCK_SH))
        yield


def _writing(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Raise ArchiveError where the system cannot write to an archive, as on a full disk."""
    return os_errors_as(ArchiveError, f"cannot write to the archive {folder}")


@contextlib.contextmanager
def _locked(path: Path, kind: int) -> Iterator[IO[bytes] | None]:
    """Yield the locked file; None if it was to be locked at once and is not free."""
    with path.open("ab") as file:
        try:
            fcntl.flock(file, kind)
        except BlockingIOError:
            yield None
            return
        yield file
