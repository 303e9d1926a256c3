"""Two bots play a match with a Crawford game over TCP; one of them is killed in that game, and resumes it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.table_state import TableState
from fibsbot.bot.agent import Agent
from fibsbot.bot.events_and_actions import End, Record
from fibsbot.match import MatchState
from fibsbot.policy import Policy
from fibsbot.replay.captures import ReceivedMessage, SentCommand, read_captures
from fibsbot.replay.events import GameBegan
from fibsbot.replay.transcriber import events_of_capture
from fibsbot.server.server import Server
from fibsbot.strategies.base import CubeAction, CubeAnswer
from fibsbot.strategies.simple_players import BlotPlayer
from fibsbot.table_lines import game_from_state
from tests.bot.live_bots import CHEAP, Watcher, play_session, replayed, settings
from tests.patience import SOON

SEED = 3
"""With it the first game makes it 2-0, the Crawford game does not end the match, and another one follows."""


class Doubler(BlotPlayer):
    """Doubles as soon as it is asked, once in a game, and takes."""

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Double if nobody has doubled yet."""
        return CubeAnswer(CubeAction.DOUBLE if state.cube == 1 else CubeAction.ROLL)


class InCrawford(Watcher):
    """Sets an event after a few decisions in a Crawford game."""

    def __init__(self) -> None:
        """Start without decisions."""
        super().__init__()
        self.reached = asyncio.Event()
        self.decisions = 0

    def on_record(self, record: Record, agent: Agent) -> None:
        """Count the decisions in a Crawford game."""
        super().on_record(record, agent)
        state = agent.tracked.state
        if record.name == "decision" and state is not None and state.crawford:
            self.decisions += 1
            if self.decisions == 5:
                self.reached.set()


def doubles(log: Path) -> list[bool]:
    """Return for each double that a log has sent whether it was in the Crawford game."""
    found: list[bool] = []
    last: TableState | None = None
    for it in read_captures([log]):
        if isinstance(it, ReceivedMessage):
            assert not isinstance(it.message, m.CrawfordForbids)
            last = it.message.state if isinstance(it.message, m.TableBoard) else last
        elif isinstance(it, SentCommand) and isinstance(it.command, c.Double):
            assert last is not None
            found.append(game_from_state(last).crawford)
    return found


def games(log: Path) -> list[tuple[tuple[int, int], bool]]:
    """Return the scores before each game that a replay lists, and whether it names it as the Crawford game."""
    events = events_of_capture(read_captures([log]))
    begun = {it.game.number: it.game.start for it in events if isinstance(it, GameBegan)}  # again when it is resumed
    return [(start.scores, start.crawford) for start in begun.values()]


@pytest.mark.slow
async def test_bots_never_double_in_the_crawford_game_not_even_after_a_resume(tmp_path: Path) -> None:
    marvin, again = InCrawford(), InCrawford()
    logs = tmp_path / "ford.jsonl", tmp_path / "marvin.jsonl"
    async with Server(seed=SEED, limits=CHEAP) as server, asyncio.timeout(SOON):
        invites: dict[str, Any] = {"invite": "marvin", "invite_game": "nackgammon", "length": 3}
        inviter = asyncio.create_task(play_session(settings(server.port, "ford", logs[0], **invites), Doubler()))
        accepts = settings(server.port, "marvin", logs[1], policy=Policy(games=("any",)))
        first = asyncio.create_task(play_session(accepts, Doubler(), observer=marvin))
        await marvin.reached.wait()
        first.cancel()
        await asyncio.wait([first])
        results = await asyncio.gather(inviter, play_session(accepts, Doubler(), observer=again))
    for result in results:
        assert (End.FINISHED, 1, 0) == (result.end, result.counters.matches, result.counters.differences)
    assert ["nackgammon"] == [it["game"] for it in again.named("match_resumed")]
    assert again.decisions > 0
    assert [((0, 0), False), ((2, 0), True), ((2, 1), False)] == games(logs[0])
    assert [[], [False, False]] == [doubles(log) for log in logs]  # nobody turns a dead cube
    for replay in replayed(tmp_path):
        assert ("", "", 0) == (replay.error, replay.first_difference, replay.counts.differences)
