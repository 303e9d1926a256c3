"""Build the settings of each account's run, with its password, and apply a changed configuration to running bots.

Passwords are never part of a configuration, and no message here shows one. A source named in the configuration must
have the password; nothing else is tried. If several are named, the first of these counts: file, credential,
environment, keyring. If none is named, the systemd credential with the account's name is used; a file's only account
also finds its password in the credential `password`, and then in FIBSBOT_PASSWORD.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import attrs
from attrs import evolve, field, frozen

from fibsbot.bot.settings import AgentSettings, RunSettings
from fibsbot.config.secrets import (
    CREDENTIALS,
    MissingSecretError,
    secret_from_credential,
    secret_from_file,
    secret_from_variable,
)
from fibsbot.config.settings import (
    DEFAULT_VARIABLE,
    AccountConfig,
    Config,
    ConfigProblem,
    ConfigProblemsError,
    format_value,
    sections_of,
    settings_of,
)
from fibsbot.notify.settings import NotifySettings
from fibsbot.redaction import hide_password
from fibsbot.setting import SettingsClass
from fibsbot.strategies import base_name, is_file
from fibsbot.strategies.loader import available


def account_settings(config: Config, passwords: Mapping[str, str] | None = None) -> tuple[RunSettings, ...]:
    """Return the settings of each account's run, in the file's order.

    `passwords`, by name of account, are those already known, as after a reload; all others are looked up. Raises
    ConfigProblemsError with all problems.
    """
    known = passwords or {}
    runs: list[RunSettings] = []
    problems: list[ConfigProblem] = []
    if not config.accounts:
        problems.append(ConfigProblem("account", "a table [account] with the name of an account", "none"))
    for path, account in account_paths(config):
        try:
            runs.append(_settings_of(config, account, path, known))
        except ConfigProblemsError as error:
            problems += error.problems
    if problems:
        raise ConfigProblemsError(dict.fromkeys(problems))
    return tuple(runs)


def account_paths(config: Config) -> Iterator[tuple[str, AccountConfig]]:
    """Yield each account with its path in the file."""
    for number, account in enumerate(config.accounts, 1):
        yield f"account[{number}]" if len(config.accounts) > 1 else "account", account


def _settings_of(config: Config, account: AccountConfig, path: str, known: Mapping[str, str]) -> RunSettings:
    one, password, problems = config.for_account(account), known.get(account.name or ""), []
    if account.name is None:
        problems.append(ConfigProblem(f"{path}.name", "the name of an account", "none"))
    if password is None:
        try:
            password = find_password(account, path, alone=len(config.accounts) == 1).text
        except ConfigProblemsError as error:
            problems += error.problems
    for (section, name), problem in _unusable_settings(one):
        own = name in account.overrides.get(section, {})
        problems.append(problem.prefixed(f"{path}.{section}.{name}" if own else f"{section}.{name}"))
    if problems or password is None:
        raise ConfigProblemsError(problems)
    log_path = config.log.directory / f"{account.name}.jsonl"
    return run_settings(config, account, password, log_path)


def _unusable_settings(one: Config) -> Iterator[tuple[tuple[str, str], ConfigProblem]]:
    """Yield the settings of an account that name something that does not exist."""
    names = list(dict.fromkeys(origin.name for origin in available()))
    if base_name(one.bot.strategy) not in names and not is_file(one.bot.strategy):
        expected = f"one of {', '.join(names)}, or FILE.py:CLASS"
        yield ("bot", "strategy"), ConfigProblem("", expected, format_value(one.bot.strategy))
    if one.server.tls and one.server.tls_ca:
        try:
            ssl.create_default_context(cafile=one.server.tls_ca)
        except OSError as error:
            got = "something else" if isinstance(error, ssl.SSLError) else error.strerror or type(error).__name__
            yield ("server", "tls_ca"), ConfigProblem("", "a file with certificates", got)


def run_settings(config: Config, account: AccountConfig, password: str, log_path: Path | None = None) -> RunSettings:
    """Return the settings of the run of an account that has a name."""
    one = config.for_account(account)
    agent = AgentSettings(
        *(account.name or "", password),
        play=one.bot,
        policy=one.policy,
        seek=one.seek,
        chat=one.chat,
        timings=one.timing,
        lists=one.lists,
    )
    return RunSettings(
        one.server,
        evolve(agent, client=account.client) if account.client else agent,
        backoff=one.reconnect,
        log_path=log_path,
        rotation=one.log.rotation,
        match_directory=one.log.match_directory,
    )


@frozen
class ConfigChanges:
    """The difference between two configurations."""

    applied: tuple[str, ...]
    """Paths of the settings that take effect now, such as `policy.lengths`."""
    ignored: tuple[str, ...]
    """Paths of the settings that need a restart, such as `server.host`, and the accounts that were added or removed."""
    config: Config
    """The settings in effect: the new ones, and the old ones where a change needs a restart."""


def compare_configs(old: Config, new: Config) -> ConfigChanges:
    """Compare the settings in effect with those of the file. Accounts are identified by their names."""
    found: list[_Change] = []
    holds: dict[str, Any] = {}
    for section in sections_of(Config):
        if not section.repeatable:
            was, now = getattr(old, section.attribute), getattr(new, section.attribute)
            found += _compared(section.name, section.cls, _values(was), _values(now))
            holds[section.attribute] = evolve(now, **_fixed(section.cls, _values(was)))
    found += _compared_hooks(old, new)
    added = {account.name: (path, account) for path, account in account_paths(new)}
    accounts = []
    for account in old.accounts:
        path, now = added.pop(account.name, ("", None))
        found += _compared_accounts(path, account, now)
        accounts.append(_merged_account(account, now) if now else account)
    found += [_Change(f"account {name!r} is new: restart", needs_restart=True) for name in added]
    return ConfigChanges(
        tuple(change.path for change in found if not change.needs_restart),
        tuple(change.path for change in found if change.needs_restart),
        evolve(new, accounts=tuple(accounts), **holds),
    )


@frozen
class _Change:
    path: str
    needs_restart: bool


def _values(table: attrs.AttrsInstance) -> Mapping[str, Any]:
    return {setting.name: getattr(table, setting.name) for setting in settings_of(type(table))}


def _fixed(table: SettingsClass, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the values that can change only at a start."""
    return {
        setting.name: values[setting.name]
        for setting in settings_of(table)
        if setting.info.needs_restart and setting.name in values
    }


