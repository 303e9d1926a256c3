"""The service of `fibsbot run`: settings, which may be read again, and how each account has ended."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click
import structlog

from fibsbot.bot.events_and_actions import End
from fibsbot.cli import EXIT_CONFIG, ConfigError, RunError
from fibsbot.config import Config, ConfigProblemsError
from fibsbot.config.build import account_settings, compare_configs
from fibsbot.config.checks import CheckResult, check, config_warnings
from fibsbot.config.hooks import notify_hooks
from fibsbot.config.parser import load_config
from fibsbot.config.settings import format_problems
from fibsbot.log import LogFormat, configure_log
from fibsbot.records.store import StoreError
from fibsbot.service.account import BotAccount
from fibsbot.service.service import Service, ServiceError, UnusableSettingError, check_addresses, sighup_blocked
from fibsbot.service.supervisor import ReloadResult
from fibsbot.strategies import FALLBACK_STRATEGY
from fibsbot.strategies.loader import load
from fibsbot.text import errors_as

REGISTER_HINT: Final = "; server.register = true makes the account if the server has none of this name"
_log = structlog.get_logger(__name__)


def run_accounts(path: Path, log_format: str | None) -> None:
    """Run all accounts of a configuration file until stopped, and report how each has ended."""
    with sighup_blocked():
        _report(_play(ConfigFile(path, log_format), path))


def _play(settings: ConfigFile, path: Path) -> Mapping[str, BotAccount]:
    """Play until all accounts have ended; return them."""
    checked = settings.start()
    process = settings.config.service_settings()
    try:
        with _service_errors():
            service = Service(
                *(checked.runs, process, load),
                fallback=FALLBACK_STRATEGY,
                reload=settings.read_again,
                notify=checked.hooks,
            )
            return asyncio.run(service.run())
    except StoreError as error:
        raise ConfigError(f"{path}: {error}") from None
    except KeyboardInterrupt:
        raise click.Abort from None


class ConfigFile:
    """The settings of this process: what holds, and what the file says now."""

    def __init__(self, path: Path, log_format: str | None) -> None:
        """Read nothing yet."""
        self._path = path
        self._log_format = LogFormat(log_format) if log_format else None
        self._passwords: Mapping[str, str] = {}
        self.config = Config()

    def start(self) -> CheckResult:
        """Read the file for the first time, and set up the log. Raises ConfigError."""
        checked = check(self._path, before_strategies=self._before_strategies)
        if checked.problems:
            raise ConfigError(format_problems(self._path, checked.problems))
        self._passwords = {plan.agent.name: plan.agent.password for plan in checked.runs}
        for doubt in config_warnings(self.config):
            _log.warning(doubt)
        return checked

    def _before_strategies(self, config: Config) -> None:
        """Take the settings, and say what comes next, which may take half a minute at the very first start."""
        _check_places(config)
        self.config = config
        self._set_up_log()
        accounts = ", ".join(account.name or "" for account in config.accounts)
        _log.info("starting", accounts=accounts, what="the strategies are tried before anything connects")

    def read_again(self) -> ReloadResult:
        """Read the file anew; where it cannot be used, everything stays as it is."""
        try:
            change = compare_configs(self.config, load_config(self._path))
            found = account_settings(change.config, self._passwords)
            hooks = notify_hooks(change.config)
        except ConfigProblemsError as error:
            return ReloadResult(problems=tuple(map(str, error.problems)))
        self.config = change.config
        self._set_up_log()
        by_name = {plan.agent.name: plan for plan in found}
        warnings = tuple(config_warnings(change.config))
        return ReloadResult(by_name, change.applied, change.ignored, warnings=warnings, hooks=hooks)

    def _set_up_log(self) -> None:
        configure_log(self._log_format or self.config.log.format, self.config.log.level)


def _check_places(config: Config) -> None:
    """Raise RunError where somebody else has the control socket or the web server's port, ConfigError for others."""
    with _service_errors():
        check_addresses(config.service_settings())


def _service_errors() -> contextlib.AbstractContextManager[None]:
    """Turn a ServiceError into a ConfigError if another start would not help, else into a RunError."""
    return errors_as((UnusableSettingError, ConfigError), (ServiceError, RunError))


def _report(accounts: Mapping[str, BotAccount]) -> None:
    """Say how it ended; end with status 78 where another start would end in the same way."""
    for name, account in accounts.items():
        counters = account.totals()
        hint = REGISTER_HINT if account.end is End.REFUSED and not account.settings.server.register else ""
        how = account.elsewhere or account.reason
        click.echo(f"{name}: {counters.matches} matches played, {counters.wins} won; {how}{hint}")
    here = [account for account in accounts.values() if account.elsewhere is None]
    if any(account.end not in (None, End.FINISHED) for account in here):
        raise SystemExit(EXIT_CONFIG)
