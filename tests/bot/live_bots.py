"""What tests of live bots share: settings without waits, and strategies that are slow or broken on purpose."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fibsbot.bot.agent import Agent
from fibsbot.bot.interface import Record
from fibsbot.bot.runner import Observer
from fibsbot.bot.settings import AgentSettings, RunSettings, Timings
from fibsbot.client.settings import BackoffSettings
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.server.limits import ServerLimits
from fibsbot.strategies.base import CubeAnswer, PlayAnswer
from fibsbot.strategies.questions import LastResort

QUICK = Timings(watchdog=1, keep_alive=10, pause=0, invitation=0.02, retry=0.5)
CHEAP = ServerLimits(password_cost=16)


def settings(port: int, name: str, log_path: Path | None = None, **fields: Any) -> RunSettings:
    """Return the settings of a bot that registers itself and waits for nothing; `fields` are the agent's."""
    run: dict[str, Any] = {key: fields.pop(key) for key in ("deadline", "register", "retry_first") if key in fields}
    fields = {"timings": QUICK, "strict": True, "password": f"pw-of-{name}", "matches": 1, **fields}
    pauses = BackoffSettings(first=0.1, longest=0.5)
    run = {"register": True, "pauses": pauses, "log_path": log_path, **run}
    return RunSettings("127.0.0.1", port, AgentSettings(name, **fields), **run)


class Watcher(Observer):
    """Remembers the records of a run."""

    def __init__(self) -> None:
        """Have seen nothing."""
        self.records: list[Record] = []

    def on_record(self, record: Record, agent: Agent) -> None:  # noqa: ARG002 - the interface
        """Remember a record."""
        self.records.append(record)

    def named(self, name: str) -> list[dict[str, Any]]:
        """Return the fields of the records of this name."""
        return [dict(record.fields) for record in self.records if record.name == name]


class Counting(Watcher):
    """Tells when so many decisions were made."""

    def __init__(self, decisions: int) -> None:
        """Wait for this decision."""
        super().__init__()
        self.reached = asyncio.Event()
        self._left = decisions

    def on_record(self, record: Record, agent: Agent) -> None:
        """Count decisions."""
        super().on_record(record, agent)
        self._left -= record.name == "decision"
        if not self._left:
            self.reached.set()


class Sleepy(LastResort):
    """Never answers."""

    name = "sleepy"

    def __init__(self) -> None:
        """Be able to be woken at the end of a test."""
        self.woken = threading.Event()

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Sleep."""
        self.woken.wait()
        return super().choose_play(state, plays)


class Broken(LastResort):
    """Raises whatever it is asked."""

    name = "broken"

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:  # noqa: ARG002 - the interface
        """Fail."""
        raise SystemExit(3)

    def offer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002 - the interface
        """Fail."""
        raise KeyError("equity\nof what")


class Babbling(LastResort):
    """Answers nonsense."""

    name = "babbling"

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:  # noqa: ARG002 - the interface
        """Make a play that is none."""
        return PlayAnswer(Play(plays[0].moves * 2))

    def resign(self, state: MatchState) -> int:  # noqa: ARG002 - the interface
        """Resign more than there is."""
        return 9
