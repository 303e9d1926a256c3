"""The process of `fibsbot run`: accounts, store, control socket, web server, signals, systemd."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import structlog
from attrs import evolve

from fibsbot.bot.context import AgentMemory
from fibsbot.bot.events_and_actions import End, ListsChanged
from fibsbot.bot.orders import GivenOrder, Order
from fibsbot.bot.settings import RunSettings
from fibsbot.early_signals import take_early_signals
from fibsbot.files import is_lasting
from fibsbot.notify.notice import Notice
from fibsbot.notify.settings import Hook
from fibsbot.policy.name_lists import ListSettings, PlayerLists
from fibsbot.records.store import StoreWriter
from fibsbot.replay.events import MatchEvent
from fibsbot.service.account import ELSEWHERE, AccountStatus, BotAccount, Hooks
from fibsbot.service.alarms import Alarms, ProcessState
from fibsbot.service.blocked_players import BlockedPlayers
from fibsbot.service.control_client import ControlError, UnusableSocketError
from fibsbot.service.control_server import ControlServer, remove_stale_socket
from fibsbot.service.list_reader import ListReader
from fibsbot.service.match_files import MatchFiles
from fibsbot.service.memories import load_memories, sharing_on
from fibsbot.service.settings import ServiceSettings
from fibsbot.service.supervisor import ReloadResult, StrategyLoader, Supervisor
from fibsbot.service.systemd import SystemdNotifier
from fibsbot.text import errors_as, short_duration
from fibsbot.version import __version__
from fibsbot.web import HOST

if TYPE_CHECKING:
    from fibsbot.notify.notifier import Notifier
    from fibsbot.service.web_pages import WebPages

_log = structlog.get_logger(__name__)


CHECK_INTERVAL: Final = 10.0
"""Seconds between two checks of the accounts; less if systemd needs it."""
LOGOUT_TIMEOUT: Final = 10.0
"""Seconds that logging out may take after an order to quit."""
MAX_LISTED: Final = 3
"""Maximum number of accounts that the status line lists one by one."""


class ServiceError(Exception):
    """The process cannot do its work here; the text is one line and says why."""


class UnusableSettingError(ServiceError):
    """The same at each start, until a setting or the machine is changed."""


def _control_errors() -> contextlib.AbstractContextManager[None]:
    """Turn a ControlError into a ServiceError."""
    return errors_as((UnusableSocketError, UnusableSettingError), (ControlError, ServiceError))


@contextlib.contextmanager
def sighup_blocked() -> Iterator[None]:
    """Hold back SIGHUP until the service handles it, because it would end a process that is starting."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        yield
    finally:
        handler = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # which discards one that is pending
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGHUP, handler)


