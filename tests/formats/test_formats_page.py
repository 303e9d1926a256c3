"""docs/reference/formats.md is true: its examples are what is written, and it knows every format, option and limit."""

from __future__ import annotations

import datetime as dt
import textwrap
from pathlib import Path
from typing import Final

import click
import pytest
from attrs import evolve

from fibsbot import __version__
from fibsbot.cli.export import convert, export
from fibsbot.formats import Format
from fibsbot.formats.conversion import NOT_REPRESENTED, WRITERS, read_matches, write_matches
from fibsbot.formats.csv_table import COLUMNS, csv_lines
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.state import Ending, Result, Seat
from fibsbot.transcript import Game, Player, Resign, Transcript
from tests.formats.short_game import MOVES

PAGE: Final = (Path(__file__).parents[2] / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
ENTRIES: Final = (*MOVES, Resign(seat=Seat.A, level=Level.GAMMON, accepted=True))
EXAMPLE: Final = Transcript(
    players=(Player("alice", 1712.45, 210), Player("bob", 1580.2, 98)),
    length=5,
    games=(Game(1, start_match(FIBS, 5), ENTRIES, Result(Seat.B, 4, Level.GAMMON, Ending.RESIGNED)),),
    site="fibs.com",
    started=dt.datetime(2026, 11, 20, 21, 15, tzinfo=dt.UTC),
)
"""The match that the page shows in all formats."""


def on_the_page(text: str) -> bool:
    """Whether a text stands on the page as an example."""
    lines = text.rstrip("\n").replace(f"fibsbot:{__version__}", "fibsbot:1.0.0")
    return textwrap.indent(lines, "    ") in PAGE


@pytest.mark.parametrize("kind", [Format.MAT, Format.SGF, Format.OLDMOVES], ids=lambda kind: kind.value)
def test_the_example_of_a_match_is_what_is_written(kind: Format) -> None:
    assert on_the_page(WRITERS[kind](EXAMPLE)), WRITERS[kind](EXAMPLE)
    (read,) = read_matches(kind, WRITERS[kind](EXAMPLE))
    assert EXAMPLE.games == tuple(evolve(game, start=EXAMPLE.games[0].start) for game in read.games)


@pytest.mark.parametrize("kind", [Format.XGID, Format.GNUBG_IDS, Format.SNOWIE], ids=lambda kind: kind.value)
def test_the_example_of_positions_is_what_is_written(kind: Format) -> None:
    lines = WRITERS[kind](EXAMPLE).splitlines()
    assert on_the_page("\n".join(lines[:3])), lines


def test_the_example_of_json_begins_as_it_is_written() -> None:
    text = WRITERS[Format.JSON](EXAMPLE)
    shown = "".join(line.strip() for line in PAGE.split("## JSON")[1].split("\n") if line.startswith("    {"))
    assert shown
    assert text.startswith(shown)


def test_every_column_of_the_table_is_described() -> None:
    assert on_the_page("".join(csv_lines([EXAMPLE])))
    described = PAGE.split("## CSV")[1]
    assert [] == [name for name in COLUMNS if f"`{name}`" not in described]


def test_every_format_and_option_is_described() -> None:
    assert [] == [kind.value for kind in Format if f"`{kind.value}`" not in PAGE]
    options = [
        option
        for command in (export, convert)
        for option in command.params
        if isinstance(option, click.Option) and not option.hidden
    ]
    assert [] == [option.name for option in options if f"`{option.opts[-1]}" not in PAGE]


@pytest.mark.parametrize("kind", NOT_REPRESENTED, ids=lambda kind: kind.value)
def test_details_that_a_format_cannot_represent_are_listed(kind: Format) -> None:
    assert f"| `{kind.value}` | {', '.join(NOT_REPRESENTED[kind])} |" in PAGE


@pytest.mark.parametrize("kind", [Format.CSV, Format.XGID, "snowie", "pdf"])
def test_what_is_no_format_of_matches_is_not_read(kind: Format | str) -> None:
    with pytest.raises(ValueError, match=r"expected one of the formats mat, .*javafibs, got "):
        list(read_matches(kind, ""))


def test_what_is_no_format_is_not_written() -> None:
    with pytest.raises(ValueError, match=r"expected one of the formats mat, sgf, .*csv, got 'pdf'"):
        list(write_matches("pdf", [EXAMPLE]))


def test_formats_may_be_given_by_name() -> None:
    (text,) = write_matches("mat", [EXAMPLE])
    assert [WRITERS[Format.MAT](EXAMPLE)] == [text]
    assert 1 == len(list(read_matches("mat", text)))


def test_matches_with_headers_can_be_members_of_a_set() -> None:
    other = evolve(EXAMPLE, tags={"Event": "The final"})
    assert {EXAMPLE, other, evolve(EXAMPLE)} == {other, EXAMPLE}
