"""The tables in browsers: a page for each person, the states of the match as server-sent events, and inputs.

The first event has the whole state; each further one is named `changes` and has what has changed since the one before,
as a JSON Merge Patch (RFC 7396).
The address of a page has a random token, so that no other user of the machine and no other page can play.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from importlib import resources
from typing import Any, Final, TypeAlias

import structlog
from aiohttp import web

from fibsbot.drawing.themes import stylesheet
from fibsbot.table.hosts import Document, TableHost
from fibsbot.table.model import Action, Preference
from fibsbot.table.page_state import PageView, merge_patch, page_state
from fibsbot.web import HOST
from fibsbot.web.request_guards import PRIVATE_HEADERS, SHUTDOWN_TIMEOUT, refuse_foreign_requests

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; connect-src 'self'; img-src data:; script-src 'self'; style-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    **PRIVATE_HEADERS,
}
LARGEST_INPUT: Final = 10_000
"""Bytes of an input."""
WATCHERS: Final = 8
"""Maximum number of browsers at the same page."""
HEARTBEAT: Final = 10.0
"""Seconds of silence after which a browser is sent a sign of life."""
PATIENCE: Final = 20.0
"""Seconds that a browser may take to read before it is disconnected."""
RETRY_MILLISECONDS: Final = 1000
"""Milliseconds after which a browser tries again when the connection is lost."""
USUAL_PORT: Final = 8375
Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]
_KINDS: Final = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}

_log = structlog.get_logger(__name__)


def _assets() -> dict[str, tuple[str, str]]:
    """Return the media type and the text of every file of the page, by name."""
    found = {}
    for file in (resources.files("fibsbot.table") / "assets").iterdir():
        text = file.read_text(encoding="utf-8")
        found[file.name] = (
            _KINDS[file.name[file.name.rindex(".") :]],
            stylesheet() + text if file.name == "table.css" else text,
        )
    return found


_ASSETS: Final = _assets()


def asset(name: str) -> web.Response:
    """Return the response with a file of the page."""
    kind, text = _ASSETS[name]
    return web.Response(text=text, content_type=kind, headers=HEADERS)


class TablePage:
    """The page of one person's table."""

    def __init__(self, host: TableHost) -> None:
        """Show what `host` has, and tell it what the person asks."""
        self.token = secrets.token_urlsafe(16)
        self.host = host
        self.version = 0
        """Number of the newest state."""
        self._wakers: set[asyncio.Event] = set()
        self._drawn: dict[PageView, dict[str, Any]] = {}
        """The newest state that was drawn for each view."""
        self._closing = False
        host.listen(self._note_change)

    def _note_change(self) -> None:
        """Let the browsers have the new state."""
        self.version += 1
        for waker in self._wakers:
            waker.set()

    @property
    def watched(self) -> bool:
        """Whether a browser is at the page."""
        return bool(self._wakers)

    def close(self) -> None:
        """End all responses."""
        self._closing = True
        self._note_change()

    # -- responses ----------------------------------------------------------------------------------------------

    def state(self, view: PageView) -> dict[str, Any]:
        """Return the state in JSON types, drawn once for all who see it alike."""
        drawn = self._drawn.get(view)
        if drawn is None or drawn["version"] != self.version:
            model = self.host.model
            match = {} if model is None else page_state(model, view)
            drawn = self._drawn[view] = {"version": self.version, **match, **self.host.parts}
        return drawn

    async def get(self, request: web.Request) -> web.StreamResponse:
        """Respond with the page, a file of it, the state, or the states from now on."""
        address = request.match_info["address"] or "table.html"
        if address == "events":
            return await self._events(request)
        if address == "state":
            return web.json_response(self.state(PageView.of(request.query)), headers=HEADERS)
        if address in _ASSETS:
            return asset(address)
        if document := self.host.document(address):
            return _document_response(document)
        raise web.HTTPNotFound

    async def post(self, request: web.Request) -> web.StreamResponse:
        """Do what the person asks, and respond whether it could be done; the state comes as an event."""
        asked = await asked_of(request)
        address = request.match_info["address"]
        try:
            if address == "act":
                done = self._act(asked)
            elif address == "prefer":
                self.host.prefer(Preference(asked.get("preference")), wanted=bool(asked.get("wanted")))
                done = True
            else:
                done = self.host.request(address, asked)
        except LookupError:
            raise web.HTTPNotFound from None
        except ValueError as error:
            raise web.HTTPBadRequest(text=f"{error}\n") from None
        return web.json_response({"done": done}, headers=HEADERS)

    def _act(self, asked: Mapping[str, Any]) -> bool:
        action, numbers = Action(asked.get("action")), asked.get("numbers", [])
        if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
            raise ValueError("expected whole numbers")
        return self.host.act(action, numbers)

    async def _events(self, request: web.Request) -> web.StreamResponse:
        if self._closing or len(self._wakers) >= WATCHERS:
            raise web.HTTPServiceUnavailable(text=f"{WATCHERS} browsers watch already\n", headers={"Retry-After": "10"})
        waker = asyncio.Event()
        self._wakers.add(waker)
        try:
            return await self._watch(request, waker)
        finally:
            self._wakers.discard(waker)

    async def _watch(self, request: web.Request, waker: asyncio.Event) -> web.StreamResponse:
        """Send what is newer than what the browser has, as long as it is connected."""
        response = web.StreamResponse(headers={**HEADERS, "Content-Type": "text/event-stream; charset=utf-8"})
        view = PageView.of(request.query)
        known = request.headers.get("Last-Event-ID", "")
        sent: dict[str, Any] | None = None
        text = f"retry: {RETRY_MILLISECONDS}\n\n"
        try:
            async with asyncio.timeout(PATIENCE):
                await response.prepare(request)
            while not self._closing and request.transport and not request.transport.is_closing():
                waker.clear()
                if known != str(self.version):
                    known, state = str(self.version), self.state(view)
                    event = "" if sent is None else "event: changes\n"
                    changes = state if sent is None else merge_patch(sent, state)
                    text += f"id: {known}\n{event}data: {json.dumps(changes)}\n\n"
                    sent = state
                async with asyncio.timeout(PATIENCE):
                    await response.write(text.encode())
                text = ""
                try:
                    async with asyncio.timeout(HEARTBEAT):
                        await waker.wait()
                except TimeoutError:
                    text = ": still here\n\n"
        except TimeoutError:
            _log.info("a browser that does not read is given up")
            if request.transport:
                request.transport.abort()
        except ConnectionError:
            pass  # the browser has closed the connection
        return response


