"""Maintenance of a match store for `fibsbot db`: integrity check, backup, copy and export."""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import itertools
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

from attrs import frozen
from sqlalchemy import (
    ColumnElement,
    Connection,
    Inspector,
    MetaData,
    Select,
    Table,
    and_,
    case,
    func,
    insert,
    inspect,
    or_,
    select,
    text,
)
from sqlalchemy.engine.interfaces import ReflectedColumn
from sqlalchemy.event import listens_for
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import NullType

from fibsbot.files import make_private, replacing
from fibsbot.records.store.database import (
    BUSY_TIMEOUT,
    StoreError,
    database_error_text,
    database_url,
    is_hopeless,
    is_sqlite,
    open_engine,
    public_url,
    sqlite_uri,
)
from fibsbot.records.store.reader import CHUNK, Store
from fibsbot.records.store.schema import (
    ACCOUNT_LEASES,
    ACCOUNTS,
    DECISIONS,
    GAMES,
    MATCHES,
    METADATA,
    OLDEST_VERSION,
    OPPONENTS,
    SHARING_PROCESSES,
    STORE_VERSION,
    VERSION,
    WRITERS,
    check_version,
    prepare,
    tables_of,
    version_of,
)
from fibsbot.records.stored_rows import CHOUETTE, OPEN, MatchOutcome
from fibsbot.text import one_line

MAX_PER_KIND: Final = 20
"""Maximum number of problems of one kind that are listed."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of steps done, and with their total."""
Query: TypeAlias = "Select[*tuple[Any, ...]]"


def check_usable(where: str | Path) -> None:
    """Raise StoreError for a place, or a file there, that StoreWriter would refuse; nothing is written or created.

    No server is asked: one that does not answer now may do so later.
    """
    url = database_url(where)
    if not is_sqlite(url) or not Path(str(url.database)).exists():
        return
    try:
        with open_engine(url).begin() as connection:
            if version := version_of(connection):
                check_version(version, "it")
    except (DBAPIError, StoreError) as error:
        if isinstance(error, StoreError) or is_hopeless(error):
            raise StoreError(f"{public_url(url)}: {database_error_text(error)}") from None


@frozen
class IntegrityReport:
    """The result of an integrity check."""

    version: int
    """Of the schema."""
    counts: Mapping[str, int]
    """Rows by table."""
    problems: tuple[str, ...]
    """One sentence each."""
    contradictions: tuple[str, ...]
    """What a server has reported although it cannot all be true: recorded as it came, and no damage."""


def check_integrity(store: Store, progress: Progress = lambda _done, _total: None) -> IntegrityReport:
    """Check the file and all rows. Raises StoreError if the database cannot be read at all."""
    tables = tables_of(store.version)
    problems: list[str] = []
    contradictions: list[str] = []
    steps = itertools.count(1)
    with store.reading() as connection:
        checks = [*(_FILE_CHECKS if connection.dialect.name == "sqlite" else ()), *_ROW_CHECKS, *_REPORT_CHECKS]
        total = len(checks) + len(tables)
        for check in checks:
            found = list(itertools.islice(check(connection), MAX_PER_KIND + 1))
            sentences = contradictions if check in _REPORT_CHECKS else problems
            sentences += found[:MAX_PER_KIND]
            if len(found) > MAX_PER_KIND:
                sentences.append("and more of this kind")
            progress(next(steps), total)
        counts = {}
        for table in tables:
            counts[table.name] = connection.scalar(select(func.count()).select_from(table)) or 0
            progress(next(steps), total)
    return IntegrityReport(store.version, counts, tuple(problems), tuple(contradictions))


# -- the file -----------------------------------------------------------------------------------------------------


def _integrity(connection: Connection) -> Iterator[str]:
    for (said,) in connection.execute(text("PRAGMA integrity_check")):
        if said != "ok":
            yield f"the file is damaged: {one_line(said)}"


def _references(connection: Connection) -> Iterator[str]:
    for table, row, other, _ in connection.execute(text("PRAGMA foreign_key_check")):
        yield f"row {row} of {table} belongs to a row of {other} that is not there"


