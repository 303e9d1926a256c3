"""`fibsbot play`: connect to a server and play."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import re
import signal
from pathlib import Path
from typing import Final

import click
import structlog
from attrs import evolve

from fibsbot.bot.actions import End
from fibsbot.bot.runner import RegistrationError, Runner, RunSettings, SessionResult
from fibsbot.cli import ConfigError, UserError
from fibsbot.client.connection import ConnectionFailedError
from fibsbot.config import Config, ConfigProblemsError, load_config
from fibsbot.log import LogFormat, LogLevel, configure
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import StrategyError, check, load

DEFAULTS: Final = Config()
FALLBACK: Final = "handmade"
"""The strategy that decides where the chosen one fails."""

_NAME: Final = re.compile(r"[A-Za-z_]{1,20}")
_log = structlog.get_logger(__name__)


class RunError(click.ClickException):
    """The run failed for a reason outside this program: exit status 1."""


def _address(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[str, int]:
    host, _, port = value.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise click.BadParameter(f"expected HOST:PORT with a port from 1 to 65535, got {value!r}")
    return host.strip("[]"), int(port)


def _name(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not _NAME.fullmatch(value):
        raise click.BadParameter(f"expected letters and underscores, at most 20, got {value!r}")
    return value


def _config(ctx: click.Context, _param: click.Parameter, path: Path | None) -> Config:
    """Read the file, and make what it says the defaults of the other options."""
    if path is None:
        return DEFAULTS
    try:
        config = load_config(path)
    except ConfigProblemsError as error:
        raise ConfigError("\n".join(f"{path}: {problem}" for problem in error.problems)) from None
    defaults = {
        "server": f"{config.server.host}:{config.server.port}",
        "user": config.account.name,
        "password_file": config.account.password_file,
        "register": config.server.register,
        "invite": config.bot.invite,
        "length": config.bot.invite_length,
        "max_length": config.bot.max_length,
        "strategy_name": config.bot.strategy,
        "matches": config.bot.matches,
        "deadline": config.timing.deadline,
        "pause": config.timing.pause,
        "log_dir": config.log.directory,
        "log_format": config.log.format.value,
    }
    ctx.default_map = {name: value for name, value in defaults.items() if value is not None}
    return config


@click.command()
@click.option(
    "--config",
    is_eager=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    callback=_config,
    help="TOML file with settings (see config/fibsbot.toml); options go before it.",
)
@click.option("--server", required=True, metavar="HOST:PORT", callback=_address, help="Where to connect.")
@click.option("--user", required=True, metavar="NAME", callback=_name, help="Name of the account.")
@click.option(
    "--password-file",
    type=click.Path(path_type=Path),
    help=f"File whose first line is the password. Without it, the variable {DEFAULTS.account.password_env}.",
)
@click.option("--register", is_flag=True, help="Make the account if the server has none of this name.")
@click.option("--invite", metavar="NAME", callback=_name, help="Whom to invite whenever no match is on.")
@click.option(
    "--length",
    default=DEFAULTS.bot.invite_length,
    show_default=True,
    type=click.IntRange(1, 99),
    help="Points of the matches to invite to.",
)
@click.option(
    "--max-length",
    default=DEFAULTS.bot.max_length,
    show_default=True,
    type=click.IntRange(1, 99),
    help="Longest match to be invited to.",
)
@click.option("--strategy", "strategy_name", default=DEFAULTS.bot.strategy, show_default=True, help="Who decides.")
@click.option("--matches", type=click.IntRange(1), help="Log out after so many matches.")
@click.option(
    "--deadline",
    default=DEFAULTS.timing.deadline,
    show_default=True,
    type=click.FloatRange(0, min_open=True),
    help="Seconds a decision.",
)
@click.option(
    "--pause",
    default=DEFAULTS.timing.pause,
    show_default=True,
    type=click.FloatRange(0),
    help="Seconds between two commands at least.",
)
@click.option(
    "--log-dir",
    default=DEFAULTS.log.directory,
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the session log goes.",
)
@click.option(
    "--log-format",
    default=DEFAULTS.log.format.value,
    show_default=True,
    type=click.Choice([f.value for f in LogFormat]),
    help="Form of the program's own log, on stderr.",
)
@click.option("--verbose", is_flag=True, help="Log every line sent (<<) and received (>>).")
def play(  # noqa: PLR0913 - one argument an option
    config: Config,
    server: tuple[str, int],
    user: str,
    password_file: Path | None,
    *,
    register: bool,
    invite: str | None,
    length: int,
    max_length: int,
    strategy_name: str,
    matches: int | None,
    deadline: float,
    pause: float,
    log_dir: Path,
    log_format: str,
    verbose: bool,
) -> None:
    """Connect to a server and play.

    Ctrl-C finishes the match and logs out; a second Ctrl-C leaves at once, and the server saves the match.
    """
    configure(LogFormat(log_format), LogLevel.DEBUG if verbose else config.log.level)
    for warning in config.warnings():
        _log.warning(warning)
    strategy = _load(strategy_name)
    stamp = dt.datetime.now(dt.UTC).strftime("%Y%m%dT%H%M%SZ")
    chosen = evolve(
        config,
        server=evolve(config.server, host=server[0], port=server[1], register=register),
        bot=evolve(config.bot, invite=invite, invite_length=length, max_length=max_length, matches=matches),
        timing=evolve(config.timing, deadline=deadline, pause=pause),
    )
    password = _password(password_file, config.account.password_env)
    settings = chosen.run_settings(user, password, log_dir / f"{user}-{stamp}.jsonl")
    fallback = None if strategy_name == FALLBACK else _load(FALLBACK)
    result = _run(settings, strategy, fallback)
    counters = result.counters
    if result.end is End.REFUSED:
        raise RunError(f"{settings.host}:{settings.port} does not take the name {user!r} with this password")
    click.echo(f"{counters.matches} matches played, {counters.wins} won. Session log: {settings.log_path}")
    if result.end is not End.FINISHED:
        raise RunError(result.reason)


def _load(name: str) -> Strategy:
    try:
        strategy = load(name)
    except StrategyError as error:
        raise UserError(str(error)) from None
    if faults := check(strategy):
        raise UserError(f"strategy {name!r} does not work: {faults[0]}")
    return strategy


def _password(path: Path | None, variable: str) -> str:
    if path is None:
        password = os.environ.get(variable, "")
        where = f"the variable {variable}"
    else:
        try:
            password = (path.read_text("utf-8").splitlines() or [""])[0]
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot read the password from {path}: {type(error).__name__}") from None
        where = f"the first line of {path}"
    if not password.isascii() or not password.isprintable() or not password or " " in password:
        raise ConfigError(f"expected a password without blanks, printable ASCII, in {where}")
    return password


def _run(settings: RunSettings, strategy: Strategy, fallback: Strategy | None) -> SessionResult:
    try:
        return asyncio.run(_play(settings, strategy, fallback))
    except ConnectionFailedError as error:
        raise RunError(f"cannot connect to {settings.host}:{settings.port}: {error}") from None
    except RegistrationError as error:
        raise RunError(f"cannot register {settings.agent.name!r}: {error}") from None
    except OSError as error:
        raise ConfigError(f"cannot write {settings.log_path}: {error.strerror or error}") from None
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise click.Abort from None
    finally:
        strategy.close()
        if fallback is not None:
            fallback.close()


async def _play(settings: RunSettings, strategy: Strategy, fallback: Strategy | None) -> SessionResult:
    runner = Runner(settings, strategy, fallback=fallback)
    task = asyncio.current_task()
    signals = 0

    def on_signal() -> None:
        nonlocal signals
        signals += 1
        if signals == 1:
            runner.finish()
        elif task is not None:
            task.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    return await runner.run()
