"""Connections that end: cut anywhere, silent, dropped repeatedly, restarted, or closed on request."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from fibsbot.bot.events_and_actions import End, FinishRequested, QuitRequested
from fibsbot.bot.login import _restart_delay
from fibsbot.bot.runner import Runner, SessionResult
from fibsbot.bot.settings import RunSettings, Timings
from fibsbot.client.settings import BackoffSettings, ServerSettings
from fibsbot.server.server import Server
from fibsbot.strategies.questions import LastResort
from fibsbot.strategies.random_play import RandomStrategy
from tests.bot.agent_script import AFTER_61, ME, OWN_INFO, Script, board
from tests.bot.live_bots import CHEAP, QUICK, Counting, Watcher, settings
from tests.bot.proxy import Chunk, Meddle, Proxy, cutting, unharmed
from tests.client.certificates import NO_OPENSSL, certificate, server_context
from tests.client.talking_server import listening
from tests.patience import SOON

pytestmark = pytest.mark.slow

NOTICE = "***\x07 ATTENTION ! FIBS will restart in 60 seconds"


def runner(port: int, watcher: Watcher, pauses: BackoffSettings, **fields: Any) -> Runner:
    """Return the runner of a bot that already has an account."""
    run = settings(port, ME, register=False, retry_first=True, matches=None, **fields)
    return Runner(evolve(run, backoff=pauses), LastResort(), observer=watcher)


async def until(condition: Callable[[], object], seconds: float = SOON) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - there is no event for arbitrary conditions
            await asyncio.sleep(0.01)


async def stop(runner: Runner, running: asyncio.Task[SessionResult]) -> SessionResult:
    """Stop a run."""
    runner.quit()
    async with asyncio.timeout(SOON):
        return await running


async def let_in(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Accept any login."""
    writer.write(b"login: ")
    await reader.readline()
    writer.write(f"1 {ME} 1 h\r\n{OWN_INFO}\r\n".encode())
    await writer.drain()


# -- servers that are silent, drop us or shut down ------------------------------------------------------------------


async def test_a_silent_connection_is_closed_and_opened_again() -> None:
    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await let_in(reader, writer)
        await reader.read()

    watcher = Watcher()
    timings = evolve(QUICK, silence=0.2, watchdog=60, keep_alive=60)
    async with listening(mute) as port:
        bot = runner(port, watcher, BackoffSettings(first=0.01, longest=0.02), timings=timings)
        running = asyncio.create_task(bot.run())
        await until(lambda: len(watcher.named("connection_lost")) >= 3)
        await stop(bot, running)
    reasons = {lost["reason"] for lost in watcher.named("connection_lost")[:-1]}
    assert {"nothing came for 0.2 seconds"} == reasons
    assert 3 <= len(watcher.named("logged_in"))


async def test_a_connection_without_answers_is_closed_too() -> None:
    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await let_in(reader, writer)
        writer.write(b"ford has joined you. Your running match was loaded.\r\n")
        while not reader.at_eof():
            writer.write(b"13 zaphod Does anybody play?\r\n")
            await writer.drain()
            await asyncio.sleep(0.02)

    watcher = Watcher()
    async with listening(babble) as port:
        bot = runner(port, watcher, BackoffSettings(first=0.01, longest=0.02), timings=evolve(QUICK, watchdog=0.05))
        running = asyncio.create_task(bot.run())
        await until(lambda: watcher.named("reconnecting"))
        await stop(bot, running)
    assert "the server does not show the board" == watcher.named("disconnecting")[0]["reason"]


async def test_pauses_grow_when_connections_drop_right_after_the_login() -> None:
    watcher = Watcher()
    async with listening(let_in) as port:
        bot = runner(port, watcher, BackoffSettings(first=0.01, longest=0.2, jitter=0))
        running = asyncio.create_task(bot.run())
        await until(lambda: len(watcher.named("reconnecting")) >= 7)
        await stop(bot, running)
    pauses = [fields["pause"] for fields in watcher.named("reconnecting")]
    assert [0.01, 0.02, 0.04, 0.08, 0.16, 0.2, 0.2] == pauses[:7]


async def test_reconnecting_waits_longer_after_a_shutdown() -> None:
    watcher = Watcher()
    async with Server(limits=CHEAP) as server:
        await server.register(ME, f"pw-of-{ME}")
        bot = runner(server.port, watcher, BackoffSettings(first=0.01, longest=50, restart=40, jitter=0))
        running = asyncio.create_task(bot.run())
        await until(lambda: watcher.named("logged_in"))
    await until(lambda: watcher.named("reconnecting"))
    assert [40] == [fields["pause"] for fields in watcher.named("reconnecting")]
    assert End.FINISHED is (await stop(bot, running)).end


