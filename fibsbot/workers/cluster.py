"""A Dask cluster behind the interface of `pool`. Imported only when a scheduler is named: it needs `distributed`.

The cluster remembers nothing. Each piece travels with the fingerprint of its client, and is taken from the cluster as
soon as it is finished. What all pieces share is the result of a task of its own, so that workers pass it on to each
other, late ones too, and the scheduler has it made again when the workers that held it have died. When the scheduler
is lost, everything in flight is handed out again as soon as there is one: Dask forgets a client's work with its
connection.
"""

from __future__ import annotations

import contextlib
import hashlib
import ipaddress
import itertools
import logging
import os
import pickle
import secrets
import ssl
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import dask
from attrs import define, field
from distributed import Client, Future, KilledWorker, as_completed
from distributed.client import ClosedClientError
from distributed.security import Security

from fibsbot.text import describe_error, one_line, plural
from fibsbot.workers.cluster_worker import Envelope, do_pieces, open_envelope, pass_on
from fibsbot.workers.errors import TlsFiles, UnusableSchedulerError, WorkError
from fibsbot.workers.fingerprint import fingerprint
from fibsbot.workers.pool import Piece, PoolSession, WorkerPool

PER_WORKER: Final = 3
"""Batches of pieces in flight per worker: one at work, the others on their way."""
BATCH_SECONDS: Final = 2.0
"""Work in a batch: so much that handing it out costs next to nothing, so little that not much is lost with a worker."""
MAX_BATCH: Final = 256
"""Pieces of a batch at most."""
CONNECT_SECONDS: Final = 10.0
"""For the first connection to the scheduler."""
PATIENCE: Final = 600.0
"""Seconds without a scheduler, or without a worker, after which a run is given up."""
NOTICE_SECONDS: Final = 10.0
"""Seconds without a worker after which a run says that it waits for one."""
PIECE_SECONDS: Final = 1800.0
"""Seconds after which a worker ends itself that has not finished its piece."""
ATTEMPTS: Final = 2
"""How often a piece is handed out if it is not finished in time, or its workers die as often as Dask allows, which need
not be its fault."""
MAX_LOSSES: Final = 100
"""How often in a row, without a result, everything may have to be handed out again."""
_LOOK_SECONDS: Final = 2.0
"""Seconds between two questions to the scheduler how many workers there are."""
_RECONNECT_SECONDS: Final = 2.0
"""For each attempt to connect again."""


def check_address(address: str) -> str:
    """Return the address of a scheduler with its scheme.

    Raises UnusableSchedulerError unless it is loopback or encrypted.
    """
    full = address if "://" in address else f"tcp://{address}"
    scheme, host = _parts(full)
    if not host or scheme not in {"tcp", "tls"}:
        raise UnusableSchedulerError(f"expected a scheduler such as tls://HOST:8786, got {one_line(address)!r}")
    if scheme != "tls":
        _check_loopback(host, address)
    return full


def check_host(scheduler: str, host: str | None) -> None:
    """Raise UnusableSchedulerError if a worker of this scheduler may not listen on an address."""
    if host and not scheduler.startswith("tls://"):
        _check_loopback(host, host)


