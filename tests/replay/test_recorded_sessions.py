"""Recorded sessions replay without a difference, and every capture of a match gives the same match."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from fibs_protocol import messages as m
from fibs_protocol.grammar import parse
from fibs_protocol.words import Colour
from fibsbot.fibs_numbering import DIRECTIONS, play_to_fibs
from fibsbot.match import CubeAction
from fibsbot.position import Play
from fibsbot.replay.events import EntryAdded, GameBegan, GameEnded, MatchBegan, MatchEnded
from fibsbot.replay.match_files import load_transcripts
from fibsbot.rules.state import Ending, Seat
from fibsbot.transcript import Cube, Entry, Game, Gap, Resign, Throw, Transcript, walk
from tests.replay.record_sessions import SESSIONS, captures_of, play
from tests.replay.transcript_helpers import (
    CAPTURES,
    DATA,
    RECORDED,
    differences_in,
    match_facts,
    matches_of,
    recorded_events,
    unpacked,
)

pytestmark = pytest.mark.slow

WATCHED = DATA / "protocol/session_watch.txt"
NAMES = tuple(session.name for session in SESSIONS)
WHOLE = ("marvin.jsonl", "ford.jsonl", "marvin.txt", "ford_typed.txt")
"""Who has seen all of a session: both players."""


def capture(session: str, name: str) -> Path:
    """Return where a capture of a session is."""
    return RECORDED / f"{session}_{name}.gz"


def test_all_kinds_of_captures_were_recorded() -> None:
    assert 3 * 7 + 3 == len(CAPTURES)


@pytest.mark.parametrize("path", [*CAPTURES, WATCHED], ids=lambda path: path.name)
def test_nothing_differs(path: Path) -> None:
    assert [] == differences_in(recorded_events(path))


@pytest.mark.parametrize("path", [*CAPTURES, WATCHED], ids=lambda path: path.name)
def test_every_transcript_walks_without_gaps_and_nothing_had_to_be_rebuilt(path: Path) -> None:
    (transcript,) = matches_of(path)
    for game in transcript.games:
        steps = list(walk(game))
        assert [step.entry for step in steps] == list(game.entries)
        assert not any(isinstance(step.entry, Gap) or step.entry.rebuilt for step in steps)


@pytest.mark.parametrize("path", [*CAPTURES, WATCHED], ids=lambda path: path.name)
def test_events_come_in_order_and_add_up_to_the_transcripts(path: Path) -> None:
    happenings = recorded_events(path)
    assert isinstance(happenings[0], MatchBegan)
    assert isinstance(happenings[1], GameBegan)
    assert isinstance(happenings[-1], MatchEnded)
    games: list[Game] = []
    entries: list[Entry] = []
    for it in happenings:
        match it:
            case GameBegan(game=game):
                entries = list(game.entries)
            case EntryAdded(step=step):
                assert len(entries) == step.index
                entries.append(step.entry)
            case GameEnded(game=game):
                assert [seen(entry) for entry in entries] == [seen(entry) for entry in game.entries]
                games.append(game)
    assert tuple(games) == happenings[-1].transcript.games


def seen(entry: Entry) -> Entry:
    """Return an entry as if it had been seen: on some servers a board shows a play before a line says it."""
    return evolve(entry, rebuilt=False)


@pytest.mark.parametrize("session", NAMES)
def test_both_players_logs_and_captures_give_the_same_match(session: str) -> None:
    stories = [match_facts(transcript) for name in WHOLE for transcript in matches_of(capture(session, name))]
    assert len(WHOLE) == len(stories)
    assert all(stories[0] == one for one in stories[1:])


@pytest.mark.parametrize("name", ["trillian.txt", "arthur.txt"])
@pytest.mark.parametrize("session", ["three_points", "unlimited"])
def test_a_watcher_from_the_start_sees_the_same_match(session: str, name: str) -> None:
    (played,) = matches_of(capture(session, "marvin.jsonl"))
    (watched,) = matches_of(capture(session, name))
    assert match_facts(played) == match_facts(watched)
    assert (Seat.A, None) == (played.user, watched.user)


@pytest.mark.parametrize("session", NAMES)
def test_a_watcher_from_the_middle_sees_the_rest_of_the_match(session: str) -> None:
    (played,) = matches_of(capture(session, "trillian.txt"))
    (watched,) = matches_of(capture(session, "zaphod.txt"))
    whole = played.games[-len(watched.games) :]
    assert not watched.games[0].whole
    assert (
        match_facts(watched)[1:]
        == [(scores, *rest) for scores, *rest in match_facts(played)[-len(watched.games) :]][1:]
    )
    assert watched.games[0].entries == whole[0].entries[-len(watched.games[0].entries) :]


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("session", NAMES)
def test_the_match_is_the_one_that_the_server_knows(session: str, name: str) -> None:
    (transcript,) = matches_of(capture(session, name))
    known = json.loads(unpacked(f"{session}_games.json"))
    names = [player.name for player in transcript.players]
    finished = [game for game in transcript.games if game.result]
    assert len(known) == len(finished)
    for game, truth in zip(finished, known, strict=True):
        assert game.whole
        assert game.result is not None
        assert [truth["winner"], truth["points"]] == [names[game.result.winner], game.result.points]
        assert truth["how"] == game.result.how.value
        assert [list_line(line) for line in truth["lines"][:-1]] == list_of_moves(game, names, truth["x"])
    if transcript.length:
        scores = dict(zip(known[-1]["names"], known[-1]["scores"], strict=True))
        assert scores == dict(zip(names, transcript.scores, strict=True))
        assert truth["winner"] == names[transcript.winner or Seat.A]


def list_of_moves(game: Game, names: list[str], x: str) -> list[tuple[Any, ...]]:
    """Write a game as the server's list of moves has it, the moves of a play in no order."""
    words = {CubeAction.DOUBLE: "doubles", CubeAction.TAKE: "accepts", CubeAction.PASS: "rejects"}
    out: list[tuple[Any, ...]] = []
    for entry in game.entries:
        assert isinstance(entry, Throw | Cube | Resign)
        colour = Colour.X if names[entry.seat] == x else Colour.O
        match entry:
            case Throw(play=None) | Resign(accepted=False):
                continue
            case Throw(dice=dice, play=Play() as made):
                moves = play_to_fibs(made, DIRECTIONS[colour])
                out.append((colour, dice, *sorted(map(str, moves))))
            case Cube(action=action):
                out.append((colour, words.get(action, "redoubles")))
            case Resign():
                out.append((colour, "wants to resign"))
    return out


