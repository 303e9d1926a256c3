"""The plug-in that docs/how-to/strategies.md shows can be installed and plays."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from fibsbot.cli import main
from fibsbot.strategies.base import Opponent, Strategy
from fibsbot.strategies.loader import available, check, load

PAGE: Final = (Path(__file__).parent.parent.parent / "docs/how-to/strategies.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(text)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the page's example as an installer would: the module and what is known of its distribution."""
    project = tomllib.loads(block("toml"))["project"]
    (tmp_path / "fibsbot_careful.py").write_text(block("python"), encoding="utf-8")
    about = tmp_path / f"fibsbot_careful-{project['version']}.dist-info"
    about.mkdir()
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (about / "METADATA").write_text(head, encoding="utf-8")
    groups = [
        "\n".join((f"[{name}]", *(f"{k} = {v}" for k, v in points.items())))
        for name, points in project["entry-points"].items()
    ]
    (about / "entry_points.txt").write_text("\n\n".join(groups), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("installed")
def test_the_example_is_found_and_passes_the_check() -> None:
    strategy = load("careful")
    assert isinstance(strategy, Strategy)
    assert () == check(strategy)
    assert strategy.accept_invitation(Opponent("ford"), 25)


@pytest.mark.usefixtures("installed")
def test_the_example_is_listed_with_its_origin() -> None:
    result = CliRunner().invoke(main, ["strategies", "--json"])
    (row,) = (json.loads(line) for line in result.stdout.splitlines() if '"careful"' in line)
    assert ("fibsbot-careful", "1.0", "") == (row["distribution"], row["version"], row["error"])
    assert row["description"] == "Leave as few blots as possible, and handle the cube by the pip count."


def test_the_page_names_every_strategy_of_ours() -> None:
    ours = [origin.name for origin in available() if origin.distribution == "fibsbot"]
    assert [] == [name for name in ours if f"| `{name}` |" not in PAGE]
