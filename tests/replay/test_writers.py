"""Move lists and JSON objects, and the cleaning of texts from files."""

from __future__ import annotations

import json
from collections.abc import Iterable

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.bot.tracked_match import Difference
from fibsbot.replay.event_text import MoveList
from fibsbot.replay.events import DifferenceFound, MatchBegan, MatchEvent, place_of
from fibsbot.replay.match_files import events_of_transcript
from fibsbot.replay.places import Place
from fibsbot.replay.terminal import board_frames
from fibsbot.replay.writers import JsonRows, JsonWriter
from fibsbot.rules.state import Seat
from fibsbot.transcript import Transcript, decisions, walk
from tests.examples import examples
from tests.formats.simulated_matches import transcripts
from tests.replay.sample_match import sample_events, sample_transcript


def listed(happenings: Iterable[MatchEvent]) -> list[str]:
    """Return the whole move list."""
    moves = MoveList()
    return [*(line for it in happenings for line in moves.lines_for(it)), *moves.flush()]


def objects(happenings: Iterable[MatchEvent]) -> list[dict[str, object]]:
    """Return all JSON objects."""
    teller = JsonWriter(JsonRows("file"))
    return [json.loads(line) for it in happenings for line in teller.lines_for(it)]


def test_a_move_list_has_a_column_for_each_player_and_the_turns_of_both() -> None:
    assert [
        "Match 1: marvin - ford, 3 points, fibs.example:4321, 2026-01-02 03:04:05 UTC",
        "",
        "  Game 1",
        "    marvin: 0                                 ford: 0",
        "                                                1  31: 8/5 6/5",
        "    2  doubles to 2                             2  takes",
        "    2  65: 24/13                                3  42: 8/4 6/4 (rebuilt)",
        "  --- missing: 3 turns are missing",
        "    7  21: 13/11 6/5                            8  resigns a single game",
        "    8  rejects                                  8  62: 24/18 13/11",
        "                                                9  resigns a single game",
        "    9  accepts",
        "    marvin wins 2 points (single, resigned).",
        "",
        "  Game 2, Crawford game",
        "    marvin: 2                                 ford: 0",
        "    1  64: 24/18 13/9                           2  55: not played",
        "    The game was not seen to its end.",
        "  !!! byte 4711: cube: ours 1, theirs 2",
        "  !!! byte 4711: position: ours (0, -2), theirs (0, 2)",
        "",
        "  The match was not seen to its end. Score: marvin 2, ford 0.",
    ] == listed(sample_events(sample_transcript()))


@examples(15)
@given(transcripts(lengths=(0, 1, 2)))
def test_player_names_cannot_control_the_terminal(transcript: Transcript) -> None:
    lines = listed(events_of_transcript(1, transcript))
    assert all(line.isprintable() and len(line) < 400 for line in lines)


@given(st.text(), st.text())
def test_a_difference_is_one_printable_line(ours: str, theirs: str) -> None:
    differed = DifferenceFound(1, 1, 1, (Difference("name", ours, theirs),), 0)
    (line,) = listed([differed])
    assert line.isprintable()
    assert len(line) < 600


@examples(15)
@given(transcripts(lengths=(0, 1, 2)))
def test_every_decision_has_its_object(transcript: Transcript) -> None:
    rows = objects(events_of_transcript(1, transcript))
    expected = [it.text for game in transcript.games for step in walk(game) for it in decisions(step)]
    assert expected == [row["play"] or row["action"] for row in rows if row["kind"] == "decision"]
    assert [game.number for game in transcript.games] == [row["game"] for row in rows if row["kind"] == "game"]


def test_unknown_values_of_an_object_are_null() -> None:
    rows = [row for row in objects(sample_events(sample_transcript())) if row["kind"] == "decision"]
    known = [(row["action"] or row["play"], row["equity"], row["seconds"], row["rebuilt"]) for row in rows][:6]
    assert [
        ("8/5 6/5", None, 1.5, False),
        ("double", 0.25, 1.5, False),
        ("take", None, 1.5, False),
        ("24/13", -0.125, 1.5, False),
        ("roll", None, None, True),
        ("8/4 6/4", None, 1.5, True),
    ] == known
    untimed = [row for row in objects(sample_events(sample_transcript(timed=False))) if row["kind"] == "decision"]
    assert {(None, None)} == {(row["time"], row["seconds"]) for row in untimed}


def test_other_events_have_kinds_of_their_own() -> None:
    kinds = [row["kind"] for row in objects(sample_events(sample_transcript())) if row["kind"] != "decision"]
    assert [
        *("match", "game", "gap", "game_end", "game", "throw", "game_end"),
        *("difference", "difference", "match_end"),
    ] == kinds


def test_nan_is_not_written() -> None:
    began, *rest = sample_events(sample_transcript())
    assert isinstance(began, MatchBegan)
    text = json.dumps(objects([began, *rest]), allow_nan=False)
    assert "NaN" not in text


def test_a_game_first_seen_in_its_middle_is_marked() -> None:
    """Else its first line would be taken for the opening throw."""
    whole = sample_transcript()
    state = next(it.after for it in walk(whole.games[0]))
    seen = evolve(
        whole, games=(evolve(whole.games[0], start=state, entries=whole.games[0].entries[1:]), whole.games[1])
    )
    assert [4] == [
        n for n, line in enumerate(listed(sample_events(seen))) if "the beginning of the game is missing" in line
    ]
    assert [False, True] == [it["begun"] for it in objects(sample_events(seen)) if it["kind"] == "game"]
    lines = [line for frame in board_frames(sample_events(seen)) for line in frame.lines]
    assert ["  Game 1", "- missing: the beginning of the game is missing"] == lines[:2]


def test_every_event_but_an_end_has_a_place() -> None:
    places = [place_of(it) for it in sample_events(sample_transcript())]
    assert [Place(1), Place(1, 1), Place(1, 1, 1), Place(1, 1, 2)] == places[:4]
    assert [None, Place(1, 2, 3), None] == places[-3:]


def test_names_that_are_only_blanks_are_shown_as_such() -> None:
    lines = listed(events_of_transcript(1, evolve(sample_transcript(Seat.B, ("\x1b[2J", "  ")), site="")))
    assert "Match 1: \ufffd[2J - ?, 3 points, 2026-01-02 03:04:05 UTC" == lines[0]
