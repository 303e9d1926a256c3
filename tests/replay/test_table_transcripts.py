"""Transcripts of matches of other games."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path

import pytest
from click.testing import CliRunner

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.grammar import write, write_command
from fibsbot.cli import main
from fibsbot.formats import Format
from fibsbot.formats.conversion import read_matches
from fibsbot.formats.transcript_json import write_json
from fibsbot.games import GAMES, load_ruleset
from fibsbot.replay.events import MatchEnded, MatchEvent
from fibsbot.rules.backgammon import is_backgammon
from fibsbot.rules.game import double, next_game, start_match_of, take
from fibsbot.rules.permissions import match_winner, refusal_to_double
from fibsbot.rules.state import GameState, Result, Seat, Stage
from fibsbot.transcript import Cube, Game, Gap, Resign, Throw, Transcript, walk
from tests.marks import is_no_quick_sample, some_slow
from tests.replay.test_table_matches import NAMES, Line, replay, shown, step


def match_lines(game: str, seed: int, length: int) -> tuple[list[Line], list[GameState]]:
    """Return the lines of a match with some doubles, and the end of each of its games."""
    rng, state, ends = random.Random(seed), start_match_of(load_ruleset(game), length), list[GameState]()
    lines: list[Line] = [m.Welcome("marvin", 1, "-"), m.YouJoinedGame("ford", length, game)]
    while match_winner(state) is None:
        lines.append(m.GameStarts("ford"))
        while state.stage is not Stage.OVER:
            seat = state.turn
            if state.stage is Stage.ROLL and not refusal_to_double(state, seat) and rng.random() < 0.1:
                state = double(state, seat)
                lines += [m.YouDouble("ford") if seat is Seat.A else m.OpponentDoubles("ford"), shown(state)]
                state = take(state, seat.other)
                lines += [m.DoubleAccepted(NAMES[seat.other], state.cube), shown(state)]
            state, line = step(state, rng)
            lines.append(line)
            if state.stage in {Stage.ROLL, Stage.MOVE}:
                lines.append(shown(state))
        ends.append(state)
        if state.result is None:
            lines.append(m.GameDrawn(state.reason))
        else:
            lines.append(m.GameWonBy(NAMES[state.result.winner], state.result.points, state.reason))
        state = next_game(state) if match_winner(state) is None else state
    winner = match_winner(state)
    assert winner is not None
    lines.append(m.MatchWon(NAMES[winner], length, state.scores[winner], state.scores[winner.other]))
    return lines, ends


def transcript_of(lines: Iterable[Line]) -> Transcript:
    """Return the transcript of the only match in a session."""
    (ended,) = (event for event in replay(lines) if isinstance(event, MatchEnded))
    return ended.transcript


def results(games: Iterable[GameState | Game]) -> list[Result]:
    """Return how finished games ended; Portes calls a backgammon, which counts no more, a gammon."""
    return [it.result for it in games if it.result is not None]


@pytest.mark.parametrize("game", ["nackgammon", "longgammon", "portes", "nackgammon:rethrow"])
def test_a_match_is_known_from_its_first_roll_to_its_last_play(game: str) -> None:
    lines, ends = match_lines(game, 3, 3)
    match = transcript_of(lines)
    assert ["marvin", "ford"] == [player.name for player in match.players]
    assert [(it.winner, it.points) for it in results(ends)] == [(it.winner, it.points) for it in results(match.games)]
    for state, game_seen in zip(ends, match.games, strict=True):
        steps = list(walk(game_seen))
        assert not any(isinstance(it.entry, Gap) or it.entry.rebuilt for it in steps)
        assert (state.turns, state.scores) == (steps[-1].after.turns, game_seen.scores)
        assert state.position_for(Seat.A) == steps[-1].after.position_for(Seat.A)
        begins = Stage.ROLL if game in {"portes", "nackgammon:rethrow"} else Stage.OPENING
        assert begins is game_seen.start.stage
    cubes = sum(isinstance(it, m.YouDouble | m.OpponentDoubles | m.DoubleAccepted) for it in lines)
    assert cubes == sum(isinstance(it, Cube) for game_seen in match.games for it in game_seen.entries)


@pytest.mark.parametrize(
    "game",
    some_slow(
        [*(it for it in GAMES if not is_backgammon(load_ruleset(it))), "portes:tavla", "hyper:rethrow"],
        is_no_quick_sample,
    ),
)
def test_a_match_of_any_game_is_known_from_its_first_roll_to_its_last_play(game: str) -> None:
    lines, ends = match_lines(game, 3, 1)
    match = transcript_of(lines)
    assert len(ends) == len(match.games)
    for state, game_seen in zip(ends, match.games, strict=True):
        steps = list(walk(game_seen))
        assert game_seen.whole
        assert (state.turns, state.scores, state.board) == (
            steps[-1].after.turns,
            steps[-1].after.scores,
            steps[-1].after.board,
        )
        assert (state.result, state.drawn) == (game_seen.result, steps[-1].after.drawn)
    assert [match] == list(read_matches(Format.JSON, write_json(match)))


def test_a_refused_resignation_and_one_that_ends_the_game_are_entries() -> None:
    lines, _ = match_lines("nackgammon", 5, 1)
    at = next(number for number, it in enumerate(lines) if isinstance(it, m.Rolls))
    offer = m.ResignOffer("ford", "You", 1)
    accepted = m.ResignAccepted("You", 1)
    session = [*lines[:at], offer, m.ResignRejected("You"), lines[at - 1], offer, accepted]
    match = transcript_of(session)
    offers = [it.accepted for it in match.games[0].entries if isinstance(it, Resign)]
    assert [False, True] == offers
    assert [(Seat.A, 1)] == [(it.winner, it.points) for it in results(match.games)]


@pytest.mark.slow
def test_a_line_that_is_lost_is_reconstructed_or_a_gap_and_no_exception() -> None:
    lines, ends = match_lines("nackgammon", 4, 3)
    rng = random.Random(1)
    for _ in range(10):
        kept = [it for it in lines if isinstance(it, m.YouJoinedGame | m.MatchWon) or rng.random() < 0.8]
        match = transcript_of(kept)
        assert len(match.games) <= len(ends) + 1
        assert all(list(walk(game)) for game in match.games if game.entries)


def test_equities_of_the_log_are_in_the_transcript() -> None:
    from fibsbot.replay.transcriber import Transcriber  # noqa: PLC0415 - the test follows its calls

    lines, _ = match_lines("nackgammon", 3, 1)
    transcriber = Transcriber()
    events: list[MatchEvent] = []
    dice: tuple[int, ...] = ()
    for line in lines:
        if isinstance(line, c.Command):
            transcriber.log_event("decision", {"phase": "move", "dice": list(dice), "equity": 0.25, "seconds": 2})
            events += transcriber.send(line)
            continue
        if isinstance(line, m.Rolls):
            dice = line.dice
        elif isinstance(line, m.OpeningRoll):
            dice = (line.player_die, line.opponent_die)
        events += transcriber.receive(line)
    (ended,) = (event for event in events if isinstance(event, MatchEnded))
    own = [it for it in ended.transcript.games[0].entries if isinstance(it, Throw) and it.seat is Seat.A]
    assert {0.25} == {it.equity for it in own if it.play and it.play.moves}


@pytest.mark.slow
@pytest.mark.parametrize("game", ["nackgammon", "portes"])
def test_report_analyse_and_export_take_the_log_of_such_a_match(game: str, tmp_path: Path) -> None:
    log, time = tmp_path / "marvin.jsonl", "2026-01-02T03:04:05+00:00"
    rows: list[dict[str, object]] = [{"fibsbot_session_log": 1, "time": time, "server": "test", "user": "marvin"}]
    for line in match_lines(game, 3, 1)[0][1:]:
        key, text = ("sent", write_command(line)) if isinstance(line, c.Command) else ("received", write(line))
        rows.append({"time": time, key: text + "\r\n"})
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page, mat, again = (tmp_path / name for name in ("page.html", "out.mat", "out.json"))
    commands = (
        ["export", str(log), "-o", str(mat)],
        ["convert", str(mat), str(again)],
        ["analyse", "--evaluator", "heuristic", "--no-luck", str(log)],
        ["report", "--evaluator", "heuristic", "--no-luck", str(log), "-o", str(page)],
    )
    for command in commands:
        done = CliRunner().invoke(main, command)
        assert (0, None) == (done.exit_code, done.exception), done.output
    assert ("NackGammon" in mat.read_text()) is (game == "nackgammon")
    assert "marvin" in page.read_text()
