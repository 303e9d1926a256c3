"""The table's page: who may ask, and a whole game by its addresses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from random import Random
from typing import Any, Final

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.games import load_ruleset
from fibsbot.strategies.loader import load
from fibsbot.table.bot_match import BotMatch
from fibsbot.table.hosts import BotHost
from fibsbot.table.page_server import PageServer
from fibsbot.table.page_state import merge_patch
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


def merged(value: Any, patch: Any) -> Any:
    """Return a value after a JSON Merge Patch, as RFC 7396 has it."""
    if not isinstance(patch, dict):
        return patch
    found = dict(value) if isinstance(value, dict) else {}
    for key, part in patch.items():
        if part is None:
            found.pop(key, None)
        else:
            found[key] = merged(found.get(key), part)
    return found


async def events_of(session: aiohttp.ClientSession, address: str, known: str = "") -> AsyncGenerator[tuple[str, Any]]:
    """Yield the events that a browser gets, each with its name."""
    async with session.get(address + "events", headers={"Last-Event-ID": known}) as response:
        name = ""
        async for line in response.content:
            if line.startswith(b"event: "):
                name = line.removeprefix(b"event: ").strip().decode()
            if line.startswith(b"data: "):
                yield name, json.loads(line.removeprefix(b"data: "))
                name = ""


async def states(session: aiohttp.ClientSession, address: str, known: str = "") -> AsyncGenerator[dict[str, Any]]:
    """Yield the states that a browser shows after each event."""
    state: dict[str, Any] = {}
    async with aclosing(events_of(session, address, known)) as events:
        async for name, data in events:
            state = merged(state if name == "changes" else {}, data)
            yield state


@pytest.mark.slow
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


async def test_an_event_has_only_what_has_changed() -> None:
    async with new_page([]) as address, aiohttp.ClientSession(read_bufsize=1 << 20) as session, asyncio.timeout(SOON):
        async with aclosing(events_of(session, address)) as events:
            await anext(events)
            await session.post(address + "prefer", json={"preference": "forced", "wanted": True})
            async for name, changes in events:
                assert name == "changes"
                if "preferences" in changes:
                    break
        assert changes.keys() == {"version", "preferences"}


VALUES: Final = st.recursive(
    st.booleans() | st.integers(0, 9) | st.text(max_size=2) | st.lists(st.integers(0, 1), max_size=2),
    lambda values: st.dictionaries(st.sampled_from(["a", "b", "__proto__"]), values, max_size=3),
)
STATES: Final = st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES)


@given(STATES, STATES)
def test_a_patch_turns_one_state_into_another(before: dict[str, Any], after: dict[str, Any]) -> None:
    patch = merge_patch(before, after)
    assert merged(before, patch) == after
    assert not patch.keys() - before.keys() - after.keys()
    assert merge_patch(after, after) == {}
