"""References for the tables: plain recursions with fractions, and GNU Backgammon's own tables."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import pytest

from fibsbot.engine.arrays import Board, position_of
from fibsbot.match import Dice, MatchState
from fibsbot.notation import format_gnubg_id
from fibsbot.rules.plays import resulting_positions
from tests.formats.gnubg import GNUBG
from tests.patience import SOON

Counts: TypeAlias = tuple[int, ...]
"""Checkers on the points 1 to 6."""

THROWS: Final = {
    (high, low): Fraction(1 if high == low else 2, 36) for high in range(1, 7) for low in range(1, high + 1)
}
NOTHING: Final = (0,) * 6

DUMP: Final = shutil.which("bearoffdump") or shutil.which("bearoffdump", path="/usr/games")
ONE_SIDED: Final = Path("/usr/share/gnubg/gnubg_os0.bd")
TWO_SIDED: Final = Path("/var/lib/gnubg/gnubg_ts0.bd")


def requires_gnubg_tables(test: Any) -> Any:
    """Mark a test that needs gnubg's bear-off tables; where they are missing the test says so."""
    there = DUMP is not None and ONE_SIDED.exists() and TWO_SIDED.exists()
    missing = pytest.mark.skipif(not there, reason="gnubg's bear-off tables are not there: apt-get install gnubg")
    return pytest.mark.requires_gnubg(missing(test))


def board_of(own: Counts, opponent: Counts) -> Board:
    """Return the board on which both sides stand so."""
    cells = [0, *own, *(0,) * 12, *(-count for count in reversed(opponent)), 0]
    return np.array(cells, np.int8)


def few(checkers: int, points: int = 6) -> list[Counts]:
    """Return every position of up to a number of checkers on the lowest points."""
    rows = {
        tuple(stand.count(point) for point in range(1, 7))
        for stand in combinations_with_replacement(range(points + 1), checkers)
    }
    return sorted(rows - {NOTHING})


@cache
def after(counts: Counts, dice: Dice) -> frozenset[Counts]:
    """Return what the rules core says a roll can leave."""
    cells = (0, *counts, *(0,) * 19)
    return frozenset(left[1:7] for left in resulting_positions(cells, dice))


@cache
def throws_needed(counts: Counts) -> tuple[Fraction, ...]:
    """Return the chances of needing exactly 0, 1, 2 ... rolls, each roll played for the least mean."""
    if counts == NOTHING:
        return (Fraction(1),)
    chances = [Fraction(0)] * 20
    for dice, weight in THROWS.items():
        best = min((throws_needed(left) for left in after(counts, dice)), key=mean)
        for count, chance in enumerate(best):
            chances[count + 1] += weight * chance
    while not chances[-1]:
        chances.pop()
    return tuple(chances)


def mean(chances: tuple[Fraction, ...]) -> Fraction:
    """Return the mean of a distribution."""
    return sum((count * chance for count, chance in enumerate(chances)), Fraction(0))


@cache
def equity(own: Counts, opponent: Counts, owner: str) -> Fraction:
    """Return the value of a position for the player on roll.

    The owner of the cube is `player`, `opponent`, `centred`, or `nobody` where there is none.
    """
    if opponent == NOTHING:
        return Fraction(-1)
    rolls = no_double(own, opponent, owner)
    if owner in {"player", "centred"}:
        return max(rolls, min(Fraction(1), 2 * no_double(own, opponent, "opponent")))
    return rolls


@cache
def no_double(own: Counts, opponent: Counts, owner: str) -> Fraction:
    """Return the same where the cube stays as it is before this roll."""
    seen = {"player": "opponent", "opponent": "player"}.get(owner, owner)
    return sum(
        (weight * max(-equity(opponent, left, seen) for left in after(own, dice)) for dice, weight in THROWS.items()),
        Fraction(0),
    )


def gnubg_throws(number: int) -> tuple[list[float], list[float]]:
    """Return the chances in percent that gnubg's table has: of rolls until all are off, until the first is."""
    everything: list[float] = []
    first: list[float] = []
    for line in _dump(number, ONE_SIDED).splitlines():
        cells = line.split("\t")
        if re.fullmatch(r" *\d+", cells[0]) and len(cells) > 2:
            everything.append(float(cells[2]))
            if len(cells) > 5:
                first.append(float(cells[5]))
    return everything, first


def gnubg_equities(own: int, opponent: int) -> dict[str, float]:
    """Return the equities that gnubg's table of 6 checkers has, by what it calls them."""
    text = _dump(own * 924 + opponent, TWO_SIDED)
    return {name: float(value) for name, value in re.findall(r"^([A-Z][a-z ]+?) *: ([+-]\d\.\d+)$", text, re.MULTILINE)}


def gnubg_chances(boards: list[Board]) -> list[list[float]]:
    """Return win, win gammon, win backgammon, lose gammon and lose backgammon as gnubg looks them up."""
    assert GNUBG is not None
    ids = [format_gnubg_id(MatchState(position_of(board))) for board in boards]
    commands = [command for name in ids for command in (f"set gnubgid {name}", "eval")]
    with tempfile.TemporaryDirectory(prefix="gnubg-") as home:
        ran = subprocess.run(
            [GNUBG, "-t", "-q"],
            input="\n".join([*commands, "quit", "y", ""]),
            env={**os.environ, "HOME": home, "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
            timeout=SOON,
            check=False,
        )
    return [list(map(float, row.split()[:5])) for row in re.findall(r"^static: (.*)$", ran.stdout, re.MULTILINE)]


def _dump(number: int, table: Path) -> str:
    assert DUMP is not None
    command = [DUMP, "-n", str(number), str(table)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=SOON).stdout
