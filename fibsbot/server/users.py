"""User: a user who is logged in, from the login to the logout; ServerMatch: a match that two users play."""

from __future__ import annotations

import enum
from typing import Final, Protocol

from attrs import define, field, frozen

from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibs_protocol.messages import Refusal
from fibs_protocol.words import Toggle
from fibsbot import fibs_numbering
from fibsbot.fast_evolve import fast_evolve
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import AutomaticRaise, Laws
from fibsbot.rules.ruleset import Ruleset
from fibsbot.rules.state import Seat
from fibsbot.server.accounts import Account, GameRating
from fibsbot.server.database import Database
from fibsbot.server.saved_match import CUBE_LIMIT, NEW_COLOURS, SavedMatch
from fibsbot.server.user_settings import UserSettings
from fibsbot.table_lines import MOST_SHOWN

MAX_NAMES: Final = 100
"""Maximum number of names that one user can gag, blind or wait for."""
MAX_KEPT_MAIL: Final = 100
"""Number of messages received since the login that `message` can show again."""


def toggle_name(names: set[str], name: str) -> bool:
    """Add a name to a set, or remove it if it is there; return whether it was added.

    Raises:
        CommandError: if the set is full.
    """
    if name in names:
        names.remove(name)
        return False
    if len(names) >= MAX_NAMES:
        raise CommandError(m.PermissionDenied())
    names.add(name)
    return True


class ClientMode(enum.Enum):
    """The style of output that a connection wants."""

    CLIP = "clip"
    """A client: numbered lines, no prompt."""
    TELNET = "telnet"
    """A person: sentences, and a prompt after every command."""
    PLAIN = "plain"
    """A person whose program has an input line of its own (`connect name password`): sentences without a prompt."""


@frozen
class PendingInvitation:
    """An invitation that waits to be accepted; a new one replaces it."""

    name: str
    """The invited user."""
    length: int | None
    """Points, UNLIMITED, or None to resume the saved match."""
    laws: Laws | None = None
    """Other laws than those of FIBS."""
    rules: Ruleset = BACKGAMMON
    """The game."""


class Table(Protocol):
    """A table with more than two seats, at which two users act for all; `TableHooks` says what happens there."""

    @property
    def match(self) -> ServerMatch | None:
        """The match that these two play, or have played last."""

    @property
    def not_acting(self) -> Refusal:
        """The refusal of a command of the match to the others."""


@define(eq=False)
class User:
    """A user who is logged in. Users are compared by identity: a second login makes a second one."""

    account: Account
    mode: ClientMode
    host: str
    client: str | None
    login: int
    """Seconds since 1970 UTC."""
    settings: UserSettings
    active: float
    """The time of the last command, in seconds since 1970 UTC."""
    match: ServerMatch | None = None
    """The match that is being played."""
    table: Table | None = None
    """The table with more than two seats at which the user has one; who acts there has its game as their match."""
    watching: str | None = None
    invitation: PendingInvitation | None = None
    away: str | None = None
    """The text left by `away`."""
    waved: bool = False
    gagged: set[str] = field(factory=set)
    blinded: set[str] = field(factory=set)
    waiting_for: set[str] = field(factory=set)
    mail: list[m.MailReceived] = field(factory=list)
    """Messages received since the login."""
    last_command: str = ""
    """The command that `!!` repeats."""
    asked_for_laws: bool = False
    """Whether a client has said that it knows other laws than those of FIBS."""

    @property
    def name(self) -> str:
        """The account's name."""
        return self.account.name

    @property
    def clip(self) -> bool:
        """Whether the user's client understands numbered lines."""
        return self.mode is ClientMode.CLIP

    @property
    def plays_games(self) -> bool:
        """Whether the user can play games other than backgammon: people can, clients if they have asked."""
        return not self.clip or self.settings.games

    @property
    def knows_laws(self) -> bool:
        """Whether the user can be invited to matches by other laws: people can, clients if they have asked."""
        return not self.clip or self.asked_for_laws

    @property
    def ready(self) -> bool:
        """Whether the user wants to play."""
        return self.settings[Toggle.READY]

    @property
    def busy(self) -> bool:
        """Whether the user plays, or has a seat at a table."""
        return self.match is not None or self.table is not None

    @property
    def board_match(self) -> ServerMatch | None:
        """The match whose board belongs to the user: as a player, or as anybody at a table."""
        return self.match if self.table is None else self.table.match

    @property
    def opponent(self) -> str | None:
        """The name of the opponent; None without a match."""
        if self.match is None:
            return None
        return self.match.names[self.match.seat(self.name).other]

    @property
    def opposing_user(self) -> User | None:
        """The opponent; at a table it may be one who is not logged in at the moment."""
        return None if self.match is None else self.match.users[self.match.seat(self.name).other]

    def idle(self, now: float) -> int:
        """Return the seconds since the last command."""
        return max(0, int(now - self.active))

    def who_info(self, now: float) -> m.WhoInfo:
        """Return the user's line in a list of users."""
        return m.WhoInfo(
            name=self.name,
            opponent=self.opponent,
            watching=self.watching,
            ready=self.ready and self.table is None,
            away=self.away is not None,
            rating=round(self.account.rating, 2),
            experience=self.account.experience,
            idle=self.idle(now),
            login=self.login,
            host=self.host,
            client=self.client,
            email=self.account.email,
        )

    def own_info(self) -> m.OwnInfo:
        """Return the line that gives a client its user's settings."""
        on = self.settings
        return m.OwnInfo(
            name=self.name,
            allowpip=on[Toggle.ALLOWPIP],
            autoboard=on[Toggle.AUTOBOARD],
            autodouble=on[Toggle.AUTODOUBLE],
            automove=on[Toggle.AUTOMOVE],
            away=self.away is not None,
            bell=on[Toggle.BELL],
            crawford=on[Toggle.CRAWFORD],
            double=on[Toggle.DOUBLE],
            experience=self.account.experience,
            greedy=on[Toggle.GREEDY],
            moreboards=on[Toggle.MOREBOARDS],
            moves=on[Toggle.MOVES],
            notify=on[Toggle.NOTIFY],
            rating=round(self.account.rating, 2),
            ratings=on[Toggle.RATINGS],
            ready=on[Toggle.READY],
            redoubles=on.redoubles,
            report=on[Toggle.REPORT],
            silent=on[Toggle.SILENT],
            timezone=on.timezone,
        )


