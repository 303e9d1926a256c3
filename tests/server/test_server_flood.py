"""Clients that flood the server or guess passwords do not harm other clients."""

from __future__ import annotations

import asyncio
import itertools
import os
import stat
from collections import Counter
from pathlib import Path

import hypothesis.strategies as st
import pytest
from attrs import define, evolve, field
from hypothesis import given
from structlog.testing import capture_logs

from fibsbot.server.database import Database
from fibsbot.server.limits import WORK_SLICE, FairQueue, ProcessorShare, RateLimitedLog
from fibsbot.server.login import (
    FIRST_DELAY,
    FORGET_AFTER,
    FREE_FAILURES,
    FREE_FAILURES_IN_ALL,
    LONGEST_DELAY,
    LONGEST_DELAY_FOR_A_NAME,
    LoginThrottle,
)
from fibsbot.server.server import Server
from tests.patience import SOON
from tests.server.tcp_clients import CHEAP, PASSWORD, Raw

FLOODING = 30


# -- the processor --------------------------------------------------------------------------------------------------


async def flood(turns: FairQueue, log: list[str], cost: float) -> None:
    """Wait for one turn after another."""
    share = ProcessorShare()
    while True:
        await turns.wait_for_turn(share)
        log.append("flood")
        share.charge(cost)


@pytest.mark.parametrize("cost", [WORK_SLICE / 100, WORK_SLICE, 10 * WORK_SLICE])
async def test_a_client_with_few_commands_never_waits_for_a_flood(cost: float) -> None:
    turns, log = FairQueue(), list[str]()
    tasks = [asyncio.create_task(flood(turns, log, cost)) for _ in range(FLOODING)]
    share, waits = ProcessorShare(), list[int]()
    for _ in range(20):
        for _ in range(2 * FLOODING):  # less often than any client of the flood
            await asyncio.sleep(0)
        log.clear()
        await turns.wait_for_turn(share)
        waits.append(len(log))
        share.charge(cost)
    for task in tasks:
        task.cancel()
    # Once it is known what the flood costs, two slices of it at most come before.
    assert max(waits[5:]) <= 2 * (WORK_SLICE / cost + 1), waits


@given(st.lists(st.tuples(st.integers(0, 2), st.floats(0, 0.1)), max_size=50))
def test_every_waiting_connection_gets_its_turn(turns_taken: list[tuple[int, float]]) -> None:
    async def run() -> None:
        turns = FairQueue()
        shares = [ProcessorShare() for _ in range(3)]

        async def one(number: int, cost: float) -> None:
            await turns.wait_for_turn(shares[number])
            shares[number].charge(cost)

        async with asyncio.timeout(SOON):
            await asyncio.gather(*(one(number, cost) for number, cost in turns_taken))

    asyncio.run(run())


async def test_bytes_without_a_line_end_are_throttled_too() -> None:
    limits = evolve(CHEAP, bytes_per_second=20_000.0, burst_bytes=1_000)
    async with Server(limits=limits) as server:
        await server.register("alice", PASSWORD)
        raw = await Raw.log_in(server.port, "alice")
        loop = asyncio.get_running_loop()
        began = loop.time()
        raw.send(8_000 * "x")
        await raw.ask("port", "running on port")
        assert loop.time() - began > 0.3


# -- passwords ------------------------------------------------------------------------------------------------------


@define
class FakeTime:
    """A clock that advances only during sleeps."""

    now: float = 1000.0
    slept: list[float] = field(factory=list)

    async def sleep(self, seconds: float) -> None:
        """Advance the clock."""
        self.slept.append(seconds)
        self.now += seconds


async def wrong() -> bool:
    """Check a wrong password."""
    return False


async def right() -> bool:
    """Check the right one."""
    return True


def guessing() -> tuple[LoginThrottle, FakeTime]:
    """Return a throttle and its clock."""
    fake_time = FakeTime()
    return LoginThrottle(lambda: fake_time.now, fake_time.sleep), fake_time


async def test_pauses_grow_for_one_name_from_one_address() -> None:
    guard, fake_time = guessing()
    for _ in range(FREE_FAILURES + 9):
        assert not await guard.verify("192.0.2.1", "ann", wrong, known_host=True)
    assert [min(FIRST_DELAY * 2**n, LONGEST_DELAY) for n in range(8)] == fake_time.slept
    assert await guard.verify("192.0.2.1", "ann", right, known_host=True)
    assert 0 == guard.pause("192.0.2.1", "ann", known_host=True), "who knew it starts anew"


