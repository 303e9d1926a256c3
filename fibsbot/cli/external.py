"""`fibsbot external`: ours as a player for gnubg."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal

import click

from fibsbot.cli import UserError
from fibsbot.cli.engines import loaded, strategy_option
from fibsbot.external.answering import Answerer
from fibsbot.external.gnubg import ADDRESS, ExternalPlayer
from fibsbot.log import LogFormat, LogLevel, configure


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=1984, show_default=True, help="0 takes any free one.")
@strategy_option
@click.option("--jacoby/--no-jacoby", default=True, show_default=True, help="The rule in unlimited matches.")
def external(port: int, strategy: str | None, *, jacoby: bool) -> None:
    """Be a player for gnubg, by its external interface.

    In gnubg, `set player 1 external localhost:PORT` lets this one play, at this machine only. Ctrl-C ends it.
    """
    configure(LogFormat.CONSOLE, LogLevel.INFO)
    strategies = loaded(strategy)
    player = ExternalPlayer(Answerer(strategies), jacoby=jacoby)
    try:
        asyncio.run(_serve(player, port, strategies[0].name))
    except OSError as error:
        raise UserError(f"cannot listen on {ADDRESS}:{port}: {os.strerror(error.errno or 0)}") from None
    finally:
        for it in strategies:
            it.close()


async def _serve(player: ExternalPlayer, port: int, name: str) -> None:
    """Serve until the first SIGINT or SIGTERM."""

    def tell(chosen: int) -> None:
        click.echo(f"{name} plays for gnubg: set player 1 external localhost:{chosen}")

    serving = asyncio.create_task(player.serve(port, tell))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, serving.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await serving
