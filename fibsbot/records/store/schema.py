"""The tables of the match store, the same on SQLite and PostgreSQL; their version, and how they are created.

A change to a table is a new VERSION. Stores from OLDEST_VERSION on are read as they are, and copied into one of this
version to be written (`fibsbot db copy`): a change that does not allow this needs a migration in its place.
"""

from __future__ import annotations

import datetime as dt
import enum
import functools
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Connection,
    Dialect,
    Double,
    ExecutableDDLElement,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    create_mock_engine,
    func,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import TIMESTAMP
from sqlalchemy.types import TypeDecorator, TypeEngine

from fibsbot.records.store.database import StoreError
from fibsbot.version import __version__

VERSION: Final = 8
"""Of the schema; kept in `store_version`."""
OLDEST_VERSION: Final = 6
"""The oldest version that can be read: up to 6 no rejected rolls were taken, up to 7 there were no cards."""

_LOCK: Final = 0x46494253
"""Key of the advisory lock that a process holds on PostgreSQL while it creates the tables."""


class EntryKind(enum.Enum):
    """The kind of an event in a game."""

    THROW = "throw"
    REJECT = "reject"
    """A first roll that was rejected."""
    DOUBLE = "double"
    TAKE = "take"
    PASS = "pass"  # noqa: S105 - a cube action
    BEAVER = "beaver"
    RESIGN = "resign"
    """An offer to resign, with its answer."""
    GAP = "gap"
    """Something is missing; only the state after it is known."""


class UtcTime(TypeDecorator[dt.datetime]):
    """A UTC time: `timestamp with time zone` on PostgreSQL; on SQLite, which has no such type, ISO 8601 text.

    The text has a fixed width, so that it sorts as the times do. A time without a time zone is refused.
    """

    impl = String
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the column's type on this database."""
        kind = TIMESTAMP(timezone=True) if dialect.name == "postgresql" else String(32)
        return dialect.type_descriptor(kind)

    def process_bind_param(self, value: dt.datetime | None, dialect: Dialect) -> Any:
        """Return the value for the database."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"expected a time with its time zone, got {value}")
        utc = value.astimezone(dt.UTC)
        return utc if dialect.name == "postgresql" else utc.isoformat(timespec="microseconds")

    def process_result_value(self, value: Any, dialect: Dialect) -> dt.datetime | None:  # noqa: ARG002 - its signature
        """Return the database's value as a time."""
        if value is None:
            return None
        time = value if isinstance(value, dt.datetime) else dt.datetime.fromisoformat(value)
        return time.astimezone(dt.UTC)


METADATA: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
_Id: Final = BigInteger().with_variant(Integer, "sqlite")  # SQLite generates IDs only for INTEGER


def _belongs_to(table: str, column: str) -> Column[Any]:
    return Column(column, _Id, ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=False)


STORE_VERSION: Final = Table(
    "store_version",
    METADATA,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("applied", UtcTime, nullable=False),
    Column("program", Text, nullable=False),
)
"""One row: the version of the tables, when they were created, and by which version of the program."""

