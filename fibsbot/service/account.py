"""An account of the process: its runs, one after the other, and its status."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import structlog
from attrs import asdict, evolve, fields, frozen

from fibs_protocol.commands import Command
from fibs_protocol.messages import Message
from fibsbot.bot.agent import Agent
from fibsbot.bot.context import AgentMemory, Counters
from fibsbot.bot.current_match import BotStatus
from fibsbot.bot.events_and_actions import (
    End,
    Event,
    FinishRequested,
    ListsChanged,
    OrderGiven,
    PauseRequested,
    QuitRequested,
    Record,
    SettingsChanged,
)
from fibsbot.bot.orders import GivenOrder, Order
from fibsbot.bot.runner import Observer, RegistrationError, Runner
from fibsbot.bot.settings import RunSettings
from fibsbot.client.backoff import Backoff
from fibsbot.client.connection import ConnectionFailedError
from fibsbot.policy.name_lists import PlayerLists
from fibsbot.records.session_log import utc_now
from fibsbot.redaction import hide_password, redact
from fibsbot.replay.events import MatchEvent
from fibsbot.replay.match_recorder import MatchRecorder
from fibsbot.strategies.pool import StrategyChain, TimedAnswer
from fibsbot.text import describe_error, short_duration

SLACK: Final = 60.0
"""Seconds by which everything may be late before an account is considered stuck."""

ELSEWHERE: Final = "ELSEWHERE"
"""The state of an account that another process plays."""
MAX_LENGTH: Final = 300
"""Characters of an error in the status; the log has all of it."""

MakeRunner: TypeAlias = Callable[[RunSettings, StrategyChain, Observer, AgentMemory], Runner]
"""Makes an account's next run."""
StoreRecord: TypeAlias = Callable[[str, str, Mapping[str, Any], dt.datetime], None]
"""Stores a record: account, name, fields, time."""
OnDecision: TypeAlias = Callable[[str, TimedAnswer, float], None]
"""Called with the account, the answer, and the seconds from the bytes that required a decision to its command."""
OnMatchEvent: TypeAlias = Callable[[str, MatchEvent], None]
"""Called with the account and each event of its matches."""
OnRecord: TypeAlias = Callable[[str, Record], None]
"""Called with the account and each record of its agent."""
OnCrash: TypeAlias = Callable[[str, str], None]
"""Called with the account and the error of a run that has crashed."""
OnEnd: TypeAlias = Callable[[str, End, str], None]
"""Called with the account, how it has ended, and why."""
OnBlocked: TypeAlias = Callable[[str, frozenset[str]], None]
"""Called with the account and all players whom orders have blocked, after a change."""
OnMessage: TypeAlias = Callable[[str, Message, Agent], None]
"""Called with the account, each message of the server, and the agent, which has handled it already."""

_log = structlog.get_logger(__name__)


def make_runner(settings: RunSettings, strategies: StrategyChain, observer: Observer, memory: AgentMemory) -> Runner:
    """Return a run on a real server; tests make others."""
    return Runner(evolve(settings, retry_first=True), strategies, observer=observer, memory=memory)


@frozen
class Hooks:
    """Callbacks of an account. None of them may raise, or take long."""

    store_record: StoreRecord | None = None
    on_match_event: OnMatchEvent | None = None
    on_message: OnMessage = lambda *_: None
    on_decision: OnDecision = lambda *_: None
    on_record: OnRecord = lambda *_: None
    on_crash: OnCrash = lambda *_: None
    on_end: OnEnd = lambda *_: None
    on_blocked: OnBlocked = lambda *_: None
    make_runner: MakeRunner = make_runner
    clock: Callable[[], float] = time.monotonic
    """Returns the time in seconds, on the clock of the agents' events."""


