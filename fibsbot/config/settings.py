"""The sections of a configuration file, how they are declared, and the problems that a file can have.

Most sections are declared where they are used. At the end of this module are those that only a file has.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import Any, Final, get_args, get_origin

from attrs import evolve, field, fields, frozen

from fibsbot.bot.settings import ACCOUNT, ChatSettings, PlaySettings, SeekSettings, Timings
from fibsbot.client.settings import BackoffSettings, ServerSettings
from fibsbot.log import LogFormat, LogLevel
from fibsbot.notify.settings import NotifySettings
from fibsbot.policy import Lengths, NamePattern, Policy
from fibsbot.policy.name_lists import ListSettings
from fibsbot.records.session_log import Rotation
from fibsbot.service.settings import ServiceSettings, UnknownAccountError
from fibsbot.setting import SettingInfo, SettingsClass, setting, setting_fields


@frozen
class ConfigProblem:
    """Something wrong with a configuration."""

    path: str
    """`section.setting`, `account[2].policy.lengths`, or the file's path if it cannot be read."""
    expected: str
    got: str

    def __str__(self) -> str:
        """Return the problem in one line."""
        return f"{self.path}: expected {self.expected}, got {self.got}"

    def prefixed(self, path: str) -> ConfigProblem:
        """Return the same problem with its path below another one."""
        if not self.path:
            return evolve(self, path=path)
        return evolve(self, path=f"{path}{'' if self.path.startswith('[') else '.'}{self.path}")


