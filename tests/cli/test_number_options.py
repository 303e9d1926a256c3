"""Every number that a user gives is finite."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from fibsbot.cli import main
from fibsbot.cli.options import FiniteRange
from tests.commands import fibsbot


def params(command: click.Command) -> Iterator[click.Parameter]:
    """Yield what a command and its subcommands take."""
    yield from command.params
    if isinstance(command, click.Group):
        for name in command.list_commands(context := click.Context(command)):
            if below := command.get_command(context, name):
                yield from params(below)


def test_no_option_takes_any_float() -> None:
    floats = [it.type for it in params(main) if isinstance(it.type, click.types.FloatParamType)]
    assert len(floats) > 5
    assert all(isinstance(kind, FiniteRange) for kind in floats)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf"])
def test_what_is_no_number_is_refused_in_one_line(text: str) -> None:
    result = CliRunner().invoke(main, ["demo", "--pause", text])
    assert result.exit_code == 2
    assert "'--pause'" in result.output.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["report", "--match", "abc"], "fibsbot report: Invalid value for '--match': 'abc' is not a whole number.\n"),
        (["report", "-j", "x"], "fibsbot report: Invalid value for '-j': 'x' is not a whole number.\n"),
        (["demo", "--pause", "x"], "fibsbot demo: Invalid value for '--pause': 'x' is not a number.\n"),
        (["demo", "--seed", "1.5"], "fibsbot demo: Invalid value for '--seed': '1.5' is not a whole number.\n"),
    ],
)
def test_a_text_that_is_no_number_is_refused_as_such(words: list[str], text: str) -> None:
    assert (2, text) == ((done := fibsbot(*words)).returncode, done.stderr)
