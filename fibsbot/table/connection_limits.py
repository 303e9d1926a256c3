"""Bounds for the TCP connections of a web server: how many are open, of all and of one address, and how long idle ones.

aiohttp has no such bounds: it takes as many connections as come, and keeps those that ask nothing for ever.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, cast

from attrs import frozen

REFUSAL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: 10\r\nConnection: close\r\n"
    b"Content-Length: 21\r\n\r\ntoo many connections\n"
)


@frozen
class ConnectionLimits:
    """How many connections there may be."""

    connections: int = 1000
    """Open ones of all addresses."""
    per_address: int = 150
    """Open ones of one address: three for each of its 50 tables (`WebLimits`)."""
    idle: float = 60.0
    """Seconds without a request, or in the middle of one, after which a connection is closed."""


class OpenConnections:
    """The open connections of a server, and since when each has been idle."""

    def __init__(self, limits: ConnectionLimits) -> None:
        """Begin with none."""
        self._limits = limits
        self._idle_since: dict[asyncio.BaseTransport, float | None] = {}
        """None while a request is answered, such as for events, which have limits of their own."""

    def __len__(self) -> int:
        return len(self._idle_since)

    def listener(self, connected: Callable[[], asyncio.Protocol]) -> Callable[[], asyncio.Protocol]:
        """Return what makes the protocol of a new connection; `connected` makes that of one that is admitted."""
        return lambda: _Entrance(self, connected)

    def admit(self, transport: asyncio.BaseTransport) -> bool:
        """Count a connection; return False, and do not, if there are too many."""
        self._forget_closed()
        address = _address(transport)
        of_address = sum(_address(other) == address for other in self._idle_since)
        if len(self) >= self._limits.connections or of_address >= self._limits.per_address:
            return False
        self._idle_since[transport] = time.monotonic()
        return True

    @contextmanager
    def answering(self, transport: asyncio.BaseTransport | None) -> Iterator[None]:
        """A connection is not idle while the block answers its request."""
        if transport in self._idle_since:
            self._idle_since[transport] = None
        try:
            yield
        finally:
            if transport in self._idle_since:
                self._idle_since[transport] = time.monotonic()

    def close_idle(self) -> None:
        """Close connections that have asked nothing for too long."""
        self._forget_closed()
        now = time.monotonic()
        for transport, since in self._idle_since.items():
            if since is not None and now - since > self._limits.idle:
                transport.close()

    def _forget_closed(self) -> None:
        self._idle_since = {one: since for one, since in self._idle_since.items() if not one.is_closing()}


class _Entrance(asyncio.Protocol):
    """Hands a new connection over to the server, or refuses it."""

    def __init__(self, connections: OpenConnections, connected: Callable[[], asyncio.Protocol]) -> None:
        self._connections, self._connected = connections, connected

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a connection."""
        opened = cast("asyncio.Transport", transport)
        if self._connections.admit(opened):
            protocol = self._connected()
            opened.set_protocol(protocol)
            protocol.connection_made(opened)
        else:
            opened.write(REFUSAL)
            opened.close()


def _address(transport: asyncio.BaseTransport) -> str:
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if peer else ""
