"""The server's database: users, matches, mail, in SQLite.

Everything is committed as it happens, with a write-ahead log: if the process is killed, nothing is lost.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from fibsbot.files import private_database
from fibsbot.server.accounts import Account, GameRating
from fibsbot.server.user_settings import UserSettings

VERSION: Final = 1
"""The version of the schema, kept in the database as `user_version`."""
KEPT_DAYS: Final = 7
"""Days for which `oldmoves` can show a finished match."""
MAX_MAIL: Final = 100
"""Maximum number of messages stored for one user; more are refused."""
MAX_PANICS: Final = 1000
"""Maximum number of games kept by `panic`; the oldest are deleted."""

_SCHEMA: Final = """
CREATE TABLE users (
    name TEXT PRIMARY KEY,
    password TEXT NOT NULL,
    rating REAL NOT NULL,
    experience INTEGER NOT NULL,
    email TEXT,
    last_login INTEGER NOT NULL,
    last_logout INTEGER NOT NULL,
    last_host TEXT NOT NULL,
    settings TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX users_by_rating ON users (rating DESC);
CREATE TABLE matches (
    low TEXT NOT NULL,
    high TEXT NOT NULL,
    serial INTEGER NOT NULL,
    over INTEGER NOT NULL,
    saved_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (low, high)
) WITHOUT ROWID;
CREATE INDEX matches_by_high ON matches (high);
CREATE TABLE mail (
    id INTEGER PRIMARY KEY,
    recipient TEXT NOT NULL,
    sender TEXT NOT NULL,
    time INTEGER NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX mail_by_recipient ON mail (recipient);
CREATE TABLE panics (id INTEGER PRIMARY KEY, time INTEGER NOT NULL, state TEXT NOT NULL);
"""

_ADDED: Final = """
CREATE TABLE IF NOT EXISTS chouettes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    saved_at INTEGER NOT NULL,
    state TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS game_ratings (
    name TEXT NOT NULL,
    game TEXT NOT NULL,
    rating REAL NOT NULL,
    experience INTEGER NOT NULL,
    PRIMARY KEY (name, game)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS game_ratings_by_rating ON game_ratings (game, rating DESC)
"""
"""Added later. A program that does not know these tables works with the others, so the version stays the same."""


class DatabaseError(Exception):
    """The database cannot be used, for the given reason, which names the file."""


@frozen
class SavedMatchRow:
    """A row of the table of matches: the last match of two users."""

    names: tuple[str, str]
    """In alphabetical order."""
    serial: int
    """The number of matches that the two have begun."""
    over: bool
    state: str
    """JSON; see `ServerMatch.to_json`."""

    def opponent(self, name: str) -> str:
        """Return the name of the opponent."""
        return self.names[1] if name == self.names[0] else self.names[0]


class Database:
    """The database. All methods are fast enough to be called from the event loop."""

    def __init__(self, path: Path | None, now: float) -> None:
        """Open or create the database, which only its owner may read; None keeps everything in memory.

        Raises:
            DatabaseError: if the file is not a database of this server, or of a newer version.
        """
        self._path = path
        try:
            with private_database(path) if path else contextlib.nullcontext():
                self._db = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=1.0)
                self._open(now)
        except sqlite3.Error as error:
            # The low byte is the kind of an error. A server keeps its database locked.
            if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
                raise DatabaseError(f"another process uses {path}") from error
            raise DatabaseError(f"{path}: {error}") from error

    def _open(self, now: float) -> None:
        """Set the database up; close it if that fails."""
        try:
            self._set_up(now)
        except BaseException:
            self._db.close()
            raise

    def _set_up(self, now: float) -> None:
        # Only one server per database: each would assume that it knows all users who are logged in.
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise DatabaseError(
                f"{self._path}: the database has version {version}, this program knows versions up to {VERSION}"
            )
        if version == 0:
            (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if tables:
                raise DatabaseError(f"{self._path}: this is the database of another program")
            with self._transaction():
                for statement in _SCHEMA.split(";"):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {VERSION}")
        with self._transaction():
            oldest = int(now) - KEPT_DAYS * 86400
            self._db.execute("DELETE FROM matches WHERE over AND saved_at < ?", (oldest,))
            for statement in _ADDED.split(";"):
                self._db.execute(statement)
            self._db.execute("DELETE FROM chouettes WHERE saved_at < ?", (oldest,))

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    # -- users ------------------------------------------------------------------------------------------------------

    def account(self, name: str) -> Account | None:
        """Return a registered user."""
        row = self._db.execute(
            "SELECT name, password, rating, experience, email, last_login, last_logout, last_host, settings"
            " FROM users WHERE name = ?",
            (name,),
        ).fetchone()
        return _account(row) if row else None

    def registered(self, name: str) -> bool:
        """Return whether a user of this name exists."""
        return self._db.execute("SELECT 1 FROM users WHERE name = ?", (name,)).fetchone() is not None

    def count_users(self) -> int:
        """Return the number of registered users."""
        (count,) = self._db.execute("SELECT count(*) FROM users").fetchone()
        return int(count)

    def save_accounts(self, *accounts: Account) -> None:
        """Add or update users, all of them or none."""
        with self._transaction():
            self._db.executemany(
                "INSERT OR REPLACE INTO users (name, password, rating, experience, email, last_login, last_logout,"
                " last_host, settings) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        account.name,
                        account.password,
                        account.rating,
                        account.experience,
                        account.email,
                        account.last_login,
                        account.last_logout,
                        account.last_host,
                        json.dumps(account.settings.to_json()),
                    )
                    for account in accounts
                ],
            )

    def ranking(self, experience: int, first: int, last: int) -> list[tuple[int, str, float, int]]:
        """Return ranks `first` to `last` of the users with more than this experience.

        Each is rank, name, rating, experience.
        """
        rows = self._db.execute(
            "SELECT name, rating, experience FROM users WHERE experience > ?"
            " ORDER BY rating DESC, name LIMIT ? OFFSET ?",
            (experience, last - first + 1, first - 1),
        )
        return [(rank, *row) for rank, row in enumerate(rows, first)]

    def rank(self, experience: int, name: str) -> tuple[int, str, float, int] | None:
        """Return one user's row of the ranking; None for a user who is not in it."""
        row: tuple[int, str, float, int] | None = self._db.execute(
            "SELECT 1 + (SELECT count(*) FROM users WHERE experience > :floor"
            " AND (rating > me.rating OR (rating = me.rating AND name < me.name))), name, rating, experience"
            " FROM users AS me WHERE name = :name AND experience > :floor",
            {"floor": experience, "name": name},
        ).fetchone()
        return row

    # -- ratings in other games ---------------------------------------------------------------------------------------

    def game_rating(self, name: str, game: str) -> GameRating:
        """Return a user's rating in a game, which for a new player is as in backgammon."""
        row = self._db.execute(
            "SELECT rating, experience FROM game_ratings WHERE name = ? AND game = ?", (name, game)
        ).fetchone()
        return GameRating(name, game, *row) if row else GameRating(name, game)

    def game_ratings(self, name: str) -> list[GameRating]:
        """Return a user's ratings, by the name of the game."""
        rows = self._db.execute(
            "SELECT name, game, rating, experience FROM game_ratings WHERE name = ? ORDER BY game", (name,)
        )
        return [GameRating(*row) for row in rows]

    def game_ranking(self, game: str, first: int, last: int) -> list[tuple[int, str, float, int]]:
        """Return ranks `first` to `last` of the players of a game: rank, name, rating, experience."""
        rows = self._db.execute(
            "SELECT name, rating, experience FROM game_ratings WHERE game = ? ORDER BY rating DESC, name"
            " LIMIT ? OFFSET ?",
            (game, last - first + 1, first - 1),
        )
        return [(rank, *row) for rank, row in enumerate(rows, first)]

    # -- matches ----------------------------------------------------------------------------------------------------

    def match(self, name: str, other: str) -> SavedMatchRow | None:
        """Return the last match of two users, finished or not."""
        row = self._db.execute(
            "SELECT low, high, serial, over, state FROM matches WHERE low = ? AND high = ?", _pair(name, other)
        ).fetchone()
        return _match(row) if row else None

    def matches(self, name: str) -> list[SavedMatchRow]:
        """Return the unfinished matches of a user, by the opponent's name."""
        rows = self._db.execute(
            "SELECT low, high, serial, over, state FROM matches WHERE NOT over AND (low = :name OR high = :name)"
            " ORDER BY CASE low WHEN :name THEN high ELSE low END",
            {"name": name},
        )
        return [_match(row) for row in rows]

    def count_matches(self, name: str) -> int:
        """Return the number of a user's unfinished matches."""
        (count,) = self._db.execute(
            "SELECT count(*) FROM matches WHERE NOT over AND (low = :name OR high = :name)", {"name": name}
        ).fetchone()
        return int(count)

    def save_match(
        self, match: SavedMatchRow, now: float, *accounts: Account, ratings: Iterable[GameRating] = ()
    ) -> None:
        """Replace the last match of a pair, and save with it the ratings that its end has changed."""
        with self._transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO matches (low, high, serial, over, state, saved_at) VALUES (?, ?, ?, ?, ?, ?)",
                (*_pair(*match.names), match.serial, match.over, match.state, int(now)),
            )
            self._db.executemany(
                "UPDATE users SET rating = ?, experience = ? WHERE name = ?",
                [(account.rating, account.experience, account.name) for account in accounts],
            )
            self._db.executemany(
                "INSERT OR REPLACE INTO game_ratings (name, game, rating, experience) VALUES (?, ?, ?, ?)",
                [(rating.name, rating.game, rating.rating, rating.experience) for rating in ratings],
            )

    def save_panic(self, state: str, now: float) -> None:
        """Store a game for debugging."""
        with self._transaction():
            row = self._db.execute("INSERT INTO panics (time, state) VALUES (?, ?)", (int(now), state)).lastrowid
            self._db.execute("DELETE FROM panics WHERE id <= ?", ((row or 0) - MAX_PANICS,))

    # -- tables with more than two seats -----------------------------------------------------------------------------

    def add_table(self, now: float) -> int:
        """Add a table, which `save_table` fills; return its number, which no other table ever has."""
        with self._transaction():
            return (
                self._db.execute("INSERT INTO chouettes (saved_at, state) VALUES (?, '')", (int(now),)).lastrowid or 0
            )

    def save_table(self, number: int, state: str, now: float) -> None:
        """Save the state of a table, as JSON."""
        with self._transaction():
            self._db.execute("UPDATE chouettes SET state = ?, saved_at = ? WHERE number = ?", (state, int(now), number))

    def delete_table(self, number: int) -> None:
        """Delete a table at which nobody plays any more."""
        with self._transaction():
            self._db.execute("DELETE FROM chouettes WHERE number = ?", (number,))

    def saved_tables(self) -> list[tuple[int, str]]:
        """Return number and state of every table."""
        return self._db.execute("SELECT number, state FROM chouettes ORDER BY number").fetchall()

    # -- mail -------------------------------------------------------------------------------------------------------

    def add_mail(self, recipient: str, sender: str, now: float, text: str) -> bool:
        """Store a message for a user who is not logged in; return False if too many are already stored."""
        with self._transaction():
            (waiting,) = self._db.execute("SELECT count(*) FROM mail WHERE recipient = ?", (recipient,)).fetchone()
            if waiting >= MAX_MAIL:
                return False
            self._db.execute(
                "INSERT INTO mail (recipient, sender, time, text) VALUES (?, ?, ?, ?)",
                (recipient, sender, int(now), text),
            )
        return True

    def take_mail(self, recipient: str) -> list[tuple[str, int, str]]:
        """Return and delete the stored messages for a user, oldest first (sender, time, text)."""
        with self._transaction():
            rows = self._db.execute(
                "SELECT sender, time, text FROM mail WHERE recipient = ? ORDER BY id", (recipient,)
            ).fetchall()
            self._db.execute("DELETE FROM mail WHERE recipient = ?", (recipient,))
        return rows


def _account(row: tuple[Any, ...]) -> Account:
    name, password, rating, experience, email, last_login, last_logout, last_host, settings = row
    return Account(
        name,
        password,
        rating,
        experience,
        email,
        last_login,
        last_logout,
        last_host,
        UserSettings.from_json(json.loads(settings)),
    )


def _match(row: tuple[Any, ...]) -> SavedMatchRow:
    low, high, serial, over, state = row
    return SavedMatchRow((low, high), serial, bool(over), state)


def _pair(name: str, other: str) -> tuple[str, str]:
    return (name, other) if name < other else (other, name)
