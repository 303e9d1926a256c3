"""Passwords that are tried out: whoever fails to log in waits before the next try, longer each time.

Failures are counted three times: for an address with a name, for an address, and for a name. So neither one name nor
many can be tried fast from one address, nor one name from many. Whoever logs in from the same address as last time
waits for own failures only, and nobody waits longer than `LONGEST` for an address or `LONGEST_FOR_A_NAME` for a name:
no account can be locked by somebody else.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from attrs import define

FREE: Final = 5
"""Failures of an address with a name that cost nothing yet: typing errors."""
FREE_IN_ALL: Final = 20
"""Failures of an address, or of a name, that cost nothing yet."""
FIRST: Final = 1.0
"""Seconds of the first pause; each failure doubles it."""
LONGEST: Final = 60.0
LONGEST_FOR_A_NAME: Final = 10.0
FORGET: Final = 900.0
"""Seconds without a failure after which all are forgotten."""
REMEMBERED: Final = 10_000
"""Addresses and names of which failures are remembered; the oldest give way."""


@define
class _Failures:
    count: int = 0
    last: float = 0.0


class _Ledger:
    """Failures by some key, with the pauses that follow from them."""

    def __init__(self, free: int, longest: float) -> None:
        self._free = free
        self._longest = longest
        self._failures: dict[object, _Failures] = {}

    def pause(self, key: object, now: float) -> float:
        """Return the seconds until the next try is allowed."""
        failures = self._failures.get(key)
        if failures is None or failures.count <= self._free or now - failures.last > FORGET:
            return 0.0
        doublings = min(failures.count - self._free - 1, 10)
        return max(0.0, failures.last + min(FIRST * 2.0**doublings, self._longest) - now)

    def add(self, key: object, now: float) -> None:
        failures = self._failures.pop(key, None) or _Failures()
        if now - failures.last > FORGET:
            failures.count = 0
        failures.count += 1
        failures.last = now
        self._failures[key] = failures  # behind all others: the oldest stand in front
        if len(self._failures) > REMEMBERED:
            del self._failures[next(iter(self._failures))]

    def forgive(self, key: object) -> None:
        self._failures.pop(key, None)


class _OneAtATime:
    """A lock that goes to who has had it least often, so that nobody waits for those who come again and again."""

    def __init__(self) -> None:
        self._taken = False
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self._counts: dict[object, int] = {}

    @contextlib.asynccontextmanager
    async def hold(self, key: object) -> AsyncIterator[None]:
        count = self._counts.pop(key, 0)
        self._counts[key] = count + 1
        if len(self._counts) > REMEMBERED:
            del self._counts[next(iter(self._counts))]
        if self._taken:
            future = asyncio.get_running_loop().create_future()
            heapq.heappush(self._waiting, (count, next(self._numbers), future))
            try:
                await future
            except asyncio.CancelledError:
                if future.done() and not future.cancelled():
                    self._pass_on()
                raise
        self._taken = True
        try:
            yield
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        while self._waiting:
            future = heapq.heappop(self._waiting)[-1]
            if not future.done():
                future.set_result(None)
                return
        self._taken = False


class Guessing:
    """Lets passwords be checked one at a time, and not faster than the failures so far allow."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        """Begin without failures. `clock` and `sleep` count seconds."""
        self._clock = clock
        self._sleep = sleep
        self._checking = _OneAtATime()
        self._pairs = _Ledger(FREE, LONGEST)
        self._addresses = _Ledger(FREE_IN_ALL, LONGEST)
        self._names = _Ledger(FREE_IN_ALL, LONGEST_FOR_A_NAME)

    def pause(self, address: str, name: str, *, usual: bool) -> float:
        """Return the seconds until somebody may try to log in; `usual` says that the name came from there last time."""
        now = self._clock()
        pause = self._pairs.pause((address, name), now)
        return pause if usual else max(pause, self._addresses.pause(address, now), self._names.pause(name, now))

    async def check(self, address: str, name: str, verify: Callable[[], Awaitable[bool]], *, usual: bool) -> bool:
        """Wait as long as the failures so far demand; return what `verify` says of the password."""
        while True:
            if pause := self.pause(address, name, usual=usual):
                await self._sleep(pause)
            async with self._checking.hold((address, name)):
                if self.pause(address, name, usual=usual):
                    continue  # somebody else has failed in the meantime
                right = await verify()
                self._note(address, name, right=right)
                return right

    def _note(self, address: str, name: str, *, right: bool) -> None:
        if right:
            self._pairs.forgive((address, name))
            return
        now = self._clock()
        for ledger, key in ((self._pairs, (address, name)), (self._addresses, address), (self._names, name)):
            ledger.add(key, now)
