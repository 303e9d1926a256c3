"""Whether a store is sound: the file, the references, and what has to be true of matches, games and decisions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from attrs import frozen
from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, or_, select, text

from fibsbot.records.store.reading import Store
from fibsbot.records.store.schema import ACCOUNTS, DECISIONS, GAMES, MATCHES, METADATA, OPPONENTS
from fibsbot.records.views import OPEN, Outcome

MOST: Final = 20
"""Problems of one kind that are told one by one."""

Progress: TypeAlias = Callable[[int, int], None]
"""Is told how many steps are done, and of how many."""
Query: TypeAlias = "Select[*tuple[Any, ...]]"


@frozen
class Report:
    """What was found."""

    version: int
    """Of the schema."""
    counts: Mapping[str, int]
    """Rows by table."""
    problems: tuple[str, ...]
    """One sentence each."""


def check(store: Store, progress: Progress = lambda _done, _of: None) -> Report:
    """Look at everything. Raises StoreError when the database cannot be read at all."""
    tables = METADATA.sorted_tables
    problems: list[str] = []
    steps = itertools.count(1)
    with store.reading() as connection:
        looks = [*(_FILE if connection.dialect.name == "sqlite" else ()), *_RULES]
        of = len(looks) + len(tables)
        for look in looks:
            found = list(itertools.islice(look(connection), MOST + 1))
            problems += found[:MOST] + ["and more of this kind"] * (len(found) > MOST)
            progress(next(steps), of)
        counts = {}
        for table in tables:
            counts[table.name] = connection.scalar(select(func.count()).select_from(table)) or 0
            progress(next(steps), of)
    return Report(store.version, counts, tuple(problems))


# -- the file -----------------------------------------------------------------------------------------------------


def _integrity(connection: Connection) -> Iterator[str]:
    for (said,) in connection.execute(text("PRAGMA integrity_check")):
        if said != "ok":
            yield f"the file is damaged: {' '.join(str(said).split())}"


def _references(connection: Connection) -> Iterator[str]:
    for table, row, other, _ in connection.execute(text("PRAGMA foreign_key_check")):
        yield f"row {row} of {table} belongs to a row of {other} that is not there"


_FILE: Final = (_integrity, _references)


# -- the rows -----------------------------------------------------------------------------------------------------


def _rule(sentence: str, query: Query) -> Callable[[Connection], Iterator[str]]:
    """Return what yields the sentence for each row of a query, filled with the row's values."""

    def look(connection: Connection) -> Iterator[str]:
        for row in connection.execute(query.limit(MOST + 1)).mappings():
            yield sentence.format(**row)

    return look


def _named(*columns: ColumnElement[Any]) -> Query:
    """Return a query for matches with their players."""
    query = select(MATCHES.c.id, ACCOUNTS.c.name.label("account"), OPPONENTS.c.name.label("opponent"), *columns)
    query = query.select_from(MATCHES.join(ACCOUNTS, MATCHES.c.account_id == ACCOUNTS.c.id))
    return query.join(OPPONENTS, MATCHES.c.opponent_id == OPPONENTS.c.id).order_by(MATCHES.c.id)


def _points(*, won: bool) -> ColumnElement[int]:
    """Return the points of all games of a match that one side has won, no more than the match takes."""
    total = select(func.coalesce(func.sum(GAMES.c.points), 0)).where(GAMES.c.match_id == MATCHES.c.id)
    return _capped(total.where(GAMES.c.won.is_(won)).scalar_subquery())


def _capped(points: ColumnElement[int]) -> ColumnElement[int]:
    """Return points as a match to its length counts them."""
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
_UNTOLD_GAMES: Final = (
    select(func.count()).select_from(GAMES).where(GAMES.c.match_id == MATCHES.c.id, GAMES.c.points.is_(None))
).scalar_subquery()
_GAMES: Final = select(func.count()).select_from(GAMES).where(GAMES.c.match_id == MATCHES.c.id).scalar_subquery()
_LAST_GAME: Final = select(func.max(GAMES.c.number)).where(GAMES.c.match_id == MATCHES.c.id).scalar_subquery()
_SEEN_END: Final = and_(MATCHES.c.ended.is_not(None), MATCHES.c.inferred.is_(False), MATCHES.c.own_score.is_not(None))
_OURS: Final = _points(won=True)
_THEIRS: Final = _points(won=False)
_OWN: Final = _capped(MATCHES.c.own_score)
_OTHER: Final = _capped(MATCHES.c.opponent_score)
_KEY: Final = ("game_id", "sitting", "turn", "phase", "offer", "xgid", "dice")

_RULES: Final = (
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
        f"{_MATCH} ended {{own_score}}-{{opponent_score}}, but is {{outcome}}",
        _named(MATCHES.c.own_score, MATCHES.c.opponent_score, MATCHES.c.outcome).where(
            _SEEN_END,
            or_(
                and_(MATCHES.c.outcome == Outcome.WON.value, MATCHES.c.own_score <= MATCHES.c.opponent_score),
                and_(MATCHES.c.outcome == Outcome.LOST.value, MATCHES.c.own_score >= MATCHES.c.opponent_score),
            ),
        ),
    ),
    _rule(
        # What was played before the store was there, or ended while we were away, is in no game: the rest may be less.
        f"{_MATCH} stands {{own_score}}-{{opponent_score}}, but its games come to {{ours}}-{{theirs}}",
        _named(MATCHES.c.own_score, MATCHES.c.opponent_score, _OURS.label("ours"), _THEIRS.label("theirs")).where(
            MATCHES.c.own_score.is_not(None),
            or_(
                _OURS > _OWN,
                _THEIRS > _OTHER,
                and_(
                    MATCHES.c.resumed == 0,
                    MATCHES.c.outcome.in_([Outcome.WON.value, Outcome.LOST.value]),
                    MATCHES.c.inferred.is_(False),
                    _UNTOLD_GAMES == 0,
                    or_(_OURS != _OWN, _THEIRS != _OTHER),
                ),
            ),
        ),
    ),
    _rule(
        f"{_MATCH} belongs to another account than the opponent",
        _named().where(MATCHES.c.account_id != OPPONENTS.c.account_id),
    ),
    _rule(
        "{account} plays {matches} matches at once",
        select(ACCOUNTS.c.name.label("account"), func.count().label("matches"))
        .select_from(MATCHES.join(ACCOUNTS, MATCHES.c.account_id == ACCOUNTS.c.id))
        .where(MATCHES.c.outcome == Outcome.PLAYING.value)
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
        # Whoever is refused an offer to resign may make it again on the same turn, which nothing here tells apart.
        "game {game_id}, turn {turn}: {answers} answers to one {phase} decision",
        select(DECISIONS.c.game_id, DECISIONS.c.turn, DECISIONS.c.phase, func.count().label("answers"))
        .where(DECISIONS.c.refused.is_(None), ~and_(DECISIONS.c.phase == "resigned", DECISIONS.c.answer == "reject"))
        .group_by(*(DECISIONS.c[name] for name in _KEY))
        .having(func.count() > 1)
        .order_by(func.min(DECISIONS.c.id)),
    ),
)
