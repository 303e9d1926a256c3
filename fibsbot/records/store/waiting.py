"""Records that wait for the database, in a file too: a process that is killed loses none of them.

Each process appends to a file of its own, which it holds locked; a lock ends with its process, so whoever opens the
store next knows what nobody will write any more, and writes it. The file is beside a store that is a file itself, else
in the user's folder for the state of programs. What cannot be written there waits in memory alone.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen
from sqlalchemy import URL

from fibsbot.records.store.database import is_sqlite, shown
from fibsbot.records.store.entries import Entry

WAITING: Final = ".waiting-"
LARGEST: Final = 1 << 24
"""Bytes of a file at most: as many records as may wait, and more."""
TRIES: Final = 3
"""How often a file is opened that others remove."""


class WaitingFile:
    """What a process has put since the database had everything. Not safe for threads; nothing raises."""

    def __init__(self, url: URL, writer: str) -> None:
        """Begin a file for a writer, known by its id; it is made with the first record."""
        place = _place(url)
        self._path = place.with_name(place.name + writer)
        self._file: int | None = None
        self._size = 0

    def add(self, entry: Entry) -> None:
        """Append a record: it is with the operating system then, which keeps it when the process is killed."""
        if self._size > LARGEST:
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
            self._size = LARGEST + 1


@frozen
class LeftOver:
    """What a process that is gone had put."""

    writer: str
    """Its id."""
    entries: tuple[Entry, ...]
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
            self.path.rename(self.path.with_name(self.path.name.replace(WAITING, ".unusable-")))


def left_over(url: URL) -> Iterator[LeftOver]:
    """Yield what waited for a store when its process ended, the oldest first; nobody else sees it meanwhile."""
    place = _place(url)
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
                entries = tuple(entry for line in file if (entry := _read(line)))
            except OSError:  # its process lives, or another one has taken it
                continue
            yield LeftOver(path.name.removeprefix(place.name), entries, at, path)


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


def _place(url: URL) -> Path:
    """Return where the files of a store are, and how their names begin; a writer's id is the rest."""
    if is_sqlite(url):
        path = Path(str(url.database))
    else:
        shared = Path(os.environ.get("XDG_STATE_HOME", ""))
        home = Path(os.path.expanduser("~"))  # noqa: PTH111 - pathlib's raises where there is none
        state = shared if shared.is_absolute() else home / ".local" / "state"
        path = state / "fibsbot" / f"store-{hashlib.sha256(shown(url).encode()).hexdigest()[:16]}"
    return path.with_name(path.name + WAITING)


def _line(entry: Entry) -> bytes:
    told = [entry.number, entry.account, entry.name, entry.fields, entry.at.isoformat()]
    return json.dumps(told, default=_plain).encode() + b"\n"


def _plain(value: object) -> object:
    return sorted(value, key=str) if isinstance(value, set | frozenset) else str(value)


def _read(line: bytes) -> Entry | None:
    """Return a record; None for a line that was not written whole."""
    try:
        number, account, name, fields, at = json.loads(line)
        return Entry(int(number), str(account), str(name), dict(fields), dt.datetime.fromisoformat(at))
    except (ValueError, TypeError):
        return None
