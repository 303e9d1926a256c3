"""One account of the process: its runs one after the other, and what an operator wants to know of them."""

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
from fibsbot.bot.interface import End, Event, FinishRequested, PauseRequested, QuitRequested, Record, SettingsChanged
from fibsbot.bot.runner import Observer, RegistrationError, Runner
from fibsbot.bot.settings import RunSettings
from fibsbot.client.connection import ConnectionFailedError
from fibsbot.client.settings import Backoff
from fibsbot.records.session_log import utc_now
from fibsbot.redaction import hide_password, redact
from fibsbot.replay.events import MatchEvent
from fibsbot.service.match_recorder import MatchRecorder
from fibsbot.strategies.pool import StrategyChain, TimedAnswer
from fibsbot.text import describe_error

SLACK: Final = 60.0
"""Seconds by which everything may take longer than it should before an account counts as stuck."""

LONGEST: Final = 300
"""Characters of an error that are told; the log has all of it."""

MakeRunner: TypeAlias = Callable[[RunSettings, StrategyChain, Observer, AgentMemory], Runner]
"""Makes an account's next run."""
KeepRecord: TypeAlias = Callable[[str, str, Mapping[str, Any], dt.datetime], None]
"""Takes an account's record to be remembered: account, name, fields, time."""
NoteDecision: TypeAlias = Callable[[str, TimedAnswer, float], None]
"""Takes an account's decision, and how many seconds it took from the bytes that opened it to its command."""
FollowMatch: TypeAlias = Callable[[str, MatchEvent], None]
"""Takes what happens in an account's matches, as it happens."""
HearMessage: TypeAlias = Callable[[str, Message, Agent], None]
"""Takes a message of the server for an account, after the agent has taken it in."""

_log = structlog.get_logger(__name__)


def make_runner(plan: RunSettings, thinker: StrategyChain, observer: Observer, memory: AgentMemory) -> Runner:
    """Make a run as it is on a server; tests make others."""
    return Runner(evolve(plan, retry_first=True), thinker, observer=observer, memory=memory)


@frozen
class Hooks:
    """Whom an account tells what happens. None of them may raise, or take long."""

    keep: KeepRecord | None = None
    follow: FollowMatch | None = None
    hear: HearMessage = lambda *_: None
    note: NoteDecision = lambda *_: None
    make_runner: MakeRunner = make_runner
    clock: Callable[[], float] = time.monotonic
    """Seconds on the clock that the agents' events have."""


