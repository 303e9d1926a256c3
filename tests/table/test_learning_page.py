"""Lessons by the addresses of the table's page and by clicks; a table without a bot has none of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Final

import aiohttp
import pytest
from playwright.async_api import Browser, Page

from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.rules.state import Seat, Stage
from fibsbot.strategies.loader import load
from fibsbot.table.bot_match import PERSON, BotMatch
from fibsbot.table.hosts import BotHost, TableHost
from fibsbot.table.learning import Lesson
from fibsbot.table.model import Action, TableModel
from fibsbot.table.page_server import PageServer
from fibsbot.table.set_up import read_position
from tests.browser import requires_chromium
from tests.patience import SOON

OPENING: Final = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10"
LAST_ROLL: Final = "XGID=-A----------------------a-:0:0:1:21:0:0:0:1:10"
"""A play with which the person wins the match."""


@asynccontextmanager
async def served(host: TableHost) -> AsyncIterator[str]:
    """Serve a table; yield its address."""
    server = PageServer(0)
    page = server.add(host)
    await server.start()
    try:
        await host.start()
        async with asyncio.timeout(SOON):
            yield server.address(page)
    finally:
        await host.close()
        await server.close()


def bot_host(text: str) -> BotHost:
    start = read_position(text, BACKGAMMON, BACKGAMMON.laws)
    match = BotMatch(BACKGAMMON, start.laws, start.length, ("you", "bot"), Random(1), start)
    return BotHost(match, load("pips"), "engine:0")


class OtherHost(TableHost):
    """A table at which the opponent is no bot of ours."""

    def __init__(self, match: BotMatch) -> None:
        super().__init__()
        self._match = match

    @property
    def model(self) -> TableModel:
        """The match."""
        return self._match

    def changed(self) -> None:
        """Tell who listens."""
        self.tell()

    async def start(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""


ASKED: Final = (
    *(("learn", {"lesson": lesson.value}) for lesson in Lesson),
    ("tutor", {"wanted": True}),
    ("set-up", {"position": OPENING}),
)


async def test_a_table_without_a_bot_has_no_lessons() -> None:
    host = OtherHost(bot_host(OPENING).match)
    before = host.model.state
    async with served(host) as address, aiohttp.ClientSession() as session:
        for path, asked in ASKED:
            assert (await session.post(address + path, json=asked)).status == 404
        assert (await session.get(address + "report")).status == 404
        state = await (await session.get(address + "state")).json()
        assert "learning" not in state
        for lesson in Lesson:
            assert (await session.post(address + "act", json={"action": lesson.value})).status == 400
    assert host.model.state is before


async def state_with(session: aiohttp.ClientSession, address: str, part: str, *, there: bool = True) -> dict[str, Any]:
    """Return what is shown of the lessons as soon as it has a part, or no longer has it."""
    while True:
        learning: dict[str, Any] = (await (await session.get(address + "state")).json())["learning"]
        if bool(learning[part]) is there:
            return learning
        await asyncio.sleep(0.02)


async def test_hint_tutor_steps_back_and_positions_by_posts() -> None:
    host = bot_host(OPENING)
    async with served(host) as address, aiohttp.ClientSession() as session:

        async def post(path: str, asked: dict[str, Any]) -> bool:
            response = await session.post(address + path, json=asked)
            assert response.status == 200, await response.text()
            return bool((await response.json())["done"])

        assert await post("learn", {"lesson": "hint"})
        learning = await state_with(session, address, "hint")
        best = learning["hint"]["choices"][0]
        assert (best["text"], best["loss"]) == ("8/5 6/5", 0)
        assert best["moves"] == [[8, 5], [6, 5]]
        assert len(best["chances"]) == 6

        assert await post("tutor", {"wanted": True})
        for numbers in ([24, 21], [6, 5]):
            assert await post("act", {"action": "move", "numbers": numbers})
        assert await post("act", {"action": "done"})
        learning = await state_with(session, address, "warning")
        assert learning["lessons"] == ["think-again", "show", "play-it"]
        assert learning["warning"]["best"] is None
        assert not await post("act", {"action": "undo"})
        assert not await post("learn", {"lesson": "take-back"})
        assert await post("learn", {"lesson": "show"})
        assert (await state_with(session, address, "warning"))["warning"]["best"] == "8/5 6/5"
        assert await post("learn", {"lesson": "play-it"})
        assert host.match.sheet[0].text == "24/21 6/5"
        assert await post("learn", {"lesson": "take-back"})
        assert not host.match.sheet

        for wrong in ({}, {"position": 7}, {"position": "x"}, {"position": {"board": "24:16 / 24:15"}}):
            response = await session.post(address + "set-up", json=wrong)
            assert response.status == 400
            assert (await response.text()).startswith("expected ")
        assert (await session.post(address + "learn", json={"lesson": "cheat"})).status == 400
        board = "6:2 / 6:2"
        assert await post(
            "set-up", {"position": {"board": board, "cube": 2, "owner": 1, "length": 5, "scores": [1, 3]}}
        )
        assert (host.match.state.cube, host.match.state.owner, host.match.state.length) == (2, Seat.B, 5)


@pytest.mark.slow
async def test_the_report_has_a_policy_of_its_own_and_the_match_is_played_again() -> None:
    host = bot_host(LAST_ROLL)
    async with served(host) as address, aiohttp.ClientSession() as session:
        assert (await session.get(address + "report")).status == 404
        assert host.act(Action.MOVE, (1,))
        assert host.act(Action.DONE)
        assert host.match.match_over
        response = await session.get(address + "report")
        assert response.headers["Refresh"] == "1"
        assert "script-src" not in response.headers["Content-Security-Policy"]
        learning = await state_with(session, address, "report")
        while not learning["report"]["ready"]:
            assert not learning["report"]["fault"]
            learning = await state_with(session, address, "report")
        response = await session.get(address + "report")
        policy = response.headers["Content-Security-Policy"]
        assert "Refresh" not in response.headers
        assert "sandbox allow-scripts allow-downloads" in policy
        assert "'self'" not in policy
        assert "connect-src" not in policy
        assert "default-src 'none'" in policy
        page = await response.text()
        assert "you" in page
        assert 'class="match"' in page
        assert (await session.post(address + "learn", json={"lesson": "again"})).status == 200
        assert host.match.state.stage is Stage.MOVE
        assert host.match.state.decides is PERSON


@asynccontextmanager
async def shown(browser: Browser, host: BotHost) -> AsyncIterator[Page]:
    """Open the page of a table in a browser, in which no script may fail."""
    faults: list[str] = []
    async with served(host) as address:
        context = await browser.new_context()
        context.on("weberror", lambda event: faults.append(str(event.error)))
        tab = await context.new_page()
        await tab.goto(address)
        yield tab
    assert faults == []


@pytest.mark.slow
@requires_chromium
@pytest.mark.asyncio(loop_scope="session")
async def test_lessons_by_clicks(browser: Browser) -> None:
    host = bot_host(OPENING)
    async with shown(browser, host) as tab:
        await tab.click("[data-lesson=hint]")
        await tab.wait_for_selector("#learning .hint")
        assert await tab.locator("#advice path.line").count() == 2
        assert await tab.locator("#learning .hint li button").first.inner_text() == "8/5 6/5"

        await tab.click("#tutor")
        await tab.wait_for_function("document.getElementById('tutor').checked")
        await tab.click('[data-place="24"]')
        await tab.click('[data-place="6"]')
        await tab.click("[data-action=done]")
        await tab.wait_for_selector("#learning .warning")
        assert await tab.locator("#actions [data-action]").count() == 0
        await tab.click("[data-lesson=show]")
        await tab.wait_for_selector("#learning .warning >> text=Best is 8/5 6/5.")
        await tab.click("[data-lesson=play-it]")
        await tab.wait_for_selector("[data-lesson=take-back]")
        await tab.click("[data-lesson=take-back]")
        await tab.wait_for_selector("[data-lesson=take-back]", state="detached")
        assert host.match.state.dice == (3, 1)
        await tab.click("#tutor")


@pytest.mark.slow
@requires_chromium
@pytest.mark.asyncio(loop_scope="session")
async def test_a_position_and_the_report_by_clicks(browser: Browser) -> None:
    host = bot_host(OPENING)
    async with shown(browser, host) as tab:
        await tab.click("[data-lesson=set-up]")
        await tab.fill("#position", "nonsense")
        await tab.keyboard.press("Enter")
        await tab.wait_for_selector("#set-up-fault >> text=expected an XGID")
        await tab.fill("#position", LAST_ROLL)
        await tab.keyboard.press("Enter")
        await tab.wait_for_selector("dialog.set-up", state="detached")
        await tab.click('[data-place="1"]')
        await tab.click("[data-action=done]")
        await tab.wait_for_selector("a.report")
        async with tab.context.expect_page() as opened:
            await tab.click("a.report")
        report = await opened.value
        await report.wait_for_selector(".board svg", timeout=1000 * SOON)
        await report.keyboard.press("ArrowRight")
        assert await report.evaluate("fetch('state').then(() => 'read', () => 'refused')") == "refused"
        await tab.click("[data-lesson=again]")
        await tab.wait_for_selector("[data-place='1'].source")


@pytest.mark.slow
@requires_chromium
@pytest.mark.asyncio(loop_scope="session")
async def test_checkers_are_put_by_clicks(browser: Browser) -> None:
    host = bot_host(LAST_ROLL)
    async with shown(browser, host) as tab:
        await tab.click("[data-lesson=set-up]")
        await tab.click("dialog.set-up summary")
        point = "dialog.set-up .points button[aria-label^='20: ']"
        for _ in range(15):
            await tab.click(point)
        await tab.click("dialog.set-up .first")
        await tab.wait_for_selector("#set-up-fault >> text=expected 15 checkers, got 16 in your row")
        await tab.check("dialog.set-up input[value=remove]")
        await tab.click(point)
        await tab.click("dialog.set-up .first")
        await tab.wait_for_selector("dialog.set-up", state="detached")
        assert host.match.state.sides.own.row[20] == 14
        assert host.match.state.sides.own.row[1] == 1
