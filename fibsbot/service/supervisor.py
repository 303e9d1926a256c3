"""Runs all accounts of the process side by side: one event loop, one pool of strategies, and no crash that spreads."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

import structlog
from attrs import field, frozen

from fibsbot.bot.context import AgentMemory
from fibsbot.bot.interface import SettingsChanged, event_for_order
from fibsbot.bot.orders import Order
from fibsbot.bot.settings import RunSettings
from fibsbot.service.account import AccountStatus, BotAccount, Hooks
from fibsbot.service.settings import ServiceSettings
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.pool import PooledStrategy, StrategyChain, StrategyPool

SWITCH_INTERVAL: Final = 0.0002
"""Seconds after which a thread that computes lets another one go on (Python's default is 0.005): a strategy that thinks
for one account must not hold up the commands of the others."""

StrategyLoader: TypeAlias = Callable[[str], Strategy]
"""Makes an instance of the strategy of this name."""
_log = structlog.get_logger(__name__)


@frozen
class ReloadResult:
    """What became of a new look at the settings."""

    plans: Mapping[str, RunSettings] = field(factory=dict)
    """Accounts whose settings are others now, by name."""
    applied: tuple[str, ...] = ()
    """What has changed and holds from now on, for people."""
    ignored: tuple[str, ...] = ()
    """What has changed, but needs a restart."""
    warnings: tuple[str, ...] = ()
    """What is allowed, but cannot be meant."""
    problems: tuple[str, ...] = ()
    """Why nothing has changed: what is wrong with the new settings."""


class UnknownAccountError(ValueError):
    """There is no such account; the text is one line and says which there are."""


class Supervisor:
    """The accounts of one process."""

    def __init__(  # noqa: PLR0913 - what a process is made of
        self,
        plans: Iterable[RunSettings],
        settings: ServiceSettings,
        load: StrategyLoader,
        *,
        fallback: str | None = None,
        memories: Mapping[str, AgentMemory] | None = None,
        hooks: Hooks | None = None,
        reload: Callable[[], ReloadResult] | None = None,
    ) -> None:
        """Be ready to run.

        Args:
            plans: the accounts; no two have the same name.
            settings: of the process.
            load: makes strategies, in the threads that will ask them.
            fallback: the strategy that decides where an account's own one fails.
            memories: what is known of other players from earlier runs, by account.
            hooks: whom to tell what happens.
            reload: looks at the settings anew; called in a thread.
        """
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
        for plan in plans:
            name = plan.agent.name
            thinker = self._thinker(plan)
            self.accounts[name] = BotAccount(plan, thinker, memories.get(name) or AgentMemory(), hooks or Hooks())

    def _thinker(self, plan: RunSettings) -> StrategyChain:
        names = dict.fromkeys((plan.agent.play.strategy, *([self._fallback] if self._fallback else [])))
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
        tasks = [asyncio.create_task(account.run(), name=account.name) for account in self.accounts.values()]
        settling = asyncio.create_task(self._settle())
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in (settling, *tasks):
                task.cancel()
            await asyncio.gather(settling, *tasks, return_exceptions=True)
            self.pool.close()
            sys.setswitchinterval(interval)

    async def _settle(self) -> None:
        """Once everything is there, let the garbage collector never look at it again: each look would take a while."""
        await self.tried()
        gc.collect()
        gc.freeze()

    async def tried(self) -> None:
        """Wait until each account's first attempt to log in has come to something."""
        await asyncio.gather(*(account.tried.wait() for account in self.accounts.values()))

    # -- orders -------------------------------------------------------------------------------------------------

    def order(self, order: Order, name: str | None = None) -> tuple[str, ...]:
        """Give an order to one account, or to all; return the names of those who got it.

        Raises UnknownAccountError.
        """
        if name is not None and name not in self.accounts:
            raise UnknownAccountError(f"expected one of {', '.join(self.accounts)}, got {name!r}")
        chosen = [self.accounts[name]] if name else list(self.accounts.values())
        event = event_for_order(order, time.monotonic())
        if event is not None:
            _log.info("ordered", order=order.value, accounts=[account.name for account in chosen])
            for account in chosen:
                account.tell(event)
        return tuple(account.name for account in chosen)

    async def reload(self) -> ReloadResult:
        """Look at the settings anew; say what holds from now on, and what needs a restart."""
        if self._reload is None:
            return ReloadResult(problems=("this process has no settings that could be read again",))
        async with self._reloading:
            reloaded = await asyncio.to_thread(self._reload)
        for name, plan in reloaded.plans.items():
            if name in self.accounts:
                self.accounts[name].tell(SettingsChanged(time.monotonic(), plan.agent))
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

    # -- telling ------------------------------------------------------------------------------------------------

    @property
    def uptime(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def statuses(self) -> list[AccountStatus]:
        """Tell how each account is."""
        return [account.status() for account in self.accounts.values()]
