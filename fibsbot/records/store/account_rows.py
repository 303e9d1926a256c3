"""The rows of one account inside one transaction, and the prepared queries for them.

Nothing is remembered from one transaction to the next, so the rows alone say what the state is: after a rollback,
after a restart, and where another process has written meanwhile.

Queries are built once, because that costs more than the database's answer. Names in `bindparam` are never those of
columns: a column's name among the parameters of an UPDATE would be set.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from attrs import define
from sqlalchemy import BindParameter, Connection, RowMapping, Select, Table, bindparam, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import ReturningInsert

from fibsbot.records.store.schema import (
    ACCOUNTS,
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
)
from fibsbot.records.stored_rows import CHOUETTE, FINISHED, OPEN, Fact, MatchOutcome

Query: TypeAlias = "Select[*tuple[Any, ...]]"

ACCOUNT: Final[BindParameter[int]] = bindparam("account")
MATCH_ID: Final[BindParameter[int]] = bindparam("match")
GAME: Final[BindParameter[int]] = bindparam("game")


@functools.cache
def add_to(table: Table) -> ReturningInsert[Any]:
    """Return a statement that inserts a row into a table and returns its ID."""
    return insert(table).returning(table.c.id)


# -- accounts and opponents -------------------------------------------------------------------------------------

ACCOUNTS_NAMED: Final = (
    select(ACCOUNTS.c.id, ACCOUNTS.c.name)
    .where(ACCOUNTS.c.name.in_(bindparam("names", expanding=True)))
    .order_by(ACCOUNTS.c.name)
    .with_for_update()
)
MEET: Final = (
    update(OPPONENTS)
    .where(OPPONENTS.c.account_id == ACCOUNT, OPPONENTS.c.name == bindparam("called"))
    .returning(OPPONENTS.c.id)
)
COUNT: Final = (
    update(FACTS)
    .where(FACTS.c.opponent_id == bindparam("opponent"), FACTS.c.fact == bindparam("what"))
    .values(times=FACTS.c.times + 1, last_at=bindparam("now"))
)
FIRST_TIME: Final = insert(FACTS)
_RATINGS: Final = select(RATINGS.c.rating, RATINGS.c.experience).where(RATINGS.c.account_id == ACCOUNT).limit(1)
RATING: Final = _RATINGS.order_by(RATINGS.c.id.desc())
NEXT_RATING: Final = _RATINGS.where(
    RATINGS.c.at >= bindparam("since"), RATINGS.c.experience != bindparam("known")
).order_by(RATINGS.c.id)
_LAST_CONNECTION: Final = select(func.max(CONNECTIONS.c.id)).where(CONNECTIONS.c.account_id == ACCOUNT)
END_CONNECTION: Final = update(CONNECTIONS).where(
    CONNECTIONS.c.id == _LAST_CONNECTION.scalar_subquery(), CONNECTIONS.c.lost.is_(None)
)

# -- matches ----------------------------------------------------------------------------------------------------

_MATCHES: Final = (
    select(
        MATCHES.c.id,
        OPPONENTS.c.name.label("opponent"),
        *(MATCHES.c[name] for name in ("opponent_id", "length", "started", "seen", "ended", "outcome", "inferred")),
        *(MATCHES.c[name] for name in ("resumed", "own_score", "opponent_score", "game")),
        *(MATCHES.c[name] for name in ("rating_before", "experience_before", "rating_after", "experience_after")),
    )
    .join(OPPONENTS, MATCHES.c.opponent_id == OPPONENTS.c.id)
    .where(MATCHES.c.account_id == ACCOUNT)
    .order_by(MATCHES.c.id)
)
MATCH: Final = _MATCHES.where(MATCHES.c.id == MATCH_ID)
PLAYING: Final = _MATCHES.where(MATCHES.c.outcome == MatchOutcome.PLAYING.value)
OPEN_MATCHES: Final = _MATCHES.where(MATCHES.c.outcome.in_([outcome.value for outcome in OPEN]))
_LAST: Final = select(func.max(MATCHES.c.id)).where(MATCHES.c.opponent_id == bindparam("opponent"))
_LAST_OF_TWO: Final = _LAST.where(func.coalesce(MATCHES.c.game, "") != CHOUETTE)
LAST_MATCH: Final = _MATCHES.where(MATCHES.c.id == _LAST_OF_TWO.scalar_subquery())
LAST_CHOUETTE: Final = _MATCHES.where(MATCHES.c.id == _LAST.scalar_subquery(), MATCHES.c.game == CHOUETTE)
UNRATED_MATCHES: Final = _MATCHES.where(
    MATCHES.c.experience_after.is_(None),
    MATCHES.c.experience_before.is_not(None),
    MATCHES.c.outcome.in_([outcome.value for outcome in (*FINISHED, MatchOutcome.UNSEEN)]),
)
MATCHES_TO: Final = _MATCHES.where(MATCHES.c.experience_after == bindparam("experience"))
CHANGE_MATCH: Final = update(MATCHES).where(MATCHES.c.id == MATCH_ID)

# -- games and decisions ----------------------------------------------------------------------------------------

OPEN_GAME: Final = (
    select(GAMES.c.id, GAMES.c.number, GAMES.c.started)
    .where(GAMES.c.match_id == MATCH_ID, GAMES.c.ended.is_(None))
    .order_by(GAMES.c.id.desc())
    .limit(1)
)
LAST_GAME: Final = (
    select(GAMES.c.id, GAMES.c.ended, GAMES.c.won, GAMES.c.points)
    .where(GAMES.c.match_id == MATCH_ID)
    .order_by(GAMES.c.number.desc())
    .limit(1)
)
GAME_WITHOUT_WINNER: Final = (
    select(GAMES.c.id, GAMES.c.number, GAMES.c.started)
    .where(GAMES.c.match_id == MATCH_ID, GAMES.c.ended.is_not(None), GAMES.c.won.is_(None), GAMES.c.points.is_(None))
    .order_by(GAMES.c.number)
    .limit(1)
)
LAST_NUMBER: Final = select(func.max(GAMES.c.number)).where(GAMES.c.match_id == MATCH_ID)
COUNT_GAMES: Final = select(func.count()).select_from(GAMES).where(GAMES.c.match_id == MATCH_ID)
CHANGE_GAME: Final = update(GAMES).where(GAMES.c.id == GAME)
ADD_DECISIONS: Final = insert(DECISIONS)
ANY_DECISION: Final = select(DECISIONS.c.id).where(DECISIONS.c.game_id == GAME).limit(1)
_LAST_DECISION: Final = select(func.max(DECISIONS.c.id)).where(DECISIONS.c.game_id == GAME)
REFUSE_DECISION: Final = update(DECISIONS).where(DECISIONS.c.id == _LAST_DECISION.scalar_subquery())

# -- sheets -----------------------------------------------------------------------------------------------------

SHEET: Final = select(SHEETS.c.id).where(SHEETS.c.key == bindparam("called"))
ANY_SHEET: Final = select(SHEETS.c.id).where(SHEETS.c.game_id == GAME).limit(1)
ADD_ENTRIES: Final = insert(ENTRIES)


Score: TypeAlias = tuple[int, int]
"""Ours first."""
RatingAndExperience: TypeAlias = tuple[float, int]
"""Rating and experience."""


@define
class EndedGame:
    """The end of a game."""

    id: int
    ended: dt.datetime
    won: bool | None
    points: int | None


@define
class MatchRow:
    """A row of `matches`, as far as it decides anything."""

    id: int
    opponent: str
    opponent_id: int
    length: int | None
    started: dt.datetime
    seen: dt.datetime
    ended: dt.datetime | None
    outcome: MatchOutcome
    inferred: bool
    resumed: int
    score: Score | None
    game: str | None
    before: RatingAndExperience | None
    after: RatingAndExperience | None


@define
class GameRow:
    """A row of `games` that has no end yet."""

    id: int
    number: int
    started: dt.datetime


def open_accounts(connection: Connection, names: Iterable[str]) -> dict[str, AccountRows]:
    """Return the rows of these accounts; no other process writes to them until the transaction ends.

    SQLite has one writer at a time. PostgreSQL locks the accounts' rows, always in the same order.
    """
    wanted = sorted(set(names))
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    rows = connection.execute(ACCOUNTS_NAMED, {"names": wanted}).all()
    if len(rows) < len(wanted):
        connection.execute(dialect.insert(ACCOUNTS).on_conflict_do_nothing(), [{"name": name} for name in wanted])
        rows = connection.execute(ACCOUNTS_NAMED, {"names": wanted}).all()
    return {row.name: AccountRows(connection, row.id) for row in rows}


class AccountRows:
    """The rows of an account within a transaction."""

    def __init__(self, connection: Connection, account_id: int) -> None:
        """Access the rows of this account; decisions and entries are written by `close`."""
        self._db = connection
        self.account_id = account_id
        self._playing: MatchRow | None = None
        self._game: GameRow | None = None
        self._decisions: list[dict[str, Any]] = []
        self._sheets: dict[str, int] = {}
        self._entries: list[dict[str, Any]] = []

    # -- people -------------------------------------------------------------------------------------------------

    def seen_opponent(self, name: str, at: dt.datetime, **known: Any) -> int:
        """Note that a player was seen, with what is known of them; return the opponent's id."""
        values = {"last_seen": at, **{key: value for key, value in known.items() if value is not None}}
        found: int | None = self._db.scalar(MEET, {"account": self.account_id, "called": name, **values})
        return found if found is not None else self.add(OPPONENTS, name=name, first_seen=at, **values)

    def count(self, opponent_id: int, fact: Fact, at: dt.datetime) -> None:
        """Count something that happened with an opponent."""
        once_more = {"opponent": opponent_id, "what": fact.value, "now": at}
        if not self._db.execute(COUNT, once_more).rowcount:
            row = {"opponent_id": opponent_id, "fact": fact.value, "times": 1, "first_at": at, "last_at": at}
            self._db.execute(FIRST_TIME, row)

    # -- ratings ------------------------------------------------------------------------------------------------

    def rating(self) -> RatingAndExperience | None:
        """Return our latest rating and experience."""
        row = self._db.execute(RATING, {"account": self.account_id}).first()
        return (row.rating, row.experience) if row else None

    def next_rating(self, before: RatingAndExperience, since: dt.datetime) -> RatingAndExperience | None:
        """Return the first rating since then with another experience than before."""
        known = {"account": self.account_id, "since": since, "known": before[1]}
        row = self._db.execute(NEXT_RATING, known).first()
        return (row.rating, row.experience) if row else None

    # -- matches ------------------------------------------------------------------------------------------------

    def _matches(self, query: Query, **known: Any) -> list[MatchRow]:
        rows = self._db.execute(query, {"account": self.account_id, **known}).mappings()
        return [_match_row(row) for row in rows]

    def open_matches(self) -> list[MatchRow]:
        """Return the matches that may still be played, oldest first."""
        return self._matches(OPEN_MATCHES)

    def unrated_matches(self) -> list[MatchRow]:
        """Return the matches that are over without a rating, oldest first."""
        return self._matches(UNRATED_MATCHES)

    def explained(self, experience: int) -> list[MatchRow]:
        """Return the matches after which our experience was this."""
        return self._matches(MATCHES_TO, experience=experience)

    def last_match(self, opponent_id: int) -> MatchRow | None:
        """Return the last match with an opponent, whatever its outcome, but no game of a chouette."""
        return next(iter(self._matches(LAST_MATCH, opponent=opponent_id)), None)

    def last_chouette_game(self, opponent_id: int) -> MatchRow | None:
        """Return the match that is a game of a chouette, if that is what was last played with an opponent."""
        return next(iter(self._matches(LAST_CHOUETTE, opponent=opponent_id)), None)

    @property
    def playing(self) -> MatchRow | None:
        """The match in progress."""
        if self._playing is None:
            self._playing = next(iter(self._matches(PLAYING)), None)
        return self._playing

    def add_match(self, opponent_id: int, at: dt.datetime, **values: Any) -> MatchRow:
        """Add a match."""
        self._forget()
        new = self.add(MATCHES, opponent_id=opponent_id, started=at, **_as_columns({"seen": at, **values}))
        return self._matches(MATCH, match=new)[0]

    def change(self, match: MatchRow, **values: Any) -> None:
        """Change a match."""
        if "outcome" in values:
            self._forget()
        for name, value in values.items():
            if hasattr(match, name):
                setattr(match, name, value)
        self._db.execute(CHANGE_MATCH, {"match": match.id, **_as_columns(values)})

    # -- games --------------------------------------------------------------------------------------------------

    def open_game(self, match: MatchRow) -> GameRow | None:
        """Return the game of this match that has not ended."""
        if self._game is not None and match is self._playing:
            return self._game
        row = self._db.execute(OPEN_GAME, {"match": match.id}).first()
        game = GameRow(row.id, row.number, row.started) if row else None
        if match is self._playing:
            self._game = game
        return game

    def add_game(self, match: MatchRow, at: dt.datetime, **end: Any) -> GameRow:
        """Add the next game of a match; a game that is over comes before the one in progress."""
        number = 1 + (self._db.scalar(LAST_NUMBER, {"match": match.id}) or 0)
        if end and (on := self.open_game(match)):
            self._db.execute(CHANGE_GAME, {"game": on.id, "number": number})
            on.number, number = number, on.number
        new = self.add(GAMES, account=False, match_id=match.id, number=number, started=at, **end)
        game = GameRow(new, number, at)
        if not end:
            self._game = game if match is self._playing else None
        return game

    def end_game(self, game: GameRow, **values: Any) -> None:
        """Note how a game has ended."""
        self._game = None
        self._db.execute(CHANGE_GAME, {"game": game.id, **values})

    def last_ended(self, match: MatchRow) -> EndedGame | None:
        """Return the end of a match's last game, or None if it has not ended or there is none."""
        row = self._db.execute(LAST_GAME, {"match": match.id}).first()
        return EndedGame(row.id, row.ended, row.won, row.points) if row and row.ended else None

    def game_without_winner(self, match: MatchRow) -> GameRow | None:
        """Return the first game of a match that is over but has no known winner."""
        row = self._db.execute(GAME_WITHOUT_WINNER, {"match": match.id}).first()
        return GameRow(row.id, row.number, row.started) if row else None

    def count_games(self, match: MatchRow) -> int:
        """Count the games of a match."""
        return self._db.scalar(COUNT_GAMES, {"match": match.id}) or 0

    def decided(self, game: GameRow) -> bool:
        """Whether a game has any decision."""
        if any(row["game_id"] == game.id for row in self._decisions):
            return True
        return self._db.scalar(ANY_DECISION, {"game": game.id}) is not None

    def add_decision(self, game: GameRow, **values: Any) -> None:
        """Add a decision; it is written with the others of this transaction."""
        self._decisions.append({"game_id": game.id, **values})

    def refuse_decision(self, game: GameRow, text: str) -> None:
        """Note that the server refused the answer of the last decision."""
        if own := [row for row in self._decisions if row["game_id"] == game.id]:
            own[-1]["refused"] = text
        else:
            self._db.execute(REFUSE_DECISION, {"game": game.id, "refused": text})

    # -- sheets -------------------------------------------------------------------------------------------------

    def add_sheet(self, key: str, **values: Any) -> None:
        """Add a sheet."""
        self._sheets[key] = self.add(SHEETS, account=False, key=key, **values)

    def sheet(self, key: str) -> int | None:
        """Return the id of the sheet with this key."""
        if key not in self._sheets:
            found = self._db.scalar(SHEET, {"called": key})
            if found is None:
                return None
            self._sheets[key] = found
        return self._sheets[key]

    def has_sheet(self, game: GameRow | EndedGame) -> bool:
        """Whether a game has a sheet."""
        return self._db.scalar(ANY_SHEET, {"game": game.id}) is not None

    def add_entry(self, **values: Any) -> None:
        """Add an entry; it is written with the others of this transaction."""
        self._entries.append(values)

    # -- in general --------------------------------------------------------------------------------------------

    def add(self, table: Table, *, account: bool = True, **values: Any) -> int:
        """Add a row, with the account's id unless `account` is false; return its id."""
        if account:
            values["account_id"] = self.account_id
        new: int = self._db.scalar(add_to(table), values)
        return new

    def end_connection(self, **values: Any) -> bool:
        """Note how the open connection has ended; return whether there was one."""
        return self._db.execute(END_CONNECTION, {"account": self.account_id, **values}).rowcount > 0

    def note_feature(self, server: str, feature: str, *, lacking: bool, at: dt.datetime) -> None:
        """Note whether a server lacks a feature."""
        values = {"lacking": lacking, "at": at}
        known = SERVER_FEATURES.c.server == server, SERVER_FEATURES.c.feature == feature
        if not self._db.execute(update(SERVER_FEATURES).where(*known).values(**values)).rowcount:
            self.add(SERVER_FEATURES, account=False, server=server, feature=feature, **values)

    def close(self) -> None:
        """Write the decisions and entries."""
        if self._decisions:
            self._db.execute(ADD_DECISIONS, self._decisions)
            self._decisions = []
        if self._entries:
            self._db.execute(ADD_ENTRIES, self._entries)
            self._entries = []

    def _forget(self) -> None:
        self._playing = self._game = None


def _match_row(row: RowMapping) -> MatchRow:
    return MatchRow(
        **{name: row[name] for name in ("id", "opponent", "opponent_id", "length", "started", "seen", "ended")},
        game=row["game"],
        outcome=MatchOutcome(row["outcome"]),
        inferred=row["inferred"],
        resumed=row["resumed"],
        score=_pair_or_none(row["own_score"], row["opponent_score"]),
        before=_pair_or_none(row["rating_before"], row["experience_before"]),
        after=_pair_or_none(row["rating_after"], row["experience_after"]),
    )


def _pair_or_none(first: Any, second: Any) -> Any:
    return None if first is None or second is None else (first, second)


_PAIRS: Final = {
    "score": ("own_score", "opponent_score"),
    "before": ("rating_before", "experience_before"),
    "after": ("rating_after", "experience_after"),
}


def _as_columns(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values by column."""
    columns: dict[str, Any] = {}
    for name, value in values.items():
        if name in _PAIRS:
            columns |= dict(zip(_PAIRS[name], value or (None, None), strict=True))
        else:
            columns[name] = value.value if isinstance(value, MatchOutcome) else value
    return columns
