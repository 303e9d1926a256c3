"""`fibsbot check-config`: every problem at once, or what is doubtful, or what the file will do."""

from __future__ import annotations

import sqlite3
import textwrap
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.cli import main
from fibsbot.config import Config
from fibsbot.config.checks import check
from fibsbot.config.document import TWO_ACCOUNTS, sample_file
from fibsbot.config.settings import format_problems
from fibsbot.match import MatchState
from fibsbot.records.store import StoreWriter
from fibsbot.records.store.schema import VERSION
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import available
from fibsbot.strategies.questions import LastResort
from tests.commands import fibsbot
from tests.examples import examples

SECRET = "swordfish"
Check: TypeAlias = Callable[..., Result]

GOOD = """
[account]
name = "marvin"
password_env = "MARVINS_PASSWORD"
[policy]
lengths = ["1-9", "11"]
[bot]
invite = "arthur"
matches = 10
[seek]
after = 600
[chat]
operators = ["zaphod"]
[service]
web_port = 9464
"""


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Check the text of a file, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(text: str, *options: str) -> Result:
        Path("bot.toml").write_text(text, encoding="utf-8")
        environment = {"MARVINS_PASSWORD": SECRET, "FIBSBOT_PASSWORD": "", "CREDENTIALS_DIRECTORY": None}
        result = CliRunner().invoke(main, ["check-config", "bot.toml", *options], env=environment)
        assert SECRET not in result.output
        return result

    return run


@pytest.mark.slow
def test_a_good_file_is_called_good_and_told_in_short(checked: Check) -> None:
    result = checked(GOOD)
    assert 0 == result.exit_code
    assert not result.stderr
    assert [
        "bot.toml: good",
        "  marvin plays on 127.0.0.1:4321, strategy engine",
        "    password: from an environment variable",
        "    policy: I play matches of 1 to 9 or 11 points with anybody.",
        "    invites: arthur to 1 point, whenever there is no match",
        "    invites: a person to 5 points, after 600 s without a match, at most 6 an hour",
        "    operators: zaphod",
        "    logs out after 10 matches",
        "    session log: logs/marvin.jsonl",
        "  store: fibsbot.db",
        "  control socket: fibsbot.sock",
        "  metrics and health: 127.0.0.1:9464",
    ] == result.stdout.splitlines()


def test_the_summary_says_who_is_invited(checked: Check) -> None:
    def invited(text: str) -> str:
        return next(line for line in checked(text).stdout.splitlines() if "a match, at most" in line).split(" to ")[0]

    seeking = GOOD.replace("[seek]", "[seek]\nbots = true")
    assert "    invites: a person or a bot" == invited(seeking)
    assert "    invites: a bot" == invited(seeking.replace("[policy]", "[policy]\npeople = false"))
    assert "    invites: a person" == invited(seeking.replace("[policy]", "[policy]\nbots = false"))


def test_the_summary_names_other_games_and_the_live_page(checked: Check) -> None:
    text = GOOD.replace("[bot]", 'games = ["fevga"]\n[bot]\ninvite_game = "fevga"')
    lines = checked(f"{text}live = true\n").stdout.splitlines()
    assert "    invites: arthur to 1 point of fevga, whenever there is no match" in lines
    assert "    policy: I play matches of 1 to 9 or 11 points with anybody. I also play fevga." in lines
    assert "  the bots can be watched at /live on that port" == lines[-1]


def test_every_problem_is_told_at_once_of_settings_and_of_what_they_ask_for(checked: Check) -> None:
    result = checked(
        """
        server.port = "x"
        policy.lengths = ["9-1"]
        bot.strategy = "nosuch"
        [[account]]
        name = "marvin"
        password_env = "NOT_SET"
        [[account]]
        name = "ford"
        client = "a b"
        [account.server]
        tls = true
        tls_ca = "none.pem"
        [[account]]
        name = "zaphod"
        password_env = "two words"
        [[account]]
        password_env = "MARVINS_PASSWORD"
        name = "marvin"
        """
    )
    assert 78 == result.exit_code
    assert not result.stdout
    places = "password_file, password_credential, password_env, password_keyring"
    assert {
        "server.port: expected a whole number from 1 to 65535, got 'x'",
        "policy.lengths[1]: expected a length such as 5, 1-9 or unlimited, got '9-1'",
        f"bot.strategy: expected one of {', '.join(it.name for it in available())}, or FILE.py:CLASS, got 'nosuch'",
        "account[1].password_env: expected the name of a variable that is set, got one that is not",
        "account[2].client: expected a word without blanks of at most 20 characters, or false, got 'a b'",
        f"account[2]: expected a password from one of {places}, got none",
        "account[2].server.tls_ca: expected a file with certificates, got No such file or directory",
        "account[3].password_env: expected a word without blanks, or false, got something else",
        "account[4].name: expected another name than that of account[1], got 'marvin'",
    } == {line.removeprefix("Error: ").removeprefix("bot.toml: ") for line in result.stderr.splitlines()}


