"""Matches by other laws, from the session log to transcripts, files and back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fibsbot.arena.soak import Entrant, play_pair
from fibsbot.formats import Format
from fibsbot.formats.conversion import lost_details
from fibsbot.formats.mat import write_mat
from fibsbot.formats.oldmoves import write_oldmoves
from fibsbot.formats.sgf import write_sgf
from fibsbot.formats.transcript_json import write_json
from fibsbot.games.state_json import state_to_json
from fibsbot.records.store.transcripts import read_state
from fibsbot.replay.captures import read_captures
from fibsbot.replay.event_text import entry_actions
from fibsbot.replay.events import DifferenceFound, MatchEnded
from fibsbot.replay.game_builder import GameBuilder
from fibsbot.replay.transcriber import events_of_capture
from fibsbot.rules.game import start_match
from fibsbot.rules.law_words import law_words, parse_law_words
from fibsbot.rules.laws import Level
from fibsbot.rules.state import Ending, Result, Seat
from fibsbot.server.limits import SHORT_LIVED
from fibsbot.server.server import Server
from fibsbot.strategies.heuristic import HeuristicStrategy
from fibsbot.transcript import RejectedRoll, Resign, Transcript, walk
from tests.formats.one_match import read_json, read_mat, read_oldmoves, read_sgf
from tests.marks import some_slow

AGREED = ("1931 point", "1931 add-one limit 4", "modern reject", "1970 no-triple")
SEED = 9


@pytest.fixture(scope="module", params=some_slow(AGREED, lambda it: it != AGREED[0]))
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Transcript]:
    """Play a match over TCP; return the words of its laws and what the log of one bot shows."""
    words: str = request.param
    path = tmp_path_factory.mktemp("laws") / "arthur.jsonl"

    async def play() -> None:
        async with Server(seed=SEED, limits=SHORT_LIVED) as server:
            pair = (Entrant("arthur", HeuristicStrategy(), log_path=path), Entrant("ford", HeuristicStrategy()))
            await play_pair(server, *pair, matches=1, length=3, laws=parse_law_words(words))

    asyncio.run(play())
    return words, replayed(path)


def replayed(path: Path) -> Transcript:
    """Return the match of a log, in which nothing contradicts our own state."""
    events = list(events_of_capture(read_captures([path])))
    assert [] == [it for it in events if isinstance(it, DifferenceFound)]
    (ended,) = (it for it in events if isinstance(it, MatchEnded))
    return ended.transcript


@pytest.mark.slow
def test_a_replayed_match_knows_its_laws_and_has_no_gaps(played: tuple[str, Transcript]) -> None:
    words, transcript = played
    assert {words} == {law_words(game.start.laws) for game in transcript.games}
    assert all(game.whole for game in transcript.games)
    assert transcript.winner is not None


@pytest.mark.slow
def test_the_rules_count_what_the_server_counted(played: tuple[str, Transcript]) -> None:
    _, transcript = played
    for game in transcript.games:
        *_, last = walk(game)
        assert last.after.result == game.result


def test_json_keeps_laws_and_rejected_rolls(played: tuple[str, Transcript]) -> None:
    _, transcript = played
    assert transcript == read_json(write_json(transcript))


@pytest.mark.slow
def test_other_files_keep_results_and_name_what_they_lose(played: tuple[str, Transcript]) -> None:
    words, transcript = played
    results = [(game.result.winner, game.result.points) for game in transcript.games if game.result]
    for kind, write, read in (
        (Format.MAT, write_mat, read_mat),
        (Format.SGF, write_sgf, read_sgf),
        (Format.OLDMOVES, write_oldmoves, read_oldmoves),
    ):
        again = read(write(transcript))
        assert results == [(game.result.winner, game.result.points) for game in again.games if game.result]
        lost = lost_details(kind, transcript)
        assert ("other laws than those of FIBS" in lost) == (kind is Format.OLDMOVES)
    assert f'; [Laws "{words}"]' in write_mat(transcript)
    assert f"GC[Laws: {words}." in write_sgf(transcript)


def test_the_store_keeps_the_laws(played: tuple[str, Transcript]) -> None:
    _, transcript = played
    for game in transcript.games:
        assert game.start == read_state(state_to_json(game.start))


def test_a_rejected_roll_is_an_entry_of_its_own(played: tuple[str, Transcript]) -> None:
    words, transcript = played
    steps = [step for game in transcript.games for step in walk(game) if isinstance(step.entry, RejectedRoll)]
    assert bool(steps) == ("reject" in words)
    for step in steps:
        ((_, text),) = entry_actions(step)
        assert text.endswith(f"rejects the roll, the cube shows {step.after.cube}")
        assert step.after.cube == 2 * step.before.cube


def test_a_resignation_in_the_point_game_is_an_entry_like_any_other() -> None:
    start = start_match(parse_law_words("1931 point"), 40)
    points = start.score_by_checkers(Seat.B)
    assert points is not None
    assert points > 3
    game = GameBuilder(1, start, lambda _: None)
    game.offer(Seat.A, points)
    game.reject(None)
    game.offer(Seat.A, points)
    game.resigned(Seat.B, points, None)
    assert [
        Resign(seat=Seat.A, level=Level.SINGLE, accepted=False),
        Resign(seat=Seat.A, level=Level.SINGLE, accepted=True),
    ] == game.entries
    assert Result(Seat.B, points, Level.SINGLE, Ending.RESIGNED) == game.result
