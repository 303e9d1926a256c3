"""The table's page: who may ask, and a whole game by its addresses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from random import Random
from typing import Any

import aiohttp

from fibsbot.games import load_ruleset
from fibsbot.strategies.loader import load
from fibsbot.table.bot_match import BotMatch
from fibsbot.table.hosts import BotHost
from fibsbot.table.page_server import PageServer
from tests.patience import SOON

ORDER = ("done", "move", "roll", "take", "accept", "next")


@asynccontextmanager
async def new_page(ended: list[BotMatch]) -> AsyncIterator[str]:
    """Serve a table; yield its address."""
    rules = load_ruleset("backgammon")
    model = BotMatch(rules, rules.laws, 1, ("you", "bot"), Random(1))
    host = BotHost(model, load("pips"))
    host.listen(lambda: ended.append(model))
    server = PageServer(0)
    page = server.add(host)
    await server.start()
    try:
        await host.start()
        yield server.address(page)
    finally:
        await host.close()
        await server.close()


async def test_only_this_machine_and_who_knows_the_token_may_ask() -> None:
    async with new_page([]) as address, aiohttp.ClientSession() as session:
        root = address[: address.index("/", 8) + 1]
        foreign = ({"Host": "example.com"}, {"Origin": "http://example.com"})
        for headers in foreign:
            assert (await session.get(address, headers=headers)).status == 403
        for path in ("", "x/", "x/state"):
            assert (await session.get(root + path)).status == 404
        assert (await session.post(root + "x/act", data="{}")).status == 404
        response = await session.get(address)
        assert response.status == 200
        assert "script-src 'self'" in response.headers["Content-Security-Policy"]
        for wrong in ("", "[]", "{}", '{"action": "fly"}', '{"action": "move", "numbers": "x"}', "[" * 999):
            assert (await session.post(address + "act", data=wrong)).status == 400
        assert (await session.post(address + "fly", data="{}")).status == 404
        assert (await session.post(address + "act", data="x" * 20_000)).status == 413


async def states(session: aiohttp.ClientSession, address: str, known: str = "") -> AsyncGenerator[dict[str, Any]]:
    """Yield the states that a browser gets as events."""
    async with session.get(address + "events", headers={"Last-Event-ID": known}) as response:
        async for line in response.content:
            if line.startswith(b"data: "):
                yield json.loads(line.removeprefix(b"data: "))


async def test_a_whole_game_by_posts() -> None:
    ended: list[BotMatch] = []
    async with (
        new_page(ended) as address,
        aiohttp.ClientSession(read_bufsize=1 << 20) as session,
        asyncio.timeout(SOON),
        aclosing(states(session, address)) as events,
    ):
        async for state in events:
            action = next((action for action in ORDER if action in state["actions"]), None)
            if action is not None:
                asked = {"action": action, "numbers": state["moves"][0][:2] if action == "move" else []}
                assert (await (await session.post(address + "act", json=asked)).json())["done"]
            elif ended and ended[-1].match_over:
                break
    assert ended[0].transcript.winner is not None


async def test_a_browser_that_connects_again_gets_only_what_is_new() -> None:
    async with new_page([]) as address, aiohttp.ClientSession(read_bufsize=1 << 20) as session, asyncio.timeout(SOON):
        async with aclosing(states(session, address)) as events:
            first = await anext(events)
        again = await anext(states(session, address, known="another"))
        assert again["version"] >= first["version"]
        await session.post(address + "prefer", json={"preference": "forced", "wanted": True})
        newer = await anext(states(session, address, known=str(again["version"])))
        assert newer["preferences"] == ["forced"]
