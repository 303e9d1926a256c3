"""Writes records into the store as they come, without ever delaying the play.

`put` only appends to a queue; a thread writes what is in it, with a short pause between two transactions. Records that
are not written yet are in a spill file as well (`record_queue.py`): if the process is killed, the next process that
writes into the store writes them first. On SQLite a commit does not wait for the disk (`synchronous = NORMAL`): the
operating system has the data, which is enough if a process is killed. After a power failure the last transactions may
be missing, but the file is intact. Because a lost match would be worse than a lost decision, a transaction with a
record of the lifecycle of a match does wait for the disk (`FULL`), and with it everything before.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import structlog
from sqlalchemy import Connection, Engine, delete, insert, select, update
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError

from fibsbot.files import os_errors_as
from fibsbot.records.store.database import (
    StoreError,
    database_error_text,
    database_url,
    is_hopeless,
    is_sqlite,
    open_engine,
    public_url,
)
from fibsbot.records.store.record_handlers import HANDLERS, write_records
from fibsbot.records.store.record_queue import (
    OrphanedSpill,
    PendingRecord,
    Priority,
    RecordQueue,
    SpillFile,
    orphaned_spills,
)
from fibsbot.records.store.schema import WRITERS, prepare
from fibsbot.redaction import redact_record
from fibsbot.version import __version__

QUEUE_LIMIT: Final = 20_000
"""Maximum number of records in memory while the database is unavailable."""
BATCH: Final = 500
"""Maximum number of records in a transaction."""
PAUSE_FACTOR: Final = 4
"""The pause between two transactions is this many times the processor time of the last one. Most of the work is the
same for one record and for a hundred, and meanwhile the bots have to share Python's lock with it."""
MAX_PAUSE: Final = 0.02
"""Seconds; records are in the store soon, and few are left when the process is killed."""
RETRY_PAUSES: Final = (0.5, 30.0)
"""Seconds before the first retry, and before later ones at most; each pause is twice the one before."""
WARNING_INTERVAL: Final = 3600.0
"""Seconds between two warnings."""

WRITER_RETENTION: Final = dt.timedelta(days=30)
"""How long a process that no longer writes is remembered."""

_log = structlog.get_logger(__name__)


def _warn(text: str) -> None:
    _log.warning(text)


