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

from fibsbot.bot.actions import End
from fibsbot.bot.runner import RegistrationError, Runner, RunSettings, SessionResult
from fibsbot.bot.settings import AgentSettings, Timings
from fibsbot.cli import ConfigError, UserError
from fibsbot.client.connection import ConnectionFailedError
from fibsbot.log import LogFormat, LogLevel, configure
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import StrategyError, check, load

PASSWORD_VARIABLE: Final = "FIBSBOT_PASSWORD"  # noqa: S105 - a variable's name
FALLBACK: Final = "handmade"
"""The strategy that decides where the chosen one fails."""

_NAME: Final = re.compile(r"[A-Za-z_]{1,20}")


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


@click.command()
@click.option("--server", required=True, metavar="HOST:PORT", callback=_address, help="Where to connect.")
@click.option("--user", required=True, metavar="NAME", callback=_name, help="Name of the account.")
@click.option(
    "--password-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"File whose first line is the password. Without it, the variable {PASSWORD_VARIABLE}.",
)
@click.option("--register", is_flag=True, help="Make the account if the server has none of this name.")
@click.option("--invite", metavar="NAME", callback=_name, help="Whom to invite whenever no match is on.")
@click.option(
    "--length", default=1, show_default=True, type=click.IntRange(1, 99), help="Points of the matches to invite to."
)
@click.option(
    "--max-length", default=25, show_default=True, type=click.IntRange(1, 99), help="Longest match to be invited to."
)
@click.option("--strategy", "strategy_name", default=FALLBACK, show_default=True, help="Who decides.")
@click.option("--matches", type=click.IntRange(1), help="Log out after so many matches.")
@click.option(
    "--deadline", default=30.0, show_default=True, type=click.FloatRange(0, min_open=True), help="Seconds a decision."
)
@click.option(
    "--pause", default=1.5, show_default=True, type=click.FloatRange(0), help="Seconds between two commands at least."
)
@click.option(
    "--log-dir",
    default=Path("logs"),
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the session log goes.",
)
@click.option("--log-format", default="console", show_default=True, type=click.Choice([f.value for f in LogFormat]))
@click.option("--verbose", is_flag=True, help="Log every line sent (<<) and received (>>).")
def play(  # noqa: PLR0913 - one argument an option
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
    configure(LogFormat(log_format), LogLevel.DEBUG if verbose else LogLevel.INFO)
    strategy = _load(strategy_name)
    stamp = dt.datetime.now(dt.UTC).strftime("%Y%m%dT%H%M%SZ")
    settings = RunSettings(
        host=server[0],
        port=server[1],
        agent=AgentSettings(
            user,
            _password(password_file),
            invite=invite,
            length=length,
            max_length=max_length,
            matches=matches,
            timings=Timings(pause=pause),
        ),
        register=register,
        deadline=deadline,
        log_path=log_dir / f"{user}-{stamp}.jsonl",
    )
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


def _password(path: Path | None) -> str:
    if path is None:
        password = os.environ.get(PASSWORD_VARIABLE, "")
        where = f"the variable {PASSWORD_VARIABLE}"
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
