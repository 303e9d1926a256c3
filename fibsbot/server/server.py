"""Server: the world on a TCP port."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import structlog

from fibs_protocol import messages as m
from fibs_protocol.errors import LocalProtocolError
from fibs_protocol.words import Departure
from fibsbot.rules.laws import Laws
from fibsbot.server import dispatch, sessions
from fibsbot.server.accounts import Account, Passwords
from fibsbot.server.audience import RENDERED_ONCE, render
from fibsbot.server.connection import CLOSE_TIME, ClientConnection, as_ascii
from fibsbot.server.database import Database
from fibsbot.server.dice import DiceSource, SeededDice, SystemDice
from fibsbot.server.info import change_password
from fibsbot.server.laws import playable_laws
from fibsbot.server.limits import FairQueue, RateLimitedLog, ServerLimits
from fibsbot.server.login import LoginDialog, LoginThrottle
from fibsbot.server.users import ClientMode, User
from fibsbot.server.world import Quirks, World

_log = structlog.get_logger(__name__)

TABLE_INTERVAL: Final = 1.0
"""Seconds between two checks for players at tables who have not decided in time."""
SAMPLE_INTERVAL: Final = 60.0
"""Seconds between two samples of the number of users for `average`."""
REFUSED_LOG_INTERVAL: Final = 1.0
"""Seconds between two log lines about connections beyond the limits."""
FAILED_LOGIN_LOG_INTERVAL: Final = 60.0
"""Seconds between two log lines about failed logins."""


class Server:
    """An embedded server: `async with Server() as server: ... server.port`."""

    def __init__(  # noqa: PLR0913 - a server's settings, each with a default
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        db: Path | None = None,
        seed: int | None = None,
        limits: ServerLimits | None = None,
        quirks: Quirks | None = None,
        dice: DiceSource | None = None,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.monotonic,
        laws: Laws | None = None,
    ) -> None:
        """Prepare a server.

        Args:
            host: address to listen on.
            port: port to listen on; 0 selects a free one, which `port` then contains.
            db: file of the database; None keeps everything in memory.
            seed: seed of repeatable dice; None takes them from the system.
            limits: bounds of the connections.
            quirks: deliberate differences, for tests of clients.
            dice: source of dice for a test, in place of `seed`.
            laws: the laws of matches between users who know other laws than those of FIBS; None: of FIBS.
            clock: returns seconds since 1970 UTC, as users see them.
            timer: returns seconds that never jump, for idle times and the deadlines at tables.

        Raises:
            DatabaseError: if the database cannot be used.
        """
        self.host = host
        self.port = port
        self.limits = limits or ServerLimits()
        self.world = World(
            Database(db, clock()),
            dice or (SystemDice() if seed is None else SeededDice(seed)),
            clock,
            timer=timer,
            quirks=quirks,
            user_limit=self.limits.connections,
            house_laws=laws and playable_laws(laws),
        )
        self.passwords = Passwords(self.limits.password_cost)
        self._fair_queue = FairQueue()
        self._refused = RateLimitedLog(REFUSED_LOG_INTERVAL, _log_refused)
        self._failed_logins = RateLimitedLog(FAILED_LOGIN_LOG_INTERVAL, _log_failed_logins)
        self._login = LoginDialog(self.world, self.passwords, self.limits, LoginThrottle(), self._failed_logins)
        self._connections: dict[User, ClientConnection] = {}
        self._by_address: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._logging_in: set[asyncio.Task[None]] = set()
        self._open: set[ClientConnection] = set()
        self._background: list[asyncio.Task[None]] = []
        """Tasks that run while the server does."""
        self.failure: sqlite3.Error | None = None
        """The error after which the database can no longer be used."""
        self.failed = asyncio.Event()
        """Set together with `failure`; then only `stop` remains to be called."""
        self._stopped = False
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Start listening.

        Raises:
            OSError: if the port is not free.
        """
        try:
            self._server = await asyncio.start_server(
                self._accept, self.host, self.port, limit=2**13, backlog=1024, start_serving=False
            )
        except OSError:
            await self.stop()
            raise
        for listening in self._server.sockets:  # those that it accepts take it over
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.limits.receive_buffer)
        await self._server.start_serving()
        self.port = self._server.sockets[0].getsockname()[1]
        self.world.port = self.port
        self._background = [asyncio.create_task(self._sample()), asyncio.create_task(self._drop_late_players())]
        _log.info("listening", host=self.host, port=self.port)

    async def stop(self) -> None:
        """Log all users out, save everything, close all connections; a second call does nothing."""
        if self._stopped:
            return
        self._stopped = True
        if self._server is not None:
            self._server.close()
        if self.failure is None:
            sessions.shut_down(self.world)
        self._deliver(None)
        for task in self._background:
            task.cancel()
        await self._end_connections()
        for log in (self._refused, self._failed_logins):
            log.close()
        self.passwords.close()
        self.world.database.close()
        if self._server is not None:
            await self._server.wait_closed()
            _log.info("stopped")

    async def _end_connections(self) -> None:
        """Close all connections and wait a limited time until they are closed."""
        for connection in self._open:
            connection.close()
        for task in self._logging_in:  # some are in a long pause after failed logins
            task.cancel()
        if self._tasks:
            _, pending = await asyncio.wait(self._tasks, timeout=2 * CLOSE_TIME)
            for task in pending:
                task.cancel()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def register(self, name: str, password: str) -> None:
        """Add an account without a connection, for programs that embed the server; do nothing if it exists."""
        if not self.world.database.registered(name):
            self.world.database.save_accounts(Account(name, await self.passwords.hash(password)))

    # -- connections ------------------------------------------------------------------------------------------------

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Accept a connection within the limits, and serve it to its end."""
        task = asyncio.current_task()
        connection = ClientConnection(reader, writer, self.limits, self.world.traffic, self._fair_queue)
        if self._stopped:  # accepted just before; nothing would close it any more
            connection.abort()
            return
        host = connection.host
        full = self._by_address.total() >= self.limits.connections
        if task is None or full or self._by_address[host] >= self.limits.connections_per_address:
            self._refused.count(host)
            connection.abort()
            return
        await self._serve_and_close(connection, task)

    async def _serve_and_close(self, connection: ClientConnection, task: asyncio.Task[None]) -> None:
        """Serve an accepted connection; close it in any case."""
        self._tasks.add(task)
        self._open.add(connection)
        self._by_address[connection.host] += 1
        try:
            await self._serve(connection, task)
        except sqlite3.Error as error:
            self._fail(error)
        except asyncio.CancelledError:
            if not self._stopped:
                raise
            # While the task counts a request to cancel it, a timeout that expires raises CancelledError
            # instead of TimeoutError up to Python 3.11.2, and `finish` has two of them.
            task.uncancel()
        except Exception as error:  # noqa: BLE001 - an error of any kind ends this connection only
            _log.error("connection failed", host=connection.host, trace=_trace(error))
        finally:
            try:
                await connection.finish()
            finally:  # also when the task is cancelled while it closes the connection
                self._forget(connection, task)

    def _forget(self, connection: ClientConnection, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._open.discard(connection)
        self._by_address[connection.host] -= 1
        if not self._by_address[connection.host]:
            del self._by_address[connection.host]

    async def _serve(self, connection: ClientConnection, task: asyncio.Task[None]) -> None:
        self._logging_in.add(task)
        try:
            async with asyncio.timeout(self.limits.login_time):
                user = await self._login.run(connection)
        except (TimeoutError, ConnectionError):
            user = None
        finally:
            self._logging_in.discard(task)
        if user is None:
            return
        self._connections[user] = connection
        _log.info("logged in", user=user.name, host=user.host, client=user.client)
        with connection.charge_time():
            self._deliver(user)
        departure = Departure.DROPPED
        try:
            while (line := await connection.read_secret()) is not None:
                await self._handle(user, connection, line)
        except TimeoutError:
            departure = Departure.TIMED_OUT
            self.world.send(user, m.ConnectionTimedOut())
        except ConnectionError:
            departure = Departure.NETWORK_ERROR
        finally:
            sessions.log_out(self.world, user, departure)
            self._deliver(None)
            _log.info("logged out", user=user.name)

    async def _handle(self, user: User, connection: ClientConnection, line: str) -> None:
        text = as_ascii(line)
        password = dispatch.password_command(text)
        if password is not None:
            is_ascii = line.rpartition(":")[2].isascii()
            await change_password(self.world, user, self.passwords, password, is_ascii=is_ascii)
        with connection.charge_time():
            if password is None:
                dispatch.handle(self.world, user, text)
            self._deliver(user)

    def _deliver(self, actor: User | None) -> None:
        """Deliver the outbox; the user who sent the command gets a prompt even without an answer."""
        texts: dict[User, list[str]] = {} if actor is None else {actor: []}
        outbox, self.world.outbox = self.world.outbox, []
        shared: dict[int, list[str]] = {}
        for user, message in outbox:
            lines = shared.get(id(message)) if user.clip else None
            if lines is None:
                try:
                    lines = render(user, message)
                except LocalProtocolError as error:
                    _log.error("message cannot be written", kind=message.kind(), reason=str(error))
                    continue
                if user.clip and isinstance(message, RENDERED_ONCE):
                    shared[id(message)] = lines
            texts.setdefault(user, []).extend(lines)
        disconnecting, self.world.disconnecting = self.world.disconnecting, []
        for user, lines in texts.items():
            connection = self._connections.get(user)
            if connection is not None:
                connection.send(lines, prompt=user.mode is ClientMode.TELNET and user not in disconnecting)
        for user in disconnecting:
            connection = self._connections.pop(user, None)
            if connection is not None:
                connection.close()

    def _fail(self, error: sqlite3.Error) -> None:
        """Close all connections at once: matches that cannot be saved must not go on."""
        if self.failure is None:
            _log.critical("the database failed", reason=str(error))
            self.failure = error
            self.failed.set()
            self.world.closing = True
        for connection in self._open:
            connection.abort()

    async def _sample(self) -> None:
        while True:
            self.world.sample_user_count()
            await asyncio.sleep(SAMPLE_INTERVAL)

    async def _drop_late_players(self) -> None:
        while True:
            await asyncio.sleep(TABLE_INTERVAL)
            if not self.world.tables:
                continue
            try:
                self.world.table_hooks.drop_late_players(self.world)
            except sqlite3.Error as error:
                self._fail(error)
                return
            self._deliver(None)


def _log_refused(counts: Counter[str]) -> None:
    ((busiest, _),) = counts.most_common(1)
    _log.warning("too many connections", refused=counts.total(), addresses=len(counts), most_from=busiest)


def _log_failed_logins(counts: Counter[str]) -> None:
    ((busiest, _),) = counts.most_common(1)  # names are not logged: people type passwords there
    _log.warning("failed logins", count=counts.total(), addresses=len(counts), most_from=busiest)


def _trace(error: Exception) -> str:
    """Return the traceback without the values of variables, one of which could be a password."""
    return "".join(traceback.format_exception(error))
