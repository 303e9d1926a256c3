"""A process whose bot plays another game: store, status, metrics and the live page have it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from attrs import evolve

from fibs_protocol.commands import Command
from fibs_protocol.messages import TableBoard
from fibs_protocol.table_state import TableStage
from fibs_protocol.words import Colour
from fibsbot.bot.tracked_match import TrackedMatch, show_table
from fibsbot.games import GAMES, load_ruleset
from fibsbot.policy import Policy
from fibsbot.position import Play
from fibsbot.records.store import Store
from fibsbot.records.stored_rows import MatchOutcome
from fibsbot.replay.events import GameBegan, GameEnded, MatchBegan
from fibsbot.replay.transcriber import Transcriber
from fibsbot.rules.game import roll, start_match_of
from fibsbot.rules.state import Seat, Stage
from fibsbot.server.server import Server
from fibsbot.service.live.feed import AccountFeed, FeedPart, board_picture
from fibsbot.table.remote_match import FollowedMatch
from fibsbot.table_lines import table_state
from fibsbot.transcript import Game, Player, Transcript, walk
from fibsbot.transcript import decisions as step_decisions
from tests.bot.live_bots import CHEAP
from tests.chouette.test_chouette_replay import RESULT, START, heard
from tests.drawing.svg_checks import parsed
from tests.patience import SOON
from tests.replay.test_table_matches import session
from tests.service.accounts import opponent, plan, until
from tests.service.test_process import get, running, service


@pytest.mark.slow
async def test_a_match_of_another_game_is_played_stored_and_shown(tmp_path: Path) -> None:
    async with Server(seed=3, limits=CHEAP) as server, asyncio.timeout(SOON):
        it = service(tmp_path, plan(server.port, "marvin", policy=Policy(games=("any",)), matches=1))
        async with (
            running(it) as task,
            opponent(server.port, "ford", invite="marvin", invite_game="portes", length=1, matches=1),
        ):
            await until(lambda: it.status()["accounts"][0]["opponent"] == "ford")
            port = int(it.status()["web"].rpartition(":")[2])
            status, metrics = await get(port, "/metrics")
            assert (200, True) == (status, "fibsbot_" in metrics)
            assert 200 == (await get(port, "/healthz"))[0]
            await asyncio.wait([task])
    with Store.open(tmp_path / "store.db") as store:
        (match,) = store.matches(account="marvin")
        decisions = list(store.decisions(match))
        transcript = store.transcript(match)
    assert ("portes", 1, True) == (match.game, match.length, match.outcome in {MatchOutcome.WON, MatchOutcome.LOST})
    assert all(it.table_text and it.xgid is None for it in decisions if it.phase == "move")
    assert match.rating_before is None
    made = [it for game in transcript.games for step in walk(game) for it in step_decisions(step)]
    plays = [it.text for it in made if it.seat is Seat.A and isinstance(it.answer, Play) and it.answer.moves]
    assert [it.answer for it in decisions if it.phase == "move" and it.answer] == plays
    assert all(game.whole and game.result for game in transcript.games)
    assert transcript.rules == load_ruleset("portes")


def test_the_live_page_lists_a_draw_as_neither_won_nor_lost() -> None:
    feed = AccountFeed("marvin")
    start = start_match_of(load_ruleset("greek"), 3)
    match = Transcript((Player("marvin"), Player("ford")), 3, user=Seat.A)
    feed.on_match_event(MatchBegan(1, match, rules=start.rules))
    drawn = evolve(start, stage=Stage.OVER, drawn=True, reason="both are pinned")
    feed.on_match_event(GameEnded(1, Game(1, start), drawn))
    (game,) = json.loads(feed.part(FeedPart.GAMES))["games"]
    assert (None, "0-0") == (game["won"], game["score"])


def test_the_live_page_names_the_crawford_game_of_another_game() -> None:
    feed = AccountFeed("marvin")
    start = start_match_of(load_ruleset("nackgammon"), 3, (2, 0))
    match = Transcript((Player("marvin"), Player("ford")), 3, user=Seat.A)
    feed.on_match_event(MatchBegan(1, match, rules=start.rules))
    for crawford in (True, False):
        feed.on_match_event(GameBegan(1, Game(2, evolve(start, crawford=crawford))))
        assert crawford is json.loads(feed.part(FeedPart.MOVES))["crawford"]


def test_the_live_page_lists_the_games_of_a_chouette() -> None:
    feed = AccountFeed("carol")
    passed = "chouette: carol passes and loses 1 point to alice."
    for event in heard("carol", (*START, passed, *RESULT)):
        feed.on_match_event(event)
    moves = json.loads(feed.part(FeedPart.MOVES))
    assert (["bob", "alice"], "chouette of alice, game 3") == (moves["players"], moves["length"])
    (game,) = json.loads(feed.part(FeedPart.GAMES))["games"]
    assert (False, "0-1") == (game["won"], game["score"])


@pytest.mark.parametrize("game", GAMES)
def test_the_live_page_draws_the_board_of_every_game(game: str) -> None:
    rules = load_ruleset(game)
    state = roll(start_match_of(rules, 3, begins=Seat.A), Seat.A, (6, 5, 4)[: rules.dice])
    line = table_state(state, Seat.A, "You", "ford", Colour.O)
    track = show_table(TrackedMatch("marvin", opponent="ford", match=1), line)
    shown = board_picture(FollowedMatch("marvin", track), None)
    assert "marvin" in shown.title
    assert parsed(shown.svg) is not None


@pytest.mark.parametrize("game", ["hyper", "plakoto", "irish"])
def test_the_live_page_shows_the_last_play_on_the_board(game: str) -> None:
    feed, transcriber, track = AccountFeed("marvin"), Transcriber("marvin"), TrackedMatch("marvin")
    played, with_arrows = 0, 0
    for line in session(game)[0][:60]:
        for event in transcriber.send(line) if isinstance(line, Command) else transcriber.receive(line):
            feed.on_match_event(event)
        if isinstance(line, TableBoard):
            track = show_table(track, line.state)
            match = FollowedMatch("marvin", track)
            alone, shown = board_picture(match, None), board_picture(match, feed._last)
            played += line.state.stage is TableStage.ROLL
            with_arrows += alone.svg != shown.svg
    assert with_arrows > played / 2


def test_the_live_page_lists_the_actions_and_the_result() -> None:
    feed, transcriber = AccountFeed("marvin"), Transcriber("marvin")
    lines, state = session("hyper")
    for line in lines:
        events = transcriber.send(line) if isinstance(line, Command) else transcriber.receive(line)
        for event in events:
            feed.on_match_event(event)
    moves = json.loads(feed.part(FeedPart.MOVES))
    assert (["marvin", "ford"], "1 point of hyper", 1) == (moves["players"], moves["length"], moves["game"])
    assert len(moves["moves"]) > 5
    games = json.loads(feed.part(FeedPart.GAMES))["games"]
    assert state.result is not None
    assert [state.result.winner is Seat.A] * 2 == [it["won"] for it in games]
