"""The pictures of docs/how-to/table.md, of the page in Chromium: `python -m tests.table.pictures` takes them anew.

They are for people: fonts differ from machine to machine, so that a test compares them roughly.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from typing import Any, Final

from playwright.async_api import Browser

from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.strategies.loader import load
from fibsbot.table.bot_match import BotMatch
from fibsbot.table.hosts import BotHost
from fibsbot.table.page_server import PageServer
from fibsbot.table.set_up import read_position
from tests.browser import chromium

FOLDER: Final = Path(__file__).parents[2] / "docs" / "pictures"
POSITION: Final = "XGID=-a-B--E-B-a-dDB--b-bcb----:0:0:1:61:2:1:0:5:10"
"""A middle game with 6-1 to play."""
PICTURES: Final[dict[str, dict[str, Any]]] = {
    "table": {"viewport": {"width": 1366, "height": 768}, "color_scheme": "light"},
    "telephone": {
        "viewport": {"width": 390, "height": 844},
        "color_scheme": "dark",
        "has_touch": True,
        "is_mobile": True,
    },
}
"""The browser of each picture, by the name of its file."""


async def take(browser: Browser, name: str) -> bytes:
    """Return a picture of the page with a hint, as PNG."""
    start = read_position(POSITION, BACKGAMMON, BACKGAMMON.laws)
    match = BotMatch(BACKGAMMON, start.laws, start.length, ("you", "club bot"), Random(1), start)
    host, server = BotHost(match, load("pips"), "engine:1"), PageServer(0)
    page = server.add(host)
    await server.start()
    try:
        tab = await browser.new_page(reduced_motion="reduce", **PICTURES[name])
        await tab.goto(server.address(page))
        await tab.click(".open-lessons:visible, [data-lesson=hint]:visible")
        await tab.wait_for_selector("#learning .hint")
        picture = await tab.screenshot()
        await tab.close()
        return picture
    finally:
        await host.close()
        await server.close()


async def main() -> None:
    """Take all pictures."""
    async with chromium() as browser:
        for name in PICTURES:
            (FOLDER / f"{name}.png").write_bytes(await take(browser, name))


if __name__ == "__main__":
    asyncio.run(main())
