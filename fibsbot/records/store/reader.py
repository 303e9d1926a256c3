"""Read a match store, also while bots write to it."""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Self

from attrs import AttrsInstance, fields
from sqlalchemy import URL, Column, ColumnElement, Connection, Engine, RowMapping, Select, Table, func, select
from sqlalchemy.exc import DBAPIError

from fibsbot.records.store.database import (
    StoreError,
    database_url,
    is_sqlite,
    open_engine,
    public_url,
    reading_error_text,
)
from fibsbot.records.store.schema import (
    ACCOUNTS,
    ACTIONS,
    CONNECTIONS,
    DECISIONS,
    ENTRIES,
    FACTS,
    GAMES,
    MATCHES,
    OPPONENTS,
    RATINGS,
    SERVER_FEATURES,
    SHEETS,
    UtcTime,
    check_readable,
    version_of,
)
from fibsbot.records.store.transcripts import GameRows, StoredSheet, build_transcript
from fibsbot.records.stored_rows import (
    BACKGAMMON,
    CHOUETTE,
    FINISHED,
    OPEN,
    Fact,
    FactCount,
    MatchOutcome,
    PlayerMemory,
    RatingPoint,
    StoredAction,
    StoredConnection,
    StoredDecision,
    StoredGame,
    StoredMatch,
    StoredOpponent,
)
from fibsbot.transcript import Transcript

CHUNK: Final = 1000
"""Rows that are fetched at once."""