ACCOUNTS: Final = Table(
    "accounts",
    METADATA,
    Column("id", _Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
)

OPPONENTS: Final = Table(
    "opponents",
    METADATA,
    Column("id", _Id, primary_key=True),
    _belongs_to("accounts", "account_id"),
    Column("name", Text, nullable=False),
    Column("first_seen", UtcTime, nullable=False),
    Column("last_seen", UtcTime, nullable=False),
    Column("rating", Double),
    Column("experience", BigInteger),
    Column("client", Text),
    UniqueConstraint("account_id", "name"),
)
"""The players an account has met, with their last known rating, experience and client."""

FACTS: Final = Table(
    "facts",
    METADATA,
    Column("opponent_id", _Id, ForeignKey("opponents.id", ondelete="CASCADE"), primary_key=True),
    Column("fact", Text, primary_key=True),
    Column("times", Integer, nullable=False),
    Column("first_at", UtcTime, nullable=False),
    Column("last_at", UtcTime, nullable=False),
    CheckConstraint("times > 0", "times"),
)
"""How often something happened with an opponent; see Fact."""

MATCHES: Final = Table(
    "matches",
    METADATA,
    Column("id", _Id, primary_key=True),
    _belongs_to("accounts", "account_id"),
    _belongs_to("opponents", "opponent_id"),
    Column("length", Integer),
    Column("started", UtcTime, nullable=False),
    Column("seen", UtcTime, nullable=False),
    Column("ended", UtcTime),
    Column("outcome", Text, nullable=False),
    Column("inferred", Boolean, nullable=False, default=False),
    Column("own_score", Integer),
    Column("opponent_score", Integer),
    Column("resumed", Integer, nullable=False, default=0),
    Column("why", Text),
    Column("rating_before", Double),
    Column("experience_before", BigInteger),
    Column("rating_after", Double),
    Column("experience_after", BigInteger),
    Column("opponent_rating", Double),
    Column("opponent_experience", BigInteger),
    Column("site", Text),
    Column("game", Text),
    CheckConstraint("outcome IN ('playing', 'saved', 'won', 'lost', 'unseen')", "outcome"),
    Index(None, "account_id", "outcome"),
    Index(None, "account_id", "started"),
    Index(None, "account_id", "experience_after"),
    Index(None, "opponent_id"),
)
"""Length is null while unknown and 0 for unlimited; `seen` is the time of the last message about the match, `why` the
reason of its last interruption. `inferred` marks an end that was not seen but worked out from our rating. The
opponent's rating and experience are those at the start of the match; `site` is where it was played.
`game` is the name of a game other than backgammon, such as `plakoto`; the ratings of a match are those of backgammon,
and null for any other game."""

GAMES: Final = Table(
    "games",
    METADATA,
    Column("id", _Id, primary_key=True),
    _belongs_to("matches", "match_id"),
    Column("number", Integer, nullable=False),
    Column("started", UtcTime, nullable=False),
    Column("ended", UtcTime),
    Column("won", Boolean),
    Column("points", Integer),
    Column("how", Text),
    Column("cube", Integer),
    Column("inferred", Boolean, nullable=False, default=False),
    UniqueConstraint("match_id", "number"),
)
"""`inferred` marks an end that was not seen but worked out from the score. A drawn game has no winner and 0 points."""

DECISIONS: Final = Table(
    "decisions",
    METADATA,
    Column("id", _Id, primary_key=True),
    _belongs_to("games", "game_id"),
    Column("at", UtcTime, nullable=False),
    Column("sitting", Integer, nullable=False),
    Column("turn", Integer),
    Column("phase", Text, nullable=False),
    Column("xgid", Text),
    Column("table_text", Text),
    Column("dice", Text),
    Column("offer", Integer),
    Column("answer", Text, nullable=False),
    Column("equity", Double),
    Column("seconds", Double),
    Column("fallback", Text),
    Column("refused", Text),
    Index(None, "game_id"),
)
"""`sitting` is how often the match had been resumed; turns are counted anew each time. `fallback` is why the answer is
not the strategy's own, `refused` the server's message if it did not accept the answer; `dice` has a digit for each die.
`table_text` is the position in a game other than backgammon, whose `xgid` is null. It is called after the `table:` line
that shows the game; another name would need a new VERSION."""

SHEETS: Final = Table(
    "sheets",
    METADATA,
    Column("id", _Id, primary_key=True),
    _belongs_to("games", "game_id"),
    Column("key", Text, nullable=False, unique=True),
    Column("sitting", Integer, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("state", Text, nullable=False),
    Index(None, "game_id"),
)
"""The part of a game that was seen between two interruptions: its first state (`state`, JSON; see transcripts.py), and
its entries. `key` is the unique key in the records."""

ENTRIES: Final = Table(
    "entries",
    METADATA,
    Column("id", _Id, primary_key=True),
    _belongs_to("sheets", "sheet_id"),
    Column("number", Integer, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("kind", Text, nullable=False),
    Column("own", Boolean),
    Column("dice", Text),
    Column("play", Text),
    Column("level", Integer),
    Column("accepted", Boolean),
    Column("equity", Double),
    Column("seconds", Double),
    Column("rebuilt", Boolean, nullable=False, default=False),
    Column("reason", Text),
    Column("state", Text),
    CheckConstraint(f"kind IN ({', '.join(repr(kind.value) for kind in EntryKind)})", "kind"),
    UniqueConstraint("sheet_id", "number"),
)
"""The actions of both players; `number` counts the entries of a sheet from 1, `own` marks our actions. A gap has a
reason and the state after it. A throw without dice is a play that follows in the same turn, or a name or a contest in
words: a further kind would be one that the stores of earlier versions do not take."""

ACTIONS: Final = Table(
    "actions",
    METADATA,
    Column("id", _Id, primary_key=True),
    _belongs_to("games", "game_id"),
    Column("at", UtcTime, nullable=False),
    Column("sitting", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("own", Boolean, nullable=False),
    Column("text", Text, nullable=False),
    Index(None, "game_id"),
)
"""The actions of both players in a game other than backgammon, of the time when such games had no sheets: nothing is
added any more. `number` counts them from 1 and `text` is what `fibsbot replay` prints, such as `32: 24/19`."""

RATINGS: Final = Table(
    "ratings",
    METADATA,
    Column("id", _Id, primary_key=True),
    _belongs_to("accounts", "account_id"),
    Column("at", UtcTime, nullable=False),
    Column("rating", Double, nullable=False),
    Column("experience", BigInteger, nullable=False),
    Index(None, "account_id", "at"),
    Index(None, "account_id", "id"),
)
"""The account's own rating, with a row for each change."""

CONNECTIONS: Final = Table(
    "connections",
    METADATA,
    Column("id", _Id, primary_key=True),
    _belongs_to("accounts", "account_id"),
    Column("logged_in", UtcTime),
    Column("lost", UtcTime),
    Column("state", Text),
    Column("reason", Text),
    CheckConstraint("logged_in IS NOT NULL OR lost IS NOT NULL", "times"),
    Index(None, "account_id"),
)
"""A connection that ended before the login has no `logged_in`; one whose end was not seen has no `lost`."""

SERVER_FEATURES: Final = Table(
    "server_features",
    METADATA,
    Column("id", _Id, primary_key=True),
    Column("server", Text, nullable=False),
    Column("feature", Text, nullable=False),
    Column("lacking", Boolean, nullable=False),
    Column("at", UtcTime, nullable=False),
    UniqueConstraint("server", "feature"),
)
"""Features of FIBS that a server, `host:port`, was last found to have or lack; docs/explanation/agent.md lists them."""

WRITERS: Final = Table(
    "writers",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("process", Integer, nullable=False),
    Column("program", Text, nullable=False),
    Column("started", UtcTime, nullable=False),
    Column("seen", UtcTime, nullable=False),
    Column("sequence", BigInteger, nullable=False),
)
"""The processes that write, and how many of its records each has written: a process whose connection broke during a
commit can see here whether the commit succeeded."""

SHARING_PROCESSES: Final = Table(
    "sharing_processes",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("process", Integer, nullable=False),
    Column("until", UtcTime, nullable=False),
)
"""The living processes that share their accounts; each extends `until` every few seconds."""

ACCOUNT_LEASES: Final = Table(
    "account_leases",
    METADATA,
    Column("account", Text, primary_key=True),
    Column("holder", Text, ForeignKey("sharing_processes.id", ondelete="CASCADE"), nullable=False),
    Column("state", Text, nullable=False),
    Column("sentence", Text, nullable=False),
)
"""Which process plays each shared account, and what it last said about it. A lease ends with its process's row."""

PRACTICE_CARDS: Final = Table(
    "practice_cards",
    METADATA,
    Column("id", _Id, primary_key=True),
    Column("player", Text, nullable=False),
    Column("exercise_id", Text, nullable=False),
    Column("exercise", Text, nullable=False),
    Column("added", UtcTime, nullable=False),
    Column("stability", Double, nullable=False),
    Column("difficulty", Double, nullable=False),
    Column("reviewed", UtcTime, nullable=False),
    Column("due", UtcTime, nullable=False),
    UniqueConstraint("player", "exercise_id"),
    Index(None, "player", "due"),
    info={"since": 8},
)
"""The exercises that a person has answered in `fibsbot practice`: `exercise` is the whole exercise as JSON, so that it
comes again without its match. Stability, in days, and difficulty, 1 to 10, are those of FSRS after the last answer,
and `due` is when it is to be answered again."""

PRACTICE_REVIEWS: Final = Table(
    "practice_reviews",
    METADATA,
    Column("id", _Id, primary_key=True),
    _belongs_to("practice_cards", "card_id"),
    Column("at", UtcTime, nullable=False),
    Column("answer", Text),
    Column("loss", Double),
    Column("rating", Integer, nullable=False),
    Column("seconds", Double),
    CheckConstraint("rating BETWEEN 1 AND 4", "rating"),
    Index(None, "card_id"),
    info={"since": 8},
)
"""Every answer to an exercise, with what it lost; both are null where the person asked for the solution. `rating` is
that of FSRS: 1 again, 2 hard, 3 good, 4 easy. `seconds` is how long the person thought."""


def tables_of(version: int) -> list[Table]:
    """Return the tables that a store of a version has, those that others refer to first."""
    return [table for table in METADATA.sorted_tables if table.info.get("since", OLDEST_VERSION) <= version]


# -- creating and checking ----------------------------------------------------------------------------------------


def prepare(connection: Connection) -> None:
    """Create the tables in an empty database. Several processes may do so at once.

    Raises StoreError for a database that this program cannot use.
    """
    with connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        if version := version_of(connection):
            check_version(version, "it")
            return
        for statement in _creation(f"{connection.dialect.name}+{connection.dialect.driver}"):
            connection.exec_driver_sql(statement)
        row = {"version": VERSION, "applied": dt.datetime.now(dt.UTC), "program": __version__}
        connection.execute(insert(STORE_VERSION), row)


@functools.cache
def _creation(drivername: str) -> tuple[str, ...]:
    """Return the statements that create all tables with a driver, such as `sqlite+pysqlite`.

    They are kept, because compiling them takes longer than executing them on SQLite.
    """
    statements: list[str] = []

    def collect(statement: ExecutableDDLElement, *_: Any) -> None:
        statements.append(str(statement.compile(dialect=engine.dialect)))

    engine = create_mock_engine(f"{drivername}://", collect)
    METADATA.create_all(engine, checkfirst=False)
    return tuple(statements)


def version_of(connection: Connection) -> int:
    """Return the schema's version, 0 for an empty database. Raises StoreError for the database of another program."""
    known = set(inspect(connection).get_table_names())
    if STORE_VERSION.name not in known:
        # On PostgreSQL other programs may have their tables beside ours, as long as the names differ.
        foreign = known if connection.dialect.name == "sqlite" else known & set(METADATA.tables)
        if foreign:
            raise StoreError(f"this is the database of another program: it has a table {min(foreign)!r}")
        return 0
    return connection.scalar(select(func.max(STORE_VERSION.c.version))) or 0


def check_version(version: int, place: str) -> None:
    """Raise StoreError unless this program writes this version of the schema."""
    check_readable(version, place)
    if version != VERSION:
        raise StoreError(
            f"{place} has schema version {version}, which is only read; "
            f"fibsbot db copy makes a store of version {VERSION}"
        )


def check_readable(version: int, place: str) -> None:
    """Raise StoreError unless this program reads this version of the schema."""
    if version == 0:
        raise StoreError(f"{place} is empty: no bot has written into it yet")
    if not OLDEST_VERSION <= version <= VERSION:
        raise StoreError(
            f"{place} has schema version {version}; this program reads versions {OLDEST_VERSION} to {VERSION}, "
            "and fibsbot db export writes the rows of any other as text"
        )
