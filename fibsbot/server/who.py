"""Lists of users and facts about them: who, show, whois, oldboard, oldmoves, ratings.

Specification: "General Info".
"""

from __future__ import annotations

import datetime as dt
import zoneinfo
from collections.abc import Callable
from typing import Any, Final

from attrs import frozen

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import ShowTopic
from fibs_protocol.errors import CommandError
from fibs_protocol.grammar import write_telnet
from fibs_protocol.grammar.arguments import shorten
from fibs_protocol.messages import Message
from fibs_protocol.words import YOU
from fibsbot.games import GAMES
from fibsbot.server.accounts import LISTED_EXPERIENCE
from fibsbot.server.laws import law_lines
from fibsbot.server.users import ServerMatch, User
from fibsbot.server.world import CommandHandlers, World

HANDLERS: Final = CommandHandlers()

MAX_RANGE: Final = 100
"""Maximum number of ranks in one list."""
DEFAULT_LAST_RANK: Final = 20
"""The last rank that `ratings` lists by default."""

_ORDERS: Final[dict[str, Callable[[User], Any]]] = {
    "login": lambda user: user.login,
    "name": lambda user: user.name.lower(),
    "rating": lambda user: -user.account.rating,
    "rrating": lambda user: user.account.rating,
}
_FILTERS: Final[dict[str, Callable[[User], bool]]] = {
    "ready": lambda user: user.ready and not user.busy,
    "playing": lambda user: user.match is not None,
    "away": lambda user: user.away is not None,
}

# -- who ------------------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Who)
def who(world: World, user: User, command: c.Who) -> None:
    """List users; a client gets a `6` only if the list is empty (pitfall 6)."""
    _list_users(world, user, command.argument or "", raw=False)


@HANDLERS.on(c.Rawwho)
def rawwho(world: World, user: User, command: c.Rawwho) -> None:
    """List users without a heading; a `6` always follows."""
    _list_users(world, user, command.argument or "", raw=True)


def _list_users(world: World, user: User, argument: str, *, raw: bool) -> None:
    words = argument.split()
    if words[:1] == ["count"]:
        world.send(user, m.Unknown(f"There are {len(world.users)} users logged in."))
        return
    chosen = _choose(world, words)
    now = world.elapsed()
    rows: list[Message] = [one.who_info(now) for one in sorted(chosen, key=_ORDERS[user.settings.sortwho])]
    if not user.clip:
        rows = [m.Unknown(write_telnet(row, number=number)) for number, row in enumerate(rows, 1)]
    if not raw and not user.clip:
        world.send(user, m.WhoHeader())
    world.send(user, *rows)
    if raw or (user.clip and not rows):
        world.send(user, m.WhoEnd())


def _choose(world: World, words: list[str]) -> list[User]:
    users = list(world.users.values())
    if not words:
        return users
    if words[0] in _FILTERS:
        return [user for user in users if _FILTERS[words[0]](user)]
    if words[0] == "from" and len(words) > 1:
        return [user for user in users if words[1] in user.host]
    user = world.find(words[0])
    if user is None:
        raise CommandError(m.NoSuchUser(shorten(words[0])))
    return [user]


# -- show -----------------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Show)
def show(world: World, user: User, command: c.Show) -> None:
    """Show one of several lists."""
    world.send(user, *_SHOWN[command.what](world, user, command.name))


def _games(world: World, user: User, name: str | None) -> list[Message]:  # noqa: ARG001 - all lists are called alike
    matches = {id(user.match): user.match for user in world.users.values() if user.match is not None}
    listed = (m.GameListed(*match.names, match.length, *match.state.scores) for match in matches.values())
    return [m.GamesStart(), *listed]


def _saved(world: World, user: User, name: str | None) -> list[Message]:  # noqa: ARG001 - as above
    rows: list[Message] = []
    for saved in world.database.matches(user.name):
        opponent = saved.opponent(user.name)
        other = world.users.get(opponent)
        match = ServerMatch.from_saved(saved)
        if match is None:
            continue
        seat = match.seat(user.name)
        scores = match.state.scores
        stars = 0 if other is None else 2 if other.ready else 1
        facts = (opponent, stars, match.length, scores[seat], scores[seat.other])
        named = match.game is not None and match.is_shown_to(user)
        rows.append(m.SavedGameMatch(*facts, match.game) if named and match.game else m.SavedMatch(*facts))
    return [m.SavedStart(), *rows] if rows else [m.NoSavedGames()]


def _saved_count(world: World, user: User, name: str | None) -> list[Message]:
    known = user.name if name is None else name
    if world.account(known) is None:
        raise CommandError(m.NoSuchUser(known))
    return [m.SavedCount(known, world.database.count_matches(known))]


def _watchers(world: World, user: User, name: str | None) -> list[Message]:  # noqa: ARG001 - as above
    rows = [m.WatcherListed(one.name, one.watching) for one in world.users.values() if one.watching is not None]
    return [m.WatchersStart(), *rows] if rows else [m.NoWatchers()]


def _max(world: World, user: User, name: str | None) -> list[Message]:  # noqa: ARG001 - as above
    return [m.MaxLogins(world.max_users, world.user_limit)]


_SHOWN: Final = {
    ShowTopic.GAMES: _games,
    ShowTopic.SAVED: _saved,
    ShowTopic.SAVEDCOUNT: _saved_count,
    ShowTopic.WATCHERS: _watchers,
    ShowTopic.MAX: _max,
}


