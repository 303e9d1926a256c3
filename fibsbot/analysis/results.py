"""Results in a store: by opponent, length and month, with what was to be expected; drops; connections."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from attrs import frozen

from fibsbot.records.views import Connection, Fact, Match, Opponent, RatingPoint

if TYPE_CHECKING:
    from fibsbot.records.store import Store

Z_95: Final = 1.959963984540054
"""So many standard deviations to each side hold 95 % of a normal distribution."""
Key = TypeVar("Key")
LONGEST_MATCH: Final = 1e9
"""No match is as long."""
BREAK_FACTS: Final = (Fact.STARTED, Fact.FINISHED, Fact.LEFT, Fact.DROPPED, Fact.RESUMED)
"""What is told of opponents with whom matches broke off."""


def wilson(wins: int, of: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a chance, where something happened so often; (0, 1) where nothing is known."""
    if not of:
        return (0.0, 1.0)
    share, square = wins / of, Z_95**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = Z_95 * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    # With no win or no loss an end is exact; rounding must not push it beyond.
    return (0.0 if wins == 0 else middle - half, 1.0 if wins == of else middle + half)


def chance_by_rating(own: float, opponent: float, length: int) -> float:
    """Return the chance to win a match that the rating formula of FIBS gives."""
    exponent = (opponent - own) * math.sqrt(length) / 2000
    return 1 / (1 + math.pow(10, min(max(exponent, -300), 300)))


def chance_before(match: Match) -> float | None:
    """Return the chance to win that a match had by the ratings; None where they are not known.

    Where only the opponent's rating is missing, what the match did to ours tells it: a win gains 4 K sqrt(length) times
    the chance to lose it, K being 5 for newcomers and 1 from 400 points of experience on.
    """
    if not match.length or match.rating_before is None:
        return None
    if match.opponent_rating is not None:
        return chance_by_rating(match.rating_before, match.opponent_rating, match.length)
    if match.gain is None or match.won is None or match.experience_before is None:
        return None
    factor = max(1.0, 5 - match.experience_before / 100)
    share = abs(match.gain) / (4 * factor * math.sqrt(match.length))
    if not 0 < share < 1 or (match.gain > 0) is not match.won:
        return None
    return 1 - share if match.won else share


@frozen
class WinLossRecord:
    """How matches ended."""

    wins: int = 0
    losses: int = 0
    expected: float = 0.0
    """Wins to be expected by the ratings, of the `rated` ones."""
    rated: int = 0
    """Matches whose chances are known."""
    rated_wins: int = 0
    """Of those, how many were won."""

    @classmethod
    def of(cls, matches: Iterable[Match]) -> WinLossRecord:
        """Sum matches up; those that are not finished do not count."""
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
        """All that were finished."""
        return self.wins + self.losses

    @property
    def share(self) -> float | None:
        """The share that was won."""
        return self.wins / self.matches if self.matches else None

    @property
    def interval(self) -> tuple[float, float]:
        """Where the chance to win lies with 95 % confidence."""
        return wilson(self.wins, self.matches)


@frozen
class BrokenMatches:
    """How often something happened with an opponent with whom a match broke off."""

    opponent: str
    times: Mapping[Fact, int]
    """Of BREAKS."""


@frozen
class ConnectionStatistics:
    """How an account was connected."""

    connections: int
    """Those that got as far as a login."""
    attempts: int
    """Those that did not."""
    unseen: int
    """Connections that stand, or whose end nobody saw: how long they were is not known."""
    seconds: float
    """Of all whose end was seen."""
    longest: float
    between: float
    """From the first login to the last end that was seen."""
    reasons: Mapping[str, int]
    """Why connections were lost, the most frequent first."""

    @classmethod
    def of(cls, connections: Iterable[Connection]) -> ConnectionStatistics:
        """Sum connections up."""
        every = list(connections)
        spans = [(it.logged_in, it.lost) for it in every if it.logged_in and it.lost]
        lengths = [max((lost - begun).total_seconds(), 0.0) for begun, lost in spans]
        reasons = Counter(it.reason or "unknown" for it in every if it.lost)
        begun, ended = [it[0] for it in spans], [it[1] for it in spans]
        return cls(
            connections=sum(it.logged_in is not None for it in every),
            attempts=sum(it.logged_in is None for it in every),
            unseen=sum(it.lost is None for it in every),
            seconds=sum(lengths),
            longest=max(lengths, default=0.0),
            between=(max(ended) - min(begun)).total_seconds() if spans else 0.0,
            reasons=dict(reasons.most_common()),
        )


