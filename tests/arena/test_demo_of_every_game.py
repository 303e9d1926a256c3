"""`fibsbot demo --game NAME`: golden transcripts of whole matches over TCP.

`FIBSBOT_GOLDEN=write pytest tests/arena/test_demo_of_every_game.py` updates them; read the difference before
committing it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from fibsbot.cli import main
from fibsbot.games import GAMES
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.strategies.base import PlayAnswer
from fibsbot.strategies.heuristic.strategy import HeuristicStrategy

GOLDEN: Final = Path(__file__).parents[1] / "data" / "arena"


SEEDS: Final = {
    "tabula": 7, "irish": 2, "swedish": 2, "dutch": 1, "acey-deucey": 1, "buff": 3, "around": 2, "plakoto": 2,
    "gioul": 1, "greek": 9, "russian1": 3, "russian2": 2, "ticktack": 4, "nackgammon": 2, "hyper": 6, "portes": 2,
    "fevga": 3, "narde": 1, "gulbara": 2, "tapa": 2, "longgammon": 2, "misere": 2,
}  # fmt: skip
"""A seed for each game; with these its own laws come up soon: draws, doubles that are named, parts that pass over."""
QUICK: Final = {"irish", "ticktack", "hyper", "portes"}
"""Those of which a match takes least time."""


def test_every_game_has_a_transcript() -> None:
    assert set(GAMES) == set(SEEDS)


@pytest.mark.parametrize(
    ("game", "seed"),
    [pytest.param(*it, marks=[] if it[0] in QUICK else [pytest.mark.slow]) for it in SEEDS.items()],
)
def test_a_match_is_shown_as_in_the_golden_file(game: str, seed: int, tmp_path: Path) -> None:
    words = ["demo", "--game", game, "--seed", str(seed), "--strategy", "pips", "--opponent-strategy", "blots"]
    result = CliRunner().invoke(main, [*words, "--log-dir", str(tmp_path)])
    assert 0 == result.exit_code, result.output
    text = re.sub(r"127.0.0.1:\d+", "127.0.0.1:PORT", result.output.partition("\nThe session log is ")[0])
    golden = GOLDEN / f"{game}.golden"
    if os.environ.get("FIBSBOT_GOLDEN") == "write":
        golden.write_text(text)
    assert golden.read_text() == text


@pytest.mark.parametrize(("given", "said"), [
    ("pip", "did you mean 'pips'?"), ("heuristic", "expected a strategy that plays greek, such as engine, pips")
])  # fmt: skip
@pytest.mark.parametrize("option", ["--strategy", "--opponent-strategy"])
def test_a_strategy_that_does_not_play_the_game_is_refused_in_a_line(
    option: str, given: str, said: str, tmp_path: Path
) -> None:
    result = CliRunner().invoke(main, ["demo", "--game", "greek", option, given, "--log-dir", str(tmp_path)])
    assert 2 == result.exit_code
    assert said in (result.output or str(result.exception))


@pytest.mark.slow
def test_doubles_passes_and_resignations_are_shown_in_every_game(tmp_path: Path) -> None:
    words = ["demo", "--game", "nackgammon", "--length", "5", "--seed", "2"]
    words += ["--strategy", "heuristic", "--opponent-strategy", "heuristic"]
    result = CliRunner().invoke(main, [*words, "--log-dir", str(tmp_path)])
    assert 0 == result.exit_code, result.output
    lines = result.output.splitlines()
    assert ["Game 1", "Game 2", "Game 3"] == [line for line in lines if line.startswith("Game ")]
    assert 4 == sum(" doubles to " in line for line in lines)
    assert 3 == sum(line.endswith(" takes") for line in lines)
    for line in ("opponent wins 2 points (resigned).", "fibsbot wins 1 point (passed).", "opponent passes"):
        assert line in lines
    assert re.search(r"^ 1 +opponent +2 +\d+ +resigned *\n 2 +fibsbot +1 +\d+ +passed *$", result.output, re.MULTILINE)


@pytest.mark.slow
def test_where_only_the_set_up_differs_strategies_for_backgammon_play(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = []
    choose_play = HeuristicStrategy.choose_play

    def noted(strategy: HeuristicStrategy, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        asked.append(state)
        return choose_play(strategy, state, plays)

    monkeypatch.setattr(HeuristicStrategy, "choose_play", noted)
    words = ["demo", "--game", "nackgammon", "--strategy", "heuristic", "--opponent-strategy", "pips", "--seed", "1"]
    result = CliRunner().invoke(main, [*words, "--log-dir", str(tmp_path)])
    assert 0 == result.exit_code, result.output
    assert len(asked) > 5
