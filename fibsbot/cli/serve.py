"""`fibsbot serve`: the embedded server on its own."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fibsbot.cli import UserError
from fibsbot.cli.options import FILE, laws_from, laws_options
from fibsbot.log import configure_log

if TYPE_CHECKING:
    from fibsbot.server.server import Server


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    default=4321,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 picks a free one.",
)
@click.option("--database", metavar="FILE", type=FILE, help="Database file.  [default: keep nothing]")
@click.option("--seed", type=int, help="Random seed for the dice.")
@laws_options
def serve(host: str, port: int, database: Path | None, seed: int | None, **named: Any) -> None:
    """Run the embedded server.

    People connect with `telnet 127.0.0.1 4321` and log in as guest to register. SIGTERM or Ctrl-C ends the server: it
    says so to everybody and saves all matches.

    The laws are those of a plain invitation between two users who know other laws than those of FIBS: people, and
    programs that have asked with `laws on`. Everybody else plays as on FIBS.
    """
    laws = laws_from(**named)
    from fibsbot.server.database import DatabaseError  # noqa: PLC0415
    from fibsbot.server.server import Server  # noqa: PLC0415 - with the protocol, half a second that no help needs

    configure_log()
    try:
        server = Server(host, port, db=database, seed=seed, laws=laws)
    except DatabaseError as error:
        raise UserError(f"cannot use the database: {error}") from None
    try:
        asyncio.run(_run(server))
    except OSError as error:
        raise UserError(
            f"cannot listen on {host}:{port}: {error.strerror or error}; --port takes another one"
        ) from None


async def _run(server: Server) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with server:
        waiting = [asyncio.ensure_future(event.wait()) for event in (stop, server.failed)]
        _, pending = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
    if server.failure is not None:
        raise UserError(f"the database failed: {server.failure}")
