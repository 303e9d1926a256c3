"""`fibsbot strategies` lists everything that is installed, whatever state it is in."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint

import pytest
from click.testing import CliRunner

from fibsbot.cli import main
from fibsbot.strategies import loader


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a strategy that cannot be imported beside one of ours."""
    points = [
        EntryPoint("broken", "fibsbot.nowhere:Strategy", loader.ENTRY_POINT_GROUP),
        EntryPoint("random", "fibsbot.strategies.random_play:RandomStrategy", loader.ENTRY_POINT_GROUP),
    ]
    monkeypatch.setattr(loader, "entry_points", lambda group: points if group == loader.ENTRY_POINT_GROUP else [])


def test_each_has_a_row_without_tabs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    result = CliRunner().invoke(main, ["strategies"])
    assert 0 == result.exit_code
    assert "\t" not in result.stdout
    rows = {line.split()[0]: line.rstrip() for line in result.stdout.splitlines()}
    assert {"heuristic", "random"} <= set(rows)
    assert "fibsbot.strategies.heuristic:HeuristicStrategy" in rows["heuristic"]
    assert rows["heuristic"].endswith("yes")
    assert not rows["random"].endswith("yes")


@pytest.mark.usefixtures("broken")
def test_a_broken_one_is_listed_with_its_error() -> None:
    result = CliRunner().invoke(main, ["strategies", "--json"])
    first, second = (json.loads(line) for line in result.stdout.splitlines())
    assert 0 == result.exit_code
    assert "broken" == first["name"]
    assert "ModuleNotFoundError" in first["error"]
    assert ("random", "") == (second["name"], second["error"])
    assert not first["evaluator"]
    assert not second["evaluator"]


@pytest.mark.usefixtures("broken")
def test_a_broken_one_has_its_error_in_its_row() -> None:
    result = CliRunner().invoke(main, ["strategies"], env={"COLUMNS": "100"})
    assert "what it does" in result.stdout
    assert "ModuleNotFoundError" in result.stdout


def test_a_narrow_terminal_gets_whole_names() -> None:
    result = CliRunner().invoke(main, ["strategies"], env={"COLUMNS": "40"})
    assert "heuristic" in result.stdout
    assert "…" not in result.stdout
