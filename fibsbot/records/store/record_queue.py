"""Records on their way into the store: their fields, the bounded queue in memory, and the spill file.

Much in a record comes from a server or an opponent. Values that do not fit into a column are left out, so that no
database refuses a row because of text that a player sent.

Each process appends to a spill file of its own and holds it locked; a lock ends with its process, so the next process
that opens the store can identify orphaned files, and writes their records. The file is beside a store that is a
file itself, else in the user's state directory. Records that cannot be written there are in memory only.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import enum
import fcntl
import hashlib
import heapq
import itertools
import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import frozen
from sqlalchemy import URL

from fibsbot.records.store.database import is_sqlite, public_url

MAX_TEXT_LENGTH: Final = 400
"""Number of characters of a text that are kept."""
MAX_NUMBER: Final = 2**31 - 1
"""Larger numbers from a server are absurd."""
MOST_DICE: Final = 4
"""Dice that a roll has at most."""


class UnusableRecordError(ValueError):
    """A record lacks a required field; it is dropped."""


@frozen
class RecordFields:
    """The fields of a record, each returned with the expected type or not at all."""

    _values: Mapping[str, Any]

    def text(self, name: str) -> str | None:
        """Return a text that any database accepts, or None."""
        return clean_text(self._values.get(name))

    def name(self, name: str) -> str:
        """Return a required text."""
        if not (text := self.text(name)):
            raise UnusableRecordError(f"expected a record with {name}, got {self._values.get(name)!r}")
        return text

    def names(self, name: str) -> frozenset[str]:
        """Return a required list of texts, which may be empty."""
        values = self._values.get(name)
        if not isinstance(values, list | tuple | set | frozenset):
            raise UnusableRecordError(f"expected a record with a list {name}, got {values!r}")
        return frozenset(text for value in values if (text := clean_text(value)))

    def whole(self, name: str) -> int | None:
        """Return a whole number, or None if there is none or it is absurd."""
        return _whole(self._values.get(name))

    def number(self, name: str) -> float | None:
        """Return a finite number."""
        value = self._values.get(name)
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            return None
        return float(value) if abs(value) <= MAX_NUMBER else None

    def flag(self, name: str) -> bool | None:
        """Return true or false."""
        value = self._values.get(name)
        return value if isinstance(value, bool) else None

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return a required mapping."""
        value = self._values.get(name)
        if not isinstance(value, Mapping):
            raise UnusableRecordError(f"expected a record with {name}, got {value!r:.200}")
        return value

    def pair(self, name: str) -> tuple[int, int] | None:
        """Return two whole numbers, such as a score."""
        value = self._values.get(name)
        if not isinstance(value, list | tuple) or len(value) != 2:
            return None
        first, second = map(_whole, value)
        return None if first is None or second is None else (first, second)

    def given(self, name: str) -> bool:
        """Whether there is a value, valid or not."""
        return self._values.get(name) is not None

    def dice(self, name: str) -> tuple[int, ...] | None:
        """Return one to four dice; None without them."""
        value = self._values.get(name)
        if not isinstance(value, list | tuple) or not 1 <= len(value) <= MOST_DICE:
            return None
        return tuple(value) if all(_whole(die) in range(1, 7) for die in value) else None


@frozen
class PendingRecord:
    """A record as it was put."""

    number: int
    """Number of the record among those of its writer."""
    account: str
    name: str
    fields: Mapping[str, Any]
    at: dt.datetime


def clean_text(value: Any) -> str | None:
    """Return at most MAX_TEXT_LENGTH of a text, without what PostgreSQL does not store (NUL, lone surrogates)."""
    if not isinstance(value, str):
        return None
    return value[:MAX_TEXT_LENGTH].encode("utf-8", "replace").decode().replace("\0", "�")


def _whole(value: Any) -> int | None:
    usable = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_NUMBER
    return value if usable else None


class Priority(enum.Enum):
    """How important a record is when the queue is full, least important first."""

    DECISION = "decision"
    ENTRY = "entry"
    """A roll, play or cube action of a player: with one missing, the rest of its game is worth less."""
    OTHER = "other"
    """Opponents, ratings, connections."""
    LIFECYCLE = "lifecycle"
    """Beginnings and ends of matches and games, without which no other row makes sense."""


LIFECYCLE_FACTOR: Final = 10
"""Factor by which the limit is higher for records of priority LIFECYCLE."""


class RecordQueue:
    """Pending records, in their order. Not thread-safe: to share it, hold a lock."""

    def __init__(self, limit: int) -> None:
        """Hold `limit` records, or LIFECYCLE_FACTOR times as many of priority LIFECYCLE."""
        self._limit = limit
        self._waiting: dict[Priority, dict[int, PendingRecord]] = {priority: {} for priority in Priority}
        self._taken: list[tuple[Priority, PendingRecord]] = []

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values())) + len(self._taken)

    def put(self, priority: Priority, entry: PendingRecord) -> int:
        """Add a record; return how many were dropped for it, which may be the record itself."""
        dropped = 0
        if len(self) >= self._limit:
            dropped = self._make_room(priority)
            if not dropped and len(self) >= self._limit * (LIFECYCLE_FACTOR if priority is Priority.LIFECYCLE else 1):
                return 1
        self._waiting[priority][entry.number] = entry
        return dropped

    def _make_room(self, priority: Priority) -> int:
        """Drop the oldest of the least important records, unless the new one is less important still."""
        for lesser in (Priority.DECISION, Priority.ENTRY, Priority.OTHER):
            if waiting := self._waiting[lesser]:
                del waiting[next(iter(waiting))]
                return 1
            if lesser is priority:
                break
        return 0

    def take(self, limit: int) -> list[PendingRecord]:
        """Return the next records, oldest first; they are reserved until `done` or `give_back`."""
        by_age = heapq.merge(
            *(_ranked(priority, records) for priority, records in self._waiting.items()),
            key=lambda ranked: ranked[1].number,
        )
        self._taken = list(itertools.islice(by_age, limit))
        for priority, entry in self._taken:
            del self._waiting[priority][entry.number]
        return [entry for _, entry in self._taken]

    def done(self) -> None:
        """Remove the records that were taken: they are written."""
        self._taken = []

    def give_back(self) -> None:
        """Put the records that were taken back into the queue."""
        for priority in Priority:
            back = {entry.number: entry for taken, entry in self._taken if taken is priority}
            self._waiting[priority] = back | self._waiting[priority]
        self._taken = []


