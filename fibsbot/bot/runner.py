"""Runs one account: one connection after another until the agent ends the run."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import structlog
from attrs import frozen

from fibs_protocol.commands import Command
from fibs_protocol.messages import Message
from fibsbot.bot.agent import Agent
from fibsbot.bot.context import AgentMemory, Counters
from fibsbot.bot.driver import Driver
from fibsbot.bot.events_and_actions import ConnectionLost, End, Event, FinishRequested, QuitRequested, Record
from fibsbot.bot.login import Registration
from fibsbot.bot.settings import RunSettings
from fibsbot.client.backoff import Backoff
from fibsbot.client.connection import Connection, ConnectionFailedError, connect
from fibsbot.records.session_log_writer import SessionLogWriter
from fibsbot.redaction import password_hidden
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.pool import StrategyChain, TimedAnswer

_log = structlog.get_logger(__name__)

Connect: TypeAlias = Callable[[], Awaitable[Connection]]


class Observer:
    """Base class of observers of a run. Each method is called at once, in order, and must not take long."""

    def on_message(self, message: Message, agent: Agent) -> None:
        """Called with each message of the server, after the agent has handled it."""

    def on_sent(self, command: Command, agent: Agent) -> None:
        """Called with each command that was sent, after the message that caused it."""

    def on_record(self, record: Record, agent: Agent) -> None:
        """Called with each record: decisions, ends of games, differences and so on."""

    def on_strategy_answer(self, answer: TimedAnswer, seconds: float, agent: Agent) -> None:
        """Called with each answer and the seconds from the bytes that opened the decision to its command."""


@frozen
class SessionResult:
    """How a run ended."""

    end: End
    reason: str
    """The reason, a sentence."""
    counters: Counters


class RegistrationError(Exception):
    """The server refused to create the account; the text is one line with the reason."""


class Runner:
    """One account's run, over as many connections as it takes."""

    def __init__(  # noqa: PLR0913 - what a run is made of
        self,
        settings: RunSettings,
        strategy: Strategy | StrategyChain,
        *,
        fallback: Strategy | None = None,
        observer: Observer | None = None,
        connect_to: Connect | None = None,
        memory: AgentMemory | None = None,
    ) -> None:
        """Play with this strategy, or with a chain that others use too; `fallback` answers where the strategy fails.

        `connect_to` replaces the TCP connection; `memory` is what is known of other players from earlier runs.
        """
        self._settings = settings
        self.agent = Agent(settings.agent, memory)
        self._observer = observer or Observer()
        self._connect = connect_to or self._connect_tcp
        self._backoff = Backoff(settings.backoff, random.Random())
        self._shares = isinstance(strategy, StrategyChain)
        self._strategies = (
            strategy
            if isinstance(strategy, StrategyChain)
            else StrategyChain([strategy, *([fallback] if fallback else [])], settings.agent.timings.deadline)
        )
        self._driver = Driver(
            self.agent,
            self._strategies,
            time.monotonic,
            silence=lambda: self.agent.settings.timings.silence,
            on_message=lambda message: self._observer.on_message(message, self.agent),
            on_sent=lambda command: self._observer.on_sent(command, self.agent),
            on_record=lambda record: self._observer.on_record(record, self.agent),
            on_strategy_answer=lambda answer, seconds: self._observer.on_strategy_answer(answer, seconds, self.agent),
        )
        self._end_requested = asyncio.Event()
        self._end_pause = asyncio.Event()
        self._registering: Driver | None = None
        """Drives the registration while it is on."""

    async def _connect_tcp(self) -> Connection:
        server, timeout = self._settings.server, self._settings.agent.timings.connect
        return await connect(server.host, server.port, timeout=timeout, tls=server.tls_settings)

    def finish(self) -> None:
        """Request the end of the run: after the match, or at once if there is none."""
        self.dispatch(FinishRequested(time.monotonic()))

    def quit(self) -> None:
        """Request the end of the run at once; the server saves the match."""
        self.dispatch(QuitRequested(time.monotonic()))

    def dispatch(self, event: Event) -> None:
        """Pass an operator's request to the agent, and to the registration while it is on."""
        self._driver.dispatch(event)
        if self._registering is not None:
            self._registering.dispatch(event)
        if isinstance(event, FinishRequested | QuitRequested):
            self._end_requested.set()
            self._end_pause.set()

    @property
    def lost_log_records(self) -> int:
        """How many records the session log has lost since it could be written last."""
        log = self._driver.session_log
        return log.lost if log else 0

    def connect_now(self) -> None:
        """End the pause before the next attempt to connect, if there is one."""
        self._end_pause.set()

    async def run(self) -> SessionResult:
        """Play until the agent ends the run.

        Raises ConnectionFailedError when the first connection cannot be made, RegistrationError when the account can't,
        OSError when the log cannot be opened, and DifferenceError if the settings are strict.
        """
        with contextlib.ExitStack() as stack:
            stack.enter_context(password_hidden(self._settings.agent.password, self._settings.agent.name))
            if not self._shares:
                stack.callback(self._strategies.close)
            if self._settings.log_path:
                name = self._settings.agent.name
                path, rotation = self._settings.log_path, self._settings.rotation
                log = SessionLogWriter(path, rotation=rotation, server=self._settings.server.address, user=name)
                self._driver.session_log = stack.enter_context(log)
            return await self._play()

    async def _register(self) -> None:
        """Make the account, unless the end is requested before. Raises RegistrationError."""
        account = self._settings.agent
        connection = await self._connect_unless_ended()
        if connection is None:
            return
        registration = Registration(account.name, account.password, account.timings.connect)
        self._registering = Driver(registration, self._strategies, time.monotonic, self._driver.session_log)
        try:
            await self._registering.drive(connection)
        finally:
            self._registering = None
        if self._driver.session_log:
            self._driver.session_log.event("registration_ended", outcome=registration.outcome)
        if registration.outcome == "":
            _log.info("registered a new account", name=account.name, server=self._settings.server.address)
        if registration.outcome and not registration.exists and self._driver.ended is None:
            raise RegistrationError(registration.outcome)

    async def _play(self) -> SessionResult:
        driver, retry = self._driver, self._settings.retry_first
        unknown = self._settings.server.register
        while True:
            started = time.monotonic()
            try:
                if unknown:
                    await self._register()
                    unknown = False
                if connection := await self._connect_unless_ended():
                    await driver.drive(connection)
            except ConnectionFailedError as error:
                if not retry:
                    raise
                driver.dispatch(ConnectionLost(time.monotonic(), str(error)))
            retry = True
            if driver.ended is None:
                restarting, driver.restarting = driver.restarting, False
                await self._pause(self._backoff.next_pause(time.monotonic() - started, restarting=restarting))
            if driver.ended and driver.ended.end:
                return SessionResult(driver.ended.end, driver.ended.reason, self.agent.counters)

    def _has_ended(self) -> bool:
        return self._driver.ended is not None

    async def _connect_unless_ended(self) -> Connection | None:
        """Connect; return None if the end was requested before a connection was made."""
        if self._has_ended():
            return None
        self._end_requested.clear()
        connecting, end_requested = (
            asyncio.ensure_future(self._connect()),
            asyncio.ensure_future(self._end_requested.wait()),
        )
        try:
            await asyncio.wait({connecting, end_requested}, return_when=asyncio.FIRST_COMPLETED)
            if connecting.done() or not self._has_ended():
                return await connecting
            return None
        finally:
            connecting.cancel()
            end_requested.cancel()

    async def _pause(self, seconds: float) -> None:
        """Wait before the next attempt, unless the end is requested or an operator wants it at once."""
        self._driver.note(Record("reconnecting", {"pause": round(seconds, 3)}))
        self._end_pause.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._end_pause.wait()
