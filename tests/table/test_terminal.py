"""The table in the terminal: whole games by keys and by clicks, typed plays, any input, and the screens of three games.

The golden screens are written anew by `python -m tests.table.test_terminal`; look at what has changed.
"""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from attrs import evolve
from textual.errors import NoWidget
from textual.pilot import Pilot

from fibsbot.games import GAMES, load_ruleset
from fibsbot.rules.game import double, redouble, resign
from fibsbot.rules.laws import MODERN, Level
from fibsbot.rules.state import Stage
from fibsbot.strategies.loader import load
from fibsbot.table.bot_match import BotMatch
from fibsbot.table.hosts import LateBotHost
from fibsbot.table.model import Action, Preference
from fibsbot.table.terminal.app import TableApp
from fibsbot.table.terminal.board import BoardSize, column_of, size_for
from tests.marks import all_but, some_thorough
from tests.patience import SOON
from tests.table.terminal_app import (
    ObservedApp,
    click_board,
    match_of,
    new_app,
    own_turns,
    screen_of,
    strike,
    until_own_turn,
)

GOLDEN: Final = Path(__file__).parent / "screens"
RIGHT: Final = 3
ROLL: Final = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10"
MANY_INPUTS: Final = (("backgammon", 2000), ("tabula", 1000))


# -- whole games ----------------------------------------------------------------------------------------------------


async def press_something(app: ObservedApp, random: Random) -> None:
    """Go on by a key that goes on."""
    match = match_of(app)
    if Action.NAME in match.actions:
        await strike(app, *str(match.names_offered[0]), "enter")
    elif match.moves and random.random() < 0.4:
        await strike(app, *str(random.choice(match.moves).move.source), "enter")
    elif match.moves:
        await strike(app, *random.choice((["enter"], ["tab", "enter"], ["o"], ["left", "s", "enter"])))
    else:
        keys = {Action.TAKE: "t", Action.ACCEPT: "y"}
        await strike(app, next((key for action, key in keys.items() if action in match.actions), "space"))


