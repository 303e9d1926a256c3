"""Write a session log (its format: `session_log.py`) into a file that is rotated by size and by day.

Nothing here raises once the file is open. A line that cannot be written whole is not written at all.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import errno
import io
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Self, TypeAlias

from fibsbot.files import private_opener
from fibsbot.records.finished_logs import SWEEP_INTERVAL, Clock, FinishedLogs, WarningLimiter
from fibsbot.records.session_log import FIRST_KEY, VERSION, Rotation, utc_now
from fibsbot.redaction import StreamRedactor, redact, redact_record

RETRY_INTERVAL: Final = dt.timedelta(minutes=1)
"""Time between two attempts to start a new file."""
_NEXT: Final = ".next"
"""Suffix of a new file until it has its header; a file left by a crash contains nothing else."""
_LONGEST_HEADER: Final = 2**16

Header: TypeAlias = Callable[[str | None], bytes]
"""Returns a file's first line; the argument is the name of the file that it continues, if any."""


class LogFile:
    """A file of lines; with a rotation, a series of files."""

    def __init__(self, path: Path, header: Header, clock: Clock, rotation: Rotation | None = None) -> None:
        """Open `path` for appending, and write a header; raise OSError when the file cannot be opened.

        With a rotation, a file from an earlier run is finished first when it is full, of another day, or damaged.
        """
        self.path = path
        self._header = header
        self._clock = clock
        self._rotation = rotation
        self._limiter = WarningLimiter(path, clock)
        self._finished = FinishedLogs(path, rotation, clock, self._limiter) if rotation else None
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)  # not writable for others, whatever the umask
        self._file = _opened(path)
        self._size = os.fstat(self._file.fileno()).st_size
        self._least = 0
        """Size of the header while the file contains nothing else."""
        self._torn = not _ends_with_newline(self._file)
        self._headed = False
        self._begun: dt.date | None = _first_day(path) if self._size else clock().date()
        self._patient_until = self._swept = clock()
        with contextlib.suppress(OSError):
            path.with_name(path.name + _NEXT).unlink()
        if rotation and self._is_due(rotation, 0):
            self._begin_next(continuing=False)
        self._sweep()
        self._head()

    def append(self, line: bytes) -> bool:
        """Write a whole line or nothing; return whether it was written."""
        if self._file.closed:
            return False
        if self._rotation and self._is_due(self._rotation, len(line)):
            self._begin_next(continuing=True)
        if self._finished and self._clock() >= self._swept + SWEEP_INTERVAL:
            self._sweep()
        return self._head() and self._put(line)

    def close(self) -> None:
        """Close the file; later lines are dropped."""
        self._file.close()

    def _head(self) -> bool:
        """Write the header unless the file has one; nothing may precede it."""
        self._headed = self._headed or self._put(self._header(None))
        return self._headed

    def _put(self, line: bytes) -> bool:
        data = b"\n" * self._torn + line
        try:
            _write_whole(self._file, data)
        except OSError as error:
            self._torn = self._torn or not _ends_with_newline(self._file)
            self._limiter.warn("session log cannot be written", error)
            return False
        self._size += len(data)
        self._torn = False
        return True

    # -- the next file ------------------------------------------------------------------------------------------

    def _is_due(self, rotation: Rotation, more: int) -> bool:
        now = self._clock()
        if now < self._patient_until or self._size <= self._least:
            return False
        other_day = self._begun is None or (rotation.daily and now.date() > self._begun)
        return other_day or self._size + more > rotation.max_bytes

    def _begin_next(self, *, continuing: bool) -> None:
        """Start a new file, whose header may say that it continues the old one.

        The old file is renamed only when that header has been written; if that fails, the old file stays in use.
        """
        if self._finished is None:
            return
        begun = self.path.with_name(self.path.name + _NEXT)
        file: io.FileIO | None = None
        finished = self.path
        try:
            finished = self._finished.next_path()
            file = _opened(begun)
            header = self._header(finished.name if continuing else None)
            _write_whole(file, header)
            with contextlib.suppress(FileNotFoundError):  # the file was deleted
                self.path.rename(finished)
            begun.rename(self.path)
        except OSError as error:
            if file is not None:
                file.close()
                with contextlib.suppress(OSError):
                    begun.unlink()
            if not self.path.exists():
                with contextlib.suppress(OSError):
                    finished.rename(self.path)
            self._patient_until = self._clock() + RETRY_INTERVAL
            self._limiter.warn("session log cannot begin a new file", error)
            return
        self._file.close()
        self._file, self._headed, self._torn = file, True, False
        self._size = self._least = len(header)
        self._begun = self._clock().date()
        self._sweep()

    def _sweep(self) -> None:
        if self._finished:
            self._swept = self._clock()
            self._finished.sweep_in_background()


