"""A person's table on the embedded server: whole matches, lost connections, and what is left to the table."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from pathlib import Path
from random import Random, choices
from string import ascii_lowercase
from typing import Final

import pytest
from attrs import evolve

from fibsbot.bot.runner import Runner
from fibsbot.client.settings import ServerSettings
from fibsbot.games import GAMES
from fibsbot.replay.captures import read_captures
from fibsbot.replay.events import DifferenceFound, MatchEnded
from fibsbot.replay.transcriber import events_of_capture
from fibsbot.server.server import Server
from fibsbot.strategies.loader import load
from fibsbot.table.model import Action, Preference
from fibsbot.table.server_host import ServerHost
from tests.bot.live_bots import CHEAP, settings
from tests.bot.proxy import Chunk, Cut, Proxy
from tests.marks import all_but, some_thorough
from tests.server.tcp_clients import Raw, register
from tests.table.people import Refusals, at_table, begin_match, login, match_of, play_on, press, ready_players, until

SERVER: Final = os.environ.get("FIBSBOT_SERVER", "")


def has_spoken(host: ServerHost) -> bool:
    """Whether the server has passed on what the person has said."""
    return any(line.own for line in host.session.lobby.lines)


async def play_both(ann: ServerHost, ben: ServerHost, seed: int = 1) -> None:
    """Play at random until the match is over for both."""

    def over() -> bool:
        return match_of(ann).match_over and match_of(ben).match_over

    await asyncio.gather(play_on(ann, Random(seed), over), play_on(ben, Random(-seed), over))


@pytest.mark.parametrize(
    "game", some_thorough(["backgammon", *sorted(GAMES)], all_but("backgammon", "acey-deucey", "gioul"))
)
async def test_two_people_play_a_match_and_nothing_is_refused(game: str) -> None:
    ann_sees, ben_sees = Refusals(), Refusals()
    async with (
        Server(seed=4, limits=CHEAP) as server,
        at_table(login(server.port, "ann"), ann_sees) as ann,
        at_table(login(server.port, "ben"), ben_sees) as ben,
    ):
        await begin_match(ann, ben, game, 2)
        await play_both(ann, ben)
        assert match_of(ann).state.scores == match_of(ben).state.scores[::-1]
        assert not ann.session.playing
    assert (ann_sees.messages, ben_sees.messages) == ([], [])
    assert len(ann_sees.named("match_ended")) == len(ben_sees.named("match_ended")) == 1
    assert ann_sees.named("difference") == ben_sees.named("difference") == []


@pytest.mark.slow
async def test_what_is_left_to_the_table_is_sent_once() -> None:
    """Automatic rolls and forced plays follow each line at once: none of them is refused."""
    ann_sees = Refusals()
    async with (
        Server(seed=9, limits=CHEAP) as server,
        at_table(login(server.port, "ann"), ann_sees) as ann,
        at_table(login(server.port, "ben")) as ben,
    ):
        ann.session.preferences.update(Preference)
        for game in ("backgammon", "plakoto", "acey-deucey"):
            await begin_match(ann, ben, game, 1)
            await play_both(ann, ben)
    assert ann_sees.messages == []


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.thorough])])
async def test_random_inputs_never_send_what_the_server_refuses(count: int) -> None:
    """Half of the inputs are any action with any numbers, at any time."""
    random, ann_sees, ben_sees = Random(count), Refusals(), Refusals()
    async with (
        Server(seed=8, limits=CHEAP) as server,
        at_table(login(server.port, "ann"), ann_sees) as ann,
        at_table(login(server.port, "ben"), ben_sees) as ben,
    ):
        games = iter(["backgammon", "plakoto", "irish:binding", "acey-deucey", "nackgammon"] * count)
        for _ in range(count):
            if not ann.session.playing or not ben.session.playing:
                await until(ann, lambda: not ann.session.playing)
                await until(ben, lambda: not ben.session.playing)
                await begin_match(ann, ben, next(games), random.choice([0, 1, 3]))
            host = random.choice((ann, ben))
            if random.random() < 0.5:
                press(host, random)
            else:
                numbers = [random.randint(-1, 27) for _ in range(random.randrange(3))]
                host.act(random.choice(list(Action)), numbers)
            await asyncio.sleep(random.choice((0, 0, 0.001)))
        for host in (ann, ben):  # the answer to this comes after those to everything before
            host.request("shout", {"text": "that is all"})
            await until(host, partial(has_spoken, host))
    assert (ann_sees.messages, ben_sees.messages) == ([], [])


@pytest.mark.slow
async def test_a_match_against_a_bot_is_in_the_log_and_is_replayed(tmp_path: Path) -> None:
    sees, log = Refusals(), tmp_path / "ann.jsonl"
    async with Server(seed=2, limits=CHEAP) as server:
        bot = asyncio.create_task(Runner(settings(server.port, "robot"), load("pips")).run())
        async with at_table(login(server.port, "ann", log=log), sees) as ann:
            await until(ann, lambda: "robot" in ready_players(ann))
            assert ann.request("invite", {"name": "robot", "length": 3})
            await until(ann, lambda: ann.session.playing)
            await play_on(ann, Random(3), lambda: not ann.session.playing)
            assert match_of(ann).match_over
            scores = match_of(ann).state.scores
        await bot
    assert sees.messages == []
    found = list(events_of_capture(read_captures([log])))
    (ended,) = (event.transcript for event in found if isinstance(event, MatchEnded))
    assert ended.games[-1].scores == scores
    assert not [event for event in found if isinstance(event, DifferenceFound)]
    assert "secret_of_ann" not in log.read_text(encoding="utf-8")


@pytest.mark.parametrize("game", some_thorough(["backgammon", "tabula"], all_but("backgammon")))
async def test_a_lost_connection_comes_back_and_the_match_goes_on(game: str) -> None:
    cut = False

    def break_line(chunk: Chunk) -> bytes | Cut:
        nonlocal cut
        if not cut:
            return chunk.data
        cut = False
        return Cut(b"", reset=True)

    sees = Refusals()
    async with (
        Server(seed=6, limits=CHEAP) as server,
        Proxy(server.port, break_line) as proxy,
        at_table(login(proxy.port, "ann", ready=False), sees) as ann,
        at_table(login(server.port, "ben")) as ben,
    ):
        await begin_match(ann, ben, game, 3)
        playing = [asyncio.create_task(play_on(host, Random(5), lambda: False)) for host in (ann, ben)]
        await until(ann, lambda: match_of(ann).last.startswith("ann"))
        cut = True
        await until(ben, lambda: "ann" in ben.session.lobby.invitations)
        assert "as soon as ben is here" in match_of(ann).sentence
        assert ben.request("join", {"name": "ann"})
        await until(ann, lambda: ann.session.playing and not match_of(ann).ended)
        await until(ann, lambda: match_of(ann).match_over)
        for task in playing:
            task.cancel()
    assert len(sees.named("match_saved")) == 1
    assert len(sees.named("match_ended")) == 1
    assert any("You are back" in line.text for line in ann.session.lobby.lines)


async def test_a_wrong_password_ends_with_one_line_and_without_another_try() -> None:
    async with Server(limits=CHEAP) as server:
        await server.register("ann", "another_password")
        async with at_table(login(server.port, "ann", register=False)) as ann:
            await until(ann, ann.finished.is_set)
            assert ann.ended == "The server does not accept this name with this password."


async def test_another_login_takes_the_place_and_the_first_does_not_come_back() -> None:
    async with (
        Server(limits=CHEAP) as server,
        at_table(login(server.port, "ann")) as first,
        at_table(login(server.port, "ann", register=False)) as second,
    ):
        await until(first, first.finished.is_set)
        assert "elsewhere" in first.ended
        assert second.session.logged_in


@pytest.mark.skipif(not SERVER, reason="plays on a server of your own choice: set FIBSBOT_SERVER to its HOST:PORT")
async def test_two_people_on_a_server_of_your_own_choice() -> None:
    host, _, port = SERVER.rpartition(":")
    names = [f"{stem}_{''.join(choices(ascii_lowercase, k=6))}" for stem in ("ann", "ben")]
    asked = [evolve(login(int(port), name), server=ServerSettings(host, int(port))) for name in names]
    async with at_table(asked[0]) as ann, at_table(asked[1]) as ben:
        await begin_match(ann, ben, "backgammon", 1)
        await play_both(ann, ben)
        assert match_of(ann).state.scores == match_of(ben).state.scores[::-1]


@pytest.mark.slow
async def test_a_match_is_watched_from_its_board_to_its_end_and_nothing_can_be_done() -> None:
    async with (
        Server(seed=7, limits=CHEAP) as server,
        at_table(login(server.port, "ann")) as ann,
        at_table(login(server.port, "ben")) as ben,
        at_table(login(server.port, "cat")) as cat,
    ):
        await begin_match(ann, ben, "backgammon", 1)
        await until(cat, lambda: any(player["with"] == "ann" for player in cat.parts["lobby"]["players"].values()))
        cat.request("watch", {"name": "ben"})
        await until(cat, lambda: cat.model is not None)
        assert match_of(cat).names == ("ben", "ann")
        assert match_of(cat).actions == ()
        assert cat.parts["lobby"]["watching"] == "ben"
        assert not any(cat.act(action) for action in Action)
        await play_both(ann, ben)
        await until(cat, lambda: "won" in match_of(cat).sentence)
        assert cat.model is not None
        assert match_of(cat).actions == ()
        cat.request("unwatch", {})
        await until(cat, lambda: cat.watching is None)


async def test_a_chouette_is_watched() -> None:
    async with Server(seed=7, limits=CHEAP) as server, at_table(login(server.port, "ann")) as ann:
        await register(server.port, "bob", "cat", "dan")
        players = [await Raw.log_in(server.port, name) for name in ("bob", "cat", "dan")]
        await players[0].ask("chouette open", "chouette:")
        for player in players[1:]:
            await player.ask("chouette join bob", "chouette:")
        players[0].send("chouette start")
        await until(ann, lambda: any(player["state"] == "playing" for player in ann.parts["lobby"]["players"].values()))
        name = next(player["name"] for player in ann.parts["lobby"]["players"].values() if player["state"] == "playing")
        ann.request("watch", {"name": name})
        await until(ann, lambda: ann.model is not None)
        assert match_of(ann).names[0] == name
        assert match_of(ann).actions == ()
