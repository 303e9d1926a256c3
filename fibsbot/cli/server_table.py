"""The session of `fibsbot table --server`: a person's login, session log and store, and the face of the table."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import getpass
import io
import os
import signal
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path

import click

from fibsbot.cli import ConfigError, RunError, UserError
from fibsbot.cli.options import store_errors
from fibsbot.client.settings import ServerSettings
from fibsbot.config import ConfigProblemsError
from fibsbot.config.build import find_password
from fibsbot.config.settings import DEFAULT_VARIABLE, AccountConfig
from fibsbot.early_signals import take_early_signals
from fibsbot.files import os_errors_as
from fibsbot.log import LogLevel, configure_log
from fibsbot.records.store import StoreWriter
from fibsbot.redaction import hide_password
from fibsbot.table.server_host import ServerHost, ServerLogin
from fibsbot.table.server_session import person_settings
from fibsbot.table.store_recorder import StoreRecorder


def play_on_server(  # noqa: PLR0913, PLR0917 - the options of the command
    show: Callable[[ServerHost], str],
    address: tuple[str, int],
    user: str,
    keyring: str | None,
    store: str,
    folder: Path,
    *,
    register: bool,
) -> None:
    """Log in, and let `show` be the face until the person leaves; it returns why there was no login, or nothing."""
    server = ServerSettings(*address)
    person = person_settings(user, _password(user, server, keyring))
    with os_errors_as(UserError, f"cannot make the folder {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{user}-{dt.datetime.now(dt.UTC):%Y%m%d-%H%M%S}.jsonl"
    with store_errors():
        writer = StoreWriter(store)
    try:
        login = ServerLogin(server, person, register=register, log_path=path)
        host = ServerHost(login, StoreRecorder(user, server.address, writer))
        why = show(host)
    finally:
        writer.close()
    click.echo(f"Session log: {path}")
    if why:
        raise RunError(why)


def _password(user: str, server: ServerSettings, keyring: str | None) -> str:
    """Return the password: from the keyring, from where a bot's is found by default, or from the terminal."""
    try:
        if keyring or os.environ.get(DEFAULT_VARIABLE):
            return find_password(AccountConfig(name=user, password_keyring=keyring)).text
    except ConfigProblemsError as error:
        raise ConfigError(str(error)) from None
    if not sys.stdin.isatty():
        raise UserError(f"expected a password in the variable {DEFAULT_VARIABLE}, or a terminal to ask for it")
    text = getpass.getpass(f"Password of {user} on {server.address}: ")
    if not text.isascii() or not text.isprintable() or not text or " " in text:
        raise UserError("expected a password of ASCII characters without blanks")
    hide_password(text, user)
    return text


def in_terminal(host: ServerHost, *, dark: bool) -> str:
    """Show the table in this terminal until the person leaves; what is logged meanwhile comes after that."""
    from fibsbot.table.terminal.server_app import ServerTableApp  # noqa: PLC0415 - textual, which the page does without

    log = io.StringIO()
    with contextlib.redirect_stderr(log):
        configure_log(level=LogLevel.WARNING)
    app = ServerTableApp(host, dark=dark)
    app.run(loop=asyncio.new_event_loop())
    click.echo(log.getvalue(), err=True, nl=False)
    if app.fault is not None:
        raise app.fault
    return app.refused


def in_browser(host: ServerHost, port: int, *, browse: bool) -> str:
    """Serve the page until Ctrl-C, or until the server ends the session."""
    configure_log(level=LogLevel.WARNING)
    try:
        return asyncio.run(_serve(host, port, browse=browse))
    except OSError as error:
        raise UserError(f"cannot listen on 127.0.0.1:{port}: {error.strerror or error}") from None


async def _serve(host: ServerHost, port: int, *, browse: bool) -> str:
    """Serve the page; return why the server has refused the login, an empty string otherwise."""
    from fibsbot.table.page_server import PageServer  # noqa: PLC0415 - aiohttp, which the terminal does without

    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    if take_early_signals():
        return ""
    server = PageServer(port)
    page = server.add(host)
    await server.start()
    try:
        await host.start()
        stopping = asyncio.ensure_future(stop.wait())
        await asyncio.wait([stopping, asyncio.ensure_future(host.first_login.wait())], return_when="FIRST_COMPLETED")
        if host.ended:
            return host.ended
        click.echo(server.address(page))
        if browse and not stop.is_set():
            await asyncio.to_thread(webbrowser.open, server.address(page))
        await stopping
    finally:
        await host.close()
        await server.close()
    return ""