def list_line(line: str) -> tuple[Any, ...]:
    """Read a line of the server's list of moves."""
    message = parse(line)
    if isinstance(message, m.MovesPlay):
        return (message.colour, message.dice, *sorted(map(str, message.moves)))
    assert isinstance(message, m.MovesAction)
    return (message.colour, message.text)


def test_the_sessions_have_everything_in_them() -> None:
    games = [game for session in NAMES for it in matches_of(capture(session, "marvin.jsonl")) for game in it.games]
    entries = [entry for game in games for entry in game.entries]
    assert set(Ending) - {Ending.OTHER} == {game.result.how for game in games if game.result}
    assert {CubeAction.DOUBLE, CubeAction.TAKE, CubeAction.PASS, CubeAction.BEAVER} <= {
        entry.action for entry in entries if isinstance(entry, Cube)
    }
    assert {True, False} == {entry.accepted for entry in entries if isinstance(entry, Resign)}
    assert any(game.start.crawford for game in games)
    assert any(isinstance(entry, Throw) and entry.play is not None and not entry.play.moves for entry in entries)


def test_a_match_interrupted_three_times_is_one_match() -> None:
    happenings = recorded_events(capture("interrupted", "marvin.jsonl"))
    began = [it for it in happenings if isinstance(it, MatchBegan)]
    assert {1} == {it.match for it in began}
    # How many games were over whenever the match was announced: when it began, and after the breaks, of which the first
    # came in the second game and both others in the third.
    assert [0, 1, 2, 2] == [len(it.transcript.games) for it in began]
    assert 1 == sum(isinstance(it, MatchEnded) for it in happenings)


def test_a_log_has_times_equities_and_thinking_times() -> None:
    (transcript,) = matches_of(DATA / "bot/baldlies.jsonl")
    assert ("bot_a", 1500.0, 0) == (transcript.players[0].name, transcript.players[0].rating, 0)
    assert "127.0.0.1:4712" == transcript.site
    first, second = transcript.games[0].entries[:2]
    assert isinstance(first, Throw)
    assert isinstance(second, Throw)
    assert (Seat.A, (3, 1), 0.16459) == (first.seat, first.dice, first.equity)
    assert (Seat.B, None) == (second.seat, second.equity)
    assert second.seconds is not None
    assert 0 < second.seconds < 1
    doubles = [it for it in transcript.games[0].entries if isinstance(it, Cube) and it.action is CubeAction.DOUBLE]
    assert pytest.approx(0.74163238) == doubles[0].equity
    times = [entry.at for game in transcript.games for entry in game.entries]
    assert all(at is not None for at in times)
    assert times == sorted(at for at in times if at is not None)
    assert transcript.started is not None
    assert transcript.ended is not None
    assert transcript.started <= times[0] <= times[-1] <= transcript.ended  # type: ignore[operator]


def test_the_real_watched_session_breaks_off_in_mid_game() -> None:
    (transcript,) = load_transcripts(WATCHED)
    (game,) = transcript.games
    assert ["SomeBot_39", "player_am"] == [player.name for player in transcript.players]
    assert (5, None, True, None) == (transcript.length, transcript.user, game.whole, game.result)
    assert 35 == len(game.entries)
    last = game.entries[-1]
    assert Throw(seat=Seat.B, dice=(1, 1)) == last


def test_the_recorded_sessions_are_what_is_played_today(tmp_path: Path) -> None:
    (session,) = (session for session in SESSIONS if session.name == "interrupted")
    for name, data in captures_of(session, play(session, tmp_path)).items():
        assert len(unpacked(name)) == len(data), (
            "run `python -m tests.replay.record_sessions` after changes of the server"
        )


def test_resignations_without_the_cube_factor_are_understood() -> None:
    (transcript,) = matches_of(DATA / "bot/tigergammon.jsonl")
    first = transcript.games[0]
    assert first.whole
    assert first.result is not None
    assert (Seat.B, 1, Ending.RESIGNED) == (first.result.winner, first.result.points, first.result.how)
    assert (0, 1) == transcript.games[1].start.scores


def test_loading_gives_the_matches_of_a_capture() -> None:
    transcripts: list[Transcript] = list(load_transcripts(capture("three_points", "marvin.jsonl")))
    assert transcripts == matches_of(capture("three_points", "marvin.jsonl"))
