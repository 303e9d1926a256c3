"""The games of chouettes in the store: each is a match, with the points of the ledger."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fibsbot.cli import main
from fibsbot.games.state_json import state_to_json
from fibsbot.records.store import Store, StoreError
from fibsbot.records.store.maintenance import check_integrity
from fibsbot.records.stored_rows import CHOUETTE, MatchOutcome
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS
from tests.records.store.recorder import NOON, Teller


@pytest.fixture
def url(tmp_path: Path) -> str:
    return str(tmp_path / "store.sqlite")


def finish(bot: Teller, points: int, opponent: str = "ford") -> None:
    """Finish a game of two minutes."""
    bot.wait(120)
    ledger = {"marvin": points, opponent: -points}
    fields = {"host": "arthur", "game": 1, "opponent": opponent, "result": "somebody wins.", "ledger": ledger}
    bot.tell("chouette_game", points=points, seconds=120.0, **fields)


def test_each_game_is_a_match_with_the_points_that_it_brought(url: str) -> None:
    with Teller(url) as bot:
        for points, outcome, score in (
            (6, MatchOutcome.WON, (6, 0)),
            (-2, MatchOutcome.LOST, (0, 2)),
            (0, MatchOutcome.LOST, (0, 0)),
        ):
            finish(bot, points)
            match = bot.matches()[-1]
            assert (CHOUETTE, 0, outcome, score) == (match.game, match.length, match.outcome, match.score)
            assert match.ended == match.seen == match.started + dt.timedelta(seconds=120)
            (game,) = bot.games(match)
            assert (1, points > 0, abs(points), match.ended) == (game.number, game.won, game.points, game.ended)
        with Store.open(url) as store:
            assert check_integrity(store).problems == ()


def test_a_match_that_was_saved_is_resumed_after_a_chouette_with_the_same_player(url: str) -> None:
    with Teller(url) as bot:
        bot.start("ford", length=5)
        bot.save("ford")
        finish(bot, 1)
        bot.resume("ford", length=5)
        bot.decide()
        saved, chouette = bot.matches()
        assert (MatchOutcome.PLAYING, 5, 1) == (saved.outcome, saved.length, saved.resumed)
        assert MatchOutcome.WON is chouette.outcome
        with Store.open(url) as store:
            assert () == store.player_memories("marvin", NOON)["ford"].matches


def test_the_entries_of_a_game_are_those_of_the_last_chouette_with_this_opponent(url: str) -> None:
    sheet = {"opponent": "ford", "score": [0, 0], "site": "test", "chouette": True}
    sheet["state"] = state_to_json(start_match(FIBS, 0))
    with Teller(url) as bot:
        bot.tell("sheet", sheet="none", **sheet)  # of no game that is stored
        finish(bot, 6)
        bot.tell("sheet", sheet="s1", **sheet)
        bot.enter("throw", 1, dice=[3, 1], play="8/5 6/5")
        bot.tell("sheet", sheet="s2", **sheet)
        finish(bot, -1)
        with Store.open(url) as store:
            told, untold = bot.matches()
            transcript = store.transcript(told)
            with pytest.raises(StoreError, match="nothing is stored of match 2"):
                store.transcript(untold)
    assert ("marvin", "ford", "test") == (*(player.name for player in transcript.players), transcript.site)
    assert [1] == [len(game.entries) for game in transcript.games]
    assert "Game of a chouette" == transcript.tags["Event"]


def test_stats_add_up_the_points(url: str) -> None:
    with Teller(url) as bot:
        finish(bot, 6)
        finish(bot, -2)
        bot.start("ford", length=1)
        bot.end(length=1, score=(1, 0))
    run = CliRunner().invoke
    for words, matches in (([], 3), (["--game", "chouette"], 2)):
        text = run(main, ["stats", "--store", url, *words]).output
        assert "2 games at chouettes: 6 points won, 2 lost, +4 in the ledgers" in text
        (account,) = json.loads(run(main, ["stats", "--store", url, "--json", *words]).output)["accounts"]
        assert {"games": 2, "won": 6, "lost": 2, "balance": 4} == account["chouettes"]
        assert matches == account["total"]["matches"]
