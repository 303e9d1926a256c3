"""The control socket: takes orders as lines of JSON, and answers each with a line of JSON.

{"order": "pause", "account": "marvin"}         {"ok": true, "accounts": ["marvin"]}
    {"order": "status"}                             {"ok": true, "status": {...}}
    {"order": "dance"}                              {"ok": false, "error": "expected ..."}

The orders are those of `fibsbot/bot/orders.py`; without an account an order is for all. Only the owner of the process
may open the socket. All input is bounded, and no client can hold up the bots.
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

from fibsbot.bot.orders import Order, parse_order
from fibsbot.redaction import redact, redact_record
from fibsbot.service.control_client import ControlAnswer, ControlError
from fibsbot.text import one_line

LONGEST: Final = 4096
"""Bytes of an order at most."""
MAX_CLIENTS: Final = 32
"""Clients at the same time; one more, and the one that has been silent for the longest time has to go."""
PATIENCE: Final = 60.0
"""Seconds that a client has for its next order, and for taking the answer to its last."""
PRIVATE: Final = 0o177
"""What is taken away from the socket's mode, so that nobody but its owner may open it."""
_KEYS: Final = {"order", "account"}

OrderHandler: TypeAlias = Callable[[Order, str | None], Mapping[str, Any]]
"""Carries out an order for an account, or for all; raises ValueError with a line for whoever gave it."""
_log = structlog.get_logger(__name__)


class ControlServer:
    """Takes orders at a socket."""

    def __init__(self, path: Path, obey: OrderHandler) -> None:
        """Let `obey` carry out what is ordered at this path."""
        self.path = path
        self._obey = obey
        self._server: asyncio.Server | None = None
        self._clients: dict[asyncio.Task[None], None] = {}
        """The clients, the one first that has been silent for the longest time."""
        self._inode: int | None = None

    async def start(self) -> None:
        """Begin to listen. Raises ControlError where somebody else listens already, or nobody can."""
        sock = _bound_socket(self.path)
        self._inode = self.path.stat().st_ino
        self._server = await asyncio.start_unix_server(self._serve, sock=sock, limit=LONGEST, backlog=MAX_CLIENTS)

    async def close(self) -> None:
        """Send all clients away and take the socket from the disk."""
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
                self._make_room_for_one()
            self._heard_of(task)
            await self._take_orders(task, reader, writer)
        except (OSError, TimeoutError, asyncio.CancelledError):
            # A client that is gone, or sleeps; or the end of the process, in which a stream's task has to end quietly.
            pass
        finally:
            if task is not None:
                self._clients.pop(task, None)
            writer.transport.abort() if writer.transport.get_write_buffer_size() else writer.close()

    def _make_room_for_one(self) -> None:
        """Send away the client that has said nothing for the longest time."""
        silent = next(iter(self._clients))
        del self._clients[silent]
        silent.cancel()

    def _heard_of(self, task: asyncio.Task[None]) -> None:
        self._clients.pop(task, None)
        self._clients[task] = None

    async def _take_orders(
        self, task: asyncio.Task[None], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while True:
            try:
                async with asyncio.timeout(PATIENCE):
                    line = await reader.readline()
                self._heard_of(task)
                answer = self.answer(line) if line else None
            except ValueError:
                answer = _refusal(f"expected a line of at most {LONGEST} bytes, got a longer one")
                line = b""
            if answer is None:
                return
            writer.write(json.dumps(answer).encode() + b"\n")
            async with asyncio.timeout(PATIENCE):
                await writer.drain()
            if not line.endswith(b"\n"):
                return

    def answer(self, line: bytes) -> ControlAnswer:
        """Carry out the order in a line, whatever the line is; return the answer."""
        try:
            order, account = parse_request(line)
            return {"ok": True, **redact_record(self._obey(order, account))}
        except ValueError as error:
            return _refusal(str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not end more than this answer
            _log.error("order failed", error=f"{type(error).__name__}: {error}")
            return _refusal("the order could not be carried out; the log says why")


def parse_request(line: bytes) -> tuple[Order, str | None]:
    """Read a line. Raises ValueError, whose text says what was expected."""
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("expected a line of JSON") from None
    if not isinstance(request, dict) or not request.keys() <= _KEYS:
        raise ValueError('expected an object such as {"order": "status"}, perhaps with an "account"')
    word, account = request.get("order"), request.get("account")
    order = parse_order(word) if isinstance(word, str) else None
    if order is None:
        raise ValueError(f"expected one of the orders {', '.join(it.value for it in Order)}")
    if account is not None and not isinstance(account, str):
        raise ValueError('expected the name of an "account"')
    return order, account


def _refusal(text: str) -> ControlAnswer:
    return {"ok": False, "error": one_line(redact(text))}


def _bound_socket(path: Path) -> socket.socket:
    """Return a socket at this path that only its owner may open; take away what a dead process has left there."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        remove_stale_socket(path)
        before = os.umask(PRIVATE)
        try:
            sock.bind(os.fspath(path))
        finally:
            os.umask(before)
    except OSError as error:
        sock.close()
        raise ControlError(f"cannot make the control socket {path}: {error.strerror or error}") from None
    except ControlError:
        sock.close()
        raise
    return sock


def remove_stale_socket(path: Path) -> None:
    """Take away what a dead process has left at this path. Raises ControlError where somebody lives, OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise ControlError(f"cannot make the control socket {path}: there is a file of another kind")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.settimeout(1.0)
        try:
            other.connect(os.fspath(path))
        except (ConnectionRefusedError, FileNotFoundError):
            path.unlink(missing_ok=True)
        else:
            raise ControlError(f"somebody else runs already, with the control socket {path}")
