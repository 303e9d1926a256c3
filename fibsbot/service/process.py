"""The process that an operator leaves running: accounts, store, control socket, web server, signals, systemd."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import structlog
from attrs import evolve

from fibsbot import __version__
from fibsbot.bot.actions import End
from fibsbot.bot.orders import Order
from fibsbot.bot.thinking import Thought
from fibsbot.records.store import StoreWriter
from fibsbot.service.account import Account, AccountStatus, Hooks, Note
from fibsbot.service.asking import ControlError
from fibsbot.service.control import Control, make_room
from fibsbot.service.notify import Notifier
from fibsbot.service.remembering import recall
from fibsbot.service.settings import HOST, AccountPlan, ServiceSettings
from fibsbot.service.supervisor import Load, Reloaded, Supervisor
from fibsbot.service.wording import lasting

if TYPE_CHECKING:
    from fibsbot.service.live import Live

LOOK: Final = 10.0
"""Seconds between two looks at whether everything is as it should be; less where systemd waits for it."""
LEAVE: Final = 10.0
"""Seconds that logging out may take once somebody wants to leave at once."""
MANY: Final = 3
"""So many accounts are told one by one in the status line."""

_log = structlog.get_logger(__name__)


class ServiceError(Exception):
    """The process cannot do its work here; the text is one line and says why."""


@contextlib.contextmanager
def hangups_held_back() -> Iterator[None]:
    """Let a SIGHUP wait for the service that heeds it, and lets it through: it would end a process that only starts."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        yield
    finally:
        handler = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # which forgets one that still waits
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGHUP, handler)


