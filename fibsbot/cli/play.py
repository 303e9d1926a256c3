"""`fibsbot play`: connect to a server and play."""

from __future__ import annotations

import asyncio
import datetime as dt
import signal
import socket
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import click
import structlog
from attrs import evolve

from fibsbot.bot.events_and_actions import End
from fibsbot.bot.runner import RegistrationError, Runner, SessionResult
from fibsbot.bot.settings import RunSettings
from fibsbot.cli import ConfigError, RunError, UserError
from fibsbot.cli.options import FOLDER, FiniteRange, PlayerName, load_config_file
from fibsbot.client.connection import ConnectionFailedError
from fibsbot.client.settings import ServerSettings, connection_error_text
from fibsbot.config import Config, ConfigProblemsError, UnknownAccountError
from fibsbot.config.build import find_password, run_settings
from fibsbot.config.checks import config_warnings, games_to_play
from fibsbot.config.settings import DEFAULT_VARIABLE, AccountConfig
from fibsbot.log import LogFormat, LogLevel, configure_log
from fibsbot.policy import CHOUETTE, Lengths
from fibsbot.policy.policy import ANY_GAME, full_game_name, is_game
from fibsbot.strategies import FALLBACK_STRATEGY
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import StrategyError, find, first_fault, load
from fibsbot.strategies.pool import close_strategy_in_time

DEFAULT_PORT: Final = ServerSettings().port
"""Port of a server that is named without one."""
_log = structlog.get_logger(__name__)