def _opened(path: Path) -> io.FileIO:
    return open(path, "ab+", buffering=0, opener=private_opener)


def _write_whole(file: io.FileIO, data: bytes) -> None:
    """Append all the data; on a full disk restore the file if possible, and raise OSError."""
    written = os.write(file.fileno(), data)
    if written < len(data):
        os.ftruncate(file.fileno(), os.fstat(file.fileno()).st_size - written)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _ends_with_newline(file: io.FileIO) -> bool:
    size = os.fstat(file.fileno()).st_size
    return not size or os.pread(file.fileno(), 1, size - 1) == b"\n"


def _first_day(path: Path) -> dt.date | None:
    """Return the day on which a file was started; None if its first line does not say."""
    with path.open("rb") as file:
        line = file.readline(_LONGEST_HEADER)
    try:
        return dt.datetime.fromisoformat(json.loads(line)["time"]).astimezone(dt.UTC).date()
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


_RESERVED: Final = frozenset({"time", "event", "sent", "received", FIRST_KEY})


class SessionLogWriter:
    """Appends records to a file. Each is passed to the operating system at once, in one write.

    Nothing raises after the file was opened: a full disk costs records, not the match. Lost records are counted, and
    the count is logged (event `records_lost`) as soon as the file can be written again.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], dt.datetime] = utc_now,
        rotation: Rotation | None = None,
        **fields: Any,
    ) -> None:
        """Open `path` for appending and write the first line with `fields`; raise OSError when that fails.

        With a `rotation` the log continues in new files (fibsbot/records/finished_logs.py), each with a first line that
        names the previous file in the field `continues`; `path` is always the current file.
        """
        self.path = path
        self.lost = 0
        """Number of records lost since the last one that was written."""
        self._clock = clock
        self._received = StreamRedactor()
        self._fields = redact_record(_json_value(fields))
        self._file = LogFile(path, self._header, clock, rotation)

    def received(self, data: bytes) -> None:
        """Record bytes as they came from the server."""
        if text := self._received.take(data):
            self._write({"time": self._now(), "received": text})

    def sent(self, data: bytes) -> None:
        """Record bytes as they went to the server."""
        self._write({"time": self._now(), "sent": redact(data.decode("latin-1"))})

    def event(self, name: str, /, **fields: Any) -> None:
        """Record an event; values in `fields` that JSON does not have are written with `str`."""
        if wrong := _RESERVED & fields.keys():
            raise ValueError(f"expected fields other than {sorted(_RESERVED)}, got {sorted(wrong)}")
        self._write({"time": self._now(), "event": name, **redact_record(_json_value(fields))})

    def close(self) -> None:
        """Write the bytes held back for redaction and close the file; later records are dropped."""
        if text := self._received.flush():
            self._write({"time": self._now(), "received": text})
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _now(self) -> str:
        return self._clock().isoformat()

    def _header(self, continued: str | None) -> bytes:
        header = {FIRST_KEY: VERSION, "time": self._now(), **self._fields}
        return _line({**header, "continues": continued} if continued else header)

    def _write(self, record: Mapping[str, Any]) -> None:
        line = _line(record)
        if self.lost:  # both or neither: on a full disk one of them alone might fit, again and again
            line = _line({"time": self._now(), "event": "records_lost", "count": self.lost}) + line
        self.lost = 0 if self._file.append(line) else self.lost + 1


def _json_value(value: Any) -> Any:
    """Return a value as a JSON value."""
    match value:
        case None | bool() | int() | float():
            return value
        case dict():
            return {str(key): _json_value(item) for key, item in value.items()}
        case list() | tuple():
            return [_json_value(item) for item in value]
    return str(value).encode("utf-8", "replace").decode()


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record).encode() + b"\n"
