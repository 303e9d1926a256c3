"""A connection of a client to a server, over asyncio's TCP streams: the only module of this package that does I/O."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Final, Self

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.errors import LocalProtocolError, RemoteProtocolError
from fibs_protocol.grammar import write, write_command
from fibs_protocol.grammar.arguments import check_word
from fibs_protocol.messages import Message
from fibs_protocol.playing import MatchFlow, OpenDecision
from fibs_protocol.session import Session
from fibs_protocol.stream import MessageReader
from fibs_protocol.words import GUEST

PORT: Final = 4321
"""The port of FIBS."""
CHUNK: Final = 4096
"""Bytes per read."""
CLOSING_TIME: Final = 5.0
"""Seconds for the server to close a connection that has said goodbye."""
SETTINGS_TIME: Final = 5.0
"""Seconds after the welcome for the line with our settings, which follows at once; a server may leave it out."""


_REFUSED_REGISTRATION: Final = (m.NameTaken, m.NameInvalid, m.PasswordTooShort, m.NoPasswordGiven, m.PermissionDenied)


class LoginRefusedError(RemoteProtocolError):
    """The server refuses the name or the password, or to register them."""


class Connection:
    """A connection that is logged in, as `connect` gives it: `play` a match, or iterate over messages and `send`."""

    def __init__(  # noqa: PLR0913, PLR0917 - see `connect`
        self, host: str, name: str, password: str, port: int, client: str, timeout: float, *, register: bool
    ) -> None:
        """Prepare it; `async with` opens it."""
        self.name = name
        self.settings: m.OwnInfo | None = None
        """Our toggles, rating and so on, as the server has shown them at the login; None if it has not."""
        self.match_end: Message | None = None
        """What has ended the match that `play` has played: MatchWon, or how it was broken off."""
        self.session = Session()
        """The state of the connection."""
        self._address = host, port
        self._login = c.Login(client, name, password)
        self._timeout = timeout
        self._register = register
        self._reader = MessageReader(banner=True)
        self._waiting: list[Message] = []
        """What the server has said during the login."""

    def __repr__(self) -> str:
        """Return name, address and state; never the password."""
        return f"<Connection {self.name}@{self._address[0]}:{self._address[1]} {self.session.state.value}>"

    async def __aenter__(self) -> Self:
        """Connect and log in. Raises OSError, TimeoutError, LoginRefusedError, LocalProtocolError."""
        self._check_login()
        if self._register:
            await self._open(self._register_account)
            await self.__aexit__(None, None, None)
            self.session, self._reader = Session(), MessageReader(banner=True)
        await self._open(self._log_in)
        return self

    def _check_login(self) -> None:
        """Check what the login sends: once a name is registered, a password that no login can carry is of no use."""
        name, password = self._login.name, self._login.password
        for what, word in (("name", name), ("password", password), ("client", self._login.client)):
            try:
                check_word(word)
            except LocalProtocolError:
                raise LocalProtocolError(
                    f"expected a {what} of one word of printable ASCII, got one with other characters, or none"
                ) from None
        if self._register and name.lower() == GUEST:
            raise LoginRefusedError(
                f"expected a name to register, got {name!r}, by which servers let people in who want to register"
            )

    async def _open(self, begin: Callable[[], Awaitable[None]]) -> None:
        """Connect, and begin with a dialog; close the connection if that fails."""
        async with asyncio.timeout(self._timeout):
            self._stream, self._writer = await asyncio.open_connection(*self._address)
        try:
            async with asyncio.timeout(self._timeout):
                await begin()
        except BaseException:
            self._writer.close()
            raise

    async def _register_account(self) -> None:
        """Log in as a guest, choose the name and the password."""
        is_guest = False
        while (message := await self._read()) is not None:
            match message:
                case m.LoginPrompt() if not is_guest:
                    self._write(GUEST)
                    is_guest = True
                case m.LoginPrompt() | m.PasswordPrompt():
                    raise LoginRefusedError("expected a server that registers guests, got one that refuses them")
                case m.GuestWelcome():
                    self._write(write_command(c.Name(self.name)))
                case m.NewPasswordPrompt() | m.RetypePasswordPrompt():
                    self._write(self._login.password)
                case m.Registered():
                    return
                case m.NameTaken():
                    raise LoginRefusedError(
                        f"expected a name that is free, got {self.name!r}, which is registered; "
                        "with its password, connect without register=True"
                    )
                case _ if isinstance(message, _REFUSED_REGISTRATION):
                    raise LoginRefusedError(f"expected {self.name!r} to be registered, got {write(message)!r}")
        raise ConnectionResetError(f"expected {self.name!r} to be registered, got a connection that was closed")

    async def _log_in(self) -> None:
        sent = False
        while (message := await self._read()) is not None:
            if isinstance(message, m.GuestWelcome):
                raise LoginRefusedError(
                    f"expected the name of an account, got {self.name!r}, by which servers let people in who want to "
                    "register; connect(..., register=True) registers another name"
                )
            if not isinstance(message, m.LoginPrompt):
                self._waiting.append(message)
                if isinstance(message, m.Welcome):
                    await self._await_settings()
                    return
            elif sent:
                raise LoginRefusedError(
                    f"expected the password of an account {self.name!r} on {self._address[0]}, got the login prompt "
                    "again: the name is not registered there (connect(..., register=True) registers it), or its "
                    "password is another"
                )
            else:
                self.send(self._login)
                sent = True
        raise ConnectionResetError(f"expected to be logged in as {self.name}, got a connection that was closed")

    async def _await_settings(self) -> None:
        """Wait for the line with our settings; the messages before it are put aside."""
        limit = asyncio.timeout(SETTINGS_TIME)
        try:
            async with limit:
                while self.settings is None and (message := await self._read()) is not None:
                    self._waiting.append(message)
        except TimeoutError:
            if not limit.expired():
                raise

    async def _read(self) -> Message | None:
        """Read the next message; None once the connection is closed."""
        while (received := self._reader.next_message()) is None:
            data = await self._stream.read(CHUNK)
            self._reader.receive_data(data)
            if not data:
                last = self._reader.next_message()
                return last.message if last else None
        self.session.server_says(received.message)
        if isinstance(received.message, m.OwnInfo):
            self.settings = received.message
        return received.message

    async def __aiter__(self) -> AsyncIterator[Message]:
        """Yield each message of the server, from the first after the connection, until it is closed."""
        while self._waiting:
            yield self._waiting.pop(0)
        while (message := await self._read()) is not None:
            yield message

    async def play(
        self,
        opponent: str | None = None,
        length: int | None = None,
        *,
        hear: Callable[[Message], object] | None = None,
    ) -> AsyncIterator[OpenDecision]:
        """Play one match: yield each decision that is ours, to be answered by `send`, until the match has ended.

        Settings, lost lines, the next game and the question for the board are dealt with. `match_end` is then the
        message that ended the match.

        Args:
            opponent: Whom to invite; None accepts the first invitation, unless that would discard a saved match.
            length: Points of the match. None resumes the saved match with the opponent; without an opponent it accepts
                an invitation of any length but unlimited, and to resume.
            hear: Is called with every message, such as what people say.

        Raises:
            CommandRefusedError: The server refuses a move, a double or the invitation; the text has its answer.
            ConnectionResetError: The connection was closed before the end of the match.
        """
        flow = MatchFlow(self.session, opponent, length)
        self.match_end = None
        is_started = False
        while flow.ended is None:
            if self.settings is not None and not is_started:
                flow.start(self.settings)
                is_started = True
            while flow.commands:
                self.send(flow.commands.pop(0))
            if not self._waiting and not await self._is_heard(flow.patience):
                flow.on_silence()
                continue
            message = self._waiting.pop(0)
            if hear is not None:
                hear(message)
            decision = flow.hear(message)
            if decision is not None:
                yield decision
        self.match_end = flow.ended

    async def _is_heard(self, patience: float) -> bool:
        """Wait for a message, which is put aside; return whether one came within so many seconds."""
        limit = asyncio.timeout(patience)
        try:
            async with limit:
                message = await self._read()
        except TimeoutError:
            if limit.expired():
                return False
            raise
        if message is None:
            raise ConnectionResetError("expected the end of the match, got a connection that was closed")
        self._waiting.append(message)
        return True

    def send(self, command: Command) -> None:
        """Send a command. Raises LocalProtocolError if the state does not allow it, or no line can carry it."""
        line = write_command(command)
        self.session.client_says(command)
        self._write(line)

    def _write(self, line: str) -> None:
        self._writer.write(line.encode("ascii") + b"\r\n")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Log out, and close the connection."""
        try:
            self._write(write_command(c.Bye()))
            async with asyncio.timeout(CLOSING_TIME):
                await self._writer.drain()
                while await self._stream.read(CHUNK):
                    pass
        except (OSError, TimeoutError, RuntimeError):
            pass  # it is closed anyway; a RuntimeError is that of a task which still reads, and sees the end
        finally:
            self._writer.close()


def connect(  # noqa: PLR0913 - what a login needs, by name
    host: str,
    name: str,
    password: str,
    *,
    port: int = PORT,
    register: bool = False,
    client: str = "fibs-protocol",
    timeout: float = 30.0,
) -> Connection:
    """Return a connection to log in with, for `async with`; inside, `play`, or iterate over the messages.

    Args:
        host: Name or address of the server.
        name: Name of a registered user, or one to be registered.
        password: Its password, which is sent once, and three times to register it.
        port: Port of the server.
        register: Whether to register the name first, as a guest does.
        client: What the server lists as the client.
        timeout: Seconds for the connection, for the registration and for the login.

    Entering it raises OSError, TimeoutError, LoginRefusedError, and LocalProtocolError for a name or a password that no
    line can carry, before anything is sent. Once it is entered, `settings` has rating, experience and toggles.
    """
    return Connection(host, name, password, port, client, timeout, register=register)
