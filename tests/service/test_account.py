"""When an account counts as healthy: as long as it is heard of as often as it should be."""

from __future__ import annotations

import asyncio
from typing import Final

from attrs import evolve

from fibs_protocol import messages as m
from fibsbot.bot.agent import Agent
from fibsbot.bot.context import AgentMemory
from fibsbot.bot.events_and_actions import End, Record
from fibsbot.bot.runner import Observer, Runner, SessionResult
from fibsbot.bot.settings import RunSettings, Timings
from fibsbot.service.account import SLACK, BotAccount, Hooks
from fibsbot.strategies.pool import StrategyChain
from tests.service.accounts import plan, until

TIMINGS: Final = Timings(silence=300, keep_alive=120, watchdog=8)


class Made:
    """An account with a run that does only what a test says, on a clock that a test sets."""

    def __init__(self) -> None:
        """Start at 0."""
        self.now = 0.0
        self.over = asyncio.Event()
        one = plan(1, "marvin", timings=TIMINGS)
        one = evolve(one, agent=evolve(one.agent, timings=evolve(one.agent.timings, connect=15)))
        self.account = BotAccount(
            one, StrategyChain([], 1), AgentMemory(), Hooks(make_runner=self._make, clock=lambda: self.now)
        )
        self.agent = Agent(one.agent)

    def _make(self, plan: RunSettings, thinker: StrategyChain, observer: Observer, memory: AgentMemory) -> Runner:
        runner = Runner(plan, thinker, observer=observer, memory=memory)
        runner.agent = self.agent

        async def run() -> SessionResult:
            await self.over.wait()
            return SessionResult(End.REFUSED, "so it is", self.agent.counters)

        runner.run = run  # type: ignore[method-assign]
        return runner

    def hear(self) -> None:
        """Let the server say something."""
        self.account.on_message(m.Unknown("anything"), self.agent)

    def record(self, name: str, /, **fields: object) -> None:
        """Let the agent tell something."""
        self.account.on_record(Record(name, fields), self.agent)

    def healthy_after(self, seconds: float) -> bool:
        """Return whether it is healthy after so many more seconds without a sign of life."""
        self.now += seconds
        return self.account.is_responsive()


def test_an_account_that_is_connecting_is_healthy_until_the_timeout() -> None:
    made = Made()
    assert made.healthy_after(15 + SLACK)
    assert not made.healthy_after(1)


def test_any_message_keeps_an_account_healthy_while_logging_in() -> None:
    made = Made()
    made.hear()
    assert made.healthy_after(300 + SLACK)
    assert not made.healthy_after(1)
    made.hear()
    assert made.healthy_after(1), "it goes on"


def test_a_pause_between_two_attempts_is_healthy() -> None:
    made = Made()
    made.record("reconnecting", pause=900.0)
    assert made.healthy_after(900 + 15 + SLACK)
    assert not made.healthy_after(1)


async def test_an_account_that_sends_nothing_after_its_login_is_stuck_despite_server_messages() -> None:
    made = Made()
    running = asyncio.create_task(made.account.run())
    await until(lambda: made.account.status().agent is not None)
    made.record("logged_in", name="marvin")
    made.hear()
    assert made.healthy_after(0)
    for _ in range(18):
        made.hear()
        assert made.healthy_after(10)
    made.hear()
    assert not made.healthy_after(10), "no command for longer than the keep-alive allows"
    made.agent.counters.commands += 1
    assert made.healthy_after(0)
    made.over.set()
    await running
    assert made.healthy_after(10_000), "what has ended is not stuck"
    assert not made.account.status().healthy, "but it was refused"


def test_a_requested_end_is_not_an_error() -> None:
    made = Made()
    made.record("disconnecting", reason="logged out", end="finished")
    made.record("connection_lost", reason="logged out", state="closed")
    assert made.account.status().last_error is None
    made.record("disconnecting", reason="the server is silent", end=None)
    made.record("connection_lost", reason="the server is silent", state="lobby")
    assert "connection lost: the server is silent" == made.account.status().last_error
