"""An archive that is read: views of its tables, and questions in SQL that can see nothing else.

from fibsbot.archive import open_archive

with open_archive("archive") as archive:
    table = archive.query("SELECT player, count(*) FROM players GROUP BY 1").pl()
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from fibsbot.archive.dataset import (
    ArchiveError,
    check_folder,
    connect,
    duckdb_errors_as,
    quoted,
    quoted_path,
    reading,
    source_of,
)
from fibsbot.archive.schema import TABLES
from fibsbot.files import os_errors_as

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

DEFAULT_FOLDER: Final = "archive"
"""The folder of an archive where none is named."""
FETCHED: Final = 10_000
"""Rows that are fetched at once."""
_UNKNOWN_TABLE: Final = re.compile(r"(?:Catalog Error: )?Table with name \"?(.+?)\"? does not exist")


class QueryError(Exception):
    """A question that cannot be answered; the text says why, in one line."""


@contextlib.contextmanager
def _query_errors() -> Iterator[None]:
    """Turn an error of DuckDB into a QueryError; where DuckDB would propose a table of its own, name the views."""
    try:
        with duckdb_errors_as(QueryError):
            yield
    except QueryError as error:
        if unknown := _UNKNOWN_TABLE.match(str(error)):
            raise QueryError(f"expected one of the views {', '.join(TABLES)}, got {unknown[1]!r}") from None
        raise


class Archive:
    """An archive that is open for reading. Made by `open_archive`; closed by `close`, or as a context manager."""

    def __init__(self, folder: Path, held: contextlib.ExitStack, connection: DuckDBPyConnection) -> None:
        self.folder = folder
        self._held = held
        self._connection = connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the archive; relations that were returned can no longer be used."""
        self._held.close()

    def query(self, sql: str) -> DuckDBPyRelation:
        """Return the answer to a question as a relation of DuckDB.

        The relation is computed when its rows are asked for, by `fetchall()`, `pl()` (polars), `df()` (pandas) or
        `to_arrow_table()`, each of which needs that library. Only one SELECT is allowed, and only the archive can be
        read. Raises QueryError.
        """
        with _query_errors():
            return self._connection.sql(self._checked(sql))

    def stream(self, sql: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        """Return the names of the columns and the rows of a question, which need not fit into memory.

        Allows what `query` allows. Raises QueryError, also while the rows are fetched.
        """
        with _query_errors():
            cursor = self._connection.execute(self._checked(sql))
            return [column[0] for column in cursor.description], self._fetched(cursor)

    @staticmethod
    def _fetched(cursor: DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
        with _query_errors():
            while rows := cursor.fetchmany(FETCHED):
                yield from rows

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a question with parameters, `?` in the text. Raises QueryError."""
        with _query_errors():
            return self._connection.execute(sql, list(parameters)).fetchall()

    def _checked(self, sql: str) -> str:
        """Return the text of a question; raise QueryError if it is not one SELECT."""
        import duckdb  # noqa: PLC0415 - an optional extra

        statements = self._connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise QueryError(f"expected one SELECT, got {sql.strip()[:60]!r}")
        return statements[0].query


def open_archive(folder: str | Path = DEFAULT_FOLDER) -> Archive:
    """Open an archive for reading; it may be written to meanwhile, but its files are not merged.

    The views are matches, games, decisions, players, sources and judgements; docs/how-to/archive.md describes them.
    Raises ArchiveError if there is no archive or a file of it cannot be read, or if DuckDB is not installed.
    """
    path = Path(folder).absolute()
    check_folder(path)
    with contextlib.ExitStack() as held:
        connection = held.enter_context(contextlib.closing(connect()))
        held.enter_context(reading(path))
        with os_errors_as(ArchiveError, "cannot make a temporary folder"):
            temporary = held.enter_context(tempfile.TemporaryDirectory(prefix="fibsbot-archive-"))
        with duckdb_errors_as(ArchiveError):
            for table in TABLES.values():
                connection.execute(f"CREATE VIEW {table.name} AS SELECT * FROM {source_of(connection, path, table)}")
        connection.execute(  # what is read is compared with the allowed folders before DuckDB looks for files
            f"SET temp_directory = {quoted(temporary)};"
            f"SET allowed_directories = [{quoted(path)}, {quoted_path(path)}, {quoted(temporary)}];"
            "SET python_enable_replacements = false; SET enable_external_access = false;"
            "SET lock_configuration = true"
        )
        return Archive(path, held.pop_all(), connection)
    raise ArchiveError(f"{path} cannot be opened")  # for the type checker: an ExitStack may suppress errors