async def test_many_names_from_one_address_are_delayed_together_except_for_known_users() -> None:
    guard, fake_time = guessing()
    for number in range(FREE_FAILURES_IN_ALL + 10):
        await guard.verify("192.0.2.1", f"name{number}", wrong, known_host=False)
    assert LONGEST_DELAY == fake_time.slept[-1]
    assert LONGEST_DELAY == guard.pause("192.0.2.1", "ann", known_host=False)
    assert 0 == guard.pause("192.0.2.1", "ann", known_host=True)
    assert 0 == guard.pause("192.0.2.2", "ann", known_host=False)


async def test_guessing_from_many_addresses_does_not_lock_an_account() -> None:
    guard, _ = guessing()
    for number in range(200):
        await guard.verify(f"192.0.2.{number}", "ann", wrong, known_host=False)
    assert 0 == guard.pause("198.51.100.1", "ann", known_host=True)
    assert LONGEST_DELAY_FOR_A_NAME == guard.pause("198.51.100.1", "ann", known_host=False)


async def test_failures_are_forgotten_after_some_time() -> None:
    guard, fake_time = guessing()
    for _ in range(FREE_FAILURES + 5):
        await guard.verify("192.0.2.1", "ann", wrong, known_host=False)
    fake_time.now += FORGET_AFTER + LONGEST_DELAY
    assert 0 == guard.pause("192.0.2.1", "ann", known_host=False)


async def test_passwords_are_checked_one_at_a_time_and_the_least_frequent_name_first() -> None:
    guard, _ = guessing()
    order: list[str] = []
    checking = 0

    async def check(name: str) -> bool:
        nonlocal checking
        checking += 1
        assert 1 == checking
        await asyncio.sleep(0)
        checking -= 1
        order.append(name)
        return True

    names = [*itertools.repeat("mallory", 20), "ann"]
    await asyncio.gather(*(guard.verify("192.0.2.1", name, lambda n=name: check(n), known_host=True) for name in names))  # type: ignore[misc]
    assert order.index("ann") <= 1


async def test_a_cancelled_waiter_lets_the_next_one_in() -> None:
    guard, _ = guessing()
    gate = asyncio.Event()

    async def slow() -> bool:
        await gate.wait()
        return True

    tasks = [asyncio.create_task(guard.verify("192.0.2.1", name, slow, known_host=True)) for name in "abc"]
    await asyncio.sleep(0)
    tasks[1].cancel()
    gate.set()
    assert await tasks[0]
    assert await tasks[2]
    assert tasks[1].cancelled()


async def test_failed_logins_are_logged_without_names_and_end_with_the_server() -> None:
    with capture_logs() as logged:
        async with Server(limits=CHEAP) as server:
            await server.register("alice", PASSWORD)
            guessers = [await Raw.connect(server.port) for _ in range(2)]
            for guesser in guessers:  # the second one has to wait for long, and does so until the server ends
                for _ in range(CHEAP.login_attempts):
                    guesser.send("connect secretword wrong")
                if guesser is guessers[0]:
                    await guesser.rest()  # until it is sent away
            honest = await Raw.log_in(server.port, "alice")  # from the same address, under another name
            assert "running on port" in await honest.ask("port", "running on port")
    failed = [entry for entry in logged if entry["event"] == "failed logins"]
    assert FREE_FAILURES <= sum(entry["count"] for entry in failed)
    assert {"127.0.0.1"} == {entry["most_from"] for entry in failed}
    assert len(failed) <= 2
    assert "secretword" not in str(logged)


# -- the log, and the database --------------------------------------------------------------------------------------


async def test_frequent_events_are_logged_together() -> None:
    said: list[Counter[str]] = []
    tally = RateLimitedLog(3600, said.append)
    for number in range(100):
        tally.count(f"192.0.2.{number % 3}")
    assert [1] == [counts.total() for counts in said]
    tally.close()
    assert [1, 99] == [counts.total() for counts in said]


async def test_connections_that_are_refused_are_logged_together() -> None:
    with capture_logs() as logged:
        async with Server(limits=evolve(CHEAP, connections=1)) as server:
            kept = await Raw.connect(server.port)
            for _ in range(10):
                _, writer = await asyncio.open_connection("127.0.0.1", server.port)
                writer.close()
            await kept.ask("guest", "> ")
    refused = [entry for entry in logged if entry["event"] == "too many connections"]
    assert 10 == sum(entry["refused"] for entry in refused)
    assert len(refused) <= 3


def test_the_database_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = Database(tmp_path / "server.db", 0.0)
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    store.close()
    assert "server.db" in modes
    assert {0o600} == set(modes.values()), modes
