"""A chaos run, from the first process to the report."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from bench.chaos.faults import FaultInjector
from bench.chaos.proxy import wait_until
from bench.chaos.report import ChaosReport, make_report
from bench.chaos.schedule import ChaosPlan, make_schedule
from bench.chaos.testbed import BotPair, Testbed, build_testbed

WARM_UP: Final = 60.0
"""Seconds that all bots have to begin a match before the faults begin."""
FINISH_TIME: Final = 180.0
"""Seconds that each pair has in the end to play what is left."""
MIN_SAMPLES: Final = 200
"""So often at least the memory is looked at while faults strike ..."""
SAMPLE_INTERVAL: Final = 0.5
"""... and no longer than so many seconds pass between."""

OnProgress: TypeAlias = Callable[[float, str], None]
"""Told now and then how many seconds of the faults have passed, and what goes on."""


async def run_chaos(
    plan: ChaosPlan, folder: Path, strategies: tuple[str, str], on_tick: OnProgress = lambda *_: None
) -> ChaosReport:
    """Run everything in an empty folder, in which logs, records and databases stay; return what came of it.

    Raises ChildError when a process cannot be started, and OSError from files and ports.
    """
    house = await build_testbed(plan, folder, strategies)
    memory: dict[str, list[tuple[int, float, int]]] = {}
    started = time.monotonic()
    try:
        await house.open()
        await wait_until(lambda: all(pair.bot.playing for pair in house.pairs), WARM_UP)
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(_watch(house, memory, on_tick))
            await _faults(house)
            on_tick(plan.seconds, "the last matches are played to their end")
            await asyncio.gather(*(_finish(pair) for pair in house.pairs))
            watching.cancel()
    finally:
        await house.close()
    return make_report(house, memory, time.monotonic() - started)


async def _faults(house: Testbed) -> None:
    """Let all faults strike, and give them up when their time is over."""
    striker = FaultInjector(house)
    house.recoveries.begin()
    tasks = [asyncio.create_task(striker.strike(fault)) for fault in make_schedule(house.plan)]
    await asyncio.wait(tasks, timeout=house.plan.seconds)
    async with house.server_busy:  # whoever ends the server starts it again first
        for task in tasks:
            task.cancel()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(result, Exception):
            raise result


async def _finish(pair: BotPair) -> None:
    """Let a bot play its match to the end and go."""
    end = time.monotonic() + FINISH_TIME
    while time.monotonic() < end:
        if not pair.child.running:
            if not pair.bot.matches or pair.bot.matches[-1].score:
                return
            await pair.child.start()
        await wait_until(lambda: pair.bot.playing or not pair.child.running, 10.0)
        pair.child.signal(signal.SIGTERM)
        await wait_until(lambda: not pair.child.running, max(end - time.monotonic(), 1.0))


async def _watch(house: Testbed, memory: dict[str, list[tuple[int, float, int]]], on_tick: OnProgress) -> None:
    """Look at the memory of the bots, by account: which life of the process, when, how many bytes."""
    while True:
        now = house.recoveries.now
        for pair in house.pairs:
            if (size := pair.child.memory) is not None:
                memory.setdefault(pair.child.name, []).append((pair.child.starts, now, size))
        struck = sum(incident.struck is not None for incident in house.recoveries.incidents)
        on_tick(min(now, house.plan.seconds), f"{struck} faults")
        await asyncio.sleep(min(SAMPLE_INTERVAL, house.plan.seconds / MIN_SAMPLES))
