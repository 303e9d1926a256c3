"""`fibsbot run`: all accounts of a file of settings, left running."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click
import structlog

from fibsbot.bot.actions import End
from fibsbot.cli import EXIT_CONFIG, ConfigError
from fibsbot.config import Config, ConfigProblemsError, load_config
from fibsbot.config.changing import changes
from fibsbot.config.checking import check
from fibsbot.config.doubting import doubts
from fibsbot.config.plans import plans
from fibsbot.config.problems import told
from fibsbot.log import LogFormat, configure
from fibsbot.records.store import StoreError
from fibsbot.service.account import Account
from fibsbot.service.process import Service, ServiceError, check_places, hangups_held_back
from fibsbot.service.settings import AccountPlan
from fibsbot.service.supervisor import Reloaded
from fibsbot.strategies.loader import load
from fibsbot.strategies.names import FALLBACK

HINT: Final = "; server.register = true makes the account if the server has none of this name"
_log = structlog.get_logger(__name__)


class RunError(click.ClickException):
    """The process failed for a reason outside this program: exit status 1."""


@click.command()
@click.option(
    "--config",
    "path",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="TOML file with settings; see config/fibsbot.toml.",
)
@click.option(
    "--log-format",
    type=click.Choice([it.value for it in LogFormat]),
    help="Form of the program's own log, on stderr, instead of the file's.",
)
def run(path: Path, log_format: str | None) -> None:
    """Play with all accounts of a file until told to stop.

    The first SIGTERM or Ctrl-C finishes the matches and logs out, the second logs out at once, the third kills. SIGHUP
    reads the file again. `fibsbot status` tells what goes on, `fibsbot order` gives orders. The exit status is 78 when
    starting again would not help: settings that cannot be used, a password that is refused, a name that somebody else
    has logged in with.
    """
    with hangups_held_back():
        _report(_play(Settings(path, log_format), path))


def _play(settings: Settings, path: Path) -> Mapping[str, Account]:
    """Play until all accounts have ended; return them."""
    chosen = settings.start()
    process = settings.config.service_settings()
    try:
        service = Service(chosen, process, load, fallback=FALLBACK, reload=settings.read_again)
        return asyncio.run(service.run())
    except StoreError as error:
        raise ConfigError(f"{path}: {error}") from None
    except ServiceError as error:
        raise RunError(str(error)) from None
    except KeyboardInterrupt:
        raise click.Abort from None


class Settings:
    """The settings of this process: what holds, and what the file says now."""

    def __init__(self, path: Path, log_format: str | None) -> None:
        """Read nothing yet."""
        self._path = path
        self._log_format = LogFormat(log_format) if log_format else None
        self._passwords: Mapping[str, str] = {}
        self.config = Config()

    def start(self) -> tuple[AccountPlan, ...]:
        """Read the file for the first time, and set up the log. Raises ConfigError."""
        checked = check(self._path, before_strategies=_check_places)
        if checked.problems:
            raise ConfigError(told(self._path, checked.problems))
        self.config = checked.config
        self._passwords = {plan.run.agent.name: plan.run.agent.password for plan in checked.plans}
        self._set_up_log()
        for doubt in doubts(self.config):
            _log.warning(doubt)
        return checked.plans

    def read_again(self) -> Reloaded:
        """Read the file anew; where it cannot be used, everything stays as it is."""
        try:
            change = changes(self.config, load_config(self._path))
            found = plans(change.config, self._passwords)
        except ConfigProblemsError as error:
            return Reloaded(problems=tuple(map(str, error.problems)))
        self.config = change.config
        self._set_up_log()
        by_name = {plan.run.agent.name: plan for plan in found}
        return Reloaded(by_name, change.applied, change.ignored, warnings=tuple(doubts(change.config)))

    def _set_up_log(self) -> None:
        configure(self._log_format or self.config.log.format, self.config.log.level)


def _check_places(config: Config) -> None:
    """Raise RunError where somebody else has the control socket or the web server's port."""
    try:
        check_places(config.service_settings())
    except ServiceError as error:
        raise RunError(str(error)) from None


def _report(accounts: Mapping[str, Account]) -> None:
    """Say how it ended; end with status 78 where another start would end in the same way."""
    for name, account in accounts.items():
        counters = account.totals()
        hint = HINT if account.end is End.REFUSED and not account.plan.run.register else ""
        click.echo(f"{name}: {counters.matches} matches played, {counters.wins} won; {account.reason}{hint}")
    if any(account.end not in (None, End.FINISHED) for account in accounts.values()):
        raise SystemExit(EXIT_CONFIG)
