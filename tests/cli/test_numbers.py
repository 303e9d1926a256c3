"""Every number that a user gives is finite."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from fibsbot.cli import COMMANDS, main
from fibsbot.cli.numbers import FiniteRange


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_takes_any_float(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    floats = [it for it in command.params if isinstance(it.type, click.types.FloatParamType)]
    assert all(isinstance(it.type, FiniteRange) for it in floats)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf"])
def test_what_is_no_number_is_refused_in_one_line(text: str) -> None:
    result = CliRunner().invoke(main, ["soak", "--stall", text])
    assert result.exit_code == 2
    assert "'--stall'" in result.output.splitlines()[-1]
