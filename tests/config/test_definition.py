"""The definition: sample and documentation follow it, it has all that other rooms can be told, and nothing else."""

from __future__ import annotations

import enum
import tomllib
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
from attrs import evolve, fields
from hypothesis import given, settings
from hypothesis import strategies as st

from fibsbot.bot.settings import AgentSettings, ChatSettings, RunSettings, SeekSettings, Timings
from fibsbot.client.settings import BackoffSettings
from fibsbot.config import Config, load_config
from fibsbot.config.build import account_settings, run_settings
from fibsbot.config.document import TWO_ACCOUNTS, sample_file, settings_page
from fibsbot.config.fields import Setting, sections_of, settings_of
from fibsbot.config.parser import config_from_tables
from fibsbot.config.settings import AccountConfig
from fibsbot.policy import Lengths, NamePattern, Policy
from fibsbot.records.session_log import Rotation
from fibsbot.service.settings import AccountSettings, ServiceSettings

ROOT: Final = Path(__file__).parent.parent.parent
WRITE_ANEW: Final = "the definition has changed: run python -m fibsbot.config"
SETTINGS: Final = [(part.name, setting) for part in sections_of(Config) for setting in settings_of(part.table)]
NAMES: Final = {(part, setting.name) for part, setting in SETTINGS}
MARVIN: Final = AccountConfig(name="marvin")


def run_of(config: Config) -> RunSettings:
    """Return what a run of the first account is told, or of one that the file does not name."""
    return run_settings(config, config.accounts[0] if config.accounts else MARVIN, "paranoid")


# -- sample and page ------------------------------------------------------------------------------------------------


def test_the_sample_gives_the_defaults_and_follows_the_definition() -> None:
    path = ROOT / "config/fibsbot.toml"
    assert evolve(Config(), accounts=(AccountConfig(),)) == load_config(path)
    assert sample_file() == path.read_text(encoding="utf-8"), WRITE_ANEW


def test_the_sample_is_right_with_every_comment_sign_taken_away() -> None:
    text = sample_file().partition("# Two accounts")[0]
    lines = [line.removeprefix("# ") if " = " in line else line for line in text.splitlines()]
    config = config_from_tables(tomllib.loads("\n".join(lines)))
    assert "marvin" == config.accounts[0].name
    assert 10 == config.bot.matches
    assert SETTINGS
    missing = [
        (part.name, setting.name)
        for part in sections_of(Config)
        if not part.many
        for setting in settings_of(part.table)
        if setting.default is None and getattr(getattr(config, part.attribute), setting.name) is None
    ]
    assert [] == missing


def test_the_example_of_two_accounts_can_take_the_place_of_one() -> None:
    text = sample_file()
    start = text.index("[account]\n")
    rest = text.index("[bot]\n")
    assert "\n".join(f"# {line}".rstrip() for line in TWO_ACCOUNTS.splitlines()) in text
    config = config_from_tables(tomllib.loads(text[:start] + TWO_ACCOUNTS + text[rest:]))
    assert ["marvin", "zaphod"] == [account.name for account in config.accounts]
    marvin, zaphod = (config.only(account) for account in config.accounts)
    assert (Lengths.parse(["1-9", "11"]), 1500) == (marvin.policy.lengths, marvin.policy.min_rating)
    assert ("random", 600) == (zaphod.bot.strategy, zaphod.seek.after)


def test_the_sample_can_be_read_in_a_terminal() -> None:
    lines = sample_file().splitlines()
    assert 100 >= max(len(line) for line in lines if " = " not in line)
    assert [] == [line for line in lines if line != line.rstrip()]


def test_the_documentation_follows_the_definition() -> None:
    assert settings_page() == (ROOT / "docs/configuration.md").read_text(encoding="utf-8"), WRITE_ANEW


def test_every_setting_is_described() -> None:
    assert all(setting.about.help.endswith(".") for _, setting in SETTINGS)
    assert all(setting.about.example is not None for _, setting in SETTINGS if setting.default is None)


# -- other rooms ----------------------------------------------------------------------------------------------------

