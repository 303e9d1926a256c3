"""The web pages of the process: metrics and health, the live page, the dashboard; which there are, and their server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import structlog
from attrs import evolve

from fibsbot.bot.orders import GivenOrder
from fibsbot.records.store import StoreWriter
from fibsbot.service.account import AccountStatus, Hooks
from fibsbot.service.dashboard import Dashboard
from fibsbot.service.dashboard.win_chances import WinChances
from fibsbot.service.live import LivePage
from fibsbot.service.metrics import Metrics, health_handler, metrics_handler
from fibsbot.service.settings import ServiceSettings
from fibsbot.service.supervisor import Supervisor
from fibsbot.web import HOST
from fibsbot.web.server import WebServer, redirect_handler

_log = structlog.get_logger(__name__)


class ShownProcess(Protocol):
    """The process that the pages are about. Its supervisor may be made after them."""

    supervisor: Supervisor
    store: StoreWriter | None

    def status(self) -> Mapping[str, Any]:
        """Return the status of all accounts, as JSON values."""
        ...

    def health(self) -> tuple[bool, Mapping[str, Any]]:
        """Return whether everything is healthy, and the state of every account."""
        ...

    def obey(self, given: GivenOrder, account: str | None) -> Mapping[str, Any]:
        """Carry out an order. Raises ValueError for an unknown account."""
        ...


class WebPages:
    """All pages that the settings ask for."""

    def __init__(self, settings: ServiceSettings, accounts: Iterable[str], process: ShownProcess) -> None:
        """Prepare the pages about the accounts of a process."""
        self._process = process
        self._metrics = Metrics(lambda: process.supervisor, process.store)
        evaluate = WinChances().of if settings.dashboard else None
        shown = settings.live or settings.dashboard
        self._live = LivePage(accounts, self._statuses, evaluate) if shown else None
        self._dashboard: Dashboard | None = None
        if self._live is not None and settings.dashboard:
            self._dashboard = Dashboard(self._live, process.status, self._statuses, process.obey, settings.store)
        self._server: WebServer | None = None

    def _statuses(self) -> list[AccountStatus]:
        return self._process.supervisor.statuses()

    def with_hooks(self, hooks: Hooks) -> Hooks:
        """Return the callbacks of the accounts with those of the pages."""
        hooks = evolve(hooks, on_decision=self._metrics.on_decision)
        if self._live is None:
            return hooks
        return evolve(hooks, on_message=self._live.on_message, on_match_event=self._live.on_match_event)

    @property
    def url(self) -> str | None:
        """Address of the server; None while it does not run."""
        return None if self._server is None else f"http://{HOST}:{self._server.port}"

    @property
    def dashboard_address(self) -> str | None:
        """Address of the dashboard, with its token; None if there is none."""
        return self._dashboard.address(self.url) if self._dashboard and self.url else None

    async def start(self, port: int) -> None:
        """Start the server. Raises OSError if the port is in use."""
        server = WebServer(port)
        server.add("/metrics", metrics_handler(self._metrics.text))
        server.add("/healthz", health_handler(self._process.health))
        if self._live:
            server.add("/live", self._live.page)
            server.add("/live/events", self._live.events, embedded=True)
        if self._dashboard:
            self._dashboard.add_to(server)
        server.add("/", redirect_handler("/dashboard" if self._dashboard else "/live" if self._live else "/healthz"))
        await server.start()
        self._server = server
        _log.info("metrics and health", url=self.url)
        if self._live:
            _log.info("the bots can be watched", url=f"{self.url}/live")
        if self._dashboard:
            _log.info("the dashboard is there", address="fibsbot status --dashboard")

    async def close(self) -> None:
        """End all responses and stop the server."""
        if self._live:
            self._live.close()
        if self._dashboard:
            self._dashboard.close()
        if self._server:
            await self._server.close()
