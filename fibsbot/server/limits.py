"""Limits that keep one client from harming the others: bounds, fair shares of the processor, rate-limited log lines.

The processor time that a connection causes is measured and charged to it. While the server keeps up, all are served
at once; when it does not, the next connection is the one that was charged least since it began to wait (start-time
fair queueing).
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections import Counter
from collections.abc import Callable
from typing import Final, TypeAlias

from attrs import define, frozen


@frozen
class ServerLimits:
    """Bounds of the server. A connection that exceeds one is slowed down, cut short or closed; others never wait."""

    line: int = 1024
    """Maximum length of a line in characters; the rest of a longer one is dropped."""
    send_buffer: int = 2**20
    """Bytes of output buffered for a client that does not read; with more the connection is closed."""
    connections: int = 2000
    """Maximum number of connections at a time."""
    connections_per_address: int = 1500
    """Maximum number of connections at a time from one address. All local bots and tests share one address."""
    login_time: float = 120.0
    """Seconds to log in."""
    login_attempts: int = 5
    """Number of wrong passwords after which the connection is closed."""
    idle_time: float = 3600.0
    """Seconds without a command, after which the connection is closed ("about an hour"; specification: "Timeout")."""
    commands_per_second: float = 500.0
    """Commands that one connection may send in the long run; a faster one is read more slowly."""
    burst: int = 200
    """Commands that it may send at once before that."""
    bytes_per_second: float = 2.0**16
    """Bytes that one connection may send in the long run; more are read more slowly."""
    burst_bytes: int = 2**16
    """Bytes that it may send at once before that."""
    receive_buffer: int = 2**14
    """Bytes that the system keeps of what a connection has sent and we have not read (it may double them)."""
    accounts: int = 100_000
    """Maximum number of registered users."""
    password_cost: int = 2**14
    """Cost of a password's hash (scrypt's N)."""


SHORT_LIVED: Final = ServerLimits(password_cost=2**4)
"""Limits of a server for a few matches between our own bots: hashing their made-up passwords costs next to nothing."""

WORK_SLICE: Final = 0.002
"""Seconds of work that are granted at a time; in between, the event loop does everything else."""
LEAST_CHARGE: Final = 2e-5
"""Minimum seconds that a turn is charged: the work around the measured part."""
LOGIN_COST: Final = 0.01
"""Seconds that a login is expected to cost: it is announced to all users, and the list of users is long."""


@define(eq=False)
class ProcessorShare:
    """The processor time that one connection has used."""

    used: float = 0.0
    """Seconds charged, counted from the clock of `FairQueue`."""
    total: float = 0.0
    """Seconds charged in all: among equals, the connection that has used less goes first."""
    expected: float = LEAST_CHARGE
    """The likely cost of the next turn: that of the last one."""

    def charge(self, seconds: float) -> None:
        """Replace the advance charge for the last turn by its real cost."""
        seconds = max(seconds, LEAST_CHARGE)
        self.used += seconds - self.expected
        self.total += seconds
        self.expected = seconds


class FairQueue:
    """A queue that gives the connections of one event loop fair shares of the processor."""

    def __init__(self) -> None:
        """Start with an empty queue."""
        self._clock = 0.0
        """The time used by the connection that went last; one that returns from a pause is set to it."""
        self._left = WORK_SLICE
        self._renewing = False
        self._waiting: list[tuple[float, float, int, ProcessorShare, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    async def wait_for_turn(self, share: ProcessorShare) -> None:
        """Wait until it is a connection's turn, and charge it for the expected cost."""
        share.used = max(share.used, self._clock)
        if self._left > 0 and not self._waiting:
            self._grant(share)
            return
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (share.used, share.total, next(self._numbers), share, future))
        await future

    def _grant(self, share: ProcessorShare) -> None:
        self._clock = max(self._clock, share.used)
        share.used += share.expected
        self._left -= share.expected
        if not self._renewing:
            self._renewing = True
            asyncio.get_running_loop().call_soon(self._renew)

    def _renew(self) -> None:
        """Grant another slice of work, after one iteration of the event loop."""
        self._renewing = False
        self._left = WORK_SLICE
        while self._waiting and self._left > 0:
            *_, share, future = heapq.heappop(self._waiting)
            if not future.done():  # else its connection has ended
                self._grant(share)
                future.set_result(None)


LogCounts: TypeAlias = Callable[[Counter[str]], None]
"""Logs the number of events per address."""


class RateLimitedLog:
    """A log of events counted per address: the first at once, later ones together, once per interval."""

    def __init__(self, interval: float, log: LogCounts) -> None:
        """Log with `log`, at most once per `interval` seconds."""
        self._interval = interval
        self._log_counts = log
        self._counts: Counter[str] = Counter()
        self._timer: asyncio.TimerHandle | None = None

    def count(self, address: str) -> None:
        """Count one event."""
        self._counts[address] += 1
        if self._timer is None:
            self._log()

    def _log(self) -> None:
        self._timer = None
        if self._counts:
            counts, self._counts = self._counts, Counter()
            self._log_counts(counts)
            self._timer = asyncio.get_running_loop().call_later(self._interval, self._log)

    def close(self) -> None:
        """Log the last counts."""
        if self._timer is not None:
            self._timer.cancel()
            self._log()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
