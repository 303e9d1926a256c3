"""A new agent that receives the recorded bytes of a session sends the same commands, for any chunking."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import pytest
from attrs import evolve

from fibs_protocol.grammar import write_command
from fibs_protocol.stream import MessageReader
from fibsbot.bot.agent import Agent
from fibsbot.bot.events_and_actions import Ask, Connected, Event, MessageReceived, Send, StrategyAnswered, WakeAt, Woken
from fibsbot.records.session_log import Received, Sent, read_session_log
from fibsbot.server.server import Server
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import load
from tests.bot.live_bots import CHEAP, QUICK, agent_settings, play_session, settings
from tests.patience import SOON

PATIENT: Final = evolve(QUICK, watchdog=60, keep_alive=600)
"""Nothing is asked for because of a wait: which comes first, its end or bytes, depends on how busy the machine is."""


@pytest.fixture
async def log(tmp_path: Path) -> Path:
    """Play a 3-point match; return the session log of a bot with a deterministic strategy."""
    path = tmp_path / "marvin.jsonl"
    async with Server(seed=9, limits=CHEAP) as server:
        for name in ("marvin", "ford"):
            await server.register(name, f"pw-of-{name}")
        marvin = settings(server.port, "marvin", path, register=False, timings=PATIENT)
        ford = settings(server.port, "ford", None, invite="marvin", register=False, length=3)
        async with asyncio.timeout(SOON):
            await asyncio.gather(play_session(marvin, load("heuristic")), play_session(ford, load("heuristic")))
    return path


class Replay:
    """A new agent that receives the recorded bytes at their times; the strategy answers at once."""

    def __init__(self, strategy: Strategy) -> None:
        """Start with a connection."""
        self._agent = Agent(agent_settings("marvin", "x", matches=1, strict=True, timings=PATIENT))
        self._reader = MessageReader()
        self._strategy = strategy
        self._wake_at: float | None = None
        self.sent: list[str] = []

    def receive(self, now: float, data: bytes) -> None:
        """Receive bytes; wake the agent before if it is due."""
        while self._wake_at is not None and self._wake_at < now:
            at, self._wake_at = self._wake_at, None
            self.take(Woken(at))
        self._reader.receive_data(data)
        while (received := self._reader.next_message()) is not None:
            self.take(MessageReceived(now, received.message))

    def take(self, event: Event) -> None:
        """Pass an event to the agent and execute its actions."""
        for action in self._agent.handle(event):
            match action:
                case Send(command):
                    self.sent.append(write_command(command))
                case Ask(key, question):
                    self.take(StrategyAnswered(event.at, key, question.put_to(self._strategy)))
                case WakeAt(at):
                    self._wake_at = at


@pytest.mark.slow
async def test_a_session_log_replays_to_the_same_commands(log: Path) -> None:
    records = list(read_session_log(log))
    sent = b"".join(record.data for record in records if isinstance(record, Sent)).decode().split("\r\n")
    assert 50 < len(sent)
    for most in (1, 7, 4096):
        replay = Replay(load("heuristic"))
        replay.take(Connected(records[0].time.timestamp()))
        for record in records:
            if isinstance(record, Received):
                for start in range(0, len(record.data), most):
                    replay.receive(record.time.timestamp(), record.data[start : start + most])
        assert sent[1:-1] == replay.sent[1:], "all but the login line, whose password is not in the log"