@pytest.mark.skipif(NO_OPENSSL, reason="needs the program openssl to make certificates")
async def test_a_match_is_played_through_tls(tmp_path: Path) -> None:
    ours = certificate(tmp_path, "127.0.0.1")
    async with Server(seed=3, limits=CHEAP) as server, Proxy(server.port, unharmed, server_context(ours)) as secure:
        marvin = settings(secure.port, ME)
        marvin = evolve(marvin, server=evolve(marvin.server, tls=True, tls_ca=ours))
        ford = settings(server.port, "ford", invite=ME)
        async with asyncio.timeout(SOON):
            results = await asyncio.gather(*(Runner(run, LastResort()).run() for run in (marvin, ford)))
    assert [(End.FINISHED, 1, 0)] * 2 == [(it.end, it.counters.matches, it.counters.refusals) for it in results]


# -- cut anywhere ---------------------------------------------------------------------------------------------------


async def play_through(meddle: Meddle, watcher: Watcher, seed: int) -> tuple[SessionResult, SessionResult]:
    """Play a match between two bots, one of them through a proxy."""
    async with Server(seed=seed, limits=CHEAP) as server, Proxy(server.port, meddle) as between:
        for name in (ME, "ford"):
            await server.register(name, f"pw-of-{name}")
        timings = evolve(QUICK, left=0.3)
        marvin = settings(between.port, ME, register=False, retry_first=True, strict=False, timings=timings)
        ford = settings(server.port, "ford", register=False, invite=ME, strict=False, timings=timings)
        bots = Runner(marvin, RandomStrategy(seed), observer=watcher), Runner(ford, RandomStrategy(seed + 1))
        async with asyncio.timeout(SOON):
            first, second = await asyncio.gather(*(bot.run() for bot in bots))
            return first, second


async def length_of_opening(seed: int) -> int:
    """Return the number of bytes that a bot receives until it has made a few plays."""
    received, plays = 0, 0

    def count(chunk: Chunk) -> bytes:
        nonlocal received, plays
        plays += not chunk.down and chunk.data.startswith(b"move")
        received += len(chunk.data) * (chunk.down and plays < 4)
        return chunk.data

    await play_through(count, Watcher(), seed)
    return received


async def test_a_match_is_finished_wherever_the_login_or_the_opening_is_cut() -> None:
    seed = 0  # a short match
    length, rng = await length_of_opening(seed), random.Random(2)
    places = sorted(rng.sample(range(length), 4))
    for number, place in enumerate(places):
        watcher = Watcher()
        results = await play_through(cutting(0, place, reset=number % 2 == 0), watcher, seed)
        for result in results:
            assert (End.FINISHED, 1) == (result.end, result.counters.matches), place
        illegal = [refused for refused in watcher.named("refused") if refused["command"] in {"roll", "move", "double"}]
        assert [] == illegal, place
        assert 2 == results[0].counters.connections, place


async def test_a_match_is_finished_despite_repeated_cuts() -> None:
    def meddle(chunk: Chunk) -> bytes:
        return chunk.data

    rng = random.Random(6)
    cuts = [cutting(number, rng.randrange(1000, 6000), reset=number % 2 == 0) for number in range(6)]
    watcher = Watcher()

    def all_cuts(chunk: Chunk) -> Any:
        return cuts[chunk.connection](chunk) if chunk.connection < len(cuts) else meddle(chunk)

    marvin, ford = await play_through(all_cuts, watcher, seed=6)
    assert (1, 1) == (marvin.counters.matches, ford.counters.matches)
    assert 5 <= marvin.counters.connections
    score = [resumed["score"] for resumed in watcher.named("match_resumed")]
    assert sorted(score) == score, "no point is lost"


# -- notices of the server ------------------------------------------------------------------------------------------


def test_before_a_restart_a_bot_in_the_lobby_logs_out_at_once() -> None:
    script = Script().to_lobby()
    assert ["bye"] == script.server(NOTICE)
    script.server("                             Goodbye.")
    script.lose()
    assert [(None, True)] == [(hang_up.end, hang_up.restarting) for hang_up in script.hang_ups]


def test_before_a_restart_a_match_is_continued_but_none_is_started() -> None:
    script = Script().to_my_roll()
    assert [] == script.server(NOTICE)
    assert ["roll"] == script.roll()
    script.server("You roll 6 and 4.", board(cells=AFTER_61, dice="6:4"))
    assert [] == script.wait(35)
    script.server(NOTICE)
    assert ["bye"] == script.wait(1.1), "three watchdogs before"
    assert [True] == [hang_up.restarting for hang_up in (script.server("  Goodbye."), script.hang_ups)[1]]


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [
        ("60 seconds", 60),
        ("1 second", 1),
        ("5 minutes", 300),
        ("1 hour", 3600),
        ("a moment", 60),
        ("", 60),
        ("9e9", 60),
    ],
)
def test_the_delay_of_a_restart_is_read_from_its_notice(delay: str, seconds: float) -> None:
    assert seconds == _restart_delay(delay)


def test_bye_is_sent_at_once_if_no_time_is_left() -> None:
    script = Script().to_my_move()
    assert ["bye"] == script.server("*** ATTENTION ! FIBS will shut down in 10 seconds")


