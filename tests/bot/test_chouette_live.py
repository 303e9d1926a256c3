"""Bots play a chouette over TCP on the embedded server: invited, killed in the middle, back in their seats."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from attrs import define, field

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibsbot.arena.chouette_player import ChouettePlayer
from fibsbot.bot.events_and_actions import End
from fibsbot.policy import Policy
from fibsbot.replay.comparison import ComparisonOptions
from fibsbot.server.server import Server
from fibsbot.strategies.heuristic.strategy import HeuristicStrategy
from fibsbot.strategies.pool import StrategyChain
from fibsbot.strategies.questions import LastResort
from tests.bot.live_bots import CHEAP, Counting, Watcher, play_session, replayed, settings

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
    watchers = {name: Watcher() for name in BOTS}
    killed = Counting(12, "chouette_decision")
    async with Server(seed=7, limits=CHEAP) as server, asyncio.timeout(60):
        await server.register("arthur", "pw-of-arthur")
        host = Host("arthur", "pw-of-arthur", HeuristicStrategy(), LastResort(), games=4)
        playing = [asyncio.create_task(host.run(server)), asyncio.create_task(invite(host, server))]
        accepts = {
            name: settings(server.port, name, tmp_path / f"{name}.jsonl", policy=POLICY, matches=1) for name in BOTS
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
        assert [] == server.world.tables
    for result in results:
        assert (End.FINISHED, 1, 0) == (result.end, result.counters.matches, result.counters.differences)
    assert [{"host": "arthur", "resumed": False}] == killed.named("chouette_joined")
    assert [{"host": "arthur", "resumed": False}] == watchers["marvin"].named("chouette_joined")
    assert watchers["marvin"].named("chouette_game")
    games = watchers["ford"].named("chouette_game")
    assert [1, 2, 3, 4] == [game["game"] for game in games][:4]  # bots that have joined when the host leaves play on
    assert 1 < len({game["result"].split()[0] for game in games})
    for game in games:
        assert 0 == sum(game["ledger"].values())
    assert games[-1]["ledger"]["ford"] == sum(game["points"] for game in games)
    (left,) = watchers["ford"].named("chouette_left")
    assert (len(games), games[-1]["ledger"]["ford"]) == (left["games"], left["points"])
    assert {"roll", "move"} <= {decision["phase"] for decision in watchers["ford"].named("chouette_decision")}
    compared = ComparisonOptions("heuristic").with_evaluator()
    for replay in replayed(tmp_path, compared):
        assert ("", 0, len(games)) == (replay.error, replay.counts.differences, replay.counts.matches)
        assert (0, 0) == (replay.totals.different, replay.totals.failed)
        assert replay.totals.compared
