"""What pairs come to: means with their intervals, times, faults."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, Self

from attrs import define, field, frozen

from fibsbot.arena.duel.plan import Plan
from fibsbot.study.results import NORMAL, wilson

STEP: Final = 1.1
"""Times are counted in classes, each so many times as long as the one before: they are known to 5 %."""
SHORTEST: Final = 1e-7
"""Seconds; what is shorter counts as this."""
EXAMPLES: Final = 5
"""So many faults are quoted; all are counted."""


@define
class Times:
    """How long decisions took, as a histogram of few numbers."""

    classes: Counter[int] = field(factory=Counter, converter=Counter)
    """How many took STEP to this power seconds."""

    def add(self, seconds: float) -> None:
        """Count a decision."""
        self.classes[round(math.log(max(seconds, SHORTEST), STEP))] += 1

    @property
    def count(self) -> int:
        """How many decisions there were."""
        return self.classes.total()

    def quantile(self, share: float) -> float | None:
        """Return the seconds in which this share of the decisions was made; None without any."""
        left = math.ceil(share * self.count)
        for number, times in sorted(self.classes.items()):
            left -= times
            if left <= 0:
                return float(f"{STEP**number:.3g}")
        return None


@frozen
class Performance:
    """What one strategy did in a pair, or in all of them."""

    plays: Times = field(factory=Times)
    """How long it took to choose plays; what was forced was not asked."""
    others: Times = field(factory=Times)
    """The same of everything else: the cube, resignations."""
    faults: int = 0
    """Decisions that it did not make, and a fallback had to."""
    example: str = ""
    """The first fault in words."""
    judged: int = 0
    """Decisions that count for the performance rating, as the judge sees it."""
    loss: float = 0.0
    """Sum over them, normalised."""

    @property
    def pr(self) -> float | None:
        """Performance rating: 500 times the mean loss; None where nothing was judged."""
        return 500 * self.loss / self.judged if self.judged else None


@frozen
class Pair:
    """Two games or matches with the same dice and swapped seats."""

    number: int
    """From 0."""
    results: tuple[float, float]
    """What A got in each: points of a money game, of a match 1 for won and 0 for lost."""
    luck: tuple[float, float] | None
    """How much of it was A's luck less B's, in the same unit; None where it is not known."""
    games: int
    """Games in both."""
    performances: tuple[Performance, Performance]
    """Of A and of B."""
    unjudged: str = ""
    """Why the judge had to leave it out, if it had to."""

    @property
    def result(self) -> float:
        """What A got on average."""
        return sum(self.results) / 2

    @property
    def adjusted(self) -> float | None:
        """The same without luck."""
        return None if self.luck is None else self.result - sum(self.luck) / 2


@frozen
class Estimate:
    """A mean and how sure it is."""

    mean: float
    error: float
    """Standard error."""
    low: float
    """Where the 95 % interval begins."""
    high: float
    count: int
    """Of how many values."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Self | None:
        """Estimate a mean, with its interval by the normal distribution; None for fewer than two values.

        The order of the values makes no difference, not in the last digit.
        """
        count = len(values)
        if count < 2:
            return None
        mean = math.fsum(values) / count
        error = math.sqrt(math.fsum((it - mean) ** 2 for it in values) / (count - 1) / count)
        return cls(mean, error, mean - NORMAL * error, mean + NORMAL * error, count)

    @classmethod
    def of_shares(cls, values: Sequence[float]) -> Self | None:
        """The same for what lies between 0 and 1, as does the interval.

        Where all values are 0, or all are 1, they do not tell how much they vary, and the interval is Wilson's.
        """
        found = cls.of(values)
        if found is None:
            return None
        low, high = max(found.low, 0.0), min(found.high, 1.0)
        if found.error == 0 and found.mean in {0.0, 1.0}:
            low, high = wilson(round(found.mean * found.count), found.count)
        return cls(found.mean, found.error, low, high, found.count)


def rating_difference(share: float, length: int) -> float | None:
    """Return how many rating points more, by the formula of FIBS, win this share of matches; None for all or none.

    From the chance to win 1 / (1 + 10^(-D sqrt(n) / 2000)) of who has D points more at n points.
    """
    if not 0 < share < 1:
        return None
    return 2000 / math.sqrt(length) * math.log10(share / (1 - share))


