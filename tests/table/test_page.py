"""The table's page in a real browser: whole matches by mouse, by dragging, by keyboard and by touch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Final

import aiohttp
import pytest
from attrs import frozen
from playwright.async_api import Browser, Page

from fibsbot.games import GAMES, load_ruleset
from fibsbot.rules.laws import LAWS
from fibsbot.rules.state import Stage
from fibsbot.strategies.loader import load
from fibsbot.table.bot_match import PERSON, BotMatch
from fibsbot.table.hosts import BotHost
from fibsbot.table.model import Action
from fibsbot.table.page_server import PageServer, TablePage
from tests.browser import requires_chromium
from tests.marks import all_but, some_thorough
from tests.patience import SOON

pytestmark = [requires_chromium, pytest.mark.asyncio(loop_scope="session")]
PHONE: Final = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LAPTOP: Final = {"viewport": {"width": 1366, "height": 768}}


async def until(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    while not holds():  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.005)


@frozen
class Seen:
    """A page in a browser, and the table that it shows."""

    tab: Page
    page: TablePage
    match: BotMatch
    faults: list[str]
    server: PageServer

    def drop_connections(self) -> None:
        """Break every connection to the server."""
        running = self.server._runner.server
        assert running is not None
        for connection in running.connections:
            assert connection.transport is not None
            connection.transport.abort()

    async def is_current(self) -> None:
        """Wait until the person has to decide, or the match is over, and the page shows that."""
        shown = -1
        while self.match.waiting or shown != self.page.version:
            await asyncio.sleep(0.005)
            shown = await self.tab.evaluate("Number(document.documentElement.dataset.version ?? -1)")

    async def is_newer(self, version: int) -> None:
        """Wait until there is a newer state than that with a number."""
        await until(lambda: self.page.version != version)

    async def middle(self, selector: str, part: float = 0.5) -> tuple[float, float]:
        """Return the middle of something on the page."""
        box = await self.tab.locator(selector).bounding_box()
        assert box is not None, selector
        return box["x"] + box["width"] / 2, box["y"] + box["height"] * part


@asynccontextmanager
async def a_table(
    browser: Browser,
    game: str = "backgammon",
    length: int = 1,
    *,
    device: Any = LAPTOP,
    laws: str = "",
    seed: int = 1,
    names: tuple[str, str] = ("you", "bot"),
) -> AsyncIterator[Seen]:
    """Serve a table and open it; nothing on the page may go wrong, and no request may leave."""
    rules = load_ruleset(game)
    match = BotMatch(rules, LAWS[laws] if laws else rules.laws, length, names, Random(seed))
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
            yield Seen(tab, page, match, faults, server)
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
ELEMENTS: Final = "[...document.querySelectorAll('#board svg *')].map((one) => one.cloneNode(false).outerHTML)"
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
    drawn = await seen.tab.evaluate(ELEMENTS)
    await seen.tab.reload()
    await seen.is_current()
    assert drawn == await seen.tab.evaluate(ELEMENTS)  # drawn anew, not by what changes from play to play


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
async def test_a_game_is_played(browser: Browser, way: str) -> None:
    async with a_table(browser, "hyper", device=WAYS[way].device) as seen:
        await play_match(seen, WAYS[way])


@pytest.mark.slow
@pytest.mark.thorough
async def test_a_match_of_three_points_is_played(browser: Browser) -> None:
    async with a_table(browser, length=3, seed=2) as seen:
        await play_match(seen, WAYS["mouse"])
        assert len(seen.match.transcript.games) > 1


@pytest.mark.parametrize("game", some_thorough(sorted(GAMES), all_but("plakoto")))
async def test_a_game_of_every_ruleset_is_played(browser: Browser, game: str) -> None:
    way = list(WAYS)[sorted(GAMES).index(game) % len(WAYS)]
    async with a_table(browser, game, device=WAYS[way].device) as seen:
        await play_match(seen, WAYS[way])


async def opening(seen: Seen) -> tuple[int, int]:
    """Wait for the person's first move; return the dice from the left."""
    await seen.is_current()
    while Action.MOVE not in seen.match.actions:
        before = seen.page.version
        await WAYS["keyboard"].act(seen, Action.ROLL)
        await seen.is_newer(before)
        await seen.is_current()
    dice = seen.match.shown.dice
    assert dice is not None
    return dice[0], dice[1]


def moved(seen: Seen) -> list[int]:
    """Return the numbers that have been moved by."""
    return [made.number for made in seen.match.play.moves] if seen.match.play else []


@pytest.mark.slow
async def test_a_right_click_plays_the_other_die_and_a_drag_both(browser: Browser) -> None:
    async with a_table(browser, seed=3) as seen:
        left, right = await opening(seen)
        both = next(place for place, way in seen.match.ways.items() if len(way) == 2)
        await seen.tab.mouse.click(*await seen.middle(f'[data-place="{both[0]}"]'), button="right")
        await until(lambda: moved(seen))
        assert moved(seen) == [right]
        await seen.is_current()
        await seen.tab.keyboard.press("u")
        await until(lambda: not moved(seen))
        await seen.is_current()
        await WAYS["dragging"].move(seen, *both)
        await until(lambda: len(moved(seen)) == 2)
        assert sorted(moved(seen)) == sorted((left, right))
        await seen.is_current()
        assert Action.DONE in seen.match.actions
        assert not any(entry.seat is PERSON for entry in seen.match.sheet)


