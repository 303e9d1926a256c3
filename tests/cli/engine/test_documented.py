"""The page about these commands names every option and every field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
import pytest
from click.testing import CliRunner

from fibsbot.cli import main
from fibsbot.cli.rollout_output import RolloutOutput
from fibsbot.engine.rollout import CandidateResult, RolloutPlan, RolloutResult, cube_candidates
from fibsbot.formats.mat import write_mat
from fibsbot.notation import parse_state
from tests.cli.engine.runner import START, Asking
from tests.cli.engine.test_rollout import rolled
from tests.replay.sample_match import sample_transcript

PAGE: Final = (Path(__file__).parents[3] / "docs" / "reference" / "commands-engine.md").read_text("utf-8")


def fields(thing: Any) -> Iterator[str]:
    """Yield the names of all fields of an object and of what is in it."""
    if isinstance(thing, dict):
        for name, value in thing.items():
            yield name
            yield from fields(value)
    elif isinstance(thing, list):
        for value in thing:
            yield from fields(value)


def unknown(thing: Any) -> set[str]:
    return {name for name in fields(thing) if f"`{name}`" not in PAGE}


@pytest.mark.parametrize("name", ["eval", "best", "cube", "rollout", "analyse"])
def test_every_option_is_on_the_page(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    options = [it.opts[0] for it in command.params if isinstance(it, click.Option)]
    assert [] == [option for option in options if f"`{option}" not in PAGE]


@pytest.mark.slow
def test_every_field_is_on_the_page(ask: Asking, tmp_path: Path) -> None:
    for words in (["eval", START], ["best", START, "--dice", "31"], ["cube", START]):
        assert set() == unknown(json.loads(ask.text(*words, "--plies", "0", "--json")))
    path = tmp_path / "match.mat"
    path.write_text(write_mat(sample_transcript()), "utf-8")
    words = ["analyse", str(path), "--evaluator", "heuristic", "--json"]
    assert set() == unknown(json.loads(CliRunner().invoke(main, words).stdout))


def test_every_field_of_a_rollout_is_on_the_page() -> None:
    state = parse_state(START)
    found: tuple[CandidateResult, ...] = tuple(rolled(it, 0.2) for it in cube_candidates(state))
    assert set() == unknown(
        RolloutOutput(state, RolloutResult(RolloutPlan(), found, 1.0), cube=True, finished=True).row()
    )
