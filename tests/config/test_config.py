"""Settings are read strictly, and all problems are told at once, each with its path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.config import Config, ConfigProblem, ConfigProblemsError
from fibsbot.config.parser import PASSWORD_HELP, config_from_tables, load_config
from fibsbot.log import LogFormat
from fibsbot.policy import Lengths, NamePattern
from tests.config.config_text import parse_config

NAME = "a name of letters and underscores, at most 20"
ACCOUNT = f"{NAME}, not 'guest', which servers keep for registering"
PATTERN = "a name, perhaps with * and ? as wildcards and with :from or :to at its end"
HOST = "a host name or address alone, such as fibs.com: the port is server.port"
GREETING = "1 to 240 ASCII characters without ** and without braces but {opponent}, {me}, {score}, {length}"
LENGTH = "a length such as 5, 1-9 or unlimited"


def problems(text: str) -> tuple[ConfigProblem, ...]:
    """Return what is wrong with the text of a file."""
    with pytest.raises(ConfigProblemsError) as caught:
        parse_config(text)
    return caught.value.problems


def test_an_empty_file_gives_the_defaults() -> None:
    assert Config() == parse_config("")


def test_a_value_is_not_converted() -> None:
    config = parse_config('[server]\nhost = "fibs.com"\n[timing]\npause = 2\n[log]\nformat = "json"\ndirectory = "a b"')
    assert "fibs.com" == config.server.host
    assert 2 == config.timing.pause
    assert LogFormat.JSON is config.log.format
    assert Path("a b") == config.log.directory


def test_lists_of_words_are_parsed() -> None:
    config = parse_config(
        """
        policy.lengths = ["11", "1-9", "unlimited"]
        policy.block = ["Quit*", "ford:to"]
        policy.allow = []
        chat.operators = ["zaphod", "trillian"]
        chat.greeting = "Hello, I am a program."
        """
    )
    assert Lengths(((1, 9), (11, 11)), unlimited=True) == config.policy.lengths
    assert (NamePattern("Quit*"), NamePattern("ford", from_them=False)) == config.policy.block
    assert () == config.policy.allow
    assert ("zaphod", "trillian") == config.chat.operators
    assert "Hello, I am a program." == config.chat.greeting


def test_games_are_kept_by_the_names_that_the_server_uses() -> None:
    config = parse_config(
        """
        bot.invite_game = "Plakoto:pinned-stops:exception"
        policy.games = ["tabula:second-half:exact", "Tapa", "chouette"]
        [account]
        policy.games = ["any", "plakoto:pinned-stops:exception"]
        """
    )
    assert "plakoto:exception:pinned-stops" == config.bot.invite_game
    assert ("tabula:exact:second-half", "tapa", "chouette") == config.policy.games
    assert config.policy.plays("tabula:exact:second-half")
    account = config.for_account(config.accounts[0])
    assert ("any", "plakoto:exception:pinned-stops") == account.policy.games


def test_false_removes_an_optional_value() -> None:
    config = parse_config(
        "service.store = false\nservice.control = false\nseek.after = false\npolicy.min_rating = false"
    )
    assert (None, None) == (config.service.store, config.service.control)
    assert (None, None) == (config.seek.after, config.policy.min_rating)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('server.port = "7"', "server.port: expected a whole number from 1 to 65535, got '7'"),
        ("server.port = 7.0", "server.port: expected a whole number from 1 to 65535, got 7.0"),
        ("server.port = true", "server.port: expected a whole number from 1 to 65535, got true"),
        ("server.port = false", "server.port: expected a whole number from 1 to 65535, got false"),
        ("server.port = 0", "server.port: expected a whole number from 1 to 65535, got 0"),
        ("server.host = 127", f"server.host: expected {HOST}, got 127"),
        ('server.host = ""', f"server.host: expected {HOST}, got ''"),
        ('server.host = "fibs.com:4321"', f"server.host: expected {HOST}, got 'fibs.com:4321'"),
        ('server.host = "telnet://fibs.com"', f"server.host: expected {HOST}, got 'telnet://fibs.com'"),
        (
            'account.client = "a\\nb"',
            "account.client: expected a word without blanks of at most 20 characters, or false, got 'a\\nb'",
        ),
        (
            'account.client = "bötchen"',
            "account.client: expected a word without blanks of at most 20 characters, or false, got 'bötchen'",
        ),
        ('account.name = "a1"', f"account.name: expected {ACCOUNT}, or false, got 'a1'"),
        ('account.name = "Guest"', f"account.name: expected {ACCOUNT}, or false, got 'Guest'"),
        ("policy.accept = 1", "policy.accept: expected true or false, got 1"),
        ("policy.min_rating = true", "policy.min_rating: expected a number from 0, or false, got true"),
        ("policy.max_per_day = 0", "policy.max_per_day: expected a whole number from 1, or false, got 0"),
        ('policy.lengths = "5"', 'policy.lengths: expected a list such as ["1-9", "11", "unlimited"], got \'5\''),
        ("policy.lengths = [0]", f"policy.lengths[1]: expected {LENGTH}, got 0"),
        ('policy.lengths = ["5", "9-1"]', f"policy.lengths[2]: expected {LENGTH}, got '9-1'"),
        (
            'policy.block = ["a b"]',
            f"policy.block[1]: expected {PATTERN}, got 'a b'",
        ),
        ('chat.operators = ["a b"]', f"chat.operators[1]: expected {NAME}, got 'a b'"),
        ('chat.operators = "zaphod"', f"chat.operators: expected a list, each item {NAME}, got 'zaphod'"),
        ('chat.greeting = "ö"', f"chat.greeting: expected {GREETING}, got 'ö'"),
        ('chat.greeting = "Hi {name}"', f"chat.greeting: expected {GREETING}, got 'Hi {{name}}'"),
        ("timing.watchdog = 0", "timing.watchdog: expected a number above 0 and at most 86400, got 0"),
        ("timing.pause = nan", "timing.pause: expected a number from 0 to 86400, got nan"),
        ("seek.forgive = 1e9", "seek.forgive: expected a number from 0 to 2592000, got 1000000000.0"),
        ('log.format = "xml"', 'log.format: expected "console" or "json", got \'xml\''),
        ("log.directory = [1]", "log.directory: expected a path, got a list"),
        ("log.directory = {}", "log.directory: expected a path, got a table"),
        (
            f'service.control = "{"x" * 101}"',
            f"service.control: expected a path of at most 100 bytes, or false, got '{'x' * 56}...",
        ),
        ("server = 3", "server: expected a table of settings, got 3"),
        ("server.prot = 3", "server.prot: expected port, perhaps, got an unknown setting"),
        (
            'account.password = "x"',
            f"account.password: expected no password in this file, but {PASSWORD_HELP}, got an unknown setting",
        ),
        ("sever.port = 3", "sever: expected server, perhaps, got an unknown setting"),
        (
            "reconnect.x = 3",
            "reconnect.x: expected one of first, longest, factor, jitter, restart, healthy, got an unknown setting",
        ),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line(text: str, problem: str) -> None:
    assert [problem] == [str(it) for it in problems(text)]


def test_all_problems_are_reported_at_once() -> None:
    found = problems(
        """
        [server]
        port = "x"
        host = 1
        extra = 2
        [policy]
        lengths = ["x", "5", "y"]
        [[account]]
        name = "marvin"
        more = 1
        [account.chat]
        window = -1
        [[account]]
        name = 4
        [more]
        """
    )
    assert {
        "server.port",
        "server.host",
        "server.extra",
        "policy.lengths[1]",
        "policy.lengths[3]",
        "account[1].more",
        "account[1].chat.window",
        "account[2].name",
        "more",
    } == {it.path for it in found}


def test_no_message_shows_a_possible_password() -> None:
    lines = [
        'password = "swordfish"',
        "password_file = 77123",
        'password_env = "sword fish"',
        'password_credential = "sword fish"',
        "password_keyring = 77123",
        'pasword_file = "swordfish"',
    ]
    found = problems("[account]\n" + "\n".join(lines)) + problems('service.store = "postgresql://me:swordfish@h/db"')
    told = "\n".join(map(str, found))
    assert len(lines) + 1 == len(told.splitlines())
    assert not any(secret in told for secret in ("swordfish", "sword fish", "77123"))


def test_a_path_may_begin_with_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/marvin")
    assert Path("/home/marvin/logs") == parse_config('log.directory = "~/logs"').log.directory
    (problem,) = problems('log.directory = "~nobody_has_this_name/logs"')
    assert "log.directory" == problem.path


@pytest.mark.parametrize(
    "store",
    [
        "bot files/fibsbot.db",
        "postgresql+psycopg://db.example/bots",
        "postgresql+psycopg://me@db.example/bots?sslmode=require",
    ],
)
def test_a_store_is_a_file_or_a_database(store: str) -> None:
    assert store == parse_config(f'service.store = "{store}"').service.store


@pytest.mark.parametrize(
    "user",
    [
        "me:swordfish@db.example/bots",
        ":swordfish@db.example/bots",
        "h/b?x=1&password=swordfish",
        "h/b?sslpassword=swordfish",
    ],
)
def test_a_store_url_with_a_password_is_refused(user: str) -> None:
    (problem,) = problems(f'service.store = "postgresql+psycopg://{user}"')
    expected = "service.store: expected a path, or a URL without a password, or false, got something else"
    assert expected == str(problem)


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"[server", "a TOML file"), (b"\xff\xfe", "text in UTF-8"), (None, "a file that can be read")],
)
def test_an_unreadable_file_is_one_problem(tmp_path: Path, content: bytes | None, expected: str) -> None:
    path = tmp_path / "some.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigProblemsError) as caught:
        load_config(path)
    (problem,) = caught.value.problems
    assert (str(path), expected) == (problem.path, problem.expected)
    assert 1 == len(str(problem).splitlines())


KEYS = st.sampled_from(
    ["server", "account", "policy", "lengths", "name", "chat", "operators", "seek", "after", "x", "a.b", "password_env"]
)
VALUES = st.recursive(
    st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["5", "x*", "marvin"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(KEYS, VALUES, max_size=6))
def test_any_file_is_a_configuration_or_has_problems_of_one_line_each(tables: dict[str, Any]) -> None:
    try:
        config = config_from_tables(tables)
    except ConfigProblemsError as error:
        lines = [str(it).splitlines() for it in error.problems]
        assert lines
        assert {1} == {len(it) for it in lines}
    else:
        assert isinstance(config, Config)