class BotAccount(Observer):
    """One account's bot. A run that crashes is followed by another one, after a pause that grows."""

    def __init__(self, plan: RunSettings, thinker: StrategyChain, memory: AgentMemory, hooks: Hooks) -> None:
        """Be ready to run."""
        self.plan = plan
        self.name = plan.agent.name
        hide_password(plan.agent.password, self.name)
        self.end: End | None = None
        """How it ended; None while it goes on."""
        self.reason = ""
        """Why it ended."""
        self.crashes = 0
        self.tried = asyncio.Event()
        """Set once the first attempt to log in has come to something, good or bad."""
        self._thinker = thinker
        self._memory = memory
        self._hooks = hooks
        self._clock = hooks.clock
        self._runner: Runner | None = None
        self._past = Counters()
        self._backoff = Backoff(plan.backoff)
        self._stirred = asyncio.Event()
        self._paused = False
        self._finishing = False
        self._leaving = False
        self._started = self._clock()
        self._connected: float | None = None
        self._reconnects = 0
        self._error: tuple[dt.datetime, str] | None = None
        self._resting: float | None = None
        self._quiet_until = self._started + plan.agent.timings.connect + SLACK
        self._sheets = self._make_sheets()
        self._steps = 0
        self._stepped = self._started

    def _make_sheets(self) -> MatchRecorder | None:
        """Return what writes matches down; None where nobody wants them."""
        keep, follow, run = self._hooks.keep, self._hooks.follow, self.plan
        if keep is None and follow is None:
            return None
        return MatchRecorder(
            self.name,
            run.server.address,
            lambda name, fields, at: keep(self.name, name, fields, at) if keep else None,
            lambda happening: follow(self.name, happening) if follow else None,
        )

    # -- running ------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Play until there is nothing more to do for this account; never raise, but when cancelled."""
        with structlog.contextvars.bound_contextvars(account=self.name):
            while self.end is None:
                began = self._clock()
                await self._run_once()
                if self.end is None:
                    await self._rest(self._backoff.next_pause(self._clock() - began))
            self.tried.set()
            _log.info("account ended", end=self.end.value, reason=self.reason)

    async def _run_once(self) -> None:
        task = asyncio.current_task()
        try:
            self._runner = self._hooks.make_runner(self.plan, self._thinker, self, self._memory)
            self._repeat_orders(self._runner)
            result = await self._runner.run()
        except ConnectionFailedError as error:
            self._fail(f"cannot connect: {error}")
        except RegistrationError as error:
            self._stop(End.REFUSED, f"cannot register: {error}")
        except OSError as error:
            if error.filename is None:
                self._on_crash(error)
            else:  # the session log, and neither the server nor a mistake of ours
                self._fail(f"cannot write {error.filename}: {error.strerror}")
                _log.error("account cannot play", error=f"cannot write {error.filename}: {error.strerror}")
        except BaseException as error:
            # Whatever it is, SystemExit too: it is this account's, and the others play on.
            if task is not None and task.cancelling():
                raise
            self._on_crash(error)
        else:
            self._stop(result.end, result.reason)
        finally:
            self._lay_down()

    def _repeat_orders(self, runner: Runner) -> None:
        """Tell a run what was ordered before it began."""
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

    def _fail(self, text: str) -> None:
        """Take note of an error. What a crash tells may come from the server, and will stand in a terminal."""
        text = "".join(it if it.isprintable() else "?" for it in text)[:LONGEST]
        self._error = utc_now(), text
        self.tried.set()
        if self._finishing:
            self._stop(End.FINISHED, text)

    def _stop(self, end: End, reason: str) -> None:
        self.end, self.reason = end, reason
        if end is not End.FINISHED:
            self._error = utc_now(), reason

    def _lay_down(self) -> None:
        """Let go of a run that is over; what it counted stays."""
        if self._runner is not None:
            self._past = _add_counters(self._past, self._runner.agent.counters)
        self._runner = None
        self._connected = None

    async def _rest(self, seconds: float) -> None:
        """Wait before the next run, unless somebody wants an end."""
        self._stirred.clear()
        self._expect(seconds)
        self._resting = self._clock() + seconds
        _log.info("account starts again", pause=round(seconds, 3))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stirred.wait()
        self._resting = None
        if self._finishing and self.end is None:
            self._stop(End.FINISHED, "finished while it was not running")

    # -- orders -------------------------------------------------------------------------------------------------

    def tell(self, event: Event) -> None:
        """Pass on what the operator wants; it holds for later runs too."""
        with structlog.contextvars.bound_contextvars(account=self.name):
            match event:
                case PauseRequested(paused=paused):
                    self._paused = paused
                case FinishRequested() | QuitRequested():
                    self._finishing = True
                    self._stirred.set()
                case SettingsChanged(settings=settings):
                    self.plan = evolve(self.plan, agent=settings)
            if self._runner is not None:
                self._runner.dispatch(event)

    # -- seeing what happens ------------------------------------------------------------------------------------

    def on_message(self, message: Message, agent: Agent) -> None:
        """Take note that the server is there, and of what it said about our match."""
        self._expect(self.plan.agent.timings.silence)
        if self._sheets:
            self._sheets.hear(message)
        self._hooks.hear(self.name, message, agent)

    def on_sent(self, command: Command, agent: Agent) -> None:  # noqa: ARG002 - an observer's signature
        """Take note of what we said about our match."""
        if self._sheets:
            self._sheets.say(command)

    def on_record(self, record: Record, agent: Agent) -> None:  # noqa: ARG002 - an observer's signature
        """Take note of what an operator asks about, and hand everything on to be remembered."""
        match record.name:
            case "logged_in":
                self._connected = self._clock()
                self.tried.set()
            case "disconnecting":
                self._leaving = record.fields.get("end") == End.FINISHED.value
            case "connection_lost":
                self._connected = None
                if not self._leaving:
                    self._error = utc_now(), f"connection lost: {record.fields.get('reason')}"
            case "reconnecting":
                self._reconnects += 1
                self._expect(float(record.fields.get("pause", 0.0)) + self.plan.agent.timings.connect)
                self.tried.set()
        if self._hooks.keep:
            known = record.fields
            if record.name == "server_feature":
                known = {**known, "server": self.plan.server.address}
            self._hooks.keep(self.name, record.name, known, utc_now())
        if self._sheets:
            self._sheets.note(record)

    def on_strategy_answer(self, thought: TimedAnswer, seconds: float, agent: Agent) -> None:  # noqa: ARG002
        """Take note of how long a decision took."""
        self._hooks.note(self.name, thought, seconds)

    def _expect(self, seconds: float) -> None:
        """Take it for healthy when nothing is heard for so long, and a little longer."""
        self._quiet_until = self._clock() + seconds + SLACK

    def look(self) -> bool:
        """Return whether it is heard of as often as it should be, or has ended; to be called every few seconds."""
        if self.end is not None:
            return True
        now = self._clock()
        steps = self._runner.agent.counters.commands if self._runner else 0
        if steps != self._steps or self._connected is None:
            self._steps, self._stepped = steps, now
        timings = self.plan.agent.timings
        return now <= self._quiet_until and now - self._stepped <= timings.keep_alive + timings.watchdog + SLACK

    # -- telling ------------------------------------------------------------------------------------------------

    def totals(self) -> Counters:
        """Return what was counted over all runs."""
        return _add_counters(self._past, self._runner.agent.counters) if self._runner else self._past

    def status(self) -> AccountStatus:
        """Tell how it is."""
        now = self._clock()
        agent = self._runner.agent.status if self._runner else None
        state = self.end.name if self.end else agent.state if agent else "RESTING"
        sentence = agent.sentence if agent else self.reason or "starting"
        if self.end is None and self._resting is not None:
            sentence = f"waiting {max(self._resting - now, 0):.0f} s before the next attempt"
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
            healthy=self.look() and self.end in (None, End.FINISHED),
        )


@frozen
class AccountStatus:
    """One account at one moment. Times are in seconds."""

    account: str
    state: str
    """State of the connection, as in `fibs_protocol.session`; RESTING between two runs, or how it ended."""
    sentence: str
    """What it does, as people say it."""
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

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON can write it."""
        agent = {} if self.agent is None else self.agent.as_dict()
        at = self.last_error_at
        return {
            **{name: agent.get(name) for name in ("opponent", "length", "score")},
            **{name: agent.get(name, False) for name in ("paused", "finishing")},
            **{name: agent.get(name, 0) for name in ("saved", "stuck", "invitations")},
            **asdict(self, filter=lambda attribute, _: attribute.name not in {"agent", "counters"}),
            "last_error_at": at.isoformat(timespec="seconds") if at else None,
            "counters": self.counters.as_dict(),
        }


def _add_counters(one: Counters, other: Counters) -> Counters:
    return Counters(*(getattr(one, it.name) + getattr(other, it.name) for it in fields(Counters)))
