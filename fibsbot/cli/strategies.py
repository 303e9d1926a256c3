"""`fibsbot strategies`, `external` and `ubgi`: the strategies that are installed, and ours as an engine for others."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import click

from fibsbot.cli import RunError, UserError
from fibsbot.cli.options import engine_name, rollout_options
from fibsbot.log import LogFormat, LogLevel, configure_log
from fibsbot.strategies import DEFAULT_STRATEGY, FALLBACK_STRATEGY
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import InstalledStrategy, StrategyError, available, load

if TYPE_CHECKING:
    from fibsbot.external import ExternalPlayer

FILE_WIDTH: Final = 200
"""Characters of a line where the output is no terminal."""
MODULES_WIDTH: Final = 120
"""Characters of a line from which on the modules are shown; `--json` has them in any case."""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def strategies(*, as_json: bool) -> None:
    """List the strategies and where they come from.

    A strategy that is installed but cannot be imported is listed with its error. An evaluator can value positions, and
    so analyse matches.
    """
    rows = [_row(origin) for origin in available()]
    if as_json:
        for row in rows:
            click.echo(json.dumps(row))
    else:
        _print_table(rows)


def _row(origin: InstalledStrategy) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": origin.name,
        "description": "",
        "distribution": origin.distribution,
        "version": origin.version,
        "module": origin.reference,
        "evaluator": False,
        "error": "",
    }
    try:
        row["description"] = origin.description()
        row["evaluator"] = origin.is_evaluator()
    except StrategyError as error:
        row["error"] = str(error)
    return row


def _origin(row: dict[str, Any]) -> str:
    return f"{row['distribution']} {row['version']}".strip()


def _print_table(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console  # noqa: PLC0415 - not for the help
    from rich.markup import escape  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else FILE_WIDTH
    console = Console(highlight=False, width=width)
    table = Table(box=None, pad_edge=False)
    table.add_column("name", no_wrap=True)
    table.add_column("what it does", ratio=1, overflow="fold")
    table.add_column("from", overflow="fold")
    has_modules = console.width >= MODULES_WIDTH
    if has_modules:
        table.add_column("module", overflow="fold")
    table.add_column("evaluator")
    for row in rows:
        what = f"[red]{escape(row['error'])}[/red]" if row["error"] else escape(row["description"])
        module = (escape(row["module"]),) if has_modules else ()
        table.add_row(escape(row["name"]), what, escape(_origin(row)), *module, "yes" if row["evaluator"] else "")
    console.print(table)


# -- as an engine for other programs -----------------------------------------------------------------------------------


strategy_option = click.option(
    "--strategy", metavar="NAME", help="Strategy that plays.  [default: as for `fibsbot play`]"
)


def load_with_fallback(name: str | None, rollout: int | None) -> Sequence[Strategy]:
    """Return the strategy of this name, or the default one, and the fallback for decisions at which it fails.

    `rollout` is the value of `rollout_options`. Raises UserError if the strategy cannot be loaded.
    """
    chosen = engine_name("strategy", name or DEFAULT_STRATEGY, rollout=rollout)
    try:
        return [load(wanted) for wanted in dict.fromkeys((chosen, FALLBACK_STRATEGY))]
    except StrategyError as error:
        raise UserError(str(error)) from None


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=1984,
    show_default=True,
    help="Port to listen on; 0 picks a free one.",
)
@strategy_option
@rollout_options
@click.option("--jacoby/--no-jacoby", default=True, show_default=True, help="Use the Jacoby rule in unlimited matches.")
def external(port: int, strategy: str | None, *, rollout: int | None, jacoby: bool) -> None:
    """Run as an external player for gnubg.

    In gnubg, `set player 1 external localhost:PORT` connects to it, from this machine only. Ctrl-C ends it.
    """
    import asyncio  # noqa: PLC0415 - slow to import, as is what uses it

    from fibsbot.external import ADDRESS, Answerer, ExternalPlayer, listen_locally  # noqa: PLC0415
    from fibsbot.strategies.pool import close_strategy_in_time  # noqa: PLC0415

    configure_log(LogFormat.CONSOLE, LogLevel.INFO)
    try:
        listening = listen_locally(port)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise UserError(f"cannot listen on {ADDRESS}:{port}: {reason}; use --port to choose another one") from None
    with listening:
        strategies = load_with_fallback(strategy, rollout)
        player = ExternalPlayer(Answerer(strategies), jacoby=jacoby)
        try:
            asyncio.run(_serve(player, listening, strategies[0].name))
        finally:
            for loaded in strategies:
                close_strategy_in_time(loaded, loaded.name)


async def _serve(player: ExternalPlayer, listening: socket.socket, name: str) -> None:
    """Serve until the first SIGINT or SIGTERM."""
    import asyncio  # noqa: PLC0415 - see `external`

    def announce(chosen: int) -> None:
        click.echo(f"{name} plays for gnubg: set player 1 external localhost:{chosen}")

    serving = asyncio.create_task(player.serve(listening, announce))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, serving.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await serving


@click.command()
@strategy_option
@rollout_options
@click.option("-v", "--verbose", is_flag=True, help="Print on stderr why a line is answered with sorry.")
def ubgi(strategy: str | None, *, rollout: int | None, verbose: bool) -> None:
    """Run as a UBGI engine on stdin and stdout.

    UBGI is the Universal Backgammon Interface, draft 0.01: after `ubgi` every XGID and every raw board of FIBS is
    answered with a play, roll, double, take or drop, and any other line with sorry. `quit` ends it.
    """
    from fibsbot.external import UbgiEngine, serve_ubgi  # noqa: PLC0415 - see `external`

    configure_log(LogFormat.CONSOLE, LogLevel.INFO if verbose else LogLevel.WARNING)
    engine = UbgiEngine(partial(load_with_fallback, strategy, rollout))
    try:
        source, target = _own_streams()
        with source, target:
            serve_ubgi(engine, source, target)
    except OSError as error:
        raise RunError(f"cannot write the output: {error.strerror or error}") from None
    finally:
        engine.close()


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return stdin and stdout for the protocol alone: what a strategy prints goes to stderr, and it reads nothing."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, target
