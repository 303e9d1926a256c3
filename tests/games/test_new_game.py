"""A game that is added needs one small module, and one line where games are found: then every tool takes it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from fibsbot import games
from fibsbot.engine.rulesets.network import new_network, save_network
from fibsbot.formats.transcript_json import write_json
from fibsbot.games import load_ruleset
from fibsbot.rules import shared_laws
from fibsbot.rules.ruleset import TRIPLE
from tests.transcript.played_matches import play_match

ROOT: Final = Path(__file__).parents[2]
PATIENCE: Final = 120
NAME: Final = "tawula"
RULES: Final = shared_laws.like_backgammon(
    name=NAME,
    title="Tawula",
    text="Tawula: checkers are pinned, as in Plakoto, but begin in two heaps, and nothing is won by a trap.",
    source="made up for the tests",
    setup={24: 8, 13: 7},
    divide=shared_laws.doubles_twice,
    move_laws=(),
    landing=shared_laws.pins,
    laws=TRIPLE,
)
"""The whole of a new game, as its module would have it."""


PROGRAM: Final = f"""
import sys
from fibsbot import games
games._WHERE[{NAME!r}] = "{__name__}:RULES"
games.GAMES += ({NAME!r},)
from fibsbot.__main__ import main
sys.exit(main())
"""
"""The program with one line more in the list of games."""


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the program that has the game."""
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=PATIENCE)


def invoke(*arguments: str | Path) -> str:
    """Return what a command prints; it has to succeed."""
    done = run(*arguments)
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a match of the new game."""
    monkeypatch.setitem(games._WHERE, NAME, f"{__name__}:RULES")
    path = tmp_path / "match.json"
    path.write_text(write_json(play_match(NAME, 3, 1, most=1)), encoding="utf-8")
    load_ruleset.cache_clear()
    del games._LOADED[NAME]
    return path


def test_its_rules_boards_and_plays_are_shown() -> None:
    assert "begin in two heaps" in invoke("rules", NAME)
    assert "tawula" in invoke("show", "--game", NAME)
    assert invoke("show", "--game", NAME, "--dice", "31", "--svg").startswith("<svg")
    plays = invoke("legal", "--game", NAME, "--dice", "31").splitlines()
    assert str(len(plays)) in invoke("perft", "--game", NAME, "--depth", "1") or len(plays) > 1


def test_its_matches_are_replayed_and_exported(match: Path) -> None:
    assert "tawula" in invoke("replay", match)
    rows = [json.loads(line) for line in invoke("replay", "--json", match).splitlines()]
    assert {"decision", "game_end"} <= {row["kind"] for row in rows}
    for kind in ("json", "csv", "positions", "sheet"):
        assert "tawula" in invoke("export", match, "--format", kind)


def test_a_network_of_it_analyses_it_and_reports_it(match: Path, tmp_path: Path) -> None:
    save_network(new_network(6, (1, 1, 0), 1), tmp_path / f"{NAME}.npz")
    evaluator = f"engine:0,networks={tmp_path}"
    analysed = json.loads(invoke("analyse", match, "--evaluator", evaluator, "--json").splitlines()[0])
    assert analysed
    page = tmp_path / "page.html"
    invoke("report", match, "--evaluator", evaluator, "-o", page)
    assert "Tawula" in page.read_text(encoding="utf-8")


def test_without_a_network_an_analysis_says_that_there_is_none(match: Path) -> None:
    done = run("analyse", match)
    assert 1 == done.returncode
    assert "tawula.npz" in done.stderr


@pytest.mark.slow
def test_bots_play_it_on_a_server(tmp_path: Path) -> None:
    played = invoke(
        *("demo", "--game", NAME, "--seed", "1", "--strategy", "pips", "--opponent-strategy", "blots"),
        *("--log-dir", tmp_path),
    )
    assert "wins the match to 1" in played
    (log,) = tmp_path.glob("*.jsonl")
    assert "tawula" in invoke("replay", "--strict", log)
