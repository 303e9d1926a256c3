"""From an older schema to the one that this program knows: one step a version, each in a transaction of its own.

The steps are our own few lines instead of Alembic, which would bring a folder of scripts, a configuration file and a
command line of its own for what is a list of functions here: there is one line of versions and no way back.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from sqlalchemy import Connection, Engine, func, insert, inspect, select, text
from sqlalchemy.exc import DBAPIError

from fibsbot import __version__
from fibsbot.records.store import schema
from fibsbot.records.store.database import StoreError, is_sqlite, locate, open_engine, reason, shown

Step: TypeAlias = Callable[[Connection], None]


def _to_2(connection: Connection) -> None:
    """Tell decisions apart better, let a writer find out what it has written, and find quickly in years to come."""
    time = "TIMESTAMP WITH TIME ZONE" if connection.dialect.name == "postgresql" else "VARCHAR(32)"
    connection.execute(text("ALTER TABLE decisions ADD COLUMN offer INTEGER"))
    connection.execute(text("ALTER TABLE decisions ADD COLUMN refused TEXT"))
    for table, columns in {"matches": ("account_id", "experience_after"), "ratings": ("account_id", "id")}.items():
        name = f"ix_{table}_{'_'.join(columns)}"
        connection.execute(text(f"CREATE INDEX {name} ON {table} ({', '.join(columns)})"))
    connection.execute(
        text(
            "CREATE TABLE writers (id TEXT NOT NULL, host TEXT NOT NULL, process INTEGER NOT NULL,"
            f" program TEXT NOT NULL, started {time} NOT NULL, seen {time} NOT NULL, sequence BIGINT NOT NULL,"
            " CONSTRAINT pk_writers PRIMARY KEY (id))"
        )
    )


def _to_3(connection: Connection) -> None:
    """Have room for whole games: what both players did, and where a game stood when it was first seen."""
    postgresql = connection.dialect.name == "postgresql"
    time = "TIMESTAMP WITH TIME ZONE" if postgresql else "VARCHAR(32)"
    double = "DOUBLE PRECISION" if postgresql else "DOUBLE"
    key, number = ("BIGSERIAL", "BIGINT") if postgresql else ("INTEGER", "INTEGER")
    for column in (f"opponent_rating {double}", "opponent_experience BIGINT", "site TEXT"):
        connection.execute(text(f"ALTER TABLE matches ADD COLUMN {column}"))
    connection.execute(
        text(
            f"CREATE TABLE sheets (id {key} NOT NULL, game_id {number} NOT NULL, key TEXT NOT NULL,"
            f" sitting INTEGER NOT NULL, at {time} NOT NULL, state TEXT NOT NULL,"
            " CONSTRAINT pk_sheets PRIMARY KEY (id), CONSTRAINT uq_sheets_key UNIQUE (key),"
            " CONSTRAINT fk_sheets_game_id FOREIGN KEY (game_id) REFERENCES games (id) ON DELETE CASCADE)"
        )
    )
    connection.execute(text("CREATE INDEX ix_sheets_game_id ON sheets (game_id)"))
    connection.execute(
        text(
            f"CREATE TABLE entries (id {key} NOT NULL, sheet_id {number} NOT NULL, number INTEGER NOT NULL,"
            f" at {time} NOT NULL, kind TEXT NOT NULL, own BOOLEAN, dice TEXT, play TEXT, level INTEGER,"
            f" accepted BOOLEAN, equity {double}, seconds {double}, rebuilt BOOLEAN NOT NULL, reason TEXT, state TEXT,"
            " CONSTRAINT pk_entries PRIMARY KEY (id), CONSTRAINT uq_entries_sheet_id_number UNIQUE (sheet_id, number),"
            " CONSTRAINT ck_entries_kind"
            " CHECK (kind IN ('throw', 'double', 'take', 'pass', 'beaver', 'resign', 'gap')),"
            " CONSTRAINT fk_entries_sheet_id FOREIGN KEY (sheet_id) REFERENCES sheets (id) ON DELETE CASCADE)"
        )
    )


def _to_4(connection: Connection) -> None:
    """Have room for what servers lack of what FIBS does."""
    postgresql = connection.dialect.name == "postgresql"
    time, key = ("TIMESTAMP WITH TIME ZONE", "BIGSERIAL") if postgresql else ("VARCHAR(32)", "INTEGER")
    connection.execute(
        text(
            f"CREATE TABLE server_features (id {key} NOT NULL, server TEXT NOT NULL, feature TEXT NOT NULL,"
            f" lacking BOOLEAN NOT NULL, at {time} NOT NULL, CONSTRAINT pk_server_features PRIMARY KEY (id),"
            " CONSTRAINT uq_server_features_server_feature UNIQUE (server, feature))"
        )
    )


STEPS: Final[Mapping[int, Step]] = {2: _to_2, 3: _to_3, 4: _to_4}
"""What makes each version from the one before. A step says everything itself: the tables of schema.py go on."""

_LOCK: Final = 0x46494253
"""Whoever makes or changes the tables on PostgreSQL holds this advisory lock."""


def version_of(connection: Connection) -> int:
    """Return the schema's version, 0 for an empty database.

    Raises StoreError for the database of another program, and for a version that this program does not know.
    """
    known = set(inspect(connection).get_table_names())
    if schema.STORE_VERSION.name not in known:
        # On PostgreSQL other programs may have their tables beside ours, as long as they are called otherwise.
        foreign = known if connection.dialect.name == "sqlite" else known & set(schema.METADATA.tables)
        if foreign:
            raise StoreError(f"this is the database of another program: it has a table {min(foreign)!r}")
        return 0
    version = connection.scalar(select(func.max(schema.STORE_VERSION.c.version))) or 0
    if version > schema.VERSION:
        raise StoreError(f"the store has schema version {version}; this program knows versions up to {schema.VERSION}")
    return version


def upgrade(where: str | Path) -> tuple[int, int]:
    """Bring a store that is there up to date; return its schema's version before and after. Raises StoreError."""
    url = locate(where)
    if is_sqlite(url) and not Path(str(url.database)).is_file():
        raise StoreError(f"there is no store {shown(url)}")
    engine = open_engine(url, writing=True)
    try:
        with engine.begin() as connection:
            before = version_of(connection)
        prepare(engine)
    except DBAPIError as error:
        raise StoreError(f"cannot use the store {shown(url)}: {reason(error)}") from None
    return before, schema.VERSION


def prepare(engine: Engine) -> None:
    """Make the tables, or bring them up to date. Several processes may do so at once."""
    while _advance(engine) < schema.VERSION:
        pass


def _advance(engine: Engine) -> int:
    """Do the next step; return the version after it."""
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        version = version_of(connection)
        if version == schema.VERSION:
            return version
        if version == 0:
            schema.METADATA.create_all(connection, checkfirst=False)
            version = schema.VERSION
        else:
            version += 1
            STEPS[version](connection)
        row = {"version": version, "applied": dt.datetime.now(dt.UTC), "program": __version__}
        connection.execute(insert(schema.STORE_VERSION), row)
        return version
