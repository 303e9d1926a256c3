"""Results of a duel: pairs summed up (means with intervals, times, faults), and the file that they are appended to."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, Final, Self

import cattrs
from attrs import asdict, define, field, fields, frozen

from fibsbot.analysis.results import Z_95, wilson
from fibsbot.arena.duel.games import DuelError, DuelPlan
from fibsbot.fibs_ratings import rating_difference
from fibsbot.files import os_errors_as

CLASS_RATIO: Final = 1.1
"""Ratio of the classes of times, so that quantiles are accurate to 5 %."""
SHORTEST_TIME: Final = 1e-7
"""Seconds; shorter times count as this."""
MAX_EXAMPLES: Final = 5
"""Number of faults that are quoted; all are counted."""


@define
class TimeHistogram:
    """The times of decisions, as a histogram with logarithmic classes."""

    classes: Counter[int] = field(factory=Counter, converter=Counter)
    """Number of decisions by class; class n is CLASS_RATIO ** n seconds."""

    def add(self, seconds: float) -> None:
        """Count a decision."""
        self.classes[round(math.log(max(seconds, SHORTEST_TIME), CLASS_RATIO))] += 1

    @property
    def count(self) -> int:
        """Number of decisions."""
        return self.classes.total()

    def quantile(self, share: float) -> float | None:
        """Return the seconds in which this share of the decisions was made; None if there are none."""
        left = math.ceil(share * self.count)
        for number, times in sorted(self.classes.items()):
            left -= times
            if left <= 0:
                return float(f"{CLASS_RATIO**number:.3g}")
        return None


@frozen
class StrategyStats:
    """Times, faults and errors of one strategy, in a pair or in all of them."""

    plays: TimeHistogram = field(factory=TimeHistogram)
    """Times of choosing plays, without forced ones."""
    others: TimeHistogram = field(factory=TimeHistogram)
    """Times of all other decisions: the cube, resignations."""
    faults: int = 0
    """Decisions that a fallback had to make."""
    example: str = ""
    """The first fault, as text."""
    judged: int = 0
    """Decisions that count for the performance rating."""
    loss: float = 0.0
    """Sum of their normalised losses."""

    @property
    def pr(self) -> float | None:
        """Performance rating: 500 times the mean loss; None without evaluated decisions."""
        return 500 * self.loss / self.judged if self.judged else None


@frozen
class PairResult:
    """Two games or matches with the same dice and swapped seats."""

    number: int
    """Counted from 0."""
    results: tuple[float, float]
    """Result of A in each: points of a money game; 1 or 0 for a match won or lost."""
    luck: tuple[float, float] | None
    """A's luck less B's in each, in the same unit; None if it is not known."""
    games: int
    """Games in both."""
    performances: tuple[StrategyStats, StrategyStats]
    """Of A and of B."""
    unjudged: str = ""
    """The error of the evaluator, if it failed."""

    @property
    def result(self) -> float:
        """Mean result of A."""
        return sum(self.results) / 2

    @property
    def share(self) -> float:
        """Share of the money games that A wins; a draw counts a half."""
        return sum(0.5 + 0.5 * ((result > 0) - (result < 0)) for result in self.results) / 2

    @property
    def adjusted(self) -> float | None:
        """Mean result of A without luck."""
        return None if self.luck is None else self.result - sum(self.luck) / 2


@frozen
class Estimate:
    """A mean and its accuracy."""

    mean: float
    error: float
    """Standard error."""
    low: float
    """Lower end of the 95 % interval."""
    high: float
    count: int
    """Number of values."""

    @classmethod
    def of(cls, values: Sequence[float]) -> Self | None:
        """Estimate a mean, with its interval by the normal distribution; None for fewer than two values.

        The result does not depend on the order of the values, not even in the last digit.
        """
        count = len(values)
        if count < 2:
            return None
        mean = math.fsum(values) / count
        error = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1) / count)
        return cls(mean, error, mean - Z_95 * error, mean + Z_95 * error, count)

    @classmethod
    def of_shares(cls, values: Sequence[float]) -> Self | None:
        """Estimate the mean of values between 0 and 1; the interval lies there, too.

        If all values are 0, or all are 1, their variance says nothing, and the interval is Wilson's.
        """
        estimate = cls.of(values)
        if estimate is None:
            return None
        low, high = max(estimate.low, 0.0), min(estimate.high, 1.0)
        if estimate.error == 0 and estimate.mean in {0.0, 1.0}:
            low, high = wilson(round(estimate.mean * estimate.count), estimate.count)
        return cls(estimate.mean, estimate.error, low, high, estimate.count)


@define
class _StrategyTotals:
    """Sums over the pairs of a strategy."""

    plays: TimeHistogram = field(factory=TimeHistogram)
    others: TimeHistogram = field(factory=TimeHistogram)
    faults: int = 0
    judged: int = 0
    losses: list[float] = field(factory=list)

    def add(self, part: StrategyStats) -> None:
        """Add a pair."""
        self.plays.classes.update(part.plays.classes)
        self.others.classes.update(part.others.classes)
        self.faults += part.faults
        self.judged += part.judged
        self.losses.append(part.loss)

    @property
    def stats(self) -> StrategyStats:
        """The sums."""
        return StrategyStats(self.plays, self.others, self.faults, "", self.judged, math.fsum(self.losses))


@define
class DuelSummary:
    """The pairs of a duel, summed up. The result does not depend on the order in which they are added."""

    plan: DuelPlan
    results: dict[int, float] = field(factory=dict)
    """Mean result of A, by the number of the pair."""
    games: int = 0
    unjudged: int = 0
    """Pairs without luck because the evaluator failed."""
    draws: int = 0
    """Single games that nobody has won."""
    _shares: list[float] = field(factory=list)
    _adjusted: list[float] = field(factory=list)
    _totals: tuple[_StrategyTotals, _StrategyTotals] = field(factory=lambda: (_StrategyTotals(), _StrategyTotals()))
    _examples: list[tuple[int, str]] = field(factory=list)

    def add(self, pair: PairResult) -> None:
        """Add a pair, unless it was added before."""
        if pair.number in self.results:
            return
        self.results[pair.number] = pair.result
        self.games += pair.games
        self.unjudged += bool(pair.unjudged)
        self._shares.append(pair.share)
        self.draws += 0 if self.plan.length else pair.results.count(0)
        if pair.adjusted is not None:
            self._adjusted.append(pair.adjusted)
        for total, performance in zip(self._totals, pair.performances, strict=True):
            total.add(performance)
        texts = (*(stats.example for stats in pair.performances), pair.unjudged)
        self._examples += [(pair.number, text) for text in texts if text]
        self._examples = sorted(self._examples)[:MAX_EXAMPLES]

    @property
    def result(self) -> Estimate | None:
        """Points of A per money game, or share of matches that A wins."""
        results = list(self.results.values())
        return Estimate.of_shares(results) if self.plan.length else Estimate.of(results)

    @property
    def adjusted(self) -> Estimate | None:
        """The result without luck; a share may then lie outside of 0 to 1."""
        return Estimate.of(self._adjusted)

    @property
    def performances(self) -> tuple[StrategyStats, StrategyStats]:
        """Statistics of A and B in all pairs."""
        return self._totals[0].stats, self._totals[1].stats

    def report(self, wanted: int) -> dict[str, Any]:
        """Return everything in JSON types; `wanted` is the number of pairs to play."""
        result, adjusted = self.result, self.adjusted
        of = zip(self.plan.labels, self.performances, strict=True)
        return {
            **self.plan.settings(),
            **self._games_won(),
            "unit": "share of matches" if self.plan.length else "points per game",
            "finished": len(self.results) >= wanted,
            "pairs": len(self.results),
            "wanted": wanted,
            "games": self.games,
            "result": self._estimate(result),
            "adjusted": self._estimate(adjusted),
            "gain": _gain(result, adjusted),
            "unjudged": self.unjudged,
            "performances": [_performance(name, stats) for name, stats in of],
            "examples": [f"pair {number + 1}: {text}" for number, text in self._examples],
        }

    def _games_won(self) -> dict[str, Any]:
        """Return the share of games that A wins, in single games other than backgammon, of which some may be drawn."""
        if not self.plan.game or self.plan.length:
            return {}
        share = Estimate.of_shares(self._shares)
        return {"draws": self.draws, "share": self._estimate(share)}

    def _estimate(self, estimate: Estimate | None) -> dict[str, float | None] | None:
        if estimate is None:
            return None
        values: dict[str, float | None] = {
            "mean": estimate.mean,
            "error": estimate.error,
            "low": estimate.low,
            "high": estimate.high,
        }
        if self.plan.length:
            values |= {
                f"rating_{name}": rating_difference(values[name] or 0.0, self.plan.length)
                for name in ("mean", "low", "high")
            }
        return values


def _gain(result: Estimate | None, adjusted: Estimate | None) -> float | None:
    """Return the factor by which more games would be needed for the same accuracy without luck adjustment."""
    if result is None or adjusted is None or result.count != adjusted.count or not (result.error and adjusted.error):
        return None
    return (result.error / adjusted.error) ** 2


def _performance(name: str, performance: StrategyStats) -> dict[str, Any]:
    return {
        "name": name,
        "faults": performance.faults,
        "plays": _times(performance.plays),
        "others": _times(performance.others),
        "pr": performance.pr,
        "judged": performance.judged,
    }


def _times(times: TimeHistogram) -> dict[str, float | None]:
    """Return the number of decisions and quantiles of their times in seconds."""
    return {"count": times.count, "median": times.quantile(0.5), "p99": times.quantile(0.99)}


FILE_KIND: Final = "fibsbot duel 1"
"""The kind in the first line; the number changes with the format."""
MAX_LINE: Final = 1 << 20
"""Maximum length of a line in bytes; lines that are written are much shorter."""
LARGEST_FIGURE: Final = 1e9
"""No figure of a pair is larger."""
LARGEST_TIME_CLASS: Final = 1000
"""No time is in a class beyond this one, in either direction."""
_converter: Final = cattrs.Converter(forbid_extra_keys=True)


class ResultsFile:
    """A file of results, open for appending and locked by this process."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        """Append to a file that `open` has read."""
        self._path = path
        self._file = file

    @classmethod
    def open(cls, path: Path, plan: DuelPlan, on_pair: Callable[[PairResult], None]) -> Self:
        """Open a file or create it, and pass its pairs to `on_pair`; an incomplete line at its end is cut off.

        Raises DuelError if the file is of another plan, cannot be read or written, or is locked by another process.
        """
        with os_errors_as(DuelError, f"cannot open {path}"):
            file = path.open("a+b")
        with contextlib.ExitStack() as held:
            held.callback(file.close)
            _lock(path, file)
            _read(path, file, plan, on_pair)
            held.pop_all()
        return cls(path, file)

    def add(self, pair: PairResult) -> None:
        """Append a pair and flush the file. Raises DuelError if it cannot be written."""
        row = asdict(pair)
        with os_errors_as(DuelError, f"cannot write {self._path}"):
            self._file.write(_line(row))
            self._file.flush()

    def close(self) -> None:
        """Close and unlock the file."""
        with contextlib.suppress(OSError):  # an error of writing was reported by `add`
            self._file.close()


def _lock(path: Path, file: IO[bytes]) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DuelError(f"another duel writes {path}") from None
    except OSError as error:
        raise DuelError(f"cannot lock {path}: {error.strerror}") from None


def _read(path: Path, file: IO[bytes], plan: DuelPlan, on_pair: Callable[[PairResult], None]) -> None:
    header = _line({"kind": FILE_KIND, **plan.settings()})
    with os_errors_as(DuelError, f"cannot read {path}"):
        file.seek(0)
        first = file.readline(MAX_LINE)
        if not first.endswith(b"\n") and header.startswith(first):  # new, or interrupted in the first line
            file.truncate(0)
            file.write(header)
            file.flush()
            return
        _check_header(path, first, plan)
        for number, line in enumerate(iter(lambda: file.readline(MAX_LINE), b""), 2):
            if not line.endswith(b"\n") and len(line) < MAX_LINE:
                file.truncate(file.tell() - len(line))
                break
            on_pair(_pair(f"{path}:{number}", line))


def _check_header(path: Path, line: bytes, plan: DuelPlan) -> None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.pop("kind", None) != FILE_KIND:
        raise DuelError(f"expected a file of a duel or none, got {path}")
    if unknown := found.keys() - {attribute.name for attribute in fields(DuelPlan)}:
        raise DuelError(f"{path} holds a duel of another version of fibsbot: it has the setting {min(unknown)!r}")
    wanted = plan.settings()
    for name in sorted({*wanted, *found}):
        if wanted.get(name) != found.get(name):
            held, asked = (json.dumps(settings.get(name)) for settings in (found, wanted))
            raise DuelError(f"{path} holds a duel of other settings: its {name} is {held[:80]}, now it is {asked[:80]}")


def _pair(place: str, line: bytes) -> PairResult:
    try:
        row = json.loads(line, parse_constant=_no_number)
        pair = _converter.structure(row, PairResult)
    except (ValueError, TypeError, KeyError, RecursionError, cattrs.BaseValidationError):
        raise DuelError(f"{place}: expected a pair of a duel, got {line[:60].decode(errors='replace')!r}") from None
    if not _possible(pair):
        raise DuelError(f"{place}: expected a pair with possible figures, got {line[:60].decode(errors='replace')!r}")
    return pair


def _possible(pair: PairResult) -> bool:
    """Whether the numbers of a pair are in sensible ranges: the file may have been edited."""
    figures = (*pair.results, *(pair.luck or ()), *(stats.loss for stats in pair.performances))
    counts = [pair.number, pair.games]
    for stats in pair.performances:
        counts += [stats.faults, stats.judged, *stats.plays.classes.values(), *stats.others.classes.values()]
    classes = (
        number for stats in pair.performances for times in (stats.plays, stats.others) for number in times.classes
    )
    return (
        all(abs(figure) < LARGEST_FIGURE for figure in figures)
        and all(0 <= count < LARGEST_FIGURE for count in counts)
        and all(abs(time_class) <= LARGEST_TIME_CLASS for time_class in classes)
    )


def _no_number(text: str) -> Any:
    raise ValueError(text)


def _line(row: dict[str, Any]) -> bytes:
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"
