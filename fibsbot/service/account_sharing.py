"""Shares the accounts with other processes on the same store: plays those whose leases this process holds.

The leases of a process that has ended expire, and the others take its accounts; saved matches are resumed there as
after any restart. While the store cannot be reached a process plays on: the server lets an account log in only once, so
a process that takes it over meanwhile replaces the connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import structlog

from fibsbot.bot.context import AgentMemory
from fibsbot.bot.events_and_actions import FinishRequested, QuitRequested
from fibsbot.records.store import AccountLeases, LeaseHolder, LeaseView, StoreError
from fibsbot.service.account import BotAccount

RENEWAL_INTERVAL: Final = 5.0
"""Seconds between two renewals of the leases."""

_log = structlog.get_logger(__name__)


class AccountSharing:
    """Runs and ends the accounts of this process as its leases come and go."""

    def __init__(
        self,
        leases: AccountLeases,
        load_memory: Callable[[BotAccount], AgentMemory],
        *,
        interval: float = RENEWAL_INTERVAL,
    ) -> None:
        """Share through these leases.

        Args:
            leases: of this process.
            load_memory: returns what is known of other players, for an account that is taken; called in a thread.
            interval: seconds between two renewals.
        """
        self._leases = leases
        self._load_memory = load_memory
        self._interval = interval
        self._accounts: Mapping[str, BotAccount] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        """The accounts that this process plays, and those that have ended by themselves, which no other is to play."""
        self._leaving: set[str] = set()
        """Accounts that were ordered to end here."""
        self._handing_over: set[str] = set()
        """Accounts that end here because this process has more than its share."""
        self._changed = asyncio.Event()
        self._trouble: str | None = None

    async def run(self, accounts: Mapping[str, BotAccount]) -> None:
        """Play until every account was ordered to end, or has ended here by itself."""
        self._accounts = accounts
        first = True
        try:
            while True:
                # Processes that start together see each other before the first of them takes everything.
                await self._renew(take=not first)
                if self._leaving >= accounts.keys() and not self._tasks:
                    return
                if len(self._tasks) == len(accounts) and all(task.done() for task in self._tasks.values()):
                    return
                first = False
                self._changed.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._interval):
                        await self._changed.wait()
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
            with contextlib.suppress(StoreError):
                await asyncio.to_thread(self._leases.give_up)

    def leave(self, names: Iterable[str]) -> None:
        """Note that accounts were ordered to end; other processes may take them, this one does not any more."""
        self._leaving.update(names)
        self._changed.set()

    async def _renew(self, *, take: bool) -> None:
        given_up = self._leaving | self._handing_over
        for name in [name for name, task in self._tasks.items() if task.done() and name in given_up]:
            del self._tasks[name]
            self._handing_over.discard(name)
        doing = {name: self._description(name) for name in self._tasks}
        free = self._accounts.keys() - self._tasks.keys() - self._leaving if take else ()
        try:
            view = await asyncio.to_thread(self._leases.renew, self._accounts, doing, free)
        except StoreError as error:
            if self._trouble is None:
                _log.warning("leases of the accounts cannot be renewed; they are played on", error=str(error))
            self._trouble = str(error)
            for name in self._accounts.keys() - self._tasks.keys():
                self._accounts[name].stand_by("waiting for the store")
        else:
            self._trouble = None
            await self._apply(view)

    def _description(self, name: str) -> tuple[str, str]:
        status = self._accounts[name].status()
        return status.state, status.sentence

    async def _apply(self, view: LeaseView) -> None:
        now = time.monotonic()
        for name in self._tasks.keys() - view.held - self._handing_over:
            _log.warning("another process plays the account now", account=name)
            self._handing_over.add(name)
            self._accounts[name].dispatch(QuitRequested(now))
        for name in sorted(view.held - self._tasks.keys()):
            account = self._accounts[name]
            account.get_ready(await asyncio.to_thread(self._load_memory, account))
            self._tasks[name] = task = asyncio.create_task(account.run(), name=name)
            task.add_done_callback(lambda _: self._changed.set())
            _log.info("account taken", account=name)
        for name in self._accounts.keys() - self._tasks.keys():
            self._accounts[name].stand_by(_words(view.elsewhere.get(name)))
        surplus = view.surplus - len(self._handing_over & view.held)
        if surplus > 0:
            self._hand_over(surplus)

    def _hand_over(self, count: int) -> None:
        """Let accounts end here so that another process can take them, those that play no match first."""
        statuses = [self._accounts[name].status() for name in self._tasks.keys() - self._handing_over]
        running = [candidate for candidate in statuses if self._accounts[candidate.account].end is None]
        running.sort(key=lambda candidate: (bool(candidate.agent and candidate.agent.opponent), candidate.account))
        for status in running[:count]:
            _log.info("account is handed over to another process after its match", account=status.account)
            self._handing_over.add(status.account)
            self._accounts[status.account].dispatch(FinishRequested(time.monotonic()))


def _words(holder: LeaseHolder | None) -> str:
    """Return the sentence of an account that this process does not play."""
    if holder is None:
        return "waiting for a process to play it"
    return f"played by process {holder.process} on {holder.host}: {holder.sentence}"
