"""`fibsbot serve` and `fibsbot worker`: the embedded server, and a worker of a Dask cluster for other commands."""

from __future__ import annotations

import errno
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from fibsbot.cli import UserError
from fibsbot.cli.options import FILE, FOLDER, laws_from, laws_options, tls_options, work_errors
from fibsbot.cli.output import check_writable
from fibsbot.early_signals import take_early_signals
from fibsbot.log import configure_log
from fibsbot.workers.errors import TlsFiles
from fibsbot.workers.opening import cluster_imported
from fibsbot.workers.worker_launcher import WorkerSettings, keep_running

if TYPE_CHECKING:
    from fibsbot.server.server import Server
    from fibsbot.table.guest_pages import GuestPages

WEB_PORT: Final = 8080
"""Port of the page for people if none is given."""


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
@click.option(
    "--web",
    is_flag=False,
    flag_value=str(WEB_PORT),
    type=click.IntRange(0, 65535),
    metavar="[PORT]",
    help=f"Also serve a page on which people play in a browser.  [port, if none is given: {WEB_PORT}]",
)
@click.option("--web-host", default="127.0.0.1", show_default=True, help="Address of the page.")
@laws_options
def serve(  # noqa: PLR0913 - one argument per option
    host: str,
    port: int,
    database: Path | None,
    *,
    seed: int | None,
    web: int | None,
    web_host: str,
    **named: Any,
) -> None:
    """Run the embedded server.

    People connect with `telnet 127.0.0.1 4321` and log in as guest to register. SIGTERM or Ctrl-C ends the server: it
    announces that to all users and saves all matches.

    The laws are those of a plain invitation between two users who know other laws than those of FIBS: people, and
    programs that have asked with `laws on`. Everybody else plays as on FIBS.

    With --web two people play by opening the page's address and choosing a name: without a client, without
    registration. They sit in one lobby with everybody else.
    """
    laws = laws_from(**named)
    import asyncio  # noqa: PLC0415 - slow to import

    from fibsbot.server.database import DatabaseError  # noqa: PLC0415
    from fibsbot.server.server import Server  # noqa: PLC0415 - with the protocol, half a second that no help needs

    configure_log()
    try:
        server = Server(host, port, db=database, seed=seed, laws=laws)
    except DatabaseError as error:
        raise UserError(f"cannot use the database: {error}") from None
    try:
        asyncio.run(_run(server, database, None if web is None else (web_host, web)))
    except OSError as error:
        hint = "; use --port to choose another one" if error.errno == errno.EADDRINUSE else ""
        raise UserError(f"cannot listen on {host}:{port}: {error.strerror or error}{hint}") from None


async def _run(server: Server, database: Path | None, web: tuple[str, int] | None) -> None:
    """Run the server until it is stopped; `web` is the address of the page, if there is one."""
    import asyncio  # noqa: PLC0415 - see `serve`

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    if take_early_signals():
        stop.set()
    async with server:
        if database is None:
            import structlog  # noqa: PLC0415 - as above

            lost = "accounts and matches end with this process; --database FILE keeps them"
            structlog.get_logger(__name__).warning("nothing is kept", what=lost)
        pages = None if web is None else await _open_pages(server, *web)
        waiting = [asyncio.ensure_future(event.wait()) for event in (stop, server.failed)]
        _, pending = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        if pages is not None:
            await pages.close()
    if server.failure is not None:
        raise UserError(f"the database {database or 'in memory'} failed: {server.failure}")


async def _open_pages(server: Server, host: str, port: int) -> GuestPages:
    """Serve the page. Raises UserError if that is not possible."""
    from fibsbot.client.settings import ServerSettings  # noqa: PLC0415 - see `serve`
    from fibsbot.table.guest_pages import GuestPages  # noqa: PLC0415 - few want the page

    reached = "127.0.0.1" if server.host in {"0.0.0.0", "::", ""} else server.host  # noqa: S104 - where it listens
    pages = GuestPages(ServerSettings(reached, server.port), port, host)
    try:
        await pages.start()
    except OSError as error:
        raise UserError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    click.echo(f"people play at {pages.root}", err=True)
    return pages


# -- worker ------------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("address")
@click.option("--host", metavar="ADDRESS", help="Address to listen on.  [default: loopback; with TLS, all]")
@click.option(
    "--memory-limit",
    metavar="SIZE",
    default="auto",
    show_default=True,
    help="Memory limit, such as 2GB, or 0 for none.",
)
@click.option("--local-directory", type=FOLDER, help="Folder for temporary files.  [default: that of Dask]")
@click.option("--name", help="Name of the worker for the scheduler.")
@click.option("--warm-up/--no-warm-up", default=True, show_default=True, help="Load the engine before taking work.")
@tls_options
def worker(  # noqa: PLR0913 - one argument per option
    address: str,
    *,
    host: str | None,
    memory_limit: str,
    local_directory: Path | None,
    name: str | None,
    tls: TlsFiles,
    warm_up: bool,
) -> None:
    """Run a worker of a Dask scheduler until stopped.

    ADDRESS is that of the scheduler, such as tls://HOST:8786. The worker has one thread; start one per core. It
    reconnects by itself when the scheduler has been restarted. SIGTERM or Ctrl-C ends it.

    Without TLS, only loopback addresses are accepted: anyone who reaches a scheduler or worker can run any code on it.
    """
    with work_errors():
        with cluster_imported():
            from fibsbot.workers.cluster import check_address, check_host, security_of  # noqa: PLC0415 - an extra
        full = check_address(address)
        check_host(full, host)
        security = security_of(full, tls)
    _check_memory_limit(memory_limit)
    if local_directory:
        check_writable(local_directory, parents=True)
    preload = __name__ if warm_up else ""
    context = security.get_connection_args("client")["ssl_context"] if security else None
    settings = WorkerSettings(full, tls, host, memory_limit, local_directory, name, context, preload)
    click.echo(f"worker of {full}", err=True)
    keep_running(settings, lambda line: click.echo(f"{time.strftime('%H:%M:%S')} {line}", err=True))


def _check_memory_limit(text: str) -> None:
    """Raise UserError unless Dask understands a limit, which it would say of each start of the worker."""
    from dask.utils import parse_bytes  # noqa: PLC0415 - an extra

    try:
        is_limit = text == "auto" or (text[:1] not in {"", "-"} and parse_bytes(text) >= 0)
    except (ValueError, OverflowError):
        is_limit = False
    if not is_limit:
        raise UserError(f"expected --memory-limit such as 2GB, 0 for none or auto, got {text!r}")


def dask_setup(_: Any) -> None:
    """Load the engine, and compile it if that was never done. Called by Dask in the worker process."""
    from fibsbot.engine.engine import Engine  # noqa: PLC0415 - only in the worker process

    Engine.load().warm_up()