@define(eq=False)
class ServerMatch(SavedMatch):
    """A match that two users play, until its end or until one of them leaves."""

    users: dict[Seat, User] = field(factory=dict)
    """The players."""
    teammates: list[User] = field(factory=list)
    """The others at a table with more than two seats, who see the board as watchers of seat B do."""
    joined: set[Seat] = field(factory=set)
    """Between two games, the players who have joined the next one."""
    new_ratings: tuple[GameRating, ...] = ()
    """Once a match of another game than backgammon is over, the ratings that its end has changed."""

    def is_shown_to(self, user: User) -> bool:
        """Return whether a user's client understands the lines of this match."""
        return (self.agreed is None or user.knows_laws) and (self.game is None or user.plays_games)

    def save(self, database: Database, now: float) -> None:
        """Save the match, and with its end the ratings that have changed."""
        saved = self.to_saved()
        rated = [user.account for user in self.users.values()] if saved.over and self.game is None else []
        database.save_match(saved, now, *rated, ratings=self.new_ratings)


def new_match(  # noqa: PLR0913 - what two users agree on
    inviter: User, joiner: User, length: int, serial: int, *, rules: Ruleset, agreed: Laws | None
) -> ServerMatch:
    """Return a new match by the agreed laws or both players' toggles, the inviter as X; `length` is as in messages."""
    laws = agreed or _laws(rules, inviter, joiner)
    state = start_match(laws, fibs_numbering.length_from_fibs(length), rules=rules)
    return ServerMatch((inviter.name, joiner.name), state, NEW_COLOURS, serial, agreed=agreed)


def update_laws(match: ServerMatch) -> None:
    """Apply both players' toggles before a game of backgammon (autodouble) or a resumed match (redoubles)."""
    if match.agreed is None and match.game is None:
        laws = _laws(match.rules, match.users[Seat.A], match.users[Seat.B])
        match.state = fast_evolve(match.state, laws=fast_evolve(laws, crawford=match.state.laws.crawford))


def _laws(rules: Ruleset, a: User, b: User) -> Laws:
    """Return the laws of a game that two users agree on.

    There is a Crawford game if one of them wants it; ties in the opening roll double the cube, and there are instant
    redoubles, if both do, in backgammon only.
    """
    crawford = rules.laws.crawford and (a.settings[Toggle.CRAWFORD] or b.settings[Toggle.CRAWFORD])
    laws = fast_evolve(rules.laws, crawford=crawford, cube_limit=CUBE_LIMIT)
    if rules is not BACKGAMMON:
        return laws
    doubles = a.settings[Toggle.AUTODOUBLE] and b.settings[Toggle.AUTODOUBLE]
    limits = [user.settings.redoubles for user in (a, b) if user.settings.redoubles is not None]
    return fast_evolve(
        laws,
        automatic=AutomaticRaise.DOUBLE if doubles else AutomaticRaise.NONE,
        redoubles=min(limits, default=MOST_SHOWN),
    )