OWNERS: Final[dict[type[attrs.AttrsInstance], tuple[str, dict[str, tuple[str, str]]]]] = {
    Policy: ("policy", {}),
    SeekSettings: ("seek", {}),
    ChatSettings: ("chat", {}),
    Timings: ("timing", {}),
    BackoffSettings: ("reconnect", {}),
    Rotation: (
        "log",
        {"max_bytes": ("log", "max_megabytes"), "max_total_bytes": ("log", "max_total_megabytes")},
    ),
    ServiceSettings: ("service", {"deadline": ("timing", "deadline")}),
    AgentSettings: (
        "bot",
        {
            "name": ("account", "name"),
            "password": ("account", "password_file"),
            "client": ("account", "client"),
            "length": ("bot", "invite_length"),
            "commands_a_minute": ("timing", "commands_a_minute"),
        },
    ),
    RunSettings: (
        "server",
        {
            "tls": ("server", "tls"),
            "deadline": ("timing", "deadline"),
            "connect_timeout": ("timing", "connect"),
            "log_path": ("log", "directory"),
        },
    ),
    AccountSettings: ("bot", {}),
}
"""What can be told to other rooms: in which section, and what has another name there."""
NOT_SET: Final = {
    AgentSettings: {"policy", "seek", "chat", "timings", "seed", "strict"},
    RunSettings: {"agent", "pauses", "rotation", "retry_first"},
    AccountSettings: {"run"},
}
"""Sections of their own, and what is for tests, or for the process to decide."""


@pytest.mark.parametrize("owner", OWNERS, ids=lambda owner: owner.__name__)
def test_whatever_another_room_can_be_told_has_a_setting(owner: type[attrs.AttrsInstance]) -> None:
    section, others = OWNERS[owner]
    names = {it.name for it in fields(owner)} - NOT_SET.get(owner, set())
    assert [] == sorted(name for name in names if others.get(name, (section, name)) not in NAMES)


def test_defaults_are_those_of_the_rooms_that_use_them() -> None:
    run = run_of(Config())
    assert AgentSettings("marvin", "paranoid") == run.agent
    assert (BackoffSettings(), Rotation()) == (run.pauses, run.rotation)
    service = Config().service_settings()
    assert ServiceSettings() == evolve(service, store=None, control=None)


def other_value(setting: Setting) -> Any:
    """Return a value as a file has it, which is not the default."""
    if setting.kind is bool:
        return not setting.default
    if issubclass(setting.kind, enum.Enum):
        return next(it.value for it in setting.kind if it is not setting.default)
    if setting.kind in {int, float}:
        return 13
    words: dict[type, str] = {str: "arthur", Path: "x", Lengths: "unlimited", NamePattern: "ford:to"}
    return [words[setting.kind]] if setting.many or setting.kind is Lengths else words[setting.kind]


def tables(section: str, name: str, value: Any) -> dict[str, Any]:
    """Return a file with one setting, and an account that has what it needs."""
    found: dict[str, Any] = {"account": {"name": "marvin", "password_env": "PASSWORD"}, "server": {"tls": True}}
    return found | {section: {**found.get(section, {}), name: value}}


@pytest.mark.slow
@pytest.mark.parametrize(("section", "setting"), SETTINGS, ids=lambda it: getattr(it, "name", it))
def test_every_setting_reaches_the_run_or_the_process(section: str, setting: Setting) -> None:
    """A setting that nobody uses would be a lie; the few named here are used by the commands themselves."""
    by_command = {("log", "format"), ("log", "level")}
    of_secrets = {"password_file", "password_credential", "password_env", "password_keyring"}
    changed = config_from_tables(
        tables(section, setting.name, other_value(setting) if setting.name != "tls" else False)
    )
    default = config_from_tables(tables("server", "tls", value=True))
    assert default != changed
    if (section, setting.name) in by_command or setting.name in of_secrets:
        return
    known = {"marvin": "paranoid", "arthur": "paranoid"}
    if setting.name == "tls_ca":
        assert run_of(default) != run_of(changed)
    elif setting.name == "strategy":
        changed = evolve(changed, bot=evolve(changed.bot, strategy="random"))
        assert account_settings(default, known) != account_settings(changed, known)
    else:
        told = [(account_settings(it, known), it.service_settings()) for it in (default, changed)]
        assert told[0] != told[1]


def extremes(setting: Setting) -> list[Any]:
    """Return values at the edges of what a setting takes, as a file has them."""
    about = setting.about
    above = None if about.above is None else about.above + 1e-9
    values = [about.example, setting.default, about.least, above, about.most, "x" * (about.longest or 1)]
    if about.longest is None:
        values.pop()
    return [as_in_a_file(it) for it in values if it is not None]


def as_in_a_file(value: Any) -> Any:
    """Return a value as a TOML file would have it."""
    match value:
        case enum.Enum():
            return value.value
        case Lengths():
            return list(value.to_words())
        case tuple():
            return [str(it) for it in value]
        case Path():
            return str(value)
    return value


@settings(max_examples=50)
@given(st.data())
def test_whatever_the_definition_allows_makes_a_run(data: st.DataObject) -> None:
    found: dict[str, dict[str, Any]] = {}
    for section, setting in SETTINGS:
        value = data.draw(st.sampled_from([None, *extremes(setting), *([False] if setting.optional else [])]))
        if value is not None:
            found.setdefault(section, {})[setting.name] = value
    config = config_from_tables(found)
    assert config.service_settings().thinkers
    assert "paranoid" == run_of(config).agent.password
