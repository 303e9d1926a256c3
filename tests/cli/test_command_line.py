"""The command line as a whole: help, errors, exit statuses."""

import os
import subprocess
import sys

import click
import pytest

from fibsbot.cli import COMMANDS, EXIT_USAGE, main


def fibsbot(*arguments: str, **options: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does."""
    environment = {**os.environ, **options, "COLUMNS": "80"}
    return subprocess.run(
        [sys.executable, "-m", "fibsbot", *arguments], capture_output=True, text=True, check=False, env=environment
    )


def command(name: str) -> click.Command:
    """Import a command."""
    found = main.get_command(click.Context(main), name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_command_says_of_itself(name: str) -> None:
    assert COMMANDS[name][1] == (command(name).help or "").split("\n\n")[0].replace("\n", " ")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_into_80_columns(name: str) -> None:
    context = click.Context(command(name), info_name=f"fibsbot {name}", terminal_width=80, max_content_width=80)
    assert [] == [line for line in command(name).get_help(context).splitlines() if len(line) > 80]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_help_text(name: str) -> None:
    options = [parameter for parameter in command(name).params if isinstance(parameter, click.Option)]
    assert [] == [
        option.name for option in options if not option.help and len(option.opts[0]) > 2 and not option.hidden
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nosuch"], "fibsbot: No such command 'nosuch'."),
        (["legal", "rubbish"], "fibsbot: expected an XGID of 10 fields between colons, got 'rubbish'"),
        (["perft", "--depth", "x"], "fibsbot perft: Invalid value for '--depth': 'x' is not a valid integer range."),
        (["parse", "/no/such/file"], "fibsbot: cannot read /no/such/file: No such file or directory"),
        (["demo", "--strategy", "nosuch"], "fibsbot: no strategy is called 'nosuch'"),
        (["soak", "--opponent", "nosuch"], "fibsbot: no strategy is called 'nosuch'"),
        (["demo", "--log-dir", "/dev/null/x"], "fibsbot: cannot make the folder /dev/null/x: Not a directory"),
    ],
)
def test_bad_input_gets_one_line_and_status_2(arguments: list[str], text: str) -> None:
    result = fibsbot(*arguments)
    assert (EXIT_USAGE, 1) == (result.returncode, len(result.stderr.splitlines())), result.stderr
    assert result.stderr.startswith(text)


def test_without_arguments_the_help_is_shown() -> None:
    result = fibsbot()
    assert result.returncode == EXIT_USAGE
    assert "Commands:" in result.stderr


def test_a_reader_that_has_enough_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        result = subprocess.run(
            [sys.executable, "-m", "fibsbot", "perft", "--help"], stdout=pipe, stderr=subprocess.PIPE, check=False
        )
    assert not result.stderr
