"""/live in a real browser: two watch a bot play, one comes later, one is small, and nobody's words run as a script."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator
from typing import Final

import pytest
import pytest_asyncio
from attrs import evolve
from playwright.async_api import Browser, Page, expect

from fibsbot.server.server import Server
from tests.bot.live_bots import CHEAP, QUICK
from tests.browser import chromium, requires_chromium
from tests.patience import SOON
from tests.service.accounts import opponent, plan, until
from tests.service.live_page import shown, talker

pytestmark = [requires_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

PATIENCE: Final = 1000 * SOON
"""Milliseconds to wait for something on a page."""
THINKING: Final = evolve(QUICK, think_least=0.05, think_most=0.06)
"""So that a game lasts long enough to be looked at."""
NASTY: Final = "<script>document.title='owned'</script><img src=x onerror=alert(1)>"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """Start one browser for all tests; each has contexts of its own in it."""
    async with chromium() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="module")
async def server() -> AsyncIterator[Server]:
    """Run a server."""
    async with Server(seed=3, limits=CHEAP) as server:
        yield server


@contextlib.asynccontextmanager
async def watching(
    browser: Browser, url: str, width: int = 1400, **options: str
) -> AsyncIterator[tuple[Page, list[str]]]:
    """Open the page; yield it and what it complains about."""
    context = await browser.new_context(viewport={"width": width, "height": 900}, color_scheme=options.get("scheme"))  # type: ignore[arg-type]  # one of its words
    page = await context.new_page()
    page.set_default_timeout(PATIENCE)
    complaints: list[str] = []
    page.on("console", lambda it: complaints.append(it.text) if it.type in {"error", "warning"} else None)
    page.on("pageerror", lambda it: complaints.append(str(it)))
    page.on("dialog", lambda it: complaints.append(it.message))
    await page.goto(f"{url}/live")
    try:
        yield page, complaints
    finally:
        await context.close()


async def board(page: Page) -> str:
    """Return the board as it is drawn now."""
    return str(await page.eval_on_selector("#board", "it => it.innerHTML"))


async def entries(page: Page) -> int:
    """Return how many entries the list of moves has."""
    return int(await page.evaluate("[...document.querySelectorAll('#moves td')].filter(it => it.textContent).length"))


async def changed(page: Page, before: str, count: int) -> None:
    """Wait until board and moves are others."""
    script = """([before, count]) => document.querySelector('#board').innerHTML !== before
        && [...document.querySelectorAll('#moves td')].filter(it => it.textContent).length !== count"""
    await page.wait_for_function(script, arg=[before, count])


async def test_two_browsers_see_a_bot_play_and_a_third_catches_up(browser: Browser, server: Server) -> None:
    marvin = plan(server.port, "marvin", invite="ford", length=9, timings=THINKING)
    async with (
        shown(marvin, plan(server.port, "zaphod")) as (_, url),
        opponent(server.port, "ford", timings=THINKING),
        watching(browser, url) as (wide, wide_complaints),
        watching(browser, url, 390, scheme="dark") as (phone, phone_complaints),
    ):
        for page in (wide, phone):
            await expect(page.locator("#sentence")).to_contain_text("playing ford", timeout=PATIENCE)
            await page.wait_for_selector("#board svg")
            before, count = await board(page), await entries(page)
            await changed(page, before, count)
            await expect(page).to_have_title(re.compile("^marvin: playing ford"), timeout=PATIENCE)
        async with watching(browser, url) as (late, late_complaints):
            await late.wait_for_selector("#board svg")
            await late.wait_for_selector("#moves tbody tr")
            await expect(late.locator("#moves thead")).to_contain_text("ford", timeout=PATIENCE)
        await wide.click("#accounts button:nth-child(2)")
        await expect(wide.locator("#sentence")).to_contain_text("waiting for a match", timeout=PATIENCE)
        assert wide.url.endswith("#zaphod")
        await expect(wide.locator("#board svg")).to_have_count(0, timeout=PATIENCE)
        assert [] == wide_complaints + phone_complaints + late_complaints


async def test_the_page_fits_the_width_of_a_phone(browser: Browser, server: Server) -> None:
    marvin = plan(server.port, "marvin", invite="ford", length=9, timings=THINKING)
    async with (
        shown(marvin) as (_, url),
        opponent(server.port, "ford", timings=THINKING),
        watching(browser, url, 320) as (page, _complaints),
    ):
        await page.wait_for_selector("#moves tbody tr")
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        width = await page.evaluate("document.querySelector('#board svg').getBoundingClientRect().width")
        assert 250 < width <= 320
        await page.set_viewport_size({"width": 667, "height": 375})
        height = await page.evaluate("document.querySelector('#board svg').getBoundingClientRect().height")
        assert 280 < height < 375, "on its side"


async def test_chat_is_never_interpreted_as_markup(browser: Browser, server: Server) -> None:
    async with (
        shown(plan(server.port, "marvin")) as (it, url),
        talker(server) as arthur,
        watching(browser, url) as (page, complaints),
    ):
        await until(lambda: it.supervisor.accounts["marvin"].status().connected is not None)
        arthur.send(f"tell marvin {NASTY}")
        await expect(page.locator("#chat li").first).to_contain_text(NASTY, timeout=PATIENCE)
        assert 0 == await page.locator("#chat script, #chat img").count()
        assert "owned" != await page.title()
        assert [] == complaints


async def test_light_and_dark_follow_the_viewer_or_the_button(browser: Browser, server: Server) -> None:
    async with (
        shown(plan(server.port, "marvin", invite="ford", length=9, timings=THINKING)) as (_, url),
        opponent(server.port, "ford", timings=THINKING),
        watching(browser, url, scheme="dark") as (page, _complaints),
    ):
        await page.wait_for_selector("#board svg")

        async def colours() -> tuple[str, str]:
            script = "[document.body, document.querySelector('.fb-field')]"
            body, field = await page.evaluate(
                f"{script}.map((it, n) => getComputedStyle(it)[n ? 'fill' : 'backgroundColor'])"
            )
            return body, field

        assert ("rgb(12, 15, 19)", "rgb(37, 43, 51)") == await colours()
        await page.click("#theme")
        assert ("rgb(244, 242, 236)", "rgb(239, 233, 220)") == await colours()
        await page.reload()
        await page.wait_for_selector("#board svg")
        assert ("rgb(244, 242, 236)", "rgb(239, 233, 220)") == await colours(), "the choice is kept"


async def test_the_page_reconnects_when_the_process_restarts(browser: Browser, server: Server) -> None:
    marvin = plan(server.port, "marvin")
    async with contextlib.AsyncExitStack() as first:
        _, url = await first.enter_async_context(shown(marvin))
        async with watching(browser, url) as (page, _complaints):
            await expect(page.locator("#link")).to_have_text("live", timeout=PATIENCE)
            await first.aclose()
            await expect(page.locator("#link")).to_have_text("connection lost, trying again", timeout=PATIENCE)
            async with shown(marvin, port=int(url.rpartition(":")[2])):
                await expect(page.locator("#link")).to_have_text("live", timeout=PATIENCE)
                await expect(page.locator("#sentence")).to_have_text("waiting for a match", timeout=PATIENCE)
