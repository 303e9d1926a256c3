"""What tests of the service share: plans without waits, opponents, waiting for something to be so."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from attrs import evolve

from fibsbot.bot.runner import Observer, SessionResult
from fibsbot.bot.settings import RunSettings
from fibsbot.service.account import Hooks
from fibsbot.service.settings import ServiceSettings
from fibsbot.service.supervisor import ReloadResult, Supervisor
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.questions import LastResort
from tests.bot.live_bots import play_session, settings
from tests.patience import SOON

T = TypeVar("T")


def plan(port: int, name: str, strategy: str = "plain", **fields: Any) -> RunSettings:
    """Return the plan of a bot that registers itself and waits for nothing; `fields` are those of `live.settings`."""
    fields = {"matches": None, **fields}
    return settings(port, name, strategy=strategy, **fields)


def process_settings(**fields: Any) -> ServiceSettings:
    """Return settings of a process that has neither a store nor a control socket, unless given."""
    return ServiceSettings(**{"store": None, "control": None, **fields})


def supervisor(
    *plans: RunSettings,
    strategies: Mapping[str, Callable[[], Strategy]] | None = None,
    hooks: Hooks | None = None,
    reload: Callable[[], ReloadResult] | None = None,
    **process: Any,
) -> Supervisor:
    """Return a supervisor of these accounts; `process` are settings of the process."""
    known = {"plain": LastResort, **(strategies or {})}
    return Supervisor(plans, process_settings(**process), lambda name: known[name](), hooks=hooks, reload=reload)


async def until(condition: Callable[[], bool], seconds: float = SOON, pause: float = 0.005) -> None:
    """Wait until something is so; `pause` is the time between two looks in seconds."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for sets no asyncio.Event
            await asyncio.sleep(pause)


@contextlib.asynccontextmanager
async def in_background(
    work: Coroutine[Any, Any, T], stop: Callable[[], object] | None = None
) -> AsyncIterator[asyncio.Task[T]]:
    """Do something in a task of its own; in the end `stop` it, or else cancel it, and wait until it has ended."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        (stop or task.cancel)()
        async with asyncio.timeout(SOON):
            await asyncio.wait([task])


def running(fleet: Supervisor) -> AbstractAsyncContextManager[asyncio.Task[None]]:
    """Run a supervisor, and stop it in the end if it has not ended."""
    return in_background(fleet.run())


def opponent(
    port: int, name: str, *, watcher: Observer | None = None, **fields: Any
) -> AbstractAsyncContextManager[asyncio.Task[SessionResult]]:
    """Have somebody there who accepts every invitation."""
    run = evolve(settings(port, name, **{"matches": None, **fields}), retry_first=True)
    return in_background(play_session(run, LastResort(), observer=watcher))
