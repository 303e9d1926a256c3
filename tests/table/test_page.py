"""The table's page in a real browser: whole matches by mouse, by dragging, by keyboard and by touch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Final

import pytest
from attrs import frozen
from playwright.async_api import Browser, Page

from fibsbot.games import GAMES, load_ruleset
from fibsbot.rules.laws import LAWS
from fibsbot.strategies.loader import load
from fibsbot.table.bot_match import BotMatch
from fibsbot.table.hosts import BotHost
from fibsbot.table.model import Action
from fibsbot.table.page_server import PageServer, TablePage
from tests.browser import chromium, requires_chromium
from tests.marks import some_slow
from tests.patience import SOON

pytestmark = requires_chromium
PHONE: Final = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LAPTOP: Final = {"viewport": {"width": 1366, "height": 768}}


@frozen
class Seen:
    """A page in a browser, and the table that it shows."""

    tab: Page
    page: TablePage
    match: BotMatch
    faults: list[str]

    async def is_current(self) -> None:
        """Wait until the person has to decide, or the match is over, and the page shows that."""
        shown = -1
        while self.match.waiting or shown != self.page.version:
            await asyncio.sleep(0.005)
            shown = await self.tab.evaluate("Number(document.documentElement.dataset.version ?? -1)")

    async def is_newer(self, version: int) -> None:
        """Wait until there is a newer state than that with a number."""
        while self.page.version == version:  # noqa: ASYNC110 - the page tells nobody
            await asyncio.sleep(0.005)

    async def middle(self, selector: str, part: float = 0.5) -> tuple[float, float]:
        """Return the middle of something on the page."""
        box = await self.tab.locator(selector).bounding_box()
        assert box is not None, selector
        return box["x"] + box["width"] / 2, box["y"] + box["height"] * part


@asynccontextmanager
async def a_table(
    browser: Browser, game: str = "backgammon", length: int = 1, *, device: Any = LAPTOP, laws: str = ""
) -> AsyncIterator[Seen]:
    """Serve a table and open it; nothing on the page may go wrong, and no request may leave."""
    rules = load_ruleset(game)
    match = BotMatch(rules, LAWS[laws] if laws else rules.laws, length, ("you", "bot"), Random(1))
    host, server = BotHost(match, load("pips")), PageServer(0)
    page = server.add(host)
    await server.start()
    address, faults = server.address(page), list[str]()
    try:
        await host.start()
        tab = await browser.new_page(**device)
        tab.set_default_timeout(SOON * 1000)
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        tab.on(
            "request",
            lambda request: None if request.url.startswith((address, "data:")) else faults.append(request.url),
        )
        async with asyncio.timeout(3 * SOON):
            await tab.goto(address)
            await tab.wait_for_selector("#board svg")
            yield Seen(tab, page, match, faults)
        assert faults == []
        await tab.close()
    finally:
        await host.close()
        await server.close()


class Mouse:
    """Plays by clicks."""

    device: Any = LAPTOP

    async def click(self, seen: Seen, selector: str) -> None:
        """Click on something."""
        await seen.tab.mouse.click(*await seen.middle(selector))

    async def move(self, seen: Seen, source: int, target: int) -> None:  # noqa: ARG002 - the left die says where to
        """Move a checker by the left die."""
        await self.click(seen, f'[data-place="{source}"]')

    async def act(self, seen: Seen, action: Action) -> None:
        """Do one of the usual actions."""
        dice = action is Action.ROLL or (action is Action.DONE and not seen.match.moves)
        await self.click(seen, "#dice" if dice else f'#actions [data-action="{action.value}"]')

    async def name(self, seen: Seen, number: int) -> None:
        """Name a double or a point."""
        await self.click(seen, f'#actions [data-name="{number}"]')


class Dragging(Mouse):
    """Drags the checkers."""

    async def move(self, seen: Seen, source: int, target: int) -> None:
        """Move a checker to a place."""
        mouse = seen.tab.mouse
        await mouse.move(*await seen.middle(f'[data-place="{source}"]'))
        await mouse.down()
        await mouse.move(*await seen.middle(f'[data-place="{target}"]', 0.4), steps=3)
        await mouse.up()


class Keyboard(Mouse):
    """Plays by keys alone."""

    async def move(self, seen: Seen, source: int, target: int) -> None:  # noqa: ARG002 - as for the mouse
        """Move a checker by the left die."""
        keyboard = seen.tab.keyboard
        for digit in "0" if source == 25 else str(source):
            await keyboard.press(digit)
        if source in {1, 2} and any(made.move.source // 10 == source for made in seen.match.moves):
            await keyboard.press("Enter")

    async def act(self, seen: Seen, action: Action) -> None:
        """Do one of the usual actions."""
        assert action in {Action.ROLL, Action.DONE, Action.NEXT, Action.TAKE, Action.ACCEPT}
        await seen.tab.keyboard.press(" ")

    async def name(self, seen: Seen, number: int) -> None:
        """Name a double or a point."""
        await seen.tab.focus(f'#actions [data-name="{number}"]')
        await seen.tab.keyboard.press("Enter")


class Touch(Mouse):
    """Taps on a telephone."""

    device: Any = PHONE

    async def click(self, seen: Seen, selector: str) -> None:
        """Click on something."""
        await seen.tab.locator(selector).scroll_into_view_if_needed()
        await seen.tab.touchscreen.tap(*await seen.middle(selector))


WAYS: Final = {"mouse": Mouse(), "dragging": Dragging(), "keyboard": Keyboard(), "touch": Touch()}
USUAL: Final = (Action.NEXT, Action.DONE, Action.TAKE, Action.ACCEPT, Action.ROLL)


async def play_match(seen: Seen, way: Mouse) -> None:
    """Play until the match is over."""
    random = Random(1)
    while True:
        await seen.is_current()
        actions, before = seen.match.actions, seen.page.version
        if not actions:
            break
        if Action.MOVE in actions:
            source, target = random.choice([place for place, made in seen.match.ways.items() if len(made) == 1])
            await way.move(seen, source, target)
        elif seen.match.names_offered:
            await way.name(seen, seen.match.names_offered[0])
        else:
            await way.act(seen, next(action for action in USUAL if action in actions))
        await seen.is_newer(before)
    assert seen.match.match_over
    assert "The match is over" in await seen.tab.inner_text("#banner")


@pytest.mark.parametrize("way", some_slow(WAYS, lambda way: way in {"dragging", "touch"}))
async def test_a_game_is_played(way: str) -> None:
    async with chromium() as browser, a_table(browser, "hyper", device=WAYS[way].device) as seen:
        await play_match(seen, WAYS[way])


@pytest.mark.slow
async def test_a_match_of_three_points_is_played() -> None:
    async with chromium() as browser, a_table(browser, length=3) as seen:
        await play_match(seen, WAYS["mouse"])
        assert len(seen.match.transcript.games) > 1


@pytest.mark.slow
@pytest.mark.parametrize("game", sorted(GAMES))
async def test_a_game_of_every_ruleset_is_played(game: str) -> None:
    way = list(WAYS)[sorted(GAMES).index(game) % len(WAYS)]
    async with chromium() as browser, a_table(browser, game, device=WAYS[way].device) as seen:
        await play_match(seen, WAYS[way])
