"""Bots play a chouette over TCP on the embedded server: invited, killed in the middle, back in their seats."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import accumulate
from pathlib import Path

import pytest
from attrs import define, field

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.messages import Message
from fibsbot.bot.agent import Agent
from fibsbot.bot.events_and_actions import End, Record
from fibsbot.chouette.demo import ChouettePlayer
from fibsbot.chouette.table import all_tables
from fibsbot.policy import Policy
from fibsbot.records.session_log import utc_now
from fibsbot.records.store import Store, StoreWriter
from fibsbot.records.store.maintenance import check_integrity
from fibsbot.replay.comparison import ComparisonOptions
from fibsbot.replay.match_files import load_transcripts
from fibsbot.replay.match_recorder import MatchRecorder
from fibsbot.rules.state import Seat
from fibsbot.server.server import Server
from fibsbot.strategies.heuristic.strategy import HeuristicStrategy
from fibsbot.strategies.pool import StrategyChain
from fibsbot.strategies.questions import LastResort
from fibsbot.transcript import Transcript
from tests.bot.live_bots import CHEAP, Counting, play_session, replayed, settings
from tests.patience import SOON
from tests.transcript.reconstruction_checks import comparable_entries

BOTS = ("marvin", "ford", "trillian")
POLICY = Policy(games=("chouette",))


@define(eq=False)
class Host(ChouettePlayer):
    """A player who opens a table, invites the bots, begins when all sit down, and leaves after some games."""

    guests: tuple[str, ...] = BOTS
    here: set[str] = field(factory=set)
    invited: set[str] = field(factory=set)

    async def _handle(self, message: Message, chain: StrategyChain) -> None:
        match message:
            case m.JoinNextGame() if self._asked_to_join + 1 >= self.games:
                self.send(c.Chouette("leave"))
                return
            case m.ResignOffer(winner="You"):
                self.send(c.Accept())
            case m.ChouetteNoSeat():
                self.finished = True
            case m.ChouetteNews(text) if " takes a seat: " in text:
                self.here.add(text.split()[0])
                if self.here >= set(self.guests):
                    self.send(c.Chouette("start"))
        await super()._handle(message, chain)


class Stored(Counting):
    """Has a store write what the run of an account does, as a process does."""

    def __init__(self, account: str, writer: StoreWriter, count: int = 0) -> None:
        """Set the event after this number of decisions."""
        super().__init__(count, "chouette_decision")
        self._recorder = MatchRecorder(account, "test", lambda *record: writer.put(account, *record))
        self._put = partial(writer.put, account)

    def on_record(self, record: Record, agent: Agent) -> None:
        """Store a record."""
        super().on_record(record, agent)
        self._put(record.name, record.fields, utc_now())
        self._recorder.on_record(record)

    def on_message(self, message: Message, agent: Agent) -> None:  # noqa: ARG002 - the interface
        """Record what the server says."""
        self._recorder.on_message(message)

    def on_sent(self, command: Command, agent: Agent) -> None:  # noqa: ARG002 - as above
        """Record what the bot sends."""
        self._recorder.on_sent(command)


def assert_stored_as_logged(store: Store, name: str, log: Path) -> None:
    """Assert that the store has the plays of the games in which a bot moved the checkers, as its log has them."""
    for match, logged in zip(store.matches(account=name), load_transcripts(log), strict=True):
        if logged.players[0].name != name:
            continue
        stored = store.transcript(match)
        if stored.games[0].whole:
            assert comparable_entries(logged) == comparable_entries(stored)
        else:  # killed in the middle: the others may have played on meanwhile, which is a gap in the log
            assert result_of(logged) == result_of(stored)


def result_of(transcript: Transcript) -> tuple[Seat, int] | None:
    """Return who has won the only game, and the points."""
    (game,) = transcript.games
    return (game.result.winner, game.result.points) if game.result else None


async def invite(host: Host, server: Server) -> None:
    """Invite each bot once it is there and ready for games."""
    await host.seated.wait()
    while host.invited < set(host.guests):
        for name in set(host.guests) - host.invited:
            user = server.world.users.get(name)
            if user is not None and user.ready and user.settings.games:
                host.invited.add(name)
                host.send(c.Chouette(f"invite {name}"))
        await asyncio.sleep(0.02)


@pytest.mark.slow
async def test_bots_play_a_chouette_to_which_they_are_invited_also_one_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    writer = StoreWriter(tmp_path / "store.db")
    watchers = {name: Stored(name, writer) for name in BOTS}
    killed = Stored("marvin", writer, 12)
    async with Server(seed=7, limits=CHEAP) as server, asyncio.timeout(SOON):
        await server.register("arthur", "pw-of-arthur")
        host = Host("arthur", "pw-of-arthur", HeuristicStrategy(), LastResort(), games=3)
        playing = [asyncio.create_task(host.run(server)), asyncio.create_task(invite(host, server))]
        accepts = {
            name: settings(server.port, name, tmp_path / "logs" / f"{name}.jsonl", policy=POLICY, matches=1)
            for name in BOTS
        }
        first = asyncio.create_task(play_session(accepts["marvin"], HeuristicStrategy(), observer=killed))
        others = [
            asyncio.create_task(play_session(accepts[name], HeuristicStrategy(), observer=watchers[name]))
            for name in BOTS[1:]
        ]
        await killed.reached.wait()
        first.cancel()
        await asyncio.wait([first])
        again = play_session(accepts["marvin"], HeuristicStrategy(), observer=watchers["marvin"])
        results = await asyncio.gather(again, *others)
        await asyncio.gather(*playing)
        assert [] == all_tables(server.world)
    for result in results:
        assert (End.FINISHED, 1, 0) == (result.end, result.counters.matches, result.counters.differences)
    assert [{"host": "arthur", "resumed": False}] == killed.named("chouette_joined")
    assert [{"host": "arthur", "resumed": False}] == watchers["marvin"].named("chouette_joined")
    assert watchers["marvin"].named("chouette_game")
    games = watchers["ford"].named("chouette_game")
    assert [1, 2, 3] == [game["game"] for game in games][:3]  # bots that have joined when the host leaves play on
    assert 1 < len({game["result"].split()[0] for game in games})
    for game in games:
        assert 0 == sum(game["ledger"].values())
    assert games[-1]["ledger"]["ford"] == sum(game["points"] for game in games)
    (left,) = watchers["ford"].named("chouette_left")
    assert (len(games), games[-1]["ledger"]["ford"]) == (left["games"], left["points"])
    assert {"roll", "move"} <= {decision["phase"] for decision in watchers["ford"].named("chouette_decision")}
    compared = ComparisonOptions("heuristic", "heuristic")
    for replay in replayed(tmp_path / "logs", compared):
        assert ("", 0, len(games)) == (replay.error, replay.counts.differences, replay.counts.matches)
        assert (0, 0) == (replay.totals.different, replay.totals.failed)
        assert replay.totals.compared
    assert writer.close()
    with Store.open(tmp_path / "store.db") as store:
        assert () == check_integrity(store).problems
        for name in BOTS:
            points = [own - theirs for own, theirs in (it.score or (0, 0) for it in store.matches(account=name))]
            assert [game["ledger"][name] for game in games] == list(accumulate(points))  # each game once
            assert_stored_as_logged(store, name, tmp_path / "logs" / f"{name}.jsonl")
