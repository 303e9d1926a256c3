"""`fibsbot external`: ours as a player for gnubg."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket

import click

from fibsbot.cli import UserError
from fibsbot.cli.engines import loaded, strategy_option
from fibsbot.external.answering import Answerer
from fibsbot.external.gnubg import ADDRESS, ExternalPlayer, listen
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
    try:
        listening = listen(port)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise UserError(f"cannot listen on {ADDRESS}:{port}: {reason}; --port takes another one") from None
    with listening:
        strategies = loaded(strategy)
        player = ExternalPlayer(Answerer(strategies), jacoby=jacoby)
        try:
            asyncio.run(_serve(player, listening, strategies[0].name))
        finally:
            for it in strategies:
                it.close()


async def _serve(player: ExternalPlayer, listening: socket.socket, name: str) -> None:
    """Serve until the first SIGINT or SIGTERM."""

    def tell(chosen: int) -> None:
        click.echo(f"{name} plays for gnubg: set player 1 external localhost:{chosen}")

    serving = asyncio.create_task(player.serve(listening, tell))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, serving.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await serving
