"""Proxies between the server and its clients, where faults of the network are injected.

There is an `AccountProxy` per account, on a port of its own. A `ProxyConnection` is a connection through it, with a
`ProxyStream` for each direction, which passes on every byte at once unless a fault is injected. A `ConnectionObserver`
gets what the server really sent, before any fault, and what really reached it, after every fault.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol

from bench.chaos.shapers import Act, Break, Lost, Pause, Shaper

CHUNK: Final = 65_536
"""Maximum number of bytes of a read."""
POLL_INTERVAL: Final = 0.02
"""Seconds between two checks of a condition that cannot be awaited."""
_NO_LINGER: Final = struct.pack("ii", 1, 0)


class ConnectionObserver(Protocol):
    """An observer of one account's connections."""

    def server_said(self, connection: ProxyConnection, data: bytes) -> None:
        """Process what the server sent, whether it arrives or not."""

    def client_said(self, connection: ProxyConnection, data: bytes) -> None:
        """Process what the client sent, whether it arrives or not."""

    def server_heard(self, connection: ProxyConnection, data: bytes) -> None:
        """Process what reaches the server."""

    def client_heard(self, connection: ProxyConnection) -> None:
        """Note that the client has received as many bytes as `from_server.passed` counts."""

    def lost(self, connection: ProxyConnection, data: bytes, *, to_server: bool) -> None:
        """Note that bytes were lost."""


class ProxyStream:
    """One direction of a connection."""

    def __init__(
        self,
        connection: ProxyConnection,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        to_server: bool,
    ) -> None:
        """Pass on the bytes of `reader` to `writer`."""
        self._shapers: list[Shaper] = []
        self._ended = False
        self.swallowing = False
        """Whether everything is dropped, including the end of the stream."""
        self.passed = 0
        """Number of bytes read and processed."""
        self.mid_line = False
        """Whether the last byte read did not end a line."""
        self._wrote_mid_line = False
        self._connection = connection
        self._reader = reader
        self._writer = writer
        self._to_server = to_server
        self._open = asyncio.Event()
        self._open.set()
        self._injected: deque[bytes] = deque()

    def block(self) -> None:
        """Hold everything back."""
        self._open.clear()

    def unblock(self) -> None:
        """Pass everything on again."""
        self._open.set()

    def inject(self, line: bytes) -> None:
        """Insert a line into the stream, between two lines."""
        self._injected.append(line)
        self._write_injected()

    def add_shaper(self, shaper: Shaper) -> None:
        """Send all bytes from now on through a shaper, after the existing ones."""
        self._shapers.append(shaper)

    def remove_shaper(self, shaper: Shaper) -> None:
        """Remove a shaper, and pass on what it held back."""
        if shaper in self._shapers:
            self._shapers.remove(shaper)
            if held := shaper.rest():
                self._write(held)

    def end(self) -> None:
        """End the stream."""
        self._ended = True
        with contextlib.suppress(OSError, RuntimeError):
            if self._writer.can_write_eof() and not self._writer.is_closing():
                self._writer.write_eof()

    async def pump(self) -> None:
        """Pass bytes on until the stream ends."""
        connection = self._connection
        try:
            while data := await self._reader.read(CHUNK):
                self.mid_line = not data.endswith(b"\n")
                (connection.observer.client_said if self._to_server else connection.observer.server_said)(
                    connection, data
                )
                await self._open.wait()
                if self.swallowing:
                    continue
                for act in _shaped(data, self._shapers):
                    await self._do(act)
                self.passed += len(data)
                if not self._to_server:
                    connection.observer.client_heard(connection)
        except OSError:
            connection.break_off(Break.RESET)
            return
        await self._open.wait()
        if not self.swallowing:
            for shaper in list(self._shapers):
                self.remove_shaper(shaper)
            self.end()

    async def _do(self, act: Act) -> None:
        match act:
            case bytes():
                self._write(act)
                await self._writer.drain()
            case Pause(seconds):
                await asyncio.sleep(seconds)
            case Lost(data):
                self._connection.observer.lost(self._connection, data, to_server=self._to_server)
            case Break():
                self._connection.break_off(act)
                await asyncio.sleep(0)
                raise asyncio.CancelledError

    def _write(self, data: bytes) -> None:
        if self._ended or self._writer.is_closing():
            return
        self._writer.write(data)
        if self._to_server:
            self._connection.observer.server_heard(self._connection, data)
        self._wrote_mid_line = not data.endswith(b"\n")
        self._write_injected()

    def _write_injected(self) -> None:
        if self._injected and not self._wrote_mid_line:
            self._write(self._injected.popleft())