def _ranked(priority: Priority, waiting: dict[int, PendingRecord]) -> Iterator[tuple[Priority, PendingRecord]]:
    return ((priority, entry) for entry in waiting.values())


SPILL_SUFFIX: Final = ".waiting-"
MAX_SPILL_BYTES: Final = 1 << 24
"""Maximum size of a file: enough for more records than the queue holds."""
MAX_ATTEMPTS: Final = 3
"""Attempts to open a file that others remove."""


class SpillFile:
    """The records of a process since the database last had all of them. Not thread-safe; nothing raises."""

    def __init__(self, url: URL, writer: str) -> None:
        """Use a file for this writer, which is created with the first record."""
        base = _spill_path(url)
        self._path = base.with_name(base.name + writer)
        self._file: int | None = None
        self._size = 0

    def add(self, entry: PendingRecord) -> None:
        """Append a record, which the operating system then keeps if the process is killed."""
        if self._size > MAX_SPILL_BYTES:
            return
        with contextlib.suppress(OSError, TypeError, ValueError):  # fields may be no JSON
            if self._file is None:
                self._file = _locked(self._path)
            line = _line(entry)
            written = os.write(self._file, line)
            if written < len(line):  # the disk is full; half a line would corrupt the next one
                os.ftruncate(self._file, self._size)
            else:
                self._size += written

    def clear(self) -> None:
        """Remove all records: the database has them."""
        if self._file is not None and self._size:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, 0)
                self._size = 0

    def close(self) -> None:
        """Close the file, and remove it if it is empty."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                if not self._size:
                    self._path.unlink()
                os.close(self._file)
            self._file = None
            self._size = MAX_SPILL_BYTES + 1


@frozen
class OrphanedSpill:
    """The spill file of a process that has ended."""

    writer: str
    """Its id."""
    entries: tuple[PendingRecord, ...]
    """In their order; some may be in the database."""
    at: dt.datetime
    """When the file was last written."""
    path: Path

    def remove(self) -> None:
        """Remove the file."""
        with contextlib.suppress(OSError):
            self.path.unlink()

    def quarantine(self) -> None:
        """Rename the file so that only a person finds it again."""
        with contextlib.suppress(OSError):
            self.path.rename(self.path.with_name(self.path.name.replace(SPILL_SUFFIX, ".unusable-")))


def orphaned_spills(url: URL) -> Iterator[OrphanedSpill]:
    """Yield the spill files of a store whose processes have ended, oldest first, each locked meanwhile."""
    base = _spill_path(url)
    try:
        paths = [path for path in base.parent.iterdir() if path.name.startswith(base.name)]
        paths.sort(key=lambda path: path.stat().st_mtime)
    except OSError:  # there is no such directory, or another process has just removed a file
        return
    for path in paths:
        with contextlib.ExitStack() as stack:
            try:
                file = stack.enter_context(path.open("rb"))
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                at = dt.datetime.fromtimestamp(path.stat().st_mtime, dt.UTC)
                entries = tuple(entry for line in file if (entry := _read_line(line)))
            except OSError:  # its process is running, or another one has it
                continue
            yield OrphanedSpill(path.name.removeprefix(base.name), entries, at, path)


def _locked(path: Path) -> int:
    """Open and lock a spill file. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(MAX_ATTEMPTS):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file).st_nlink:
                return file
        except OSError:
            os.close(file)
            raise
        os.close(file)  # before we had the lock, another process removed it as orphaned
    raise OSError(f"{path} is removed again and again")


def _spill_path(url: URL) -> Path:
    """Return the path of a store's spill files without the writer's id at its end."""
    if is_sqlite(url):
        path = Path(str(url.database))
    else:
        shared = Path(os.environ.get("XDG_STATE_HOME", ""))
        home = Path(os.path.expanduser("~"))  # noqa: PTH111 - pathlib's raises where there is none
        state = shared if shared.is_absolute() else home / ".local" / "state"
        path = state / "fibsbot" / f"store-{hashlib.sha256(public_url(url).encode()).hexdigest()[:16]}"
    return path.with_name(path.name + SPILL_SUFFIX)


def _line(entry: PendingRecord) -> bytes:
    values = [entry.number, entry.account, entry.name, entry.fields, entry.at.isoformat()]
    return json.dumps(values, default=_json_value).encode() + b"\n"


def _json_value(value: object) -> object:
    return sorted(value, key=str) if isinstance(value, set | frozenset) else str(value)


def _read_line(line: bytes) -> PendingRecord | None:
    """Return a record, or None for an incomplete line."""
    try:
        number, account, name, fields, at = json.loads(line)
        return PendingRecord(int(number), str(account), str(name), dict(fields), dt.datetime.fromisoformat(at))
    except (ValueError, TypeError, RecursionError):
        return None
