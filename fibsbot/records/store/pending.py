"""Records on their way into the store: their fields, the bounded queue in memory, and the spill file.

Much in a record comes from a server or an opponent. Whatever does not fit into a column is left out, so that no
database ever refuses a row because of what somebody sent.

Each process appends to a spill file of its own and holds it locked; a lock ends with its process, so the next process
that opens the store can tell which files are orphaned, and writes their records. The file is beside a store that is a
file itself, else in the user's state directory. What cannot be written there waits in memory only.
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

LONGEST_TEXT: Final = 400
"""Characters of a text that are kept."""
LARGEST_NUMBER: Final = 2**31 - 1
"""Whole numbers beyond this are none that a server means."""


class UnusableRecordError(ValueError):
    """A record lacks what makes it one; it is dropped."""


@frozen
class RecordFields:
    """A record's fields, each taken as what it should be or not at all."""

    _values: Mapping[str, Any]

    def text(self, name: str) -> str | None:
        """Return a text that any database takes, None when there is none."""
        return clean_text(self._values.get(name))

    def name(self, name: str) -> str:
        """Return a text that must be there."""
        if not (text := self.text(name)):
            raise UnusableRecordError(f"expected a record with {name}, got {self._values.get(name)!r}")
        return text

    def names(self, name: str) -> frozenset[str]:
        """Return a list of texts that must be there, though it may be empty."""
        values = self._values.get(name)
        if not isinstance(values, list | tuple | set | frozenset):
            raise UnusableRecordError(f"expected a record with a list {name}, got {values!r}")
        return frozenset(text for value in values if (text := clean_text(value)))

    def whole(self, name: str) -> int | None:
        """Return a whole number, None when there is none or it is absurd."""
        return _whole(self._values.get(name))

    def number(self, name: str) -> float | None:
        """Return a finite number."""
        value = self._values.get(name)
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            return None
        return float(value) if abs(value) <= LARGEST_NUMBER else None

    def flag(self, name: str) -> bool | None:
        """Return true or false."""
        value = self._values.get(name)
        return value if isinstance(value, bool) else None

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return names and values that must be there."""
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


@frozen
class PendingRecord:
    """A record as it was put."""

    number: int
    """Counts what one writer has taken."""
    account: str
    name: str
    fields: Mapping[str, Any]
    at: dt.datetime


def clean_text(value: Any) -> str | None:
    """Return a text without what PostgreSQL does not store (NUL, lone surrogates), and not longer than LONGEST."""
    if not isinstance(value, str):
        return None
    return value[:LONGEST_TEXT].encode("utf-8", "replace").decode().replace("\0", "�")


def _whole(value: Any) -> int | None:
    usable = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST_NUMBER
    return value if usable else None


LIFECYCLE_FACTOR: Final = 10
"""So many times the limit may wait when all of it is about matches and games."""


class Priority(enum.Enum):
    """How dearly a record is kept."""

    DECISION = "decision"
    """The first to go."""
    ENTRY = "entry"
    """What both players did: with one missing, the rest of its game says less."""
    NEWS = "news"
    """Opponents, ratings, connections."""
    COURSE = "course"
    """The course of matches and games, without which no other row makes sense; the last to go."""


class RecordQueue:
    """What waits, in the order in which it came. Not safe for threads: whoever shares it holds a lock."""

    def __init__(self, limit: int) -> None:
        """Hold `limit` records, or LIFECYCLE_FACTOR times as many of rank COURSE."""
        self._limit = limit
        self._waiting: dict[Priority, dict[int, PendingRecord]] = {rank: {} for rank in Priority}
        self._taken: list[tuple[Priority, PendingRecord]] = []

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values())) + len(self._taken)

    def put(self, rank: Priority, entry: PendingRecord) -> int:
        """Take a record in; return how many were dropped for it, which may be the record itself."""
        dropped = 0
        if len(self) >= self._limit:
            dropped = self._make_room(rank)
            if not dropped and len(self) >= self._limit * (LIFECYCLE_FACTOR if rank is Priority.COURSE else 1):
                return 1
        self._waiting[rank][entry.number] = entry
        return dropped

    def _make_room(self, rank: Priority) -> int:
        """Drop the oldest of the least important records, unless the one to come is less important still."""
        for lesser in (Priority.DECISION, Priority.ENTRY, Priority.NEWS):
            if waiting := self._waiting[lesser]:
                del waiting[next(iter(waiting))]
                return 1
            if lesser is rank:
                break
        return 0

    def take(self, most: int) -> list[PendingRecord]:
        """Return the next records, oldest first; they are out of reach until `done` or `give_back`."""
        by_age = heapq.merge(*(_ranked(rank, it) for rank, it in self._waiting.items()), key=lambda it: it[1].number)
        self._taken = list(itertools.islice(by_age, most))
        for rank, entry in self._taken:
            del self._waiting[rank][entry.number]
        return [entry for _, entry in self._taken]

    def done(self) -> None:
        """Forget what was taken: it is written."""
        self._taken = []

    def give_back(self) -> None:
        """Have what was taken wait again."""
        for rank in Priority:
            back = {entry.number: entry for taken, entry in self._taken if taken is rank}
            self._waiting[rank] = back | self._waiting[rank]
        self._taken = []


def _ranked(rank: Priority, waiting: dict[int, PendingRecord]) -> Iterator[tuple[Priority, PendingRecord]]:
    return ((rank, entry) for entry in waiting.values())


SPILL_SUFFIX: Final = ".waiting-"
LARGEST_SPILL: Final = 1 << 24
"""Bytes of a file at most: as many records as may wait, and more."""
TRIES: Final = 3
"""How often a file is opened that others remove."""


class SpillFile:
    """What a process has put since the database had everything. Not safe for threads; nothing raises."""

    def __init__(self, url: URL, writer: str) -> None:
        """Begin a file for a writer, known by its id; it is made with the first record."""
        place = _spill_path(url)
        self._path = place.with_name(place.name + writer)
        self._file: int | None = None
        self._size = 0

    def add(self, entry: PendingRecord) -> None:
        """Append a record: it is with the operating system then, which keeps it when the process is killed."""
        if self._size > LARGEST_SPILL:
            return
        with contextlib.suppress(OSError, TypeError, ValueError):  # fields may be what JSON cannot say
            if self._file is None:
                self._file = _locked(self._path)
            line = _line(entry)
            written = os.write(self._file, line)
            if written < len(line):  # the disk is full; half a line would spoil the next one
                os.ftruncate(self._file, self._size)
            else:
                self._size += written

    def clear(self) -> None:
        """Forget all records: the database has them."""
        if self._file is not None and self._size:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, 0)
                self._size = 0

    def close(self) -> None:
        """Let go of the file, and remove it if nothing is left in it."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                if not self._size:
                    self._path.unlink()
                os.close(self._file)
            self._file = None
            self._size = LARGEST_SPILL + 1


