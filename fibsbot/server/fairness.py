"""Fair shares of the processor: who has used less goes first, so that a flood of commands makes nobody else wait.

What a connection makes the server do is measured and charged to it. While the server keeps up, everybody goes at once;
when it does not, the next to go is who has been charged least since it began to wait (start-time fair queueing).
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from typing import Final

from attrs import define

SLICE: Final = 0.002
"""Seconds of work that are let through at a time; in between, the event loop looks after everything else."""
LEAST_CHARGE: Final = 2e-5
"""Seconds that a turn costs at least: what happens around the measured part."""
LOGIN: Final = 0.01
"""Seconds that a login may cost: everybody is told, and the list of users is long."""


@define(eq=False)
class Share:
    """What one connection has used."""

    used: float = 0.0
    """Seconds that were charged, counted from the clock of `Turns`."""
    total: float = 0.0
    """Seconds that were charged in all: among equals who has used less goes first."""
    expected: float = LEAST_CHARGE
    """What the next turn is likely to cost: what the last one did."""

    def charge(self, seconds: float) -> None:
        """Replace what was charged in advance for the last turn by what it cost."""
        seconds = max(seconds, LEAST_CHARGE)
        self.used += seconds - self.expected
        self.total += seconds
        self.expected = seconds


class Turns:
    """Hands out turns to the connections of one event loop."""

    def __init__(self) -> None:
        """Begin with nobody waiting."""
        self._clock = 0.0
        """What the connection that went last had used; who comes back from a pause is set to it."""
        self._left = SLICE
        self._renewing = False
        self._waiting: list[tuple[float, float, int, Share, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    async def turn(self, share: Share) -> None:
        """Wait until it is a connection's turn, and charge it for what that is likely to cost."""
        share.used = max(share.used, self._clock)
        if self._left > 0 and not self._waiting:
            self._grant(share)
            return
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (share.used, share.total, next(self._numbers), share, future))
        await future

    def _grant(self, share: Share) -> None:
        self._clock = max(self._clock, share.used)
        share.used += share.expected
        self._left -= share.expected
        if not self._renewing:
            self._renewing = True
            asyncio.get_running_loop().call_soon(self._renew)

    def _renew(self) -> None:
        """Let through another slice of work, after the event loop has been through everything once."""
        self._renewing = False
        self._left = SLICE
        while self._waiting and self._left > 0:
            *_, share, future = heapq.heappop(self._waiting)
            if not future.done():  # else its connection has ended
                self._grant(share)
                future.set_result(None)
