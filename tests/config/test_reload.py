"""A changed file: what holds at once, what needs a restart, and that nothing is left unsaid."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.config import Config
from fibsbot.config.build import ConfigChanges, compare_configs
from fibsbot.config.parser import config_from_tables
from fibsbot.config.settings import sections_of, settings_of
from tests.config.config_text import parse_config
from tests.examples import examples

FIXED = {
    (part.name, setting.name)
    for part in sections_of(Config)
    for setting in settings_of(part.cls)
    if setting.info.needs_restart
}


def between(old: str, new: str) -> ConfigChanges:
    """Return what changes when a file is replaced by another."""
    return compare_configs(parse_config(old), parse_config(new))


def test_settings_that_need_a_restart() -> None:
    whole = {"server", "account", "reconnect", "service"}
    assert {
        *(
            (part.name, setting.name)
            for part in sections_of(Config)
            if part.name in whole
            for setting in settings_of(part.cls)
        ),
        *(
            ("log", name)
            for name in ("directory", "match_directory", "max_megabytes", "max_total_megabytes", "daily", "keep_days")
        ),
        *(("timing", name) for name in ("deadline", "connect")),
        ("bot", "strategy"),
    } == FIXED


def test_nothing_changes_between_equal_files() -> None:
    text = '[[account]]\nname = "marvin"\npolicy.bots = false'
    assert ConfigChanges((), (), parse_config(text)) == between(text, text)


def test_each_change_is_reported_with_its_path() -> None:
    found = between(
        'server.port = 4711\npolicy.bots = false\nlog.level = "info"',
        'server.host = "fibs.com"\nchat.greet = false\nlog.level = "debug"',
    )
    assert ("policy.bots", "chat.greet", "log.level") == found.applied
    assert ("server.host", "server.port") == found.ignored


def test_settings_that_need_a_restart_keep_their_old_values() -> None:
    found = between("timing.deadline = 5\ntiming.pause = 1", "timing.deadline = 7\ntiming.pause = 2")
    assert (5, 2) == (found.config.timing.deadline, found.config.timing.pause)


def test_changes_of_an_account_are_reported_at_its_new_index() -> None:
    found = between(
        """
        [[account]]
        name = "marvin"
        policy.bots = true
        server.port = 4711
        [[account]]
        name = "ford"
        client = "one"
        """,
        """
        [[account]]
        name = "ford"
        client = "two"
        chat.greet = false
        [[account]]
        name = "marvin"
        server.port = 4712
        """,
    )
    assert ("account[2].policy.bots", "account[1].chat.greet") == found.applied
    assert ("account[2].server.port", "account[1].client") == found.ignored
    marvin, ford = found.config.accounts
    assert ("marvin", {"server": {"port": 4711}}) == (marvin.name, marvin.overrides)
    assert ("ford", "one", {"chat": {"greet": False}}) == (ford.name, ford.client, ford.overrides)


def test_adding_or_removing_accounts_needs_a_restart() -> None:
    found = between('[[account]]\nname = "marvin"', '[[account]]\nname = "ford"')
    assert () == found.applied
    assert ("account 'marvin' was removed: restart", "account 'ford' is new: restart") == found.ignored
    assert ["marvin"] == [account.name for account in found.config.accounts]


PARTS = ["server.port", "timing.pause", "timing.deadline", "seek.per_hour"]
SETTINGS = st.dictionaries(st.sampled_from(PARTS), st.integers(1, 3))
ACCOUNTS = st.dictionaries(st.sampled_from(["marvin", "ford", "zaphod"]), SETTINGS)


def nested(own: dict[str, int]) -> dict[str, Any]:
    """Return tables as a file has them."""
    tables: dict[str, Any] = {}
    for path, value in own.items():
        section, _, name = path.partition(".")
        tables.setdefault(section, {})[name] = value
    return tables


def configuration(of_all: dict[str, int], accounts: dict[str, dict[str, int]]) -> Config:
    """Make a configuration."""
    tables = [{"name": name, **nested(own)} for name, own in accounts.items()]
    return config_from_tables({**nested(of_all), "account": tables})


@examples(25)
@given(SETTINGS, ACCOUNTS, SETTINGS, ACCOUNTS)
def test_after_a_change_only_ignored_settings_still_differ(
    old: dict[str, int], accounts: dict[str, dict[str, int]], new: dict[str, int], others: dict[str, dict[str, int]]
) -> None:
    before, after = configuration(old, accounts), configuration(new, others)
    first = compare_configs(before, after)
    second = compare_configs(first.config, after)
    assert () == second.applied
    assert first.ignored == second.ignored
    assert first.config == second.config
    for account in first.config.accounts:
        was, now = before.for_account(before.account_called(account.name)), first.config.for_account(account)
        assert (was.server, was.timing.deadline) == (now.server, now.timing.deadline)


@pytest.mark.parametrize("text", ["", '[account]\nname = "marvin"', '[[account]]\nname = "a"\n[[account]]\nname = "b"'])
def test_without_changes_the_configuration_stays_the_same(text: str) -> None:
    config = parse_config(text)
    assert config == compare_configs(config, config).config
