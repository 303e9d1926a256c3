"""Records that wait for the database: bounded, and when there are too many the least important go first."""

from __future__ import annotations

import enum
import heapq
import itertools
from collections.abc import Iterator
from typing import Final

from fibsbot.records.store.entries import Entry

MATCHES_FACTOR: Final = 10
"""So many times the limit may wait when all of it is about matches and games."""


class Rank(enum.Enum):
    """How dearly a record is kept."""

    DECISION = "decision"
    """The first to go."""
    ENTRY = "entry"
    """What both players did: with one missing, the rest of its game says less."""
    NEWS = "news"
    """Opponents, ratings, connections."""
    COURSE = "course"
    """The course of matches and games, without which no other row makes sense; the last to go."""


class Buffer:
    """What waits, in the order in which it came. Not safe for threads: whoever shares it holds a lock."""

    def __init__(self, limit: int) -> None:
        """Hold `limit` records, or MATCHES_FACTOR times as many of rank COURSE."""
        self._limit = limit
        self._waiting: dict[Rank, dict[int, Entry]] = {rank: {} for rank in Rank}
        self._taken: list[tuple[Rank, Entry]] = []

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values())) + len(self._taken)

    def put(self, rank: Rank, entry: Entry) -> int:
        """Take a record in; return how many were dropped for it, which may be the record itself."""
        dropped = 0
        if len(self) >= self._limit:
            dropped = self._make_room(rank)
            if not dropped and len(self) >= self._limit * (MATCHES_FACTOR if rank is Rank.COURSE else 1):
                return 1
        self._waiting[rank][entry.number] = entry
        return dropped

    def _make_room(self, rank: Rank) -> int:
        """Drop the oldest of the least important records, unless the one to come is less important still."""
        for lesser in (Rank.DECISION, Rank.ENTRY, Rank.NEWS):
            if waiting := self._waiting[lesser]:
                del waiting[next(iter(waiting))]
                return 1
            if lesser is rank:
                break
        return 0

    def take(self, most: int) -> list[Entry]:
        """Return the next records, oldest first; they are out of reach until `done` or `give_back`."""
        by_age = heapq.merge(*(_ranked(rank, it) for rank, it in self._waiting.items()), key=lambda it: it[1].number)
        self._taken = list(itertools.islice(by_age, most))
        for rank, entry in self._taken:
            del self._waiting[rank][entry.number]
        return [entry for _, entry in self._taken]

    def done(self) -> None:
        """Forget what was taken: it is written."""
        self._taken = []

    def give_back(self) -> None:
        """Have what was taken wait again."""
        for rank in Rank:
            back = {entry.number: entry for taken, entry in self._taken if taken is rank}
            self._waiting[rank] = back | self._waiting[rank]
        self._taken = []


def _ranked(rank: Rank, waiting: dict[int, Entry]) -> Iterator[tuple[Rank, Entry]]:
    return ((rank, entry) for entry in waiting.values())