def _document_response(document: Document) -> web.Response:
    headers = {**HEADERS, "Content-Security-Policy": document.policy}
    if document.refresh is not None:
        headers["Refresh"] = str(document.refresh)
    return web.Response(text=document.html, content_type="text/html", headers=headers)


async def asked_of(request: web.Request) -> dict[str, Any]:
    """Return the JSON object that a request has. Raises HTTPBadRequest if it has none."""
    try:
        async with asyncio.timeout(PATIENCE):
            asked = json.loads(await request.text())
    except TimeoutError:
        raise web.HTTPRequestTimeout(text=f"expected the whole request within {PATIENCE:g} seconds\n") from None
    except (ValueError, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        raise web.HTTPBadRequest(text="expected a JSON object\n")
    return asked


class PageServer:
    """Serves the pages of tables to browsers on this machine."""

    def __init__(self, port: int, host: str = HOST) -> None:
        """Serve on an address and a port; 0 takes a free one, the usual one if it is free.

        Browsers remember settings by the port.
        """
        self.port = port
        self.host = host
        self.pages: dict[str, TablePage] = {}
        """By token."""
        self.app = web.Application(middlewares=[self._guard], client_max_size=LARGEST_INPUT)
        self.app.router.add_get("/{token}/{address:.*}", self._respond)
        self.app.router.add_post("/{token}/{address:.*}", self._respond)
        self._runner = web.AppRunner(self.app, access_log=None, shutdown_timeout=SHUTDOWN_TIMEOUT)

    def add(self, host: TableHost) -> TablePage:
        """Give a table a page."""
        page = TablePage(host)
        self.pages[page.token] = page
        return page

    def remove(self, page: TablePage) -> None:
        """Let a page end."""
        page.close()
        self.pages.pop(page.token, None)

    def address(self, page: TablePage) -> str:
        """Return the address of a page for the browser."""
        return f"http://{self.host}:{self.port}/{page.token}/"

    async def start(self) -> None:
        """Start listening. Raises OSError if the port is in use."""
        await self._runner.setup()
        ports = [self.port] if self.port else [USUAL_PORT, 0]
        for port in ports:
            try:
                await self._listen(port)
            except OSError:
                if port == ports[-1]:
                    await self._runner.cleanup()
                    raise
            else:
                break

    async def _listen(self, port: int) -> None:
        """Take connections at a port. Raises OSError if it is in use."""
        await web.TCPSite(self._runner, self.host, port).start()
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Stop."""
        for page in list(self.pages.values()):
            self.remove(page)
        await self._runner.cleanup()

    def refuse(self, request: web.Request) -> None:
        """Refuse requests that come from pages of other sites. Raises web.HTTPForbidden."""
        refuse_foreign_requests(request, embedded=request.method == "POST")

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        return await self.answer(request, handler)

    async def answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer a request, unless it is refused."""
        self.refuse(request)
        return await handler(request)

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        page = self.pages.get(request.match_info["token"])
        if page is None:
            raise web.HTTPNotFound
        return await (page.get if request.method == "GET" else page.post)(request)
