"""One connection to a server: bytes in, lines out. Everything that telnetlib3 is used for stands here."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import Final

import telnetlib3
from attrs import frozen

CHUNK: Final = 4096
"""Bytes that one read returns at most."""
BUFFER: Final = 2**20
"""Bytes that may wait to be read before the server is slowed down."""


class ConnectionFailedError(OSError):
    """No connection could be made; the text is one line and says why."""


class Connection:
    """An open connection. Nothing here raises what telnetlib3 or a socket raises, except as documented."""

    def __init__(self, reader: telnetlib3.TelnetReader, writer: telnetlib3.TelnetWriter) -> None:
        """Wrap what `connect` has opened."""
        self._reader = reader
        self._writer = writer
        self._closed = False

    async def read(self) -> bytes:
        """Return the next bytes, `b""` at the end. Raises ConnectionFailedError when the connection breaks."""
        try:
            return await self._reader.read(CHUNK)
        except (OSError, EOFError) as error:
            raise ConnectionFailedError(_reason(error)) from error

    def write(self, data: bytes) -> None:
        """Send bytes. On a connection that has ended nothing happens; the reader notices the end."""
        if not self._closed and not self._writer.is_closing():
            self._writer.write(data)

    def close(self) -> None:
        """Close the connection; a reader that waits gets `b""`."""
        if not self._closed:
            self._closed = True
            self._writer.close()


@frozen
class Tls:
    """How to make sure who the server is, where it offers TLS."""

    ca_file: Path | None = None
    """Certificates of the authorities to trust; None: those of this machine."""

    def context(self) -> ssl.SSLContext:
        """Return what a connection needs. Raises OSError when the file cannot be used."""
        return ssl.create_default_context(cafile=self.ca_file)


async def connect(host: str, port: int, *, timeout: float = 15.0, tls: Tls | None = None) -> Connection:  # noqa: ASYNC109 - telnetlib3 has its own
    """Open a connection within `timeout` seconds, with or without TLS. Raises ConnectionFailedError.

    The client agrees to no option but that the server echoes, as FIBS says while it asks for a password.
    """
    try:
        reader, writer = await telnetlib3.open_connection(
            host,
            port,
            client_factory=telnetlib3.TelnetClient,
            encoding=False,
            connect_minwait=0,
            connect_maxwait=0.5,
            connect_timeout=timeout,
            compression=False,
            limit=BUFFER,
            ssl=tls.context() if tls else None,
        )
    except OSError as error:
        raise ConnectionFailedError(_reason(error)) from error
    if isinstance(reader, telnetlib3.TelnetReaderUnicode) or isinstance(writer, telnetlib3.TelnetWriterUnicode):
        raise TypeError("expected a reader and a writer of bytes")
    return Connection(reader, writer)


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return " ".join(str(error).split()) or type(error).__name__