_FILE_CHECKS: Final = (_integrity, _references)


# -- the rows -----------------------------------------------------------------------------------------------------


def _rule(sentence: str, query: Query) -> Callable[[Connection], Iterator[str]]:
    """Return a check that yields the sentence for each row of a query, filled with the row's values."""

    def check(connection: Connection) -> Iterator[str]:
        for row in connection.execute(query.limit(MAX_PER_KIND + 1)).mappings():
            yield sentence.format(**row)

    return check


def _named(*columns: ColumnElement[Any]) -> Query:
    """Return a query for matches with their players."""
    query = select(MATCHES.c.id, ACCOUNTS.c.name.label("account"), OPPONENTS.c.name.label("opponent"), *columns)
    query = query.select_from(MATCHES.join(ACCOUNTS, MATCHES.c.account_id == ACCOUNTS.c.id))
    return query.join(OPPONENTS, MATCHES.c.opponent_id == OPPONENTS.c.id).order_by(MATCHES.c.id)


def _points(*, won: bool) -> ColumnElement[int]:
    """Return the points of all games of a match that one side has won, at most the length of the match."""
    total = select(func.coalesce(func.sum(GAMES.c.points), 0)).where(GAMES.c.match_id == MATCHES.c.id)
    return _capped(total.where(GAMES.c.won.is_(won)).scalar_subquery())


def _capped(points: ColumnElement[int]) -> ColumnElement[int]:
    """Return points limited to the length of the match."""
    limited = and_(MATCHES.c.length > 0, points > MATCHES.c.length)
    return case((limited, MATCHES.c.length), else_=points)


_MATCH: Final = "match {id} of {account} against {opponent}"
_IS_OPEN: Final = MATCHES.c.outcome.in_([outcome.value for outcome in OPEN])
_OPEN_GAMES: Final = (
    select(func.count())
    .select_from(GAMES)
    .where(GAMES.c.match_id == MATCHES.c.id, GAMES.c.ended.is_(None))
    .scalar_subquery()
)
_GAME_WITHOUT_WINNERS: Final = (
    select(func.count()).select_from(GAMES).where(GAMES.c.match_id == MATCHES.c.id, GAMES.c.points.is_(None))
).scalar_subquery()
_GAMES: Final = select(func.count()).select_from(GAMES).where(GAMES.c.match_id == MATCHES.c.id).scalar_subquery()
_LAST_GAME: Final = select(func.max(GAMES.c.number)).where(GAMES.c.match_id == MATCHES.c.id).scalar_subquery()
_SEEN_END: Final = and_(MATCHES.c.ended.is_not(None), MATCHES.c.inferred.is_(False), MATCHES.c.own_score.is_not(None))
_LOSING_LIMIT: Final = MATCHES.c.opponent_score + case((MATCHES.c.game == CHOUETTE, 1), else_=0)
"""The score from which a match cannot be lost: the box of a chouette may break even."""
_OURS: Final = _points(won=True)
_THEIRS: Final = _points(won=False)
_OWN: Final = _capped(MATCHES.c.own_score)
_OTHER: Final = _capped(MATCHES.c.opponent_score)
_KEY: Final = ("game_id", "sitting", "turn", "phase", "offer", "xgid", "dice")

