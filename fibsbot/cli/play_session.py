"""The session of `fibsbot play`: one account, from the first connection to the end."""

from __future__ import annotations

import asyncio
import datetime as dt
import signal
import socket
import time
from collections.abc import Iterable

import click
import structlog

from fibsbot.bot.context import AgentMemory
from fibsbot.bot.events_and_actions import End, ListsChanged
from fibsbot.bot.runner import RegistrationError, Runner, SessionResult
from fibsbot.bot.settings import RunSettings
from fibsbot.cli import ConfigError, RunError, UserError
from fibsbot.client.connection import ConnectionFailedError
from fibsbot.client.settings import connection_error_text
from fibsbot.config import Config, ConfigProblemsError
from fibsbot.config.build import find_password, run_settings
from fibsbot.config.checks import config_warnings, games_to_play
from fibsbot.policy.name_lists import PlayerLists
from fibsbot.service.list_reader import ListReader
from fibsbot.strategies import FALLBACK_STRATEGY
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import StrategyError, find, first_fault, load
from fibsbot.strategies.pool import close_strategy_in_time

_log = structlog.get_logger(__name__)


def play_account(config: Config) -> None:
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
    reader = ListReader(config.service.state / "lists" if config.service.state else None)
    result = _run(settings, strategy, fallback, reader)
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


def _run(settings: RunSettings, strategy: Strategy, fallback: Strategy | None, reader: ListReader) -> SessionResult:
    try:
        return asyncio.run(_play(settings, strategy, fallback, reader))
    except ConnectionFailedError as error:
        raise RunError(f"cannot connect to {settings.server.address}: {error}") from None
    except RegistrationError as error:
        raise RunError(f"cannot register {settings.agent.name!r}: {error}") from None
    except OSError as error:
        raise ConfigError(f"cannot write {settings.log_path}: {error.strerror or error}") from None
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise click.Abort from None
    finally:
        for opened in (strategy, fallback):
            if opened is not None:
                close_strategy_in_time(opened, type(opened).__name__)


async def _play(
    settings: RunSettings, strategy: Strategy, fallback: Strategy | None, reader: ListReader
) -> SessionResult:
    lists = settings.agent.lists
    memory = AgentMemory(lists=await reader.loaded(lists))  # before the first invitation
    runner = Runner(settings, strategy, fallback=fallback, memory=memory)
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

    def use_lists(found: PlayerLists) -> None:
        runner.dispatch(ListsChanged(time.monotonic(), found))

    following = asyncio.create_task(reader.follow(lists, use_lists)) if lists.block or lists.allow else None
    try:
        result = await runner.run()
    finally:
        if following is not None:
            following.cancel()
    if signals > 1:
        raise asyncio.CancelledError  # the match was not finished, so this is not a success
    return result
