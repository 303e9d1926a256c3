"""The pictures of docs/how-to/table.md and practice.md, in Chromium: `python -m tests.table.pictures` takes them anew.

They are for people: fonts differ from machine to machine, so that a test compares them roughly.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest.mock import create_autospec

from playwright.async_api import Browser

from fibsbot.analysis.decision_analysis import DecisionAnalyser
from fibsbot.analysis.match_analysis import open_evaluator
from fibsbot.match import MatchState
from fibsbot.notation import parse_play
from fibsbot.practice.deck import Deck, PracticeItem
from fibsbot.practice.exercises import Exercise, ExerciseKind, choices_of
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.rules.state import GameState, Seat
from fibsbot.strategies.loader import load
from fibsbot.table.bot_match import BotMatch
from fibsbot.table.hosts import BotHost, TableHost
from fibsbot.table.page_server import PageServer
from fibsbot.table.practice_host import AnswerStore, PracticeHost
from fibsbot.table.set_up import read_position
from fibsbot.transcript import Decision, Entry, Step
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
    "practice": {"viewport": {"width": 1366, "height": 768}, "color_scheme": "light"},
}
"""The browser of each picture, by the name of its file."""


async def take(browser: Browser, name: str) -> bytes:
    """Return a picture of the page with a hint, or with the verdict on an exercise, as PNG."""
    start = read_position(POSITION, BACKGAMMON, BACKGAMMON.laws)
    practises = name == "practice"
    host = practice_host(start) if practises else bot_host(start)
    server = PageServer(0)
    page = server.add(host)
    await server.start()
    try:
        await host.start() if practises else None
        tab = await browser.new_page(reduced_motion="reduce", **PICTURES[name])
        await tab.goto(server.address(page))
        if practises:
            for point in (8, 6):
                await tab.click(f"[data-place='{point}'].source")
            await tab.click("[data-action=done]")
            await tab.wait_for_selector("#practice .hint")
        else:
            await tab.click(".open-lessons:visible, [data-lesson=hint]:visible")
            await tab.wait_for_selector("#learning .hint")
        picture = await tab.screenshot()
        await tab.close()
        return picture
    finally:
        await host.close()
        await server.close()


def bot_host(start: GameState) -> TableHost:
    """Return a table against the bot."""
    match = BotMatch(BACKGAMMON, start.laws, start.length, ("you", "club bot"), Random(1), start)
    return BotHost(match, load("pips"), "engine:1")


def practice_host(start: GameState) -> TableHost:
    """Return a table with an exercise."""
    state = MatchState.of(start, Seat.A)
    assert state is not None
    made = state.check_play(parse_play("13/6", state))
    decision = Decision(Step(1, 0, start, Entry(), start), Seat.A, state, made)
    with open_evaluator("engine:1") as evaluator:
        analysed = DecisionAnalyser(evaluator).analyse(decision)
    exercise = Exercise(
        id="picture",
        kind=ExerciseKind.PLAY,
        state=state,
        choices=choices_of(analysed),
        made=decision.text,
        position_class="middle game",
        player="you",
        opponent="ford",
        evaluator="fibsbot, 1-ply",
        game=2,
        turn=14,
    )
    deck = Deck()
    deck.add([PracticeItem(exercise)])
    return PracticeHost(deck, create_autospec(AnswerStore, instance=True), "engine:1")


async def main() -> None:
    """Take all pictures."""
    async with chromium() as browser:
        for name in PICTURES:
            (FOLDER / f"{name}.png").write_bytes(await take(browser, name))


if __name__ == "__main__":
    asyncio.run(main())
