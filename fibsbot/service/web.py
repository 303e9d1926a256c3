"""A small web server for this machine alone: /metrics for Prometheus, /healthz for whoever restarts what is stuck."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from aiohttp import web

from fibsbot.service.guard import refuse_strangers
from fibsbot.service.settings import HOST

PROMETHEUS: Final = "text/plain; version=0.0.4; charset=utf-8"
GOODBYE: Final = 1.0
"""Seconds that a client has to take its last answer at the end."""

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Web:
    """Answers GET requests on 127.0.0.1."""

    def __init__(self, port: int) -> None:
        """Listen on this port; 0 takes a free one, and `port` tells which."""
        self.port = port
        self.app = web.Application(middlewares=[self._refuse_strangers])
        self._embedded: set[str] = set()
        self._runner: web.AppRunner | None = None

    def add(self, path: str, handler: Handler, *, embedded: bool = False) -> None:
        """Answer requests for a path; before the start. `embedded`: only our own pages ask for it."""
        self.app.router.add_get(path, handler)
        if embedded:
            self._embedded.add(path)

    @web.middleware
    async def _refuse_strangers(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer this machine alone, whatever is asked for."""
        refuse_strangers(request, embedded=request.path in self._embedded)
        return await handler(request)

    async def start(self) -> None:
        """Begin to listen. Raises OSError when the port is not free."""
        self._runner = web.AppRunner(self.app, access_log=None, shutdown_timeout=GOODBYE)
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


def metrics(text: Callable[[], bytes]) -> Handler:
    """Answer with what is measured."""

    async def handle(_: web.Request) -> web.StreamResponse:
        return web.Response(body=text(), headers={"Content-Type": PROMETHEUS})

    return handle


def health(look: Callable[[], tuple[bool, Mapping[str, Any]]]) -> Handler:
    """Answer with 200 while everything is as it should be, else with 503; and with what is."""

    async def handle(_: web.Request) -> web.StreamResponse:
        well, what = look()
        return web.json_response(what, status=200 if well else 503)

    return handle
