"""The table in the terminal as tests use it: apps, keys, clicks, and what is on the screen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random
from typing import Any, Final

from textual import events
from textual.pilot import Pilot

from fibsbot.games import load_ruleset
from fibsbot.strategies.loader import load
from fibsbot.table.bot_match import BotMatch
from fibsbot.table.hosts import BotHost, TableHost
from fibsbot.table.set_up import read_position
from fibsbot.table.terminal.app import TableApp
from tests.patience import SOON

MOST_INPUTS: Final = 5000
"""Of a whole match; the longest takes about a tenth."""


class ObservedApp(TableApp):
    """Says when an input has been answered: `Pilot.press` waits until the processor is idle, which takes long."""

    def __init__(self, host: TableHost) -> None:
        """Show a table."""
        super().__init__(host)
        self.answered = asyncio.Event()

    def press(self, key: str) -> None:
        """Press a key, and say so."""
        super().press(key)
        self.answered.set()

    def click(self, place: int, right: bool) -> None:  # noqa: FBT001 - as in the app
        """Click on a place, and say so."""
        super().click(place, right)
        self.answered.set()

    def click_dice(self) -> None:
        """Click on the dice, and say so."""
        super().click_dice()
        self.answered.set()


def new_app(game: str, length: int = 1, seed: int = 1, position: str | None = None) -> ObservedApp:
    """Return a table against a simple bot, with lessons that do not look ahead."""
    rules = load_ruleset(game)
    start = None if position is None else read_position(position, rules, rules.laws)
    match = BotMatch(rules, rules.laws, length, ("you", "bot"), Random(seed), start)
    return ObservedApp(BotHost(match, load("pips"), "engine:0"))


async def strike(app: ObservedApp, *keys: str) -> None:
    """Press keys, and wait until each is answered."""
    for key in keys:
        app.answered.clear()
        app.post_message(events.Key(key, {"space": " "}.get(key, key if len(key) == 1 else None)))
        await asyncio.wait_for(app.answered.wait(), SOON)


async def click_board(app: ObservedApp, at: tuple[int, int], button: int = 1) -> None:
    """Click on the board, and wait until that is answered."""
    app.answered.clear()
    x, y = app.board.region.offset + at
    for kind in (events.MouseDown, events.MouseUp):
        where = {"screen_x": x, "screen_y": y, "delta_x": 0, "delta_y": 0, "button": button}
        app.screen._forward_event(
            kind(app.board, x=x, y=y, shift=False, meta=False, ctrl=False, **where)  # type: ignore[arg-type]
        )
    await asyncio.wait_for(app.answered.wait(), SOON)


def match_of(app: TableApp) -> BotMatch:
    """Return the match at a table."""
    assert isinstance(app.model, BotMatch)
    return app.model


async def screen_of(pilot: Pilot[Any]) -> list[str]:
    """Return the text of the screen."""
    await pilot.pause()
    app = pilot.app
    width, height = app.size
    lines = app.screen._compositor.render_strips()
    return [line.text.rstrip() for line in lines[:height] if line.cell_length <= width]


async def until_own_turn(match: BotMatch) -> None:
    """Wait until the bot has nothing to decide."""
    async with asyncio.timeout(SOON):
        while match.question is not None:  # noqa: ASYNC110 - the bot may go on at once
            await asyncio.sleep(0.001)


async def own_turns(match: BotMatch) -> AsyncIterator[None]:
    """Yield whenever the person has to do something, until the match is over."""
    for _ in range(MOST_INPUTS):
        await until_own_turn(match)
        if match.match_over:
            return
        yield
    raise AssertionError(f"the match is not over after {MOST_INPUTS} inputs: {match.sentence}")
