"""docs/reference/analysis.md agrees with the program."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import click
import pytest
from attrs import evolve

from fibsbot.analysis.dice import LEAST_RELIABLE
from fibsbot.analysis.model import CLOSE_CUBE_DECISION, EQUITY_TOLERANCE
from fibsbot.cli.stats import stats
from fibsbot.match import ROLL_WAYS
from tests.formats.simulated_matches import simulate

PAGE: Final = (Path(__file__).parents[2] / "docs" / "reference" / "analysis.md").read_text("utf-8")


def test_every_option_of_stats_is_documented() -> None:
    known = {option for it in stats.params if isinstance(it, click.Option) for option in it.opts}
    table = PAGE.partition("| option |")[2].partition("\n\n")[0]
    assert known == set(re.findall(r"`(--?[a-z-]+)", table))


def test_thresholds_are_documented() -> None:
    assert f"no more than {CLOSE_CUBE_DECISION} apart" in PAGE
    assert EQUITY_TOLERANCE == 1e-7
    assert "up to 1e-7 is none" in PAGE
    assert LEAST_RELIABLE == 5
    least = min(ROLL_WAYS)
    assert f"fewer than {36 * LEAST_RELIABLE / least:.0f} times" in PAGE


@pytest.mark.slow
def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    match = simulate(1, 1, names=("anna", "bert"))
    game = match.games[0]
    exec(code, {"transcript": evolve(match, games=(evolve(game, entries=game.entries[:1], result=None),))})  # noqa: S102 - our own page
    lines = capsys.readouterr().out.splitlines()
    assert ["anna", "bert"] == [line.split()[0] for line in lines]
