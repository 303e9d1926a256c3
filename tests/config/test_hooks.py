"""`[[notify]]`: what a hook needs, where its address may be, and that no message shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fibsbot.config import ConfigProblemsError
from fibsbot.config.build import compare_configs
from fibsbot.config.checks import config_warnings
from fibsbot.config.hooks import notify_hooks
from fibsbot.notify.settings import ALARMS, NotifyEvent
from fibsbot.redaction import redact
from tests.config.config_text import parse_config

URL = "https://example.org/something-that-nobody-guesses"


def problems(text: str, **environment: str) -> list[str]:
    """Return what is wrong with the hooks of a file."""
    with pytest.raises(ConfigProblemsError) as caught:
        notify_hooks(parse_config(text), environment)
    return str(caught.value).splitlines()


def test_the_address_comes_from_the_first_place_that_is_named_and_is_hidden(tmp_path: Path) -> None:
    (tmp_path / "address").write_text(f"{URL}\nmore\n")
    places = (
        f'url = "{URL}"\nurl_env = "OTHER"',
        f'url_file = "{tmp_path}/address"',
        'url_credential = "address"',
        'url_env = "ADDRESS"\ntoken_env = "TOKEN"',
    )
    for place in places:
        environment = {"CREDENTIALS_DIRECTORY": str(tmp_path), "ADDRESS": URL, "TOKEN": "open-sesame"}
        (hook,) = notify_hooks(parse_config(f"[notify]\n{place}"), environment)
        assert (URL, "1", ALARMS) == (hook.url, hook.name, hook.settings.events)
        assert "guesses" not in repr(hook)
        assert ("open-sesame" if "TOKEN" in place else None) == hook.token
    assert "GET /******** of ********" == redact(f"GET /{URL.rpartition('/')[2]} of {URL}")
    assert "********" == redact("open-sesame")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('url_env = "NOWHERE"', "notify.url_env: expected the name of a variable that is set, got one that is not"),
        ('url_file = "/no/such"', "notify.url_file: expected a file that can be read, got No such file or directory"),
        (
            'url_env = "BAD"',
            "notify.url_env: expected an address that begins with http:// or https://, without a user, got something",
        ),
        ('command = ["x"]\nformat = "ntfy"', "notify.format: expected json or text or mail for a command, got ntfy"),
        (f'url = "{URL}"\nformat = "mail"', "notify.format: expected another format for an address, got mail"),
    ],
)
def test_what_cannot_work_is_a_problem(text: str, problem: str) -> None:
    (line,) = problems(f"[notify]\n{text}", BAD="ftp://user@example.org/secret")
    assert problem == line.removesuffix(" else")


def test_two_hooks_have_two_names() -> None:
    text = f'[[notify]]\nname = "a"\nurl = "{URL}"\n[[notify]]\nname = "a"\ncommand = ["x"]'
    assert ["notify[2].name: expected another name than that of an earlier hook, got 'a'"] == problems(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('url = "ftp://x/y"', "notify.url: expected an address that begins with http:// or https://, without a user, "),
        ('events = ["lunch"]', 'notify.events[1]: expected "refused" or "replaced" or '),
        ('events = ["trial"]', "notify.events[1]: expected "),
        ('summary_at = "8:00"', "notify.summary_at: expected a time from 00:00 to 23:59, or false, got '8:00'"),
        ('timezone = "Mars/Olympus"', "notify.timezone: expected a time zone such as UTC or Europe/Berlin, got "),
        ('name = "../up"', "notify.name: expected a name of letters, digits, - and _, at most 40, or false, got "),
    ],
)
def test_a_wrong_value_is_one_line(text: str, problem: str) -> None:
    with pytest.raises(ConfigProblemsError) as caught:
        parse_config(f"[notify]\n{text}")
    (line,) = str(caught.value).splitlines()
    assert line.startswith(problem)
    assert "ftp://x" not in line


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ('name = "a"', "notify has neither url nor command: nobody is notified"),
        (f'url = "{URL}"\ncommand = ["x"]', "notify.command is ignored, because there is a url"),
        (f'url = "{URL}"\nurl_env = "X"', "notify.url_env is ignored, because url takes precedence"),
        ('command = ["x"]\ntoken_env = "X"', "notify has a token, but no address to send it to"),
        ('url = "http://example.org/x"\ntoken_env = "X"', "notify sends its token without encryption"),
        (f'url = "{URL}"\nevents = ["summary"]', "notify.events has summary, but summary_at is missing: there is none"),
        (f'url = "{URL}"\nsummary_at = "08:00"', "notify.summary_at has no effect without summary in events"),
        (f'url = "{URL}"\nevents = ["rating"]', "notify.events has rating, but ratings is empty: none is passed"),
        (f'url = "{URL}"\nratings = [1600]', "notify.ratings has no effect without rating in events"),
        ("", ""),
    ],
)
def test_what_is_probably_a_mistake_is_a_warning(text: str, warning: str) -> None:
    assert tuple(filter(None, [warning])) == config_warnings(parse_config(f"[notify]\n{text}"))


def test_a_change_takes_effect_at_a_reload() -> None:
    one = f'[[notify]]\nurl = "{URL}"\n'
    found = compare_configs(
        parse_config(one), parse_config(f'{one}events = ["match_won"]\n[[notify]]\ncommand = ["x"]')
    )
    assert (("notify[1].events", "notify[2] is new"), ()) == (found.applied, found.ignored)
    assert ((NotifyEvent.MATCH_WON,), ALARMS) == tuple(hook.events for hook in found.config.notify)