class StoreWriter:
    """Writes the records of any number of accounts."""

    def __init__(
        self,
        url: str | Path,
        *,
        on_error: Callable[[str], None] = _warn,
        limit: int = QUEUE_LIMIT,
        pauses: tuple[float, float] = RETRY_PAUSES,
    ) -> None:
        """Write into the store at this path or URL, which is created if it does not exist.

        `on_error` is called with a sentence when the database cannot be used, at most once an hour, in the writing
        thread (at the start, in the caller's). Raises StoreError if waiting would not help: an invalid URL, the
        database of another program, a schema of another version. A database that is unavailable is not an error; it
        may come back.
        """
        self._url = database_url(url)
        self._on_error = on_error
        self._pauses = pauses
        self._engine: Engine = open_engine(self._url, writing=True)
        self._connection: Connection | None = None
        self._id = uuid.uuid4().hex
        self._file: tuple[int, int] | None = None
        self._sequence = 0
        """The number of the last of our records that the database has."""
        self._queue = RecordQueue(limit)
        self._spill = SpillFile(self._url, self._id)
        self._changed = threading.Condition()
        self._numbers = 0
        self._closing: float | None = None
        self._warned: dict[str, float] = {}
        self.error: str | None = None
        """Why the database cannot be used at the moment, in one line."""
        self.lost = 0
        """Records that were dropped because too many waited, or that could not be stored."""
        self.written = 0
        """Records that are in the database."""
        self._open_at_first()
        self._thread = threading.Thread(target=self._run, name="store", daemon=True)
        self._thread.start()

    # -- for the bots ------------------------------------------------------------------------------------------

    def put(self, account: str, name: str, fields: Mapping[str, Any], at: dt.datetime) -> None:
        """Store a record of an account, if the store has its kind. Never waits, never raises."""
        handler = HANDLERS.get(name)
        if handler is None:
            return
        with self._changed:
            if self._closing is not None:
                self.lost += 1
                return
            self._numbers += 1
            entry = PendingRecord(self._numbers, account, name, redact_record(dict(fields)), at)
            self.lost += self._queue.put(handler[0], entry)
            self._spill.add(entry)
            self._changed.notify_all()

    @property
    def waiting(self) -> int:
        """Number of records that are not in the database yet."""
        with self._changed:
            return len(self._queue)

    @property
    def healthy(self) -> bool:
        """Whether records get into the database."""
        return self.error is None and self._thread.is_alive()

    def flush(self, deadline: float = 10.0) -> bool:
        """Wait until everything is in the database, `deadline` seconds at most; return whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not len(self._queue), deadline)

    def close(self, deadline: float = 10.0) -> bool:
        """Write the remaining records within `deadline` seconds, and end; return whether all were written."""
        with self._changed:
            self._closing = time.monotonic() + deadline
            self._changed.notify_all()
        self._thread.join(deadline + 1.0)
        with self._changed:
            left = len(self._queue)
            self._spill.close()
        if left:
            self.lost += left
            _log.error("store closed before everything was written", store=public_url(self._url), records=left)
        return not left

    # -- the thread ---------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._write_all()
        finally:
            self._disconnect()

    def _write_all(self) -> None:
        pause = self._pauses[0]
        while (batch := self._next_batch()) is not None:
            began = time.thread_time()
            try:
                lost = self._write(batch)
            except Exception as error:  # noqa: BLE001 - the play goes on in any case, and so does this thread
                self._disconnect()
                self._note_error(error)
                self._wait_before_retry(pause)
                pause = min(2 * pause, self._pauses[1])
            else:
                pause = self._pauses[0]
                self._written(len(batch) - lost, lost)
                time.sleep(min(PAUSE_FACTOR * (time.thread_time() - began), MAX_PAUSE))

    def _next_batch(self) -> list[PendingRecord] | None:
        """Wait for records to write; return None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._queue) or self._closing is not None)
            over = self._closing is not None and time.monotonic() >= self._closing
            return None if over or not len(self._queue) else self._queue.take(BATCH)

    def _write(self, batch: list[PendingRecord]) -> int:
        """Write a batch; return how many records were dropped. Raises if the database cannot be used."""
        self._connect()
        try:
            return self._transact(batch)
        except Exception as error:
            self._disconnect()
            if _is_database_error(error):
                raise
        # One of them cannot be stored, which is a bug of ours; it must not block the others.
        return sum(map(self._write_alone, batch))

    def _write_alone(self, entry: PendingRecord) -> int:
        try:
            return self._transact([entry])
        except Exception as error:
            self._disconnect()
            if _is_database_error(error):
                raise
            self._warn_dropped(entry, error)
            return 1

    def _transact(self, batch: list[PendingRecord]) -> int:
        connection = self._connect()
        batch = [entry for entry in batch if entry.number > self._sequence]
        if not batch:
            return 0
        if is_sqlite(self._url):
            durable = any(HANDLERS[entry.name][0] is Priority.LIFECYCLE for entry in batch)
            opened: Any = connection.connection.driver_connection
            opened.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        unusable = self._enter(connection, batch, self._id)
        self._sequence = batch[-1].number
        return unusable

    def _enter(self, connection: Connection, entries: list[PendingRecord], writer: str) -> int:
        """Write records in one transaction, with their writer's progress; return how many were unusable."""
        with connection.begin():
            unusable = write_records(connection, entries)
            mark = {"sequence": entries[-1].number, "seen": dt.datetime.now(dt.UTC)}
            connection.execute(update(WRITERS).where(WRITERS.c.id == writer).values(mark))
        for entry, error in unusable:
            self._warn_dropped(entry, error)
        return len(unusable)

    def _written(self, count: int, lost: int) -> None:
        with self._changed:
            self._queue.done()
            self.written += count
            self.lost += lost
            recovered, self.error = self.error is not None, None
            left = len(self._queue)
            if not left:
                self._spill.clear()
            self._changed.notify_all()
        if recovered:
            _log.info("store can be written again", store=public_url(self._url), waiting=left, lost=self.lost)

    # -- errors ------------------------------------------------------------------------------------------------

    def _note_error(self, error: Exception) -> None:
        with self._changed:
            self._queue.give_back()
            self.error = database_error_text(error)
            waiting = len(self._queue)
        if self._may_warn("error"):
            store = f"the store {public_url(self._url)}"
            text = f"{store} cannot be written: {self.error}; {waiting} records wait, {self.lost} are lost"
            try:
                self._on_error(text)
            except Exception:  # noqa: BLE001 - the callback may fail, the store must not
                _log.exception(text)

    def _warn_dropped(self, entry: PendingRecord, error: Exception) -> None:
        if self._may_warn("dropped"):
            _log.warning(
                "record not stored", account=entry.account, record=entry.name, error=database_error_text(error)
            )

    def _may_warn(self, what: str) -> bool:
        """Whether there was no such warning within the last hour."""
        now = time.monotonic()
        last = self._warned.get(what)
        if last is not None and now < last + WARNING_INTERVAL:
            return False
        self._warned[what] = now
        return True

    def _wait_before_retry(self, pause: float) -> None:
        """Wait before the next attempt, at most until the deadline for the end."""
        with self._changed:
            if self._closing is None:
                self._changed.wait_for(lambda: self._closing is not None, pause)
            else:
                self._changed.wait(min(pause, max(self._closing - time.monotonic(), 0.0)))

    # -- the connection -----------------------------------------------------------------------------------------

    def _open_at_first(self) -> None:
        if is_sqlite(self._url):
            path = Path(str(self._url.database))
            with os_errors_as(StoreError, f"cannot create the directory {path.parent}"):
                path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connect()
        except (DBAPIError, StoreError) as error:
            self._disconnect()
            if isinstance(error, StoreError) or is_hopeless(error):
                raise StoreError(
                    f"cannot use the store {public_url(self._url)}: {database_error_text(error)}"
                ) from None
            self._note_error(error)

    def _connect(self) -> Connection:
        """Return the connection; open one if there is none, or if the file at this path is another one now.

        SQLite would continue with a file that was moved or deleted, so that the records would be lost.
        """
        if self._connection is not None and self._file != self._file_now():
            self._disconnect()
        if self._connection is None:
            self._connection = self._engine.connect()
            prepare(self._connection)
            self._file = self._file_now()
            self._sequence = self._sign_in(self._connection, self._id)
            self._take_over(self._connection)
        return self._connection

    def _file_now(self) -> tuple[int, int] | None:
        if not is_sqlite(self._url):
            return None
        try:
            found = Path(str(self._url.database)).stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _sign_in(self, connection: Connection, writer: str) -> int:
        """Return the number of a writer's last record in the database, which is unknown after a failed commit."""
        now = dt.datetime.now(dt.UTC)
        with connection.begin():
            connection.execute(delete(WRITERS).where(WRITERS.c.seen < now - WRITER_RETENTION))
            known = connection.scalar(select(WRITERS.c.sequence).where(WRITERS.c.id == writer))
            if known is None:
                identity = {"id": writer, "host": socket.gethostname(), "process": os.getpid(), "program": __version__}
                row = {**identity, "started": now, "seen": now, "sequence": 0}
                connection.execute(insert(WRITERS), row)
        return known or 0

    def _take_over(self, connection: Connection) -> None:
        """Write the records that were pending when another process was killed."""
        for left in orphaned_spills(self._url):
            # Which of the older ones are stored is not known any more.
            if left.entries and left.at > dt.datetime.now(dt.UTC) - WRITER_RETENTION:
                try:
                    self._write_left_over(connection, left)
                except Exception as error:
                    if _is_database_error(error):
                        raise
                    left.quarantine()
                    _log.warning(
                        "records of a killed process not stored", file=str(left.path), error=database_error_text(error)
                    )
                    continue
            left.remove()

    def _write_left_over(self, connection: Connection, left: OrphanedSpill) -> None:
        sequence = self._sign_in(connection, left.writer)
        entries = [entry for entry in left.entries if entry.number > sequence and entry.name in HANDLERS]
        if entries:
            unusable = self._enter(connection, entries, left.writer)
            _log.info(
                "records of a killed process stored", store=public_url(self._url), records=len(entries) - unusable
            )

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.close()


def _is_database_error(error: Exception) -> bool:
    """Whether the database cannot be used, as opposed to a record that cannot be stored."""
    if isinstance(error, DBAPIError):
        return not isinstance(error, DataError | IntegrityError)
    return isinstance(error, StoreError)
