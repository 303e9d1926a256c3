"""Helpers of the tests of live bots: settings without pauses, and strategies that are slow or broken on purpose."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
from attrs import evolve

from fibs_protocol.messages import Message
from fibsbot.bot.agent import Agent
from fibsbot.bot.events_and_actions import Record
from fibsbot.bot.runner import Observer, Runner, SessionResult
from fibsbot.bot.settings import AgentSettings, PlaySettings, RunSettings, Timings
from fibsbot.client.settings import BackoffSettings, ServerSettings
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.replay.batch import ReplayTask, SourceResult, replay_all
from fibsbot.replay.comparison import ComparisonOptions
from fibsbot.replay.match_files import find_sources
from fibsbot.server.limits import ServerLimits
from fibsbot.strategies.base import CubeAnswer, PlayAnswer, Strategy
from fibsbot.strategies.questions import LastResort
from fibsbot.workers.pool import InProcessPool

QUICK = Timings(watchdog=1, keep_alive=10, pause=0, invitation=0.02, retry=0.5)
UNHURRIED = evolve(QUICK, think_least=0.05, think_most=0.1)
"""For tests in which the bots only have to play on while something else happens."""
CHEAP = ServerLimits(password_cost=16)


def agent_settings(name: str, password: str, **fields: Any) -> AgentSettings:
    """Return the settings of an agent; fields of nested settings may be given by name."""
    names = {"length": "invite_length", **{it.name: it.name for it in attrs.fields(PlaySettings)}}
    play = {names[key]: fields.pop(key) for key in list(fields) if key in names}
    timings = {key: fields.pop(key) for key in ("commands_a_minute", "deadline") if key in fields}
    if timings:
        fields["timings"] = evolve(fields.get("timings", Timings()), **timings)
    return AgentSettings(name, password, play=PlaySettings(**play), **fields)


def settings(port: int, name: str, log_path: Path | None = None, **fields: Any) -> RunSettings:
    """Return the settings of a bot that registers itself and makes no pauses; `fields` are the agent's."""
    server = ServerSettings("127.0.0.1", port, register=fields.pop("register", True))
    retry_first = fields.pop("retry_first", False)
    fields = {"timings": QUICK, "strict": True, "password": f"pw-of-{name}", "matches": 1, **fields}
    backoff = BackoffSettings(first=0.1, longest=0.5)
    return RunSettings(
        server, agent_settings(name, **fields), backoff=backoff, retry_first=retry_first, log_path=log_path
    )


class Watcher(Observer):
    """Stores the records of a run."""

    def __init__(self) -> None:
        """Start without records."""
        self.records: list[Record] = []

    def on_record(self, record: Record, agent: Agent) -> None:  # noqa: ARG002 - the interface
        """Store a record."""
        self.records.append(record)

    def named(self, name: str) -> list[dict[str, Any]]:
        """Return the fields of the records of this name."""
        return [dict(record.fields) for record in self.records if record.name == name]


class Counting(Watcher):
    """Sets an event after a number of records of a name."""

    def __init__(self, count: int, name: str = "decision") -> None:
        """Set the event after this number of records."""
        super().__init__()
        self.reached = asyncio.Event()
        self._left = count
        self._name = name

    def on_record(self, record: Record, agent: Agent) -> None:
        """Count records."""
        super().on_record(record, agent)
        self._left -= record.name == self._name
        if not self._left:
            self.reached.set()


class Told(Watcher):
    """Waits until a text is said to somebody."""

    def __init__(self, text: str) -> None:
        """Wait for this text."""
        super().__init__()
        self.text = text
        self.reached = asyncio.Event()

    def on_message(self, message: Message, agent: Agent) -> None:
        """Look for the text."""
        super().on_message(message, agent)
        if self.text in str(message):
            self.reached.set()


class Sleepy(LastResort):
    """Never answers."""

    name = "sleepy"

    def __init__(self) -> None:
        """Create the event that ends the sleep after a test."""
        self.woken = threading.Event()

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Sleep."""
        self.woken.wait()
        return super().choose_play(state, plays)


class Broken(LastResort):
    """Raises an error for every question."""

    name = "broken"

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:  # noqa: ARG002 - the interface
        """Fail."""
        raise SystemExit(3)

    def offer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002 - the interface
        """Fail."""
        raise KeyError("equity\nof what")


class Babbling(LastResort):
    """Gives invalid answers."""

    name = "babbling"

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:  # noqa: ARG002 - the interface
        """Return an invalid play."""
        return PlayAnswer(Play(plays[0].moves * 2))

    def resign(self, state: MatchState) -> int:  # noqa: ARG002 - the interface
        """Return an invalid level."""
        return 9


async def play_session(
    settings: RunSettings,
    strategy: Strategy,
    *,
    fallback: Strategy | None = None,
    observer: Observer | None = None,
) -> SessionResult:
    """Run the bot of one account to its end, see Runner."""
    return await Runner(settings, strategy, fallback=fallback, observer=observer).run()


def replayed(folder: Path, comparison: ComparisonOptions | None = None) -> list[SourceResult]:
    """Return the results of a strict replay of all logs below a folder, compared with a strategy."""
    task = ReplayTask(quiet=True, strict=True, comparison=comparison)
    return list(replay_all(find_sources([folder]), task, len, abs, InProcessPool()))