@frozen
class AccountResults:
    """Everything that a store tells of an account."""

    account: str
    first: dt.datetime | None
    """When the first match that counts began; None without one."""
    last: dt.datetime | None
    """When the last one ended."""
    total: WinLossRecord
    opponents: tuple[tuple[str, WinLossRecord], ...]
    """By how many matches were finished, the most first."""
    lengths: tuple[tuple[int | None, WinLossRecord], ...]
    """By length; 0 is unlimited, None unknown."""
    months: tuple[tuple[str, WinLossRecord], ...]
    """By month of the end, `2026-01` and so on."""
    open: int
    """Matches that may go on."""
    unseen: int
    """Matches whose result nobody knows."""
    resumed: int
    """How often a match went on after a break."""
    ratings: tuple[RatingPoint, ...]
    breaks: tuple[BrokenMatches, ...]
    online: ConnectionStatistics

    @property
    def empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not (self.total.matches or self.open or self.unseen or self.ratings or self.online.connections)


def account_results(store: Store, account: str, *, since: dt.datetime | None = None) -> AccountResults:
    """Read what a store tells of an account; `since` is about when matches began, and everything else happened."""
    matches = list(store.matches(account=account, since=since))
    finished = [match for match in matches if match.finished]
    opponents = _group_by(finished, lambda match: match.opponent)
    lengths = _group_by(finished, lambda match: match.length)
    months = _group_by(finished, lambda match: f"{match.ended or match.seen:%Y-%m}")
    return AccountResults(
        account=account,
        first=min((match.started for match in finished), default=None),
        last=max((match.ended or match.seen for match in finished), default=None),
        total=WinLossRecord.of(finished),
        opponents=tuple(sorted(opponents.items(), key=lambda it: (-it[1].matches, it[0]))),
        lengths=tuple(sorted(lengths.items(), key=_by_length)),
        months=tuple(sorted(months.items())),
        open=sum(match.outcome.open for match in matches),
        unseen=sum(not match.finished and not match.outcome.open for match in matches),
        resumed=sum(match.resumed for match in matches),
        ratings=tuple(store.ratings(account, since=since)),
        breaks=_broken_matches(store.opponents(account=account), since),
        online=ConnectionStatistics.of(store.connections(account, since=since)),
    )


def _group_by(matches: Iterable[Match], key: Callable[[Match], Key]) -> dict[Key, WinLossRecord]:
    groups: dict[Key, list[Match]] = {}
    for match in matches:
        groups.setdefault(key(match), []).append(match)
    return {name: WinLossRecord.of(group) for name, group in groups.items()}


def _by_length(entry: tuple[int | None, WinLossRecord]) -> float:
    """Order lengths: unlimited matches after all others, and last those of which nobody knows it."""
    length, _ = entry
    return math.inf if length is None else length or LONGEST_MATCH


def _broken_matches(opponents: Iterable[Opponent], since: dt.datetime | None) -> tuple[BrokenMatches, ...]:
    """List those with whom a match broke off, the worst first; none where that was all before `since`."""
    found = []
    for opponent in opponents:
        last = [opponent.facts[fact].last for fact in (Fact.LEFT, Fact.DROPPED) if fact in opponent.facts]
        if last and (since is None or max(last) >= since):
            found.append(BrokenMatches(opponent.name, {fact: opponent.times(fact) for fact in BREAK_FACTS}))
    return tuple(sorted(found, key=lambda it: (-it.times[Fact.LEFT] - it.times[Fact.DROPPED], it.opponent)))
