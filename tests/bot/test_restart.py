"""A server that is killed during a match and restarted: both bots reconnect and finish the same match."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fibsbot.bot.events_and_actions import End
from fibsbot.bot.runner import Runner
from fibsbot.strategies.loader import load
from tests.bot.live_bots import Counting, settings
from tests.forked import Forked, start
from tests.patience import SOON


def free_port() -> int:
    """Return a free port; the server needs the same one twice.

    It is below the range of ephemeral ports, so that no other test gets it while the server is not running.
    """
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as sock, contextlib.suppress(OSError):
            sock.bind(("127.0.0.1", port))
            return port


@contextlib.asynccontextmanager
async def serving(port: int, db: Path) -> AsyncIterator[Forked]:
    """Run `fibsbot serve` in another process."""
    process = start("fibsbot", "serve", "--port", port, "--database", db, "--seed", 11)
    try:
        async with asyncio.timeout(SOON):
            while True:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    await writer.wait_closed()
                    break
                await asyncio.sleep(0.05)
        yield process
    finally:
        process.kill()
        await process.wait()


@pytest.mark.slow
async def test_both_bots_finish_a_match_whose_server_is_killed_twice(tmp_path: Path) -> None:
    """After the first decision, and in the middle."""
    port, db = free_port(), tmp_path / "fibs.db"
    early, late = Counting(1), Counting(20)
    bots = [
        Runner(settings(port, "marvin", invite="ford", length=3), load("heuristic"), observer=early),
        Runner(settings(port, "ford"), load("heuristic"), observer=late),
    ]
    score = (0, 0)
    async with asyncio.timeout(SOON):
        runs: asyncio.Future[Any] | None = None
        for watcher in (early, late):
            async with serving(port, db) as server:
                runs = runs or asyncio.gather(*(bot.run() for bot in bots))
                reached = asyncio.ensure_future(watcher.reached.wait())
                ends: set[asyncio.Future[Any]] = {reached, runs}
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                assert reached.done(), "the match was too short for this test"
                server.kill()
                await server.wait()
                score = bots[0].agent.tracked.state.score if bots[0].agent.tracked.state else (0, 0)
                await asyncio.sleep(0.5)
        async with serving(port, db):
            assert runs is not None
            results = await runs
    for result in results:
        assert (End.FINISHED, 1, 2) == (result.end, result.counters.matches, result.counters.interruptions)
        assert (0, 0) == (result.counters.refusals, result.counters.differences)
    for watcher in (early, late):
        started = [fields["resumed"] for fields in watcher.named("match_started")]
        assert [False, True, True] == started, "one match, taken up again"
        assert 1 == len(watcher.named("match_ended"))
        pauses = [fields["pause"] for fields in watcher.named("reconnecting")]
        assert sorted(pauses[:2]) == pauses[:2], "the pauses grow"
    final = early.named("match_ended")[0]["score"]
    assert all(before <= after for before, after in zip(score, final, strict=True)), "no point was lost"
