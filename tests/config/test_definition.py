"""Sample file and documentation follow the declarations of the settings, and each setting has an effect."""

from __future__ import annotations

import enum
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.bot.settings import AgentSettings, RunSettings
from fibsbot.client.settings import BackoffSettings
from fibsbot.config import Config
from fibsbot.config.build import account_settings, run_settings
from fibsbot.config.document import TWO_ACCOUNTS, sample_file, settings_page
from fibsbot.config.hooks import notify_hooks
from fibsbot.config.parser import config_from_tables, load_config
from fibsbot.config.settings import AccountConfig, SettingField, sections_of, settings_of
from fibsbot.notify.settings import NotifySettings
from fibsbot.policy import Lengths, NamePattern
from fibsbot.records.session_log import Rotation
from fibsbot.service.settings import ServiceSettings
from tests.examples import examples

ROOT: Final = Path(__file__).parent.parent.parent
WRITE_ANEW: Final = "the definition has changed: run python -m fibsbot.config.document"
SETTINGS: Final = [(part.name, setting) for part in sections_of(Config) for setting in settings_of(part.cls)]
NAMES: Final = {(part, setting.name) for part, setting in SETTINGS}
MARVIN: Final = AccountConfig(name="marvin")


def run_of(config: Config) -> RunSettings:
    """Return what a run of the first account is told, or of one that the file does not name."""
    return run_settings(config, config.accounts[0] if config.accounts else MARVIN, "paranoid")


# -- sample and page ------------------------------------------------------------------------------------------------


def test_the_sample_has_the_defaults_and_follows_the_declarations() -> None:
    path = ROOT / "config/fibsbot.toml"
    assert evolve(Config(), accounts=(AccountConfig(),), notify=(NotifySettings(),)) == load_config(path)
    assert sample_file() == path.read_text(encoding="utf-8"), WRITE_ANEW


def test_the_sample_is_valid_with_every_comment_sign_removed() -> None:
    text = sample_file().partition("# Two accounts")[0]
    lines = [line.removeprefix("# ") if " = " in line else line for line in text.splitlines()]
    config = config_from_tables(tomllib.loads("\n".join(lines)))
    assert "marvin" == config.accounts[0].name
    assert 10 == config.bot.matches
    assert SETTINGS
    missing = [
        (part.name, setting.name)
        for part in sections_of(Config)
        if not part.repeatable
        for setting in settings_of(part.cls)
        if setting.default is None and getattr(getattr(config, part.attribute), setting.name) is None
    ]
    assert [] == missing


def test_the_example_of_two_accounts_is_valid() -> None:
    text = sample_file()
    start = text.index("[account]\n")
    rest = text.index("[bot]\n")
    assert "\n".join(f"# {line}".rstrip() for line in TWO_ACCOUNTS.splitlines()) in text
    config = config_from_tables(tomllib.loads(text[:start] + TWO_ACCOUNTS + text[rest:]))
    assert ["marvin", "zaphod"] == [account.name for account in config.accounts]
    marvin, zaphod = (config.for_account(account) for account in config.accounts)
    assert (Lengths.parse(["1-9", "11"]), 1500) == (marvin.policy.lengths, marvin.policy.min_rating)
    assert ("random", 600) == (zaphod.bot.strategy, zaphod.seek.after)


def test_the_sample_fits_a_terminal() -> None:
    lines = sample_file().splitlines()
    assert 100 >= max(len(line) for line in lines if " = " not in line)
    assert [] == [line for line in lines if line != line.rstrip()]


def test_the_documentation_follows_the_declarations() -> None:
    assert settings_page() == (ROOT / "docs/reference/configuration.md").read_text(encoding="utf-8"), WRITE_ANEW


def test_every_setting_is_described() -> None:
    assert all(setting.info.help.endswith(".") for _, setting in SETTINGS)
    assert all(setting.info.example is not None for _, setting in SETTINGS if setting.default is None)


# -- the run --------------------------------------------------------------------------------------------------------