def _parts(address: str) -> tuple[str, str]:
    """Return scheme and host of an address, which are empty if it is none or has no port."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return "", ""
    return (parts.scheme, parts.hostname or "") if port else ("", "")


def _check_loopback(host: str, address: str) -> None:
    """Raise UnusableSchedulerError, which shows the address, unless a host is this machine."""
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = host == "localhost"
    if not is_loopback:
        raise UnusableSchedulerError(
            f"expected tls:// or a loopback address, got {address}: without TLS anyone who reaches it can run any code"
        )


def security_of(address: str, tls: TlsFiles | None) -> Security | None:
    """Return the certificates for an address: those given, else those of Dask's configuration. None without TLS.

    Raises UnusableSchedulerError if they are missing or cannot be used.
    """
    if not address.startswith("tls://"):
        return None
    files = tls or TlsFiles()
    given = {"tls_ca_file": files.ca, "tls_client_cert": files.certificate, "tls_client_key": files.key}
    try:
        security = Security(require_encryption=True, **{name: str(path) for name, path in given.items() if path})
        context = security.get_connection_args("client")["ssl_context"]
    except (OSError, ValueError) as error:
        why = one_line(error)
        if isinstance(error, ssl.SSLError) and files.certificate and not files.key and _has_no_key(files.certificate):
            why = f"--tls-key is missing, and {files.certificate} has no key"  # OpenSSL says neither
        raise UnusableSchedulerError(f"cannot use the certificates for {address}: {why}") from None
    if context is None:
        needed = "--tls-ca-file, --tls-cert, --tls-key, or Dask's configuration"
        raise UnusableSchedulerError(f"{address} needs certificates: {needed}")
    return security


def _has_no_key(certificate: Path) -> bool:
    return b"PRIVATE KEY" not in certificate.read_bytes()


@contextlib.contextmanager
def open_cluster(
    address: str,
    tls: TlsFiles | None,
    *,
    report: Callable[[str], object] = lambda _: None,
    patience: float = PATIENCE,
    piece_seconds: float = PIECE_SECONDS,
) -> Iterator[WorkerPool]:
    """Connect to a scheduler. Raises WorkError if that fails, UnusableSchedulerError if it always will."""
    full = check_address(address)
    # Dask gives each of its loggers a level of its own; the others tell of its connections that break when it ends.
    for name in ("distributed", "distributed.client", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # errors are raised; their text is one line
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})  # what pieces share is sent once
    pool = DaskPool(full, security_of(full, tls), patience, piece_seconds, report)
    try:
        pool.connect(CONNECT_SECONDS)
        yield pool
    finally:
        pool.disconnect()


@define(eq=False)
class DaskPool(WorkerPool):
    """The workers of a Dask scheduler."""

    address: str
    security: Security | None
    patience: float
    piece_seconds: float
    report: Callable[[str], object] = lambda _: None
    """Gets a line when a run has waited a while for a worker."""
    client: Client | None = None
    threads: int = 0
    """Threads of all workers, each of which does a piece at a time."""
    _looked: float = 0.0

    @property
    def size(self) -> int:
        """Number of workers at present, at least 1."""
        self.look()
        return max(self.threads, 1)

    @property
    def is_local(self) -> bool:
        """Return False: any worker may be on another machine."""
        return False

    @property
    def is_connected(self) -> bool:
        """Whether there is a scheduler."""
        return self.client is not None and self.client.status == "running"

    def connect(self, seconds: float) -> None:
        """Connect anew; raise WorkError if that fails."""
        self.disconnect()
        try:
            self.client = Client(
                self.address,
                timeout=seconds,
                security=self.security,
                set_as_default=False,
                name=f"fibsbot-{os.getpid()}",
                heartbeat_interval=_LOOK_SECONDS * 1000,
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise WorkError(f"cannot reach the scheduler {self.address}: {_reason(error, seconds)}") from None
        self._looked = 0.0
        self.look()

    def disconnect(self) -> None:
        """Give up the connection and all that was submitted by it."""
        client, self.client = self.client, None
        self.threads = 0
        if client is not None:
            with contextlib.suppress(Exception):
                client.close(timeout=2)

    def look(self) -> None:
        """Ask the scheduler how many workers there are, now and then."""
        if not self.is_connected or time.monotonic() < self._looked + _LOOK_SECONDS:
            return
        client: Any = self.client
        try:
            about = client.sync(client.scheduler.identity, n_workers=0, callback_timeout=_RECONNECT_SECONDS)
            self.threads = int(about["total_threads"])
        except (OSError, TimeoutError, AttributeError):  # lost at this moment
            self.threads = 0
        self._looked = time.monotonic()

    @contextlib.contextmanager
    def _open(self, function: Callable[[Any, Any], Any], shared: Any) -> Iterator[PoolSession]:
        session = _DaskSession(self, function, pickle.dumps(shared))
        try:
            yield session
        finally:
            session.close()


def _reason(error: BaseException, seconds: float) -> str:
    """Return why there is no connection within these seconds: the first cause that says something.

    Dask's own text names only its time limit, and where that has cut an attempt short, its cause is empty.
    """
    chain = [error]
    while (cause := chain[-1].__cause__) is not None:
        chain.append(cause)
    if causes := [raised for raised in chain[1:] if str(raised)]:
        return one_line(causes[-1])
    return one_line(error) if str(error) and len(chain) == 1 else f"no answer within {seconds:g} s"


@define
class _Waiting:
    """A piece that is to be submitted."""

    number: int
    piece: Piece
    attempt: int = 1


@define
class _Batch:
    """Pieces that were submitted together."""

    pieces: list[_Waiting]
    since: float


@define(eq=False)
class _DaskSession:
    """A run on a cluster."""

    pool: DaskPool
    function: Callable[[Any, Any], Any]
    shared: bytes
    _name: str = field(factory=lambda: secrets.token_hex(4))
    _waiting: deque[_Waiting] = field(factory=deque)
    _submitted: dict[Future[Any], _Batch] = field(factory=dict)
    _client: Client | None = None
    """The connection by which they were submitted."""
    _completed: as_completed | None = None
    _shared_future: Future[Any] | None = None
    _batch_size: int = 1
    """Pieces that are submitted together, by the time that they take."""
    _stalled: float | None = None
    """Since when there has been no scheduler or no worker."""
    _noticed: bool = False
    """Whether that was reported."""
    _count: int = 0
    """Submissions."""
    _losses: int = 0
    """Lost connections since the last result."""

    @property
    def workers(self) -> int:
        return self.pool.threads

    @property
    def in_flight(self) -> int:
        return len(self._waiting) + sum(len(batch.pieces) for batch in self._submitted.values())

    @property
    def free(self) -> int:
        return PER_WORKER * max(self.pool.threads, 1) * self._batch_size - self.in_flight

    def submit(self, number: int, piece: Piece) -> None:
        """Take a piece; `collect` hands it out, with others."""
        self._waiting.append(_Waiting(number, piece))

    def collect(self, seconds: float) -> list[tuple[int, Any]]:
        """Return finished pieces; connect again if the scheduler was lost."""
        self.pool.look()
        self._check_patience()
        if not self.pool.is_connected:
            self._reconnect(seconds)
            return []
        self._submit_waiting()
        self._resubmit_late()
        completed = self._completed
        if completed is None:
            return []
        with completed.thread_condition:
            if not completed.has_ready():
                completed.thread_condition.wait(seconds)
        found: list[tuple[int, Any]] = []
        for future, value in completed.next_batch(block=False):
            if future not in self._submitted:
                continue  # it was given up
            if future.status not in {"finished", "error"}:
                self._forget_connection()
                break
            batch = self._submitted.pop(future)
            if future.status == "error":
                self._begin_again(batch, value)
            else:
                found += self._opened(batch, value)
            future.release()
        return found

    def close(self) -> None:
        """Let the scheduler forget what is not finished. Pieces at work run to their end, and nobody sees it."""
        self._drop()

    def _submit_waiting(self) -> None:
        """Submit what waits."""
        try:
            while self._waiting:
                fair = -(-len(self._waiting) // max(self.pool.threads, 1))
                first = self._waiting[0]
                size = 1 if first.attempt > 1 else max(1, min(self._batch_size, fair))
                pieces = list(itertools.islice(self._waiting, size))
                self._submitted[self._submit_batch(pieces)] = _Batch(pieces, time.monotonic())
                for _ in pieces:
                    self._waiting.popleft()
        except ClosedClientError:
            self._forget_connection()

    def _submit_batch(self, pieces: list[_Waiting]) -> Future[Any]:
        client = self.pool.client
        assert client is not None  # noqa: S101 - for the type checker
        if client is not self._client or self._completed is None:
            self._client = client
            self._completed = as_completed(loop=client.loop, with_results=True, raise_errors=False)
            key = f"fibsbot-shared-{self._name}-{self._count}"
            self._shared_future = client.submit(pass_on, self.shared, key=key, pure=False)
        self._count += 1
        future = client.submit(
            do_pieces,
            self._shared_future,
            [pickle.dumps((self.function, waiting.piece.arguments)) for waiting in pieces],
            dict(fingerprint()),
            self.pool.piece_seconds,
            key=f"{self.function.__name__}-{_short(pieces[0].piece.key)}-{self._name}-{self._count}",
            pure=False,
        )
        self._completed.add(future)
        return future

    def _opened(self, batch: _Batch, value: tuple[float, list[Envelope]]) -> Iterator[tuple[int, Any]]:
        """Yield number and result of each piece of a batch; raise what a piece has raised."""
        seconds, envelopes = value
        self._losses = 0
        wanted = round(BATCH_SECONDS * len(batch.pieces) / max(seconds, 1e-6))
        self._batch_size = max(1, min(wanted, 2 * self._batch_size, MAX_BATCH))
        for waiting, envelope in zip(batch.pieces, envelopes, strict=True):
            yield waiting.number, open_envelope(envelope)

    def _resubmit_late(self) -> None:
        """Hand out again what has taken too long: its worker is frozen, or the scheduler has lost it."""
        limit = self.pool.piece_seconds * (PER_WORKER + 1)
        late = [future for future, batch in self._submitted.items() if time.monotonic() - batch.since > limit]
        for future in late:
            self._try_again(self._submitted.pop(future), f"was not finished within {limit:g} s, {ATTEMPTS} times")
            future.release()

    def _begin_again(self, batch: _Batch, value: Any) -> None:
        """Prepare pieces whose workers have died for another attempt; raise WorkError for any other error of Dask."""
        error = value[1] if isinstance(value, tuple) else value
        if not isinstance(error, KilledWorker):
            raise WorkError(f"piece {batch.pieces[0].piece.key} cannot be done: {describe_error(error)}")
        times = plural(ATTEMPTS * (error.allowed_failures + 1), "worker")
        self._try_again(batch, f"was given up: {times} died of it")

    def _try_again(self, batch: _Batch, problem: str) -> None:
        """Prepare pieces for another attempt, each alone; raise WorkError if one has had its last."""
        for waiting in reversed(batch.pieces):
            if waiting.attempt >= ATTEMPTS:
                raise WorkError(f"piece {waiting.piece.key} {problem}")
            waiting.attempt += 1
            self._waiting.appendleft(waiting)

    # -- losing the scheduler -----------------------------------------------------------------------------------------

    def _check_patience(self) -> None:
        if self.pool.is_connected and self.pool.threads:
            self._stalled = None
            self._noticed = False
            return
        now = time.monotonic()
        self._stalled = self._stalled or now
        if now - self._stalled > NOTICE_SECONDS and not self._noticed:
            self._noticed = True
            missing = "a worker at" if self.pool.is_connected else "the scheduler"
            self.pool.report(f"waiting for {missing} {self.pool.address}")
        if now - self._stalled > self.pool.patience:
            what = "without a worker" if self.pool.is_connected else "lost"
            raise WorkError(f"the scheduler {self.pool.address} has been {what} for {self.pool.patience:g} s")

    def _forget_connection(self) -> None:
        """Prepare all that was submitted for another submission."""
        self._losses += 1
        if self._losses > MAX_LOSSES:
            raise WorkError(f"the scheduler {self.pool.address} was lost {MAX_LOSSES} times without a result")
        lost = [waiting for batch in self._submitted.values() for waiting in batch.pieces]
        self._waiting = deque(sorted([*lost, *self._waiting], key=lambda waiting: waiting.number))
        if self.pool.client is self._client:
            self.pool.disconnect()
        self._drop()

    def _reconnect(self, seconds: float) -> None:
        if self._client is not None:
            self._forget_connection()
        try:
            self.pool.connect(_RECONNECT_SECONDS)
        except WorkError:
            time.sleep(seconds)

    def _drop(self) -> None:
        for future in (*self._submitted, *([self._shared_future] if self._shared_future else [])):
            with contextlib.suppress(Exception):  # the connection is gone, with all that was submitted
                future.release()
        self._submitted = {}
        self._client = self._completed = self._shared_future = None


def _short(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:8]