class Store:
    """An existing store, for reading.

    Methods that yield rows fetch them on demand, all from the state of the store at the first: concurrent writes are
    not seen. Every method raises StoreError if the database cannot be read.
    """

    def __init__(self, engine: Engine, url: URL) -> None:
        """Read through this engine; see `open`."""
        self._engine = engine
        self._closed = False
        self.url = url

    @classmethod
    def open(cls, where: str | Path, *, any_version: bool = False) -> Self:
        """Open the store at this path or URL, which must exist and have a schema that this program reads.

        With `any_version` it may have another, and then its rows can be exported and nothing else.
        """
        store = cls(open_engine(url := database_url(where)), url)
        try:
            if not (store.version and any_version):
                check_readable(store.version, public_url(url))
        except StoreError:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Close the store; iterators that are not exhausted keep their connections."""
        self._closed = True
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """Return a context manager with a connection that sees one unchanging state of all tables."""
        if is_sqlite(self.url) and not Path(str(self.url.database)).is_file():
            raise StoreError(f"there is no store {public_url(self.url)}")
        try:
            with self._engine.connect() as connection:
                if not is_sqlite(self.url):
                    connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
                try:
                    with connection.begin():
                        yield connection
                finally:
                    if self._closed:
                        connection.detach()  # its pool is disposed of, and would never close it
        except DBAPIError as error:
            raise StoreError(f"cannot read the store {public_url(self.url)}: {reading_error_text(error)}") from None

    @property
    def version(self) -> int:
        """The schema's version, 0 for an empty database."""
        with self.reading() as connection:
            return version_of(connection)

    # -- accounts -----------------------------------------------------------------------------------------------

    def accounts(self) -> list[str]:
        """Return the names of all accounts that have written here."""
        return [row["account"] for row in self._rows(select(_ACCOUNT).order_by(_ACCOUNT))]

    def ratings(self, account: str, *, since: dt.datetime | None = None) -> Iterator[RatingPoint]:
        """Yield an account's ratings, oldest first."""
        query = select(_ACCOUNT, *_columns(RATINGS, RatingPoint)).select_from(RATINGS.join(ACCOUNTS))
        query = _narrow(query, (ACCOUNTS.c.name, account), since=(RATINGS.c.at, since))
        for row in self._rows(query.order_by(RATINGS.c.id)):
            yield RatingPoint(**row)

    def connections(self, account: str, *, since: dt.datetime | None = None) -> Iterator[StoredConnection]:
        """Yield an account's connections, oldest first; `since` refers to their end, or their login while open."""
        query = select(_ACCOUNT, *_columns(CONNECTIONS, StoredConnection)).select_from(CONNECTIONS.join(ACCOUNTS))
        latest = func.coalesce(CONNECTIONS.c.lost, CONNECTIONS.c.logged_in, type_=UtcTime())
        query = _narrow(query, (ACCOUNTS.c.name, account), since=(latest, since))
        for row in self._rows(query.order_by(CONNECTIONS.c.id)):
            yield StoredConnection(**row)

    def opponents(self, *, account: str | None = None, name: str | None = None) -> Iterator[StoredOpponent]:
        """Yield the players that all accounts, or one, have met, by account and name."""
        query = select(OPPONENTS.c.id, _ACCOUNT, *_columns(OPPONENTS, StoredOpponent))
        query = query.add_columns(FACTS.c.fact, FACTS.c.times, FACTS.c.first_at, FACTS.c.last_at)
        query = query.select_from(OPPONENTS.join(ACCOUNTS).outerjoin(FACTS))
        query = _narrow(query, (ACCOUNTS.c.name, account), (OPPONENTS.c.name, name))
        rows = self._rows(query.order_by(ACCOUNTS.c.name, OPPONENTS.c.name, FACTS.c.fact))
        for _, group in itertools.groupby(rows, key=lambda row: row["id"]):
            of_one = list(group)
            known = {name: of_one[0][name] for name in _names(StoredOpponent) if name != "facts"}
            tallies = {row["fact"]: FactCount(row["times"], row["first_at"], row["last_at"]) for row in of_one}
            yield StoredOpponent(**known, facts={fact: tallies[fact.value] for fact in Fact if fact.value in tallies})

    # -- matches ------------------------------------------------------------------------------------------------

    def matches(
        self,
        *,
        account: str | None = None,
        opponent: str | None = None,
        since: dt.datetime | None = None,
        outcome: MatchOutcome | None = None,
        game: str | None = None,
    ) -> Iterator[StoredMatch]:
        """Yield the selected matches in the order in which they began; `since` refers to their beginning.

        `game` is backgammon, or the full name of another game.
        """
        wanted = outcome.value if outcome else None
        query = _narrow(
            _MATCHES,
            (ACCOUNTS.c.name, account),
            (OPPONENTS.c.name, opponent),
            (MATCHES.c.outcome, wanted),
            since=(MATCHES.c.started, since),
        )
        if game is not None:
            query = query.where(MATCHES.c.game.is_(None) if game == BACKGAMMON else MATCHES.c.game == game)
        return map(_match, self._rows(query.order_by(MATCHES.c.started, MATCHES.c.id)))

    def match(self, match_id: int) -> StoredMatch | None:
        """Return a match by its id, or None."""
        rows = list(self._rows(_MATCHES.where(MATCHES.c.id == match_id)))
        return _match(rows[0]) if rows else None

    def games(self, match: StoredMatch) -> Iterator[StoredGame]:
        """Yield the games of a match in their order."""
        for row in self._rows(_games(match)):
            yield StoredGame(**row)

    def decisions(self, of: StoredGame | StoredMatch) -> Iterator[StoredDecision]:
        """Yield our decisions in a game, or in all games of a match, in their order."""
        games = select(GAMES.c.id).where(
            GAMES.c.id == of.id if isinstance(of, StoredGame) else GAMES.c.match_id == of.id
        )
        query = select(*_columns(DECISIONS, StoredDecision)).where(DECISIONS.c.game_id.in_(games))
        for row in self._rows(query.order_by(DECISIONS.c.id)):
            yield _decision(row)

    def actions(self, of: StoredGame | StoredMatch) -> Iterator[StoredAction]:
        """Yield the actions of both players in games other than backgammon, in their order, as stores had them once."""
        games = select(GAMES.c.id).where(
            GAMES.c.id == of.id if isinstance(of, StoredGame) else GAMES.c.match_id == of.id
        )
        query = select(*_columns(ACTIONS, StoredAction)).where(ACTIONS.c.game_id.in_(games))
        for row in self._rows(query.order_by(ACTIONS.c.id)):
            yield StoredAction(**row)

    def transcript(self, match: StoredMatch) -> Transcript:
        """Return the transcript of a match, as far as it was seen; seat A is the account.

        Missing parts are rebuilt if there is only one possibility, else they are gaps. Raises StoreError if only
        results are stored.
        """
        with self.reading() as connection:
            sheets: dict[int, list[StoredSheet]] = {}
            entries: dict[int, list[Mapping[str, Any]]] = {}
            for row in connection.execute(_ENTRIES.where(GAMES.c.match_id == match.id)).mappings():
                entries.setdefault(row["sheet_id"], []).append({**row})
            for row in connection.execute(_SHEETS.where(GAMES.c.match_id == match.id)).mappings():
                sheet = StoredSheet(row["at"], row["state"], entries.get(row["id"], []))
                sheets.setdefault(row["game_id"], []).append(sheet)
            games = [StoredGame(**row) for row in connection.execute(_games(match)).mappings()]
        return build_transcript(match, [GameRows(game, sheets.get(game.id, ())) for game in games])

    # -- memories of the bot ------------------------------------------------------------------------------------

    def player_memories(
        self, account: str, since: dt.datetime, now: dt.datetime | None = None
    ) -> Mapping[str, PlayerMemory]:
        """Return, by name, an account's memories of the players that it has met since then.

        Saved matches are remembered however old they are. What was stored with a time after `now`, when the machine's
        clock was ahead, is left out, or of saved matches taken for just now: waits that begin in the future do not end.
        """
        played = select(OPPONENTS.c.name, MATCHES.c.ended, MATCHES.c.seen)
        played = played.select_from(MATCHES.join(OPPONENTS, MATCHES.c.opponent_id == OPPONENTS.c.id))
        played = played.join(ACCOUNTS, MATCHES.c.account_id == ACCOUNTS.c.id)
        played = played.where(func.coalesce(MATCHES.c.game, "") != CHOUETTE)
        ended = played.where(MATCHES.c.outcome.in_([outcome.value for outcome in FINISHED]))
        waiting = played.where(MATCHES.c.outcome.in_([outcome.value for outcome in OPEN]))
        refused = select(OPPONENTS.c.name, FACTS.c.last_at).select_from(FACTS.join(OPPONENTS).join(ACCOUNTS))
        refused = refused.where(FACTS.c.fact == Fact.REFUSED.value)
        began = FACTS.alias()
        stuck = select(OPPONENTS.c.name, FACTS.c.last_at).select_from(
            FACTS.join(OPPONENTS)
            .join(ACCOUNTS)
            .outerjoin(began, (began.c.opponent_id == OPPONENTS.c.id) & (began.c.fact == Fact.STARTED.value))
        )
        stuck = stuck.where(
            FACTS.c.fact == Fact.STUCK.value, began.c.last_at.is_(None) | (began.c.last_at < FACTS.c.last_at)
        )
        known: dict[str, PlayerMemory] = {}
        ours = (ACCOUNTS.c.name, account)
        for row in self._rows(
            _narrow(ended, ours, since=(MATCHES.c.ended, since), until=now).order_by(MATCHES.c.ended)
        ):
            before = known.get(row["name"], PlayerMemory())
            known[row["name"]] = before._replace(matches=(*before.matches, row["ended"]))
        for row in self._rows(_narrow(refused, ours, since=(FACTS.c.last_at, since), until=now)):
            known[row["name"]] = known.get(row["name"], PlayerMemory())._replace(refused=row["last_at"])
        for row in self._rows(_narrow(stuck, ours)):
            known[row["name"]] = known.get(row["name"], PlayerMemory())._replace(stuck=_not_after(row["last_at"], now))
        for row in self._rows(_narrow(waiting, ours).order_by(MATCHES.c.seen)):
            known[row["name"]] = known.get(row["name"], PlayerMemory())._replace(broke_off=_not_after(row["seen"], now))
        return known

    def missing_features(self, server: str, since: dt.datetime) -> frozenset[str]:
        """Return the features that a server, `host:port`, was found since then not to have."""
        known = SERVER_FEATURES.c
        query = select(known.feature).where(known.server == server, known.lacking, known.at >= since)
        with self.reading() as connection:
            return frozenset(connection.scalars(query))

    def _rows(self, query: Select[*tuple[Any, ...]]) -> Iterator[RowMapping]:
        with self.reading() as connection, connection.execution_options(yield_per=CHUNK).execute(query) as result:
            yield from result.mappings()


