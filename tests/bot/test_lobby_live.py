"""The bot on the embedded server over TCP, against an opponent who breaks off matches and is refused by the policy."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from attrs import evolve

from fibsbot.bot.agent import Agent
from fibsbot.bot.events_and_actions import Record
from fibsbot.bot.runner import Runner
from fibsbot.bot.settings import ChatSettings, SeekSettings, Timings
from fibsbot.policy import Lengths, Policy
from fibsbot.server.server import Server
from fibsbot.strategies.questions import LastResort
from tests.bot.live_bots import CHEAP, QUICK, Watcher, settings
from tests.patience import SOON
from tests.server.tcp_clients import PASSWORD, Raw

pytestmark = pytest.mark.slow

HINT = "Type 'join marvin' to accept."


class Alert(Watcher):
    """Waits for records."""

    def __init__(self) -> None:
        """Start without records."""
        super().__init__()
        self._news = asyncio.Event()

    def on_record(self, record: Record, agent: Agent) -> None:
        """Store a record and wake the waiting test."""
        super().on_record(record, agent)
        self._news.set()

    async def until(self, name: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait for records of this name; return their fields."""
        async with asyncio.timeout(SOON):
            while len(found := self.named(name)) < count:
                self._news.clear()
                await self._news.wait()
        return found


@contextlib.asynccontextmanager
async def at_the_server(**fields: Any) -> AsyncIterator[tuple[Raw, Alert, Server]]:
    """Run a server with the bot marvin, and log in ford as a raw client."""
    fields = {"matches": None, "chat": ChatSettings(greet=False, answer=False), **fields}
    watcher = Alert()
    async with Server(seed=21, limits=CHEAP) as server:
        for name in ("ford", "zaphod"):
            await server.register(name, PASSWORD)
        runner = Runner(settings(server.port, "marvin", **fields), LastResort(), observer=watcher)
        running = asyncio.create_task(runner.run())
        await watcher.until("logged_in")
        ford = await by_hand(server, "ford")
        try:
            yield ford, watcher, server
        finally:
            running.cancel()
            await asyncio.wait({running})
            await ford.close()


async def by_hand(server: Server, name: str) -> Raw:
    """Log in a raw client who is ready to play."""
    raw = await Raw.log_in(server.port, name)
    await raw.ask("toggle ready", "You're now ready")
    return raw


async def begin(ford: Raw, length: int = 3) -> None:
    """Start a match by an invitation."""
    await ford.ask(f"invite marvin {length}", f"has joined you for a {length} point match.")


async def goes_on(ford: Raw) -> None:
    """Accept the bot's invitation to resume."""
    await ford.until("marvin wants to resume a saved match with you.")
    await ford.until(HINT)
    await ford.ask("join marvin", "Your running match was loaded.")


async def test_an_opponent_who_leaves_gets_a_message_and_one_invitation() -> None:
    async with at_the_server(timings=evolve(QUICK, left=1.0, retry=0.2)) as (ford, watcher, _):
        await begin(ford)
        await ford.ask("leave", "You left our match; it is saved. I'll invite you once to resume it, in 1 second.")
        await goes_on(ford)
        await ford.ask("leave", "You terminated the game")
        await ford.until("marvin wants to resume a saved match with you.")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await ford.until("marvin wants to resume")
    assert [{"name": "ford", "length": None, "why": "resume"}] * 2 == watcher.named("inviting")
    assert ["left", "left"] == [saved["how"] for saved in watcher.named("match_saved")]


async def test_an_opponent_whose_connection_dropped_is_invited_after_logging_in() -> None:
    async with at_the_server() as (ford, watcher, server):
        await begin(ford)
        await ford.close()
        again = await by_hand(server, "ford")
        await goes_on(again)
        await again.close()
    assert "dropped connection" == watcher.named("match_saved")[0]["how"]


