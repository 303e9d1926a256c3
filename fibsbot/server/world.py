"""World: the users who are logged in, their matches and watchers, the outbox, and the table of command handlers.

Commands change the world and put messages into its outbox; the server delivers them. The database is the only I/O.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from attrs import define, evolve, frozen

from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.errors import CommandError
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.words import Departure, Dice
from fibsbot.extensions import extension
from fibsbot.rules.laws import Laws
from fibsbot.server.accounts import Account
from fibsbot.server.database import Database
from fibsbot.server.dice import DiceSource, DiceTest
from fibsbot.server.users import ServerMatch, Table, User

LAST_LOGINS: Final = 20
"""Number of logins and logouts that `last` shows."""


@frozen
class Quirks:
    """Differences between servers that a client has to handle; a test can ask for them."""

    glue_moves: bool = False
    """Whether the list of moves after a game begins on the line with the result, as on FIBS
    (`... Congratulations!Score is 1-0 in a 3 point match.`)."""
    board_after_resume: bool = False
    """Whether a resumed match begins with a board for programs, too. They request one, because FIBS does not
    always send it, so they get two."""


@frozen
class ClearScreen(Message):
    """The answer to `clear`: the codes that clear a terminal. No line of the protocol could carry them."""


@define
class TrafficCounts:
    """The counters that `stat` shows."""

    sent: int = 0
    received: int = 0
    ratings: int = 0
    """Number of ratings changed by matches."""


class World:
    """The state of the server: users, matches, watchers, and the messages to be delivered."""

    def __init__(  # noqa: PLR0913 - what a server is made of
        self,
        database: Database,
        dice: DiceSource,
        clock: Callable[[], float],
        *,
        timer: Callable[[], float] | None = None,
        quirks: Quirks | None = None,
        user_limit: int = 1000,
        house_laws: Laws | None = None,
    ) -> None:
        """Start without users.

        Args:
            database: accounts, saved matches and mail.
            dice: the source of all rolls.
            clock: returns seconds since 1970 UTC.
            timer: returns seconds that never jump, for waits; None: those of `clock`.
            quirks: deliberate differences, for tests of clients.
            user_limit: the limit that `show max` prints.
            house_laws: the laws of matches between users who know other laws than those of FIBS; None: of FIBS.
        """
        self.database = database
        self.dice = dice
        self.quirks = quirks or Quirks()
        self.user_limit = user_limit
        self.house_laws = house_laws
        self._clock = clock
        self._timer = timer or clock
        self.users: dict[str, User] = {}
        self.watchers: dict[str, list[User]] = {}
        """The watchers of each user, by the watched user's name."""
        self.outbox: list[tuple[User, Message]] = []
        """The messages to deliver, in this order."""
        self.disconnecting: list[User] = []
        """Users whose connections are closed once the outbox is delivered."""
        self.unsaved_matches: list[ServerMatch] = []
        """Matches that have changed since they were saved."""
        self.table_hooks: TableHooks = extension("server")
        self.tables: list[Table] = [*self.table_hooks.saved_tables(database.saved_tables())]
        """The tables with more than two seats at which people play, or wait."""
        self.statistics = DiceTest()
        self.recent_logins: deque[tuple[float, str]] = deque(maxlen=LAST_LOGINS)
        self.started = clock()
        self.max_users = 0
        self.closing = False
        """Whether the server is stopping: then logins, logouts and matches are no longer announced."""
        self.port = 0
        """The port that the server listens on, for the command `port`."""
        self.traffic = TrafficCounts()
        self.users_by_hour: dict[int, tuple[int, int, int, int]] = {}
        """For each hour of the day (UTC) seen so far: sum of users, samples, fewest, most."""

    def now(self) -> float:
        """Return the time in seconds since 1970 UTC."""
        return self._clock()

    def elapsed(self) -> float:
        """Return seconds of which only differences matter; they do not jump when the machine's clock is set."""
        return self._timer()

    # -- sending ---------------------------------------------------------------------------------------------------

    def send(self, user: User, *messages: Message) -> None:
        """Queue messages for one user."""
        self.outbox.extend((user, message) for message in messages)

    def send_all(self, users: Iterable[User], *messages: Message) -> None:
        """Queue the same messages for several users."""
        for user in users:
            self.outbox.extend((user, message) for message in messages)

    def show_status(self, *users: User) -> None:
        """Send every client the current status of some users."""
        if self.closing:
            return
        now = self.elapsed()
        lines = [(user.who_info(now), m.WhoEnd()) for user in users]
        for listener in self.users.values():
            if listener.clip:
                for line in lines:
                    self.outbox.extend((listener, message) for message in line)

    # -- finding ----------------------------------------------------------------------------------------------------

    def find(self, name: str) -> User | None:
        """Return the logged-in user with this name, or whose name begins with it (`help names`).

        An exact name comes first, then an unambiguous prefix, then the same ignoring case.
        """
        user = self.users.get(name)
        if user is not None or not name:
            return user
        for fits in (str, str.lower):
            found = [user for known, user in self.users.items() if fits(known).startswith(fits(name))]
            if found:
                return found[0] if len(found) == 1 else None
        return None

    def named(self, name: str) -> User:
        """Return the logged-in user whom a command names. Raises CommandError."""
        user = self.find(name)
        if user is None:
            raise CommandError(m.NoSuchUser(name))
        return user

    def named_for_list(
        self, user: User, listed: Collection[str], name: str, oneself: Refusal
    ) -> tuple[str, User | None]:
        """Return name and user for a command that adds a name to a list or removes it. Raises CommandError.

        The user may be logged out (None) if the name is listed. `oneself` refuses users who name themselves.
        """
        other = self.find(name)
        if other is user:
            raise CommandError(oneself)
        if other is None and name not in listed:
            raise CommandError(m.NoSuchUser(name))
        return (name if other is None else other.name), other

    def account(self, name: str) -> Account | None:
        """Return a registered user, logged in or not."""
        user = self.users.get(name)
        return user.account if user else self.database.account(name)

    def watchers_of(self, *names: str) -> list[User]:
        """Return the watchers of any of these users."""
        return [watcher for name in names for watcher in self.watchers.get(name, ())]

    def roll(self, key: str, number: int) -> Dice:
        """Return the two dice of a roll, by the name of the match or table and the number of the roll there."""
        dice = self.dice.dice(key, number)
        self.statistics.count(dice)
        return dice

    # -- saving -----------------------------------------------------------------------------------------------------

    def mark_unsaved(self, match: ServerMatch) -> None:
        """Mark a match that has to be saved before anything that happened in it is sent."""
        if match not in self.unsaved_matches:
            self.unsaved_matches.append(match)

    def save_matches(self) -> None:
        """Save every match that is marked."""
        for match in self.unsaved_matches:
            match.save(self.database, self.now())
        self.unsaved_matches.clear()

    def sample_user_count(self) -> None:
        """Count the users for `average`; called at regular intervals."""
        hour = int(self.now()) // 3600 % 24
        count = len(self.users)
        total, samples, fewest, most = self.users_by_hour.get(hour, (0, 0, count, count))
        self.users_by_hour[hour] = (total + count, samples + 1, min(fewest, count), max(most, count))

    def save_settings(self, user: User) -> None:
        """Store a user's settings for the next login."""
        user.account.settings = evolve(user.settings, on=set(user.settings.on))
        self.database.save_accounts(user.account)