def test_an_empty_configuration_gives_the_defaults() -> None:
    run = run_of(Config())
    assert AgentSettings("marvin", "paranoid") == run.agent
    assert (BackoffSettings(), Rotation(2**26, daily=True, keep_days=30, max_total_bytes=2**30)) == (
        run.backoff,
        run.rotation,
    )
    assert ServiceSettings() == Config().service_settings()


@pytest.mark.parametrize(("section", "setting"), SETTINGS, ids=lambda it: getattr(it, "name", it))
def test_bounds_hold_for_settings_that_come_from_no_file(section: str, setting: SettingField) -> None:
    cls = next(it.cls for it in sections_of(Config) if it.name == section)
    info = setting.info
    too_low = None if info.minimum is None else info.minimum - 1
    too_high = None if info.maximum is None else info.maximum + 1
    for value in (it for it in (too_low, info.above, too_high) if it is not None):
        with pytest.raises(ValueError, match=setting.name):
            cls(**{setting.name: value})


def other_value(setting: SettingField) -> Any:
    """Return a value as a file has it, which is not the default."""
    if setting.type is bool:
        return not setting.default
    if issubclass(setting.type, enum.Enum):
        value = next(it.value for it in setting.type if it is not setting.default)
        return [value] if setting.is_list else value
    if setting.type in {int, float}:
        return [13] if setting.is_list else 13
    by_name = {"summary_at": "08:00", "timezone": "Europe/Berlin", "url": "http://example.org/y"}
    by_name |= dict.fromkeys(("laws", "invite_laws"), "1931 point") | dict.fromkeys(("games", "invite_game"), "plakoto")
    words: dict[type, str] = {
        str: by_name.get(setting.name, "arthur"),
        Path: "x",
        Lengths: "unlimited",
        NamePattern: "ford:to",
    }
    return [words[setting.type]] if setting.is_list or setting.type is Lengths else words[setting.type]


def tables(section: str, name: str, value: Any) -> dict[str, Any]:
    """Return a file with one setting, and an account that has what it needs."""
    found: dict[str, Any] = {"account": {"name": "marvin", "password_env": "PASSWORD"}, "server": {"tls": True}}
    found["notify"] = {"url": "http://example.org/x"}
    return found | {section: {**found.get(section, {}), name: value}}


@pytest.mark.slow
@pytest.mark.parametrize(("section", "setting"), SETTINGS, ids=lambda it: getattr(it, "name", it))
def test_every_setting_reaches_the_run_or_the_process(section: str, setting: SettingField) -> None:
    """The few settings named here are used by the commands themselves."""
    by_command = {("log", "format"), ("log", "level")}
    of_secrets = {"password_file", "password_credential", "password_env", "password_keyring"}
    of_secrets |= {f"{what}_{place}" for what in ("url", "token") for place in ("file", "credential", "env")}
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
        told = [(account_settings(it, known), it.service_settings(), notify_hooks(it)) for it in (default, changed)]
        assert told[0] != told[1]


def extremes(setting: SettingField) -> list[Any]:
    """Return values at the edges of what a setting takes, as a file has them."""
    info = setting.info
    above = None if info.above is None else info.above + 1e-9
    values = [info.example, setting.default, info.minimum, above, info.maximum, "x" * (info.max_length or 1)]
    if info.max_length is None:
        values.pop()
    whole = [(it,) if setting.is_list and not isinstance(it, tuple) else it for it in values if it is not None]
    return [as_in_a_file(it) for it in whole]


def as_in_a_file(value: Any) -> Any:
    """Return a value as a TOML file would have it."""
    match value:
        case enum.Enum():
            return value.value
        case Lengths():
            return list(value.to_words())
        case tuple():
            return [it if isinstance(it, int | float) else str(it) for it in value]
        case Path():
            return str(value)
    return value


@examples(25)
@given(st.data())
def test_all_allowed_values_make_a_run(data: st.DataObject) -> None:
    found: dict[str, dict[str, Any]] = {}
    for section, setting in SETTINGS:
        value = data.draw(st.sampled_from([None, *extremes(setting), *([False] if setting.optional else [])]))
        if value is not None:
            found.setdefault(section, {})[setting.name] = value
    config = config_from_tables(found)
    assert config.service_settings().thinkers
    assert "paranoid" == run_of(config).agent.password
