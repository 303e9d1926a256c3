"""A proxy between a bot and a server, with which a test can change the bytes passed on."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import Callable
from typing import Self, TypeAlias

from attrs import frozen


@frozen
class Chunk:
    """Bytes to be passed on."""

    connection: int
    """Number of the connection, from 0."""
    down: bool
    """Whether they go from the server to the bot."""
    passed: int
    """Number of earlier bytes in this direction of this connection."""
    data: bytes


@frozen
class Cut:
    """The last bytes that pass before the connection breaks."""

    data: bytes
    reset: bool
    """Whether both ends see an error instead of a regular end."""


Meddle: TypeAlias = Callable[[Chunk], bytes | Cut]
"""Returns the bytes to pass on for a chunk, or a cut."""


class Proxy:
    """A running proxy: `async with Proxy(port) as proxy: ... proxy.port`."""

    def __init__(self, port: int, meddle: Meddle, tls: ssl.SSLContext | None = None) -> None:
        """Forward to this local port. With `tls` the bot's side of the connection uses TLS."""
        self.port = 0
        self.connections = 0
        self._to = port
        self._meddle = meddle
        self._tls = tls
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Start listening."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections."""
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        number, self.connections = self.connections, self.connections + 1
        try:
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.transport.abort()
            self._tasks.discard(task)
            return
        lanes = {
            asyncio.ensure_future(self._pump(reader, server_writer, number, down=False)),
            asyncio.ensure_future(self._pump(server_reader, writer, number, down=True)),
        }
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait(lanes, return_when=asyncio.FIRST_EXCEPTION)
        for lane in lanes:
            lane.cancel()
        ends = await asyncio.gather(*lanes, return_exceptions=True)
        reset = task.cancelling() or any(isinstance(how, ConnectionResetError) for how in ends)
        for end in (writer, server_writer):
            await _close(end, reset=bool(reset))
        self._tasks.discard(task)

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int, *, down: bool
    ) -> None:
        passed = 0
        while data := await reader.read(4096):
            out = self._meddle(Chunk(number, down, passed, data))
            passed += len(data)
            writer.write(out.data if isinstance(out, Cut) else out)
            await writer.drain()
            if isinstance(out, Cut):
                raise ConnectionResetError if out.reset else BrokenPipeError
        with contextlib.suppress(OSError, NotImplementedError):  # TLS connections cannot be half-closed
            writer.write_eof()


async def _close(writer: asyncio.StreamWriter, *, reset: bool) -> None:
    if reset:
        with contextlib.suppress(OSError, AttributeError):  # it may be closed already
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


def unharmed(chunk: Chunk) -> bytes:
    """Pass all bytes on."""
    return chunk.data


def cutting(connection: int, place: int, *, reset: bool) -> Meddle:
    """Cut a connection when the bot has received `place` bytes."""

    def meddle(chunk: Chunk) -> bytes | Cut:
        if chunk.connection == connection and chunk.down and chunk.passed + len(chunk.data) >= place:
            return Cut(chunk.data[: place - chunk.passed], reset)
        return chunk.data

    return meddle
