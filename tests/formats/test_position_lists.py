"""Lists of positions: a line a decision, as other programs read them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.formats import Format, FormatError
from fibsbot.formats.position_lists import SnowiePosition, is_representable, read_snowie, write_positions, write_snowie
from fibsbot.match import MatchState, Phase
from fibsbot.notation import parse_gnubg_id, parse_state
from fibsbot.position import Position
from fibsbot.rules.laws import Level
from fibsbot.rules.state import Seat
from fibsbot.transcript import Decision, Transcript, decisions, walk
from tests.formats.gnubg import GNUBG, requires_gnubg
from tests.formats.simulated_matches import simulate
from tests.hypothesis_strategies import match_states
from tests.patience import SOON

MATCH: Final = simulate(18, 5)
START: Final = "1;0;0;0;0;alice;bob;0;0;0;1;0;0;-2;0;0;0;0;5;0;3;0;0;0;-5;5;0;0;0;-3;0;-5;0;0;0;0;2;0;0;0;"
"""As GNU Backgammon writes the opening position of a match to one point."""


def decided(match: Transcript) -> list[Decision]:
    """Return all decisions but those about resignations."""
    made = [it for game in match.games for step in walk(game) for it in decisions(step)]
    return [it for it in made if not isinstance(it.answer, Level) and it.state.phase is not Phase.RESIGNED]


def test_there_is_a_line_for_every_decision() -> None:
    states = [
        evolve(it.state, redoubles=0, redoubled=None, on_turn=True) for it in decided(MATCH)
    ]  # no format says more
    lines = write_positions(MATCH, Format.XGID).splitlines()
    assert states == [parse_state(line) for line in lines]
    ids = write_positions(MATCH, Format.GNUBG_IDS).splitlines()
    higher_first = [evolve(it, dice=it.dice and (max(it.dice), min(it.dice))) for it in states]
    assert higher_first == [parse_gnubg_id(line) for line in ids]
    snowie = [read_snowie(line).state for line in write_positions(MATCH, Format.SNOWIE).splitlines()]
    assert [state for state in states if is_representable(state)] == snowie


def test_the_board_does_not_turn_round() -> None:
    """X is the player at seat A in every line, whoever decides."""
    turns = [line.split(":")[3] for line in write_positions(MATCH, Format.XGID).splitlines()]
    on_turn = [it.seat if it.state.phase is not Phase.DOUBLED else it.seat.other for it in decided(MATCH)]
    assert ["1" if seat is Seat.A else "-1" for seat in on_turn] == turns


def test_a_position_that_a_format_cannot_represent_has_no_line() -> None:
    games = tuple(evolve(game, start=evolve(game.start, cube=3)) for game in MATCH.games[:1])
    assert not write_positions(evolve(MATCH, games=games), Format.XGID)
    assert not write_positions(evolve(MATCH, games=games), Format.GNUBG_IDS)
    assert write_positions(evolve(MATCH, games=games), Format.SNOWIE)


def test_the_opening_position_is_the_well_known_line() -> None:
    start = SnowiePosition(MatchState(Position.start(), length=1), ("alice", "bob"))
    assert f"{START}\n" == write_snowie(start)
    assert start == read_snowie(START)
    assert start == read_snowie(START.replace(";0;alice", "; 0\x1f;alice"))


@given(match_states(resignations=False), st.sampled_from(Seat), st.text())
def test_a_state_survives_its_position_line(state: MatchState, seat: Seat, name: str) -> None:
    position = SnowiePosition(state, (name, "bob"), seat)
    if not is_representable(state):
        with pytest.raises(ValueError, match="no position line can say what is doubled"):
            write_snowie(position)
        return
    line = write_snowie(position)
    assert evolve(state, redoubles=0) == read_snowie(line).state
    assert line == write_snowie(read_snowie(line))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "expected a position line of Snowie, got ''"),
        (START[:-4], "line 1: expected a position line of 40 fields, each with a semicolon behind it"),
        (START.replace("1;", "one;", 1), "line 1: expected a number in field 1 of a position line, got 'one'"),
        (START.replace("-5;", "-9;"), "line 1: expected a position of at most 15 checkers a side"),
        (START[:-4] + "7;1;", "line 1: expected two dice from 1 to 6, or 0 and 0"),
        (START[:-4] + "0;1;", "line 1: expected two dice from 1 to 6, or 0 and 0"),
        (START.replace("bob;0;0;", "bob;0;1;"), "line 1: expected scores below the length of the match"),
        (START.replace("bob;0;0;", "bob;0;-1;"), "line 1: expected scores below the length of the match"),
        (START.replace("bob;0;0;0;1;0", "bob;0;0;0;0;0"), "line 1: expected a cube from 1 to "),
        (START.replace("bob;0;0;0;1;0", "bob;0;0;0;1;2"), "line 1: expected a cube from 1 to "),
        (
            START.replace("0;alice", "2;alice"),
            "line 1: expected 0 or 1 for the player on roll and a length of at least 0",
        ),
        (START.replace("1;", "-1;", 1), "line 1: expected 0 or 1 for the player on roll and a length of"),
    ],
)
def test_errors_are_one_line(line: str, told: str) -> None:
    with pytest.raises(FormatError) as error:
        read_snowie(line)
    assert str(error.value).startswith(told)


_SCRIPT: Final = """
import gnubg
for number, line in enumerate(open("asked.txt", encoding="utf-8")):
    open("line.txt", "w", encoding="utf-8").write(line)
    gnubg.command("set jacoby " + ("on" if line.split(";")[1] == "1" else "off"))
    gnubg.command('import snowietxt "line.txt"')
    gnubg.command('export position snowietxt "%d.txt"' % number)
"""


@requires_gnubg
@pytest.mark.slow
def test_gnubg_writes_the_same_line_for_every_position_that_it_reads(tmp_path: Path) -> None:
    texts = [write_positions(simulate(seed), Format.SNOWIE) for seed in range(20)]
    lines = [line for text in texts for line in text.splitlines()][::9]
    (tmp_path / "asked.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "script.py").write_text(_SCRIPT)
    subprocess.run(
        [str(GNUBG), "-t", "-q", "-p", "script.py"],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        timeout=SOON,
        check=True,
    )
    found = [(tmp_path / f"{number}.txt").read_text(encoding="utf-8").strip() for number in range(len(lines))]
    assert lines == found
