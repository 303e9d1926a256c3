"""A web server on 127.0.0.1 that answers this machine alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from aiohttp import web

from fibsbot.web import HOST
from fibsbot.web.request_guards import SHUTDOWN_TIMEOUT, refuse_foreign_requests

WebHandler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


class WebServer:
    """Answers requests on 127.0.0.1."""

    def __init__(self, port: int) -> None:
        """Listen on this port; 0 takes a free one, which `port` then is."""
        self.port = port
        self.app = web.Application(middlewares=[self._refuse_foreign])
        self._embedded: set[str] = set()
        self._runner: web.AppRunner | None = None

    def add(self, path: str, handler: WebHandler, *, embedded: bool = False, method: str = "GET") -> None:
        """Add a handler for a path, before the start. `embedded`: only our own pages request it."""
        self.app.router.add_route(method, path, handler)
        if embedded:
            self._embedded.add(path)

    @web.middleware
    async def _refuse_foreign(self, request: web.Request, handler: WebHandler) -> web.StreamResponse:
        """Answer only requests from this machine."""
        refuse_foreign_requests(request, embedded=request.path in self._embedded)
        return await handler(request)

    async def start(self) -> None:
        """Start listening. Raises OSError if the port is in use."""
        self._runner = web.AppRunner(self.app, access_log=None, shutdown_timeout=SHUTDOWN_TIMEOUT)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, HOST, self.port).start()
        except OSError:
            await self.close()
            raise
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None


def redirect_handler(path: str) -> WebHandler:
    """Return a handler that sends browsers to another path."""

    async def handle(_: web.Request) -> web.StreamResponse:
        raise web.HTTPFound(path)

    return handle
