"""Results of an account in a store: by opponent, length and month, with expected wins; drops; connections."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from attrs import frozen

from fibsbot.fibs_ratings import rating_change, winning_chance
from fibsbot.records.stored_rows import (
    BACKGAMMON,
    CHOUETTE,
    Fact,
    RatingPoint,
    StoredConnection,
    StoredMatch,
    StoredOpponent,
)

if TYPE_CHECKING:
    from fibsbot.records.store import Store

Z_95: Final = 1.959963984540054
"""Standard deviations on each side of the mean that contain 95 % of a normal distribution."""
Key = TypeVar("Key")
LONGEST_MATCH: Final = 1e9
"""Longer than any match."""
BREAK_FACTS: Final = (Fact.STARTED, Fact.FINISHED, Fact.LEFT, Fact.DROPPED, Fact.RESUMED)
"""Facts reported about opponents who broke off matches."""


def wilson(wins: int, of: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a probability, from `wins` of `of` trials; (0, 1) without trials."""
    if not of:
        return (0.0, 1.0)
    share, square = wins / of, Z_95**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = Z_95 * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    # With no win or no loss one end is exact; rounding must not push it beyond.
    return (0.0 if wins == 0 else middle - half, 1.0 if wins == of else middle + half)


def chance_before(match: StoredMatch) -> float | None:
    """Return the winning chance by the ratings before a match; None if they are unknown.

    If only the opponent's rating is missing, the chance follows from the change of ours.
    """
    if not match.length or match.rating_before is None:
        return None
    if match.opponent_rating is not None:
        return winning_chance(match.rating_before, match.opponent_rating, match.length)
    if match.gain is None or match.won is None or match.experience_before is None:
        return None
    share = abs(match.gain) / rating_change(match.experience_before, match.length, 1.0)
    if not 0 < share < 1 or (match.gain > 0) is not match.won:
        return None
    return 1 - share if match.won else share


@frozen
class WinLossRecord:
    """Wins and losses of some matches. The names of the fields are keys in the JSON of `stats`."""

    wins: int = 0
    losses: int = 0
    expected: float = 0.0
    """Expected wins by the ratings, among the `rated` matches."""
    rated: int = 0
    """Matches whose winning chances are known."""
    rated_wins: int = 0
    """Number of those that were won."""

    @classmethod
    def of(cls, matches: Iterable[StoredMatch]) -> WinLossRecord:
        """Count the finished matches."""
        finished = [match for match in matches if match.finished]
        known = [(match, chance) for match in finished if (chance := chance_before(match)) is not None]
        wins = sum(bool(match.won) for match in finished)
        return cls(
            wins=wins,
            losses=len(finished) - wins,
            expected=sum(chance for _, chance in known),
            rated=len(known),
            rated_wins=sum(bool(match.won) for match, _ in known),
        )

    @property
    def matches(self) -> int:
        """Number of finished matches."""
        return self.wins + self.losses

    @property
    def share(self) -> float | None:
        """Share of matches won."""
        return self.wins / self.matches if self.matches else None

    @property
    def interval(self) -> tuple[float, float]:
        """95 % confidence interval of the winning chance."""
        return wilson(self.wins, self.matches)


@frozen
class BrokenMatches:
    """How often an opponent broke off matches, and resumed them."""

    opponent: str
    times: Mapping[Fact, int]
    """Number of times, for each of BREAK_FACTS."""


@frozen
class ConnectionStatistics:
    """Connections of an account. The names of the fields are keys in the JSON of `stats`."""

    connections: int
    """Connections with a successful login."""
    attempts: int
    """Connections without one."""
    unseen: int
    """Connections still open, or without a recorded end: their length is unknown."""
    seconds: float
    """Total length of those with a recorded end."""
    longest: float
    between: float
    """Seconds from the first login to the last recorded end."""
    reasons: Mapping[str, int]
    """Reasons for lost connections, the most frequent first."""

    @classmethod
    def of(cls, connections: Iterable[StoredConnection]) -> ConnectionStatistics:
        """Count connections."""
        every = list(connections)
        periods = [
            (connection.logged_in, connection.lost) for connection in every if connection.logged_in and connection.lost
        ]
        lengths = [max((lost - begun).total_seconds(), 0.0) for begun, lost in periods]
        reasons = Counter(connection.reason or "unknown" for connection in every if connection.lost)
        begun, ended = [period[0] for period in periods], [period[1] for period in periods]
        return cls(
            connections=sum(connection.logged_in is not None for connection in every),
            attempts=sum(connection.logged_in is None for connection in every),
            unseen=sum(connection.lost is None for connection in every),
            seconds=sum(lengths),
            longest=max(lengths, default=0.0),
            between=max((max(ended) - min(begun)).total_seconds(), 0.0) if periods else 0.0,
            reasons=dict(reasons.most_common()),
        )


