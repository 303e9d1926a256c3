"""The cards of `fibsbot practice`: exercises that a person has answered, with when they come again."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any, Final, Self

from attrs import asdict, frozen
from sqlalchemy import URL, Engine, insert, select, update
from sqlalchemy.exc import DBAPIError

from fibsbot.files import os_errors_as
from fibsbot.records.store.database import (
    StoreError,
    database_error_text,
    database_url,
    is_sqlite,
    open_engine,
    public_url,
)
from fibsbot.records.store.reader import Store
from fibsbot.records.store.schema import PRACTICE_CARDS, PRACTICE_REVIEWS, prepare, tables_of


@frozen
class StoredCard:
    """An exercise as it was last answered."""

    player: str
    exercise_id: str
    exercise: str
    """The exercise as JSON."""
    stability: float
    """In days, as FSRS counts it."""
    difficulty: float
    """From 1 to 10, as FSRS counts it."""
    reviewed: dt.datetime
    """When it was last answered, UTC."""
    due: dt.datetime
    """When it is to be answered again, UTC."""


@frozen
class StoredReview:
    """An answer to an exercise."""

    at: dt.datetime
    rating: int
    """1 again, 2 hard, 3 good, 4 easy, as FSRS has them."""
    answer: str | None = None
    """None if the person asked for the solution."""
    loss: float | None = None
    """What the answer lost, normalised equity; None as above, or if it is not known."""
    seconds: float | None = None
    """How long the person thought."""


_FIELDS: Final = [PRACTICE_CARDS.c[name] for name in StoredCard.__annotations__]


def read_cards(store: Store, player: str | None = None) -> list[StoredCard]:
    """Return the cards of a player, or of all, the longest due first; none from a store of a time without them."""
    if PRACTICE_CARDS not in tables_of(store.version):
        return []
    query = select(*_FIELDS).order_by(PRACTICE_CARDS.c.due, PRACTICE_CARDS.c.id)
    if player is not None:
        query = query.where(PRACTICE_CARDS.c.player == player)
    with store.reading() as connection:
        return [StoredCard(**row) for row in connection.execute(query).mappings()]


class CardWriter:
    """Writes cards and answers; each answer is on the disk before `write` returns."""

    def __init__(self, engine: Engine, url: URL) -> None:
        """Write through this engine; see `open`."""
        self._engine, self._url = engine, url

    @classmethod
    def open(cls, where: str | Path) -> Self:
        """Open the store at a path or URL, or create it. Raises StoreError for one that cannot be written."""
        url = database_url(where)
        if is_sqlite(url):
            path = Path(str(url.database))
            with os_errors_as(StoreError, f"cannot create the directory {path.parent}"):
                path.parent.mkdir(parents=True, exist_ok=True)
        writer = cls(open_engine(url, writing=True), url)
        try:
            with writer._engine.connect() as connection:
                prepare(connection)
        except (DBAPIError, StoreError) as error:
            raise writer._error(error) from None
        return writer

    def write(self, card: StoredCard, review: StoredReview) -> None:
        """Write an answer, and the card as it is after it, in one transaction. Raises StoreError."""
        known = (PRACTICE_CARDS.c.player == card.player) & (PRACTICE_CARDS.c.exercise_id == card.exercise_id)
        values: dict[str, Any] = asdict(card)
        try:
            with self._engine.connect() as connection:
                if is_sqlite(self._url):
                    opened: Any = connection.connection.driver_connection
                    opened.execute("PRAGMA synchronous = FULL")
                with connection.begin():
                    number = connection.scalar(select(PRACTICE_CARDS.c.id).where(known))
                    if number is None:
                        made = connection.execute(insert(PRACTICE_CARDS), {**values, "added": review.at})
                        (number,) = made.inserted_primary_key or (None,)
                    else:
                        connection.execute(update(PRACTICE_CARDS).where(known).values(values))
                    connection.execute(insert(PRACTICE_REVIEWS), {"card_id": number, **asdict(review)})
        except DBAPIError as error:
            raise self._error(error) from None

    def close(self) -> None:
        """Close the store."""
        self._engine.dispose()

    def _error(self, error: Exception) -> StoreError:
        return StoreError(f"cannot use the store {public_url(self._url)}: {database_error_text(error)}")
