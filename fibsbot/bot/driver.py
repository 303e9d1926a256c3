"""Drives the agent, or the registration, on one connection: bytes, threads, clocks and logs. It decides nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

import structlog
from attrs import define, evolve, field

from fibsbot.bot.actions import Action, Ask, Disconnect, Record, Send, SendLine, SendSecret, WakeAt
from fibsbot.bot.events import Connected, ConnectionLost, Event, MessageReceived, StrategyAnswered, Woken
from fibsbot.bot.sieve import Sieve
from fibsbot.bot.thinking import Inquiry, Thinker, Thought
from fibsbot.client.connection import Connection, ConnectionFailedError
from fibsbot.records.session_writing import SessionLog
from fibsbot.redaction import REDACTED, redacted
from protocol.commands import AlertCommand, Command, Kibitz, Login, Say, Shout, Tell, Tellx, Whisper
from protocol.grammar import write_command
from protocol.messages import Message
from protocol.stream import MessageReader

_log = structlog.get_logger(__name__)


class Handler(Protocol):
    """What is driven: a function from events to actions."""

    def handle(self, event: Event) -> list[Action]:
        """Take an event, return what is to be done about it."""
        ...


@define(slots=False)
class Driver:
    """Brings events to a handler and does its actions, in order and without anything in between."""

    handler: Handler
    thinker: Thinker
    clock: Callable[[], float]
    session_log: SessionLog | None = None
    on_message: Callable[[Message], None] = field(default=lambda _: None)
    on_sent: Callable[[Command], None] = field(default=lambda _: None)
    on_record: Callable[[Record], None] = field(default=lambda _: None)
    on_thought: Callable[[Thought, float], None] = field(default=lambda _, __: None)
    silence: Callable[[], float | None] = field(default=lambda: None)
    """Tells after how many seconds without a byte the connection is taken for dead; None: never."""
    ended: Disconnect | None = None
    """The last Disconnect that ends the run."""
    restarting: bool = False
    """Whether the last connection ended because the server goes away."""
    _connection: Connection | None = None
    _reason: str = ""
    _error: Exception | None = None
    _since: float = 0.0
    """When the bytes that are being looked at were read."""
    _sent: list[Command] = field(factory=list)
    """What went out and is still to be shown: whoever watches sees the message first that made us say it."""
    _traces: bool = True
    """Whether anybody wants to see each line; asking that for each would take longer than all else about it."""
    _timer: asyncio.TimerHandle | None = None
    _inquiries: set[Inquiry] = field(factory=set)
    _sieve: Sieve = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._sieve = Sieve(self.clock)

    async def drive(self, connection: Connection) -> str:
        """Drive the handler until the connection ends; return why it ended.

        Raises whatever the handler raised, such as DifferenceError.
        """
        self._connection, self._reason, self.restarting = connection, "", False
        self._traces = _log.is_enabled_for(logging.DEBUG)
        reader = MessageReader(banner=True)
        failure = ""
        try:
            if self.ended is None:
                self.dispatch(Connected(self.clock()))
            else:  # somebody wanted the end while the connection was being made
                self._hang_up(self.ended.reason)
            while data := await connection.read(self.silence()):
                self._receive(reader, data)
            # What is left over was cut off, and may say anything: `foe` for `foe_b`, 1 for 16.
        except ConnectionFailedError as error:
            failure = str(error)
        finally:
            connection.close()
            self._connection = None
            self._clear()
        reason = self._reason or failure or "closed by the server"
        self.dispatch(ConnectionLost(self.clock(), reason, by_server=not (self._reason or failure)))
        self._clear()
        for record in self._sieve.settle():
            self._write_down(record)
        if self._error is not None:
            raise self._error
        return reason

    def _receive(self, reader: MessageReader, data: bytes) -> None:
        if self.session_log:
            self.session_log.received(data)
        self._since = self.clock()
        reader.receive_data(data)
        while (received := reader.next_message()) is not None and not self._reason:
            self._trace(">>", received.text)
            self._handle(MessageReceived(self.clock(), received.message))
            self.on_message(received.message)
            self._show_sent()

    def dispatch(self, event: Event) -> None:
        """Give the handler an event and do what it wants done."""
        self._handle(event)
        self._show_sent()

    def _show_sent(self) -> None:
        while self._sent:
            self.on_sent(self._sent.pop(0))

    def _handle(self, event: Event) -> None:
        if self._error is not None:
            return
        try:
            for action in self.handler.handle(event):
                self._do(action)
        except Exception as error:  # noqa: BLE001 - a timer or a thread may have called; `drive` raises it
            self._error = error
            self._hang_up(str(error) or type(error).__name__)

    def _do(self, action: Action) -> None:
        match action:
            case Send(command):
                if self._send(*_written(command)):
                    self._sent.append(command)
            case SendLine(line):
                self._send(line)
            case SendSecret(line):
                self._send(line, REDACTED)
            case Ask():
                self._ask(action)
            case Record():
                self.note(action)
            case WakeAt(at):
                self._set_timer(at)
            case Disconnect():
                self.ended = action if action.end else self.ended
                self.restarting = self.restarting or action.restarting
                self._hang_up(action.reason)

    def note(self, record: Record) -> None:
        """Write a record into the logs and show it to whoever watches; of a flood only the beginning and the number."""
        for admitted in self._sieve.admit(record):
            self._write_down(admitted)

    def _write_down(self, record: Record) -> None:
        if self.session_log:
            self.session_log.event(record.name, **record.fields)
        # Decisions are in the session log and the store; between them nobody would find the other lines.
        (_log.debug if record.name == "decision" else _log.info)(record.name, **record.fields)
        self.on_record(record)

    def _send(self, line: str, shown: str | None = None) -> bool:
        """Send a line, which the logs show in another form; return whether there was a connection to send it on."""
        if self._connection is None:
            return False
        shown = line if shown is None else shown
        if self.session_log:
            self.session_log.sent(_line(shown))
        self._trace("<<", shown)
        self._connection.write(_line(line))
        return True

    def _trace(self, arrow: str, line: str) -> None:
        """Show a line to whoever wants to see each."""
        if self._traces:
            _log.debug(arrow, line=line)

    def _ask(self, ask: Ask) -> None:
        since = self._since

        def take(thought: Thought) -> None:
            self._inquiries.discard(inquiry)
            self.dispatch(StrategyAnswered(self.clock(), ask.key, thought.answer, thought.fallback))
            self.on_thought(thought, self.clock() - since)

        inquiry = self.thinker.ask(ask.question, take)
        self._inquiries.add(inquiry)

    def _set_timer(self, at: float) -> None:
        if self._timer:
            self._timer.cancel()
        delay = max(at - self.clock(), 0.0)
        self._timer = asyncio.get_running_loop().call_later(delay, self._wake)

    def _wake(self) -> None:
        self._timer = None
        self.dispatch(Woken(self.clock()))

    def _hang_up(self, reason: str) -> None:
        """End the connection: the last commands still go out, and the reader sees the end."""
        self._reason = self._reason or reason
        if self._connection is not None:
            self._connection.close()

    def _clear(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        for inquiry in self._inquiries:
            inquiry.cancel()
        self._inquiries.clear()


def _line(text: str) -> bytes:
    return text.encode("ascii", "replace") + b"\r\n"


def _written(command: Command) -> tuple[str, str]:
    """Return a command as it is sent and as it is shown; what people read repeats no password."""
    match command:
        case Login():
            return write_command(command), write_command(evolve(command, password=REDACTED))
        case Tell() | Tellx() | AlertCommand() | Kibitz() | Say() | Shout() | Whisper():
            command = evolve(command, text=redacted(command.text))
    line = write_command(command)
    return line, line
