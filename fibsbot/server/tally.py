"""Things that strangers can make happen as often as they like, and that must not fill the log."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import TypeAlias

Say: TypeAlias = Callable[[Counter[str]], None]
"""Logs what happened: how often, by address."""


class Tally:
    """Counts what happens, by address, and logs it: the first time at once, then together, once in a while."""

    def __init__(self, every: float, say: Say) -> None:
        """Log with `say`, at most once in `every` seconds."""
        self._every = every
        self._say = say
        self._counts: Counter[str] = Counter()
        self._timer: asyncio.TimerHandle | None = None

    def note(self, address: str) -> None:
        """Count once more."""
        self._counts[address] += 1
        if self._timer is None:
            self._log()

    def _log(self) -> None:
        self._timer = None
        if self._counts:
            counts, self._counts = self._counts, Counter()
            self._say(counts)
            self._timer = asyncio.get_running_loop().call_later(self._every, self._log)

    def close(self) -> None:
        """Log what was counted last."""
        if self._timer is not None:
            self._timer.cancel()
            self._log()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
