"""The statistics of an analysis by gnubg's values are those that gnubg itself shows for the same match."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from fibsbot.analysis.match_analysis import analyse_match
from fibsbot.analysis.model import ErrorSum, MatchAnalysis
from fibsbot.analysis.skill import LEVEL_THRESHOLDS, SkillLevel, skill_level
from fibsbot.formats.mat import write_mat
from fibsbot.rules.state import Seat
from fibsbot.strategies.gnubg import GnubgStrategy
from fibsbot.strategies.heuristic import HeuristicStrategy
from tests.analysis.random_matches import play_match
from tests.formats.gnubg import GNUBG, SECONDS, requires_gnubg

pytestmark = pytest.mark.slow

SEED, LENGTH = 3, 5
"""A match of one game with a redouble, a wrong take, a missed double, and a double that was too good."""
SCRIPT: Final = """
import gnubg
for what in ("chequerplay", "cubedecision"):
    gnubg.command("set analysis %s evaluation plies 0" % what)
gnubg.command("set confirm new off")
gnubg.command("set analysis luck off")
gnubg.command('import mat "match.mat"')
gnubg.command("analyse match")
gnubg.command("show statistics match")
"""


def gnubg_says(script: str, folder: Path) -> str:
    """Return what gnubg prints while it runs a script."""
    assert GNUBG is not None
    (folder / "script.py").write_text(script)
    ran = subprocess.run(
        [GNUBG, "-t", "-q", "-p", "script.py"],
        cwd=folder,
        env={**os.environ, "HOME": str(folder), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS,
        check=False,
    )
    return ran.stdout.decode("utf-8", "replace")


def rows_of(output: str) -> dict[str, list[tuple[str, str]]]:
    """Return the rows of gnubg's statistics by their label, which may occur in several parts, in order."""
    rows: dict[str, list[tuple[str, str]]] = {}
    for line in output.splitlines():  # columns of 40, 23 and 23 characters
        rows.setdefault(line[:40].strip(), []).append((line[41:64].strip(), line[65:].strip()))
    return rows


def numbers(cell: str) -> list[float]:
    """Return the numbers of a cell."""
    return [float(number) for number in re.findall(r"[-+]?[0-9]+(?:\.[0-9]+)?", cell)]


def expected_numbers(found: MatchAnalysis, seat: Seat) -> dict[str, list[list[float]]]:
    """Return the first numbers that gnubg should show of a player, in each part of its statistics."""
    figures = found.figures_of(seat)
    losses = (
        (figures.play_loss, figures.play_loss_in_chances),
        (figures.cube_loss, figures.cube_loss_in_chances),
        (figures.loss, figures.loss_in_chances),
    )
    rates = (figures.play_error_rate, figures.cube_error_rate, figures.error_rate)
    rating = found.estimated_rating(seat)
    assert rating is not None
    errors = figures.cube_errors
    return {
        "Unforced moves": [[figures.unforced_plays]],
        "Close or actual cube decisions": [[figures.cube_decisions]],
        "Error total EMG (MWC)": [[-loss, -100 * chances] for loss, chances in losses],
        "Error rate mEMG (MWC)": [[-1000 * (rate or 0.0)] for rate in rates],
        "Missed doubles below CP (EMG (MWC))": [count_and_loss(errors.missed_doubles_below_cash_point)],
        "Missed doubles above CP (EMG (MWC))": [count_and_loss(errors.missed_doubles_above_cash_point)],
        "Wrong doubles below DP (EMG (MWC))": [count_and_loss(errors.wrong_doubles_below_doubling_point)],
        "Wrong doubles above TG (EMG (MWC))": [count_and_loss(errors.wrong_doubles_too_good)],
        "Wrong takes (EMG (MWC))": [count_and_loss(errors.wrong_takes)],
        "Wrong passes (EMG (MWC))": [count_and_loss(errors.wrong_passes)],
        "Error based abs. FIBS rating": [[rating]],
    }


def count_and_loss(errors: ErrorSum) -> list[float]:
    """Return the numbers of a row of errors with the cube."""
    return [errors.count, -errors.loss] if errors.count else [0]


@requires_gnubg
def test_gnubg_shows_the_same_statistics(gnubg: GnubgStrategy, tmp_path: Path) -> None:
    match = play_match(HeuristicStrategy(), SEED, LENGTH)
    (tmp_path / "match.mat").write_text(write_mat(match))
    rows = rows_of(gnubg_says(SCRIPT, tmp_path))
    found = analyse_match(match, gnubg, luck=False)
    kinds = 0
    for seat in Seat:
        for label, parts in expected_numbers(found, seat).items():
            assert len(parts) == len(rows[label]), label
            for ours, cells in zip(parts, rows[label], strict=True):
                theirs = numbers(cells[seat])[: len(ours)]
                assert ours == pytest.approx(theirs, abs=0.2 if "rat" in label else 2e-3), (label, cells)
                kinds += label.endswith("(EMG (MWC))") and ours[0] > 0
        levels = [it and it.value for it in (found.figures_of(seat).play_level, found.figures_of(seat).level)]
        assert levels == [rows[label][0][seat] for label in ("Chequerplay rating", "Overall rating")]
    assert kinds == 3, "the match has errors with the cube of several kinds"


@requires_gnubg
def test_gnubg_has_the_same_levels(tmp_path: Path) -> None:
    rates = [rate for least in LEVEL_THRESHOLDS.values() for rate in (least, max(least - 1e-5, 0.0))]
    output = gnubg_says(f"import gnubg; print('levels', *map(gnubg.errorrating, {rates}))", tmp_path)
    levels = list(SkillLevel)
    best = len(levels) - 1
    assert f"levels {' '.join(str(best - levels.index(skill_level(rate))) for rate in rates)}" in output
