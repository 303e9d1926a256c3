"""A setting that is valid but probably a mistake gives one warning, a sentence; nothing else does."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from fibsbot.config import Config
from fibsbot.config.checks import config_warnings
from fibsbot.config.document import TWO_ACCOUNTS
from tests.config.config_text import parse_config


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder, where everything can be written."""
    monkeypatch.chdir(tmp_path)


def test_the_defaults_and_the_example_give_no_warning() -> None:
    assert () == config_warnings(Config())
    assert () == config_warnings(parse_config(TWO_ACCOUNTS))


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ('server.tls_ca = "x"', "server.tls_ca has no effect while server.tls is false"),
        (
            'server.host = "fibs.com"\nserver.tls = true',
            "server.tls is true, but FIBS offers no TLS: every connection will fail",
        ),
        (
            "policy.accept = false",
            "policy.accept is false, bot.invite and seek.after are missing: only saved matches are played",
        ),
        (
            "policy.min_rating = 1700\npolicy.max_rating = 1600",
            "policy.min_rating is above max_rating: nobody whose rating is known is played",
        ),
        (
            "bot.resign = false\nbot.resign_match = true",
            "bot.resign_match has no effect while bot.resign is false",
        ),
        ('account.name = "marvin"\nbot.invite = "marvin"', "bot.invite is the account itself"),
        (
            'bot.invite = "ford"\npolicy.block = ["f*"]\npolicy.lengths = ["3"]',
            "bot.invite is ford, whom the policy excludes (blocked, length)",
        ),
        (
            'bot.invite_length = 3\nbot.invite_game = "fevga"',
            "bot.invite_length and invite_game without bot.invite: nobody is invited",
        ),
        (
            'bot.invite = "ford"\nbot.invite_game = "fevga"\nbot.invite_laws = "1931"',
            "bot.invite_laws is ignored, because bot.invite_game has laws of its own",
        ),
        ("seek.length = 7\nseek.bots = true", "seek.length and bots without seek.after: nobody is invited"),
        ('seek.after = 60\npolicy.lengths = ["3"]', "seek.length is 5, which is not in policy.lengths"),
        (
            "seek.after = 60\npolicy.people = false",
            "seek finds nobody: policy.people and seek.bots are both false",
        ),
        (
            'account.name = "marvin"\nchat.operators = ["marvin"]',
            "chat.operators has the account itself, marvin, which never hears itself",
        ),
        (
            'chat.operators = ["zaphod"]\npolicy.block = ["z*"]',
            "chat.operators has zaphod, whom policy.block excludes from playing",
        ),
        ("timing.think_least = 2", "timing.think_least is above timing.think_most"),
        ("timing.finish = 10", "timing.finish is less than a minute: hardly any match ends in that time"),
        (
            "timing.pause = 9",
            "timing.watchdog is not above timing.pause: it expires before a command may be sent",
        ),
        (
            "timing.silence = 100",
            "timing.keep_alive is not below timing.silence: an idle connection is considered dead",
        ),
        (
            "reconnect.longest = 300\nreconnect.first = 301",
            "reconnect.first is above reconnect.longest: no pause grows",
        ),
        ("reconnect.longest = 200", "reconnect.restart is above reconnect.longest, which no pause exceeds"),
        ("log.max_total_megabytes = 10", "log.max_total_megabytes is below log.max_megabytes"),
        (
            'account.password_file = "x"\naccount.password_env = "X"',
            "account.password_env is ignored, because password_file takes precedence",
        ),
        (
            '[[account]]\nname = "Marvin"\n[[account]]\nname = "ford"\n[[account]]\nname = "marvin"',
            "account: Marvin and marvin differ in case only",
        ),
        (
            "[account]\ntiming.deadline = 3",
            "account.timing.deadline is ignored by `fibsbot run`: all accounts share the strategies",
        ),
        ('service.store = "x"\nservice.control = "x"', "service.store and service.control are the same file"),
        ('service.web_port = 4321\naccount.name = "marvin"', "service.web_port is the port of the server"),
        ("service.live = true", "service.live has no effect without service.web_port"),
        ('service.store = "/dev/null/x"', "service.store is /dev/null/x, in a directory where this user cannot write"),
        (
            'service.control = "/dev/null/x"',
            "service.control is /dev/null/x, in a directory where this user cannot write",
        ),
        ('log.directory = "/proc/x"', "log.directory is /proc/x, where this user cannot write"),
        ('log.directory = "/dev/null/x"', "log.directory is /dev/null/x, where this user cannot write"),
    ],
)
def test_a_probable_mistake_gives_a_warning(text: str, doubt: str) -> None:
    assert (doubt,) == config_warnings(parse_config(text))


def test_a_full_disk_is_no_mistake_in_a_file_of_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    assert () == config_warnings(parse_config(f'log.directory = "{tmp_path}"'))


def test_a_warning_about_some_accounts_names_them_and_one_about_all_does_not() -> None:
    text = "timing.finish = 10\n" + "".join(
        f'[[account]]\nname = "{name}"\npolicy.accept = {accept}\n'
        for name, accept in (("marvin", "false"), ("ford", "true"), ("zaphod", "false"))
    )
    alone = "policy.accept is false, bot.invite and seek.after are missing: only saved matches are played"
    assert (
        f"account[1] and account[3]: {alone}",
        "timing.finish is less than a minute: hardly any match ends in that time",
    ) == config_warnings(parse_config(text))


def test_settings_that_no_account_uses_give_no_warning() -> None:
    assert () == config_warnings(
        parse_config('policy.accept = false\n[account]\nname = "marvin"\npolicy.accept = true')
    )


@pytest.mark.parametrize(("mode", "count"), [(0o600, 0), (0o400, 0), (0o640, 1), (0o604, 1)])
def test_a_password_file_that_others_can_read_gives_a_warning(mode: int, count: int) -> None:
    file = Path("password")
    file.write_text("swordfish")
    file.chmod(mode)
    found = config_warnings(parse_config('account.password_file = "password"'))
    sentence = "account.password_file can be read by other users: `chmod 600` prevents that"
    assert (sentence,) * count == found


def test_settings_of_the_process_give_warnings_only_for_run() -> None:
    assert () == config_warnings(parse_config('service.store = "/dev/null/x"\nservice.web_port = 4321'), process=False)
