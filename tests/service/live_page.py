"""What tests of the live page share: a process that shows it, somebody who talks, and what a browser hears."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from aiohttp import ClientResponse, ClientSession

from fibsbot.bot.orders import Order
from fibsbot.bot.settings import RunSettings
from fibsbot.server.server import Server
from fibsbot.service.service import Service
from fibsbot.strategies.questions import LastResort
from tests.patience import SOON
from tests.server.tcp_clients import PASSWORD, Raw
from tests.service.accounts import process_settings, until


@contextlib.asynccontextmanager
async def shown(
    *plans: RunSettings, port: int = 0, live: bool = True, **process: Any
) -> AsyncIterator[tuple[Service, str]]:
    """Run a process with these settings; yield it and where its web server is."""
    settings = process_settings(web_port=port, live=live, **process)
    it = Service(plans, settings, lambda _: LastResort(), environment={})
    task = asyncio.create_task(it.run())
    try:
        await until(lambda: it.status()["web"] is not None)
        yield it, it.status()["web"]
    finally:
        it.supervisor.order(Order.QUIT)
        async with asyncio.timeout(SOON):
            await asyncio.wait([task])


@contextlib.asynccontextmanager
async def talker(server: Server, name: str = "arthur") -> AsyncIterator[Raw]:
    """Have somebody there who says what a test wants."""
    await server.register(name, PASSWORD)
    raw = await Raw.log_in(server.port, name)
    Raw.opened.remove(raw)
    try:
        yield raw
    finally:
        await raw.close()


@contextlib.asynccontextmanager
async def hearing(url: str, account: str = "", **headers: str) -> AsyncIterator[ClientResponse]:
    """Ask for the events as a browser does."""
    async with (
        ClientSession() as session,
        session.get(f"{url}/live/events", params={"account": account}, headers=headers) as response,
    ):
        yield response


class Browser:
    """Remembers the last event of each kind, as the page does."""

    def __init__(self, response: ClientResponse) -> None:
        """Have heard nothing."""
        self._response = response
        self.now: dict[str, Any] = {}
        self.count = 0

    async def until(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Read events until what was heard is so; return the last of each kind."""
        async with asyncio.timeout(SOON):
            while not condition(self.now):
                await self._read()
        return self.now

    async def _read(self) -> None:
        name = ""
        while line := (await self._response.content.readline()).decode().rstrip("\n"):
            field, _, value = line.partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                self.now[name] = json.loads(value)
                self.count += 1
        if self._response.content.at_eof():
            raise EOFError