# -- one user -------------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Whois)
def whois(world: World, user: User, command: c.Whois) -> None:
    """Show facts about a user, logged in or not. The name has to be exact."""
    if command.name is None:
        raise CommandError(m.WhoisWho())
    account = world.account(command.name)
    if account is None:
        world.send(user, m.WhoisUnknown(command.name))
        return
    zone = user.settings.timezone
    other = world.users.get(account.name)
    lines: list[Message] = [
        m.WhoisStart(account.name),
        m.WhoisLogin(_date(account.last_login, zone), account.last_host),
    ]
    if other is None:
        if account.last_logout:
            lines.append(m.WhoisLogout(_date(account.last_logout, zone)))
        lines.append(m.WhoisNotLoggedIn())
    else:
        lines.append(m.WhoisIdle(other.idle(world.elapsed())))
        if other.opponent is not None:
            lines.append(m.WhoisPlaying(other.name, other.opponent))
        else:
            lines.append(m.WhoisNotPlaying(other.name, other.ready, other.watching))
        if other.away is not None:
            lines.append(m.Unknown(f"  {other.name} is away: {other.away}"))
    lines.append(m.WhoisRating(round(account.rating, 2), account.experience))
    if user.plays_games:
        ratings = world.database.game_ratings(account.name)
        lines += [m.WhoisGameRating(one.game, round(one.rating, 2), one.experience) for one in ratings]
    lines += [m.WhoisEmail(account.email), m.Unknown("")]
    world.send(user, *lines)


def _date(seconds: int, zone: str) -> str:
    time = dt.datetime.fromtimestamp(seconds, zoneinfo.ZoneInfo(zone))
    return f"{time:%A, %B %d %H:%M %Z}"


@HANDLERS.on(c.Where)
def where(world: World, user: User, command: c.Where) -> None:
    """Show the host that a user is connected from."""
    other = user if command.name is None else world.named(command.name)
    world.send(user, m.WhereIs(other.name, other.host), m.WhereHost(other.host))


@HANDLERS.on(c.Oldboard)
def oldboard(world: World, user: User, command: c.Oldboard) -> None:
    """Show the board of a saved match."""
    if command.name is None:
        raise CommandError(m.OldboardUsage())
    if user.match is not None:
        raise CommandError(m.NotWhilePlaying())
    match = _last_match(world, user, command.name)
    if match is None:
        raise CommandError(m.NoOldboard(command.name))
    _check_shown(match, user)
    seat = match.seat(user.name)
    world.send(user, match.shown(seat, YOU, match.names[seat.other]))


@HANDLERS.on(c.Oldmoves)
def oldmoves(world: World, user: User, command: c.Oldmoves) -> None:
    """Show the moves of the last game of a saved or recent match, or of the one being played."""
    if command.name is None:
        raise CommandError(m.OldmovesUsage())
    match = user.match if user.opponent == command.name else _last_match(world, user, command.name)
    if match is None:
        raise CommandError(m.NoOldmoves(command.name))
    _check_shown(match, user)
    world.send(user, *law_lines(match.agreed), *match.list_moves(match.seat(user.name)))


def _last_match(world: World, user: User, name: str) -> ServerMatch | None:
    saved = world.database.match(user.name, name)
    return None if saved is None else ServerMatch.from_saved(saved)


def _check_shown(match: ServerMatch, user: User) -> None:
    """Refuse to show a match of another game to a client that has not asked for such games."""
    if match.game is not None and not match.is_shown_to(user):
        raise CommandError(m.GamesOff())


# -- ratings --------------------------------------------------------------------------------------------------------


@frozen
class _Range:
    name: str | None
    first: int
    last: int


@HANDLERS.on(c.Ratings)
def ratings(world: World, user: User, command: c.Ratings) -> None:
    """List ranks of the rating list, or one user's rank; the user's own rank follows if it is not among them."""
    words = (command.argument or "").split()
    if words and words[0] in GAMES:
        wanted = _read_range(words[1:])
        ranks = world.database.game_ranking(words[0], wanted.first, wanted.last)
        world.send(user, m.RatingsHeader(), *(m.RatingListed(*row) for row in ranks if wanted.name in {None, row[1]}))
        return
    wanted = _read_range(words)
    if wanted.name is not None:
        row = world.database.rank(LISTED_EXPERIENCE, wanted.name) or world.database.rank(-1, wanted.name)
        listed = [m.RatingListed(*row, starred=True)] if row else []
    else:
        rows = world.database.ranking(LISTED_EXPERIENCE, wanted.first, wanted.last)
        own = world.database.rank(LISTED_EXPERIENCE, user.name)
        listed = [m.RatingListed(*row) for row in (rows if own is None or own in rows else [*rows, own])]
    world.send(user, m.RatingsHeader(), *listed)


def _read_range(words: list[str]) -> _Range:
    """Read `NAME`, `from N`, `to N`, `from N to M` (specification: "Ratings")."""
    names: list[str] = []
    bounds = {"from": 1, "to": DEFAULT_LAST_RANK}
    index = 0
    while index < len(words):
        if words[index] in bounds:
            number = words[index + 1] if index + 1 < len(words) else ""
            if not (number.isdecimal() and number.isascii() and len(number) < 10 and int(number)):
                raise CommandError(m.RatingsNotPositive(words[index]))
            bounds[words[index]] = int(number)
            index += 2
        else:
            names.append(words[index])
            index += 1
    if len(names) > 1:
        raise CommandError(m.RatingsOneName(shorten(names[0]), shorten(names[1])))
    first, last = bounds["from"], bounds["to"]
    if last < first:
        raise CommandError(m.RatingsBadRange(first, last))
    if last - first >= MAX_RANGE:
        raise CommandError(m.RatingsLongRange())
    return _Range(names[0] if names else None, first, last)
