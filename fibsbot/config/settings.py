"""The sections of a configuration file.

Most are declared where they are used. Here are those that only a file has.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import evolve, field, frozen

from fibsbot.bot.settings import PLAYER, ChatSettings, PlaySettings, SeekSettings, Timings
from fibsbot.client.settings import BackoffSettings, ServerSettings
from fibsbot.config.fields import repeatable_section, section
from fibsbot.log import LogFormat, LogLevel
from fibsbot.policy import Policy
from fibsbot.records.session_log import Rotation
from fibsbot.service.settings import ServiceSettings, UnknownAccountError
from fibsbot.setting import setting

MEGABYTE: Final = 2**20


@frozen
class AccountConfig:
    """An account, and the place of its password.

    The password itself never belongs in this file. If several places are given, the first counts. If none is, it is
    taken from the systemd credential with the account's name; a file's only account also finds it in the credential
    `password` and in the environment variable FIBSBOT_PASSWORD.
    """

    name: str | None = setting(None, "Name of the account.", example="marvin", needs_restart=True, **PLAYER)
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
    seek: SeekSettings = section(SeekSettings, per_account=True)
    chat: ChatSettings = section(ChatSettings, per_account=True)
    timing: Timings = section(Timings, per_account=True)
    reconnect: BackoffSettings = section(BackoffSettings, per_account=True)
    log: LogSettings = section(LogSettings)
    service: ServiceSettings = section(ServiceSettings)

    def account_called(self, name: str | None) -> AccountConfig:
        """Return an account by its name; None means the only one. Raises UnknownAccountError."""
        found = [it for it in self.accounts if name in {None, it.name}]
        if len(found) == 1:
            return found[0]
        names = ", ".join(it.name or "one without a name" for it in self.accounts) or "none"
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
