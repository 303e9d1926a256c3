"""Login: from the banner to a user who is logged in, registration, and delays after failed passwords.

Specification: "Logging In"; help text "autologin". Failures are counted for an address with a name, for an address
and for a name, so that neither one name nor many can be tried fast from one address, nor one name from many. Nobody
can lock somebody else's account.
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

from fibsbot.server import sessions, texts
from fibsbot.server.accounts import MIN_PASSWORD, Account, Passwords, is_reserved, is_valid_name
from fibsbot.server.connection import ClientConnection
from fibsbot.server.dispatch import refusal_messages
from fibsbot.server.info import server_time
from fibsbot.server.limits import LOGIN_COST, RateLimitedLog, ServerLimits
from fibsbot.server.users import ClientMode, User
from fibsbot.server.world import World

FREE_FAILURES: Final = 5
"""Failures of an address with a name that cost nothing yet: typing errors."""
FREE_FAILURES_IN_ALL: Final = 20
"""Failures of an address, or of a name, that cost nothing yet."""
FIRST_DELAY: Final = 1.0
"""Seconds of the first pause; each failure doubles it."""
LONGEST_DELAY: Final = 60.0
LONGEST_DELAY_FOR_A_NAME: Final = 10.0
FORGET_AFTER: Final = 900.0
"""Seconds without a failure after which all are forgotten."""
MAX_REMEMBERED: Final = 10_000
"""Addresses and names of which failures are remembered; the oldest give way."""


@define
class _Failures:
    count: int = 0
    last: float = 0.0


class _FailureCounts:
    """Failures by some key, with the pauses that follow from them."""

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
        self._failures[key] = failures  # behind all others: the oldest stand in front
        if len(self._failures) > MAX_REMEMBERED:
            del self._failures[next(iter(self._failures))]

    def forgive(self, key: object) -> None:
        self._failures.pop(key, None)


class _FairLock:
    """A lock that goes to who has had it least often, so that nobody waits for those who come again and again."""

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
                    self._pass_on()
                raise
        self._taken = True
        try:
            yield
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        while self._waiting:
            future = heapq.heappop(self._waiting)[-1]
            if not future.done():
                future.set_result(None)
                return
        self._taken = False


class LoginThrottle:
    """Lets passwords be checked one at a time, and not faster than the failures so far allow."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        """Begin without failures. `clock` and `sleep` count seconds."""
        self._clock = clock
        self._sleep = sleep
        self._checking = _FairLock()
        self._pairs = _FailureCounts(FREE_FAILURES, LONGEST_DELAY)
        self._addresses = _FailureCounts(FREE_FAILURES_IN_ALL, LONGEST_DELAY)
        self._names = _FailureCounts(FREE_FAILURES_IN_ALL, LONGEST_DELAY_FOR_A_NAME)

    def pause(self, address: str, name: str, *, usual: bool) -> float:
        """Return the seconds until somebody may try to log in; `usual` says that the name came from there last time."""
        now = self._clock()
        pause = self._pairs.pause((address, name), now)
        return pause if usual else max(pause, self._addresses.pause(address, now), self._names.pause(name, now))

    async def check(self, address: str, name: str, verify: Callable[[], Awaitable[bool]], *, usual: bool) -> bool:
        """Wait as long as the failures so far demand; return what `verify` says of the password."""
        while True:
            if pause := self.pause(address, name, usual=usual):
                await self._sleep(pause)
            async with self._checking.hold((address, name)):
                if self.pause(address, name, usual=usual):
                    continue  # somebody else has failed in the meantime
                right = await verify()
                self._note(address, name, right=right)
                return right

    def _note(self, address: str, name: str, *, right: bool) -> None:
        if right:
            self._pairs.forgive((address, name))
            return
        now = self._clock()
        for ledger, key in ((self._pairs, (address, name)), (self._addresses, address), (self._names, name)):
            ledger.add(key, now)


MAX_CLIENT: Final = 20
"""Characters of a client's name; a login with a longer one fails."""
GUEST: Final = "guest"


@frozen
class LoginDialog:
    """Lets people in."""

    world: World
    passwords: Passwords
    limits: ServerLimits
    guessing: LoginThrottle
    failed: RateLimitedLog
    """Of logins with a wrong name or password."""

    async def admit(self, connection: ClientConnection) -> User | None:
        """Greet a connection and log its user in; None if there will be no user.

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
        """Log in as the line at the prompt asks; None if that fails."""
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
        right = await self.guessing.check(
            connection.host,
            name,
            lambda: self.passwords.verify(password, stored),
            usual=account is not None and account.last_host == connection.host,
        )
        if not right:
            self.failed.note(connection.host)
            return None
        return await self._enter(connection, name, mode, client)

    async def _enter(
        self, connection: ClientConnection, name: str, mode: ClientMode, client: str | None = None, *, new: bool = False
    ) -> User | None:
        """Let somebody in when it is their turn; None if the connection has ended."""
        await connection.turn(LOGIN_COST)
        # Somebody may have changed the account while the password was being checked.
        account = self.world.account(name)
        if account is None or connection.closed:
            return None
        with connection.charged():
            return sessions.log_in(self.world, account, mode, connection.host, client, new=new)

    # -- registration -----------------------------------------------------------------------------------------------

    async def _register(self, connection: ClientConnection) -> User | None:
        """Let a guest choose a name and a password; None for who leaves without."""
        _send(connection, *texts.guest())
        while True:
            connection.send([], prompt=True)
            line = await connection.read_line()
            if line is None:
                return None
            try:
                command = parse_command(line) if line.strip() else None
                if isinstance(command, c.Bye):
                    _send(connection, *texts.goodbye())
                    return None
                if isinstance(command, c.Name):
                    account = await self._choose(connection, command.name)
                    if account is not None:
                        return await self._enter(connection, account.name, ClientMode.TELNET, new=True)
                elif isinstance(command, c.Help):
                    _send(connection, *texts.help_on(command.topic))
                elif command is not None:
                    _send(connection, m.UnknownCommand(command.kind()))
            except CommandError as error:
                _send(connection, *refusal_messages(error.refusal))

    async def _choose(self, connection: ClientConnection, name: str) -> Account | None:
        if not is_valid_name(name):
            raise CommandError(m.NameInvalid())
        self._check_free(name)
        if self.world.store.count_users() >= self.limits.accounts:
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
        self.world.store.save_accounts(account)
        _send(connection, m.Unknown(""), m.Registered(), m.BeginnerHint())
        return account

    def _check_free(self, name: str) -> None:
        if is_reserved(name) or self.world.store.registered(name):
            raise CommandError(m.NameTaken(name))

    @staticmethod
    async def _choose_password(connection: ClientConnection) -> str | None:
        """Ask for a new password twice; None if none is given."""
        connection.ask(write(m.NewPasswordPrompt()))
        while True:
            password = await connection.read_line()
            if not password:
                return None
            if len(password) < MIN_PASSWORD:
                _send(connection, m.Unknown(""), m.PasswordTooShort())
                connection.ask(write(m.NewPasswordPrompt()))
                continue
            _send(connection, m.Unknown(""))
            connection.ask(write(m.RetypePasswordPrompt()))
            if await connection.read_line() == password:
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
