"""Matches of games other than backgammon in a replay: listed, checked by the rules core, never taken for backgammon."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from attrs import evolve
from click.testing import CliRunner

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.grammar import write, write_command
from fibs_protocol.messages import Message
from fibs_protocol.words import Colour, FibsMove, TableNaming
from fibsbot.cli import main
from fibsbot.formats import Format
from fibsbot.formats.conversion import read_matches
from fibsbot.games import load_ruleset
from fibsbot.games.sides_text import format_sides, parse_sides
from fibsbot.position import Play
from fibsbot.replay.captures import ReceivedMessage, SentCommand, read_captures
from fibsbot.replay.events import (
    DifferenceFound,
    EntryAdded,
    GameBegan,
    GameEnded,
    MatchBegan,
    MatchEnded,
    MatchEvent,
)
from fibsbot.replay.transcriber import Transcriber, events_of_capture
from fibsbot.rules.game import choices, name, next_game, play, roll, roll_contest, roll_opening, start_match_of
from fibsbot.rules.general_plays import legal_plays
from fibsbot.rules.sides import HAND, OFF
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.table_lines import table_state
from fibsbot.transcript import Transcript
from tests.marks import some_slow
from tests.replay.transcript_helpers import RECORDED, transcripts_in

Line: TypeAlias = Message | c.Command
"""What is received or sent."""
NAMES = ("You", "ford")


def moves(made: Play) -> tuple[FibsMove, ...]:
    """Return a play as the protocol has it."""
    return tuple(
        FibsMove(None if it.source == HAND else it.source, None if it.target == OFF else it.target) for it in made.moves
    )


def shown(state: GameState) -> m.TableBoard:
    """Return the line of a state as we get it."""
    return m.TableBoard(table_state(state, Seat.A, "You", "ford", Colour.O))


def step(state: GameState, rng: random.Random) -> tuple[GameState, Line]:
    """Make a random action, and return what is received or sent."""
    dice = tuple(rng.randint(1, 6) for _ in range(max(state.rules.dice, 2)))
    if state.stage is Stage.OPENING:
        return roll_opening(state, dice[0], dice[1]), m.OpeningRoll("You", dice[0], "ford", dice[1])
    if state.stage is Stage.CONTEST:
        rolled = m.ContestRolls("You", (dice[0], dice[1]), "ford", (dice[1], 1))
        return roll_contest(state, sum(rolled.dice), sum(rolled.opponent_dice)), rolled
    seat = state.decides
    assert seat is not None
    if state.stage is Stage.ROLL:
        line: Line = m.Rolls(NAMES[seat], (dice[0], dice[1])) if len(dice) == 2 else m.RollsThree(NAMES[seat], dice)
        return roll(state, seat, dice), line
    if state.stage is Stage.NAME:
        number, naming = rng.choice(choices(state)), TableNaming[state.naming.name if state.naming else "DOUBLE"]
        return name(state, seat, number), m.NumberNamed(NAMES[seat], naming, number)
    made = rng.choice(legal_plays(state.rules, state.sides, state.part) or (Play(),))
    after = play(state, seat, made)
    if not made.moves:
        return after, m.CannotMove(NAMES[seat])
    return after, c.Move(moves(made)) if seat is Seat.A else m.Moves("ford", moves(made))


@functools.cache
def played(game: str, seed: int, length: int) -> tuple[tuple[Line, ...], GameState]:
    """Return the lines of a game with its end."""
    rng, state = random.Random(seed), start_match_of(load_ruleset(game), length)
    lines: list[Line] = [m.Welcome("marvin", 1, "-"), m.YouJoinedGame("ford", length, game), m.GameStarts("ford")]
    while state.stage is not Stage.OVER:
        state, line = step(state, rng)
        lines.append(line)
        if state.stage in {Stage.ROLL, Stage.MOVE, Stage.NAME}:
            lines.append(shown(state))
    if state.result is None:
        lines.append(m.GameDrawn(state.reason))
    else:
        lines.append(m.GameWonBy(NAMES[state.result.winner], state.result.points, state.reason))
        won = sorted(state.scores, reverse=True)
        lines.append(m.MatchWon(NAMES[state.result.winner], length, won[0], won[1]))
    return tuple(lines), state


def session(game: str, seed: int = 1, length: int = 1) -> tuple[list[Line], GameState]:
    """Return the lines of a game with its end, for a test to change."""
    lines, state = played(game, seed, length)
    return list(lines), state


def replay(lines: Iterable[Line]) -> Iterator[MatchEvent]:
    """Yield the events of a session."""
    transcriber = Transcriber()
    for line in lines:
        yield from transcriber.send(line) if isinstance(line, c.Command) else transcriber.receive(line)
    yield from transcriber.close()


def differences(events: Iterable[MatchEvent]) -> list[tuple[str, object, object]]:
    """Return all differences."""
    found = (event for event in events if isinstance(event, DifferenceFound))
    return [(it.what, it.ours, it.theirs) for event in found for it in event.differences]


@pytest.mark.parametrize(
    "game",
    some_slow(
        ["gioul", "tabula", "plakoto", "russian1", "acey-deucey", "ticktack", "hyper"],
        {"tabula", "russian1", "acey-deucey"}.__contains__,
    ),
)
def test_a_whole_game_agrees_with_the_rules_and_is_listed(game: str) -> None:
    lines, state = session(game)
    events = list(replay(lines))
    assert [] == differences(events)
    assert isinstance(events[0], MatchBegan)
    match = events[0].transcript
    assert (game, ["marvin", "ford"], 1) == (events[0].rules.name, [it.name for it in match.players], match.length)
    plays = [line for line in lines if isinstance(line, c.Move | m.Moves | m.CannotMove)]
    assert len(plays) <= sum(isinstance(event, EntryAdded) for event in events)
    (ended,) = (event for event in events if isinstance(event, GameEnded))
    (match_end,) = (event for event in events if isinstance(event, MatchEnded))
    assert (state.drawn, state.result) == (ended.end.drawn, ended.game.result)
    if state.result is not None:
        assert (state.scores, state.result.winner) == (match_end.transcript.scores, match_end.transcript.winner)


def test_a_match_has_as_many_games_as_were_played() -> None:
    first, state = session("hyper", length=30)
    lines: list[Line] = [*first[:-1], shown(state), m.GameStarts("ford"), m.OpeningRoll("You", 5, "ford", 3)]
    lines.append(shown(roll_opening(next_game(state), 5, 3)))
    events = list(replay(lines))
    assert [] == differences(events)
    assert [1, 2] == [event.game.number for event in events if isinstance(event, GameBegan)]


def test_an_illegal_play_is_a_difference_with_the_law() -> None:
    lines, _ = session("plakoto")
    at = next(number for number, line in enumerate(lines) if isinstance(line, m.Moves))
    lines[at] = m.Moves("ford", (FibsMove(24, 23), FibsMove(24, 23), FibsMove(24, 23)))
    what, law, theirs = differences(replay(lines))[0]
    assert "play" == what
    assert "each number is played once, a double four times: 3 moves for 5-2" == law
    assert "24/23 24/23 24/23" in str(theirs)


def test_a_line_that_differs_from_the_state_before_is_a_difference_and_then_the_truth() -> None:
    lines, _ = session("plakoto")
    at = [number for number, line in enumerate(lines) if isinstance(line, m.TableBoard)][4]
    board = lines[at]
    assert isinstance(board, m.TableBoard)
    lines[at] = evolve(board, state=evolve(board.state, cube=64))
    assert [("cube", 1, 64), ("cube", 64, 1)] == differences(replay(lines))


@pytest.mark.slow
def test_own_plays_that_were_not_captured_are_filled_in() -> None:
    lines, _ = session("fevga")
    heard = [line for line in lines if not isinstance(line, c.Move)]
    whole, filled = ([it for it in replay(x) if isinstance(it, EntryAdded)] for x in (lines, heard))
    assert [] == differences(replay(heard))
    assert [it.step.after for it in whole] == [it.step.after for it in filled]


def test_an_own_play_is_not_filled_in_where_the_answer_to_a_resignation_is_missing() -> None:
    lines, _ = session("plakoto")
    at = next(number for number, line in enumerate(lines) if isinstance(line, c.Move))
    before = lines[at - 1]
    assert isinstance(before, m.TableBoard)
    lines[at] = m.TableBoard(evolve(before.state, resignation=1))
    found = differences(replay(lines))
    assert ("resignation", 1, 0) in found


def test_a_refused_play_is_not_made() -> None:
    lines, _ = session("plakoto")
    at = next(number for number, line in enumerate(lines) if isinstance(line, c.Move))
    lines[at:at] = [c.Move((FibsMove(1, None),)), m.IllegalMove()]
    assert [] == differences(replay(lines))


def test_a_line_that_was_asked_for_before_a_play_does_not_show_it() -> None:
    lines, _ = session("plakoto")
    at = next(number for number, line in enumerate(lines) if isinstance(line, c.Move))
    lines.insert(at + 1, lines[at - 1])
    assert isinstance(lines[at + 1], m.TableBoard)
    assert [] == differences(replay(lines))


@pytest.mark.slow
def test_any_lost_lines_are_replayed_without_an_exception() -> None:
    rng = random.Random(7)
    for game in ("gioul", "tabula", "greek"):
        lines, _ = session(game)
        kept = [line for line in lines if rng.random() < 0.8]
        assert {game} == {event.rules.name for event in replay(kept) if isinstance(event, MatchBegan)}


@pytest.mark.slow
def test_lines_that_make_no_sense_are_differences_and_no_exceptions() -> None:
    rng = random.Random(8)
    lines, strange = session("hyper")[0], [*session("tabula")[0][:60], *session("ticktack")[0]]
    strange += [
        *(m.Moves("ford", (FibsMove(source, target),)) for source, target in ((99, 3), (0, 0), (3, 24), (None, None))),
        *(m.RollsThree("ford", (1, 2, 3)), m.Rolls("nobody", (1, 1)), m.OpeningRoll("ford", 3, "ford", 3)),
        *(m.GameWonBy("nobody", 0, ""), m.GameWon("You", 999), m.GameDrawn(""), m.DoubleAccepted("ford", 2)),
        *(m.OpponentDoubles("ford"), m.CubeRaised(3), m.ResignOffer("ford", "You", 0), m.GaveUp("ford", "You", 5)),
        *(
            m.NumberNamed("ford", TableNaming.POINT, 40),
            m.CannotMove("You"),
            m.OnlyMove(()),
            m.MatchWon("ford", 1, 0, 9),
        ),
    ]
    for _ in range(20):
        mixed = [line for known in lines for line in (known, rng.choice(strange)) if rng.random() < 0.7]
        list(replay(mixed))


def test_a_match_that_is_resumed_goes_on_with_its_next_line() -> None:
    lines, _ = session("plakoto")
    broken = [*lines[:20], m.YouLeft(), m.YouResumed("ford"), *lines[20:]]
    events = list(replay(broken))
    assert [] == differences(events)
    assert {1} == {event.match for event in events}
    assert 1 == sum(isinstance(event, MatchEnded) for event in events)


def test_matches_are_numbered_without_gaps_also_after_one_that_was_resumed() -> None:
    first, second = session("plakoto")[0], [line for line in session("hyper")[0] if not isinstance(line, m.Welcome)]
    events = list(replay([*first[:20], m.YouLeft(), m.YouResumed("ford"), *first[20:], *second]))
    assert [1, 2] == [event.match for event in events if isinstance(event, MatchEnded)]


def test_matches_of_backgammon_in_the_same_log_are_as_without_the_other_game() -> None:
    other = [line for line in session("hyper")[0] if not isinstance(line, m.Welcome)]
    captured = list(read_captures([RECORDED / "interrupted_marvin.jsonl.gz"]))
    alone = list(events_of_capture(captured))
    at = next(number for number, it in enumerate(captured) if isinstance(it, ReceivedMessage) and it.at) + 1
    mixed = list(events_of_capture([*captured[:at], *map(_captured, other), *captured[at:]]))
    assert [] == differences(mixed)
    backgammon, other_matches = list[Transcript](), list[Transcript]()
    for match in transcripts_in(mixed):
        (backgammon if match.is_backgammon else other_matches).append(match)
    assert transcripts_in(alone) == backgammon
    assert len(backgammon) > 0
    assert 1 == len(other_matches)


def _captured(line: Line) -> ReceivedMessage | SentCommand:
    return SentCommand(None, line) if isinstance(line, c.Command) else ReceivedMessage(None, line)


# -- the commands ---------------------------------------------------------------------------------------------------


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a session log of a short game of Hyper."""
    path, rows = tmp_path / "marvin.jsonl", []
    time = "2026-01-02T03:04:05+00:00"
    lines, _ = session("hyper", seed=3)
    for line in lines:
        if isinstance(line, c.Command):
            rows.append({"time": time, "sent": write_command(line) + "\r\n"})
        elif not isinstance(line, m.Welcome):
            rows.append({"time": time, "received": write(line) + "\r\n"})
    head = {"fibsbot_session_log": 1, "time": time, "server": "test", "user": "marvin"}
    path.write_text("".join(json.dumps(row) + "\n" for row in (head, *rows)))
    return path