class Service:
    """The bots and everything else that runs in their process."""

    def __init__(  # noqa: PLR0913 - what a process is made of
        self,
        runs: Iterable[RunSettings],
        settings: ServiceSettings,
        load: StrategyLoader,
        *,
        fallback: str | None = None,
        reload: Callable[[], ReloadResult] | None = None,
        hooks: Hooks | None = None,
        notify: Iterable[Hook] = (),
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """Prepare everything; see Supervisor. `notify` are whom to notify, `environment` has the variables of systemd.

        Raises StoreError if the store can never be used, ServiceError if another process is running.
        """
        check_not_running(settings)
        runs = tuple(runs)
        self._settings = settings
        self._notifier = SystemdNotifier(environment)
        self._orders = 0
        self._ending: asyncio.Task[None] | None = None
        self._reloads: set[asyncio.Task[None]] = set()
        self.store = StoreWriter(settings.store) if settings.store else None
        servers = {run.agent.name: run.server.address for run in runs}
        memories = load_memories(settings.store, servers) if settings.store else {}
        hooks = hooks or Hooks()
        if self.store:
            hooks = evolve(hooks, store_record=self.store.put)
        self._pages = self._make_pages(runs) if settings.web_port is not None else None
        if self._pages is not None:
            hooks = self._pages.with_hooks(hooks)
        self._match_files = MatchFiles({run.agent.name: run.match_directory for run in runs if run.match_directory})
        hooks = self._with_match_files(hooks, runs)
        self._list_reader = ListReader(settings.state / "lists" if settings.state else None)
        self._reread = asyncio.Event()
        """Set when lists of players are to be read before their time."""
        self.notices: Notifier | None = None
        self._notify = tuple(notify)
        self._alarms = Alarms(self._notify, self._send_notice)
        self._blocked = BlockedPlayers(settings.state / "blocked.json" if settings.state else None)
        for name in servers:
            memories.setdefault(name, AgentMemory()).blocked |= self._blocked.of(name)
        hooks = evolve(
            hooks,
            on_record=self._alarms.on_record,
            on_crash=self._alarms.on_crash,
            on_end=self._alarms.on_end,
            on_blocked=self._blocked.keep,
        )
        self.supervisor = Supervisor(
            *(runs, settings, load),
            fallback=fallback,
            memories=memories,
            hooks=hooks,
            reload=reload,
            sharing=sharing_on(settings.store) if settings.share_accounts and settings.store else None,
        )

    def _with_match_files(self, hooks: Hooks, runs: Iterable[RunSettings]) -> Hooks:
        """Return the callbacks with that of the files of matches, if any account has them."""
        if not any(run.match_directory for run in runs):
            return hooks
        others, write = hooks.on_match_event, self._match_files.on_match_event

        def on_match_event(account: str, event: MatchEvent) -> None:
            write(account, event)
            if others is not None:
                others(account, event)

        return evolve(hooks, on_match_event=on_match_event)

    def _make_pages(self, runs: Iterable[RunSettings]) -> WebPages:
        from fibsbot.service.web_pages import WebPages  # noqa: PLC0415 - slow to import, and rarely used

        return WebPages(self._settings, [run.agent.name for run in runs], self)

    # -- notices ------------------------------------------------------------------------------------------------

    def _configure_notices(self, hooks: tuple[Hook, ...]) -> None:
        """Notify these from now on; the thread that delivers is started for the first of them."""
        if self.notices is not None:
            self.notices.configure(hooks)
        elif hooks:
            from fibsbot.notify.notifier import Notifier  # noqa: PLC0415 - aiohttp, which few configurations need

            self.notices = Notifier(hooks, self._settings.state / "notify" if self._settings.state else None)
            self.notices.start()
        self._alarms.configure(hooks)

    def _send_notice(self, hook: str, notice: Notice) -> None:
        if self.notices is not None:
            self.notices.send(hook, notice)

    def _check_alarms(self) -> None:
        accounts = self.supervisor.accounts
        error = (self.store.error if self.store is not None else None) or self._match_files.error
        for account in accounts.values():
            if error is None and account.lost_log_records:
                error = f"the session log of {account.name} loses records"
        servers = {name: account.settings.server.address for name, account in accounts.items()}
        lists: dict[str, str | None] = {}
        for account in accounts.values():
            lists |= self._list_reader.errors(account.settings.agent.lists)
        self._alarms.check(ProcessState(tuple(self.supervisor.statuses()), servers, error, lists))

    # -- lists of players ---------------------------------------------------------------------------------------

    async def _apply_lists(self, read: Callable[[ListSettings], Awaitable[PlayerLists]]) -> float | None:
        """Give each account what its lists say; return when to read them again, in seconds, None if there are none."""
        pauses = []
        for account in self.supervisor.accounts.values():
            settings = account.settings.agent.lists
            if settings.block or settings.allow or account.has_lists:
                pauses.append(settings.interval)
                lists = await read(settings)
                account.dispatch(ListsChanged(time.monotonic(), lists))
        return min(pauses, default=None)

    async def _follow_lists(self) -> None:
        """Read the lists again and again, and after each change of the settings."""
        while True:
            pause = await self._apply_lists(self._list_reader.fresh)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._reread.wait()
            self._reread.clear()

    # -- running ------------------------------------------------------------------------------------------------

    async def run(self) -> dict[str, BotAccount]:
        """Play until every account has ended; return them.

        Raises ServiceError if the control socket or the web server's port is in use, UnusableSettingError if it cannot
        be used at all.
        """
        try:
            async with contextlib.AsyncExitStack() as stack:
                if self._settings.control is not None:
                    await stack.enter_async_context(self._control())
                if self._pages is not None and self._settings.web_port is not None:
                    await stack.enter_async_context(self._web(self._pages, self._settings.web_port))
                stack.enter_context(self._signals())
                self._configure_notices(self._notify)
                await self._play()
        finally:
            if self.store is not None:
                await asyncio.to_thread(self.store.close)
            if self.notices is not None:
                await asyncio.to_thread(self.notices.close)
            await asyncio.to_thread(self._blocked.close)
            await asyncio.to_thread(self._match_files.close)
        return self.supervisor.accounts

    async def _play(self) -> None:
        # Before the first invitation; addresses are asked while we play.
        await self._apply_lists(self._list_reader.loaded)
        following = asyncio.create_task(self._follow_lists())
        watching = asyncio.create_task(self._watch())
        playing = asyncio.create_task(self.supervisor.run())
        self._playing = playing
        try:
            await playing
        except asyncio.CancelledError:
            if self._ending is None:  # not cancelled by _leave
                raise
        finally:
            self._notifier.stopping()
            for task in (following, watching, playing, *([self._ending] if self._ending else []), *self._reloads):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await task

    async def _watch(self) -> None:
        """Notify systemd, from within the event loop, that we are alive, as long as no account is stuck."""
        await self.supervisor.first_attempts()
        self._notifier.ready(self.sentence())
        pause = min(CHECK_INTERVAL, (self._notifier.watchdog or CHECK_INTERVAL * 3) / 3)
        stuck: set[str] = set()
        while True:
            now_stuck = {name for name, account in self.supervisor.accounts.items() if not account.is_responsive()}
            for name in sorted(now_stuck - stuck):
                _log.error("account is stuck", account=name)
            for name in sorted(stuck - now_stuck):
                _log.info("account goes on", account=name)
            stuck = now_stuck
            if not stuck:
                self._notifier.alive()
            self._notifier.status(self.sentence())
            self._check_alarms()
            await asyncio.sleep(pause)

    @contextlib.asynccontextmanager
    async def _control(self) -> AsyncIterator[None]:
        path = self._settings.control
        if path is None:
            raise ValueError("expected a path")
        control = ControlServer(path, self.obey)
        with _control_errors():
            await control.start()
        try:
            yield
        finally:
            await control.close()

    @contextlib.asynccontextmanager
    async def _web(self, pages: WebPages, port: int) -> AsyncIterator[None]:
        """Run the web server."""
        try:
            await pages.start(port)
        except OSError as error:
            raise _port_error(port, error) from None
        try:
            yield
        finally:
            await pages.close()

    # -- signals ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._on_end, number)
        loop.add_signal_handler(signal.SIGHUP, self._on_reload)
        for number in take_early_signals():
            self._on_end(number)
        held = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.remove_signal_handler(number)

    def _on_end(self, number: signal.Signals) -> None:
        """Finish the matches; the second time, quit at once; a third signal has no handler and kills."""
        self._orders += 1
        if self._orders == 1:
            _log.info("asked to end", signal=number.name, what="matches are finished first; once more: leave at once")
            self._notifier.stopping()
            self.supervisor.order(Order.FINISH)
            return
        _log.warning("asked to end at once", signal=number.name, what="the server saves the matches")
        for other in (signal.SIGINT, signal.SIGTERM):
            signal.signal(other, signal.SIG_DFL)
        self.supervisor.order(Order.QUIT)
        self._ending = self._ending or asyncio.create_task(self._leave())

    async def _leave(self) -> None:
        """Give the accounts some time to log out."""
        await asyncio.sleep(LOGOUT_TIMEOUT)
        _log.warning("leaving without a goodbye")
        self._playing.cancel()

    def _on_reload(self) -> None:
        task = asyncio.get_running_loop().create_task(self._reload())
        self._reloads.add(task)
        task.add_done_callback(self._reloads.discard)

    async def _reload(self) -> None:
        self._notifier.reloading()
        try:
            reloaded = await self.supervisor.reload()
            if not reloaded.problems:
                self._configure_notices(reloaded.hooks)
                self._reread.set()
        except Exception as error:  # noqa: BLE001 - the old settings stay in effect
            _log.error("settings could not be read again", error=f"{type(error).__name__}: {error}")
        self._notifier.ready(self.sentence())

    # -- orders and questions -----------------------------------------------------------------------------------

    def obey(self, given: GivenOrder, account: str | None) -> Mapping[str, Any]:
        """Carry out an order from the control socket. Raises ValueError for an unknown account."""
        if given.order.arguments:
            answers = self.supervisor.give(given, account)
            return {"accounts": list(answers), "answers": answers}
        names = self.supervisor.order(given.order, account)
        if given.order is not Order.STATUS:
            return {"accounts": names}
        dashboard = self._pages.dashboard_address if self._pages is not None else None
        return {"status": self.status(account), "dashboard": dashboard}

    def status(self, account: str | None = None) -> dict[str, Any]:
        """Return the status of one account or of all, as JSON values."""
        store = self.store
        return {
            "version": __version__,
            "process": os.getpid(),
            "uptime": round(self.supervisor.uptime, 1),
            "web": self._pages.url if self._pages is not None else None,
            "accounts": [
                status.as_dict() for status in self.supervisor.statuses() if account in (None, status.account)
            ],
            "store": None
            if store is None
            else {
                "healthy": store.healthy,
                "waiting": store.waiting,
                "written": store.written,
                "lost": store.lost,
                "trouble": store.error,
            },
        }

    def health(self) -> tuple[bool, Mapping[str, Any]]:
        """Return whether everything is healthy, and the state of every account."""
        statuses = self.supervisor.statuses()
        healthy = all(status.healthy for status in statuses)
        accounts = {status.account: {"healthy": status.healthy, "state": status.state} for status in statuses}
        return healthy, {"healthy": healthy, "accounts": accounts, "store": self.store is None or self.store.healthy}

    def sentence(self) -> str:
        """Return a line about what is going on: `playing ford, 3-2 of 5, up 4 d`."""
        statuses = self.supervisor.statuses()
        if len(statuses) == 1:
            text = statuses[0].sentence
        elif len(statuses) <= MAX_LISTED:
            text = "; ".join(f"{status.account} {status.sentence}" for status in statuses)
        else:
            text = _account_counts(statuses)
        return f"{text}, up {short_duration(self.supervisor.uptime)}"


def check_addresses(settings: ServiceSettings) -> None:
    """Raise ServiceError if another process has the control socket or the web server's port."""
    check_not_running(settings)
    if settings.web_port:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, settings.web_port))
            except OSError as error:
                raise _port_error(settings.web_port, error) from None


def _port_error(port: int, error: OSError) -> ServiceError:
    kind = UnusableSettingError if is_lasting(error) else ServiceError
    return kind(f"cannot listen on {HOST}:{port}: {error.strerror or error} (service.web_port)")


def check_not_running(settings: ServiceSettings) -> None:
    """Check that no other instance has the control socket, before anything is written into a store that it may use.

    Any other trouble with the socket shows when it is made.
    """
    if settings.control is not None:
        with _control_errors(), contextlib.suppress(OSError):
            remove_stale_socket(settings.control)


def _account_counts(statuses: list[AccountStatus]) -> str:
    elsewhere = sum(status.state == ELSEWHERE for status in statuses)
    playing = sum(bool(status.agent and status.agent.opponent) for status in statuses)
    waiting = sum(status.connected is not None for status in statuses) - playing
    gone = sum(status.state in End.__members__ for status in statuses)
    away = len(statuses) - playing - waiting - gone - elsewhere
    parts = [f"{len(statuses)} accounts: {playing} playing"]
    others = ((waiting, "waiting"), (away, "away"), (gone, "ended"), (elsewhere, "elsewhere"))
    parts += [f"{count} {what}" for count, what in others if count]
    return ", ".join(parts)
