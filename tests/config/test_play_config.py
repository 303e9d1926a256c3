"""`fibsbot play --config FILE`: the file gives the defaults of the options; its problems end the program with 78."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fibsbot.bot.runner import RunSettings
from fibsbot.cli import main
from fibsbot.cli import play as command
from fibsbot.client.connection import ConnectionFailedError

FILE = """
[server]
port = 4711
[account]
name = "marvin"
password_env = "MARVINS_PASSWORD"
[bot]
strategy = "random"
max_length = 7
accept = false
[timing]
pause = 0.25
watchdog = 3
[reconnect]
first = 5
[log]
directory = "elsewhere"
"""


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[RunSettings]:
    """Collect the settings of every run instead of connecting anywhere."""
    seen: list[RunSettings] = []

    async def refuse(settings: RunSettings, *_: object) -> None:
        seen.append(settings)
        raise ConnectionFailedError("nobody is there")

    monkeypatch.setattr(command, "_play", refuse)
    return seen


def play(tmp_path: Path, text: str, *options: str) -> Result:
    path = tmp_path / "bot.toml"
    path.write_text(text, encoding="utf-8")
    environment = {"MARVINS_PASSWORD": "paranoid", "FIBSBOT_PASSWORD": ""}
    return CliRunner().invoke(main, ["play", "--config", str(path), *options], env=environment)


def test_the_file_decides_what_no_option_does(tmp_path: Path, runs: list[RunSettings]) -> None:
    result = play(tmp_path, FILE, "--max-length", "9", "--server", "localhost:4712")
    (run,) = runs
    assert 1 == result.exit_code
    assert ("localhost", 4712) == (run.host, run.port)
    assert ("marvin", "paranoid") == (run.agent.name, run.agent.password)
    assert (9, False) == (run.agent.policy.lengths.spans[-1][1], run.agent.policy.accept)
    assert (0.25, 3, 5) == (run.agent.timings.pause, run.agent.timings.watchdog, run.pauses.first)
    assert run.log_path
    assert Path("elsewhere") == run.log_path.parent


def test_what_cannot_be_meant_is_warned_of(tmp_path: Path, runs: list[RunSettings]) -> None:
    result = play(tmp_path, FILE)
    assert 1 == len(runs)
    assert "bot.accept is false and bot.invite is missing: nothing is played" in result.stderr


def test_a_file_without_a_name_needs_the_option(tmp_path: Path) -> None:
    result = play(tmp_path, "")
    assert 2 == result.exit_code
    assert "Missing option '--user'" in result.stderr


def test_every_problem_of_the_file_is_a_line_and_the_status_78(tmp_path: Path) -> None:
    path = tmp_path / "bot.toml"
    path.write_text('[server]\nport = "x"\n[bot]\nstrategie = "random"\n', encoding="utf-8")
    arguments = [sys.executable, "-m", "fibsbot", "play", "--config", str(path), "--user", "marvin"]
    result = subprocess.run(arguments, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert 78 == result.returncode
    assert [
        f"{path}: server.port: expected a whole number from 1 to 65535, got 'x'",
        f"{path}: bot.strategie: expected strategy, perhaps, got an unknown setting",
    ] == [line.partition(": ")[2] for line in result.stderr.splitlines()]


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["play", "--config", str(tmp_path / "none.toml")])
    assert 78 == result.exit_code
    assert "expected a file that can be read, got No such file or directory" in result.stderr
