"""A connection of a client to a server, over asyncio's TCP streams: the only module of this package that does I/O."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Final, Self

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.errors import RemoteProtocolError
from fibs_protocol.grammar import write_command
from fibs_protocol.messages import Message
from fibs_protocol.session import Session
from fibs_protocol.stream import MessageReader

PORT: Final = 4321
"""The port of FIBS."""
CHUNK: Final = 4096
"""Bytes per read."""
CLOSING_TIME: Final = 5.0
"""Seconds for the server to close a connection that has said goodbye."""


class LoginRefusedError(RemoteProtocolError):
    """The server refuses the name or the password."""


class Connection:
    """A connection that is logged in, as `connect` gives it: iterate over its messages, and `send` commands."""

    def __init__(  # noqa: PLR0913, PLR0917 - see `connect`
        self, host: str, name: str, password: str, port: int, client: str, timeout: float
    ) -> None:
        """Prepare it; `async with` opens it."""
        self.name = name
        self.session = Session()
        """The state of the connection."""
        self._address = host, port
        self._login = c.Login(client, name, password)
        self._timeout = timeout
        self._reader = MessageReader(banner=True)
        self._waiting: list[Message] = []
        """What the server has said during the login."""

    def __repr__(self) -> str:
        """Return name, address and state; never the password."""
        return f"<Connection {self.name}@{self._address[0]}:{self._address[1]} {self.session.state.value}>"

    async def __aenter__(self) -> Self:
        """Connect and log in. Raises OSError, TimeoutError, LoginRefusedError."""
        async with asyncio.timeout(self._timeout):
            self._stream, self._writer = await asyncio.open_connection(*self._address)
        try:
            async with asyncio.timeout(self._timeout):
                await self._log_in()
        except BaseException:
            self._writer.close()
            raise
        return self

    async def _log_in(self) -> None:
        sent = False
        while (message := await self._next()) is not None:
            if not isinstance(message, m.LoginPrompt):
                self._waiting.append(message)
                if isinstance(message, m.Welcome):
                    return
            elif sent:
                raise LoginRefusedError(f"expected to be logged in as {self.name}, got refused by the server")
            else:
                self.send(self._login)
                sent = True
        raise ConnectionResetError(f"expected to be logged in as {self.name}, got a connection that was closed")

    async def _next(self) -> Message | None:
        """Return the next message; None once the connection is closed."""
        while (received := self._reader.next_message()) is None:
            data = await self._stream.read(CHUNK)
            self._reader.receive_data(data)
            if not data:
                last = self._reader.next_message()
                return last.message if last else None
        self.session.server_says(received.message)
        return received.message

    async def __aiter__(self) -> AsyncIterator[Message]:
        """Yield each message of the server, from the first after the connection, until it is closed."""
        while self._waiting:
            yield self._waiting.pop(0)
        while (message := await self._next()) is not None:
            yield message

    def send(self, command: Command) -> None:
        """Send a command. Raises LocalProtocolError if the state does not allow it, or no line can carry it."""
        line = write_command(command)
        self.session.client_says(command)
        self._writer.write(line.encode("ascii") + b"\r\n")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Log out, and close the connection."""
        try:
            self._writer.write(write_command(c.Bye()).encode("ascii") + b"\r\n")
            async with asyncio.timeout(CLOSING_TIME):
                await self._writer.drain()
                while await self._stream.read(CHUNK):
                    pass
        except (OSError, TimeoutError):
            pass  # it is closed anyway
        finally:
            self._writer.close()


def connect(  # noqa: PLR0913 - what a login needs, by name
    host: str, name: str, password: str, *, port: int = PORT, client: str = "fibs-protocol", timeout: float = 30.0
) -> Connection:
    """Return a connection to log in with, for `async with`; inside, iterate over the messages.

    Args:
        host: Name or address of the server.
        name: Name of a registered user.
        password: Its password, which is sent once.
        port: Port of the server.
        client: What the server lists as the client.
        timeout: Seconds for the connection, and for the login.

    Entering it raises OSError, TimeoutError, or LoginRefusedError.
    """
    return Connection(host, name, password, port, client, timeout)
