"""Whole matches by other laws, over TCP: two bots agree on them, and neither is ever contradicted by the server."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from fibsbot.arena.soak import Entrant, play_pair
from fibsbot.cli import main
from fibsbot.rules.law_words import parse_law_words
from fibsbot.server.limits import SHORT_LIVED
from fibsbot.server.server import Server
from fibsbot.strategies.heuristic import HeuristicStrategy
from tests.marks import some_slow

AGREED = (
    "1931 point",
    "1931 add-one",
    "1931 add-one limit 4",
    "1970 double no-triple",
    "modern reject",
    "modern no-cube",
    "fibs reject limit 8",
)


@pytest.mark.parametrize("words", some_slow(AGREED, lambda it: it != AGREED[0]))
async def test_two_bots_play_a_match_by_agreed_laws(words: str) -> None:
    async with Server(seed=5, limits=SHORT_LIVED) as server:
        pair = (Entrant("arthur", HeuristicStrategy()), Entrant("ford", HeuristicStrategy()))
        results = await play_pair(server, *pair, matches=1, length=2, strict=True, laws=parse_law_words(words))
    for result in results:
        counters = result.counters
        assert (1, 0, 0) == (counters.matches, counters.differences, counters.fallbacks)


def demo(tmp_path: Path, *options: str) -> list[str]:
    """Return the lines of a demo between two heuristics."""
    arguments = ["demo", "--strategy", "heuristic", "--log-dir", str(tmp_path), *options]
    result = CliRunner().invoke(main, arguments)
    assert 0 == result.exit_code, result.output
    return result.output.splitlines()


@pytest.mark.slow
def test_the_demo_shows_the_point_game(tmp_path: Path) -> None:
    text = " ".join(demo(tmp_path, "--laws", "1931", "--point-game", "--seed", "4"))
    assert "The match is played by the laws of 1931; the Point Game" in text
    assert "(scores " in text
    assert "wins the match to 50" in text


@pytest.mark.slow
def test_the_demo_shows_ties_that_raise_the_cube(tmp_path: Path) -> None:
    lines = demo(tmp_path, "--laws", "1931", "--automatic", "add-one", "--limit", "4", "--seed", "9")
    assert any("Both roll" in line and "the cube shows 2" in line for line in lines)


@pytest.mark.slow
def test_the_demo_shows_rejected_rolls(tmp_path: Path) -> None:
    lines = demo(tmp_path, "--laws", "modern", "--reject-first", "--seed", "4")
    assert any("rejects the roll, the cube shows 2" in line for line in lines)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--limit", "4"], "expected double, add-one or reject with limit, got limit alone"),
        (["--reject-first", "--no-cube"], "expected a cube where rolls can raise it, got no-cube"),
        (["--laws", "1930"], "'1930' is not one of '1931', '1970', 'modern', 'fibs'"),
    ],
)
@pytest.mark.parametrize("command", ["demo", "serve"])
def test_options_that_name_no_laws_are_refused_in_a_line(command: str, options: list[str], reason: str) -> None:
    result = CliRunner().invoke(main, [command, *options])
    assert 2 == result.exit_code
    assert reason in result.output
