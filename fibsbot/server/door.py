"""The door: from the banner to a user who is logged in (specification: "Logging In"; help text "autologin")."""

from __future__ import annotations

from typing import Final

from attrs import frozen

from fibsbot.server import presence, texts
from fibsbot.server.accounts import MIN_PASSWORD, Account, Passwords, reserved, valid_name
from fibsbot.server.connection import Connection
from fibsbot.server.dispatch import refused
from fibsbot.server.fairness import LOGIN
from fibsbot.server.guessing import Guessing
from fibsbot.server.info import server_time
from fibsbot.server.limits import Limits
from fibsbot.server.tally import Tally
from fibsbot.server.users import Mode, User
from fibsbot.server.world import World
from protocol import commands as c
from protocol import messages as m
from protocol.errors import CommandError
from protocol.grammar import parse_command, write
from protocol.messages import Message

MAX_CLIENT: Final = 20
"""Characters of a client's name; a login with a longer one fails."""
GUEST: Final = "guest"


@frozen
class Door:
    """Lets people in."""

    world: World
    passwords: Passwords
    limits: Limits
    guessing: Guessing
    failed: Tally
    """Of logins with a wrong name or password."""

    async def admit(self, connection: Connection) -> User | None:
        """Greet a connection and log its user in; None if there will be no user.

        Raises what `Connection.read_line` raises.
        """
        _say(connection, *texts.banner(), server_time(self.world.now(), "UTC"))
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

    async def _log_in(self, connection: Connection, words: list[str]) -> User | None:
        """Log in as the line at the prompt asks; None if that fails."""
        client: str | None = None
        match words:
            case ["login", client, version, name, password] if len(client) <= MAX_CLIENT and version.isdecimal():
                mode = Mode.CLIP
            case ["connect", name, password]:
                mode = Mode.PLAIN
            case [name]:
                mode = Mode.TELNET
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
        self, connection: Connection, name: str, mode: Mode, client: str | None = None, *, new: bool = False
    ) -> User | None:
        """Let somebody in when it is their turn; None if the connection has ended."""
        await connection.turn(LOGIN)
        # Somebody may have changed the account while the password was being checked.
        account = self.world.account(name)
        if account is None or connection.closed:
            return None
        with connection.charged():
            return presence.log_in(self.world, account, mode, connection.host, client, new=new)

    # -- registration -----------------------------------------------------------------------------------------------

    async def _register(self, connection: Connection) -> User | None:
        """Let a guest choose a name and a password; None for who leaves without."""
        _say(connection, *texts.guest())
        while True:
            connection.send([], prompt=True)
            line = await connection.read_line()
            if line is None:
                return None
            try:
                command = parse_command(line) if line.strip() else None
                if isinstance(command, c.Bye):
                    _say(connection, *texts.goodbye())
                    return None
                if isinstance(command, c.Name):
                    account = await self._choose(connection, command.name)
                    if account is not None:
                        return await self._enter(connection, account.name, Mode.TELNET, new=True)
                elif isinstance(command, c.Help):
                    _say(connection, *texts.help_on(command.topic))
                elif command is not None:
                    _say(connection, m.UnknownCommand(command.kind()))
            except CommandError as error:
                _say(connection, *refused(error.refusal))

    async def _choose(self, connection: Connection, name: str) -> Account | None:
        if not valid_name(name):
            raise CommandError(m.NameInvalid())
        self._check_free(name)
        if self.world.store.count_users() >= self.limits.accounts:
            raise CommandError(m.PermissionDenied())
        _say(connection, m.NameChosen(name), m.NoPasswordHint())
        connection.echo(on=False)
        password = await self._choose_password(connection)
        connection.echo(on=True)
        if password is None:
            raise CommandError(m.NoPasswordGiven())
        stored = await self.passwords.hash(password)
        self._check_free(name)
        account = Account(name, stored)
        self.world.store.save_accounts(account)
        _say(connection, m.Unknown(""), m.Registered(), m.BeginnerHint())
        return account

    def _check_free(self, name: str) -> None:
        if reserved(name) or self.world.store.registered(name):
            raise CommandError(m.NameTaken(name))

    @staticmethod
    async def _choose_password(connection: Connection) -> str | None:
        """Ask for a new password twice; None if none is given."""
        connection.ask(write(m.NewPasswordPrompt()))
        while True:
            password = await connection.read_line()
            if not password:
                return None
            if len(password) < MIN_PASSWORD:
                _say(connection, m.Unknown(""), m.PasswordTooShort())
                connection.ask(write(m.NewPasswordPrompt()))
                continue
            _say(connection, m.Unknown(""))
            connection.ask(write(m.RetypePasswordPrompt()))
            if await connection.read_line() == password:
                return password
            _say(connection, m.Unknown(""))
            connection.ask(write(m.PasswordsDifferPrompt()))

    @staticmethod
    async def _ask_secret(connection: Connection, prompt: Message) -> str | None:
        connection.echo(on=False)
        connection.ask(write(prompt))
        secret = await connection.read_line()
        connection.echo(on=True)
        _say(connection, m.Unknown(""))
        return secret


def _say(connection: Connection, *messages: Message) -> None:
    connection.send(write(message) for message in messages)
