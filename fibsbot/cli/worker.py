"""`fibsbot worker`: a worker of a Dask cluster, which does pieces of other commands' work."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from fibsbot.cli import UserError
from fibsbot.cli.options import FOLDER, tls_options
from fibsbot.workers.pool import TlsFiles
from fibsbot.workers.processes import WorkError
from fibsbot.workers.worker_launcher import WorkerSettings, keep_running


@click.command()
@click.argument("address")
@click.option("--host", metavar="ADDRESS", help="Address to listen on.  [default: loopback; with TLS, all]")
@click.option("--memory-limit", metavar="SIZE", default="auto", show_default=True, help="Such as 2GB, or 0 for none.")
@click.option("--local-directory", type=FOLDER, help="Folder for temporary files.  [default: that of Dask]")
@click.option("--name", help="Name of the worker for the scheduler.")
@click.option("--warm-up/--no-warm-up", default=True, show_default=True, help="Load the engine before taking work.")
@tls_options
def worker(  # noqa: PLR0913 - an option each
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

    ADDRESS is that of the scheduler, such as tls://HOST:8786. The worker has one thread; start one per core. When the
    scheduler was restarted, the worker comes back by itself. SIGTERM or Ctrl-C ends it.

    Without TLS, only loopback addresses are accepted: anyone who reaches a scheduler or worker can run any code on it.
    """
    try:
        from fibsbot.workers.cluster import check_address, check_host, security_of  # noqa: PLC0415 - an extra

        full = check_address(address)
        check_host(full, host)
        security_of(full, tls)
    except ModuleNotFoundError as error:
        raise UserError(f"a worker needs the extra `cluster` (pip install 'fibsbot[cluster]'): {error}") from None
    except WorkError as error:
        raise UserError(str(error)) from None
    preload = __name__ if warm_up else ""
    settings = WorkerSettings(full, tls, host, memory_limit, local_directory, name, preload)
    click.echo(f"worker of {full}", err=True)
    keep_running(settings, lambda line: click.echo(f"{time.strftime('%H:%M:%S')} {line}", err=True))


def dask_setup(_: Any) -> None:
    """Load the engine, and compile it if that was never done. Called by Dask in the worker process."""
    from fibsbot.engine.engine import Engine  # noqa: PLC0415 - only in the worker process

    Engine.load().warm_up()
