"""The control socket: reads orders as lines of JSON, and answers each with a line of JSON.

    {"order": "pause", "account": "marvin"}         {"ok": true, "accounts": ["marvin"]}
    {"order": "invite", "account": "marvin", "arguments": ["ford", "5"]}
    {"order": "status"}                             {"ok": true, "status": {...}}
    {"order": "dance"}                              {"ok": false, "error": "expected ..."}

The orders are those of `fibsbot/bot/orders.py`; without an account an order is for all. Only the owner of the process
can open the socket. All input is bounded, and no client can delay the bots.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import structlog

from fibsbot.bot.orders import GivenOrder, Order, give_order, parse_order
from fibsbot.files import is_lasting
from fibsbot.redaction import redact, redact_record
from fibsbot.service.control_client import ControlAnswer, ControlError, UnusableSocketError
from fibsbot.text import one_line

MAX_ORDER_BYTES: Final = 4096
MAX_CLIENTS: Final = 32
"""Number of clients at the same time; beyond it, the one that has been silent for longest is disconnected."""
CLIENT_TIMEOUT: Final = 60.0
"""Seconds that a client has for its next order, and for receiving an answer."""
UMASK: Final = 0o177
"""With it, only the owner can open the socket."""
_KEYS: Final = {"order", "account", "arguments"}

OrderHandler: TypeAlias = Callable[[GivenOrder, str | None], Mapping[str, Any]]
"""Carries out an order for an account, or for all; raises ValueError with one line for the client."""
_log = structlog.get_logger(__name__)


class ControlServer:
    """Receives orders at a Unix socket."""

    def __init__(self, path: Path, obey: OrderHandler) -> None:
        """Listen at this path; `obey` carries out the orders."""
        self.path = path
        self._obey = obey
        self._server: asyncio.Server | None = None
        self._clients: dict[asyncio.Task[None], None] = {}
        """The clients, the one first that has been silent for longest."""
        self._inode: int | None = None

    async def start(self) -> None:
        """Start listening.

        Raises UnusableSocketError if the socket can never be made, ControlError if not now, as when another process is
        listening or the disk is full.
        """
        sock = _bound_socket(self.path)
        self._inode = self.path.stat().st_ino
        self._server = await asyncio.start_unix_server(
            self._serve, sock=sock, limit=MAX_ORDER_BYTES, backlog=MAX_CLIENTS
        )

    async def close(self) -> None:
        """Disconnect all clients and remove the socket."""
        if self._server is None:
            return
        self._server.close()
        with contextlib.suppress(OSError):
            if self.path.stat().st_ino == self._inode:
                self.path.unlink()
        for task in self._clients:
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        try:
            if task is None:
                return
            if len(self._clients) >= MAX_CLIENTS:
                self._disconnect_most_silent()
            self._note_activity(task)
            await self._take_orders(task, reader, writer)
        except (OSError, TimeoutError, asyncio.CancelledError):
            # The client has gone or is silent, or the process ends.
            pass
        finally:
            if task is not None:
                self._clients.pop(task, None)
            writer.transport.abort() if writer.transport.get_write_buffer_size() else writer.close()

    def _disconnect_most_silent(self) -> None:
        """Disconnect the client that has been silent for longest."""
        silent = next(iter(self._clients))
        del self._clients[silent]
        silent.cancel()

    def _note_activity(self, task: asyncio.Task[None]) -> None:
        self._clients.pop(task, None)
        self._clients[task] = None

    async def _take_orders(
        self, task: asyncio.Task[None], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while True:
            try:
                async with asyncio.timeout(CLIENT_TIMEOUT):
                    line = await reader.readline()
                self._note_activity(task)
                answer = self.answer(line) if line else None
            except ValueError:
                answer = _refusal(f"expected a line of at most {MAX_ORDER_BYTES} bytes, got a longer one")
                line = b""
            if answer is None:
                return
            writer.write(json.dumps(answer).encode() + b"\n")
            async with asyncio.timeout(CLIENT_TIMEOUT):
                await writer.drain()
            if not line.endswith(b"\n"):
                return

    def answer(self, line: bytes) -> ControlAnswer:
        """Carry out the order in a line; return the answer, also if the line is invalid."""
        try:
            given, account = parse_request(line)
            return {"ok": True, **redact_record(self._obey(given, account))}
        except ValueError as error:
            return {**_refusal(str(error)), "invalid": True}
        except Exception as error:  # noqa: BLE001 - an error must not end the connection
            _log.error("order failed", error=f"{type(error).__name__}: {error}")
            return _refusal("the order could not be carried out; the log says why")


def parse_request(line: bytes) -> tuple[GivenOrder, str | None]:
    """Parse a line. Raises ValueError, whose text says what was expected."""
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("expected a line of JSON") from None
    if not isinstance(request, dict) or not request.keys() <= _KEYS:
        raise ValueError('expected an object such as {"order": "status"}, perhaps with an "account"')
    word, account, arguments = request.get("order"), request.get("account"), request.get("arguments", [])
    order = parse_order(word) if isinstance(word, str) else None
    if order is None:
        raise ValueError(f"expected one of the orders {', '.join(known_order.value for known_order in Order)}")
    if account is not None and not isinstance(account, str):
        raise ValueError('expected the name of an "account"')
    if not isinstance(arguments, list) or not all(isinstance(word, str) for word in arguments):
        raise ValueError('expected "arguments" as a list of texts')
    return give_order(order, arguments), account


def _refusal(text: str) -> ControlAnswer:
    return {"ok": False, "error": one_line(redact(text))}


def _bound_socket(path: Path) -> socket.socket:
    """Return a socket at this path that only its owner can open; replace one that a dead process has left."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        remove_stale_socket(path)
        before = os.umask(UMASK)
        try:
            sock.bind(os.fspath(path))
        finally:
            os.umask(before)
    except OSError as error:
        sock.close()
        kind = UnusableSocketError if is_lasting(error) else ControlError
        raise kind(f"cannot make the control socket {path}: {error.strerror or error}") from None
    except ControlError:
        sock.close()
        raise
    return sock


def remove_stale_socket(path: Path) -> None:
    """Remove the socket of a dead process.

    Raises ControlError if it belongs to a living one, UnusableSocketError if it is no socket, and OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise UnusableSocketError(f"cannot make the control socket {path}: the path has a file of another kind")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.settimeout(1.0)
        try:
            other.connect(os.fspath(path))
        except (ConnectionRefusedError, FileNotFoundError):
            path.unlink(missing_ok=True)
        else:
            raise ControlError(f"another process is running, with the control socket {path}")