class Service:
    """Everything that runs in one process."""

    def __init__(  # noqa: PLR0913 - what a process is made of
        self,
        plans: Iterable[AccountPlan],
        settings: ServiceSettings,
        load: Load,
        *,
        fallback: str | None = None,
        reload: Callable[[], Reloaded] | None = None,
        hooks: Hooks | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """Prepare everything; see Supervisor. `environment` tells of systemd.

        Raises StoreError when there is a store that can never be used, ServiceError when somebody else runs already.
        """
        check_alone(settings)
        plans = tuple(plans)
        self._settings = settings
        self._notifier = Notifier(environment)
        self._orders = 0
        self._ending: asyncio.Task[None] | None = None
        self._reloads: set[asyncio.Task[None]] = set()
        self._url: str | None = None
        """Where the web server is."""
        self._notes: list[Note] = [hooks.note] if hooks else []
        self.store = StoreWriter(settings.store) if settings.store else None
        servers = {plan.run.agent.name: f"{plan.run.host}:{plan.run.port}" for plan in plans}
        memories = recall(settings.store, servers) if settings.store else {}
        hooks = evolve(hooks or Hooks(), note=self._note)
        if self.store:
            hooks = evolve(hooks, keep=self.store.put)
        self._live = self._make_live(plans) if settings.live and settings.web_port is not None else None
        if self._live:
            hooks = evolve(hooks, hear=self._live.hear, follow=self._live.happen)
        self.supervisor = Supervisor(
            plans, settings, load, fallback=fallback, memories=memories, hooks=hooks, reload=reload
        )

    def _make_live(self, plans: Iterable[AccountPlan]) -> Live:
        """Return the page that shows the bots; what it needs is imported only here."""
        from fibsbot.service.live import Live  # noqa: PLC0415 - slow to import, and rarely wanted

        return Live([plan.run.agent.name for plan in plans], lambda: self.supervisor.statuses())  # noqa: PLW0108 - there is none yet

    def _note(self, account: str, thought: Thought, seconds: float) -> None:
        for note in self._notes:
            note(account, thought, seconds)

    # -- running ------------------------------------------------------------------------------------------------

    async def run(self) -> dict[str, Account]:
        """Play until every account has ended; return them.

        Raises ServiceError when the control socket or the web server cannot be used.
        """
        try:
            async with contextlib.AsyncExitStack() as stack:
                if self._settings.control is not None:
                    await stack.enter_async_context(self._control())
                if self._settings.web_port is not None:
                    await stack.enter_async_context(self._web(self._settings.web_port))
                stack.enter_context(self._signals())
                await self._play()
        finally:
            if self.store is not None:
                await asyncio.to_thread(self.store.close)
        return self.supervisor.accounts

    async def _play(self) -> None:
        watching = asyncio.create_task(self._watch())
        playing = asyncio.create_task(self.supervisor.run())
        self._playing = playing
        try:
            await playing
        except asyncio.CancelledError:
            if self._ending is None:  # it is not us who had enough
                raise
        finally:
            self._notifier.stopping()
            watching.cancel()
            playing.cancel()
            for task in (watching, playing, *([self._ending] if self._ending else []), *self._reloads):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await task

    async def _watch(self) -> None:
        """Tell systemd that we are there, from within the event loop, and only while no account is stuck."""
        await self.supervisor.tried()
        self._notifier.ready(self.sentence())
        pause = min(LOOK, (self._notifier.watchdog or LOOK * 3) / 3)
        stuck: set[str] = set()
        while True:
            now_stuck = {name for name, account in self.supervisor.accounts.items() if not account.look()}
            for name in sorted(now_stuck - stuck):
                _log.error("account is stuck", account=name)
            for name in sorted(stuck - now_stuck):
                _log.info("account goes on", account=name)
            stuck = now_stuck
            if not stuck:
                self._notifier.alive()
            self._notifier.status(self.sentence())
            await asyncio.sleep(pause)

    @contextlib.asynccontextmanager
    async def _control(self) -> AsyncIterator[None]:
        path = self._settings.control
        if path is None:
            raise ValueError("expected a path")
        control = Control(path, self.obey)
        try:
            await control.start()
        except ControlError as error:
            raise ServiceError(str(error)) from None
        try:
            yield
        finally:
            await control.close()

    @contextlib.asynccontextmanager
    async def _web(self, port: int) -> AsyncIterator[None]:
        """Run the web server; what it needs is imported only here."""
        from fibsbot.service import metrics, web  # noqa: PLC0415 - slow to import, and rarely wanted

        measured = metrics.Metrics(self.supervisor.statuses, lambda: self.supervisor.pool, self.store)
        self._notes.append(measured.note)
        server = web.Web(port)
        server.add("/metrics", web.metrics(measured.text))
        server.add("/healthz", web.health(self.health))
        if self._live:
            server.add("/live", self._live.page)
            server.add("/live/events", self._live.events, embedded=True)
        try:
            await server.start()
        except OSError as error:
            raise _taken(port, error) from None
        self._url = f"http://{HOST}:{server.port}"
        _log.info("metrics and health", url=self._url)
        if self._live:
            _log.info("the bots can be watched", url=f"{self._url}/live")
        try:
            yield
        finally:
            if self._live:
                self._live.close()
            await server.close()

    # -- signals ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._on_end, number)
        loop.add_signal_handler(signal.SIGHUP, self._on_reload)
        held = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.remove_signal_handler(number)

    def _on_end(self, number: signal.Signals) -> None:
        """Finish the matches; the second time leave at once; a third signal meets nobody and kills."""
        self._orders += 1
        if self._orders == 1:
            _log.info("asked to end", signal=number.name, what="matches are finished first; once more: leave at once")
            self._notifier.stopping()
            self.supervisor.order(Order.LAST)
            return
        _log.warning("asked to end at once", signal=number.name, what="the server saves the matches")
        for other in (signal.SIGINT, signal.SIGTERM):
            signal.signal(other, signal.SIG_DFL)
        self.supervisor.order(Order.QUIT)
        self._ending = self._ending or asyncio.create_task(self._leave())

    async def _leave(self) -> None:
        """Wait for the accounts to log out, but not for ever."""
        await asyncio.sleep(LEAVE)
        _log.warning("leaving without a goodbye")
        self._playing.cancel()

    def _on_reload(self) -> None:
        task = asyncio.get_running_loop().create_task(self._reload())
        self._reloads.add(task)
        task.add_done_callback(self._reloads.discard)

    async def _reload(self) -> None:
        self._notifier.reloading()
        try:
            await self.supervisor.reload()
        except Exception as error:  # noqa: BLE001 - the old settings are good enough to go on with
            _log.error("settings could not be read again", error=f"{type(error).__name__}: {error}")
        self._notifier.ready(self.sentence())

    # -- orders and questions -----------------------------------------------------------------------------------

    def obey(self, order: Order, account: str | None) -> Mapping[str, Any]:
        """Carry out an order of the control socket. Raises ValueError for an account that is not there."""
        names = self.supervisor.order(order, account)
        if order is not Order.STATUS:
            return {"accounts": names}
        return {"status": self.status(account)}

    def status(self, account: str | None = None) -> dict[str, Any]:
        """Tell everything, of one account or of all, as JSON can write it."""
        store = self.store
        return {
            "version": __version__,
            "process": os.getpid(),
            "uptime": round(self.supervisor.uptime, 1),
            "web": self._url,
            "accounts": [it.as_dict() for it in self.supervisor.statuses() if account in (None, it.account)],
            "store": None
            if store is None
            else {
                "healthy": store.healthy,
                "waiting": store.waiting,
                "written": store.written,
                "lost": store.lost,
                "trouble": store.trouble,
            },
        }

    def health(self) -> tuple[bool, Mapping[str, Any]]:
        """Tell whether everything is as it should be, and what every account does."""
        statuses = self.supervisor.statuses()
        well = all(it.healthy for it in statuses)
        accounts = {it.account: {"healthy": it.healthy, "state": it.state} for it in statuses}
        return well, {"healthy": well, "accounts": accounts, "store": self.store is None or self.store.healthy}

    def sentence(self) -> str:
        """Say in a line what goes on: `playing ford, 3-2 of 5, up 4 d`."""
        statuses = self.supervisor.statuses()
        if len(statuses) == 1:
            said = statuses[0].sentence
        elif len(statuses) <= MANY:
            said = "; ".join(f"{it.account} {it.sentence}" for it in statuses)
        else:
            said = _counted(statuses)
        return f"{said}, up {lasting(self.supervisor.uptime)}"


def check_places(settings: ServiceSettings) -> None:
    """Raise ServiceError where another process has the control socket, or the web server's port."""
    check_alone(settings)
    if settings.web_port:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, settings.web_port))
            except OSError as error:
                raise _taken(settings.web_port, error) from None


def _taken(port: int, error: OSError) -> ServiceError:
    return ServiceError(f"cannot listen on {HOST}:{port}: {error.strerror or error} (service.web_port)")


def check_alone(settings: ServiceSettings) -> None:
    """Look whether another instance has the control socket, before anything is written into a store that it may use.

    Any other trouble with the socket shows when it is made.
    """
    if settings.control is not None:
        try:
            with contextlib.suppress(OSError):
                make_room(settings.control)
        except ControlError as error:
            raise ServiceError(str(error)) from None


def _counted(statuses: list[AccountStatus]) -> str:
    playing = sum(bool(it.agent and it.agent.opponent) for it in statuses)
    waiting = sum(it.connected is not None for it in statuses) - playing
    gone = sum(it.state in End.__members__ for it in statuses)
    away = len(statuses) - playing - waiting - gone
    parts = [f"{len(statuses)} accounts: {playing} playing"]
    parts += [f"{count} {what}" for count, what in ((waiting, "waiting"), (away, "away"), (gone, "ended")) if count]
    return ", ".join(parts)