@pytest.mark.slow
async def test_on_a_telephone_points_are_wide_enough_and_a_long_press_plays_the_other_die(browser: Browser) -> None:
    async with a_table(browser, device=PHONE, seed=3) as seen:
        _, right = await opening(seen)
        sizes = await seen.tab.evaluate(
            "[...document.querySelectorAll('[data-place]')].map((place) => place.getBoundingClientRect())"
            ".map((box) => Math.min(box.width, box.height)).sort((a, b) => a - b)"
        )
        assert sizes[2] >= 44  # but for the bar and the tray
        assert await seen.tab.evaluate("document.documentElement.scrollWidth") == 390
        source = seen.match.moves[0].move.source
        x, y = await seen.middle(f'[data-place="{source}"]')
        session = await seen.tab.context.new_cdp_session(seen.tab)
        await session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        await until(lambda: moved(seen))
        await session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        await asyncio.sleep(0.1)
        assert moved(seen) == [right]


@pytest.mark.slow
async def test_a_laptop_shows_everything_without_scrolling_and_remembers_settings(browser: Browser) -> None:
    async with a_table(browser, seed=3) as seen:
        await opening(seen)
        tab = seen.tab
        assert await tab.evaluate("document.documentElement.scrollHeight") <= 768
        await tab.click("[aria-label=Settings]")
        for setting in ("pick", "left"):
            await tab.check(f'[data-setting="{setting}"]')
        await tab.check('[data-preference="forced"]')
        await tab.keyboard.press("Escape")
        await tab.reload()
        await tab.wait_for_selector("#board svg")
        await seen.is_current()
        assert [preference.value for preference in seen.match.preferences] == ["forced"]
        ace, other = await seen.middle('[data-place="1"]'), await seen.middle('[data-place="12"]')
        assert ace[0] < other[0]
        source, target = next(iter(seen.match.ways))
        await tab.mouse.click(*await seen.middle(f'[data-place="{source}"]'))
        await tab.wait_for_selector("circle.picked", state="attached")
        assert moved(seen) == []
        await tab.mouse.click(*await seen.middle(f'[data-place="{target}"]'))
        await until(lambda: moved(seen))


@pytest.mark.slow
async def test_cube_and_resignation_are_confirmed(browser: Browser) -> None:
    async with a_table(browser, length=3, seed=4) as seen:
        await seen.is_current()
        assert Action.DOUBLE in seen.match.actions
        before = seen.page.version
        await seen.tab.keyboard.press("d")
        await seen.tab.click("#confirm button >> nth=0")
        await seen.tab.wait_for_selector("#confirm", state="hidden")
        assert seen.page.version == before
        await seen.tab.keyboard.press("d")
        await seen.tab.wait_for_selector("#confirm")
        await seen.tab.keyboard.press("Enter")
        await seen.is_newer(before)
        await seen.is_current()
        assert any(entry.text == "doubles to 2" for entry in seen.match.sheet)
        await seen.tab.click('[data-action="resign"]')
        await seen.tab.click("#levels button >> nth=1")
        await until(lambda: seen.match.state.stage is Stage.OVER)
        assert seen.match.state.scores == (0, 4 if seen.match.state.cube == 2 else 2)


@pytest.mark.slow
async def test_a_page_that_lost_its_table_says_so_and_comes_back(browser: Browser) -> None:
    async with a_table(browser, seed=3) as seen:
        await opening(seen)
        await seen.tab.context.set_offline(True)  # for new connections
        seen.drop_connections()
        await seen.tab.wait_for_selector(".lost #text")
        assert "does not answer" in await seen.tab.inner_text("#text")
        assert seen.page.host.act(Action.MOVE, [seen.match.moves[0].move.source])  # something changes meanwhile
        await seen.tab.context.set_offline(False)
        await seen.is_current()
        assert "does not answer" not in await seen.tab.inner_text("#text")
        seen.faults.clear()  # the browser complains of the lost connection


@pytest.mark.slow
async def test_names_are_never_markup(browser: Browser) -> None:
    async with a_table(browser, names=("</svg><img src=x onerror=alert(1)>", "<b>bot")) as seen:
        await seen.is_current()
        assert await seen.tab.evaluate("document.querySelectorAll('img, #board b').length") == 0
        assert await seen.tab.inner_text("#opponent .name") == "<b>bot"


@pytest.mark.parametrize("inputs", [pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.thorough]), 300])
async def test_random_inputs_by_the_addresses_of_the_page(inputs: int) -> None:
    random, rules = Random(inputs), load_ruleset("backgammon")
    match = BotMatch(rules, rules.laws, 0, ("you", "bot"), Random(1))
    host, server = BotHost(match, load("pips")), PageServer(0)
    page = server.add(host)
    await server.start()
    address = server.address(page)
    words = [action.value for action in Action] * 3 + ["", "fly", None, 7, [1], {"a": 1}]
    try:
        await host.start()
        async with aiohttp.ClientSession() as session, asyncio.timeout(3 * SOON):
            for _ in range(inputs):
                numbers = [random.choice([*range(-1, 27), 1.5, "1", None, True]) for _ in range(random.randrange(3))]
                asked: Any = random.choice(
                    [
                        {"action": random.choice(words), "numbers": random.choice([numbers, [], 3, None, "x"])},
                        {"action": "move", "numbers": [*random.choice([*match.ways, (0, 0)])]},
                        {"preference": random.choice(["roll", "forced", "greedy", "x", None]), "wanted": numbers},
                        random.choice([[], None, "act", 1]),
                    ]
                )
                path = random.choice(["act", "act", "act", "prefer", "state", "events", "..", "nothing"])
                response = await session.post(address + path, json=asked)
                assert response.status in {200, 400, 403, 404}
            assert (await session.get(address + "state")).status == 200
    finally:
        await host.close()
        await server.close()
