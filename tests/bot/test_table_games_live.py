"""Two bots play another game over TCP on the embedded server: invited, killed in the middle, resumed, replayed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fibsbot.bot.events_and_actions import End
from fibsbot.policy import Policy
from fibsbot.server.server import Server
from fibsbot.strategies.questions import LastResort
from tests.bot.live_bots import CHEAP, Counting, Watcher, play_session, replayed, settings
from tests.patience import SOON

ANY = Policy(games=("any",))


@pytest.mark.slow
async def test_a_killed_bot_resumes_a_match_of_the_game_that_it_accepted(tmp_path: Path) -> None:
    marvin, ford = Counting(5), Watcher()
    async with Server(seed=5, limits=CHEAP) as server, asyncio.timeout(SOON):
        invites: dict[str, Any] = {"invite": "marvin", "invite_game": "portes", "length": 1}
        inviter = asyncio.create_task(
            play_session(settings(server.port, "ford", tmp_path / "ford.jsonl", **invites), LastResort(), observer=ford)
        )
        accepts = settings(server.port, "marvin", tmp_path / "marvin.jsonl", policy=ANY)
        first = asyncio.create_task(play_session(accepts, LastResort(), observer=marvin))
        await marvin.reached.wait()
        first.cancel()
        await asyncio.wait([first])
        again = Watcher()
        results = await asyncio.gather(inviter, play_session(accepts, LastResort(), observer=again))
    for result in results:
        assert (End.FINISHED, 1, 0) == (result.end, result.counters.matches, result.counters.differences)
    assert "portes" == marvin.named("match_started")[0]["game"]
    assert [["ford"]] == [it["opponents"] for it in again.named("saved_matches")]
    assert ["portes"] == [it["game"] for it in again.named("match_resumed")]
    for replay in replayed(tmp_path):
        assert ("", "", 0, 1) == (
            replay.error,
            replay.first_difference,
            replay.counts.differences,
            replay.counts.matches,
        )
