"""Processes that share accounts through a store: one plays each account, and others take it over when that is gone."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fibsbot.bot.context import AgentMemory
from fibsbot.bot.orders import Order
from fibsbot.records.store import AccountLeases
from fibsbot.server.server import Server
from fibsbot.service.account import ELSEWHERE
from fibsbot.service.account_sharing import AccountSharing
from fibsbot.service.supervisor import Supervisor
from fibsbot.strategies.questions import LastResort
from tests.bot.live_bots import CHEAP
from tests.service.accounts import opponent, plan, process_settings, until

pytestmark = pytest.mark.slow

NAMES = ("marvin", "ford", "arthur", "trillian")

LEASE = 3.0
"""Seconds: longer than a busy machine lets a process wait between two renewals."""


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """Run a server."""
    async with Server(seed=3, limits=CHEAP) as server:
        yield server


class Process:
    """What one process of `fibsbot run` does, here in the test's own."""

    def __init__(self, server: Server, store: Path, **fields: Any) -> None:
        self.leases = AccountLeases(store, seconds=LEASE)
        self.fleet = Supervisor(
            [plan(server.port, name, **fields) for name in NAMES],
            process_settings(),
            lambda _: LastResort(),
            sharing=AccountSharing(self.leases, lambda _: AgentMemory(), interval=0.25),
        )
        self.task = asyncio.create_task(self.fleet.run())

    def logged_in(self) -> set[str]:
        """Return the accounts that are logged in from here."""
        return {it.account for it in self.fleet.statuses() if it.connected is not None}

    def told_of(self) -> set[str]:
        """Return the accounts of which this process says which other one plays them."""
        statuses = self.fleet.statuses()
        return {it.account for it in statuses if it.state == ELSEWHERE and "played by process" in it.sentence}

    async def kill(self) -> None:
        """End as a killed process does: connections are closed, and leases stay until they expire."""
        self.leases.give_up = lambda: None  # type: ignore[method-assign]
        await self.end()

    async def end(self) -> None:
        """End at once."""
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.task


async def test_accounts_are_shared_and_those_of_a_killed_process_are_taken_over(server: Server, tmp_path: Path) -> None:
    processes = [Process(server, tmp_path / "store") for _ in range(2)]
    first, second = processes
    try:
        await until(lambda: [2, 2] == [len(process.logged_in()) for process in processes])
        assert set(NAMES) == first.logged_in() | second.logged_in()
        # Each learns with its next renewal what the other took since its last one.
        await until(lambda: first.logged_in() == second.told_of())
        assert all(it.healthy for it in second.fleet.statuses() if it.state == ELSEWHERE)
        await first.kill()
        await until(lambda: len(second.logged_in()) == len(NAMES))
    finally:
        for process in processes:
            await process.end()


async def test_a_process_that_comes_later_gets_accounts_after_their_matches(server: Server, tmp_path: Path) -> None:
    first = Process(server, tmp_path / "store")
    await until(lambda: len(first.logged_in()) == len(NAMES))
    second = Process(server, tmp_path / "store")
    try:
        await until(lambda: len(second.logged_in()) == 2)
        assert 2 == len(first.logged_in())
        assert not first.logged_in() & second.logged_in()
    finally:
        await first.end()
        await second.end()


async def test_a_match_goes_on_in_the_process_that_takes_its_account_over(server: Server, tmp_path: Path) -> None:
    async with opponent(server.port, "zaphod", invite="marvin"):
        first = Process(server, tmp_path / "store", matches=1)
        await until(lambda: any(it.agent and it.agent.opponent for it in first.fleet.statuses()))
        second = Process(server, tmp_path / "store", matches=1)
        try:
            await first.kill()
            await until(lambda: second.fleet.accounts["marvin"].totals().matches == 1)
            assert 0 == first.fleet.accounts["marvin"].totals().matches
        finally:
            await second.end()


async def test_an_order_to_finish_ends_a_process_and_leaves_its_accounts_to_the_others(
    server: Server, tmp_path: Path
) -> None:
    first, second = (Process(server, tmp_path / "store") for _ in range(2))
    try:
        await until(lambda: len(first.logged_in() | second.logged_in()) == len(NAMES))
        first.fleet.order(Order.FINISH)
        await until(first.task.done)
        await until(lambda: len(second.logged_in()) == len(NAMES))
    finally:
        await first.end()
        await second.end()
