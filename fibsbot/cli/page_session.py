"""Serve one page of a table until a signal, and open it in the browser."""

from __future__ import annotations

import asyncio
import signal
import webbrowser
from collections.abc import Callable

import click

from fibsbot.cli import UserError
from fibsbot.early_signals import take_early_signals
from fibsbot.table.hosts import TableHost
from fibsbot.table.page_server import PageServer


def serve_page(make_host: Callable[[], TableHost], port: int, note: str, *, browse: bool, path: str = "") -> None:
    """Serve the page of a host until SIGINT or SIGTERM, and print its address, and then a note.

    Args:
        make_host: returns the host; called in the event loop.
        port: 0 for a free one, the usual one if it is free.
        note: what to print below the address.
        browse: whether to open the browser.
        path: of the document to open beside the page of the table.
    """
    try:
        asyncio.run(_serve(make_host, port, note, browse=browse, path=path))
    except OSError as error:
        raise UserError(f"cannot listen on 127.0.0.1:{port}: {error.strerror or error}") from None


async def _serve(make_host: Callable[[], TableHost], port: int, note: str, *, browse: bool, path: str) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    if take_early_signals():
        return
    host, server = make_host(), PageServer(port)
    page = server.add(host)
    await server.start()
    try:
        await host.start()
        address = server.address(page) + path
        click.echo("\n".join(filter(None, (address, note))))
        if browse and not stop.is_set():
            await asyncio.to_thread(webbrowser.open, address)
        await stop.wait()
    finally:
        await host.close()
        await server.close()
