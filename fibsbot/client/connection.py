"""One connection to a server: bytes in, lines out. Everything that telnetlib3 is used for stands here."""

from __future__ import annotations

import asyncio
import collections
import logging
from typing import Final

import telnetlib3

from fibsbot.client.settings import TlsSettings, connection_error_text

CHUNK: Final = 4096
"""Bytes that one read returns at most."""
BUFFER: Final = 2**20
"""Bytes that may wait to be read before the server is slowed down, and to be sent before it is given up."""
LINGER: Final = 10.0
"""Seconds that a server has to take what was sent before the connection was closed."""

# It warns of every odd telnet byte, some with a traceback: a hostile server could fill the log of this program.
logging.getLogger("telnetlib3").setLevel(logging.CRITICAL)


class ConnectionFailedError(OSError):
    """No connection could be made, or it broke; the text is one line and says why."""


class Connection:
    """An open connection. Nothing here raises what telnetlib3 or a socket raises, except as documented."""

    def __init__(self, reader: telnetlib3.TelnetReader, writer: telnetlib3.TelnetWriter) -> None:
        """Wrap what `connect` has opened."""
        self._reader = reader
        self._writer = writer
        self._closed = False

    async def read(self, silence: float | None = None) -> bytes:
        """Return the next bytes, `b""` at the end; with `silence`, wait for them so many seconds at most.

        Raises ConnectionFailedError when the connection breaks, when nothing came in time, or when the server does not
        take what we send: telnet options make even this program answer, and the answers may not pile up.
        """
        if self._unsent() > BUFFER:
            self.abort()
            raise ConnectionFailedError("the server does not take what is sent to it")
        try:
            async with asyncio.timeout(silence):
                return await self._reader.read(CHUNK)
        except TimeoutError as error:
            if silence is None:  # the system's own: it has given up to send again what nobody acknowledged
                raise ConnectionFailedError(connection_error_text(error)) from error
            self.abort()
            raise ConnectionFailedError(f"nothing came for {silence:g} seconds") from error
        except (OSError, EOFError) as error:
            raise ConnectionFailedError(connection_error_text(error)) from error

    def write(self, data: bytes) -> None:
        """Send bytes. On a connection that has ended nothing happens; the reader notices the end."""
        if not self._closed and not self._writer.is_closing():
            self._writer.write(data)

    def close(self) -> None:
        """Close the connection; a reader that waits gets `b""`, and a server that reads what was written."""
        if self._closed:
            return
        self._closed = True
        transport = self._writer.transport
        unsent = self._unsent()
        self._writer.close()
        if unsent and isinstance(transport, asyncio.WriteTransport):
            # Where nobody takes it, it would keep the socket open until the system gives up: a quarter of an hour.
            asyncio.get_running_loop().call_later(LINGER, transport.abort)

    def abort(self) -> None:
        """Close the connection at once: nobody is there any more."""
        transport = self._writer.transport
        if isinstance(transport, asyncio.WriteTransport):
            transport.abort()
        self.close()

    def _unsent(self) -> int:
        transport = self._writer.transport
        return transport.get_write_buffer_size() if isinstance(transport, asyncio.WriteTransport) else 0


class _Writer(telnetlib3.TelnetWriter):
    """Leaves out what a hostile server could use: no option that we agree to needs more than its name."""

    def handle_subnegotiation(self, buf: collections.deque[bytes]) -> None:
        """Do nothing: telnetlib3 would begin to decompress, without any bound, where nobody has agreed to it."""


class _Client(telnetlib3.TelnetClient):
    """Loses nothing at the end."""

    _writer_factory = _Writer

    def connection_lost(self, exc: Exception | None) -> None:
        """Hand out what came right before the end: through TLS both come at once, and telnetlib3 would drop it."""
        while self._rx_queue and not self._closing:
            self._process_chunk(self._rx_queue.popleft())
        super().connection_lost(exc)


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
    if isinstance(reader, telnetlib3.TelnetReaderUnicode) or isinstance(writer, telnetlib3.TelnetWriterUnicode):
        raise TypeError("expected a reader and a writer of bytes")
    return Connection(reader, writer)