class ConfigProblemsError(ValueError):
    """A configuration cannot be used; the text has a line for each problem."""

    def __init__(self, problems: Iterable[ConfigProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def format_problems(path: Path, problems: Iterable[ConfigProblem]) -> str:
    """Return a line for each problem of a file, each of which begins with the file's path."""
    return "\n".join(str(problem) if problem.path == str(path) else f"{path}: {problem}" for problem in problems)


def format_value(value: Any) -> str:
    """Return a value of a file for a message, shortened if it is long."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# -- sections and settings ------------------------------------------------------------------------------------------


@frozen
class Section:
    """A table of a configuration file."""

    name: str
    """The name in brackets."""
    attribute: str
    """The attribute of Config that holds it."""
    cls: SettingsClass
    """The class that declares its settings; its docstring describes the section."""
    per_account: bool
    """Whether an account may override its settings."""
    repeatable: bool
    """Whether a file may have several."""


def section(cls: SettingsClass, *, per_account: bool = False) -> Any:
    """Declare a section."""
    return field(factory=cls, metadata={"class": cls, "per_account": per_account})


def repeatable_section(name: str, cls: SettingsClass) -> Any:
    """Declare a section that a file may have several times."""
    return field(factory=tuple, metadata={"class": cls, "name": name})


def sections_of(config: SettingsClass) -> Iterator[Section]:
    """Yield the sections of a configuration in their order."""
    for attribute in fields(config):
        data = attribute.metadata
        yield Section(
            data.get("name", attribute.name),
            attribute.name,
            data["class"],
            per_account=data.get("per_account", False),
            repeatable="name" in data,
        )


@frozen
class SettingField:
    """A setting of a section."""

    name: str
    default: Any
    type: type
    """The type of its value, or of each value in its list."""
    is_list: bool
    optional: bool
    """Whether it can have no value, which a file expresses as `false`."""
    info: SettingInfo

    @property
    def expected(self) -> str:
        """The accepted values in words: `a whole number from 1 to 65535`."""
        if self.type is Lengths:
            return 'a list such as ["1-9", "11", "unlimited"]'
        if self.is_list:
            return f"a list, each item {self.expected_item}"
        return self.expected_item + (", or false" if self.optional else "")

    @property
    def expected_item(self) -> str:
        """The accepted values, or those in the list, in words."""
        if self.info.expected:
            return self.info.expected
        if issubclass(self.type, enum.Enum):
            return " or ".join(f'"{choice.value}"' for choice in self.type)
        return ("text" if self.info.blanks else _TYPE_NAMES[self.type]) + self.info.bounds


_TYPE_NAMES: Final = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a word without blanks",
    Path: "a path",
    Lengths: "a length such as 5, 1-9 or unlimited",
    NamePattern: "a name, perhaps with * and ? as wildcards and with :from or :to at its end",
}


def settings_of(cls: SettingsClass) -> Iterator[SettingField]:
    """Yield the settings of a section in their order."""
    for attribute, info in setting_fields(cls):
        types = [kind for kind in get_args(attribute.type) or (attribute.type,) if kind not in {NoneType, ...}]
        if len(types) != 1 or not isinstance(types[0], type):
            raise TypeError(f"expected one class as the type of {attribute.name}, got {attribute.type!r}")
        is_list = get_origin(attribute.type) is tuple
        optional = NoneType in get_args(attribute.type)
        yield SettingField(attribute.name, attribute.default, types[0], is_list, optional, info)


# -- what only a file has -------------------------------------------------------------------------------------------

MEGABYTE: Final = 2**20
DEFAULT_VARIABLE: Final = "FIBSBOT_PASSWORD"
"""The environment variable with the password of the only account of a file, if it names no source."""


@frozen
class AccountConfig:
    """An account, and the place of its password.

    The password itself never belongs in this file. If several places are given, the first counts. If none is, it is
    taken from the systemd credential with the account's name; a file's only account also finds it in the credential
    `password` and in the environment variable FIBSBOT_PASSWORD.
    """

    name: str | None = setting(None, "Name of the account.", example="marvin", needs_restart=True, **ACCOUNT)
    password_file: Path | None = setting(
        None,
        "File with the password in its first line.",
        example="/etc/fibsbot/marvin",
        secret=True,
        needs_restart=True,
    )
    password_credential: str | None = setting(
        None, "Name of the systemd credential with the password.", example="marvin", secret=True, needs_restart=True
    )
    password_env: str | None = setting(
        None, "Environment variable with the password.", example="MARVINS_PASSWORD", secret=True, needs_restart=True
    )
    password_keyring: str | None = setting(
        None,
        "Service under which this machine's keyring has the account's password.",
        example="fibsbot",
        blanks=True,
        secret=True,
        needs_restart=True,
    )
    client: str | None = setting(
        None,
        "Name of the program, sent to the server at login, instead of fibsbot and its version.",
        example="marvins_bot",
        max_length=20,
        check=str.isascii,
        needs_restart=True,
    )
    overrides: Mapping[str, Mapping[str, Any]] = field(factory=dict, kw_only=True)
    """Settings for this account alone, by section and name."""


@frozen
class LogSettings:
    """The program's own log, and the session logs."""

    format: LogFormat = setting(LogFormat.CONSOLE, "Format of the program's own log.")
    level: LogLevel = setting(LogLevel.INFO, "Lowest level of the lines in the program's own log.")
    directory: Path = setting(
        Path("logs"), "Directory of the session logs, the exact bytes of each connection.", needs_restart=True
    )
    match_directory: Path | None = setting(
        None,
        "Directory in which each finished match is written into a file of its own, as .mat, or as JSON if it is no"
        " backgammon; the name says date, account, opponent and length.",
        example="matches",
        needs_restart=True,
    )
    max_megabytes: int = setting(
        64,
        "Size beyond which a session log begins a new file.",
        unit="MB",
        minimum=1,
        maximum=100_000,
        needs_restart=True,
    )
    max_total_megabytes: int = setting(
        1024,
        "Size of an account's session logs together, beyond which the oldest are removed; 0 sets no limit.",
        unit="MB",
        minimum=0,
        maximum=1_000_000,
        needs_restart=True,
    )
    daily: bool = setting(default=True, help="Whether a new file begins each day, UTC.", needs_restart=True)
    keep_days: int = setting(
        30,
        "Days after which old session logs, which are compressed, are removed; 0 keeps them for ever.",
        unit="days",
        minimum=0,
        maximum=36_500,
        needs_restart=True,
    )

    @property
    def rotation(self) -> Rotation:
        """When a session log begins a new file, and which are kept."""
        return Rotation(
            max_bytes=self.max_megabytes * MEGABYTE,
            daily=self.daily,
            keep_days=self.keep_days,
            max_total_bytes=self.max_total_megabytes * MEGABYTE,
        )


@frozen
class Config:
    """A configuration: all settings, by section."""

    server: ServerSettings = section(ServerSettings, per_account=True)
    accounts: tuple[AccountConfig, ...] = repeatable_section("account", AccountConfig)
    bot: PlaySettings = section(PlaySettings, per_account=True)
    policy: Policy = section(Policy, per_account=True)
    lists: ListSettings = section(ListSettings, per_account=True)
    seek: SeekSettings = section(SeekSettings, per_account=True)
    chat: ChatSettings = section(ChatSettings, per_account=True)
    timing: Timings = section(Timings, per_account=True)
    reconnect: BackoffSettings = section(BackoffSettings, per_account=True)
    log: LogSettings = section(LogSettings)
    service: ServiceSettings = section(ServiceSettings)
    notify: tuple[NotifySettings, ...] = repeatable_section("notify", NotifySettings)

    def account_called(self, name: str | None) -> AccountConfig:
        """Return an account by its name; None means the only one. Raises UnknownAccountError."""
        found = [account for account in self.accounts if name in {None, account.name}]
        if len(found) == 1:
            return found[0]
        names = ", ".join(account.name or "one without a name" for account in self.accounts) or "none"
        raise UnknownAccountError(f"expected the name of an account ({names}), got {name or 'none'}")

    def for_account(self, account: AccountConfig) -> Config:
        """Return the configuration of one account, with its overrides in place."""
        sections = {name: evolve(getattr(self, name), **values) for name, values in account.overrides.items()}
        return evolve(self, accounts=(evolve(account, overrides={}),), **sections)

    def policy_of(self, name: str | None) -> Policy:
        """Return an account's policy; None: that of the only account, or of all. Raises UnknownAccountError."""
        if name is None and len(self.accounts) != 1:
            return self.policy
        return self.for_account(self.account_called(name)).policy

    def service_settings(self) -> ServiceSettings:
        """Return the settings of the process."""
        return evolve(self.service, deadline=self.timing.deadline)