AnyCommand = TypeVar("AnyCommand")
Handler: TypeAlias = Callable[[World, User, Any], None]
"""Carries out one kind of command for a user; raises CommandError to refuse it."""


class CommandHandlers(dict[type[Command], Handler]):
    """The handler of each kind of command, filled by a decorator."""

    def on(
        self, *kinds: type[Command]
    ) -> Callable[[Callable[[World, User, AnyCommand], None]], Callable[[World, User, AnyCommand], None]]:
        """Return a decorator that registers a function as the handler of these kinds of commands."""

        def add(handler: Callable[[World, User, AnyCommand], None]) -> Callable[[World, User, AnyCommand], None]:
            self.update(dict.fromkeys(kinds, handler))
            return handler

        return add


@frozen
class TableHooks:
    """What a game for more than two users at a table adds to the server."""

    handlers: CommandHandlers
    """The handlers of its own commands."""
    seated_handlers: CommandHandlers
    """For users who have a seat at a table, in place of the ordinary handlers."""
    saved_tables: Callable[[Iterable[tuple[int, str]]], Sequence[Table]]
    """Returns the tables of some rows of the database, without users; corrupt rows are left out."""
    come_back: Callable[[World, User], None]
    """Gives a user who logs in a seat back."""
    go_away: Callable[[World, User, Departure], None]
    """Notes that a user who has a seat logs out."""
    after_command: Callable[[World, Any], None]
    """Goes on after a command of a user who has a seat at a table, which it takes."""
    drop_late_players: Callable[[World], None]
    """Goes on at all tables without users who have not decided in time; called at regular intervals."""
