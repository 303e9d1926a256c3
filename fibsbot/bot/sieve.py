"""Keeps a flood out of the logs: of each kind of record so many, then only their number.

A server, or the people on it, can make a bot note the same thing thousands of times a minute. What the bot's own pace
bounds is always let through: its decisions, and the course of its connections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from attrs import define, frozen

from fibsbot.bot.actions import Record


@frozen
class Allowance:
    """How many records of one kind are let through."""

    burst: float
    """At once."""
    per_second: float
    """In the long run."""


PACED: Final = frozenset(
    {
        *("decision", "logged_in", "already_logged_in", "connection_lost", "disconnecting", "reconnecting"),
        *("no_answer", "no_step", "paused", "suppressed"),
    }
)
"""Records that nobody else can make come faster than we act; they are all let through."""
PLAY: Final = frozenset(
    {
        *("match_started", "match_resumed", "match_ended", "match_saved", "game_started", "game_ended"),
        *("length_swapped", "rating"),
    }
)
"""What happens in matches. A real server cannot reach their allowance: it takes fifty matches a second."""
PLAY_ALLOWANCE: Final = Allowance(2000, 50)
USUAL_ALLOWANCE: Final = Allowance(100, 0.2)


@define
class _Bucket:
    allowance: Allowance
    left: float
    at: float
    """When `left` was true."""
    suppressed: int = 0
    """Records not let through since the last that was, or since they were last told."""
    closed: bool = False
    """Whether nothing more is let through until the allowance is whole again."""


class Sieve:
    """Lets records through, as far as they are not too many."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Have let nothing through yet."""
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}

    def admit(self, record: Record) -> Iterator[Record]:
        """Yield what is to be noted: the record, a count of earlier ones before it, or nothing."""
        if record.name in PACED:
            yield record
            return
        bucket = self._refill(record.name)
        if bucket.closed:
            bucket.suppressed += 1
            return
        if bucket.suppressed:
            yield _count(record.name, bucket)
        bucket.left -= 1
        bucket.closed = bucket.left < 1
        yield record

    def settle(self) -> Iterator[Record]:
        """Yield the counts of what was not let through and not told yet."""
        for name, bucket in self._buckets.items():
            if bucket.suppressed:
                yield _count(name, bucket)

    def _refill(self, name: str) -> _Bucket:
        now = self._clock()
        bucket = self._buckets.get(name)
        if bucket is None:
            allowance = PLAY_ALLOWANCE if name in PLAY else USUAL_ALLOWANCE
            bucket = self._buckets[name] = _Bucket(allowance, allowance.burst, now)
        bucket.left = min(bucket.left + (now - bucket.at) * bucket.allowance.per_second, bucket.allowance.burst)
        bucket.at = now
        bucket.closed = bucket.closed and bucket.left < bucket.allowance.burst
        return bucket


def _count(name: str, bucket: _Bucket) -> Record:
    count, bucket.suppressed = bucket.suppressed, 0
    return Record("suppressed", {"record": name, "count": count})