async def test_an_invitation_to_resume_is_answered_with_an_invitation() -> None:
    async with at_the_server(timings=evolve(QUICK, left=60.0)) as (ford, _, _):
        await begin(ford)
        await ford.ask("leave", "You terminated the game")
        ford.send("invite marvin")
        await goes_on(ford)


async def test_a_new_match_does_not_discard_the_saved_one() -> None:
    async with at_the_server(timings=evolve(QUICK, left=60.0)) as (ford, _, _):
        await begin(ford, 3)
        await ford.ask("leave", "You terminated the game")
        ford.send("invite marvin 1")
        await goes_on(ford)
        await ford.until("match length: 3")


async def test_a_refused_player_gets_the_reason() -> None:
    policy = Policy(lengths=Lengths(((1, 3),)), max_rating=1499, max_saved_games=0)
    async with at_the_server(policy=policy) as (ford, watcher, _):
        await ford.ask("invite marvin 5", "12 marvin I only play matches of 1 to 3 points.")
        ford.send("invite marvin 3")
        codes = [refused["codes"] for refused in await watcher.until("invitation_refused", 2)]
    assert [["length", "rating_high"], ["rating_high"]] == codes


async def test_saved_games_are_counted_by_the_server() -> None:
    async with at_the_server(policy=Policy(max_saved_games=0), timings=evolve(QUICK, left=60.0)) as (ford, _, server):
        zaphod = await by_hand(server, "zaphod")
        zaphod.send("invite ford 1")
        await ford.until("Type 'join zaphod' to accept.")
        await ford.ask("join zaphod", "You are now playing")
        await ford.ask("leave", "You terminated the game")
        said = "12 marvin You have 1 saved game, and I only play opponents with at most 0. Please finish some first."
        await ford.ask("invite marvin 1", said)
        await zaphod.close()


async def test_an_opponent_is_found_and_invited() -> None:
    seek = SeekSettings(after=0.2, length=3)
    async with at_the_server(seek=seek, timings=evolve(QUICK, retry=0.3)) as (ford, watcher, _):
        await ford.until("marvin wants to play a 3 point match with you.")
        await ford.until(HINT)
        await ford.ask("join marvin", "You are now playing a 3 point match with marvin")
    assert {"name": "ford", "length": 3, "why": "seek"} == watcher.named("inviting")[0]


async def test_a_player_who_refuses_is_not_invited_again() -> None:
    seek = SeekSettings(after=0.2, length=3)
    async with at_the_server(seek=seek, timings=evolve(QUICK, retry=0.3)) as (ford, watcher, _):
        await ford.until(HINT)
        await ford.ask("tell marvin not now", "16 marvin not now")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await ford.until("wants to play")
    assert [{"name": "ford", "text": "not now"}] == watcher.named("refused_by")


@pytest.mark.parametrize("count", [2, 3])
async def test_bots_resume_their_interrupted_matches(count: int) -> None:
    names = ["anna", "bert", "carl"][:count]
    timings = Timings(watchdog=1, keep_alive=10, pause=0, invitation=0.02, retry=0.5)
    async with Server(seed=22, limits=CHEAP) as server:
        for name in names:
            await server.register(name, PASSWORD)
        hands = {name: await by_hand(server, name) for name in names}
        pairs = [(one, other) for one in names for other in names if one < other]
        for one, other in pairs:
            hands[one].send(f"invite {other} 1")
            await hands[other].until(f"Type 'join {one}' to accept.")
            await hands[other].ask(f"join {one}", "You are now playing")
            await hands[one].until("has joined you")
            await hands[one].ask("leave", "You terminated the game")
            await hands[other].until("has left the game")
        for hand in hands.values():
            await hand.close()
        matches = count - 1
        fields: dict[str, Any] = {"timings": timings, "register": False, "password": PASSWORD, "matches": matches}
        async with asyncio.timeout(SOON):
            runs = [Runner(settings(server.port, name, **fields), LastResort()).run() for name in names]
            results = await asyncio.gather(*runs)
    assert [matches] * count == [result.counters.matches for result in results]
    assert [0] * count == [result.counters.interruptions for result in results]