def test_a_shutdown_leaves_the_match_to_the_server() -> None:
    script = Script().to_my_move()
    script.server("** System administrator causes shutdown. FIBS is terminating.")
    assert [(None, True)] == [(hang_up.end, hang_up.restarting) for hang_up in script.hang_ups]
    script.lose(by_server=True)
    assert ["ford"] == [saved["opponent"] for saved in script.events("match_saved")]
    script.connect()
    script.raw(b"login: ")
    script.server(f"1 {ME} 1 h", OWN_INFO, "  opponent          matchlength   score (your points first)")
    assert not script.agent.status.finishing


def test_an_unanswered_bye_before_a_restart_does_not_end_the_run() -> None:
    script = Script().to_lobby()
    script.server(NOTICE)
    script.wait(9)
    assert [(None, True)] == [(hang_up.end, hang_up.restarting) for hang_up in script.hang_ups]


# -- the operator ---------------------------------------------------------------------------------------------------


def test_an_unfinished_match_is_saved_by_the_server_after_the_time_limit() -> None:
    script = Script(strict=False, timings=Timings(pause=0, invitation=1, patience=600.0)).to_their_turn()
    script.finish()
    script.event(FinishRequested(script.now + 1000))
    said = []
    while script.now < 1000 + 3590:
        said += script.wait(10)
        script.server(board(turn=-1, other_dice="6:1"), "5 ford marvin - 1 0 1500.00 0 700 1 h - -", "6")
    assert "bye" not in said
    assert "bye" in script.wait(12)
    script.server("                             Goodbye.")
    assert [End.FINISHED] == [hang_up.end for hang_up in script.hang_ups]


def test_quit_sends_bye_and_nothing_more() -> None:
    script = Script().to_my_move()
    assert ["bye"] == script.event(QuitRequested(script.now))
    assert [End.FINISHED] == [hang_up.end for hang_up in script.hang_ups]
    assert [] == script.first_play() + script.server("Please move 2 pieces.") + script.wait(100)


class Table:
    """Two bots in the middle of a match on a real server."""

    def __init__(self, server: Server, **fields: Any) -> None:
        """Start a long match."""
        self.watcher = Counting(12)
        marvin = settings(server.port, ME, **{"matches": None, "invite": "ford", "length": 9, **fields})
        ford = settings(server.port, "ford", matches=None)
        self.marvin = Runner(marvin, RandomStrategy(1), observer=self.watcher)
        self.ford = Runner(ford, RandomStrategy(2))
        self.running = [asyncio.create_task(bot.run()) for bot in (self.marvin, self.ford)]

    async def play(self) -> None:
        """Wait for a few decisions."""
        async with asyncio.timeout(SOON):
            await self.watcher.reached.wait()

    async def end(self) -> SessionResult:
        """Wait for marvin's end, then stop the other bot."""
        async with asyncio.timeout(SOON):
            result = await self.running[0]
        await stop(self.ford, self.running[1])
        return result


async def test_a_request_to_finish_plays_the_match_to_its_end_and_sends_bye() -> None:
    async with Server(seed=12, limits=CHEAP) as server:
        table = Table(server, length=1)
        await table.play()
        table.marvin.finish()
        result = await table.end()
    assert (End.FINISHED, "logged out", 1, 0) == (
        *(result.end, result.reason),
        *(result.counters.matches, result.counters.interruptions),
    )


def assert_saved(server: Server) -> None:
    """Assert that the match with ford can be resumed."""
    saved = server.world.database.match(ME, "ford")
    assert saved is not None
    assert not saved.over


async def test_a_request_to_finish_leaves_a_match_that_takes_too_long() -> None:
    async with Server(seed=12, limits=CHEAP) as server:
        table = Table(server, timings=evolve(QUICK, finish=0.2, pause=0.05))
        await table.play()
        table.marvin.finish()
        result = await table.end()
        assert_saved(server)
    assert (End.FINISHED, "logged out", 0) == (result.end, result.reason, result.counters.matches)


async def test_a_second_request_leaves_at_once_and_the_match_is_saved() -> None:
    async with Server(seed=12, limits=CHEAP) as server:
        table = Table(server, timings=evolve(QUICK, pause=0.05))
        await table.play()
        table.marvin.finish()
        table.marvin.quit()
        result = await table.end()
        assert_saved(server)
    assert (End.FINISHED, "told to quit", 0) == (result.end, result.reason, result.counters.matches)


async def test_quit_while_connecting_does_not_wait_for_the_connection() -> None:
    async def never() -> Any:
        await asyncio.Event().wait()

    run = RunSettings(ServerSettings("127.0.0.1", 1), settings(1, ME).agent, retry_first=True)
    bot = Runner(run, LastResort(), connect_to=never)
    running = asyncio.create_task(bot.run())
    await asyncio.sleep(0.05)
    assert End.FINISHED is (await stop(bot, running)).end