@frozen
class ChouettePoints:
    """The points of the games at chouettes. The names of the fields are keys in the JSON of `stats`."""

    games: int = 0
    won: int = 0
    lost: int = 0

    @classmethod
    def of(cls, matches: Iterable[StoredMatch]) -> ChouettePoints:
        """Add up the games among these matches."""
        scores = [match.score or (0, 0) for match in matches if match.game == CHOUETTE]
        return cls(len(scores), sum(own for own, _ in scores), sum(theirs for _, theirs in scores))

    @property
    def balance(self) -> int:
        """What the account has in the ledgers, below zero if it has lost."""
        return self.won - self.lost


@frozen
class AccountResults:
    """Everything that `stats` reports about an account."""

    account: str
    first: dt.datetime | None
    """Start of the first finished match; None without one."""
    last: dt.datetime | None
    """End of the last one."""
    total: WinLossRecord
    opponents: tuple[tuple[str, WinLossRecord], ...]
    """Sorted by number of finished matches, the most first."""
    lengths: tuple[tuple[int | None, WinLossRecord], ...]
    """By length; 0 is unlimited, None unknown."""
    months: tuple[tuple[str, WinLossRecord], ...]
    """By month of the end, `2026-01` and so on."""
    games: tuple[tuple[str, WinLossRecord], ...]
    """By game, backgammon first; empty if all matches were of backgammon."""
    drawn_games: int
    """Games that nobody won, of the matches that count."""
    chouettes: ChouettePoints
    open: int
    """Matches that may be resumed."""
    unknown: int
    """Matches with an unknown result."""
    resumed: int
    """Number of times a match was resumed."""
    ratings: tuple[RatingPoint, ...]
    """In backgammon; none if only another game's matches are selected."""
    broken_matches: tuple[BrokenMatches, ...]
    online: ConnectionStatistics

    @property
    def empty(self) -> bool:
        """Whether there is nothing to report."""
        return not (self.total.matches or self.open or self.unknown or self.ratings or self.online.connections)


def account_results(
    store: Store, account: str, *, since: dt.datetime | None = None, game: str | None = None
) -> AccountResults:
    """Read the results of an account from a store.

    `since` excludes matches that began earlier, and earlier events; `game` those of other games than this one.
    """
    matches = list(store.matches(account=account, since=since, game=game))
    finished = [match for match in matches if match.finished]
    opponents = _group_by(finished, lambda match: match.opponent)
    lengths = _group_by(finished, lambda match: match.length)
    months = _group_by(finished, lambda match: f"{match.ended or match.seen:%Y-%m}")
    games = _group_by(finished, lambda match: match.game or BACKGAMMON)
    others = [match for match in matches if match.game is not None]
    return AccountResults(
        account=account,
        first=min((match.started for match in finished), default=None),
        last=max((match.ended or match.seen for match in finished), default=None),
        total=WinLossRecord.of(finished),
        opponents=tuple(sorted(opponents.items(), key=lambda item: (-item[1].matches, item[0]))),
        lengths=tuple(sorted(lengths.items(), key=_by_length)),
        months=tuple(sorted(months.items())),
        games=tuple(sorted(games.items(), key=lambda item: (item[0] != BACKGAMMON, item[0]))) if others else (),
        drawn_games=sum(stored_game.drawn for match in others for stored_game in store.games(match)),
        chouettes=ChouettePoints.of(finished),
        open=sum(match.outcome.open for match in matches),
        unknown=sum(not match.finished and not match.outcome.open for match in matches),
        resumed=sum(match.resumed for match in matches),
        ratings=tuple(store.ratings(account, since=since)) if game in {None, BACKGAMMON} else (),
        broken_matches=_broken_matches(store.opponents(account=account), since),
        online=ConnectionStatistics.of(store.connections(account, since=since)),
    )


def _group_by(matches: Iterable[StoredMatch], key: Callable[[StoredMatch], Key]) -> dict[Key, WinLossRecord]:
    groups: dict[Key, list[StoredMatch]] = {}
    for match in matches:
        groups.setdefault(key(match), []).append(match)
    return {name: WinLossRecord.of(group) for name, group in groups.items()}


def _by_length(entry: tuple[int | None, WinLossRecord]) -> float:
    """Return a sort key: unlimited matches after all others, unknown lengths last."""
    length, _ = entry
    return math.inf if length is None else length or LONGEST_MATCH


def _broken_matches(opponents: Iterable[StoredOpponent], since: dt.datetime | None) -> tuple[BrokenMatches, ...]:
    """Return the opponents who broke off matches since then, the worst first."""
    found = []
    for opponent in opponents:
        last = [opponent.facts[fact].last for fact in (Fact.LEFT, Fact.DROPPED) if fact in opponent.facts]
        if last and (since is None or max(last) >= since):
            found.append(BrokenMatches(opponent.name, {fact: opponent.times(fact) for fact in BREAK_FACTS}))
    return tuple(
        sorted(found, key=lambda broken: (-broken.times[Fact.LEFT] - broken.times[Fact.DROPPED], broken.opponent))
    )
