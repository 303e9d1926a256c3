"""What the tests of rotated logs share: a clock that is set by hand, and looks at the files."""

from __future__ import annotations

import datetime as dt
import errno
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from attrs import evolve

from fibsbot.config.settings import LogSettings
from fibsbot.records.finished_logs import FinishedLogs, WarningLimiter, finished_files
from fibsbot.records.session_log import Received, Record, Rotation, read_session_log
from tests.patience import SOON


def rotation(**changes: Any) -> Rotation:
    """Return the default bounds of the files of a session log, with some changed."""
    return evolve(LogSettings().rotation, **changes)


SMALL = rotation(max_bytes=2**16)
LINE = b"x" * 999 + b"\n"


class Clock:
    """A clock that stands still until it is told otherwise."""

    def __init__(self) -> None:
        """Begin at noon."""
        self.now = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)

    def __call__(self) -> dt.datetime:
        """Tell the time."""
        return self.now

    def later(self, **time: float) -> None:
        """Let time go by."""
        self.now += dt.timedelta(**time)


def no_room(*_: Any, **__: Any) -> NoReturn:
    raise OSError(errno.ENOSPC, "No space left on device")


def sweep(path: Path, rotation: Rotation, clock: Callable[[], dt.datetime]) -> None:
    FinishedLogs(path, rotation, clock, WarningLimiter(path, clock)).sweep()


def log_files(path: Path) -> list[Path]:
    """Return all files of a log in the order in which they are to be read."""
    finished = finished_files(path)
    compressed = {(file.time, file.number) for file in finished if file.compressed}
    once = [file.path for file in finished if file.compressed or (file.time, file.number) not in compressed]
    return once + ([path] if path.exists() else [])


def names(path: Path) -> list[str]:
    return [file.name for file in log_files(path)]


def everything(path: Path) -> list[Record]:
    return [record for file in log_files(path) for record in read_session_log(file)]


def received(path: Path) -> bytes:
    return b"".join(record.data for record in everything(path) if isinstance(record, Received))


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON
    while not condition():
        assert time.monotonic() < deadline, "waited for too long"
        time.sleep(0.01)


def listed(directory: Path) -> list[str]:
    return sorted(file.name for file in directory.iterdir())


def swept(path: Path) -> bool:
    return [path.name] == [name for name in listed(path.parent) if not name.endswith(".gz")]
