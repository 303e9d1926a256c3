"""The lobby of a server in the terminal: a match by keys against another person, clicks, hostile words, any input."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Final

import pytest
from textual.pilot import Pilot

from fibs_protocol.stream import MessageReader
from fibsbot.bot.events_and_actions import Connected, ConnectionLost, MessageReceived
from fibsbot.server.server import Server
from fibsbot.table.model import Action
from fibsbot.table.server_host import ServerHost
from fibsbot.table.terminal.canvas import plain
from fibsbot.table.terminal.server_app import ServerTableApp
from tests.bot.live_bots import CHEAP
from tests.patience import SOON
from tests.table.people import Refusals, at_table, is_playing, login, match_of, play_on, ready_players, until
from tests.table.terminal_app import screen_of
from tests.table.test_hostile_page import hostile_host
from tests.table.test_server_session import LOGIN

ANSWERS: Final = (
    "no saved games.",
    "You will be shown invitations to matches by other laws than those of FIBS.",
    "Value of 'games' set to on.",
    "Value of 'boardstyle' set to 3.",
)
"""To what the table asks for at the login."""
KEYS: Final = (
    *("up", "down", "pageup", "end", "home", "enter", "escape", "tab", "space", "f1"),
    *"xiwgbm/opc,.raenhl?09é",
)

WORDS: Final = ("a tell", "a shout", "a kibitz", "a whisper")


def offline_app(host: ServerHost) -> ServerTableApp:
    """Return a table that does not connect: what its server says is said by the test."""

    async def nothing() -> None:
        pass

    host.start = nothing  # type: ignore[method-assign]
    return ServerTableApp(host)


def hear(host: ServerHost, *lines: str) -> None:
    """Let the person log in, and the server say something after that."""
    reader = MessageReader(banner=True)
    host.session.handle(Connected(0.0))
    reader.receive_data(LOGIN + "".join(f"{line}\r\n" for line in (*ANSWERS, *lines)).encode("utf-8"))
    while (received := reader.next_message()) is not None:
        host.session.handle(MessageReceived(0.0, received.message))
    assert host.session.logged_in
    host.tell()


def row(name: str, rating: float, experience: int, *, playing: str = "-", ready: int = 1) -> str:
    """Return the line of a player."""
    return f"5 {name} {playing} - {ready} 0 {rating:.2f} {experience} 0 1 host client -"


@asynccontextmanager
async def beside_ben(sees: Refusals) -> AsyncIterator[tuple[ServerHost, ServerTableApp, Pilot[Any]]]:
    """Log in at a terminal as ann, on a server where ben is at another table."""
    async with Server(seed=4, limits=CHEAP) as server, at_table(login(server.port, "ben")) as ben:
        host = ServerHost(login(server.port, "ann"), sees)
        app = ServerTableApp(host)
        async with app.run_test() as pilot:
            await until(host, lambda: host.session.lobby.ready)
            yield ben, app, pilot


async def text_of(pilot: Pilot[Any]) -> str:
    return "\n".join(await screen_of(pilot))


async def play_by_keys(app: ServerTableApp, over: Callable[[], object]) -> None:
    """Play some turns by keys, then resign, until something is over."""
    count, keys = 0, {Action.MOVE: "enter", Action.TAKE: "t", Action.ACCEPT: "y"}
    async with asyncio.timeout(SOON):
        while not over():
            actions = app.model.actions if app.model else ()
            if Action.ROLL in actions and (count := count + 1) > 4:
                app.press("r")
                app.press("3")
            elif actions:
                app.press(next((key for action, key in keys.items() if action in actions), "space"))
            await asyncio.sleep(0 if actions else 0.005)


@pytest.mark.slow
async def test_a_match_is_agreed_on_in_the_lobby_and_played_by_keys() -> None:
    sees = Refusals()
    async with beside_ben(sees) as (ben, app, pilot):
        host = app.host
        await until(host, lambda: len(ready_players(host)) == 2)
        await pilot.press("i", "backspace", "1", "enter")
        await until(ben, lambda: "ann" in ben.session.lobby.invitations)
        assert ben.session.lobby.invitations["ann"].length == 1
        assert "waiting for ben" in await text_of(pilot)
        ben.request("tell", {"name": "ann", "text": "with pleasure"})
        ben.request("join", {"name": "ann"})
        await until(host, lambda: is_playing(host))
        shown = await text_of(pilot)
        assert app.at_board
        assert "ben: with" in shown
        await pilot.press("m", *"hello", "enter", "m", "tab", *"all", "enter")
        await until(ben, lambda: [line.text for line in ben.session.lobby.lines][-2:] == ["hello", "all"])
        assert [line.kind.value for line in ben.session.lobby.lines][-2:] == ["tell", "kibitz"]
        other = asyncio.create_task(play_on(ben, Random(1), lambda: False))
        await play_by_keys(app, lambda: match_of(host).match_over and not host.session.playing)
        other.cancel()
        assert "[n] play again" in await text_of(pilot)
        await pilot.press("escape")
        assert "► ben" in await text_of(pilot)
        await pilot.press("q")
    assert app.return_code == 0
    assert sees.messages == []


@pytest.mark.slow
async def test_an_invitation_is_accepted_by_clicks_and_the_match_is_left_and_resumed() -> None:
    sees = Refusals()
    async with beside_ben(sees) as (ben, app, pilot):
        host = app.host
        ben.request("invite", {"name": "ann", "length": 3, "game": "plakoto"})
        await until(host, lambda: host.session.lobby.invitations)
        assert "ben invites you to a 3-point match of plakoto." in await text_of(pilot)
        await pilot.click("#list", offset=(5, 1))
        await until(host, lambda: is_playing(host))
        await pilot.pause()
        assert app.at_board
        await pilot.press("e", "y")
        await until(host, lambda: not host.session.playing)
        await pilot.press("escape")
        assert "ben: saved 3-point match" in await text_of(pilot)
        await pilot.press("home", "enter")
        await until(ben, lambda: "ann" in ben.session.lobby.invitations)
        ben.request("join", {"name": "ann"})
        await until(host, lambda: is_playing(host))
        await pilot.pause()
        await pilot.press("e", "y")
        await until(host, lambda: not host.session.playing)
        ben.request("invite", {"name": "ann", "length": None})
        await until(host, lambda: host.session.lobby.invitations)
        assert app.at_board
        shown = await text_of(pilot)
        assert "ben invites you" in shown
        assert "[j]oin ben" in shown
        await pilot.press("j")
        await until(host, lambda: is_playing(host))
    assert sees.messages == []


async def test_players_are_searched_and_sorted_and_what_can_be_done_follows_from_what_they_do() -> None:
    host = ServerHost(login(1, "marvin"))
    app = offline_app(host)
    async with app.run_test() as pilot:
        hear(host, row("cat", 1700, 5), row("ben", 1600, 90), row("dan", 1900, 1, playing="eva"), row("eva", 1, 2))

        def names() -> list[str]:
            return [one.name for one in app.lobby.list.rows]

        assert names() == ["cat", "ben", "eva", "dan"]
        await pilot.press("o")
        assert names() == ["ben", "cat", "eva", "dan"]
        await pilot.press("end")
        assert "[w]atch" in await text_of(pilot)
        await pilot.press("/", "a")
        assert names() == ["cat", "eva", "dan"]
        await pilot.press("escape")
        assert len(names()) == 4
        await pilot.press("p", "p")
        assert names() == ["dan"]
        await pilot.press("/", "x", "enter")
        assert names() == []


async def test_a_lost_connection_is_said_and_that_it_is_back() -> None:
    host = ServerHost(login(1, "marvin"))
    app = offline_app(host)
    async with app.run_test() as pilot:
        hear(host)
        host.session.handle(ConnectionLost(1.0, "connection reset"))
        host.tell()
        shown = await text_of(pilot)
        assert "* The connection is lost: connection reset." in shown
        assert "marvin: not connected: connection reset" in shown
        await pilot.press("i", "m")
        hear(host)
        assert "* You are connected again." in await text_of(pilot)


@pytest.mark.slow
async def test_hostile_words_are_text_and_no_input_ends_in_an_exception() -> None:
    """Lobby and board show only characters of one column that no terminal obeys, whatever is pressed."""
    host, random = hostile_host(), Random(1)
    app = offline_app(host)
    async with app.run_test(size=(90, 30)) as pilot:
        for step in range(120):
            key = random.choice(KEYS)
            if app.screen.focused is None and step % 20:
                (app.lobby if app.screen is app.lobby else app).press(key)
                await asyncio.sleep(0)
            else:
                await pilot.press(random.choice(("escape", "enter", "x")))
            if step % 30 == 0:
                lines = await screen_of(pilot)
                assert lines == list(map(plain, lines))
        assert app.is_running


async def test_tabs_are_chosen_by_a_click_and_keep_what_people_say_apart() -> None:
    host = ServerHost(login(1, "marvin"))
    app = offline_app(host)
    async with app.run_test() as pilot:
        hear(host, "12 ben a tell", "13 ben a shout", "15 ben a kibitz", "14 ben a whisper")
        for name, said in (("tells", "a tell"), ("match", "a kibitz a whisper"), ("shouts", "a shout")):
            columns = app.lobby._tab_columns()[name]
            await pilot.click("#tabs", offset=(columns.start, 0))
            text = await text_of(pilot)
            assert [word for word in WORDS if word in text] == [word for word in WORDS if word in said]
