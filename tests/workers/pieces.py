"""Functions that tests hand out to workers, which import them by name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from attrs import define


@define
class Shared:
    """What all pieces share: counts the pieces of its process, and writes a file when it is closed."""

    plus: int = 0
    closed: Path | None = None
    calls: int = 0

    def close(self) -> None:
        """Note the end."""
        if self.closed:
            self.closed.write_text(str(self.calls))


def add(shared: int, number: int) -> int:
    """Return the sum; a negative number is slept first, in hundredths of a second."""
    if number < 0:
        time.sleep(-number / 100)
    return shared + number


def fail(_: None, number: int) -> int:
    """Raise for a 3."""
    if number == 3:
        raise ValueError("three is not allowed")
    return number


def die(_: None, number: int) -> int:
    """Kill the process for a 3."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def count(shared: Shared, number: int) -> int:
    """Return the sum with what is shared."""
    shared.calls += 1
    return shared.plus + number


def size(shared: bytes, number: int) -> int:
    """Return the sum of the number and the length of what is shared."""
    return len(shared) + number
