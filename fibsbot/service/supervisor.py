"""Runs all accounts of the process in one event loop with one pool of strategies; no crash affects the others."""

from __future__ import annotations

import asyncio
import functools
import gc
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

import structlog
from attrs import field, frozen

from fibsbot.bot.context import AgentMemory
from fibsbot.bot.events_and_actions import SettingsChanged, event_for_order
from fibsbot.bot.orders import GivenOrder, Order
from fibsbot.bot.settings import RunSettings
from fibsbot.notify.settings import Hook
from fibsbot.service.account import AccountStatus, BotAccount, Hooks
from fibsbot.service.account_sharing import AccountSharing
from fibsbot.service.settings import ServiceSettings, UnknownAccountError
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.pool import PooledStrategy, StrategyChain, StrategyPool

SWITCH_INTERVAL: Final = 0.0002
"""Seconds after which a computing thread yields to another one (Python's default is 0.005): a strategy that works for
one account must not delay the commands of the others."""

StrategyLoader: TypeAlias = Callable[[str], Strategy]
"""Returns a new instance of the strategy with this name."""
_log = structlog.get_logger(__name__)


@frozen
class ReloadResult:
    """The result of reading the settings again."""

    runs: Mapping[str, RunSettings] = field(factory=dict)
    """The settings of the accounts' runs, by name."""
    applied: tuple[str, ...] = ()
    """Changes that take effect now, in words."""
    ignored: tuple[str, ...] = ()
    """Changes that need a restart."""
    warnings: tuple[str, ...] = ()
    """Settings that are valid but probably mistaken."""
    problems: tuple[str, ...] = ()
    """Problems of the new settings; if there are any, nothing changes."""
    hooks: tuple[Hook, ...] = ()
    """Whom to notify from now on."""