def _names(view: type[AttrsInstance]) -> tuple[str, ...]:
    return tuple(attribute.name for attribute in fields(view))


def _columns(table: Table, view: type[AttrsInstance]) -> list[Column[Any]]:
    """Return the columns that a view takes from its table, in the view's order."""
    return [table.c[name] for name in _names(view) if name in table.c]


def _not_after(at: dt.datetime, now: dt.datetime | None) -> dt.datetime:
    return at if now is None else min(at, now)


def _narrow(
    query: Select[*tuple[Any, ...]],
    *equal: tuple[ColumnElement[Any], Any],
    since: tuple[ColumnElement[Any], dt.datetime | None] | None = None,
    until: dt.datetime | None = None,
) -> Select[*tuple[Any, ...]]:
    """Restrict a query to rows whose columns have the given values, as far as these are not None.

    `until` is for the column of `since`.
    """
    conditions = [column == value for column, value in equal if value is not None]
    if since and since[1]:
        conditions.append(since[0] >= since[1])
    if since and until:
        conditions.append(since[0] <= until)
    return query.where(*conditions)


_ACCOUNT: Final = ACCOUNTS.c.name.label("account")
_MATCHES: Final = (
    select(_ACCOUNT, OPPONENTS.c.name.label("opponent"), *_columns(MATCHES, StoredMatch))
    .add_columns(MATCHES.c.own_score, MATCHES.c.opponent_score)
    .select_from(MATCHES.join(ACCOUNTS, MATCHES.c.account_id == ACCOUNTS.c.id))
    .join(OPPONENTS, MATCHES.c.opponent_id == OPPONENTS.c.id)
)


_SHEETS: Final = select(SHEETS).join(GAMES, SHEETS.c.game_id == GAMES.c.id).order_by(SHEETS.c.id)
_ENTRIES: Final = (
    select(ENTRIES)
    .join(SHEETS, ENTRIES.c.sheet_id == SHEETS.c.id)
    .join(GAMES, SHEETS.c.game_id == GAMES.c.id)
    .order_by(ENTRIES.c.sheet_id, ENTRIES.c.number)
)


def _games(match: StoredMatch) -> Select[*tuple[Any, ...]]:
    return select(*_columns(GAMES, StoredGame)).where(GAMES.c.match_id == match.id).order_by(GAMES.c.number)


def _decision(row: RowMapping) -> StoredDecision:
    dice = tuple(map(int, row["dice"])) if row["dice"] else None
    return StoredDecision(**{**row, "dice": dice})


def _match(row: RowMapping) -> StoredMatch:
    values: dict[str, Any] = {**row}
    own, theirs = values.pop("own_score"), values.pop("opponent_score")
    score = None if own is None or theirs is None else (own, theirs)
    return StoredMatch(**{**values, "outcome": MatchOutcome(values["outcome"]), "score": score})
