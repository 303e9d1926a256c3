"""A game that is added needs one small module, and one line where games are found: then every tool takes it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from fibsbot import games
from fibsbot.engine.rulesets.network import new_network, save_network
from fibsbot.formats.transcript_json import write_json
from fibsbot.games import load_ruleset
from fibsbot.rules import shared_laws
from fibsbot.rules.ruleset import TRIPLE
from tests.commands import Finished
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
import json, sys
from fibsbot import games
games._WHERE[{NAME!r}] = "{__name__}:RULES"
games.GAMES += ({NAME!r},)
from click.testing import CliRunner
from fibsbot.cli import main
for words in json.load(sys.stdin):
    done = CliRunner().invoke(main, words)
    print(json.dumps([done.exit_code, done.stdout, done.stderr]))
"""
"""The program with one line more in the list of games, for several commands: its start takes longer than most."""


def run(*commands: Sequence[str | Path]) -> list[Finished]:
    """Run commands of the program that has the game."""
    words = json.dumps([list(map(str, command)) for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=words,
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        timeout=PATIENCE,
    )
    return [Finished(*json.loads(line)) for line in done.stdout.splitlines()]


def invoke(*commands: Sequence[str | Path]) -> list[str]:
    """Return what commands print; they have to succeed."""
    done = run(*commands)
    assert [0] * len(commands) == [it.returncode for it in done], done
    return [it.stdout for it in done]


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a match of the new game."""
    path = tmp_path_factory.mktemp("new") / "match.json"
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(games._WHERE, NAME, f"{__name__}:RULES")
        path.write_text(write_json(play_match(NAME, 3, 1, most=1)), encoding="utf-8")
    load_ruleset.cache_clear()
    del games._LOADED[NAME]
    return path


@pytest.mark.slow
def test_its_rules_boards_and_plays_are_shown() -> None:
    game = ("--game", NAME)
    rules, board, picture, plays, count = invoke(
        ("rules", NAME),
        ("show", *game),
        ("show", *game, "--dice", "31", "--svg"),
        ("legal", *game, "--dice", "31"),
        ("perft", *game, "--depth", "1"),
    )
    assert "begin in two heaps" in rules
    assert "tawula" in board
    assert picture.startswith("<svg")
    assert str(len(plays.splitlines())) in count or len(plays.splitlines()) > 1


@pytest.mark.slow
def test_its_matches_are_replayed_and_exported(match: Path) -> None:
    kinds = ("json", "csv", "positions", "sheet")
    shown, listed, *exported = invoke(
        ("replay", match), ("replay", "--json", match), *(("export", match, "--format", kind) for kind in kinds)
    )
    assert "tawula" in shown
    assert {"decision", "game_end"} <= {json.loads(line)["kind"] for line in listed.splitlines()}
    assert all("tawula" in text for text in exported)


@pytest.mark.slow
def test_a_network_of_it_analyses_it_and_reports_it_and_without_one_an_analysis_says_so(
    match: Path, tmp_path: Path
) -> None:
    save_network(new_network(6, (1, 1, 0), 1), tmp_path / f"{NAME}.npz")
    evaluator = ("--evaluator", f"engine:0,networks={tmp_path}")
    page = tmp_path / "page.html"
    analysed, reported, refused = run(
        ("analyse", match, *evaluator, "--json"), ("report", match, *evaluator, "-o", page), ("analyse", match)
    )
    assert (0, 0) == (analysed.returncode, reported.returncode)
    assert json.loads(analysed.stdout.splitlines()[0])
    assert "Tawula" in page.read_text(encoding="utf-8")
    assert 1 == refused.returncode
    assert "tawula.npz" in refused.stderr


@pytest.mark.slow
def test_bots_play_it_on_a_server(tmp_path: Path) -> None:
    (played,) = invoke(
        (
            *("demo", "--game", NAME, "--seed", "1", "--strategy", "pips", "--opponent-strategy", "blots"),
            *("--log-dir", tmp_path),
        )
    )
    assert "wins the match to 1" in played
    (log,) = tmp_path.glob("*.jsonl")
    (replayed,) = invoke(("replay", "--strict", log))
    assert "tawula" in replayed
