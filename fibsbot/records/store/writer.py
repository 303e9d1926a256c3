"""Writes records into the store as they come, and never in the way of the play.

`put` only appends to a queue; one thread writes, and commits what is there: at once after a rest, else when the rest
is over. What was put and is not written yet is in a file as well (`waiting`): if the process is killed, the next one to
write into the store writes that first. On SQLite a commit does not wait for the disk (`synchronous = NORMAL`): the
operating system has the data, which is what counts when a process is killed. When the power fails the last transactions
may be missing, but the file is whole. Because a lost match would be worse than a lost decision, a transaction with the
course of a match in it does wait for the disk (`FULL`), and takes along what came before it.
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

from fibsbot import __version__
from fibsbot.records.store.database import (
    StoreError,
    database_error_text,
    database_url,
    is_hopeless,
    is_sqlite,
    open_engine,
    public_url,
)
from fibsbot.records.store.pending import (
    OrphanedSpill,
    PendingRecord,
    Priority,
    RecordQueue,
    SpillFile,
    orphaned_spills,
)
from fibsbot.records.store.record_handlers import HANDLERS, write_records
from fibsbot.records.store.schema import WRITERS, prepare
from fibsbot.redaction import redact_record

QUEUE_LIMIT: Final = 20_000
"""Records that wait in memory at most while the database is away."""
BATCH: Final = 500
"""Records in one transaction at most."""
REST_FACTOR: Final = 4
"""Between two transactions, so many times as long as the last one computed. Most of one's work is the same for one
record and for a hundred, and while it goes on the bots get only a part of the processor that Python gives one thread at
a time."""
LONGEST_REST: Final = 0.02
"""Seconds: nobody who looks into the store waits for longer, and little is left over when the process is killed."""
RETRY_PAUSES: Final = (0.5, 30.0)
"""Seconds before the first next attempt, and before any later one; each is twice as long as the one before."""
WARNING_INTERVAL: Final = 3600.0
"""Seconds between two warnings."""

WRITER_RETENTION: Final = dt.timedelta(days=30)
"""How long a process that writes no more is remembered."""

_log = structlog.get_logger(__name__)


def _warn(text: str) -> None:
    _log.warning(text)


class StoreWriter:
    """Keeps what happens to any number of accounts."""

    def __init__(
        self,
        url: str | Path,
        *,
        on_trouble: Callable[[str], None] = _warn,
        limit: int = QUEUE_LIMIT,
        pauses: tuple[float, float] = RETRY_PAUSES,
    ) -> None:
        """Write into the store at this path or URL, which is made if it is not there.

        `on_trouble` is told in a sentence that the database cannot be used, at most once an hour, in the writing
        thread (at the start, in the caller's). Raises StoreError where no waiting would help: a URL that is none, the
        database of another program, a schema that is newer than this program. A database that is away for now is no
        error; it may come back.
        """
        self._url = database_url(url)
        self._on_trouble = on_trouble
        self._pauses = pauses
        self._engine: Engine = open_engine(self._url, writing=True)
        self._connection: Connection | None = None
        self._id = uuid.uuid4().hex
        self._file: tuple[int, int] | None = None
        self._sequence = 0
        """The number of the last of our records that the database has."""
        self._buffer = RecordQueue(limit)
        self._copy = SpillFile(self._url, self._id)
        self._changed = threading.Condition()
        self._numbers = 0
        self._closing: float | None = None
        self._warned: dict[str, float] = {}
        self.trouble: str | None = None
        """What is wrong with the database at the moment, in one line."""
        self.lost = 0
        """Records that were dropped because too many waited, or that could not be stored."""
        self.written = 0
        """Records that are in the database."""
        self._open_at_first()
        self._thread = threading.Thread(target=self._run, name="store", daemon=True)
        self._thread.start()

    # -- for whoever has something to remember ------------------------------------------------------------------

    def put(self, account: str, name: str, fields: Mapping[str, Any], at: dt.datetime) -> None:
        """Have a record of an account remembered, if the store remembers its kind. Never waits, never raises."""
        known = HANDLERS.get(name)
        if known is None:
            return
        with self._changed:
            if self._closing is not None:
                self.lost += 1
                return
            self._numbers += 1
            entry = PendingRecord(self._numbers, account, name, redact_record(dict(fields)), at)
            self.lost += self._buffer.put(known[0], entry)
            self._copy.add(entry)
            self._changed.notify_all()

    @property
    def waiting(self) -> int:
        """How many records are not in the database yet."""
        with self._changed:
            return len(self._buffer)

    @property
    def healthy(self) -> bool:
        """Whether records get into the database."""
        return self.trouble is None and self._thread.is_alive()

    def flush(self, deadline: float = 10.0) -> bool:
        """Wait until everything is in the database, so many seconds at most; return whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not len(self._buffer), deadline)

    def close(self, deadline: float = 10.0) -> bool:
        """Write what waits, within so many seconds, and end; return whether nothing was left over."""
        with self._changed:
            self._closing = time.monotonic() + deadline
            self._changed.notify_all()
        self._thread.join(deadline + 1.0)
        with self._changed:
            left = len(self._buffer)
            self._copy.close()
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
            except Exception as error:  # noqa: BLE001 - whatever it is, the play goes on, and so do we
                self._disconnect()
                self._have_trouble(error)
                self._rest(pause)
                pause = min(2 * pause, self._pauses[1])
            else:
                pause = self._pauses[0]
                self._written(len(batch) - lost, lost)
                time.sleep(min(REST_FACTOR * (time.thread_time() - began), LONGEST_REST))

    def _next_batch(self) -> list[PendingRecord] | None:
        """Wait for something to write; None when the end has come."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._buffer) or self._closing is not None)
            over = self._closing is not None and time.monotonic() >= self._closing
            return None if over or not len(self._buffer) else self._buffer.take(BATCH)

    def _write(self, batch: list[PendingRecord]) -> int:
        """Write a batch; return how many of it were dropped. Raises whatever keeps the database from being used."""
        self._connect()
        try:
            return self._transact(batch)
        except Exception as error:
            self._disconnect()
            if _is_trouble(error):
                raise
        # One of them does not go in, which is our own mistake; it must not keep out the others.
        return sum(map(self._write_alone, batch))

    def _write_alone(self, entry: PendingRecord) -> int:
        try:
            return self._transact([entry])
        except Exception as error:
            self._disconnect()
            if _is_trouble(error):
                raise
            self._tell_dropped(entry, error)
            return 1

    def _transact(self, batch: list[PendingRecord]) -> int:
        connection = self._connect()
        batch = [entry for entry in batch if entry.number > self._sequence]
        if not batch:
            return 0
        if is_sqlite(self._url):
            dear = any(HANDLERS[entry.name][0] is Priority.COURSE for entry in batch)
            opened: Any = connection.connection.driver_connection
            opened.execute(f"PRAGMA synchronous = {'FULL' if dear else 'NORMAL'}")
        unusable = self._enter(connection, batch, self._id)
        self._sequence = batch[-1].number
        return unusable

    def _enter(self, connection: Connection, entries: list[PendingRecord], writer: str) -> int:
        """Write records in one transaction, which says how far their writer is; return how many say nothing usable."""
        with connection.begin():
            unusable = write_records(connection, entries)
            mark = {"sequence": entries[-1].number, "seen": dt.datetime.now(dt.UTC)}
            connection.execute(update(WRITERS).where(WRITERS.c.id == writer).values(mark))
        for entry, error in unusable:
            self._tell_dropped(entry, error)
        return len(unusable)

    def _written(self, count: int, lost: int) -> None:
        with self._changed:
            self._buffer.done()
            self.written += count
            self.lost += lost
            recovered, self.trouble = self.trouble is not None, None
            left = len(self._buffer)
            if not left:
                self._copy.clear()
            self._changed.notify_all()
        if recovered:
            _log.info("store can be written again", store=public_url(self._url), waiting=left, lost=self.lost)

    # -- trouble ------------------------------------------------------------------------------------------------

    def _have_trouble(self, error: Exception) -> None:
        with self._changed:
            self._buffer.give_back()
            self.trouble = database_error_text(error)
            waiting = len(self._buffer)
        if self._may_warn("trouble"):
            store = f"the store {public_url(self._url)}"
            told = f"{store} cannot be written: {self.trouble}; {waiting} records wait, {self.lost} are lost"
            try:
                self._on_trouble(told)
            except Exception:  # noqa: BLE001 - whoever is told may fail, the store must not
                _log.exception(told)

    def _tell_dropped(self, entry: PendingRecord, error: Exception) -> None:
        if self._may_warn("dropped"):
            _log.warning(
                "record not stored", account=entry.account, record=entry.name, error=database_error_text(error)
            )

    def _may_warn(self, what: str) -> bool:
        """Whether nobody was warned of this within the last hour."""
        now = time.monotonic()
        last = self._warned.get(what)
        if last is not None and now < last + WARNING_INTERVAL:
            return False
        self._warned[what] = now
        return True

    def _rest(self, pause: float) -> None:
        """Wait before the next attempt; towards the end not for long."""
        with self._changed:
            if self._closing is None:
                self._changed.wait_for(lambda: self._closing is not None, pause)
            else:
                self._changed.wait(min(pause, max(self._closing - time.monotonic(), 0.0)))

    # -- the connection -----------------------------------------------------------------------------------------

    def _open_at_first(self) -> None:
        if is_sqlite(self._url):
            path = Path(str(self._url.database))
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(f"cannot make the folder {path.parent}: {error.strerror}") from None
        try:
            self._connect()
        except (DBAPIError, StoreError) as error:
            self._disconnect()
            if isinstance(error, StoreError) or is_hopeless(error):
                raise StoreError(
                    f"cannot use the store {public_url(self._url)}: {database_error_text(error)}"
                ) from None
            self._have_trouble(error)

    def _connect(self) -> Connection:
        """Return the connection; make one where there is none, or where its file is not the one at this path any more.

        SQLite would go on with a file that somebody has moved or deleted, and nobody would ever see what is in it.
        """
        if self._connection is not None and self._file != self._file_now():
            self._disconnect()
        if self._connection is None:
            prepare(self._engine)
            self._connection = self._engine.connect()
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
        """Return how much of a writer's the database has: one may end when nobody knows whether a commit has."""
        now = dt.datetime.now(dt.UTC)
        with connection.begin():
            connection.execute(delete(WRITERS).where(WRITERS.c.seen < now - WRITER_RETENTION))
            known = connection.scalar(select(WRITERS.c.sequence).where(WRITERS.c.id == writer))
            if known is None:
                who = {"id": writer, "host": socket.gethostname(), "process": os.getpid(), "program": __version__}
                row = {**who, "started": now, "seen": now, "sequence": 0}
                connection.execute(insert(WRITERS), row)
        return known or 0

    def _take_over(self, connection: Connection) -> None:
        """Write what waited when another process was killed."""
        for left in orphaned_spills(self._url):
            if (
                left.entries and left.at > dt.datetime.now(dt.UTC) - WRITER_RETENTION
            ):  # of older ones nobody knows what is stored
                try:
                    self._write_left_over(connection, left)
                except Exception as error:
                    if _is_trouble(error):
                        raise
                    left.put_aside()
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


def _is_trouble(error: Exception) -> bool:
    """Whether the database cannot be used, rather than the record stored."""
    if isinstance(error, DBAPIError):
        return not isinstance(error, DataError | IntegrityError)
    return isinstance(error, StoreError)
