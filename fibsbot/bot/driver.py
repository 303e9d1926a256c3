"""Drives the agent, or a registration, on one connection: bytes, threads, clocks and logs. It decides nothing.

`RecordLimiter` keeps a flood of records out of the logs.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Final, Protocol

import structlog
from attrs import define, evolve, field, frozen

from fibs_protocol.commands import AlertCommand, Command, Kibitz, Login, Say, Shout, Tell, Tellx, Whisper
from fibs_protocol.grammar import write_command
from fibs_protocol.messages import Message
from fibs_protocol.stream import MessageReader
from fibsbot.bot import events_and_actions as e
from fibsbot.client.connection import Connection, ConnectionFailedError
from fibsbot.records.session_log_writer import SessionLogWriter
from fibsbot.redaction import REDACTED, redact
from fibsbot.strategies.pool import PendingQuestion, StrategyChain, TimedAnswer


@frozen
class RateLimit:
    """How many records of one kind are let through."""

    burst: float
    """At once."""
    per_second: float
    """In the long run."""


UNLIMITED_RECORDS: Final = frozenset(
    {
        *("decision", "chouette_decision", "no_answer", "no_step", "paused", "suppressed"),
        *("order_taken", "player_blocked"),
        *("logged_in", "already_logged_in", "connection_lost", "disconnecting", "reconnecting"),
    }
)
"""Records whose pace depends on us alone; they are never suppressed."""
DECISION_RECORDS: Final = frozenset({"decision", "chouette_decision"})
"""Records of decisions."""
MATCH_RECORDS: Final = frozenset(
    {
        *("match_started", "match_resumed", "match_ended", "match_saved", "game_started", "game_ended"),
        *("length_swapped", "laws_swapped", "game_swapped", "game_drawn", "rating"),
        *("chouette_joined", "chouette_game", "chouette_left"),
    }
)
"""Records of matches. No real server reaches their limit: that takes fifty matches per second."""
MATCH_LIMIT: Final = RateLimit(2000, 50)
DEFAULT_LIMIT: Final = RateLimit(100, 0.2)


@define
class _Bucket:
    limit: RateLimit
    left: float
    at: float
    """When `left` was true."""
    suppressed: int = 0
    """Records suppressed since the last one that was not, or since they were last reported."""
    closed: bool = False
    """Whether all records are suppressed until the limit is fully restored."""


class RecordLimiter:
    """Suppresses records of one kind that come too fast."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}

    def admit(self, record: e.Record) -> Iterator[e.Record]:
        """Yield the record, preceded by a count of those suppressed before it; or nothing."""
        if record.name in UNLIMITED_RECORDS:
            yield record
            return
        bucket = self._refill(record.name)
        if bucket.closed:
            bucket.suppressed += 1
            return
        if bucket.suppressed:
            yield _suppressed(record.name, bucket)
        bucket.left -= 1
        bucket.closed = bucket.left < 1
        yield record

    def pop_suppressed(self) -> Iterator[e.Record]:
        """Yield the counts of suppressed records that were not reported yet."""
        for name, bucket in self._buckets.items():
            if bucket.suppressed:
                yield _suppressed(name, bucket)

    def _refill(self, name: str) -> _Bucket:
        now = self._clock()
        bucket = self._buckets.get(name)
        if bucket is None:
            limit = MATCH_LIMIT if name in MATCH_RECORDS else DEFAULT_LIMIT
            bucket = self._buckets[name] = _Bucket(limit, limit.burst, now)
        bucket.left = min(bucket.left + (now - bucket.at) * bucket.limit.per_second, bucket.limit.burst)
        bucket.at = now
        bucket.closed = bucket.closed and bucket.left < bucket.limit.burst
        return bucket


def _suppressed(name: str, bucket: _Bucket) -> e.Record:
    count, bucket.suppressed = bucket.suppressed, 0
    return e.Record("suppressed", {"record": name, "count": count})


_log = structlog.get_logger(__name__)


class EventHandler(Protocol):
    """A function from events to actions, such as an agent."""

    def handle(self, event: e.Event) -> list[e.Action]:
        """Take an event, return what is to be done about it."""
        ...