_ROW_CHECKS: Final = (
    _rule(
        f"{_MATCH} is {{outcome}}, but has an end",
        _named(MATCHES.c.outcome).where(_IS_OPEN, MATCHES.c.ended.is_not(None)),
    ),
    _rule(
        f"{_MATCH} is {{outcome}}, but has no end",
        _named(MATCHES.c.outcome).where(~_IS_OPEN, MATCHES.c.ended.is_(None)),
    ),
    _rule(
        f"{_MATCH} has ended, but {{games}} of its games have not",
        _named(_OPEN_GAMES.label("games")).where(MATCHES.c.ended.is_not(None), _OPEN_GAMES > 0),
    ),
    _rule(
        f"{_MATCH} has {{games}} games that have not ended", _named(_OPEN_GAMES.label("games")).where(_OPEN_GAMES > 1)
    ),
    _rule(
        f"{_MATCH} has {{games}} games, but the last one is number {{last}}",
        _named(_GAMES.label("games"), _LAST_GAME.label("last")).where(_GAMES != _LAST_GAME),
    ),
    _rule(
        f"{_MATCH} belongs to another account than the opponent",
        _named().where(MATCHES.c.account_id != OPPONENTS.c.account_id),
    ),
    _rule(
        "{account} plays {matches} matches at once",
        select(ACCOUNTS.c.name.label("account"), func.count().label("matches"))
        .select_from(MATCHES.join(ACCOUNTS, MATCHES.c.account_id == ACCOUNTS.c.id))
        .where(MATCHES.c.outcome == MatchOutcome.PLAYING.value)
        .group_by(ACCOUNTS.c.name)
        .having(func.count() > 1)
        .order_by(ACCOUNTS.c.name),
    ),
    _rule(
        "{account} has {matches} unfinished matches with {opponent}, and a server keeps only one",
        select(ACCOUNTS.c.name.label("account"), OPPONENTS.c.name.label("opponent"), func.count().label("matches"))
        .select_from(MATCHES.join(ACCOUNTS, MATCHES.c.account_id == ACCOUNTS.c.id))
        .join(OPPONENTS, MATCHES.c.opponent_id == OPPONENTS.c.id)
        .where(_IS_OPEN)
        .group_by(ACCOUNTS.c.name, OPPONENTS.c.name)
        .having(func.count() > 1)
        .order_by(ACCOUNTS.c.name, OPPONENTS.c.name),
    ),
    _rule(
        # A player may repeat a rejected offer to resign on the same turn; the rows do not distinguish the two.
        "game {game_id}, turn {turn}: {answers} answers to one {phase} decision",
        select(DECISIONS.c.game_id, DECISIONS.c.turn, DECISIONS.c.phase, func.count().label("answers"))
        .where(DECISIONS.c.refused.is_(None), ~and_(DECISIONS.c.phase == "resigned", DECISIONS.c.answer == "reject"))
        .group_by(*(DECISIONS.c[name] for name in _KEY))
        .having(func.count() > 1)
        .order_by(func.min(DECISIONS.c.id)),
    ),
)

_REPORT_CHECKS: Final = (
    _rule(
        f"{_MATCH} ended {{own_score}}-{{opponent_score}}, but is {{outcome}}",
        _named(MATCHES.c.own_score, MATCHES.c.opponent_score, MATCHES.c.outcome).where(
            _SEEN_END,
            or_(
                and_(MATCHES.c.outcome == MatchOutcome.WON.value, MATCHES.c.own_score <= MATCHES.c.opponent_score),
                and_(MATCHES.c.outcome == MatchOutcome.LOST.value, MATCHES.c.own_score >= _LOSING_LIMIT),
            ),
        ),
    ),
    _rule(
        # Points scored before the store existed, or while we were away, are in no game: the sum may be lower.
        f"{_MATCH} has the score {{own_score}}-{{opponent_score}}, but its games come to {{ours}}-{{theirs}}",
        _named(MATCHES.c.own_score, MATCHES.c.opponent_score, _OURS.label("ours"), _THEIRS.label("theirs")).where(
            MATCHES.c.own_score.is_not(None),
            or_(
                _OURS > _OWN,
                _THEIRS > _OTHER,
                and_(
                    MATCHES.c.resumed == 0,
                    MATCHES.c.outcome.in_([MatchOutcome.WON.value, MatchOutcome.LOST.value]),
                    MATCHES.c.inferred.is_(False),
                    _GAME_WITHOUT_WINNERS == 0,
                    or_(_OURS != _OWN, _THEIRS != _OTHER),
                ),
            ),
        ),
    ),
)


PAGES: Final = 2000
"""Number of pages copied at a time."""


