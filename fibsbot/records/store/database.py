"""Opens the store's database, given by a path or a URL, on SQLite and on PostgreSQL."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sqlite3
import time
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, NullPool, QueuePool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from fibsbot.files import at_home, private_database
from fibsbot.text import one_line

BUSY_TIMEOUT: Final = 5.0
"""Seconds that SQLite waits for another process to finish writing."""
CONNECT_TIMEOUT: Final = 5
"""Seconds that a PostgreSQL server may take to answer a connection."""
DEAD_AFTER: Final = 30
"""Seconds without a sign of life after which a connection to PostgreSQL counts as dead."""


class StoreError(Exception):
    """The store cannot be used as it is; the text is one line, says why, and shows no password."""


class MissingPsycopgError(StoreError):
    """A store on PostgreSQL, and the extra for it is not installed."""


def database_url(where: str | Path) -> URL:
    """Return the database's URL; a path means SQLite. Raises StoreError if it cannot be used."""
    if isinstance(where, Path) or "://" not in where:
        path = at_home(where)
        if not path.name:
            raise StoreError(f"expected a file or a URL for the store, got {str(where)!r}")
        return URL.create("sqlite", database=str(path))
    try:
        url = make_url(where)
    except (ArgumentError, ValueError):
        # The text is not shown, because it may contain a password.
        raise StoreError("expected a URL such as postgresql://host/name for the store, got something else") from None
    kind = url.drivername.partition("+")[0]
    if kind == "sqlite" and url.database and url.database != ":memory:":
        return URL.create("sqlite", database=str(at_home(url.database)))
    if kind in {"postgresql", "postgres"}:
        if importlib.util.find_spec("psycopg") is None:
            raise MissingPsycopgError("a store on PostgreSQL needs the extra: pip install 'fibsbot[postgresql]'")
        return url.set(drivername="postgresql+psycopg")
    raise StoreError(f"expected a store on SQLite (a file) or PostgreSQL, got {_without_secrets(url)}")


def public_url(url: URL) -> str:
    """Return the path or URL of a store without its password, for messages."""
    return str(url.database) if is_sqlite(url) else _without_secrets(url)


def _without_secrets(url: URL) -> str:
    plain = url.difference_update_query(["password", "sslpassword"])
    kind, host = plain.drivername.partition("+")[0], plain.host
    named = URL.create(kind, plain.username, host=host, port=plain.port, database=plain.database, query=plain.query)
    return named.render_as_string()


def is_sqlite(url: URL) -> bool:
    """Whether the store is an SQLite file."""
    return url.drivername == "sqlite"


def open_engine(url: URL, *, writing: bool = False) -> Engine:
    """Return an engine, which opens nothing yet. Only an engine for writing creates a missing file.

    An engine for reading from a server keeps its connections for reuse until it is disposed of.
    """
    return _sqlite(Path(str(url.database)), writing=writing) if is_sqlite(url) else _postgresql(url, writing=writing)


def sqlite_uri(path: Path, mode: str) -> str:
    """Return the SQLite URI of a file; mode `rwc` creates a missing file, `rw` does not."""
    return f"file:{quote(os.fsencode(path))}?mode={mode}"


def _reading_mode(path: Path) -> str:
    """Return how to open a file that is only read.

    A store with a write-ahead log has further files beside it while it is open; SQLite makes them also to read it. On a
    file system that is read-only it cannot, and where no log is left nothing is missing. The log of a link is beside
    the file that it points to.
    """
    with contextlib.suppress(OSError):
        file = path.resolve()
        log = file.with_name(f"{file.name}-wal")
        if os.statvfs(path).f_flag & os.ST_RDONLY and not (log.exists() and log.stat().st_size):
            return "ro&immutable=1"
    return "rw"


def _sqlite(path: Path, *, writing: bool) -> Engine:
    def connect() -> sqlite3.Connection:
        # With isolation_level None the module begins no transactions itself; the BEGIN below covers DDL, too.
        uri = sqlite_uri(path, "rwc" if writing else _reading_mode(path))
        with private_database(path) if writing else contextlib.nullcontext():
            opened = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
            try:
                _set_up(opened, writing=writing)
            except BaseException:
                opened.close()
                raise
        return opened

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer takes the lock at the start: a conflict found in the middle of a transaction would be an error.
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def _set_up(opened: sqlite3.Connection, *, writing: bool) -> None:
    opened.execute("PRAGMA foreign_keys = ON")
    opened.execute("PRAGMA temp_store = MEMORY")
    if writing:
        _write_ahead(opened)
        # NORMAL: a commit is passed to the operating system, so a killed process loses nothing. StoreWriter chooses
        # for each transaction whether it also waits for the disk.
        opened.execute("PRAGMA synchronous = NORMAL")


def _write_ahead(opened: sqlite3.Connection) -> None:
    """Switch to a write-ahead log, waiting while another process does the same, because SQLite does not wait."""
    end = time.monotonic() + BUSY_TIMEOUT
    while True:
        try:
            opened.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


def _postgresql(url: URL, *, writing: bool) -> Engine:
    wanted: dict[str, Any] = {
        "connect_timeout": CONNECT_TIMEOUT,
        "application_name": "fibsbot",
        "keepalives_idle": DEAD_AFTER,
        "keepalives_interval": DEAD_AFTER // 3,
        "keepalives_count": 3,
        "tcp_user_timeout": DEAD_AFTER * 1000,
    }
    arguments = {name: value for name, value in wanted.items() if name not in url.query}
    pool = NullPool if writing else QueuePool
    return create_engine(url, poolclass=pool, pool_pre_ping=not writing, connect_args=arguments)


def database_error_text(error: BaseException) -> str:
    """Return the database's own error message in one line."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return one_line(cause)


def reading_error_text(error: DBAPIError) -> str:
    """Return why a store cannot be read, in one line."""
    text = database_error_text(error)
    if getattr(error.orig, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}:
        text += "; expected a file that this user can read, in a folder where SQLite can keep other files beside it"
    return text


def is_hopeless(error: DBAPIError) -> bool:
    """Whether retrying cannot help: the file is no database, is damaged, or cannot be opened by this user."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    return code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CORRUPT)
