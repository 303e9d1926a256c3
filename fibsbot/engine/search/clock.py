"""The time that a decision has."""

from __future__ import annotations

import math
import time

from attrs import define, field


class OutOfTimeError(Exception):
    """The deadline has passed; what was found before stands."""


@define
class Clock:
    """Runs from when it is made."""

    seconds: float = math.inf
    started: float = field(factory=time.monotonic)

    def check(self) -> None:
        """Raise OutOfTimeError after the deadline. Asked between batches, every few milliseconds."""
        if self.elapsed >= self.seconds:
            raise OutOfTimeError

    @property
    def limited(self) -> bool:
        """Whether there is a deadline."""
        return self.seconds < math.inf

    @property
    def elapsed(self) -> float:
        """Seconds since the clock was made."""
        return time.monotonic() - self.started
