"""The table's page: who may ask, and a whole game by its addresses."""

from __future__ import annotations

import asyncio
from random import Random

import aiohttp
import pytest

from fibsbot.games import load_ruleset
from fibsbot.strategies.loader import load
from fibsbot.table.bot_match import BotMatch
from fibsbot.table.hosts import BotHost
from fibsbot.table.page_server import TablePage
from tests.browser import chromium, requires_chromium
from tests.patience import SOON

ORDER = ("done", "move", "roll", "take", "accept", "next")


def new_page(ended: list[BotMatch]) -> TablePage:
    rules = load_ruleset("backgammon")
    model = BotMatch(rules, rules.laws, 1, ("you", "bot"), Random(1))
    host = BotHost(model, load("pips"))
    host.listen(lambda: ended.append(model))
    return TablePage(host, 0)


async def test_only_this_machine_and_who_knows_the_token_may_ask() -> None:
    page = new_page([])
    await page.start()
    try:
        async with aiohttp.ClientSession() as session:
            root = f"http://127.0.0.1:{page.port}/"
            foreign = ({"Host": "example.com"}, {"Origin": "http://example.com"})
            for headers in foreign:
                assert (await session.get(page.address, headers=headers)).status == 403
            assert (await session.get(root)).status == 404
            assert (await session.post(root + "x/act", data="{}")).status == 404
            response = await session.get(page.address)
            assert response.status == 200
            assert "script-src 'self'" in response.headers["Content-Security-Policy"]
            for wrong in ("", "[]", "{}", '{"action": "fly"}', '{"action": "move", "numbers": "x"}', "[" * 999):
                assert (await session.post(page.address + "act", data=wrong)).status == 400
            assert (await session.post(page.address + "act", data="x" * 2000)).status == 413
    finally:
        await page.close()


async def test_a_whole_game_by_posts() -> None:
    ended: list[BotMatch] = []
    page = new_page(ended)
    await page.start()
    try:
        async with aiohttp.ClientSession() as session, asyncio.timeout(SOON):
            state = await (await session.get(page.address + "state")).json()
            while not (ended and ended[-1].match_over):
                action = next((action for action in ORDER if action in state["actions"]), None)
                if action is None:
                    state = await (await session.get(f"{page.address}state?after={state['version']}")).json()
                    continue
                numbers = state["moves"][0] if action == "move" else []
                asked = {"action": action, "numbers": numbers}
                state = await (await session.post(page.address + "act", json=asked)).json()
        assert ended[0].transcript.winner is not None
    finally:
        await page.close()


@pytest.mark.slow
@requires_chromium
async def test_a_whole_game_by_clicks() -> None:
    ended: list[BotMatch] = []
    page = new_page(ended)
    await page.start()
    faults: list[str] = []
    try:
        async with chromium() as browser, asyncio.timeout(3 * SOON):
            tab = await browser.new_page()
            tab.on("pageerror", lambda error: faults.append(str(error)))
            await tab.goto(page.address)
            while not (ended and ended[-1].match_over):
                await tab.evaluate(
                    "(document.querySelector('#actions .first') || document.querySelector('.source'))?.click()"
                )
                await asyncio.sleep(0.02)
            await tab.wait_for_function("document.getElementById('text').textContent.includes('match is over')")
        assert faults == []
    finally:
        await page.close()