class Supervisor:
    """The accounts of one process."""

    def __init__(  # noqa: PLR0913 - what a process is made of
        self,
        runs: Iterable[RunSettings],
        settings: ServiceSettings,
        load: StrategyLoader,
        *,
        fallback: str | None = None,
        memories: Mapping[str, AgentMemory] | None = None,
        hooks: Hooks | None = None,
        reload: Callable[[], ReloadResult] | None = None,
        sharing: AccountSharing | None = None,
    ) -> None:
        """Prepare the accounts.

        Args:
            runs: the settings of the accounts' runs, each with another name.
            settings: of the process.
            load: makes strategies; called in the threads that use them.
            fallback: the strategy to ask if an account's own fails.
            memories: what is known of other players from earlier runs, by account.
            hooks: callbacks of the accounts.
            reload: reads the settings again; called in a thread.
            sharing: how the accounts are shared with other processes; None: all are played here.
        """
        self._sharing = sharing
        self.settings = settings
        self.pool = StrategyPool(settings.thinkers)
        self._kinds: dict[str, PooledStrategy] = {}
        self._load = load
        self._fallback = fallback
        self._reload = reload
        self._reloading = asyncio.Lock()
        self._started = time.monotonic()
        memories = memories or {}
        self.accounts: dict[str, BotAccount] = {}
        for run in runs:
            name = run.agent.name
            self.accounts[name] = BotAccount(
                run, self._chain(run), memories.get(name) or AgentMemory(), hooks or Hooks()
            )

    def _chain(self, run: RunSettings) -> StrategyChain:
        names = dict.fromkeys((run.agent.play.strategy, *([self._fallback] if self._fallback else [])))
        return StrategyChain([self._kind(name) for name in names], self.settings.deadline)

    def _kind(self, name: str) -> PooledStrategy:
        if name not in self._kinds:
            self._kinds[name] = self.pool.add(name, lambda: self._load(name))
        return self._kinds[name]

    # -- running ------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Play until every account has ended."""
        interval = sys.getswitchinterval()
        sys.setswitchinterval(min(interval, SWITCH_INTERVAL))
        freezing = asyncio.create_task(self._freeze_after_start())
        try:
            await (self._sharing.run(self.accounts) if self._sharing else self._run_all())
        finally:
            freezing.cancel()
            await asyncio.gather(freezing, return_exceptions=True)
            self.pool.close()
            sys.setswitchinterval(interval)

    async def _run_all(self) -> None:
        tasks = [asyncio.create_task(account.run(), name=account.name) for account in self.accounts.values()]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _freeze_after_start(self) -> None:
        await self.first_attempts()
        _freeze_garbage()

    async def first_attempts(self) -> None:
        """Wait until each account's first attempt to log in has succeeded or failed."""
        await asyncio.gather(*(account.first_attempt.wait() for account in self.accounts.values()))

    # -- orders -------------------------------------------------------------------------------------------------

    def order(self, order: Order, name: str | None = None) -> tuple[str, ...]:
        """Give an order to one account, or to all; return the names of those that got it.

        Raises UnknownAccountError.
        """
        chosen = self._chosen(name)
        if order is Order.CONNECT:
            _log.info("ordered", order=order.value, accounts=[account.name for account in chosen])
            for account in chosen:
                account.connect_now()
        event = event_for_order(GivenOrder(order), time.monotonic())
        if event is not None:
            _log.info("ordered", order=order.value, accounts=[account.name for account in chosen])
            if self._sharing is not None and order in {Order.FINISH, Order.QUIT}:
                self._sharing.leave(account.name for account in chosen)
            for account in chosen:
                account.dispatch(event)
        return tuple(account.name for account in chosen)

    def give(self, given: GivenOrder, name: str | None = None) -> dict[str, str]:
        """Give an order about another player to one account; return the answer, by account.

        Players are blocked by all accounts if none is named. Raises UnknownAccountError, also if one must be named.
        """
        chosen = self._chosen(name)
        if len(chosen) > 1 and given.order not in {Order.BLOCK, Order.UNBLOCK}:
            raise UnknownAccountError(f"expected the name of an account ({', '.join(self.accounts)}), got none")
        _log.info("ordered", order=given.order.value, about=given.name, accounts=[account.name for account in chosen])
        return {account.name: account.give(given) for account in chosen}

    def _chosen(self, name: str | None) -> list[BotAccount]:
        """Return an account, or all."""
        if name is not None and name not in self.accounts:
            raise UnknownAccountError(f"expected one of {', '.join(self.accounts)}, got {name!r}")
        return [self.accounts[name]] if name else list(self.accounts.values())

    async def reload(self) -> ReloadResult:
        """Read the settings again; return what takes effect now, and what needs a restart."""
        if self._reload is None:
            return ReloadResult(problems=("this process has no settings that could be read again",))
        async with self._reloading:
            reloaded = await asyncio.to_thread(self._reload)
        for name, run in reloaded.runs.items():
            if name in self.accounts:
                self.accounts[name].dispatch(SettingsChanged(time.monotonic(), run.agent))
        for problem in reloaded.problems:
            _log.error("settings cannot be used, the old ones stay", problem=problem)
        for warning in reloaded.warnings:
            _log.warning(warning)
        for text in reloaded.applied:
            _log.info("setting changed", setting=text)
        for text in reloaded.ignored:
            _log.warning("setting changed, but needs a restart", setting=text)
        if not (reloaded.problems or reloaded.applied or reloaded.ignored):
            _log.info("settings read again, nothing has changed")
        return reloaded

    # -- status -------------------------------------------------------------------------------------------------

    @property
    def uptime(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def statuses(self) -> list[AccountStatus]:
        """Return the status of each account."""
        return [account.status() for account in self.accounts.values()]


@functools.cache
def _freeze_garbage() -> None:
    """Exclude everything that exists after the start from garbage collection, which would take long each time.

    Once per process: a second supervisor adds little to what the first has loaded.
    """
    gc.collect()
    gc.freeze()