class Broken(LastResort):
    """A strategy that can be loaded, and raises whatever it is asked."""

    def resign(self, state: MatchState) -> int:
        """Fail."""
        raise ValueError(f"what a state\n{state.length}")


def test_a_strategy_is_tried_in_the_games_that_the_bot_plays(checked: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def first_fault(_: Strategy, games: Iterable[str]) -> None:
        tried.extend(games)

    monkeypatch.setattr("fibsbot.config.checks.first_fault", first_fault)
    checked(
        GOOD.replace("[policy]", '[policy]\ngames = ["tapa", "chouette"]').replace(
            "[bot]", '[bot]\ninvite_game = "plakoto:exception"'
        )
    )
    assert ["tapa", "plakoto:exception"] == tried


def test_a_strategy_that_does_not_work_is_a_problem(checked: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fibsbot.config.checks.load", lambda _: Broken())
    result = checked(GOOD)
    assert 78 == result.exit_code
    said = "Error: bot.toml: bot.strategy: expected a strategy that works, got resign, the opening: raised ValueError"
    assert [f"{said}: what a state 5"] == result.stderr.splitlines()


@pytest.mark.slow
def test_a_process_that_starts_tries_strategies_only_where_nothing_else_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    monkeypatch.setattr("fibsbot.config.checks._fault", lambda name, _: tried.append(name))
    path = tmp_path / "bot.toml"
    path.write_text(GOOD)
    monkeypatch.delenv("MARVINS_PASSWORD", raising=False)
    assert ["account.password_env"] == [it.path for it in check(path, before_strategies=lambda _: None).problems]
    monkeypatch.setenv("MARVINS_PASSWORD", SECRET)

    def fail(_: Config) -> None:
        assert not tried
        raise OSError("the port is taken")

    with pytest.raises(OSError, match="taken"):
        check(path, before_strategies=fail)
    assert not tried
    assert () == check(path, before_strategies=lambda _: None).problems
    assert 1 == len(tried)


def test_a_store_that_no_bot_can_use_is_a_problem(checked: Check) -> None:
    result = checked(GOOD + 'store = "mysql://host/name"')
    assert 78 == result.exit_code
    said = "service.store: expected a store that can be used, got expected a store on SQLite (a file) or PostgreSQL"
    assert f"Error: bot.toml: {said}, got mysql://host/name\n" == result.stderr


@pytest.mark.slow
def test_a_store_file_that_run_would_refuse_is_a_problem(checked: Check) -> None:
    StoreWriter("bot.db").close()
    assert 0 == checked(GOOD + 'store = "bot.db"').exit_code
    with closing(sqlite3.connect("bot.db", isolation_level=None)) as file:
        file.execute("UPDATE store_version SET version = version - 1")
    said = "bot.toml: service.store: expected a store that can be used, got bot.db"
    version = (
        f"it has schema version {VERSION - 1}, which is only read; fibsbot db copy makes a store of version {VERSION}"
    )
    assert f"Error: {said}: {version}\n" == checked(GOOD + 'store = "bot.db"').stderr
    Path("bot.db").write_text("a text that somebody has put there")
    assert f"Error: {said}: file is not a database\n" == checked(GOOD + 'store = "bot.db"').stderr


@pytest.mark.slow
def test_as_a_user_runs_it_each_problem_is_a_line_with_file_and_path(tmp_path: Path) -> None:
    path = tmp_path / "bot.toml"
    path.write_text('server.port = 0\n[account]\nname = "x1"', encoding="utf-8")
    result = fibsbot("check-config", str(path), FIBSBOT_PASSWORD=SECRET)
    name = "a name of letters and underscores, at most 20, not 'guest', which servers keep for registering, or false"
    assert 78 == result.returncode
    assert [
        f"fibsbot: {path}: server.port: expected a whole number from 1 to 65535, got 0",
        f"fibsbot: {path}: account.name: expected {name}, got 'x1'",
    ] == result.stderr.splitlines()


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("", "account: expected a table [account] with the name of an account, got none"),
        ("[x", "bot.toml: expected a TOML file"),
    ],
)
def test_a_file_that_no_bot_can_run_with_is_a_problem(checked: Check, text: str, got: str) -> None:
    result = checked(text)
    assert 78 == result.exit_code
    assert got in result.stderr
    assert 1 == result.stderr.count("bot.toml")


