"""Login: the dialog from the banner to a logged-in user, registration, and delays after failed passwords.

Specification: "Logging In"; help text "autologin". Failures are counted per address and name, per address, and per
name, so that passwords cannot be tried fast for one name or many from one address, nor for one name from many
addresses. A user cannot lock another user's account.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from attrs import define, frozen

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibs_protocol.grammar import parse_command, write
from fibs_protocol.messages import Message
from fibs_protocol.words import GUEST
from fibsbot.server import sessions, texts
from fibsbot.server.accounts import MIN_PASSWORD, PASSWORD_NOT_ASCII, Account, Passwords, is_reserved, is_valid_name
from fibsbot.server.connection import ClientConnection
from fibsbot.server.dispatch import refusal_messages
from fibsbot.server.info import server_time
from fibsbot.server.limits import LOGIN_COST, RateLimitedLog, ServerLimits
from fibsbot.server.users import ClientMode, User
from fibsbot.server.world import World

FREE_FAILURES: Final = 5
"""Failures of an address with a name that cause no delay yet: typing errors."""
FREE_FAILURES_IN_ALL: Final = 20
"""Failures of an address, or of a name, that cause no delay yet."""
FIRST_DELAY: Final = 1.0
"""Seconds of the first pause; each failure doubles it."""
LONGEST_DELAY: Final = 60.0
LONGEST_DELAY_FOR_A_NAME: Final = 10.0
FORGET_AFTER: Final = 900.0
"""Seconds without a failure after which earlier ones are forgotten."""
MAX_REMEMBERED: Final = 10_000
"""Addresses and names whose failures are remembered; the oldest are dropped."""


@define
class _Failures:
    count: int = 0
    last: float = 0.0


class _FailureCounts:
    """Failures per key, and the pauses that follow from them."""

    def __init__(self, free: int, longest: float) -> None:
        self._free = free
        self._longest = longest
        self._failures: dict[object, _Failures] = {}

    def pause(self, key: object, now: float) -> float:
        """Return the seconds until the next try is allowed."""
        failures = self._failures.get(key)
        if failures is None or failures.count <= self._free or now - failures.last > FORGET_AFTER:
            return 0.0
        doublings = min(failures.count - self._free - 1, 10)
        return max(0.0, failures.last + min(FIRST_DELAY * 2.0**doublings, self._longest) - now)

    def add(self, key: object, now: float) -> None:
        failures = self._failures.pop(key, None) or _Failures()
        if now - failures.last > FORGET_AFTER:
            failures.count = 0
        failures.count += 1
        failures.last = now
        self._failures[key] = failures  # at the end: the oldest come first
        if len(self._failures) > MAX_REMEMBERED:
            del self._failures[next(iter(self._failures))]

    def reset(self, key: object) -> None:
        self._failures.pop(key, None)


class _FairLock:
    """A lock that goes to the key that has held it least often, so that frequent callers do not delay others."""

    def __init__(self) -> None:
        self._taken = False
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self._counts: dict[object, int] = {}

    @contextlib.asynccontextmanager
    async def hold(self, key: object) -> AsyncIterator[None]:
        count = self._counts.pop(key, 0)
        self._counts[key] = count + 1
        if len(self._counts) > MAX_REMEMBERED:
            del self._counts[next(iter(self._counts))]
        if self._taken:
            future = asyncio.get_running_loop().create_future()
            heapq.heappush(self._waiting, (count, next(self._numbers), future))
            try:
                await future
            except asyncio.CancelledError:
                if future.done() and not future.cancelled():
                    self._wake_next()
                raise
        self._taken = True
        try:
            yield
        finally:
            self._wake_next()

    def _wake_next(self) -> None:
        while self._waiting:
            future = heapq.heappop(self._waiting)[-1]
            if not future.done():
                future.set_result(None)
                return
        self._taken = False


class LoginThrottle:
    """Verifies passwords one at a time, and not faster than the failures so far allow."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        """Start without failures. `clock` and `sleep` count seconds."""
        self._clock = clock
        self._sleep = sleep
        self._checking = _FairLock()
        self._pairs = _FailureCounts(FREE_FAILURES, LONGEST_DELAY)
        self._addresses = _FailureCounts(FREE_FAILURES_IN_ALL, LONGEST_DELAY)
        self._names = _FailureCounts(FREE_FAILURES_IN_ALL, LONGEST_DELAY_FOR_A_NAME)

    def pause(self, address: str, name: str, *, known_host: bool) -> float:
        """Return the seconds until a login may be tried; `known_host`: whether the name last logged in from there."""
        now = self._clock()
        pause = self._pairs.pause((address, name), now)
        return pause if known_host else max(pause, self._addresses.pause(address, now), self._names.pause(name, now))

    async def verify(self, address: str, name: str, check: Callable[[], Awaitable[bool]], *, known_host: bool) -> bool:
        """Wait as long as the failures so far require, then return whether `check` accepts the password."""
        while True:
            if pause := self.pause(address, name, known_host=known_host):
                await self._sleep(pause)
            async with self._checking.hold((address, name)):
                if self.pause(address, name, known_host=known_host):
                    continue  # another login has failed in the meantime
                right = await check()
                self._count(address, name, right=right)
                return right

    def _count(self, address: str, name: str, *, right: bool) -> None:
        if right:
            self._pairs.reset((address, name))
            return
        now = self._clock()
        for counts, key in ((self._pairs, (address, name)), (self._addresses, address), (self._names, name)):
            counts.add(key, now)


MAX_CLIENT: Final = 20
"""Maximum length of a client's name; a login with a longer one fails."""