def test_replay_lists_the_match_and_checks_it(log: Path) -> None:
    done = CliRunner().invoke(main, ["replay", "--strict", str(log)])
    assert 0 == done.exit_code
    assert "Match 1: marvin - ford, 1 point of hyper" in done.output
    assert "wins the match" in done.output
    assert ", 0 differences, 0 gaps" in done.output


def test_replay_writes_objects_of_decisions(log: Path) -> None:
    rows = [json.loads(line) for line in CliRunner().invoke(main, ["replay", "--json", str(log)]).stdout.splitlines()]
    kinds = [row["kind"] for row in rows]
    assert {"match", "game", "decision", "game_end", "match_end"} == set(kinds[:-2])
    boards = [row["position"] for row in rows if row["kind"] == "decision"]
    assert boards == [format_sides(parse_sides(board, load_ruleset("hyper"))) for board in boards]
    assert ("hyper", "marvin") == (rows[0]["ruleset"], rows[0]["user"])
    assert ["marvin", "ford"] == [it["name"] for it in rows[0]["players"]]


def test_a_file_of_another_game_is_replayed_as_its_log(log: Path, tmp_path: Path) -> None:
    target = tmp_path / "match.json"
    assert 0 == CliRunner().invoke(main, ["export", str(log), "-o", str(target)]).exit_code
    listed = [CliRunner().invoke(main, ["replay", str(path)]) for path in (log, target)]
    assert [0, 0] == [done.exit_code for done in listed]
    assert listed[0].stdout == listed[1].stdout


