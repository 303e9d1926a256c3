"""`fibsbot play --config FILE`: the file gives the defaults of the options; its problems end the program with 78."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fibsbot.bot.settings import AgentSettings, RunSettings
from fibsbot.cli import main, play_session
from fibsbot.client.connection import ConnectionFailedError
from fibsbot.policy import Lengths
from tests.forked import run

FILE = """
[server]
port = 4711
[account]
name = "marvin"
password_env = "MARVINS_PASSWORD"
[bot]
strategy = "random"
[policy]
lengths = ["3-7", "unlimited"]
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

    monkeypatch.setattr(play_session, "_play", refuse)
    monkeypatch.setattr(play_session, "_check_reachable", lambda _: None)
    return seen


def play(tmp_path: Path, text: str, *options: str) -> Result:
    path = tmp_path / "bot.toml"
    path.write_text(text, encoding="utf-8")
    environment = {"MARVINS_PASSWORD": "paranoid", "FIBSBOT_PASSWORD": ""}
    return CliRunner().invoke(main, ["play", "--config", str(path), *options], env=environment)


def test_options_override_the_file(tmp_path: Path, runs: list[RunSettings]) -> None:
    result = play(tmp_path, FILE, "--max-length", "9", "--server", "localhost:4712")
    (run,) = runs
    assert 1 == result.exit_code
    assert ("localhost", 4712) == (run.server.host, run.server.port)
    assert ("marvin", "paranoid") == (run.agent.name, run.agent.password)
    assert (Lengths(((3, 9),), unlimited=True), False) == (run.agent.policy.lengths, run.agent.policy.accept)
    assert (0.25, 3, 5) == (run.agent.timings.pause, run.agent.timings.watchdog, run.backoff.first)
    assert run.log_path
    assert Path("elsewhere") == run.log_path.parent


def test_a_probable_mistake_causes_a_warning(tmp_path: Path, runs: list[RunSettings]) -> None:
    result = play(tmp_path, FILE)
    assert 1 == len(runs)
    assert "policy.accept is false, bot.invite and seek.after are missing: only saved matches" in result.stderr


def test_without_options_the_settings_of_the_file_apply(tmp_path: Path, runs: list[RunSettings]) -> None:
    play(tmp_path, FILE)
    (run,) = runs
    assert ("127.0.0.1", 4711) == (run.server.host, run.server.port)
    assert Lengths(((3, 7),), unlimited=True) == run.agent.policy.lengths


TWO = """
[[account]]
name = "marvin"
password_env = "MARVINS_PASSWORD"
[account.policy]
lengths = ["3"]
[[account]]
name = "ford"
password_env = "MARVINS_PASSWORD"
"""


def test_one_of_several_accounts_is_chosen_by_its_name(tmp_path: Path, runs: list[RunSettings]) -> None:
    play(tmp_path, TWO, "--account", "marvin", "--strategy", "random")
    play(tmp_path, TWO, "--account", "ford", "--strategy", "random")
    assert ["marvin", "ford"] == [run.agent.name for run in runs]
    assert [Lengths(((3, 3),)), Lengths()] == [run.agent.policy.lengths for run in runs]


@pytest.mark.parametrize(("options", "got"), [((), "none"), (("--account", "zaphod"), "zaphod")])
def test_several_accounts_require_the_name_of_one_of_them(tmp_path: Path, options: tuple[str, ...], got: str) -> None:
    result = play(tmp_path, TWO, *options)
    assert 2 == result.exit_code
    assert f"--account: expected the name of an account (marvin, ford), got {got}" in result.stderr


def test_another_name_replaces_that_of_the_only_account(tmp_path: Path, runs: list[RunSettings]) -> None:
    play(tmp_path, FILE, "--account", "ford")
    (run,) = runs
    assert ("ford", 0.25) == (run.agent.name, run.agent.timings.pause)


def test_every_option_overrides_the_file(tmp_path: Path, runs: list[RunSettings]) -> None:
    options = {
        "--invite": "arthur",
        "--length": "7",
        "--matches": "3",
        "--deadline": "4",
        "--pause": "0.5",
        "--strategy": "heuristic",
        "--log-dir": "there",
    }
    play(tmp_path, FILE, "--register", *(word for option in options.items() for word in option))
    (run,) = runs
    agent = run.agent
    assert (True, "arthur", 7, 3) == (
        run.server.register,
        agent.play.invite,
        agent.play.invite_length,
        agent.play.matches,
    )
    assert (4, 0.5) == (agent.timings.deadline, agent.timings.pause)
    assert run.log_path
    assert Path("there") == run.log_path.parent


@pytest.mark.slow
def test_an_option_that_is_not_given_leaves_the_default(tmp_path: Path, runs: list[RunSettings]) -> None:
    environment = {"FIBSBOT_PASSWORD": "paranoid"}
    for more in ([], ["--max-length", "5"]):
        arguments = ["play", "--server", "localhost:1", "--account", "marvin", "--log-dir", str(tmp_path), *more]
        CliRunner().invoke(main, arguments, env=environment)
    assert [Lengths(((1, 25),)), Lengths(((1, 5),))] == [run.agent.policy.lengths for run in runs]
    assert [AgentSettings("marvin", "paranoid", policy=run.agent.policy) for run in runs] == [it.agent for it in runs]


def test_a_file_without_a_name_needs_the_option(tmp_path: Path) -> None:
    result = play(tmp_path, "")
    assert 2 == result.exit_code
    assert "Missing option '--account'" in result.stderr


@pytest.mark.slow
def test_every_problem_of_the_file_is_a_line_and_the_status_78(tmp_path: Path) -> None:
    path = tmp_path / "bot.toml"
    path.write_text('[server]\nport = "x"\n[bot]\nstrategie = "random"\n', encoding="utf-8")
    result = run("play", "--config", path, "--account", "marvin")
    assert 78 == result.returncode
    assert [
        f"{path}: server.port: expected a whole number from 1 to 65535, got 'x'",
        f"{path}: bot.strategie: expected strategy, perhaps, got an unknown setting",
    ] == [line.partition(": ")[2] for line in result.stderr.splitlines()]


def test_a_missing_file_is_reported_in_one_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["play", "--config", str(tmp_path / "none.toml")])
    assert 78 == result.exit_code
    path = tmp_path / "none.toml"
    assert f"Error: {path}: expected a file that can be read, got No such file or directory\n" == result.stderr
