"""The store of two bots after real matches agrees with their own counts, and with each other."""

from __future__ import annotations

import asyncio
import datetime as dt
from functools import partial
from pathlib import Path

import pytest
from attrs import evolve

from fibs_protocol.commands import Command
from fibs_protocol.messages import Message
from fibsbot.arena.soak import QUICK_TIMINGS, Entrant, play_pair
from fibsbot.bot.agent import Agent
from fibsbot.bot.events_and_actions import Record
from fibsbot.bot.runner import Observer, Runner
from fibsbot.records.store import Store, StoreWriter
from fibsbot.records.store.maintenance import check_integrity
from fibsbot.records.stored_rows import Fact, MatchOutcome
from fibsbot.replay.match_recorder import MatchRecorder
from fibsbot.server.server import Server
from fibsbot.strategies.loader import load
from fibsbot.strategies.questions import LastResort
from tests.bot.live_bots import CHEAP, settings
from tests.patience import SOON


class StoringObserver(Observer):
    """Puts an account's records and the entries of its games into a store, as the service does.

    `reached` is set when so many decisions were made.
    """

    def __init__(self, writer: StoreWriter, account: str, decisions: int = -1) -> None:
        self._writer, self._account, self._left = writer, account, decisions
        self._recorder = MatchRecorder(account, "", partial(writer.put, account))
        self.reached = asyncio.Event()

    def on_message(self, message: Message, agent: Agent) -> None:  # noqa: ARG002 - the interface
        """Record the entries that a message shows."""
        self._recorder.on_message(message)

    def on_sent(self, command: Command, agent: Agent) -> None:  # noqa: ARG002 - the interface
        """Record what a command of ours does."""
        self._recorder.on_sent(command)

    def on_record(self, record: Record, agent: Agent) -> None:  # noqa: ARG002 - the interface
        """Store a record."""
        self._writer.put(self._account, record.name, record.fields, dt.datetime.now(dt.UTC))
        self._recorder.on_record(record)
        self._left -= record.name == "decision"
        if self._left == 0:
            self.reached.set()


@pytest.mark.slow
async def test_two_bots_and_their_store_agree(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    writer = StoreWriter(path)
    async with Server(limits=CHEAP, seed=4) as server:
        one = Entrant("marvin", load("heuristic"), StoringObserver(writer, "marvin"))
        other = Entrant("ford", load("random"), StoringObserver(writer, "ford"))
        results = await play_pair(
            server, one, other, matches=2, length=1, timings=evolve(QUICK_TIMINGS, invitation=0.02)
        )
        assert writer.close()
    with Store.open(path) as store:
        assert () == check_integrity(store).problems
        for name, result in zip(("marvin", "ford"), results, strict=True):
            matches = list(store.matches(account=name))
            decisions = [decision for match in matches for decision in store.decisions(match)]
            games = [game for match in matches for game in store.games(match)]
            counted = result.counters
            assert (counted.matches, counted.wins, counted.games, counted.decisions) == (
                len(matches),
                sum(match.outcome is MatchOutcome.WON for match in matches),
                len(games),
                len(decisions),
            )
            assert all(decision.xgid and decision.seconds is not None for decision in decisions)
            assert all(game.cube and game.points and game.how for game in games)
        won, lost = (list(store.matches(account=name)) for name in ("marvin", "ford"))
        assert [match.won for match in won] == [not match.won for match in lost]
        assert [match.score for match in won] == [match.score[::-1] for match in lost if match.score]


@pytest.mark.slow
async def test_an_interrupted_and_resumed_match_is_a_single_match_in_the_store(tmp_path: Path) -> None:
    """Both bots leave at once, and come back as new processes would."""
    path = tmp_path / "store.sqlite"
    async with Server(limits=CHEAP, seed=7) as server:
        for leaves in (True, False):
            writer = StoreWriter(path)
            observers = [StoringObserver(writer, name, 15 if leaves else -1) for name in ("marvin", "ford")]
            invites = ("ford", None)
            runners = [
                Runner(settings(server.port, name, invite=invite, length=1), LastResort(), observer=observer)
                for name, invite, observer in zip(("marvin", "ford"), invites, observers, strict=True)
            ]
            async with asyncio.timeout(SOON):
                tasks = [asyncio.create_task(runner.run()) for runner in runners]
                if leaves:
                    await observers[0].reached.wait()
                    for runner in runners:
                        runner.quit()
                await asyncio.gather(*tasks)
            assert writer.close()
    with Store.open(path) as store:
        assert () == check_integrity(store).problems
        for name in ("marvin", "ford"):
            (match,) = store.matches(account=name)
            assert match.finished
            assert 1 == match.resumed
            assert {0, 1} == {decision.sitting for decision in store.decisions(match)}
            assert match.rating_before == 1500.0
            (opponent,) = store.opponents(account=name)
            assert (1, 1, 1) == tuple(opponent.times(it) for it in (Fact.STARTED, Fact.RESUMED, Fact.FINISHED))
