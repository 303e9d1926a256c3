"""A connection to a server, over telnetlib3; no other module uses that."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import logging
import socket
from typing import Final

import telnetlib3

from fibsbot.client.settings import TlsSettings, connection_error_text

CHUNK: Final = 4096
"""Maximum number of bytes that one read returns."""
BUFFER: Final = 2**20
"""Unread bytes before the server is slowed down; unsent bytes before the connection is aborted."""
LINGER: Final = 10.0
"""Seconds for the server to read what was sent before the connection was closed."""

KEEP_ALIVE: Final = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 20, "TCP_KEEPCNT": 3}
"""Seconds of silence after which the system asks, between two questions, and how many without an answer are the end."""

# telnetlib3 warns of every odd telnet byte, some with a traceback: a hostile server could fill the log.
logging.getLogger("telnetlib3").setLevel(logging.CRITICAL)


class ConnectionFailedError(OSError):
    """A connection could not be made, or broke; the text is one line with the reason."""


class Connection:
    """An open connection. Nothing here raises what telnetlib3 or a socket raises, except as documented."""

    def __init__(self, reader: telnetlib3.TelnetReader, writer: telnetlib3.TelnetWriter) -> None:
        """Wrap the streams that `connect` has opened."""
        self._reader = reader
        self._writer = writer
        self._closed = False

    async def read(self, silence: float | None = None) -> bytes:
        """Return the next bytes, `b""` at the end; wait at most `silence` seconds, if given.

        Raises ConnectionFailedError when the connection breaks, when nothing came in time, or when the server does not
        read what we send: this program answers telnet options, and the answers must not pile up.
        """
        if self._unsent() > BUFFER:
            self.abort()
            raise ConnectionFailedError("the server does not take what is sent to it")
        try:
            async with asyncio.timeout(silence):
                return await self._reader.read(CHUNK)
        except TimeoutError as error:
            if silence is None:  # the system's own timeout for data that was never acknowledged
                raise ConnectionFailedError(connection_error_text(error)) from error
            self.abort()
            raise ConnectionFailedError(f"nothing came for {silence:g} seconds") from error
        except (OSError, EOFError) as error:
            raise ConnectionFailedError(connection_error_text(error)) from error

    def write(self, data: bytes) -> None:
        """Send bytes; does nothing on a connection that has ended, which the reader notices."""
        if not self._closed and not self._writer.is_closing():
            self._writer.write(data)

    def close(self) -> None:
        """Close the connection after sending what was written; a waiting reader gets `b""`."""
        if self._closed:
            return
        self._closed = True
        transport = self._writer.transport
        unsent = self._unsent()
        self._writer.close()
        if unsent and isinstance(transport, asyncio.WriteTransport):
            # Unread data would keep the socket open until the system gives up, after a quarter of an hour.
            asyncio.get_running_loop().call_later(LINGER, transport.abort)

    def abort(self) -> None:
        """Close the connection at once, without sending what was written."""
        transport = self._writer.transport
        if isinstance(transport, asyncio.WriteTransport):
            transport.abort()
        self.close()

    def _unsent(self) -> int:
        transport = self._writer.transport
        return transport.get_write_buffer_size() if isinstance(transport, asyncio.WriteTransport) else 0


class _Writer(telnetlib3.TelnetWriter):
    """A writer that ignores subnegotiations, which a hostile server could exploit and which we do not need."""

    def handle_subnegotiation(self, buf: collections.deque[bytes]) -> None:
        """Do nothing: telnetlib3 would decompress, without any bound, although we have not agreed to it."""


class _Client(telnetlib3.TelnetClient):
    """A client that keeps the data that comes right before the end."""

    _writer_factory = _Writer

    def connection_lost(self, exc: Exception | None) -> None:
        """Pass on data that came with the end, as happens with TLS; telnetlib3 would drop it."""
        while self._rx_queue and not self._closing:
            self._process_chunk(self._rx_queue.popleft())
        super().connection_lost(exc)


def _notice_silent_end(transport: asyncio.BaseTransport | None) -> None:
    """Let the system ask a silent server whether it is still there: a line that was cut says nothing by itself."""
    opened = transport.get_extra_info("socket") if transport is not None else None
    if opened is None:
        return
    with contextlib.suppress(OSError):  # it has been cut already; the next read says so
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in KEEP_ALIVE.items():
            if hasattr(socket, name):
                opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


async def connect(host: str, port: int, *, timeout: float = 15.0, tls: TlsSettings | None = None) -> Connection:  # noqa: ASYNC109 - telnetlib3 has its own
    """Open a connection within `timeout` seconds, with or without TLS. Raises ConnectionFailedError."""
    try:
        reader, writer = await telnetlib3.open_connection(
            host,
            port,
            client_factory=_Client,
            encoding=False,
            connect_minwait=0,
            connect_maxwait=0.5,
            connect_timeout=timeout,
            compression=False,
            limit=BUFFER,
            ssl=tls.context() if tls else None,
        )
    except OSError as error:
        raise ConnectionFailedError(connection_error_text(error)) from error
    _notice_silent_end(writer.transport)
    if isinstance(reader, telnetlib3.TelnetReaderUnicode) or isinstance(writer, telnetlib3.TelnetWriterUnicode):
        raise TypeError("expected a reader and a writer of bytes")
    return Connection(reader, writer)
