"""/dashboard: what it shows, the orders that need its token, reports of stored matches, and the page in a browser."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final

import pytest
from aiohttp import ClientSession
from attrs import evolve
from playwright.async_api import expect

from fibsbot.bot.orders import GivenOrder, Order
from fibsbot.games import load_ruleset
from fibsbot.rules.game import double, roll, start_match_of
from fibsbot.rules.state import Seat
from fibsbot.server.server import Server
from fibsbot.service.dashboard.win_chances import WinChances
from fibsbot.service.service import Service
from tests.bot.live_bots import CHEAP, QUICK
from tests.browser import chromium, requires_chromium
from tests.patience import SOON
from tests.service.accounts import opponent, plan, until
from tests.service.live_page import shown

SLOW: Final = evolve(QUICK, think_least=0.05, think_most=0.06)
"""So that a match lasts long enough to be looked at."""


@contextlib.asynccontextmanager
async def playing(folder: Path, **fields: Any) -> AsyncIterator[tuple[Service, str]]:
    """Run a process whose account plays ford; yield it and where its web server is."""
    store = str(folder / "fibsbot.db")
    async with (
        Server(seed=3, limits=CHEAP) as server,
        opponent(server.port, "ford"),
        shown(plan(server.port, "marvin", invite="ford", **fields), dashboard=True, store=store) as service,
    ):
        yield service


async def answer(session: ClientSession, url: str, path: str) -> Any:
    async with session.get(f"{url}/dashboard/{path}") as response:
        return await response.json()


async def answer_when(session: ClientSession, url: str, path: str, condition: Callable[[Any], object]) -> Any:
    """Ask until the answer is so; return it."""
    async with asyncio.timeout(SOON):
        while not condition(found := await answer(session, url, path)):  # noqa: ASYNC110 - a page asks as well
            await asyncio.sleep(0.02)
    return found


async def command(session: ClientSession, url: str, body: object, **headers: str) -> tuple[int, Any]:
    """Give an order; return the status of the answer and its content."""
    async with session.post(f"{url}/dashboard/order", json=body, headers=headers) as response:
        content = await (response.json() if response.status == 200 else response.text())
        return response.status, content


async def test_the_dashboard_shows_accounts_and_obeys_who_has_its_token(tmp_path: Path) -> None:
    async with playing(tmp_path, timings=SLOW) as (service, url), ClientSession() as session:
        await until(lambda: service.supervisor.statuses()[0].agent is not None)
        address: str = service.obey(GivenOrder(Order.STATUS), None)["dashboard"]
        token = {"X-Fibsbot-Token": address.partition("#")[2]}
        assert address.startswith(f"{url}/dashboard#")
        assert token["X-Fibsbot-Token"] not in str(service.status())

        state = await answer_when(session, url, "state", lambda it: it["accounts"][0]["chance"] is not None)
        (now,) = state["accounts"]
        assert ("marvin", "ford", True) == (now["account"], now["opponent"], now["healthy"])
        assert 0 < now["chance"] < 1
        assert (await answer(session, url, "board?account=marvin"))["svg"].startswith("<svg")

        pause = {"order": "pause", "account": "marvin"}
        assert 403 == (await command(session, url, pause))[0]
        assert 403 == (await command(session, url, pause, **{"X-Fibsbot-Token": "guessed"}))[0]
        assert 403 == (await command(session, url, pause, Origin="http://evil.example", **token))[0]
        assert not service.status()["accounts"][0]["paused"]
        assert (200, {"accounts": ["marvin"]}) == await command(session, url, pause, **token)
        await until(lambda: service.status()["accounts"][0]["paused"])
        wrong_ones: tuple[object, ...] = ([], {"order": 7}, {"order": "status"}, {"account": "marvin"})
        for wrong in (*wrong_ones, {"order": "pause", "account": "zaphod"}):
            assert 400 == (await command(session, url, wrong, **token))[0], wrong


@pytest.mark.slow
async def test_history_and_reports_come_from_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fibsbot.service.dashboard.match_reports.REPORT_EVALUATOR", "heuristic")
    async with playing(tmp_path) as (service, url), ClientSession() as session:
        await until(lambda: service.supervisor.statuses()[0].counters.matches > 0)
        service.obey(GivenOrder(Order.PAUSE), None)  # further matches would delay the report
        found = await answer_when(session, url, "history?account=marvin", lambda it: it["finished"])
        (match, *_) = [it for it in found["matches"] if it["report"]]
        assert ("ford", "backgammon", True) == (match["opponent"], match["game"], match["won"] in {True, False})
        assert found["curve"].startswith("<svg")
        async with asyncio.timeout(SOON):
            while True:
                async with session.get(f"{url}/dashboard/report/{match['id']}") as response:
                    text = await response.text()
                    if "Refresh" not in response.headers:
                        break
                await asyncio.sleep(0.1)
        assert "<title>marvin" in text
        for missing in ("999999", "0", "x", "1/2", "9" * 40):
            async with session.get(f"{url}/dashboard/report/{missing}") as response:
                assert 404 == response.status, missing
        for path in ("history?account=zaphod", "board?account=zaphod"):
            async with session.get(f"{url}/dashboard/{path}") as response:
                assert 404 == response.status, path


async def test_there_is_no_dashboard_unless_it_is_wanted() -> None:
    async with Server(seed=3, limits=CHEAP) as server, shown(plan(server.port, "marvin")) as (service, url):
        assert service.obey(GivenOrder(Order.STATUS), None)["dashboard"] is None
        async with ClientSession() as session, session.get(f"{url}/dashboard") as response:
            assert 404 == response.status


async def test_the_chances_of_both_players_add_up_also_while_a_double_waits() -> None:
    chances = WinChances()
    start = start_match_of(load_ruleset("nackgammon"), 5, begins=Seat.A)
    for game in (start, double(start, Seat.A), roll(start, Seat.A, (6, 5))):
        own, other = [await WinChances.of(chances, name, game, Seat(index)) for index, name in enumerate("ab")]
        assert own is not None
        assert other is not None
        assert 1 == pytest.approx(own + other)
        assert own == await chances.of("a", game, Seat.A)


@requires_chromium
@pytest.mark.slow
async def test_the_page_shows_boards_and_carries_orders_out_on_a_telephone(tmp_path: Path) -> None:
    async with playing(tmp_path, timings=SLOW) as (service, url), chromium() as browser:
        page = await browser.new_page(viewport={"width": 390, "height": 844})
        page.set_default_timeout(1000 * SOON)
        complaints: list[str] = []
        page.on("console", lambda it: complaints.append(it.text) if it.type in {"error", "warning"} else None)
        page.on("pageerror", lambda it: complaints.append(str(it)))
        await page.goto(f"{url}/dashboard")
        await expect(page.locator("article h2")).to_have_text("marvin")
        assert 0 == await page.locator(".orders button").count()
        await page.goto("about:blank")
        await page.goto(service.obey(GivenOrder(Order.STATUS), None)["dashboard"])
        assert "#" not in page.url
        await page.wait_for_selector(".board svg")
        await page.wait_for_selector(".chance:not([hidden])")
        await page.click("text=pause")
        await page.wait_for_selector("text=(paused)")
        await page.click(".orders button:text-is('finish')")
        await page.click("text=finish: sure?")
        await until(lambda: service.status()["accounts"][0]["finishing"])
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert [] == complaints
