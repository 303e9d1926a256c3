"""`fibsbot external` and `fibsbot ubgi`: offer our strategies as an engine to other programs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Sequence
from functools import partial

import click

from fibsbot.cli import UserError
from fibsbot.cli.options import engine_name, rollout_options
from fibsbot.external import ADDRESS, Answerer, ExternalPlayer, UbgiEngine, listen_locally, serve_ubgi
from fibsbot.log import LogFormat, LogLevel, configure_log
from fibsbot.strategies import DEFAULT_STRATEGY, FALLBACK_STRATEGY
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import StrategyError, load

strategy_option = click.option(
    "--strategy", metavar="NAME", help="Strategy that plays.  [default: as for `fibsbot play`]"
)


def load_with_fallback(name: str | None, rollout: int | None) -> Sequence[Strategy]:
    """Return the strategy of this name, or the default one, and the fallback for decisions at which it fails.

    `rollout` is the value of `rollout_options`. Raises UserError if the strategy cannot be loaded.
    """
    chosen = engine_name("strategy", name or DEFAULT_STRATEGY, rollout=rollout)
    try:
        return [load(it) for it in dict.fromkeys((chosen, FALLBACK_STRATEGY))]
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
            for it in strategies:
                it.close()


async def _serve(player: ExternalPlayer, listening: socket.socket, name: str) -> None:
    """Serve until the first SIGINT or SIGTERM."""

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
    configure_log(LogFormat.CONSOLE, LogLevel.INFO if verbose else LogLevel.WARNING)
    engine = UbgiEngine(partial(load_with_fallback, strategy, rollout))
    try:
        serve_ubgi(engine, sys.stdin.buffer, sys.stdout.buffer)
    finally:
        engine.close()
