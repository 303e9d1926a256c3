"""World: who is logged in, who plays and watches whom, the outbox, and the table of command handlers.

Commands change the world and leave messages in its outbox; the server delivers them. No I/O but the database's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias, TypeVar

from attrs import define, evolve, field, frozen
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.messages import Message

from fibsbot.server.accounts import Account
from fibsbot.server.database import Database
from fibsbot.server.dice import DiceSource, DiceTest
from fibsbot.server.server_match import ServerMatch
from fibsbot.server.users import User

LAST_LOGINS: Final = 20
"""Logins and logouts that `last` shows."""


@frozen
class Quirks:
    """Ways in which servers differ that a client has to live with; a test can ask for them."""

    glue_moves: bool = False
    """Whether the list of moves after a game begins on the line that tells the result, as on FIBS
    (`... Congratulations!Score is 1-0 in a 3 point match.`)."""
    board_after_resume: bool = False
    """Whether a resumed match begins with a board for programs, too. They ask for one, as FIBS does not always send it:
    with this they get two."""


@frozen
class Dependencies:
    """What a world is given: everything that it would otherwise have to get from outside."""

    store: Database
    dice: DiceSource
    clock: Callable[[], float]
    """Seconds since 1970 UTC."""
    quirks: Quirks = field(factory=Quirks)
    max_users: int = 1000
    """What `show max` tells."""


@frozen
class ClearScreen(Message):
    """What `clear` sends: the codes that empty a terminal. No line of the protocol could carry them."""


@define
class TrafficCounts:
    """What `stat` counts: bytes that have passed, and what matches have done."""

    sent: int = 0
    received: int = 0
    ratings: int = 0
    """Ratings that matches have changed."""


class World:
    """Everything that goes on."""

    def __init__(self, fixtures: Dependencies) -> None:
        """Begin with nobody logged in."""
        self.fixtures = fixtures
        self.store = fixtures.store
        self.users: dict[str, User] = {}
        self.watchers: dict[str, list[User]] = {}
        """Who watches whom, by the watched user's name."""
        self.outbox: list[tuple[User, Message]] = []
        """What is to be delivered, in this order."""
        self.leaving: list[User] = []
        """Whose connections are to be closed once the outbox is delivered."""
        self.unsaved: list[ServerMatch] = []
        """Tables that have changed since they were saved."""
        self.statistics = DiceTest()
        self.last: deque[tuple[float, str]] = deque(maxlen=LAST_LOGINS)
        self.started = fixtures.clock()
        self.max_users = 0
        self.closing = False
        """Whether the server ends: then nobody is told any more who comes, goes or plays."""
        self.port = 0
        """Where the server listens, for the command `port`."""
        self.traffic = TrafficCounts()
        self.counts: dict[int, tuple[int, int, int, int]] = {}
        """For each hour of the day (UTC) seen so far: sum of users, samples, fewest, most."""

    def now(self) -> float:
        """Return the time in seconds since 1970 UTC."""
        return self.fixtures.clock()

    # -- telling ----------------------------------------------------------------------------------------------------

    def tell(self, user: User, *messages: Message) -> None:
        """Leave messages for one user."""
        self.outbox.extend((user, message) for message in messages)

    def tell_all(self, users: Iterable[User], *messages: Message) -> None:
        """Leave the same messages for several users."""
        for user in users:
            self.outbox.extend((user, message) for message in messages)

    def show_status(self, *users: User) -> None:
        """Tell every client what has changed about some users."""
        if self.closing:
            return
        now = self.now()
        lines = [(user.who_info(now), m.WhoEnd()) for user in users]
        for listener in self.users.values():
            if listener.clip:
                for line in lines:
                    self.outbox.extend((listener, message) for message in line)

    # -- finding ----------------------------------------------------------------------------------------------------

    def find(self, name: str) -> User | None:
        """Return the user who is logged in under a name or its beginning (`help names`).

        An exact name comes first, then a beginning that fits one user only, then the same without regard to case.
        """
        user = self.users.get(name)
        if user is not None or not name:
            return user
        for fits in (str, str.lower):
            found = [user for known, user in self.users.items() if fits(known).startswith(fits(name))]
            if found:
                return found[0] if len(found) == 1 else None
        return None

    def account(self, name: str) -> Account | None:
        """Return a registered user, logged in or not."""
        user = self.users.get(name)
        return user.account if user else self.store.account(name)

    def watchers_of(self, *names: str) -> list[User]:
        """Return who watches any of these users."""
        return [watcher for name in names for watcher in self.watchers.get(name, ())]

    # -- saving -----------------------------------------------------------------------------------------------------

    def changed(self, table: ServerMatch) -> None:
        """Note that a match has to be saved before anybody hears of what happened in it."""
        if table not in self.unsaved:
            self.unsaved.append(table)

    def save(self) -> None:
        """Save every match that has changed."""
        for table in self.unsaved:
            saved = table.to_saved()
            accounts = [user.account for user in table.users.values()] if saved.over else []
            self.store.save_match(saved, self.now(), *accounts)
        self.unsaved.clear()

    def sample(self) -> None:
        """Count the users for `average`; called every now and then."""
        hour = int(self.now()) // 3600 % 24
        count = len(self.users)
        total, samples, fewest, most = self.counts.get(hour, (0, 0, count, count))
        self.counts[hour] = (total + count, samples + 1, min(fewest, count), max(most, count))

    def save_settings(self, user: User) -> None:
        """Keep a user's settings for the next login."""
        user.account.settings = evolve(user.settings, on=set(user.settings.on))
        self.store.save_accounts(user.account)


AnyCommand = TypeVar("AnyCommand")
Handler: TypeAlias = Callable[[World, User, Any], None]
"""Carries out a command of one kind for a user; raises CommandError to refuse it."""


class CommandHandlers(dict[type[Command], Handler]):
    """A table of handlers by the kind of command, filled with decorators."""

    def on(
        self, *kinds: type[Command]
    ) -> Callable[[Callable[[World, User, AnyCommand], None]], Callable[[World, User, AnyCommand], None]]:
        """Make a function the handler of some kinds of commands."""

        def add(handler: Callable[[World, User, AnyCommand], None]) -> Callable[[World, User, AnyCommand], None]:
            self.update(dict.fromkeys(kinds, handler))
            return handler

        return add
