"""Real matches on a real server: both accounts remember all of them, whatever breaks off in between."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import evolve
from sqlalchemy import func, select

from fibsbot.bot.orders import Order
from fibsbot.match import MatchState
from fibsbot.records.store import Store, StoreWriter
from fibsbot.records.store.maintenance import check_integrity
from fibsbot.records.store.schema import ENTRIES
from fibsbot.replay.match_files import load_transcripts
from fibsbot.rules.state import Seat
from fibsbot.server.server import Server
from fibsbot.service.account import Hooks
from fibsbot.service.supervisor import Supervisor
from fibsbot.strategies.base import CubeAction, CubeAnswer
from fibsbot.strategies.random_play import RandomStrategy
from fibsbot.transcript import Cube, Gap, Resign, Throw, Transcript
from tests.bot.live_bots import CHEAP, QUICK
from tests.forked import Forked, start
from tests.patience import SOON
from tests.service.accounts import plan, supervisor, until
from tests.transcript.reconstruction_checks import assert_nothing_wrong, comparable_entries, from_other_seat

pytestmark = pytest.mark.slow

KILLS: Final = 2
PAUSE: Final = 0.03
"""Seconds between two looks into the store."""


class Lively(RandomStrategy):
    """Doubles and resigns now and then."""

    def offer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002 - the interface
        """Double."""
        return CubeAnswer(CubeAction.DOUBLE if self._happens(0.15) else CubeAction.ROLL, equity=0.25)

    def resign(self, state: MatchState) -> int:  # noqa: ARG002 - as above
        """Resign."""
        return int(self._happens(0.05))

    def accept_resignation(self, state: MatchState) -> bool:  # noqa: ARG002 - as above
        """Mostly play on."""
        return self._happens(0.3)


def players(port: int, writer: StoreWriter, *names: str, logs: Path | None = None, **fields: Any) -> Supervisor:
    """Return accounts that play for a match, of three points if nothing else is said; marvin invites ford."""
    fields = {"length": 3, "matches": 1, "resign": True, "resign_match": True, **fields}
    plans = [
        plan(
            port,
            name,
            invite="ford" if name == "marvin" else None,
            log_path=logs / f"{name}.jsonl" if logs else None,
            **fields,
        )
        for name in names
    ]
    seeds = itertools.count(1)
    return supervisor(*plans, strategies={"plain": lambda: Lively(next(seeds))}, hooks=Hooks(store_record=writer.put))


def over_or_has(tasks: Iterable[asyncio.Task[None]], store: Store, enough: int) -> bool:
    """Whether there are so many entries, or one of these has ended."""
    return any(task.done() for task in tasks) or has(store, enough)


async def play_with_breaks(url: str, sittings: Iterable[int], **fields: Any) -> None:
    """Play a match that marvin leaves whenever there are so many entries more, to come back as another process."""
    # Nobody plays so fast that the match ends before a look into the store, on a busy machine too.
    fields = {"strict": False, "timings": evolve(QUICK, think_least=0.01, think_most=0.02), **fields}
    async with Server(limits=CHEAP, seed=7) as server, asyncio.timeout(SOON):
        theirs = StoreWriter(url)
        ford = asyncio.create_task(players(server.port, theirs, "ford", **fields).run())
        for more in (*sittings, 10**9):
            ours = StoreWriter(url)
            marvin = players(server.port, ours, "marvin", **fields)
            playing = asyncio.create_task(marvin.run())
            with Store.open(url) as store:
                await until(partial(over_or_has, [playing, ford], store, entries(store) + more), 60, PAUSE)
            over = playing.done() or ford.done()
            marvin.order(Order.QUIT)
            await playing
            assert ours.close()
            if over:
                break
        await ford
        assert theirs.close()


def remembered(url: str, account: str) -> list[Transcript]:
    """Return all matches of an account."""
    with Store.open(url) as store:
        assert () == check_integrity(store).problems
        return [store.transcript(match) for match in store.matches(account=account)]


def entries(store: Store) -> int:
    """Return how many entries there are."""
    with store.reading() as connection:
        return connection.scalar(select(func.count()).select_from(ENTRIES)) or 0


def has(store: Store, enough: int) -> bool:
    """Whether there are so many entries."""
    return entries(store) >= enough


async def test_both_players_record_the_same_complete_matches(tmp_path: Path) -> None:
    url = str(tmp_path / "store.sqlite")
    writer = StoreWriter(url)
    async with Server(limits=CHEAP, seed=4) as server, asyncio.timeout(SOON):
        await players(server.port, writer, "marvin", "ford", logs=tmp_path, matches=2).run()
    assert writer.close()
    assert not writer.lost
    ours, theirs = (remembered(url, name) for name in ("marvin", "ford"))
    assert 2 == len(ours)
    for one, other in zip(ours, theirs, strict=True):
        assert (Seat.A, Seat.A, ["marvin", "ford"]) == (one.user, other.user, [it.name for it in one.players])
        assert one.winner is not None
        assert one.scores == other.scores[::-1]
        assert all(game.whole for game in (*one.games, *other.games))
        assert comparable_entries(one) == comparable_entries(other, swap=True)
    kinds = Counter(type(entry) for match in ours for game in match.games for entry in game.entries)
    assert all(kinds[kind] for kind in (Throw, Cube, Resign)), "few things happened"
    logged = list(load_transcripts(tmp_path / "marvin.jsonl"))
    assert [comparable_entries(match) for match in ours] == [comparable_entries(match) for match in logged]
    doubles = [entry for it in ours for game in it.games for entry in game.entries if isinstance(entry, Cube)]
    assert any(entry.equity == 0.25 for entry in doubles if entry.seat is Seat.A)
    assert all(entry.seconds is not None for entry in doubles if entry.seat is Seat.A)


@pytest.mark.parametrize(("url", "every"), [("sqlite", 12), ("postgresql", 1)], indirect=["url"])
async def test_a_match_with_many_interruptions_is_recorded_correctly(url: str, every: int) -> None:
    """The opponent stays, and sees everything."""
    await play_with_breaks(url, [every] * 4, length=3)
    (ours,), (theirs,) = remembered(url, "marvin"), remembered(url, "ford")
    with Store.open(url) as store:
        assert next(store.matches(account="marvin")).resumed >= 1  # a busy machine misses some
    assert ours.scores == theirs.scores[::-1]
    assert all(game.whole for game in theirs.games)
    for one, other in zip(ours.games, theirs.games, strict=True):
        assert_nothing_wrong(from_other_seat(other), one)
    assert 2 >= sum(isinstance(entry, Gap) for game in ours.games for entry in game.entries)


async def test_kill_9_during_a_match_loses_only_what_cannot_be_rebuilt(tmp_path: Path) -> None:
    """The opponent sees everything; what the killed process remembers of it is right, and names what is missing.

    Its records wait in a file that is the same for both databases; test_processes.py kills writers on either.
    """
    url, truth = (str(tmp_path / f"{name}.sqlite") for name in ("store", "truth"))
    for place in (url, truth):
        StoreWriter(place).close()
    server, chance = Server(limits=CHEAP, seed=11), random.Random(2)
    async with server, asyncio.timeout(SOON), player(truth, server.port, "ford") as ford:
        for _ in range(KILLS):
            async with player(url, server.port, "marvin", "ford") as marvin:
                with Store.open(url) as store:
                    await until(partial(has, store, entries(store) + chance.randint(1, 12)), 60, PAUSE)
                assert marvin.returncode is None
        async with player(url, server.port, "marvin", "ford") as marvin:
            assert [0, 0] == [await it.wait() for it in (marvin, ford)]
    (ours,), (theirs,) = remembered(url, "marvin"), remembered(truth, "ford")
    assert ours.scores == theirs.scores[::-1]
    assert all(game.whole for game in theirs.games)
    for one, other in zip(ours.games, theirs.games, strict=True):
        assert_nothing_wrong(from_other_seat(other), one)
    gaps = sum(isinstance(entry, Gap) for game in ours.games for entry in game.entries)
    assert gaps <= KILLS, "at most one for each"


@contextlib.asynccontextmanager
async def player(*arguments: object) -> AsyncIterator[Forked]:
    """Start a player in a process of its own, and kill it in the end."""
    process = start("tests.records.store.playing_process", *arguments)
    try:
        yield process
    finally:
        process.kill()
        await process.wait()