def _quiet(_done: int, _total: int) -> None:
    pass


def backup_store(where: str | Path, target: Path, progress: Progress = _quiet) -> None:
    """Copy a store on SQLite as it is at this moment, and check the copy; an existing target is replaced.

    The copy is a single file, which a bot can use as its store. Raises StoreError if it cannot be made, or if another
    program uses the target; an existing target then has the same contents, and no partial copy remains.
    """
    url = database_url(where)
    if not is_sqlite(url):
        raise StoreError(
            f"a store on PostgreSQL is backed up with its own tool: pg_dump -Fc -f {target} {public_url(url)}"
        )
    source = Path(str(url.database))
    if not source.is_file():
        raise StoreError(f"there is no store {source}")
    try:
        with replacing(target) as part:
            _copy(source, part, progress)
            _empty_journals(target)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"cannot back up {source} to {target}: {_error_text(error)}") from None


def _empty_journals(target: Path) -> None:
    """Have SQLite write its `-wal` and `-journal` into the old database: left there, they would go into the new one.

    Raises StoreError if another program uses the database, or if such a file remains.
    """
    if target.exists():
        try:
            with contextlib.closing(sqlite3.connect(sqlite_uri(target, "rw"), uri=True, timeout=0)) as old:
                old.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.OperationalError as error:
            raise StoreError(f"cannot replace {target}, which a program may be using: {_error_text(error)}") from None
        except sqlite3.DatabaseError:
            pass  # it is no database
    left = [path for kind in ("-wal", "-journal") if (path := target.with_name(f"{target.name}{kind}")).exists()]
    if left:
        names = " and ".join(map(str, left))
        raise StoreError(f"{names} would be written into the copy: remove it if no program uses {target}")