def _shaped(data: bytes, shapers: Sequence[Shaper]) -> Iterator[Act]:
    """Send bytes through all shapers, one after the other."""
    if not shapers:
        yield data
        return
    for act in shapers[0].feed(data):
        if isinstance(act, bytes):
            yield from _shaped(act, shapers[1:])
        else:
            yield act


class ProxyConnection:
    """One connection through the proxy."""

    def __init__(
        self,
        observer: ConnectionObserver,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Connect the streams of both ends."""
        self.observer = observer
        self.logged_in = False
        """Whether the observer has seen a complete login."""
        self.to_server = ProxyStream(self, client[0], server[1], to_server=True)
        self.from_server = ProxyStream(self, server[0], client[1], to_server=False)
        self._writers = client[1], server[1]
        self._over = asyncio.Event()
        self._how = Break.CUT

    @property
    def over(self) -> bool:
        """Whether the connection has been broken off."""
        return self._over.is_set()

    def stream(self, *, to_server: bool) -> ProxyStream:
        """Return one direction."""
        return self.to_server if to_server else self.from_server

    def break_off(self, how: Break) -> None:
        """End the connection for both ends."""
        if not self._over.is_set():
            self._how = how
            self._over.set()

    def black_hole(self) -> None:
        """Drop everything from now on without an end: a half-open connection."""
        self.to_server.swallowing = self.from_server.swallowing = True

    def half_close(self, *, to_server: bool) -> None:
        """End one direction; the other goes on."""
        stream = self.stream(to_server=to_server)
        stream.swallowing = True
        stream.end()

    async def run(self) -> None:
        """Pass bytes on in both directions until both have ended or the connection is broken off."""
        pumps = [asyncio.create_task(stream.pump()) for stream in (self.to_server, self.from_server)]
        over = asyncio.ensure_future(self._over.wait())
        both = asyncio.gather(*pumps, return_exceptions=True)
        ends: set[asyncio.Future[Any]] = {over, both}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            over.cancel()
            both.cancel()
            await asyncio.gather(over, both, return_exceptions=True)
            self._over.set()
            await self._close()

    async def _close(self) -> None:
        for writer in self._writers:
            if self._how is Break.RESET:
                with contextlib.suppress(OSError):
                    sock: socket.socket | None = writer.get_extra_info("socket")
                    if sock is not None:
                        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
                writer.transport.abort()
            else:
                writer.close()
        for writer in self._writers:
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(1.0):
                    await writer.wait_closed()
            writer.transport.abort()


class AccountProxy:
    """The proxy of one account."""

    def __init__(self, port: int, server_port: int, observer: ConnectionObserver) -> None:
        """Forward connections to `port`, once opened, to `server_port`."""
        self.port = port
        self.connection: ProxyConnection | None = None
        """The latest connection."""
        self.shape_next: Callable[[ProxyConnection], None] | None = None
        """Called with the next connection, at its beginning."""
        self._server_port = server_port
        self._observer = observer
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._connections: set[ProxyConnection] = set()
        self._closed = False

    async def open(self) -> None:
        """Start listening. Raises OSError if the port is not free."""
        if self._server is None:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    def shut(self) -> None:
        """Refuse new connections; existing ones stay."""
        if self._server is not None:
            self._server.close()
            self._server = None

    async def close(self) -> None:
        """End everything."""
        self.shut()
        self._closed = True
        for connection in self._connections:
            connection.break_off(Break.CUT)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def connected(self, *, logged_in: bool = False) -> ProxyConnection:
        """Wait for a connection, if wanted one that is logged in, and return it."""
        while True:
            if (
                self.connection is not None
                and not self.connection.over
                and (self.connection.logged_in or not logged_in)
            ):
                return self.connection
            await asyncio.sleep(POLL_INTERVAL)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or self._server is None:
            writer.transport.abort()
            return
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        finally:
            self._tasks.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            upstream = await asyncio.open_connection("127.0.0.1", self._server_port)
        except OSError:
            writer.transport.abort()
            return
        connection = self.connection = ProxyConnection(self._observer, (reader, writer), upstream)
        self._connections.add(connection)
        if self.shape_next is not None:
            shape, self.shape_next = self.shape_next, None
            shape(connection)
        if self._closed:
            connection.break_off(Break.CUT)
        await connection.run()
        self._connections.discard(connection)


async def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait for a condition at most `seconds`; return whether it came true."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= end:
            return False
        await asyncio.sleep(POLL_INTERVAL)
    return True
