"""Lessons at the table in the terminal: hints, the tutor, steps back, reports; none of them with people."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any, Final

from textual.pilot import Pilot

from fibsbot.games import load_ruleset
from fibsbot.rules.state import Stage
from fibsbot.table.bot_match import BotMatch
from fibsbot.table.hosts import BotHost, TableHost
from fibsbot.table.learning import Learning
from fibsbot.table.server_host import ServerHost
from fibsbot.table.terminal.app import TableApp
from fibsbot.table.terminal.lessons import hint_in_words
from tests.patience import SOON
from tests.table.people import login
from tests.table.terminal_app import ObservedApp, match_of, new_app, screen_of

OPENING: Final = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10"
"""3-1, of which 8/5 6/5 is best by far."""
DOUBLED: Final = "XGID=-b----E-C---eE---c-e----B-:0:0:-1:D:0:0:0:3:10"


@asynccontextmanager
async def shown(position: str, **options: Any) -> AsyncIterator[tuple[ObservedApp, Pilot[Any]]]:
    """Show a table at a position."""
    app = new_app("backgammon", position=position)
    async with app.run_test(**options) as pilot:
        await settled(app, pilot)
        yield app, pilot


def learning_of(app: TableApp) -> Learning:
    assert app.host.learning is not None
    return app.host.learning


async def settled(app: TableApp, pilot: Pilot[Any]) -> None:
    """Wait until neither the bot nor the adviser is thinking."""
    changed = asyncio.Event()
    app.host.listen(changed.set)
    async with asyncio.timeout(SOON):
        while learning_of(app).thinking or match_of(app).question is not None:
            changed.clear()
            await changed.wait()
    await pilot.pause()


async def press(app: TableApp, pilot: Pilot[Any], *keys: str) -> str:
    """Press keys; return what is on the screen when nobody is thinking any more."""
    await pilot.press(*keys)
    await settled(app, pilot)
    return "\n".join(await screen_of(pilot))


async def test_a_hint_shows_the_best_plays_with_their_chances_and_goes_again() -> None:
    async with shown(OPENING) as (app, pilot):
        screen = await press(app, pilot, "?")
        assert "0-ply     W   G  LG" in screen
        assert "8/5 6/5      +0." in screen
        assert "best   5" in screen
        assert "[?] hide hint" in screen
        hint = learning_of(app).hint
        assert hint is not None
        assert hint_in_words(hint)[0].startswith("Hint 1: 8/5 6/5, equity +0.")
        assert "8/5 6/5" not in await press(app, pilot, "?")


async def test_a_hint_says_whether_to_take() -> None:
    async with shown(DOUBLED) as (app, pilot):
        screen = await press(app, pilot, "?")
        assert screen.index("take  ") < screen.index("pass  ")
        assert "−" in screen  # noqa: RUF001 - the sign of a loss


async def test_the_tutor_speaks_before_a_blunder_stands_and_hears_one_of_its_keys() -> None:
    async with shown(OPENING) as (app, pilot):
        match, before = match_of(app), match_of(app).state
        assert "tutor on" in await press(app, pilot, "c")
        screen = await press(app, pilot, "/", *"24/21 24/23", "enter", "space")
        assert "24/23 24/21 costs 0." in screen
        assert "[t]hink again  [s]how me  [p]lay it" in screen
        assert "[space]" not in screen
        assert match.state is before
        await press(app, pilot, "d", "enter")
        assert learning_of(app).warning
        await press(app, pilot, "t")
        assert not learning_of(app).warning
        await press(app, pilot, "space")
        assert learning_of(app).warning
        assert "Best is 8/5 6/5." in await press(app, pilot, "s")
        await press(app, pilot, "p")
        assert match.sheet[0].text == "24/23 24/21"


async def test_backspace_takes_back_the_last_move_and_then_the_last_decision() -> None:
    async with shown(OPENING) as (app, pilot):
        match, before = match_of(app), match_of(app).state
        await press(app, pilot, "/", *"8/5 6/5", "enter", "space")
        assert match.sheet
        await press(app, pilot, "backspace")
        assert match.state is before
        assert match.play is not None
        await press(app, pilot, "8", "backspace")
        assert not match.play.moves
        assert match.state is before


async def test_the_report_is_written_beside_the_match_and_a_new_match_begins(tmp_path: Path) -> None:
    file = tmp_path / "match.html"
    app = new_app("backgammon", position=f"XGID=-A{22 * '-'}a-:0:0:1:00:2:2:0:3:10")
    assert app.lessons is not None
    app.lessons.report_file = lambda: file
    async with app.run_test() as pilot:
        first = match_of(app)
        while first.state.stage is not Stage.OVER:
            await press(app, pilot, "space" if first.state.stage is Stage.ROLL else "enter")
            await press(app, pilot, "space")
        assert "[r]eport  [n]ew match" in await press(app, pilot, "x")
        await pilot.press("r")
        async with asyncio.timeout(SOON):
            while not app.notice:
                await pilot.pause(0.01)
        assert app.notice == f"The report is in {file}."
        assert "<html" in file.read_text("utf-8")
        await press(app, pilot, "n")
        assert match_of(app) is not first
        assert match_of(app).state.scores == (2, 2)


class HostOfPeople(TableHost):
    """A table without a bot, and so without lessons."""

    def __init__(self) -> None:
        """Sit down at a match in which seat A decides."""
        super().__init__()
        rules = load_ruleset("backgammon")
        self._match = next(
            match for seed in range(20) if (match := BotMatch(rules, rules.laws, 1, ("ann", "ben"), Random(seed))).moves
        )

    @property
    def model(self) -> BotMatch:
        """The match."""
        return self._match

    def changed(self) -> None:
        """Tell who listens."""
        self.tell()

    async def start(self) -> None:
        """Begin."""

    async def close(self) -> None:
        """End."""


async def test_with_people_no_key_helps() -> None:
    host = HostOfPeople()
    app = TableApp(host)
    async with app.run_test() as pilot:
        before, screen = host.model.state, await screen_of(pilot)
        for key in ("?", "c", "backspace", "n", "t", "s", "s"):
            await pilot.press(key)
            assert await screen_of(pilot) == screen or key == "s"
        assert host.model.state is before
        assert not any(word in "\n".join(screen) for word in ("hint", "tutor", "take back", "report"))
    assert app.lessons is None
    assert not isinstance(host, BotHost)
    assert ServerHost(login(1, "ann")).learning is None