def _address(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[str, int] | None:
    if value is None:
        return None
    host, colon, port = value.rpartition(":")
    if not colon or value.endswith("]"):
        host, port = value, str(DEFAULT_PORT)
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise click.BadParameter(f"expected HOST or HOST:PORT with a port from 1 to 65535, got {value!r}")
    return host.strip("[]"), int(port)


def _games(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = tuple(name.strip() for name in value.split(","))
    wrong = [name for name in names if name not in (ANY_GAME, CHOUETTE) and not is_game(name)]
    if wrong:
        raise click.BadParameter(f"expected games such as plakoto,{CHOUETTE} or {ANY_GAME}, got {wrong[0]!r}")
    return tuple(map(full_game_name, names))


OVERRIDES: Final = {
    "register": ("server", "register"),
    "invite": ("bot", "invite"),
    "length": ("bot", "invite_length"),
    "strategy": ("bot", "strategy"),
    "matches": ("bot", "matches"),
    "deadline": ("timing", "deadline"),
    "pause": ("timing", "pause"),
    "log_dir": ("log", "directory"),
    "log_format": ("log", "format"),
}
"""Options that override a setting: its section and name."""


def _override_option(name: str, about: str, kind: Any = None) -> Callable[[Any], Any]:
    """Return an option that overrides a setting, and shows the setting's default."""
    section, setting = OVERRIDES[name.removeprefix("--").replace("-", "_")]
    default = getattr(getattr(Config(), section), setting)
    shown = str(getattr(default, "value", default)) if default is not None else False
    return click.option(name, type=kind, show_default=shown, help=about)


@click.command()
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(path_type=Path),
    callback=lambda _ctx, _param, path: path and load_config_file(path),
    help="Configuration file (see config/fibsbot.toml); options override it.",
)
@click.option(
    "--server",
    metavar="HOST[:PORT]",
    callback=_address,
    help=f"Server to connect to.  [default port: {DEFAULT_PORT}]",
)
@click.option("--account", "account_name", metavar="NAME", type=PlayerName(), help="Name of the account.")
@click.option(
    "--password-file",
    type=click.Path(path_type=Path),
    help=f"File whose first line is the password.  [default: the configuration file's, or ${DEFAULT_VARIABLE}]",
)
@click.option("--register", is_flag=True, default=None, help="Create the account if the server has none of this name.")
@click.option("--invite", metavar="NAME", type=PlayerName(), help="Player to invite whenever no match is on.")
@_override_option("--length", "Length of the matches to invite to.", click.IntRange(1, 99))
@click.option(
    "--max-length",
    show_default=str(Lengths().ranges[-1][1]),
    type=click.IntRange(1, 99),
    help="Longest match to accept.",
)
@click.option(
    "--games",
    metavar="NAMES",
    callback=_games,
    help="Games to accept besides backgammon, such as plakoto,chouette, or any. The bot tells the server that it knows "
    "them ('set games on'); only `fibsbot serve` has them.  [default: none, or policy.games of the file]",
)
@_override_option("--strategy", "Strategy that plays.")
@click.option("--matches", type=click.IntRange(1), metavar="N", help="Log out after N matches.")
@_override_option("--deadline", "Time limit for a decision, in seconds.", FiniteRange(0, min_open=True))
@_override_option("--pause", "Minimum seconds between two commands.", FiniteRange(0))
@_override_option("--log-dir", "Folder for session logs.", FOLDER)
@_override_option(
    "--log-format", "Format of the program's own log on stderr.", click.Choice([form.value for form in LogFormat])
)
@click.option("-v", "--verbose", is_flag=True, help="Log every line sent (<<) and received (>>).")
def play(  # noqa: PLR0913 - one argument per option
    config: Config | None,
    server: tuple[str, int] | None,
    account_name: str | None,
    password_file: Path | None,
    *,
    max_length: int | None,
    games: tuple[str, ...] | None,
    verbose: bool,
    **options: Any,
) -> None:
    """Connect to a server and play.

    Ctrl-C finishes the match and logs out; a second Ctrl-C logs out at once, and the server saves the match.
    """
    if server is None and config is None:
        raise click.UsageError("Missing option '--server'.")
    account = _account(config or Config(), account_name)
    if password_file:
        account = evolve(account, password_file=password_file)
    chosen = _with_overrides((config or Config()).for_account(account), options)
    if server:
        chosen = evolve(chosen, server=evolve(chosen.server, host=server[0], port=server[1]))
    if max_length:
        chosen = evolve(chosen, policy=evolve(chosen.policy, lengths=_limit_lengths(chosen.policy.lengths, max_length)))
    if games is not None:
        chosen = evolve(chosen, policy=evolve(chosen.policy, games=games))
    configure_log(chosen.log.format, LogLevel.DEBUG if verbose else chosen.log.level)
    _play_account(chosen)


def _account(config: Config, name: str | None) -> AccountConfig:
    """Return the account that plays: the only one, whatever its name, or the one with this name."""
    try:
        account = config.account_called(name) if len(config.accounts) > 1 else [*config.accounts, AccountConfig()][0]
    except UnknownAccountError as error:
        raise UserError(f"--account: {error}") from None
    if name is None and account.name is None:
        raise click.UsageError("Missing option '--account'.")
    return evolve(account, name=name or account.name)


def _with_overrides(config: Config, options: Mapping[str, Any]) -> Config:
    """Return the configuration with the values of the given options."""
    for option, (section, setting) in OVERRIDES.items():
        if options[option] is not None:
            value = LogFormat(options[option]) if option == "log_format" else options[option]
            table = evolve(getattr(config, section), **{setting: value})
            config = evolve(config, **{section: table})
    return config


def _limit_lengths(lengths: Lengths, longest: int) -> Lengths:
    """Return the lengths from the shortest accepted one up to this one."""
    shortest = min((least for least, _ in lengths.ranges), default=1)
    return evolve(lengths, ranges=((min(shortest, longest), longest),))


def _play_account(config: Config) -> None:
    """Play with the only account of a configuration until the end."""
    (account,) = config.accounts
    _find(config.bot.strategy)
    try:
        secret = find_password(account)
    except ConfigProblemsError as error:
        raise ConfigError(str(error)) from None
    for warning in config_warnings(config, process=False):
        _log.warning(warning)
    # Unlike the names of finished files (fibsbot/records/finished_logs.py), so that `fibsbot run` leaves it alone.
    stamp = dt.datetime.now(dt.UTC).strftime("%Y%m%d-%H%M%S")
    log_path = config.log.directory / f"{account.name}-{stamp}.jsonl"
    settings = run_settings(config, account, secret.text, log_path)
    _check_reachable(settings)
    strategy = _load(config.bot.strategy, games_to_play(config))
    fallback = None if config.bot.strategy == FALLBACK_STRATEGY else _load(FALLBACK_STRATEGY)
    result = _run(settings, strategy, fallback)
    counters = result.counters
    if result.end is End.REFUSED:
        hint = (
            "" if settings.server.register else "; --register creates the account if the server has none of this name"
        )
        raise RunError(f"{settings.server.address} does not accept the name {account.name!r} with this password{hint}")
    click.echo(f"{counters.matches} matches played, {counters.wins} won. Session log: {log_path}")
    if result.end is not End.FINISHED:
        raise RunError(result.reason)


def _check_reachable(settings: RunSettings) -> None:
    """Raise RunError if the server cannot be reached, before the engine starts, which may take half a minute."""
    try:
        address = settings.server.host, settings.server.port
        socket.create_connection(address, settings.agent.timings.connect).close()
    except (OSError, UnicodeError) as error:
        raise RunError(f"cannot connect to {settings.server.address}: {connection_error_text(error)}") from None


def _find(name: str) -> None:
    """Raise UserError for a strategy that is not installed."""
    try:
        find(name)
    except StrategyError as error:
        raise UserError(str(error)) from None


def _load(name: str, games: Iterable[str] = ()) -> Strategy:
    try:
        strategy = load(name)
    except StrategyError as error:
        raise UserError(str(error)) from None
    if fault := first_fault(strategy, games):
        raise UserError(f"strategy {name!r} does not work: {fault}")
    return strategy


def _run(settings: RunSettings, strategy: Strategy, fallback: Strategy | None) -> SessionResult:
    try:
        return asyncio.run(_play(settings, strategy, fallback))
    except ConnectionFailedError as error:
        raise RunError(f"cannot connect to {settings.server.address}: {error}") from None
    except RegistrationError as error:
        raise RunError(f"cannot register {settings.agent.name!r}: {error}") from None
    except OSError as error:
        raise ConfigError(f"cannot write {settings.log_path}: {error.strerror or error}") from None
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise click.Abort from None
    finally:
        for it in (strategy, fallback):
            if it is not None:
                close_strategy_in_time(it, type(it).__name__)


async def _play(settings: RunSettings, strategy: Strategy, fallback: Strategy | None) -> SessionResult:
    runner = Runner(settings, strategy, fallback=fallback)
    task = asyncio.current_task()
    signals = 0

    def on_signal(number: signal.Signals) -> None:
        nonlocal signals
        signals += 1
        if signals == 1:
            _log.info("asked to end", signal=number.name, what="the match is finished first; once more: leave at once")
            runner.finish()
        elif signals == 2:
            _log.warning("asked to end at once", signal=number.name, what="the server saves the match")
            runner.quit()
        elif task is not None:
            task.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal, number)
    result = await runner.run()
    if signals > 1:
        raise asyncio.CancelledError  # the match was not finished, so this is not a success
    return result
