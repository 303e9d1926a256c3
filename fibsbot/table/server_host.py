"""A person's table on a server: the connection, which comes back by itself, the session log and the store."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import structlog
from attrs import frozen

from fibs_protocol.commands import Command
from fibs_protocol.messages import Message
from fibs_protocol.session import State
from fibsbot.bot.driver import Driver
from fibsbot.bot.events_and_actions import ConnectionLost, End, Event, QuitRequested, Record
from fibsbot.bot.login import Registration
from fibsbot.client.backoff import Backoff
from fibsbot.client.connection import Connection, ConnectionFailedError, connect
from fibsbot.client.settings import BackoffSettings, ServerSettings
from fibsbot.games import GAMES
from fibsbot.records.session_log_writer import SessionLogWriter
from fibsbot.redaction import password_hidden
from fibsbot.strategies.pool import StrategyChain
from fibsbot.table.hosts import TableHost
from fibsbot.table.orders import ORDERS
from fibsbot.table.remote_match import RemoteMatch
from fibsbot.table.server_session import InputGiven, PersonSettings, ServerSession

PAUSES: Final = BackoffSettings(first=2.0, longest=120.0)
"""Pauses before a person's connection is made again: shorter than a bot's, as somebody waits."""
CLOSE_WAIT: Final = 5.0
"""Seconds that the server has to say goodbye."""
ENDS: Final = {
    End.REFUSED: "The server does not accept this name with this password.",
    End.REPLACED: "Somebody has logged in elsewhere with this name, so this table is closed.",
}
"""What the person is told when the session is over, unless the person connects again."""
CLOSED: Final = "The server has closed the connection, as it does when somebody logs in elsewhere with the same name."

_log = structlog.get_logger(__name__)


class Recorder:
    """Takes what happens in a session, for a store; this one takes nothing."""

    def on_message(self, message: Message) -> None:
        """Take a message of the server."""

    def on_sent(self, command: Command) -> None:
        """Take a command that was sent."""

    def on_record(self, record: Record) -> None:
        """Take a record."""


@frozen
class ServerLogin:
    """Where and how a person logs in."""

    server: ServerSettings
    person: PersonSettings
    register: bool = False
    """Whether to create the account first; one that exists already is no error."""
    ready: bool = False
    """Whether others may invite the person from the start."""
    log_path: Path | None = None
    """File of the session log; None: there is none."""
    backoff: BackoffSettings = PAUSES


class ServerHost(TableHost):
    """A person's table on a server."""

    def __init__(self, login: ServerLogin, recorder: Recorder | None = None) -> None:
        """Prepare to log in."""
        super().__init__()
        self.session = ServerSession(login.person, ready=login.ready)
        self.ended = ""
        """Why the table is closed for good, in a sentence; empty while it is not."""
        self.finished = asyncio.Event()
        """Set when the table is closed for good."""
        self.first_login = asyncio.Event()
        """Set once the first login has succeeded or failed."""
        self._closing = asyncio.Event()
        """Set when the table is to be closed."""
        self._login = login
        self._recorder = recorder or Recorder()
        self._running: asyncio.Task[None] | None = None
        self._driver = Driver(
            self.session,
            StrategyChain([], 1.0),
            time.monotonic,
            on_message=self._on_message,
            on_sent=self._recorder.on_sent,
            on_record=self._recorder.on_record,
        )

    # -- faces ----------------------------------------------------------------------------------------------------

    @property
    def model(self) -> RemoteMatch | None:
        """The match that is played or watched."""
        return self.session.match

    @property
    def sentence(self) -> str:
        """What the connection does, in words."""
        return self.ended or self.session.status

    @property
    def online(self) -> bool:
        """Whether the person can ask for something."""
        return self.session.logged_in and not self.ended

    @property
    def watching(self) -> str | None:
        """The player whose match the person watches."""
        match = self.session.match
        watches = match is not None and match.watched and self.session.state is State.WATCHING
        return match.names[0] if match is not None and watches else None

    def changed(self) -> None:
        """Send what the person has decided, and tell who listens."""
        self._dispatch(InputGiven(time.monotonic()))
        self.tell()

    def request(self, address: str, asked: Mapping[str, Any]) -> bool:
        """Do what the person asks for outside of a game; see `orders.py`.

        Raises LookupError for an unknown address, ValueError with what was expected for an impossible request.
        """
        if address == "connect":
            return self._connect_again()
        if address not in ORDERS:
            raise LookupError(address)
        if not self.online:
            return False
        for command in ORDERS[address](asked, self.session.lobby):
            self.session.give(command)
        self.changed()
        return True

    @property
    def parts(self) -> Mapping[str, Any]:
        """The lobby, in JSON types."""
        return {"lobby": self._lobby_state()}

    def _lobby_state(self) -> dict[str, Any]:
        session, match = self.session, self.session.match
        return {
            **session.lobby.as_dict(),
            "status": self.sentence,
            "ended": bool(self.ended),
            "games": ["backgammon", *sorted(GAMES)],
            "online": self.online,
            "playing": session.playing,
            "watched": match is not None and match.watched,
            "watching": self.watching,
        }

    # -- the connection -------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to log in."""
        self._running = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Log out."""
        if self._running is None:
            return
        self._closing.set()
        self._dispatch(QuitRequested(time.monotonic()))
        done, _ = await asyncio.wait([self._running], timeout=CLOSE_WAIT)
        if not done:
            self._running.cancel()
            await asyncio.wait([self._running])

    def _connect_again(self) -> bool:
        """Log in once more after the session was over; return whether it was."""
        if not self.finished.is_set():
            return False
        self.ended, self._driver.ended = "", None
        self.finished.clear()
        self._running = asyncio.create_task(self._run())
        self.tell()
        return True

    def _dispatch(self, event: Event) -> None:
        self._driver.dispatch(event)

    def _on_message(self, message: Message) -> None:
        self._recorder.on_message(message)
        if self.session.logged_in:
            self.first_login.set()
        self.tell()

    async def _run(self) -> None:
        """Keep the person connected until the session ends for good."""
        person = self._login.person
        with contextlib.ExitStack() as stack:
            stack.enter_context(password_hidden(person.password, person.name))
            try:
                if self._login.log_path is not None:
                    log = SessionLogWriter(self._login.log_path, server=self._login.server.address, user=person.name)
                    self._driver.session_log = stack.enter_context(log)
                await self._stay_connected()
            except OSError as error:
                self._end(f"The session log cannot be written: {error.strerror or error}.")
            except Exception as error:
                _log.exception("the table has failed", error=str(error))
                self._end("The table has failed; the server keeps the match.")
                raise
            finally:
                self.first_login.set()
                self.finished.set()
                self.tell()

    @property
    def _has_ended(self) -> bool:
        return bool(self.ended)

    async def _stay_connected(self) -> None:
        backoff, register = Backoff(self._login.backoff, random.Random()), self._login.register
        reached = False
        while True:
            began, driver = time.monotonic(), self._driver
            try:
                if register:
                    await self._register()
                    register = False
                if not self._has_ended:
                    connection, reached = await self._connect(), True
                    await driver.drive(connection)
            except ConnectionFailedError as error:
                if not reached:
                    self._end(f"Cannot connect to {self._login.server.address}: {error}.")
                driver.dispatch(ConnectionLost(time.monotonic(), str(error)))
            if driver.ended is not None and driver.ended.end is not None:
                self._end(ENDS.get(driver.ended.end, "The table is closed."))
            elif self.session.closed_by_server and await self._is_up():
                self._end(self.session.parting or CLOSED)  # to log in again would only close the other connection
            if self._has_ended:
                return
            pause = backoff.next_pause(time.monotonic() - began, restarting=driver.restarting)
            driver.restarting = False
            driver.note(Record("reconnecting", {"pause": round(pause, 3)}))
            self.tell()
            await self._pause(pause)

    async def _pause(self, seconds: float) -> None:
        """Wait before the next connection, or until the table is closed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closing.wait()

    def _end(self, why: str) -> None:
        self.ended = self.ended or why
        if self.session.match is not None:
            self.session.match.break_off(why)

    async def _connect(self) -> Connection:
        server = self._login.server
        waits = self._login.person.timings
        return await connect(server.host, server.port, timeout=waits.connect, tls=server.tls_settings)

    async def _is_up(self) -> bool:
        """Whether the server takes connections: then it has closed ours on purpose."""
        try:
            connection = await self._connect()
        except ConnectionFailedError:
            return False
        connection.close()
        return True

    async def _register(self) -> None:
        """Create the account. Where the name is taken, the login will show whether it is the person's."""
        person = self._login.person
        registration = Registration(person.name, person.password, person.timings.connect)
        driver = Driver(registration, StrategyChain([], 1.0), time.monotonic, self._driver.session_log)
        await driver.drive(await self._connect())
        if registration.outcome and not registration.exists:
            self._end(f"No account was created: {registration.outcome}.")