def _copy(source: Path, target: Path, progress: Progress) -> None:
    make_private(target)
    uri = sqlite_uri(source, "rw")
    with (
        contextlib.closing(sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT, isolation_level=None)) as opened,
        contextlib.closing(sqlite3.connect(target, isolation_level=None)) as copy,
    ):
        # Within one transaction the copy is a snapshot; without it SQLite would restart whenever a bot writes.
        opened.execute("BEGIN")
        opened.execute("SELECT count(*) FROM sqlite_master").fetchone()
        opened.backup(copy, pages=PAGES, progress=lambda _, left, total: progress(total - left, total))
        opened.execute("ROLLBACK")
        copy.execute("PRAGMA journal_mode = DELETE")
        (said,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        if said != "ok":
            raise sqlite3.DatabaseError(f"the copy is damaged: {said}")


# -- rows as text -------------------------------------------------------------------------------------------------


def stored_tables(store: Store) -> Sequence[Table]:
    """Return the tables of a store, those that others refer to first.

    Those of a version that this program does not read are as the database says, with values as they are stored; on a
    server, where other programs may have tables, too, they are those whose names this version knows.
    """
    if OLDEST_VERSION <= store.version <= VERSION:
        return tables_of(store.version)
    found = MetaData()

    @listens_for(found, "column_reflect")
    def _leave_values(_inspector: Inspector, _table: Table, column: ReflectedColumn) -> None:
        column["type"] = NullType()

    with store.reading() as connection:
        own = None if is_sqlite(store.url) else [*(METADATA.tables.keys() & set(inspect(connection).get_table_names()))]
        found.reflect(connection, only=own)
    return found.sorted_tables


def export_rows(store: Store, progress: Progress = _quiet) -> Iterator[tuple[Table, Mapping[str, Any]]]:
    """Yield every row of the store as JSON values, in a stable order, all from one snapshot."""
    tables = stored_tables(store)
    with store.reading() as connection:
        total = sum(connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables)
        done = 0
        for table in tables:
            query = select(table).order_by(*table.primary_key.columns)
            with connection.execution_options(yield_per=CHUNK).execute(query) as result:
                for row in result.mappings():
                    yield table, {name: _json_value(value) for name, value in row.items()}
                    done += 1
                    if done % CHUNK == 0:
                        progress(done, total)
        progress(done, total)


def write_jsonl(store: Store, file: IO[str], progress: Progress = _quiet) -> None:
    """Write one JSON object per row, with the table's name as `table`."""
    for table, row in export_rows(store, progress):
        file.write(json.dumps({"table": table.name, **row}, ensure_ascii=False) + "\n")


def write_csv(store: Store, folder: Path, progress: Progress = _quiet) -> None:
    """Write one file per table into an existing directory, with the columns' names in the first line."""
    with contextlib.ExitStack() as stack:
        writers = {}
        for table in stored_tables(store):
            path = folder / f"{table.name}.csv"
            make_private(path)
            file = stack.enter_context(path.open("w", encoding="utf-8", newline=""))
            writers[table.name] = csv.DictWriter(file, [column.name for column in table.columns])
            writers[table.name].writeheader()
        for table, row in export_rows(store, progress):
            writers[table.name].writerow(row)


def export_store(store: Store, target: Path, *, as_csv: bool, progress: Progress = _quiet) -> None:
    """Write all rows into a file, or for CSV into a directory, which must not exist. No partial output remains.

    Raises StoreError.
    """
    try:
        with replacing(target) as part:
            if as_csv:
                part.mkdir(mode=0o700)
                write_csv(store, part, progress)
            else:
                make_private(part)
                with part.open("w", encoding="utf-8") as file:
                    write_jsonl(store, file, progress)
    except OSError as error:
        raise StoreError(f"cannot write {target}: {_error_text(error)}") from None


_OF_PROCESSES: Final = {STORE_VERSION.name, WRITERS.name, SHARING_PROCESSES.name, ACCOUNT_LEASES.name}
"""Tables that a new store has of itself, and those about processes that write into the old one."""


def copy_rows(store: Store, where: str | Path, progress: Progress = _quiet) -> int:
    """Copy what bots have recorded into an empty store, also one on the other database; return the number of rows.

    The rows are all from one snapshot, and appear all at once. Raises StoreError if the place cannot be written or has
    rows; it has the same rows as before then.
    """
    url = database_url(where)
    with store.reading() as source:
        try:
            with open_engine(url, writing=True).connect() as target:
                prepare(target)
                with target.begin():
                    return _insert_rows(source, target, tables_of(store.version), progress)
        except (DBAPIError, StoreError) as error:
            said = f"cannot copy {public_url(store.url)} to {public_url(url)}: {database_error_text(error)}"
            raise StoreError(said) from None


def _insert_rows(source: Connection, target: Connection, known: Sequence[Table], progress: Progress) -> int:
    """Insert the rows of the tables that the source has into the target, which has all."""
    tables, every = (
        [table for table in some if table.name not in _OF_PROCESSES] for some in (known, METADATA.sorted_tables)
    )
    total, present = (
        sum(connection.scalar(_count(table)) or 0 for table in there)
        for connection, there in ((source, tables), (target, every))
    )
    if present:
        raise StoreError("it is not empty")
    rows = 0
    for table in tables:
        query = select(table).order_by(*table.primary_key.columns)
        with source.execution_options(yield_per=CHUNK).execute(query) as result:
            for part in result.mappings().partitions():
                target.execute(insert(table), [dict(row) for row in part])
                progress(rows := rows + len(part), total)
        _set_sequence(target, table)
    return rows


def _count(table: Table) -> Select[int]:
    return select(func.count()).select_from(table)


def _set_sequence(connection: Connection, table: Table) -> None:
    """Have PostgreSQL number new rows after those that were copied; SQLite does so by itself."""
    column = table.autoincrement_column
    if connection.dialect.name == "postgresql" and column is not None:
        sequence = func.pg_get_serial_sequence(table.name, column.name)
        connection.execute(select(func.setval(sequence, select(func.max(column)).scalar_subquery())))


def _json_value(value: Any) -> Any:
    return value.isoformat() if isinstance(value, dt.datetime) else value


def _error_text(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or one_line(error)
