"""The finished files of a session log: their names, their compression in the background, and their removal.

Beside the current file, `marvin.jsonl`, are the finished ones: `marvin-20261121T181502Z.jsonl`, and
`marvin-20261121T181502Z.jsonl.gz` once they are compressed. The time is when the file was finished; files finished in
the same second are `..._002` and so on. What a crash has interrupted is completed by the next sweep.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import glob
import gzip
import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

import structlog
from attrs import define, field, frozen

from fibsbot.files import UNFINISHED, private_opener, replacing
from fibsbot.records.session_log import Rotation

WARNING_INTERVAL: Final = dt.timedelta(hours=1)
"""Time between two warnings about the files of one log."""
SWEEP_INTERVAL: Final = dt.timedelta(hours=1)
"""Time between two attempts to compress what could not be compressed."""

_COMPRESSED: Final = ".gz"
_STAMP: Final = "%Y%m%dT%H%M%SZ"
_CHUNK: Final = 2**20
_one_at_a_time: Final = threading.Lock()
"""At midnight all logs of a process begin new files; their compression must not use every processor."""
_log = structlog.get_logger(__name__)

Clock: TypeAlias = Callable[[], dt.datetime]


@define
class WarningLimiter:
    """Limits the warnings about a log to one per hour: a full disk stays full for a while."""

    path: Path
    clock: Clock
    _last: dt.datetime | None = None

    def warn(self, what: str, error: OSError) -> None:
        """Log a warning, unless there was one within the last hour."""
        now = self.clock()
        if self._last is None or now - self._last >= WARNING_INTERVAL:
            self._last = now
            _log.warning(what, path=str(self.path), error=str(error))


@frozen(order=True)
class FinishedFile:
    """A finished file. They sort from the oldest to the newest."""

    time: dt.datetime
    number: int
    """Counts the files of the same second, from 1."""
    path: Path = field(order=False)
    compressed: bool = field(order=False)


def finished_files(path: Path) -> list[FinishedFile]:
    """Return the finished files of the log that is written to `path`, the oldest first."""
    name = re.compile(rf"{re.escape(path.stem)}-(\d{{8}}T\d{{6}}Z)(?:_(\d+))?{re.escape(path.suffix)}(\.gz)?")
    found = []
    for file in path.parent.iterdir():
        if match := name.fullmatch(file.name):
            with contextlib.suppress(ValueError):  # not a time: a file of another program
                time = dt.datetime.strptime(match[1], _STAMP).replace(tzinfo=dt.UTC)
                found.append(FinishedFile(time, int(match[2] or 1), file, bool(match[3])))
    return sorted(found)


@define(slots=False)
class FinishedLogs:
    """The finished files of one log."""

    path: Path
    """The current file."""
    rotation: Rotation
    clock: Clock
    limiter: WarningLimiter
    _lock: threading.Lock = field(factory=threading.Lock, init=False)
    _wanted: bool = field(default=False, init=False)
    _thread: threading.Thread | None = field(default=None, init=False)

    def next_path(self) -> Path:
        """Return the path for a file that is finished now."""
        time = self.clock().astimezone(dt.UTC)
        numbers = [file.number for file in finished_files(self.path) if file.time == time.replace(microsecond=0)]
        number = f"_{max(numbers) + 1:03}" if numbers else ""
        return self.path.with_name(f"{self.path.stem}-{time:{_STAMP}}{number}{self.path.suffix}")

    def sweep_in_background(self) -> None:
        """Sweep the finished files in a thread, which ends when there is nothing left to do."""
        with self._lock:
            self._wanted = True
            if self._thread is not None and self._thread.is_alive():
                return
            self._thread = threading.Thread(
                target=self._keep_sweeping, name=f"finished files of {self.path.name}", daemon=True
            )
            try:
                self._thread.start()
            except RuntimeError as error:  # the process has reached its limit of threads
                self.limiter.warn("session logs cannot be compressed", OSError(str(error)))

    def _keep_sweeping(self) -> None:
        while True:
            with self._lock:
                if not self._wanted:
                    self._thread = None
                    return
                self._wanted = False
            with _one_at_a_time:
                self.sweep()

    def sweep(self) -> None:
        """Compress finished files and remove those beyond the limits. Never raises; what fails is left as it is."""
        try:
            for leftover in self.path.parent.glob(f".{glob.escape(self.path.stem)}-*{_COMPRESSED}.*{UNFINISHED}"):
                leftover.unlink()
            self._remove()  # frees space first
            while file := next((file for file in finished_files(self.path) if not file.compressed), None):
                _compress(file.path)
                self._remove()
        except OSError as error:
            self.limiter.warn("session logs cannot be compressed", error)

    def _remove(self) -> None:
        """Remove files that are too old, then the oldest until the total is within its limit, compressed ones first."""
        kept = []
        limit = self.clock() - dt.timedelta(days=self.rotation.keep_days)
        for file in finished_files(self.path):
            if self.rotation.keep_days and file.compressed and file.time < limit:
                file.path.unlink()
            else:
                kept.append(file)
        if not self.rotation.max_total_bytes:
            return
        sizes = {file: file.path.stat().st_size for file in kept}
        total = sum(sizes.values()) + (self.path.stat().st_size if self.path.exists() else 0)
        for file in sorted(kept, key=lambda file: (not file.compressed, file)):
            if total <= self.rotation.max_total_bytes:
                break
            file.path.unlink()
            total -= sizes[file]


def _compress(source: Path) -> None:
    """Compress a file. The source is removed once the result is complete."""
    target = source.with_name(source.name + _COMPRESSED)
    with (
        source.open("rb") as plain,
        replacing(target) as part,
        open(part, "wb", opener=private_opener) as raw,
        gzip.GzipFile(source.name, "wb", fileobj=raw) as packed,
    ):
        shutil.copyfileobj(plain, packed, _CHUNK)
    source.unlink()
