"""`fibsbot serve --web`: pages on which people play each other on a server, with nothing but a browser.

A page is the table of a person who is connected to the server as every telnet user is, so that nothing more can be
reached by it. Guests get an account with the name of their choice and a random password, which their browser keeps.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Final, cast
from urllib.parse import urlsplit

import structlog
from aiohttp import web
from attrs import define, field, frozen

from fibsbot.bot.settings import Timings
from fibsbot.client.settings import ServerSettings
from fibsbot.policy import is_player_name
from fibsbot.table.connection_limits import ConnectionLimits, OpenConnections
from fibsbot.table.page_server import HEADERS, Handler, PageServer, TablePage, asked_of, asset
from fibsbot.table.server_host import ServerHost, ServerLogin
from fibsbot.table.server_session import person_settings
from fibsbot.web import HOST

LOGIN_FILES: Final = ("login.css", "login.js", "table.css", "lobby.css")
_SAME_SITE: Final = frozenset({"same-origin", "none"})
SWEEP: Final = 5.0
"""Seconds between two looks for pages that nobody has open."""

_log = structlog.get_logger(__name__)


@frozen
class WebLimits:
    """Bounds for the browsers of one address, which telnet users have, too (docs/reference/server.md), and for all."""

    tables: int = 500
    """Tables at a time."""
    tables_per_address: int = 50
    """Tables at a time that one address has opened."""
    logins: int = 10
    """Logins of one address at once; after that, one is allowed in each `login_interval`."""
    login_interval: float = 6.0
    """Seconds."""
    requests: int = 300
    """Requests of one address at once."""
    requests_per_second: float = 50.0
    """Requests of one address in the long run; more are refused."""
    absence: float = 120.0
    """Seconds without a browser at its page after which a person is logged out."""
    login_time: float = 30.0
    """Seconds that a login may take."""
    addresses: int = 10_000
    """Addresses that are remembered; the one that was heard of longest ago is forgotten first."""
    connections: ConnectionLimits = field(factory=ConnectionLimits)


@define
class _Allowance:
    """What an address may still do at the moment."""

    logins: float
    requests: float
    at: float


@define
class _OpenTable:
    page: TablePage
    host: ServerHost
    address: str
    seen: float
    """When a browser was last at the page."""


class GuestPages(PageServer):
    """The login form, and the pages of those who have logged in by it."""

    def __init__(self, server: ServerSettings, port: int, host: str = HOST, limits: WebLimits | None = None) -> None:
        """Serve on an address and a port; 0 takes a free one. `server` is what all connect to."""
        super().__init__(port, host)
        self.limits = limits or WebLimits()
        self._server = server
        self._tables: dict[str, _OpenTable] = {}
        """By token."""
        self._allowances: dict[str, _Allowance] = {}
        self._sweeping: asyncio.Task[None] | None = None
        self._connections = OpenConnections(self.limits.connections)
        self._listener: asyncio.Server | None = None
        self._opening = 0
        """Logins that are under way."""
        self.app.router.add_get("/", self._form)
        self.app.router.add_get("/{name}", self._file)
        self.app.router.add_post("/login", self._log_in)

    @property
    def root(self) -> str:
        """The address of the form, as this machine reaches it."""
        return f"http://{self.host}:{self.port}/"

    async def start(self) -> None:
        """Start listening. Raises OSError if the port is in use."""
        await super().start()
        self._sweeping = asyncio.create_task(self._sweep())

    async def _listen(self, port: int) -> None:
        entrance = self._connections.listener(cast("web.Server", self._runner.server))
        self._listener = await asyncio.get_running_loop().create_server(entrance, self.host, port)
        self.port = self._listener.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Log everybody out and stop."""
        if self._listener is not None:
            self._listener.close()
        if self._sweeping is not None:
            self._sweeping.cancel()
        await asyncio.gather(*(self._end(table) for table in list(self._tables.values())))
        await super().close()

    # -- who may ask ----------------------------------------------------------------------------------------------

    def refuse(self, request: web.Request) -> None:
        """Refuse requests of other sites, and more requests than an address may make.

        The name by which a browser reaches this machine is not known; what counts is that the page is our own.
        Addresses of pages cannot be guessed, so a foreign name for this machine leads to nothing but the form.
        """
        if self.host == HOST:
            super().refuse(request)
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.headers.get("Host"):
            raise web.HTTPForbidden(text="expected a request from our own page\n")
        if request.method == "POST" and request.headers.get("Sec-Fetch-Site", "none") not in _SAME_SITE:
            raise web.HTTPForbidden(text="expected a request from our own page\n")
        allowance = self._allowance(request)
        allowance.requests -= 1
        if allowance.requests < 0:
            allowance.requests = 0.0
            raise web.HTTPTooManyRequests(text="too many requests from this address\n", headers={"Retry-After": "1"})

    async def answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer a request; meanwhile its connection is not idle."""
        with self._connections.answering(request.transport):
            return await super().answer(request, handler)

    def _allowance(self, request: web.Request) -> _Allowance:
        """Return what the address of a request may do."""
        limits, now, address = self.limits, time.monotonic(), request.remote or ""
        known = self._allowances.pop(address, None) or _Allowance(limits.logins, limits.requests, now)
        passed = now - known.at
        known.logins = min(known.logins + passed / limits.login_interval, limits.logins)
        known.requests = min(known.requests + passed * limits.requests_per_second, limits.requests)
        known.at = now
        self._allowances[address] = known
        if len(self._allowances) > limits.addresses:
            del self._allowances[next(iter(self._allowances))]
        return known

    # -- the way in -----------------------------------------------------------------------------------------------

    async def _form(self, _: web.Request) -> web.StreamResponse:
        return asset("login.html")

    async def _file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name not in LOGIN_FILES:
            raise web.HTTPNotFound
        return asset(name)

    async def _log_in(self, request: web.Request) -> web.StreamResponse:
        """Log somebody in; respond with the address of the page, or with what is wrong."""
        asked = await asked_of(request)
        name, password, guest = asked.get("name"), asked.get("password"), asked.get("guest") is True
        if not isinstance(name, str) or not is_player_name(name):
            return _fault("A name has letters and underscores, at most 20.")
        if not isinstance(password, str) or not 0 < len(password) <= 100 or not _is_word(password):
            return _fault("A password has ASCII characters without blanks.")
        allowance, address = self._allowance(request), request.remote or ""
        if allowance.logins < 1:
            return _fault("Too many logins from your address; please try again in a minute.")
        allowance.logins -= 1
        of_address = sum(table.address == address for table in self._tables.values())
        full = len(self._tables) + self._opening >= self.limits.tables
        if full or of_address + self._opening >= self.limits.tables_per_address:
            return _fault("There are too many tables already; please try again later.")
        self._opening += 1
        try:
            return await self._open(name, password, address, guest=guest)
        finally:
            self._opening -= 1

    async def _open(self, name: str, password: str, address: str, *, guest: bool) -> web.StreamResponse:
        person = person_settings(name, password, Timings(pause=0.0))
        host = ServerHost(ServerLogin(self._server, person, register=guest, ready=True))
        await host.start()
        try:
            async with asyncio.timeout(self.limits.login_time):
                await host.first_login.wait()
        except TimeoutError:
            await host.close()
            return _fault("The server does not answer.")
        if host.ended:
            await host.close()
            taken = "Somebody has this name already. Choose another one, or give its password."
            return _fault(taken if guest else host.ended)
        page = self.add(host)
        self._tables[page.token] = _OpenTable(page, host, address, time.monotonic())
        return web.json_response({"address": f"{page.token}/"}, headers=HEADERS)

    # -- the way out ----------------------------------------------------------------------------------------------

    async def _sweep(self) -> None:
        """Log out guests who have closed the page, and close idle connections."""
        while True:
            await asyncio.sleep(min(SWEEP, self.limits.absence / 2, self.limits.connections.idle / 2))
            self._connections.close_idle()
            now = time.monotonic()
            for table in list(self._tables.values()):
                if table.page.watched:
                    table.seen = now
                elif now - table.seen > self.limits.absence:
                    await self._end(table)

    async def _end(self, table: _OpenTable) -> None:
        self._tables.pop(table.page.token, None)
        self.remove(table.page)
        with contextlib.suppress(Exception):  # it is logged where it happens
            await table.host.close()


def _is_word(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _fault(text: str) -> web.Response:
    return web.json_response({"fault": text}, headers=HEADERS)
