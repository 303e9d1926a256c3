"""The store, statistics, the archive and the live page take matches of every game."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from click.testing import CliRunner

from fibsbot.archive.rows import MatchPlace, match_rows, step_of
from fibsbot.bot.events_and_actions import Record
from fibsbot.cli import main
from fibsbot.formats import Format
from fibsbot.formats.conversion import read_matches
from fibsbot.formats.transcript_json import write_json
from fibsbot.games import load_ruleset
from fibsbot.position import Position
from fibsbot.records.store import Store
from fibsbot.records.store.maintenance import check_integrity
from fibsbot.replay.events import EntryAdded, GameBegan, MatchBegan
from fibsbot.replay.match_files import events_of_transcript
from fibsbot.replay.match_recorder import MatchRecorder
from fibsbot.replay.terminal import _board, board_frames
from fibsbot.rules.state import Ending, Seat
from fibsbot.service.live.feed import AccountFeed, FeedPart
from fibsbot.transcript import Entry, Game, Player, Transcript, decisions, walk
from tests.marks import SAMPLE, is_no_quick_sample, is_no_sample, some_slow
from tests.records.store.recorder import Teller
from tests.test_every_game import BY_NETWORK, EVERY_GAME, SHOWN, shortened
from tests.transcript.played_matches import play_match

HOW = {Ending.BORNE_OFF: "game_won_by", Ending.DROPPED: "gave_up", Ending.OTHER: "game_won_by"}


def invoke(*arguments: str | Path) -> str:
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert 0 == done.exit_code, done.output
    return done.stdout


@cache
def match_of(game: str) -> Transcript:
    """Return a match of one game between marvin and ford, which is won or drawn.

    Of the games that are no sample only the end was seen: whole games take long.
    """
    whole = evolve(play_match(game, 1, 1, most=1), players=(Player("marvin"), Player("ford")), user=Seat.A)
    if not is_no_sample(game):
        return whole
    (played,) = whole.games
    *_, start = islice(walk(played), len(played.entries) - SHOWN + 1)
    return evolve(whole, games=(evolve(played, start=start.before, entries=played.entries[-SHOWN:]),))


def record(bot: Teller, match: Transcript) -> None:
    """Tell a store of a match, as the agent and the recorder of a service do."""
    recorder = MatchRecorder("marvin", "test", lambda name, fields, _: bot.tell(name, **fields))

    def tell(name: str, **fields: object) -> None:
        bot.tell(name, **fields)
        recorder.on_record(Record(name, fields))

    name = match.rules.full_name
    tell("match_started", opponent="ford", length=1, resumed=False, **({} if name == "backgammon" else {"game": name}))
    recorder.write(MatchBegan(1, match, rules=match.rules), bot.now)
    for game in match.games:
        tell("game_started", opponent="ford", game=game.number)
        recorder.write(GameBegan(1, Game(game.number, game.start)), bot.now)
        for step in walk(game):
            recorder.write(EntryAdded(1, step), bot.now)
        if game.result is None:
            tell("game_drawn", opponent="ford", reason="")
            continue
        winner, result = ("You", "ford")[game.result.winner], game.result
        ended = {"points": result.points, "how": HOW[result.how], "cube": step.after.cube, "score": step.after.scores}
        tell("game_ended", winner=winner, **ended)
    if match.winner is not None:
        tell("match_ended", opponent="ford", length=1, won=match.winner is Seat.A, score=match.scores)


def untimed(games: Sequence[Game]) -> list[list[Entry]]:
    return [[evolve(entry, at=None) for entry in game.entries] for game in games]


@pytest.mark.parametrize("game", some_slow(EVERY_GAME, is_no_quick_sample))
def test_a_store_keeps_the_match_and_its_tools_take_it(game: str, tmp_path: Path) -> None:
    match, url = match_of(game), str(tmp_path / "store.sqlite")
    with Teller(url) as bot:
        record(bot, match)
        kept = bot.transcript()
        assert not bot.writer.lost
    assert untimed(match.games) == untimed(kept.games)
    assert [(it.start, it.result) for it in match.games] == [(it.start, it.result) for it in kept.games]
    with Store.open(url) as store:
        assert () == check_integrity(store).problems
    (exported,) = read_matches(Format.JSON, invoke("export", "--store", url, "--format", "json"))
    assert kept.games == exported.games
    (account,) = json.loads(invoke("stats", "--store", url, "--json"))["accounts"]
    assert (account["total"]["matches"], account["open"]) == ((1, 0) if match.winner is not None else (0, 1))
    assert (game != "backgammon" and match.winner is not None) is ("games" in account and bool(account["games"]))


@pytest.mark.parametrize("game", some_slow(EVERY_GAME, is_no_quick_sample))
def test_rows_of_an_archive_have_every_decision(game: str) -> None:
    match = shortened(game)
    rows = match_rows(match, MatchPlace("a file", 1, "json"))
    made = [it for one in match.games for step in walk(one) for it in decisions(step)]
    assert [it.text for it in made] == [row.action for row in rows.decisions]
    for row, decision in zip(rows.decisions, made, strict=True):
        if isinstance(decision.state.board, Position):
            assert row.entry is None
        else:
            known = [(it.text, it.state) for it in decisions(step_of(row.entry or ""))]
            assert (decision.text, decision.state) in known
    swapped = evolve(match, players=match.players[::-1])
    assert rows.digest != match_rows(swapped, MatchPlace("a file", 1, "json")).digest
    assert rows.match[-1] == game


def archive_of(games: Sequence[str], folder: Path) -> Path:
    """Make an archive with the beginnings and ends of matches."""
    path = folder / "matches.json"
    path.write_text("".join(write_json(shortened(game)) for game in games), encoding="utf-8")
    invoke("archive", "add", path, "--archive", folder / "archive", "--jobs", "1")
    return folder / "archive"


def asked(sql: str, *archive: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in invoke("archive", "query", sql, "--json", *archive).splitlines()]


@pytest.mark.slow
@pytest.mark.compiles_games
def test_an_archive_takes_and_judges_matches_of_every_game(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="needs the extra `archive`")
    archive = ("--archive", archive_of(EVERY_GAME, tmp_path))
    names = json.loads(
        "[" + ",".join(invoke("archive", "query", "FROM matches", "--json", *archive).splitlines()) + "]"
    )
    assert sorted(EVERY_GAME) == sorted(it["ruleset"] for it in names)
    invoke("archive", "study", "--jobs", "1", *archive)
    figures = "ruleset, count(equity) AS judged, min(loss) AS least"
    judged = asked(f"SELECT {figures} FROM judgements JOIN matches USING (match) GROUP BY 1", *archive)
    assert sorted(EVERY_GAME) == sorted(it["ruleset"] for it in judged)
    assert all(it["judged"] > 0 and it["least"] >= 0 for it in judged)
    page = tmp_path / "page.html"
    for game in (*sorted(SAMPLE), "tabula:free"):  # the pictures of each game are tried in tests/drawing
        invoke("archive", "blunders", "-n", "3", "--game", game, "-o", page, "--force", *archive)
    player = shortened("plakoto").players[0].name
    for question in (("profile", player), ("takes",), ("luck",)):
        assert invoke("archive", *question, "--game", "plakoto", *archive)
    assert "1 match," in invoke("archive", "profile", player, "--game", "plakoto", *archive)
    for question in (("openings",), ("similar", "4 behind")):
        invoke("archive", *question, *archive)
        refused = CliRunner().invoke(main, ["archive", *question, "--game", "plakoto", *map(str, archive)])
        assert (2, 1) == (refused.exit_code, refused.stderr.count("\n"))
        assert f"{question[0]} knows positions of backgammon only, and none of plakoto" in refused.stderr


@pytest.mark.parametrize("game", some_slow(EVERY_GAME, is_no_quick_sample))
def test_live_boards_show_every_game(game: str, tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    path.write_text(write_json(match_of(game)), encoding="utf-8")
    seen = list(events_of_transcript(1, match_of(game)))
    frames = [frame for frame in board_frames(seen) if frame.state is not None]
    assert all("Pips: " in "\n".join(text.plain for text in _board(frame)) for frame in frames[-3:])
    feed = AccountFeed("marvin")
    for event in seen:
        feed.on_match_event(event)
    (ended, *_) = json.loads(feed.part(FeedPart.GAMES))["games"]
    assert game in ended["length"] or game == "backgammon"
    rows = [json.loads(line) for line in invoke("replay", path, "--json").splitlines()]
    kinds = {row["kind"] for row in rows}
    assert "decision" in kinds
    assert "action" not in kinds
    boards = {row.get("position") for row in rows if row["kind"] == "decision"}
    assert (game in BY_NETWORK) is (None not in boards)
    assert load_ruleset(game).full_name == game