@pytest.mark.slow
def test_the_sample_lacks_a_name_and_a_password_and_nothing_else(checked: Check) -> None:
    result = checked(sample_file())
    assert 78 == result.exit_code
    lines = [line.removeprefix("Error: ").removeprefix("bot.toml: ") for line in result.stderr.splitlines()]
    assert ["account.name", "account"] == [line.partition(": ")[0] for line in lines]


@pytest.mark.slow
def test_what_is_doubtful_is_a_warning_and_fails_only_if_it_shall(checked: Check) -> None:
    text = GOOD + "[timing]\nfinish = 10\nthink_least = 3"
    usual, strict = checked(text), checked(text, "--strict")
    assert (0, 1) == (usual.exit_code, strict.exit_code)
    assert usual.output == strict.output
    assert [
        "bot.toml: warning: timing.think_least is above timing.think_most",
        "bot.toml: warning: timing.finish is less than a minute: hardly any match ends in that time",
    ] == usual.stderr.splitlines()
    assert usual.stdout.startswith("bot.toml: can be used, warnings: 2\n")
    assert 0 == checked(GOOD, "--strict").exit_code


@pytest.mark.slow
def test_the_documentation_shows_what_is_printed(checked: Check) -> None:
    page = (Path(__file__).parents[2] / "docs/reference/configuration.md").read_text(encoding="utf-8")
    shown = textwrap.dedent(page.partition("    $ fibsbot check-config my.toml\n")[2].partition("\n\n")[0])
    Path("password").write_text(SECRET)
    Path("password").chmod(0o600)
    result = checked(
        """
        account = {name = "marvin", password_file = "password"}
        policy = {lengths = ["1-9", "11"], min_rating = 1500}
        timing.think_least = 2
        """
    )
    assert shown.replace("my.toml", "bot.toml") == (result.stderr + result.stdout).rstrip()


@pytest.mark.slow
def test_each_account_is_told_of(checked: Check) -> None:
    Path("marvin").write_text(SECRET)
    Path("marvin").chmod(0o600)
    result = checked(TWO_ACCOUNTS.replace("/etc/fibsbot/", "").replace("ZAPHODS", "MARVINS"))
    assert 0 == result.exit_code, result.stderr
    lines = result.stdout.splitlines()
    assert "  zaphod plays on 127.0.0.1:4321, strategy random" in lines
    assert ["    password: from a file", "    password: from an environment variable"] == [
        line for line in lines if "password" in line
    ]


@given(st.text())
def test_any_text_can_be_checked(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert format_problems(path, check(path).problems)


LINES = st.sampled_from(
    [
        "[account]",
        "[[account]]",
        'name = "marvin"',
        "name = 3",
        'name = "a.b"',
        "policy.lengths = [1, 2]",
        'policy.lengths = ["x", "1"]',
        "policy = 3",
        '"a.b" = 3',
        '"[1]" = 3',
        '"account[x].y" = 3',
        '"account[7].name" = 3',
        "policy.name = 3",
        "name.name = 3",
        "[account.seek]",
        "[account.more.and.more]",
        "after = false",
        'password_env = "HOME"',
        'password_env = ""',
        "[server]",
        "[timing]",
        "tls = true",
        'tls_ca = "x"',
    ]
)


@pytest.mark.slow
@examples(20)
@given(st.lists(LINES, max_size=8))
def test_a_file_with_problems_keeps_what_is_right_in_it(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    found = check(path)
    assert bool(found.runs) is not bool(found.problems)
    assert len(set(found.problems)) == len(found.problems)
    assert all(1 == len(str(it).splitlines()) for it in found.problems)