@define
class _Sum:
    """What a strategy did in many pairs."""

    plays: Times = field(factory=Times)
    others: Times = field(factory=Times)
    faults: int = 0
    judged: int = 0
    losses: list[float] = field(factory=list)

    def add(self, part: Performance) -> None:
        """Count what it did in one."""
        self.plays.classes.update(part.plays.classes)
        self.others.classes.update(part.others.classes)
        self.faults += part.faults
        self.judged += part.judged
        self.losses.append(part.loss)

    @property
    def performance(self) -> Performance:
        """The sum."""
        return Performance(self.plays, self.others, self.faults, "", self.judged, math.fsum(self.losses))


@define
class Tally:
    """The pairs of a duel, summed up. What comes out does not depend on the order in which they came."""

    plan: Plan
    results: dict[int, float] = field(factory=dict)
    """What A got on average, by the number of the pair."""
    games: int = 0
    unjudged: int = 0
    """Pairs whose luck is not known, because the judge failed."""
    _adjusted: list[float] = field(factory=list)
    _sums: tuple[_Sum, _Sum] = field(factory=lambda: (_Sum(), _Sum()))
    _examples: list[tuple[int, str]] = field(factory=list)

    def add(self, pair: Pair) -> None:
        """Count a pair; one that was counted already is left out."""
        if pair.number in self.results:
            return
        self.results[pair.number] = pair.result
        self.games += pair.games
        self.unjudged += bool(pair.unjudged)
        if pair.adjusted is not None:
            self._adjusted.append(pair.adjusted)
        for total, performance in zip(self._sums, pair.performances, strict=True):
            total.add(performance)
        texts = (*(it.example for it in pair.performances), pair.unjudged)
        self._examples += [(pair.number, text) for text in texts if text]
        self._examples = sorted(self._examples)[:EXAMPLES]

    @property
    def result(self) -> Estimate | None:
        """What A gets a money game, or the share of matches that A wins."""
        results = list(self.results.values())
        return Estimate.of_shares(results) if self.plan.length else Estimate.of(results)

    @property
    def adjusted(self) -> Estimate | None:
        """The same without luck; a share may then lie outside of 0 to 1."""
        return Estimate.of(self._adjusted)

    @property
    def performances(self) -> tuple[Performance, Performance]:
        """What A and B did in all pairs."""
        return self._sums[0].performance, self._sums[1].performance

    def report(self, wanted: int) -> dict[str, Any]:
        """Return everything as JSON can write it; so many pairs were wanted."""
        result, adjusted = self.result, self.adjusted
        of = zip(self.plan.labels, self.performances, strict=True)
        return {
            **self.plan.settings(),
            "unit": "share of matches" if self.plan.length else "points per game",
            "finished": len(self.results) >= wanted,
            "pairs": len(self.results),
            "wanted": wanted,
            "games": self.games,
            "result": self._estimate(result),
            "adjusted": self._estimate(adjusted),
            "gain": _gain(result, adjusted),
            "unjudged": self.unjudged,
            "performances": [_performance(name, it) for name, it in of],
            "examples": [f"pair {number + 1}: {text}" for number, text in self._examples],
        }

    def _estimate(self, estimate: Estimate | None) -> dict[str, float | None] | None:
        if estimate is None:
            return None
        told: dict[str, float | None] = {
            "mean": estimate.mean,
            "error": estimate.error,
            "low": estimate.low,
            "high": estimate.high,
        }
        if self.plan.length:
            told |= {
                f"rating_{name}": rating_difference(told[name] or 0.0, self.plan.length)
                for name in ("mean", "low", "high")
            }
        return told


def _gain(result: Estimate | None, adjusted: Estimate | None) -> float | None:
    """Return how many times as many games would say as much without the luck taken out."""
    if result is None or adjusted is None or result.count != adjusted.count or not (result.error and adjusted.error):
        return None
    return (result.error / adjusted.error) ** 2


def _performance(name: str, performance: Performance) -> dict[str, Any]:
    return {
        "name": name,
        "faults": performance.faults,
        "plays": _times(performance.plays),
        "others": _times(performance.others),
        "pr": performance.pr,
        "judged": performance.judged,
    }


def _times(times: Times) -> dict[str, float | None]:
    """Return how many decisions there were, and the seconds that one took."""
    return {"count": times.count, "median": times.quantile(0.5), "p99": times.quantile(0.99)}