def test_strict_replay_names_the_line_and_the_difference(log: Path) -> None:
    log.write_text(log.read_text().replace(":roll:player:player:", ":roll:opponent:opponent:", 1))
    done = CliRunner().invoke(main, ["replay", "--strict", "-q", str(log)])
    assert 1 == done.exit_code
    assert "turn: ours player, theirs opponent" in done.output


def test_formats_for_backgammon_say_in_one_line_that_they_cannot_say_the_game(log: Path) -> None:
    done = CliRunner().invoke(main, ["export", "--format", "mat", str(log)])
    assert 2 == done.exit_code
    assert "mat cannot say games of hyper; json, csv, positions, sheet can" in done.output
    assert 1 == done.output.count("\n")


def test_matches_of_other_games_are_exported_as_json(log: Path, tmp_path: Path) -> None:
    target = tmp_path / "match.json"
    assert 0 == CliRunner().invoke(main, ["export", str(log), "-o", str(target)]).exit_code
    (match,) = read_matches(Format.JSON, target.read_text())
    assert "hyper" == match.rules.name
    done = CliRunner().invoke(main, ["export", str(target), "--format", "mat", "-o", str(tmp_path / "match.mat")])
    assert "mat cannot say games of hyper" in done.output


def test_a_comparison_with_a_strategy_that_does_not_play_the_game_is_refused(log: Path) -> None:
    done = CliRunner().invoke(main, ["replay", "--strategy", "heuristic", "--fail-above", "1", str(log)])
    assert (2, "") == (done.exit_code, done.stdout)
    assert done.stderr.endswith("expected a match of a game that heuristic plays, found none\n")
