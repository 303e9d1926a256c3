"""The proxy: every connection passes it, and what happens to a network happens here.

A `AccountProxy` stands before the server, one for each account, on a port of its own; a `ProxyConnection` is one
connection through it
with two `ProxyStream`s, one for each direction. Without a fault a lane passes on every byte as it comes. A
`ConnectionObserver` hears
what the server really said, before any fault, and what really reached it, after every fault: the truth of the run.
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
"""Bytes that one read returns at most."""
POLL_INTERVAL: Final = 0.02
"""Seconds between two looks at something that tells nobody when it changes."""
_NO_LINGER: Final = struct.pack("ii", 1, 0)


class ConnectionObserver(Protocol):
    """Whoever looks on at one account's connections."""

    def server_said(self, link: ProxyConnection, data: bytes) -> None:
        """Hear what the server sent, whether it arrives or not."""

    def client_said(self, link: ProxyConnection, data: bytes) -> None:
        """Hear what the client sent, whether it arrives or not."""

    def server_heard(self, link: ProxyConnection, data: bytes) -> None:
        """Hear what reaches the server."""

    def client_heard(self, link: ProxyConnection) -> None:
        """Learn that the client now has what `from_server.passed` counts."""

    def lost(self, link: ProxyConnection, data: bytes, *, to_server: bool) -> None:
        """Learn that these bytes did not arrive."""


class ProxyStream:
    """One direction of a link."""

    def __init__(
        self, link: ProxyConnection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, to_server: bool
    ) -> None:
        """Pass on what `reader` brings to `writer`."""
        self._shapers: list[Shaper] = []
        self._ended = False
        self.swallowing = False
        """Whether everything vanishes, the end too."""
        self.passed = 0
        """Bytes read that have gone all the way through."""
        self.mid_line = False
        """Whether the last byte read did not end a line."""
        self._wrote_mid_line = False
        self._link = link
        self._reader = reader
        self._writer = writer
        self._to_server = to_server
        self._open = asyncio.Event()
        self._open.set()
        self._injected: deque[bytes] = deque()

    def block(self) -> None:
        """Let nothing pass; it waits."""
        self._open.clear()

    def unblock(self) -> None:
        """Let everything pass again."""
        self._open.set()

    def inject(self, line: bytes) -> None:
        """Say something in the middle of the stream, between two lines."""
        self._injected.append(line)
        self._say_injected()

    def shape(self, shaper: Shaper) -> None:
        """Let all bytes from now on go through a shaper, after those that are there already."""
        self._shapers.append(shaper)

    def unshape(self, shaper: Shaper) -> None:
        """Take a shaper away; what it held back goes on."""
        if shaper in self._shapers:
            self._shapers.remove(shaper)
            if held := shaper.rest():
                self._write(held)

    def end(self) -> None:
        """Say that nothing more comes."""
        self._ended = True
        with contextlib.suppress(OSError, RuntimeError):
            if self._writer.can_write_eof() and not self._writer.is_closing():
                self._writer.write_eof()

    async def pump(self) -> None:
        """Pass bytes on until the stream ends."""
        link = self._link
        try:
            while data := await self._reader.read(CHUNK):
                self.mid_line = not data.endswith(b"\n")
                (link.witness.client_said if self._to_server else link.witness.server_said)(link, data)
                await self._open.wait()
                if self.swallowing:
                    continue
                for act in _shaped(data, self._shapers):
                    await self._do(act)
                self.passed += len(data)
                if not self._to_server:
                    link.witness.client_heard(link)
        except OSError:
            link.break_off(Break.RESET)
            return
        await self._open.wait()
        if not self.swallowing:
            for shaper in list(self._shapers):
                self.unshape(shaper)
            self.end()

    async def _do(self, act: Act) -> None:
        match act:
            case bytes():
                self._write(act)
                await self._writer.drain()
            case Pause(seconds):
                await asyncio.sleep(seconds)
            case Lost(data):
                self._link.witness.lost(self._link, data, to_server=self._to_server)
            case Break():
                self._link.break_off(act)
                await asyncio.sleep(0)
                raise asyncio.CancelledError

    def _write(self, data: bytes) -> None:
        if self._ended or self._writer.is_closing():
            return
        self._writer.write(data)
        if self._to_server:
            self._link.witness.server_heard(self._link, data)
        self._wrote_mid_line = not data.endswith(b"\n")
        self._say_injected()

    def _say_injected(self) -> None:
        if self._injected and not self._wrote_mid_line:
            self._write(self._injected.popleft())


def _shaped(data: bytes, shapers: Sequence[Shaper]) -> Iterator[Act]:
    """Let bytes go through all shapers, one after the other."""
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
        witness: ConnectionObserver,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        server: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Stand between both."""
        self.witness = witness
        self.logged_in = False
        """Whether the witness has seen the login go through."""
        self.to_server = ProxyStream(self, client[0], server[1], to_server=True)
        self.from_server = ProxyStream(self, server[0], client[1], to_server=False)
        self._writers = client[1], server[1]
        self._over = asyncio.Event()
        self._how = Break.CUT

    @property
    def over(self) -> bool:
        """Whether the connection has been broken off."""
        return self._over.is_set()

    def lane(self, *, to_server: bool) -> ProxyStream:
        """Return one direction."""
        return self.to_server if to_server else self.from_server

    def break_off(self, how: Break) -> None:
        """End the connection for both ends."""
        if not self._over.is_set():
            self._how = how
            self._over.set()

    def black_hole(self) -> None:
        """Let everything vanish from now on, and nobody know: a connection half open."""
        self.to_server.swallowing = self.from_server.swallowing = True

    def half_close(self, *, to_server: bool) -> None:
        """End one direction; the other goes on."""
        lane = self.lane(to_server=to_server)
        lane.swallowing = True
        lane.end()

    async def run(self) -> None:
        """Pass bytes on in both directions until both have ended or the connection is broken off."""
        pumps = [asyncio.create_task(lane.pump()) for lane in (self.to_server, self.from_server)]
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
    """One account's way to the server."""

    def __init__(self, port: int, server_port: int, witness: ConnectionObserver) -> None:
        """Listen on `port` of this machine, once opened, and pass on to `server_port`."""
        self.port = port
        self.link: ProxyConnection | None = None
        """The latest connection."""
        self.shape_next: Callable[[ProxyConnection], None] | None = None
        """Called with the next connection, at its beginning."""
        self._server_port = server_port
        self._witness = witness
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._links: set[ProxyConnection] = set()
        self._closed = False

    async def open(self) -> None:
        """Begin to listen. Raises OSError if the port is not free."""
        if self._server is None:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    def shut(self) -> None:
        """Refuse new connections; those that are there stay."""
        if self._server is not None:
            self._server.close()
            self._server = None

    async def close(self) -> None:
        """End everything."""
        self.shut()
        self._closed = True
        for link in self._links:
            link.break_off(Break.CUT)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def connected(self, *, logged_in: bool = False) -> ProxyConnection:
        """Return the present connection; wait for one if there is none, or none that is logged in."""
        while True:
            if self.link is not None and not self.link.over and (self.link.logged_in or not logged_in):
                return self.link
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
        link = self.link = ProxyConnection(self._witness, (reader, writer), upstream)
        self._links.add(link)
        if self.shape_next is not None:
            shape, self.shape_next = self.shape_next, None
            shape(link)
        if self._closed:
            link.break_off(Break.CUT)
        await link.run()
        self._links.discard(link)


async def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait for a condition, so long at most; return whether it came true."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= end:
            return False
        await asyncio.sleep(POLL_INTERVAL)
    return True