class BotAccount(Observer):
    """The bot of an account. After a crash it is run again, after growing pauses."""

    def __init__(self, settings: RunSettings, strategies: StrategyChain, memory: AgentMemory, hooks: Hooks) -> None:
        """Prepare to run; `strategies` answer its questions, `memory` is what is known of other players."""
        self.settings = settings
        self.name = settings.agent.name
        hide_password(settings.agent.password, self.name)
        self.end: End | None = None
        """How it ended; None while it runs."""
        self.reason = ""
        """Why it ended."""
        self.crashes = 0
        self.elsewhere: str | None = None
        """What another process does with the account; None while it is played here."""
        self.first_attempt = asyncio.Event()
        """Set once the first attempt to log in has succeeded or failed."""
        self._strategies = strategies
        self._memory = memory
        self._hooks = hooks
        self._clock = hooks.clock
        self._runner: Runner | None = None
        self._past = Counters()
        self._backoff = Backoff(settings.backoff)
        self._wake = asyncio.Event()
        self._paused = False
        self._finishing = False
        self._leaving = False
        self._started = self._clock()
        self._connected: float | None = None
        self._reconnects = 0
        self._error: tuple[dt.datetime, str] | None = None
        self._pause_until: float | None = None
        self._quiet_until = self._started + settings.agent.timings.connect + SLACK
        self._recorder = self._make_recorder()
        self._steps = 0
        self._stepped = self._started
        self._answer = ""
        """The answer to the last order about another player."""

    def _make_recorder(self) -> MatchRecorder | None:
        """Return a recorder of matches, or None if no callback needs one."""
        store_record, on_match_event = self._hooks.store_record, self._hooks.on_match_event
        if store_record is None and on_match_event is None:
            return None
        return MatchRecorder(
            self.name,
            self.settings.server.address,
            lambda name, fields, at: store_record(self.name, name, fields, at) if store_record else None,
            lambda event: on_match_event(self.name, event) if on_match_event else None,
        )

    # -- sharing ------------------------------------------------------------------------------------------------

    def stand_by(self, sentence: str) -> None:
        """Leave the account to another process; the sentence says what that one does."""
        self.elsewhere = sentence
        self.first_attempt.set()

    def get_ready(self, memory: AgentMemory) -> None:
        """Prepare to run, perhaps again, after another process has played the account."""
        self.elsewhere = None
        self.end, self.reason, self._error = None, "", None
        self._finishing = self._leaving = False
        memory.blocked |= self._memory.blocked
        memory.lists = self._memory.lists
        self._memory = memory
        self._expect(self.settings.agent.timings.connect)

    # -- running ------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Play until the account has ended; raise only when cancelled."""
        with structlog.contextvars.bound_contextvars(account=self.name):
            while self.end is None:
                began = self._clock()
                await self._run_once()
                if self.end is None:
                    await self._pause(self._backoff.next_pause(self._clock() - began))
            self.first_attempt.set()
            _log.info("account ended", end=self.end.value, reason=self.reason)

    async def _run_once(self) -> None:
        task = asyncio.current_task()
        try:
            self._runner = self._hooks.make_runner(self.settings, self._strategies, self, self._memory)
            self._repeat_orders(self._runner)
            result = await self._runner.run()
        except ConnectionFailedError as error:
            self._fail(f"cannot connect: {error}")
        except RegistrationError as error:
            self._stop(End.REFUSED, f"cannot register: {error}")
        except OSError as error:
            if error.filename is None:
                self._on_crash(error)
            else:  # the session log: neither the server nor a bug
                self._fail(f"cannot write {error.filename}: {error.strerror}")
                _log.error("account cannot play", error=f"cannot write {error.filename}: {error.strerror}")
        except BaseException as error:
            # Even SystemExit ends only this account's run; the others continue.
            if task is not None and task.cancelling():
                raise
            self._on_crash(error)
        else:
            self._stop(result.end, result.reason)
        finally:
            self._end_run()

    def _repeat_orders(self, runner: Runner) -> None:
        """Repeat the orders that were given before the run began."""
        now = self._clock()
        if self._paused:
            runner.dispatch(PauseRequested(now, paused=True))
        if self._finishing:
            runner.dispatch(FinishRequested(now))

    def _on_crash(self, error: BaseException) -> None:
        self.crashes += 1
        text = redact(describe_error(error))
        trace = "".join(traceback.format_exception(error))
        _log.error("account crashed", error=text, crashes=self.crashes, exception=trace)
        self._fail(f"crashed: {text}")
        self._hooks.on_crash(self.name, text)

    def _fail(self, text: str) -> None:
        """Note an error. Its text may come from the server, and is shown in terminals."""
        text = "".join(character if character.isprintable() else "?" for character in text)[:MAX_LENGTH]
        self._error = utc_now(), text
        self.first_attempt.set()
        if self._finishing:
            self._stop(End.FINISHED, text)

    def _stop(self, end: End, reason: str) -> None:
        self.end, self.reason = end, reason
        if end is not End.FINISHED:
            self._error = utc_now(), reason
        self._hooks.on_end(self.name, end, reason)

    def _end_run(self) -> None:
        """Drop a run that is over, but keep what it counted."""
        if self._runner is not None:
            self._past = _add_counters(self._past, self._runner.agent.counters)
        self._runner = None
        self._connected = None

    async def _pause(self, seconds: float) -> None:
        """Wait before the next run, or until an end is requested."""
        self._wake.clear()
        self._expect(seconds)
        self._pause_until = self._clock() + seconds
        _log.info("account starts again", pause=round(seconds, 3))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        self._pause_until = None
        if self._finishing and self.end is None:
            self._stop(End.FINISHED, "finished while it was not running")

    # -- orders -------------------------------------------------------------------------------------------------

    def dispatch(self, event: Event) -> None:
        """Pass an event to the run, and remember it for later runs."""
        with structlog.contextvars.bound_contextvars(account=self.name):
            match event:
                case PauseRequested(paused=paused):
                    self._paused = paused
                case FinishRequested() | QuitRequested():
                    self._finishing = True
                    self._wake.set()
                case ListsChanged(lists=lists):
                    self._memory.lists = lists
                case SettingsChanged(settings=agent):
                    self.settings = evolve(self.settings, agent=agent)
            if self._runner is not None:
                self._runner.dispatch(event)

    def give(self, given: GivenOrder) -> str:
        """Carry out an order about another player; return the answer."""
        self._answer = ""
        self.dispatch(OrderGiven(self._clock(), given))
        if not self._answer and given.order in {Order.BLOCK, Order.UNBLOCK}:  # between two runs
            self._answer = self._memory.block(given.name, blocked=given.order is Order.BLOCK)
            self._keep_blocked()
        return self._answer or "Not now: there is no connection."

    def _keep_blocked(self) -> None:
        self._hooks.on_blocked(self.name, frozenset(self._memory.blocked))

    def connect_now(self) -> None:
        """End the pause before the next attempt to connect, or before the next run."""
        self._wake.set()
        self._pause_until = None
        if self._runner is not None:
            self._runner.connect_now()

    # -- observing the run ------------------------------------------------------------------------------------

    def on_message(self, message: Message, agent: Agent) -> None:
        """Note that the server is alive, and record what it says about our match."""
        self._expect(self.settings.agent.timings.silence)
        if self._recorder:
            self._recorder.on_message(message)
        self._hooks.on_message(self.name, message, agent)

    def on_sent(self, command: Command, agent: Agent) -> None:  # noqa: ARG002 - an observer's signature
        """Record what we did in our match."""
        if self._recorder:
            self._recorder.on_sent(command)

    def on_record(self, record: Record, agent: Agent) -> None:  # noqa: ARG002 - an observer's signature
        """Update the status, and store the record."""
        match record.name:
            case "logged_in":
                self._connected = self._clock()
                self.first_attempt.set()
            case "disconnecting":
                self._leaving = record.fields.get("end") == End.FINISHED.value
            case "connection_lost":
                self._connected = None
                if not self._leaving:
                    self._error = utc_now(), f"connection lost: {record.fields.get('reason')}"
            case "reconnecting":
                self._reconnects += 1
                pause = float(record.fields.get("pause", 0.0))
                self._pause_until = self._clock() + pause
                self._expect(pause + self.settings.agent.timings.connect)
                self.first_attempt.set()
        if record.name == "order_taken":
            self._answer = str(record.fields["answer"])
        elif record.name == "player_blocked":
            self._keep_blocked()
        self._store(record)
        if self._recorder:
            self._recorder.on_record(record)
        self._hooks.on_record(self.name, record)

    def _store(self, record: Record) -> None:
        if self._hooks.store_record:
            values = record.fields
            if record.name == "server_feature":
                values = {**values, "server": self.settings.server.address}
            self._hooks.store_record(self.name, record.name, values, utc_now())

    def on_strategy_answer(self, answer: TimedAnswer, seconds: float, agent: Agent) -> None:  # noqa: ARG002
        """Report how long a decision took."""
        self._hooks.on_decision(self.name, answer, seconds)

    def _expect(self, seconds: float) -> None:
        """Consider the account healthy during this many seconds of silence, plus SLACK."""
        self._quiet_until = self._clock() + seconds + SLACK

    def is_responsive(self) -> bool:
        """Whether the account shows activity in time, or has ended; to be called every few seconds."""
        if self.end is not None or self.elsewhere is not None:
            return True
        now = self._clock()
        steps = self._runner.agent.counters.commands if self._runner else 0
        if steps != self._steps or self._connected is None:
            self._steps, self._stepped = steps, now
        timings = self.settings.agent.timings
        return now <= self._quiet_until and now - self._stepped <= timings.keep_alive + timings.watchdog + SLACK

    # -- status -------------------------------------------------------------------------------------------------

    def totals(self) -> Counters:
        """Return the counters over all runs."""
        return _add_counters(self._past, self._runner.agent.counters) if self._runner else self._past

    @property
    def has_lists(self) -> bool:
        """Whether lists outside of the configuration say anything about players."""
        return self._memory.lists != PlayerLists()

    @property
    def lost_log_records(self) -> int:
        """How many records the session log has lost since it could be written last."""
        return self._runner.lost_log_records if self._runner else 0

    def _next_attempt(self, now: float) -> dt.datetime | None:
        if self.end is not None or self._pause_until is None or now >= self._pause_until:
            return None
        return utc_now() + dt.timedelta(seconds=self._pause_until - now)

    def status(self) -> AccountStatus:
        """Return the status."""
        now = self._clock()
        agent = self._runner.agent.status if self._runner else None
        state = self.end.name if self.end else agent.state if agent else "RESTING"
        sentence = agent.sentence if agent else self.reason or "starting"
        if self.elsewhere is not None:
            state, sentence = ELSEWHERE, self.elsewhere
        if self.end is None and self._pause_until is not None and now < self._pause_until:
            state = "RESTING"
            sentence = f"waiting {short_duration(self._pause_until - now)} before the next attempt"
        return AccountStatus(
            account=self.name,
            state=state,
            sentence=sentence,
            agent=agent,
            counters=self.totals(),
            uptime=now - self._started,
            connected=None if self._connected is None else now - self._connected,
            reconnects=self._reconnects,
            crashes=self.crashes,
            last_error=self._error[1] if self._error else None,
            last_error_at=self._error[0] if self._error else None,
            next_attempt=self._next_attempt(now),
            healthy=self.is_responsive() and (self.end in (None, End.FINISHED) or self.elsewhere is not None),
        )


