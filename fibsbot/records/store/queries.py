"""What the writer asks and says of an account's rows, put together once: that costs more than the database's answer.

The names in `bindparam` are never those of columns, because a column's name among the parameters of an UPDATE is set.
"""

from __future__ import annotations

import functools
from typing import Any, Final, TypeAlias

from sqlalchemy import BindParameter, Select, Table, bindparam, func, insert, select, update
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
    SHEETS,
)
from fibsbot.records.views import FINISHED, OPEN, Outcome

Query: TypeAlias = "Select[*tuple[Any, ...]]"

ACCOUNT: Final[BindParameter[int]] = bindparam("account")
MATCH_ID: Final[BindParameter[int]] = bindparam("match")
GAME: Final[BindParameter[int]] = bindparam("game")


@functools.cache
def add_to(table: Table) -> ReturningInsert[Any]:
    """Return what adds a row to a table and tells its id."""
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
        *(MATCHES.c[name] for name in ("resumed", "own_score", "opponent_score")),
        *(MATCHES.c[name] for name in ("rating_before", "experience_before", "rating_after", "experience_after")),
    )
    .join(OPPONENTS, MATCHES.c.opponent_id == OPPONENTS.c.id)
    .where(MATCHES.c.account_id == ACCOUNT)
    .order_by(MATCHES.c.id)
)
MATCH: Final = _MATCHES.where(MATCHES.c.id == MATCH_ID)
PLAYING: Final = _MATCHES.where(MATCHES.c.outcome == Outcome.PLAYING.value)
OPEN_MATCHES: Final = _MATCHES.where(MATCHES.c.outcome.in_([outcome.value for outcome in OPEN]))
_LAST: Final = select(func.max(MATCHES.c.id)).where(MATCHES.c.opponent_id == bindparam("opponent"))
LAST_MATCH: Final = _MATCHES.where(MATCHES.c.id == _LAST.scalar_subquery())
UNRATED_MATCHES: Final = _MATCHES.where(
    MATCHES.c.experience_after.is_(None),
    MATCHES.c.experience_before.is_not(None),
    MATCHES.c.outcome.in_([outcome.value for outcome in (*FINISHED, Outcome.UNSEEN)]),
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
UNTOLD_GAME: Final = (
    select(GAMES.c.id, GAMES.c.number, GAMES.c.started)
    .where(GAMES.c.match_id == MATCH_ID, GAMES.c.ended.is_not(None), GAMES.c.won.is_(None))
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