@define(slots=False)
class Driver:
    """Passes events to a handler and carries out its actions, in order."""

    handler: EventHandler
    strategies: StrategyChain
    clock: Callable[[], float]
    session_log: SessionLogWriter | None = None
    on_message: Callable[[Message], None] = field(default=lambda _: None)
    on_sent: Callable[[Command], None] = field(default=lambda _: None)
    on_record: Callable[[e.Record], None] = field(default=lambda _: None)
    on_strategy_answer: Callable[[TimedAnswer, float], None] = field(default=lambda _, __: None)
    silence: Callable[[], float | None] = field(default=lambda: None)
    """Returns the seconds without a byte after which the connection counts as dead; None: never."""
    ended: e.Disconnect | None = None
    """The last Disconnect that ends the run."""
    restarting: bool = False
    """Whether the last connection ended because the server restarts or shuts down."""
    _connection: Connection | None = None
    _reason: str = ""
    _error: Exception | None = None
    _since: float = 0.0
    """When the bytes that are being handled were read."""
    _unreported: list[Command] = field(factory=list)
    """Commands sent but not yet reported: observers see the message first that caused them."""
    _traces: bool = True
    """Whether each line is logged; cached, because asking for each line would be slow."""
    _timer: asyncio.TimerHandle | None = None
    _pending: set[PendingQuestion] = field(factory=set)
    _limiter: RecordLimiter = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._limiter = RecordLimiter(self.clock)

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
                self.dispatch(e.Connected(self.clock()))
            else:  # the end was requested while the connection was being made
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
        self.dispatch(e.ConnectionLost(self.clock(), reason, by_server=not (self._reason or failure)))
        self._clear()
        for record in self._limiter.pop_suppressed():
            self._write_record(record)
        if self._error is not None:
            raise self._error
        return reason

    def _receive(self, reader: MessageReader, data: bytes) -> None:
        if self.session_log:
            self.session_log.received(data)
        self._since = self.clock()
        reader.receive_data(data)
        while (received := reader.next_message()) is not None and not self._reason:
            if self._traces:
                _log.debug(">>", line=received.text)
            self._handle(e.MessageReceived(self.clock(), received.message))
            self.on_message(received.message)
            self._report_sent()

    def dispatch(self, event: e.Event) -> None:
        """Pass an event to the handler and carry out its actions."""
        self._handle(event)
        self._report_sent()

    def _report_sent(self) -> None:
        while self._unreported:
            self.on_sent(self._unreported.pop(0))

    def _handle(self, event: e.Event) -> None:
        if self._error is not None:
            return
        try:
            for action in self.handler.handle(event):
                self._do(action)
        except Exception as error:  # noqa: BLE001 - a timer or a thread may have called; `drive` raises it
            self._error = error
            self._hang_up(str(error) or type(error).__name__)

    def _do(self, action: e.Action) -> None:
        match action:
            case e.Send(command):
                if self._send(*_sent_and_shown(command)):
                    self._unreported.append(command)
            case e.SendLine(line):
                self._send(line)
            case e.SendSecret(line):
                self._send(line, REDACTED)
            case e.Ask():
                self._ask(action)
            case e.Record():
                self.note(action)
            case e.WakeAt(at):
                self._set_timer(at)
            case e.Disconnect():
                self.ended = action if action.end else self.ended
                self.restarting = self.restarting or action.restarting
                self._hang_up(action.reason)

    def note(self, record: e.Record) -> None:
        """Log a record and pass it to observers; of a flood only the beginning and the count."""
        for admitted in self._limiter.admit(record):
            self._write_record(admitted)

    def _write_record(self, record: e.Record) -> None:
        if self.session_log:
            self.session_log.event(record.name, **record.fields)
        # Decisions are in the session log and the store; between them nobody would find the other lines.
        (_log.debug if record.name in DECISION_RECORDS else _log.info)(record.name, **record.fields)
        self.on_record(record)

    def _send(self, line: str, shown: str | None = None) -> bool:
        """Send a line, logged as `shown`; return whether there was a connection to send it on."""
        if self._connection is None:
            return False
        shown = line if shown is None else shown
        if self.session_log:
            self.session_log.sent(shown.encode("ascii", "replace") + b"\r\n")
        if self._traces:
            _log.debug("<<", line=shown)
        self._connection.write(line.encode("ascii", "replace") + b"\r\n")
        return True

    def _ask(self, ask: e.Ask) -> None:
        since = self._since

        def take(answer: TimedAnswer) -> None:
            self._pending.discard(pending)
            self.dispatch(e.StrategyAnswered(self.clock(), ask.key, answer.answer, answer.fallback))
            self.on_strategy_answer(answer, self.clock() - since)

        pending = self.strategies.ask(ask.question, take)
        self._pending.add(pending)

    def _set_timer(self, at: float) -> None:
        if self._timer:
            self._timer.cancel()
        delay = max(at - self.clock(), 0.0)
        self._timer = asyncio.get_running_loop().call_later(delay, self._wake)

    def _wake(self) -> None:
        self._timer = None
        self.dispatch(e.Woken(self.clock()))

    def _hang_up(self, reason: str) -> None:
        """End the connection: the last commands still go out, and the reader sees the end."""
        self._reason = self._reason or reason
        if self._connection is not None:
            self._connection.close()

    def _clear(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        for pending in self._pending:
            pending.cancel()
        self._pending.clear()


def _sent_and_shown(command: Command) -> tuple[str, str]:
    """Return a command as it is sent and as it is shown; what people read repeats no password."""
    match command:
        case Login():
            return write_command(command), write_command(evolve(command, password=REDACTED))
        case Tell() | Tellx() | AlertCommand() | Kibitz() | Say() | Shout() | Whisper():
            command = evolve(command, text=redact(command.text))
    line = write_command(command)
    return line, line