@frozen
class LoginDialog:
    """The dialog on a new connection, until a user is logged in."""

    world: World
    passwords: Passwords
    limits: ServerLimits
    throttle: LoginThrottle
    failures: RateLimitedLog
    """The log of logins with a wrong name or password."""

    async def run(self, connection: ClientConnection) -> User | None:
        """Send the banner, and return the user who logs in; None if none does.

        Raises what `ClientConnection.read_line` raises.
        """
        _send(connection, *texts.banner(), server_time(self.world.now(), "UTC"))
        for _ in range(self.limits.login_attempts):
            connection.ask(write(m.LoginPrompt()))
            line = await connection.read_line()
            if line is None:
                return None
            words = line.split()
            if words == [GUEST] or (words[:1] == ["login"] and words[3:4] == [GUEST]):
                return await self._register(connection)
            user = await self._log_in(connection, words)
            if user is not None:
                return user
        return None

    async def _log_in(self, connection: ClientConnection, words: list[str]) -> User | None:
        """Log in with the words typed at the prompt; None if that fails."""
        client: str | None = None
        match words:
            case ["login", client, version, name, password] if len(client) <= MAX_CLIENT and version.isdecimal():
                mode = ClientMode.CLIP
            case ["connect", name, password]:
                mode = ClientMode.PLAIN
            case [name]:
                mode = ClientMode.TELNET
                given = await self._ask_secret(connection, m.PasswordPrompt())
                if given is None:
                    return None
                password = given
            case _:
                return None
        account = self.world.account(name)
        stored = account.password if account else None
        right = await self.throttle.verify(
            connection.host,
            name,
            lambda: self.passwords.verify(password, stored),
            known_host=account is not None and account.last_host == connection.host,
        )
        if not right:
            self.failures.count(connection.host)
            return None
        return await self._log_in_account(connection, name, mode, client)

    async def _log_in_account(
        self, connection: ClientConnection, name: str, mode: ClientMode, client: str | None = None, *, new: bool = False
    ) -> User | None:
        """Wait until there is processor time, then log a user in; None if the connection has ended."""
        await connection.wait_for_turn(LOGIN_COST)
        # The account may have changed while the password was being verified.
        account = self.world.account(name)
        if account is None or connection.closed:
            return None
        with connection.charge_time():
            return sessions.log_in(self.world, account, mode, connection.host, client, new=new)

    # -- registration -----------------------------------------------------------------------------------------------

    async def _register(self, connection: ClientConnection) -> User | None:
        """Let a guest choose a name and a password; None if the guest leaves without doing so."""
        _send(connection, *texts.guest())
        while True:
            connection.send([], prompt=True)
            line = await connection.read_line()
            if line is None:
                return None
            try:
                command = parse_command(line) if line.strip() else None
                match command:
                    case None:
                        pass
                    case c.Bye():
                        _send(connection, *texts.goodbye())
                        return None
                    case c.Name():
                        account = await self._register_account(connection, command.name)
                        if account is not None:
                            return await self._log_in_account(connection, account.name, ClientMode.TELNET, new=True)
                    case c.Help():
                        _send(connection, *texts.help_on(command.topic))
                    case _:
                        _send(connection, m.UnknownCommand(line.split()[0]))
            except CommandError as error:
                _send(connection, *refusal_messages(error.refusal))

    async def _register_account(self, connection: ClientConnection, name: str) -> Account | None:
        if not is_valid_name(name):
            raise CommandError(m.NameInvalid())
        self._check_free(name)
        if self.world.database.count_users() >= self.limits.accounts:
            raise CommandError(m.PermissionDenied())
        _send(connection, m.NameChosen(name), m.NoPasswordHint())
        connection.echo(on=False)
        password = await self._choose_password(connection)
        connection.echo(on=True)
        if password is None:
            raise CommandError(m.NoPasswordGiven())
        stored = await self.passwords.hash(password)
        self._check_free(name)
        account = Account(name, stored)
        self.world.database.save_accounts(account)
        _send(connection, m.Unknown(""), m.Registered(), m.BeginnerHint())
        return account

    def _check_free(self, name: str) -> None:
        if is_reserved(name) or self.world.database.registered(name):
            raise CommandError(m.NameTaken(name))

    @staticmethod
    async def _choose_password(connection: ClientConnection) -> str | None:
        """Ask for a new password twice; None if none is entered."""
        connection.ask(write(m.NewPasswordPrompt()))
        while True:
            password = await connection.read_secret()
            if not password:
                return None
            if len(password) < MIN_PASSWORD or not password.isascii():
                refusal = m.PasswordTooShort() if password.isascii() else PASSWORD_NOT_ASCII
                _send(connection, m.Unknown(""), refusal)
                connection.ask(write(m.NewPasswordPrompt()))
                continue
            _send(connection, m.Unknown(""))
            connection.ask(write(m.RetypePasswordPrompt()))
            if await connection.read_secret() == password:
                return password
            _send(connection, m.Unknown(""))
            connection.ask(write(m.PasswordsDifferPrompt()))

    @staticmethod
    async def _ask_secret(connection: ClientConnection, prompt: Message) -> str | None:
        connection.echo(on=False)
        connection.ask(write(prompt))
        secret = await connection.read_line()
        connection.echo(on=True)
        _send(connection, m.Unknown(""))
        return secret


def _send(connection: ClientConnection, *messages: Message) -> None:
    connection.send(write(message) for message in messages)
