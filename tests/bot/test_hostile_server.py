"""Thousands of hostile lines and connections: the bot survives, plays correctly in between, and memory is bounded.

The full size is that of `python bench/bench_hostile.py`: 100,000 lines, 10,000 connections.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fibs_protocol.errors import UnknownCommandError
from fibs_protocol.grammar import parse_command
from fibsbot.bot.events_and_actions import End
from fibsbot.bot.runner import Runner
from fibsbot.bot.settings import RunSettings
from fibsbot.client.settings import BackoffSettings, ServerSettings
from fibsbot.server.server import Server
from fibsbot.strategies.random_play import RandomStrategy
from tests.bot.hostile_server import QUICK, HostileMessages, HostileRun
from tests.bot.live_bots import CHEAP, Watcher, agent_settings
from tests.bot.proxy import Chunk, Proxy
from tests.patience import SOON


@pytest.mark.slow
async def test_the_bot_survives_hostile_connections_and_plays_matches_in_between(tmp_path: Path) -> None:
    connections, lines = 40, 60
    run = HostileRun(5, tmp_path / "log" / "marvin.jsonl", lines)
    async with asyncio.timeout(SOON):
        result = await run.run(connections, matches=2)
    results, hostile, counters = run.results, run.hostile, result.counters
    assert (End.FINISHED, "told to quit") == (result.end, result.reason)
    assert 2 == results.matches, "a real match can be played right after"
    assert 0.5 * connections * lines < hostile.lines
    assert [] == hostile.nonsense, "nothing is said that is no command"
    assert counters.commands < counters.messages
    assert counters.decisions <= counters.commands
    assert results.most_tasks <= 200
    assert results.log_lines <= 30 * (connections + 10) + 2 * counters.commands
    assert sum(path.stat().st_size for path in (tmp_path / "log").iterdir()) <= 2**22 + 2**20
    assert results.memory[-1] - results.memory[0] < 40


ENOUGH = 10
"""Minimum number of false lines during a match; a busy machine needs time for them."""


class FalseLines:
    """Inserts hostile lines between the real ones."""

    def __init__(self, seed: int) -> None:
        """Start at the first byte."""
        self._messages = HostileMessages(seed)
        self.speaking = True
        self.said = 0
        self.heard: list[str] = []
        """The bytes that the bot sent to the server."""

    def __call__(self, chunk: Chunk) -> bytes:
        """Pass the real lines on, with hostile ones after some of them, but none before the end of the login."""
        if not chunk.down:
            self.heard += chunk.data.decode("latin-1").splitlines()
        if not chunk.down or not self.speaking or b"\n" not in chunk.data or chunk.passed < 1000:
            return chunk.data
        out = b""
        for line in chunk.data.splitlines(keepends=True):
            out += line
            while line.endswith(b"\n") and self._messages.rng.random() < 0.3:
                lie = self._messages.line()
                if lie.endswith(b"\n") and b"\xff" not in lie and b"Goodbye" not in lie:
                    out += lie
                    self.said += 1
        return out


@pytest.mark.slow
async def test_a_match_is_finished_despite_false_lines() -> None:
    seed = 0
    whispers, watcher = FalseLines(seed), Watcher()
    async with Server(seed=seed, limits=CHEAP) as server, Proxy(server.port, whispers) as between:
        for name in ("marvin", "ford", "trillian"):
            await server.register(name, f"pw-of-{name}")

        def runner(name: str, port: int, observer: Watcher | None = None, **settings: object) -> Runner:
            agent = agent_settings(name, f"pw-of-{name}", timings=QUICK, **settings)
            pauses = BackoffSettings(first=0.05, longest=0.2)
            run = RunSettings(ServerSettings("127.0.0.1", port), agent, backoff=pauses, retry_first=True)
            return Runner(run, RandomStrategy(seed), observer=observer)

        marvin = runner("marvin", between.port, watcher)
        ford = runner("ford", server.port, invite="marvin", length=1, matches=1)
        async with asyncio.timeout(SOON):
            running = asyncio.create_task(marvin.run())
            playing = asyncio.create_task(ford.run())
            while not playing.done() and whispers.said <= ENOUGH:
                await asyncio.wait({playing}, timeout=5)
            whispers.speaking = False
            await asyncio.wait({playing}, timeout=6 if watcher.named("length_swapped") else SOON / 2)
            if left := not playing.done():
                ford.quit()
            result = await playing
            trillian = runner("trillian", server.port, invite="marvin", length=1, matches=1)
            assert 1 == (await trillian.run()).counters.matches
            marvin.quit()
            assert End.FINISHED is (await running).end
    assert left or 1 == result.counters.matches, "it was played to its end"
    assert not left or watcher.named("length_swapped"), "only what seems to be another match is left"
    assert ENOUGH < whispers.said
    for line in whispers.heard:
        try:
            parse_command(line)
        except UnknownCommandError:
            pytest.fail(f"{line!r} is no command")
        except ValueError:
            pass  # a command at the wrong time because of a false line