async def click_something(pilot: Pilot[Any], app: ObservedApp, random: Random) -> None:
    """Go on by a click that goes on."""
    match, size = match_of(app), app.board_size
    assert size is not None
    if Action.NAME in match.actions:
        await strike(app, *str(match.names_offered[0]), "enter")
    elif match.moves:
        place = random.choice(match.moves).move.source
        await click_board(app, place_on(size, place), random.choice((1, RIGHT)))
    elif match.state.stage in {Stage.ROLL, Stage.MOVE}:
        await click_board(app, (size.width // 2 + 8, size.half + 2))
    else:
        await pilot.click(app.keys, offset=(1, 0))


def place_on(size: BoardSize, place: int) -> tuple[int, int]:
    """Return where a place is on the board."""
    return size.left(column_of(place)) + 1, 1 if 12 < place < 25 else size.height - 2


@pytest.mark.parametrize("game", some_thorough(["backgammon", *sorted(GAMES)], all_but("nackgammon", "gioul")))
async def test_a_whole_match_by_keys(game: str) -> None:
    app, random = new_app(game, 3 if game == "backgammon" else 1), Random(2)
    async with app.run_test() as pilot:
        match = match_of(app)
        async for _ in own_turns(match):
            await press_something(app, random)
        await pilot.press("q")
    assert app.return_code == 0
    assert "over" in match.sentence


@pytest.mark.parametrize("game", some_thorough(["backgammon", *sorted(GAMES)], all_but("plakoto", "fevga")))
async def test_a_whole_match_by_clicks(game: str) -> None:
    app, random = new_app(game, 3 if game == "backgammon" else 1), Random(3)
    async with app.run_test(size=(120, 40)) as pilot:
        match = match_of(app)
        async for _ in own_turns(match):
            await click_something(pilot, app, random)


async def test_a_late_bot_is_waited_for_and_one_that_cannot_be_loaded_ends_the_table() -> None:
    rules = load_ruleset("backgammon")
    asked = asyncio.Event()

    def late(seed: int) -> LateBotHost:
        return LateBotHost(BotMatch(rules, rules.laws, 1, ("you", "bot"), Random(seed)), lambda: load("pips"))

    host = next(host for seed in range(30) if (host := late(seed)).match.waiting)
    host.listen(asked.set)
    app = TableApp(host)
    async with app.run_test() as pilot:
        await until_own_turn(host.match)
    assert asked.is_set()
    app = TableApp(LateBotHost(host.match, lambda: load("nobody")))
    async with app.run_test() as pilot, asyncio.timeout(SOON):
        while app.fault is None:
            await pilot.pause(0.001)
    assert "nobody" in str(app.fault)


# -- inputs ---------------------------------------------------------------------------------------------------------


def app_with_dice(*dice: int) -> ObservedApp:
    """Return a table at which the person begins with these dice."""
    apps = (new_app("backgammon", 3, seed) for seed in range(500))
    return next(app for app in apps if match_of(app).play and match_of(app).shown.dice == dice)


async def test_a_whole_play_is_typed_and_counts_when_it_is_done() -> None:
    app = app_with_dice(3, 1)
    async with app.run_test() as pilot:
        match = match_of(app)
        await pilot.press("/", *"8/5 6/5")
        await pilot.press("enter")
        assert not match.sheet
        assert "[ 3 ]" not in "".join(await screen_of(pilot))
        await pilot.press("u", "u", "/", *"8/5, 6/5", "enter", "space")
        assert match.sheet[0].text == "8/5 6/5"


@pytest.mark.parametrize(
    ("text", "said"), [("8/4/1", "8/4/1 for 3-1"), ("x" * 500, "expected moves such as 24/18*"), ("13/11", "for 3-1")]
)
async def test_a_wrong_play_is_explained_in_a_line_and_changes_nothing(text: str, said: str) -> None:
    app = app_with_dice(3, 1)
    async with app.run_test() as pilot:
        before = match_of(app).shown
        await pilot.press("/")
        app.typed.value = text
        await pilot.press("enter")
        assert said in app.notice
        assert "\n" not in app.notice
        assert match_of(app).shown == before
        await pilot.press("tab")
        assert not app.notice


async def test_digits_name_a_point_and_wait_while_another_digit_may_follow() -> None:
    app = app_with_dice(6, 1)
    async with app.run_test() as pilot:
        match = match_of(app)
        assert match.play is not None
        await pilot.press("8")
        assert [made.move.source for made in match.play.moves] == [8]
        await pilot.press("u", "1", "3")
        assert [made.move.source for made in match.play.moves] == [13]
        await pilot.press("9")
        assert app.notice == "no checker can move from 9"
        await pilot.press("u", "s", "6")
        assert [made.number for made in match.play.moves] == [1]


async def test_a_right_click_plays_the_other_die_a_drag_goes_to_its_target_and_a_click_on_the_dice_swaps_them() -> None:
    app = app_with_dice(6, 1)
    async with app.run_test() as pilot:
        match, size = match_of(app), app.board_size
        assert match.play is not None
        assert size is not None
        await pilot.click(app.board, offset=place_on(size, 8))
        await pilot.press("u")
        await pilot.click(app.board, offset=place_on(size, 8), button=RIGHT)
        assert [(made.move.source, made.move.target) for made in match.play.moves] == [(8, 7)]
        await pilot.press("u")
        await pilot.mouse_down(app.board, offset=place_on(size, 24))
        await pilot.mouse_up(app.board, offset=place_on(size, 18))
        assert [(made.move.source, made.move.target) for made in match.play.moves] == [(24, 18)]
        await pilot.press("u")
        await pilot.click(app.board, offset=(size.width - 20, size.half + 2))
        assert match.shown.dice == (1, 6)


async def test_doubles_passes_and_leaving_are_confirmed() -> None:
    app = next(app for seed in range(50) if match_of(app := new_app("backgammon", 3, seed)).waiting)
    async with app.run_test() as pilot:
        match = match_of(app)
        await until_own_turn(match)
        await pilot.press("d", "n")
        assert match.state.stage is Stage.ROLL
        await pilot.press("d")
        assert app.prompt is not None
        assert "Double to 2?" in "\n".join(await screen_of(pilot))
        await pilot.press("y")
        assert match.state.cube == 2 or match.sheet[-1].text in {"doubles to 2", "passes"}
        await pilot.press("q", "x")
        assert app.is_running
        await pilot.press("ctrl+c", "y")
    assert app.return_code == 0


async def test_what_is_left_to_the_table_is_switched_by_keys() -> None:
    app = new_app("backgammon")
    async with app.run_test() as pilot:
        await pilot.press("f", "g")
        assert match_of(app).preferences == {Preference.FORCED, Preference.GREEDY}
        assert "auto: forced, bear" in "\n".join(await screen_of(pilot))
        await pilot.press("f", "g")
        assert not match_of(app).preferences


async def test_moves_are_also_there_in_words() -> None:
    app = app_with_dice(3, 1)
    async with app.run_test() as pilot:
        await pilot.press("w", "/", *"8/5 6/5", "enter", "space")
        await until_own_turn(match_of(app))
        await pilot.pause()
        words = "\n".join(line.text for line in app.words.lines)
        assert "you: 3-1 8/5 6/5." in words
        assert "Checkers of you: 24: 2, 13: 5, 8: 3, 6: 5; 167 pips." in words
        assert "8: 2" in words


async def test_help_opens_and_closes() -> None:
    app = new_app("backgammon")
    async with app.run_test() as pilot:
        await pilot.press("h")
        assert "type a whole play" in "".join(await screen_of(pilot))
        await pilot.press("escape")
        assert "type a whole play" not in "".join(await screen_of(pilot))


KEYS: Final = (
    *"abcdefghlnoprstuwxy0123456789/?[é",
    "space",
    "enter",
    "tab",
    "shift+tab",
    "escape",
    "left",
    "backspace",
)


@pytest.mark.parametrize(
    ("game", "inputs"),
    [
        pytest.param("backgammon", 200, marks=pytest.mark.slow),
        *(pytest.param(*one, marks=[pytest.mark.slow, pytest.mark.thorough]) for one in MANY_INPUTS),
    ],
)
async def test_random_inputs_end_without_an_exception(game: str, inputs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    app, random = new_app(game, 0), Random(inputs)
    monkeypatch.setattr(app, "exit", lambda: None)
    async with app.run_test() as pilot:
        match = match_of(app)
        for number in range(inputs):
            if number % 100 == 99:
                await pilot.resize_terminal(*random.choice(((80, 24), (20, 6), (120, 40), (66, 18))))
            await until_own_turn(match)
            chance = random.random()
            if chance < 0.02:
                at = random.randrange(app.size.width), random.randrange(app.size.height)
                with contextlib.suppress(NoWidget):  # the pilot wants one below the mouse, a terminal does not
                    await pilot.click(offset=at, button=random.choice((1, RIGHT)))
            elif chance < 0.04:
                await pilot.press(random.choice(KEYS))
            else:
                app.press(random.choice(("space", "enter", *KEYS)))
                await asyncio.sleep(0)
        assert app.is_running
        assert match.sheet


# -- what is seen ---------------------------------------------------------------------------------------------------


async def test_what_is_resigned_is_on_the_board_and_an_instant_redouble_has_its_name() -> None:
    app = new_app("backgammon", position=ROLL)
    match = match_of(app)
    before = evolve(match.state, laws=evolve(MODERN, redoubles=2))
    async with app.run_test() as pilot:
        match.show_decision(resign(before, match.seat.other, Level.GAMMON))
        app.show()
        shown = "\n".join(await screen_of(pilot))
        assert " resigns gammon " in shown
        assert "bot offers to resign a gammon." in shown
        doubled = double(before, before.turn)
        match.show_decision(redouble(doubled, match.seat.other))
        app.show()
        assert "[b] raccoon" in "\n".join(await screen_of(pilot))


@pytest.mark.parametrize(
    ("terminal", "scale"), [((80, 24), 1), ((120, 40), 2), ((200, 60), 4), ((66, 18), None), ((80, 15), None)]
)
def test_the_board_is_as_large_as_there_is_room(terminal: tuple[int, int], scale: int | None) -> None:
    size = size_for(terminal[0], terminal[1] - 3, 20)
    assert (size and size.scale) == scale


def test_every_place_of_a_board_is_found_where_it_is_drawn() -> None:
    size = size_for(80, 21, 20)
    assert size is not None
    assert [size.place_at(*place_on(size, place)) for place in range(26)] == list(range(26))


async def golden_screen(game: str) -> list[str]:
    """Return the screen of a table after a few turns."""
    app, random = new_app(game, 3, 8), Random(4)
    async with app.run_test() as pilot:
        match = match_of(app)
        for _ in range(22):
            await until_own_turn(match)
            await press_something(app, random)
        while not (match.moves and Action.UNDO in match.actions):
            await until_own_turn(match)
            await press_something(app, random)
        return await screen_of(pilot)


@pytest.mark.parametrize("game", ["backgammon", "plakoto", "tabula"])
async def test_screens_are_as_they_were(game: str) -> None:
    assert (GOLDEN / f"{game}.txt").read_text("utf-8").splitlines() == await golden_screen(game)


def write_golden_screens() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for game in ("backgammon", "plakoto", "tabula"):
        lines = asyncio.run(golden_screen(game))
        (GOLDEN / f"{game}.txt").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    write_golden_screens()