@frozen
class AccountStatus:
    """The status of an account. Times are in seconds."""

    account: str
    state: str
    """State of the connection, as in `fibs_protocol.session`; RESTING between two attempts or runs, ELSEWHERE while
    another process plays the account, or how it ended."""
    sentence: str
    """A phrase for what it is doing, such as `playing ford, 3-2 of 5`."""
    agent: BotStatus | None
    """None while there is no run."""
    counters: Counters
    """Over all runs."""
    uptime: float
    connected: float | None
    """Since the login; None while not logged in."""
    reconnects: int
    crashes: int
    last_error: str | None
    last_error_at: dt.datetime | None
    healthy: bool
    next_attempt: dt.datetime | None = None
    """When it connects or runs again, while it waits for that."""

    def as_dict(self) -> dict[str, Any]:
        """Return the status as JSON values."""
        agent = {} if self.agent is None else self.agent.as_dict()
        at = self.last_error_at
        return {
            **{name: agent.get(name) for name in ("opponent", "length", "score")},
            **{name: agent.get(name, False) for name in ("paused", "finishing")},
            **{name: agent.get(name, 0) for name in ("saved", "stuck", "invitations")},
            **{name: list(agent.get(name, ())) for name in ("ordered", "blocked")},
            **asdict(self, filter=lambda attribute, _: attribute.name not in {"agent", "counters"}),
            "last_error_at": at.isoformat(timespec="seconds") if at else None,
            "next_attempt": self.next_attempt.isoformat(timespec="seconds") if self.next_attempt else None,
            "counters": self.counters.as_dict(),
        }


def _add_counters(one: Counters, other: Counters) -> Counters:
    return Counters(*(getattr(one, counter.name) + getattr(other, counter.name) for counter in fields(Counters)))