@frozen
class OrphanedSpill:
    """What a process that is gone had put."""

    writer: str
    """Its id."""
    entries: tuple[PendingRecord, ...]
    """In their order; some of them may be in the database."""
    at: dt.datetime
    """When the file was last written."""
    path: Path

    def remove(self) -> None:
        """Remove the file."""
        with contextlib.suppress(OSError):
            self.path.unlink()

    def put_aside(self) -> None:
        """Give the file a name by which nobody finds it again but a person."""
        with contextlib.suppress(OSError):
            self.path.rename(self.path.with_name(self.path.name.replace(SPILL_SUFFIX, ".unusable-")))


def orphaned_spills(url: URL) -> Iterator[OrphanedSpill]:
    """Yield what waited for a store when its process ended, the oldest first; nobody else sees it meanwhile."""
    place = _spill_path(url)
    try:
        paths = [path for path in place.parent.iterdir() if path.name.startswith(place.name)]
        paths.sort(key=lambda path: path.stat().st_mtime)
    except OSError:  # there is no such folder, or another process has just removed one of them
        return
    for path in paths:
        with contextlib.ExitStack() as held:
            try:
                file = held.enter_context(path.open("rb"))
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                at = dt.datetime.fromtimestamp(path.stat().st_mtime, dt.UTC)
                entries = tuple(entry for line in file if (entry := _read_line(line)))
            except OSError:  # its process lives, or another one has taken it
                continue
            yield OrphanedSpill(path.name.removeprefix(place.name), entries, at, path)


def _locked(path: Path) -> int:
    """Open a file of ours. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(TRIES):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file).st_nlink:
                return file
        except OSError:
            os.close(file)
            raise
        os.close(file)  # before we had the lock another process took it for one that was left over, and removed it
    raise OSError(f"{path} is removed again and again")


def _spill_path(url: URL) -> Path:
    """Return where the files of a store are, and how their names begin; a writer's id is the rest."""
    if is_sqlite(url):
        path = Path(str(url.database))
    else:
        shared = Path(os.environ.get("XDG_STATE_HOME", ""))
        home = Path(os.path.expanduser("~"))  # noqa: PTH111 - pathlib's raises where there is none
        state = shared if shared.is_absolute() else home / ".local" / "state"
        path = state / "fibsbot" / f"store-{hashlib.sha256(public_url(url).encode()).hexdigest()[:16]}"
    return path.with_name(path.name + SPILL_SUFFIX)


def _line(entry: PendingRecord) -> bytes:
    told = [entry.number, entry.account, entry.name, entry.fields, entry.at.isoformat()]
    return json.dumps(told, default=_plain).encode() + b"\n"


def _plain(value: object) -> object:
    return sorted(value, key=str) if isinstance(value, set | frozenset) else str(value)


def _read_line(line: bytes) -> PendingRecord | None:
    """Return a record; None for a line that was not written whole."""
    try:
        number, account, name, fields, at = json.loads(line)
        return PendingRecord(int(number), str(account), str(name), dict(fields), dt.datetime.fromisoformat(at))
    except (ValueError, TypeError):
        return None