def _compared(path: str, table: SettingsClass, was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[_Change]:
    """Yield the settings of a section that have changed, been added or been removed."""
    for setting in settings_of(table):
        if was.get(setting.name, _Missing) != now.get(setting.name, _Missing):
            yield _Change(f"{path}.{setting.name}", setting.info.needs_restart)


def _compared_hooks(old: Config, new: Config) -> Iterator[_Change]:
    """Yield the settings of hooks that have changed, and the hooks that were added or removed."""
    for number, (was, now) in enumerate(zip_longest(old.notify, new.notify), 1):
        if was is None or now is None:
            yield _Change(f"notify[{number}] {'is new' if was is None else 'was removed'}", needs_restart=False)
        else:
            yield from _compared(f"notify[{number}]", NotifySettings, _values(was), _values(now))


class _Missing:
    """The value of a setting that is absent."""


def _compared_accounts(path: str, was: AccountConfig, now: AccountConfig | None) -> Iterator[_Change]:
    if now is None:
        yield _Change(f"account {was.name!r} was removed: restart", needs_restart=True)
        return
    yield from _compared(path, AccountConfig, _values(was), _values(now))
    for section in sections_of(Config):
        if section.per_account:
            own = was.overrides.get(section.name, {}), now.overrides.get(section.name, {})
            yield from _compared(f"{path}.{section.name}", section.cls, *own)


def _merged_account(was: AccountConfig, now: AccountConfig) -> AccountConfig:
    """Return the old account with those of its new settings that need no restart."""
    overrides: dict[str, Mapping[str, Any]] = {}
    for section in sections_of(Config):
        before, after = was.overrides.get(section.name, {}), now.overrides.get(section.name, {})
        fixed = _fixed(section.cls, before)
        overrides[section.name] = {
            key: value for key, value in after.items() if key not in _fixed(section.cls, after)
        } | fixed
    return evolve(was, overrides={name: values for name, values in overrides.items() if values})


# -- passwords ------------------------------------------------------------------------------------------------------

DEFAULT_CREDENTIAL: Final = "password"
"""The credential for the only account of a file, if it names no source."""


@frozen
class FoundPassword:
    """A password that was found."""

    text: str = field(repr=False)
    source: str
    """Where it was found, in words."""


def find_password(
    account: AccountConfig, path: str = "account", *, alone: bool = True, environment: Mapping[str, str] = os.environ
) -> FoundPassword:
    """Find the password of an account. Raises ConfigProblemsError; `path` is the account's path in the file.

    `alone`: it is the only account of the file.
    """
    setting, look = _named(account, environment) or ("", _unnamed(account.name, alone=alone, environment=environment))
    try:
        found = look()
    except MissingSecretError as error:
        problem = ConfigProblem(setting, error.expected, error.got)
        raise ConfigProblemsError([problem.prefixed(path)]) from None
    hide_password(found.text, account.name or "")
    return found


def _named(account: AccountConfig, environment: Mapping[str, str]) -> tuple[str, Callable[[], FoundPassword]] | None:
    """Return the setting that names a source, and a function that reads it; None if there is none."""
    if account.password_file is not None:
        return "password_file", partial(_from_file, account.password_file)
    if account.password_credential is not None:
        return "password_credential", partial(_from_credential, account.password_credential, environment)
    if account.password_env is not None:
        return "password_env", partial(_from_variable, account.password_env, environment)
    if account.password_keyring is not None:
        return "password_keyring", partial(_from_keyring, account.password_keyring, account.name or "")
    return None


def _unnamed(name: str | None, *, alone: bool, environment: Mapping[str, str]) -> Callable[[], FoundPassword]:
    """Return a function that reads the password from where it is by default."""
    for credential in [name, *([DEFAULT_CREDENTIAL] if alone else [])]:
        if credential and CREDENTIALS in environment and os.access(Path(environment[CREDENTIALS], credential), os.F_OK):
            return partial(_from_credential, credential, environment)
    if alone and environment.get(DEFAULT_VARIABLE):
        return partial(_from_variable, DEFAULT_VARIABLE, environment)
    return partial(_not_found, f", or from the variable {DEFAULT_VARIABLE}" if alone else "")


def _from_file(path: Path) -> FoundPassword:
    return FoundPassword(_checked_password(secret_from_file(path), "in the first line of the file"), "a file")


def _from_credential(name: str, environment: Mapping[str, str]) -> FoundPassword:
    text = secret_from_credential(name, environment)
    return FoundPassword(_checked_password(text, "in the first line of the credential"), "a systemd credential")


def _from_variable(name: str, environment: Mapping[str, str]) -> FoundPassword:
    text = secret_from_variable(name, environment)
    return FoundPassword(_checked_password(text, "in the variable"), "an environment variable")


def _not_found(more: str) -> FoundPassword:
    settings = "password_file, password_credential, password_env, password_keyring"
    raise MissingSecretError(f"a password from one of {settings}{more}", "none")


def _from_keyring(service: str, name: str) -> FoundPassword:
    try:
        import keyring  # noqa: PLC0415 - optional, and slow to import
    except ImportError:
        raise MissingSecretError("the package keyring (pip install 'fibsbot[keyring]')", "none installed") from None
    try:
        text = keyring.get_password(service, name)
    except Exception as error:  # noqa: BLE001 - a backend may raise anything, and its text may show too much
        raise MissingSecretError("a keyring that answers", type(error).__name__) from None
    if text is None:
        raise MissingSecretError(f"a keyring with a password for {name!r} under this service", "none")
    return FoundPassword(_checked_password(text, "in the keyring"), "the keyring")


def _checked_password(text: str, where: str) -> str:
    if not text.isascii() or not text.isprintable() or not text or " " in text:
        raise MissingSecretError(
            f"a password without blanks, printable ASCII, {where}", "something else" if text else "nothing"
        )
    return text
