"""The command line as a whole: help, errors, exit statuses."""

import io
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import TextIO

import click
import pytest

from fibsbot import cli
from fibsbot.cli import COMMANDS, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_READER_GONE, EXIT_USAGE, Stream, main
from tests.commands import fibsbot, fibsbot_process

MATCH = "tests/data/formats/mat/match.mat"
BARE_XGID = "-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10"


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


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nosuch"], "fibsbot: No such command 'nosuch'."),
        (["reprot"], "fibsbot: No such command 'reprot'. (Did you mean one of: 'export', 'report'?)"),
        (["analyse", "/no/such/file"], "fibsbot: cannot read /no/such/file: No such file or directory"),
        (["analyse", "--evaluator", "engine:99", MATCH], "fibsbot: strategy 'engine:99': expected plies from 0"),
        (["analyse", "--evaluator", "engine:99", "README.md"], "fibsbot: README.md: expected a session log"),
        (
            ["legal", "rubbish"],
            "fibsbot: expected an XGID, a PositionID:MatchID or a PositionID of 14 characters, got 'rubbish'",
        ),
        (
            ["perft", "--game", "plakoto", "--scheduler", "tcp://x:1"],
            "fibsbot: expected --scheduler without --game, got both",
        ),
        (["perft", "--depth", "x"], "fibsbot perft: Invalid value for '--depth': 'x' is not a whole number."),
        (["parse", "/no/such/file"], "fibsbot: cannot read /no/such/file: No such file or directory"),
        (["demo", "--strategy", "nosuch"], "fibsbot: no strategy is called 'nosuch'"),
        (["soak", "--opponent-strategy", "nosuch"], "fibsbot: no strategy is called 'nosuch'"),
        (["demo", "--log-dir", "/dev/null/x"], "fibsbot: cannot make the folder /dev/null/x: Not a directory"),
    ],
)
def test_bad_input_gets_one_line_and_status_2(arguments: list[str], text: str) -> None:
    result = fibsbot(*arguments)
    assert (EXIT_USAGE, 1) == (result.returncode, len(result.stderr.splitlines())), result.stderr
    assert result.stderr.startswith(text)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["replay", "-j", "0", "x"], "Invalid value for '-j': 0 is not in the range x>=1."),
        (["replay", "--jobs=0", "x"], "Invalid value for '--jobs': 0 is not in the range x>=1."),
        (["play", "-server", "x"], "No such option '-server'. Did you mean '--server'?"),
        (["show", BARE_XGID], f"No such option '{BARE_XGID}'. Did you mean 'XGID={BARE_XGID}'?"),
        (["play", "-x"], "No such option '-x'."),
    ],
)
def test_an_option_is_named_as_it_was_typed(words: list[str], text: str) -> None:
    with pytest.raises(click.UsageError) as caught:
        main(words, standalone_mode=False)
    assert text == cli._with_typed_name(caught.value, words).format_message()


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
    assert (EXIT_READER_GONE, b"") == (result.returncode, result.stderr)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [("perft", "--help"), ("export", MATCH, "--format", "snowie")])
def test_output_that_cannot_be_written_is_one_line(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "fibsbot", *arguments], stdout=full, stderr=subprocess.PIPE, check=False, text=True
        )
    assert (EXIT_FAILED, "fibsbot: cannot write the output: No space left on device\n") == (
        ended.returncode,
        ended.stderr,
    )


@pytest.mark.parametrize(("closing", "status"), [("rules plakoto >&-", 0), ("export - --format csv <&-", EXIT_USAGE)])
def test_closed_streams_are_empty_and_take_everything(closing: str, status: int) -> None:
    ended = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m fibsbot {closing}"], capture_output=True, check=False, text=True
    )
    assert (status, "") == (ended.returncode, ended.stdout)
    assert bool(status) == len(ended.stderr.splitlines())


@pytest.mark.slow
def test_a_match_that_nobody_watches_any_more_ends_quietly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fibsbot", "demo", "--strategy", "random", "--log-dir", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert (b"", EXIT_READER_GONE) == (process.stderr.read(), process.wait())


def broken() -> TextIO:
    """Return a file that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    return os.fdopen(writing, "w")


def test_what_follows_from_a_reader_who_has_gone_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        try:
            sys.stdout.write("x" * 100_000)
        finally:
            raise RuntimeError("somebody could not write")

    monkeypatch.setattr(cli, "main", fail)
    with broken() as out:
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        assert EXIT_READER_GONE == cli._status()
        out.write("goes nowhere")
        out.flush()


def test_a_log_that_nobody_reads_ends_nothing() -> None:
    with broken() as file:
        stream = Stream(file, ends=False)
        stream.writelines(["one", "two"])
        stream.flush()
        assert isinstance(stream.lost, BrokenPipeError)


@pytest.mark.parametrize(("module", "arguments"), [("click", "--help"), ("numpy", "bearoff")])
def test_ctrl_c_while_modules_are_imported_ends_with_130_and_no_word(
    module: str, arguments: str, tmp_path: Path
) -> None:
    body = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"
    (tmp_path / f"{module}.py").write_text(body)
    ended = fibsbot_process(arguments, PYTHONPATH=f"{tmp_path}:{Path(__file__).parents[2]}")
    assert (EXIT_INTERRUPTED, "", "") == (ended.returncode, ended.stdout, ended.stderr.strip())


def test_an_ignored_sigint_stays_ignored(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nos._exit(7)\n")
    command = f"trap '' INT; PYTHONPATH={tmp_path} exec {sys.executable} -m fibsbot"
    assert 7 == subprocess.run(["sh", "-c", command], check=False).returncode


def test_the_script_starts_where_python_m_does() -> None:
    scripts = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["scripts"]
    assert {"fibsbot": "fibsbot.__main__:main"} == scripts


def test_the_entry_point_hides_no_command() -> None:
    """A function of a submodule's name would be replaced by it as soon as that is imported."""
    assert not {path.stem for path in Path(cli.__file__).parent.glob("*.py")} & {
        name for name, it in vars(cli).items() if not isinstance(it, ModuleType)
    }
