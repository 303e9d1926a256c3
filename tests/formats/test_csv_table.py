"""Matches as a table: what stands in it, and that no spreadsheet runs it.

`FIBSBOT_GOLDEN=write pytest tests/formats/test_csv_table.py` writes the golden file anew; read the difference first.
"""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Final

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.formats.csv_table import COLUMNS, csv_lines
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS
from fibsbot.rules.state import Seat
from fibsbot.transcript import Game, Player, Resign, Transcript
from tests.formats.simulated_matches import simulate

MATCH: Final = simulate(18, 5)
GOLDEN: Final = Path(__file__).parents[1] / "data" / "formats" / "matches.csv"


def rows(*matches: Transcript) -> list[dict[str, str]]:
    """Return what a program reads in the table."""
    return list(csv.DictReader(io.StringIO("".join(csv_lines(matches)))))


def test_the_table_looks_as_it_always_did() -> None:
    text = "".join(csv_lines([*map(simulate, range(6)), simulate(5, 7, gaps=True, finished=False)]))
    if os.environ.get("FIBSBOT_GOLDEN") == "write":
        GOLDEN.write_text(text, encoding="utf-8")
    assert GOLDEN.read_text(encoding="utf-8") == text


def test_a_row_summarises_the_match() -> None:
    (row,) = rows(evolve(MATCH, user=Seat.A))
    assert list(COLUMNS) == list(row)
    first, second = MATCH.players
    assert MATCH.winner is not None
    assert (first.name, second.name, MATCH.match_id) == (row["player1"], row["player2"], row["id"])
    assert (str(MATCH.scores[0]), str(MATCH.scores[1])) == (row["score1"], row["score2"])
    assert (MATCH.players[MATCH.winner].name, first.name) == (row["winner"], row["user"])
    assert ("5", str(len(MATCH.games)), "1", "0") == (row["length"], row["games"], row["whole"], row["gaps"])
    resigned = sum(isinstance(it, Resign) and it.accepted for game in MATCH.games for it in game.entries)
    assert str(resigned) == row["resignations"]
    assert 0 < int(row["decisions1"])
    assert MATCH.started is not None
    assert f"{MATCH.started:%Y-%m-%d %H:%M:%S}" == row["started"]


def test_unknown_values_are_empty() -> None:
    game = Game(1, start_match(FIBS, 3))
    (row,) = rows(Transcript((Player("a"), Player("b")), 3, (game,)))
    assert {"", "0", "1", "3", "a", "b", "backgammon", row["id"]} == set(row.values())
    assert ["", "", "", "0"] == [row[name] for name in ("started", "rating1", "winner", "whole")]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "|cmd", "'=1", "\uff1d1", "%x"])
def test_no_name_is_a_formula(name: str) -> None:
    (row,) = rows(evolve(MATCH, players=(Player(name), Player("b"))))
    assert row["player1"].startswith("'")


@given(st.lists(st.text(), min_size=2, max_size=2))
def test_every_match_is_one_line(names: list[str]) -> None:
    bare = Transcript((Player(names[0]), Player(names[1])), 1)
    assert 3 == "".join(csv_lines([bare, bare])).count("\n")
    assert 2 == len(rows(bare, bare))
