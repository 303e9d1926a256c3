"""Our own format: nothing is lost, and nothing is taken for what it only looks like."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given

from fibsbot.formats import FormatError
from fibsbot.formats.transcript_json import iter_json, write_json
from fibsbot.rules.state import Seat
from fibsbot.transcript import Player, Throw, Transcript
from tests.examples import examples
from tests.formats.one_match import read_json
from tests.formats.simulated_matches import simulate, transcripts

MATCH = simulate(18, 5)


def changed(path: str, value: object) -> str:
    """Return the text of a match in which one value is another one."""
    values: dict[str, Any] = json.loads(write_json(MATCH))
    *way, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    place: Any = values
    for step in way:
        place = place[step]
    place[last] = value
    return json.dumps(values)


@pytest.mark.slow
@given(transcripts())
@examples(20)
def test_nothing_is_lost(match: Transcript) -> None:
    assert match == read_json(write_json(match))


def test_all_details_of_an_entry_are_kept() -> None:
    entry = MATCH.games[0].entries[1]
    told = evolve(entry, equity=-0.123456789, seconds=0.1, rebuilt=True)
    game = evolve(MATCH.games[0], entries=(MATCH.games[0].entries[0], told))
    match = evolve(
        MATCH,
        games=(game,),
        user=Seat.B,
        given_id="1 2 3",
        tags={"Event": "\u2028<script>\x1b"},
        ended=dt.datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=dt.timezone(dt.timedelta(hours=-9))),
    )
    assert match == read_json(write_json(match))


def test_it_is_one_line_of_plain_ascii() -> None:
    text = write_json(evolve(MATCH, players=(Player("\ud800\n\x1b[31m"), Player("Zoë"))))
    assert text.isascii()
    assert 1 == text.count("\n")
    assert text.startswith('{"fibsbot_transcript":1,"players":[')


def test_an_equity_of_nan_is_not_written() -> None:
    entry = MATCH.games[0].entries[0]
    assert isinstance(entry, Throw)
    game = evolve(MATCH.games[0], entries=(evolve(entry, equity=float("nan")),))
    read = read_json(write_json(evolve(MATCH, games=(game,))))
    assert read.games[0].entries[0].equity is None


def test_it_may_be_laid_out_anew_and_hold_several_matches() -> None:
    text = json.dumps(json.loads(write_json(MATCH)), indent=2)
    assert [MATCH, MATCH] == list(iter_json(f"\ufeff\n{text}\n\n{text}"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "line 1: expected JSON: Expecting value, column 1"),
        ("{}", "expected a match, a JSON object with the key 'fibsbot_transcript', got '{}'"),
        ("[" * 100_000, "expected JSON with finite numbers, nested a few times"),
        ("9" * 5_000, "expected JSON with finite numbers, nested a few times"),
        ('{"fibsbot_transcript":NaN}', "expected JSON with finite numbers, nested a few times"),
        (changed("fibsbot_transcript", 2), "expected a match as version 1 writes it, got '2'"),
        (changed("length", "5"), "match 1: expected int, got '5' @ match.length"),
        (changed("length", 1 << 40), "match 1: "),
        (changed("length", 3), "match 1: game 1: expected the length of the match in every game"),
        (changed("games/0/start/cube", 3 << 30), "match 1: "),
        (changed("games/0/start/redoubles", 1), "match 1: game 1: expected 0 to 20 redoubles"),
        (changed("games/0/start/redoubles", -1), "match 1: game 1: expected 0 to 20 redoubles"),
        (changed("games/0/start/turns", -1), "match 1: game 1: expected 0 turns or more"),
        (changed("games/0/start/position", [0] * 25), "match 1: game 1: expected a board of 15 checkers a side"),
        (changed("games/0/start/stage", "move"), "match 1: game 1: expected dice where there is something to play"),
        (changed("games/0/start/stage", "doubled"), "match 1: game 1: expected an answer to be given where somebody"),
        (changed("games/0/entries/0/seat", "C"), "match 1: "),
        (
            changed("games/0/entries/0/dice", [7, 1]),
            "match 1: game 1, turn 1: expected two dice, each 1 to 6",
        ),
        (changed("games/0/entries/0/play", [[24, 18, 2]]), "match 1: "),
        (changed("games/0/entries/0/play", [[24, 30]]), "match 1: game 1, turn 1: expected moves between the points"),
        (changed("games/0/entries/0/kind", "party"), "match 1: "),
        (changed("games/0/entries/0/more", 1), "match 1: extra fields found (more) @ match.games[0].entries[0]"),
        (changed("games/0/entries", [{"kind": "entry"}]), "match 1: game 1: expected entries that say what happened"),
        (
            changed("games/0/entries/3", {"kind": "cube", "seat": "A", "action": "take"}),
            "match 1: game 1, turn 4",
        ),
        (changed("players", []), "match 1: "),
        (changed("started", "yesterday"), "match 1: "),
        (changed("tags", {"a": 1}), "match 1: "),
    ],
)
def test_errors_are_one_line(text: str, told: str) -> None:
    with pytest.raises(FormatError) as error:
        read_json(text)
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)
