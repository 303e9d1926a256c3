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
from attrs import asdict, define, field, frozen

from fibsbot.analysis.results import Z_95, wilson
from fibsbot.arena.duel.plan import DuelError, DuelPlan

CLASS_RATIO: Final = 1.1
"""Times are counted in classes, each so many times as long as the one before: they are known to 5 %."""
SHORTEST_TIME: Final = 1e-7
"""Seconds; what is shorter counts as this."""
MAX_EXAMPLES: Final = 5
"""So many faults are quoted; all are counted."""


@define
class TimeHistogram:
    """How long decisions took, as a histogram of few numbers."""

    classes: Counter[int] = field(factory=Counter, converter=Counter)
    """How many took STEP to this power seconds."""

    def add(self, seconds: float) -> None:
        """Count a decision."""
        self.classes[round(math.log(max(seconds, SHORTEST_TIME), CLASS_RATIO))] += 1

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
                return float(f"{CLASS_RATIO**number:.3g}")
        return None


@frozen
class StrategyStats:
    """What one strategy did in a pair, or in all of them."""

    plays: TimeHistogram = field(factory=TimeHistogram)
    """How long it took to choose plays; what was forced was not asked."""
    others: TimeHistogram = field(factory=TimeHistogram)
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
class PairResult:
    """Two games or matches with the same dice and swapped seats."""

    number: int
    """From 0."""
    results: tuple[float, float]
    """What A got in each: points of a money game, of a match 1 for won and 0 for lost."""
    luck: tuple[float, float] | None
    """How much of it was A's luck less B's, in the same unit; None where it is not known."""
    games: int
    """Games in both."""
    performances: tuple[StrategyStats, StrategyStats]
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
        return cls(mean, error, mean - Z_95 * error, mean + Z_95 * error, count)

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
class _StrategyTotals:
    """What a strategy did in many pairs."""

    plays: TimeHistogram = field(factory=TimeHistogram)
    others: TimeHistogram = field(factory=TimeHistogram)
    faults: int = 0
    judged: int = 0
    losses: list[float] = field(factory=list)

    def add(self, part: StrategyStats) -> None:
        """Count what it did in one."""
        self.plays.classes.update(part.plays.classes)
        self.others.classes.update(part.others.classes)
        self.faults += part.faults
        self.judged += part.judged
        self.losses.append(part.loss)

    @property
    def performance(self) -> StrategyStats:
        """The sum."""
        return StrategyStats(self.plays, self.others, self.faults, "", self.judged, math.fsum(self.losses))


@define
class DuelSummary:
    """The pairs of a duel, summed up. What comes out does not depend on the order in which they came."""

    plan: DuelPlan
    results: dict[int, float] = field(factory=dict)
    """What A got on average, by the number of the pair."""
    games: int = 0
    unjudged: int = 0
    """Pairs whose luck is not known, because the judge failed."""
    _adjusted: list[float] = field(factory=list)
    _sums: tuple[_StrategyTotals, _StrategyTotals] = field(factory=lambda: (_StrategyTotals(), _StrategyTotals()))
    _examples: list[tuple[int, str]] = field(factory=list)

    def add(self, pair: PairResult) -> None:
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
        self._examples = sorted(self._examples)[:MAX_EXAMPLES]

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
    def performances(self) -> tuple[StrategyStats, StrategyStats]:
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
    """Return how many decisions there were, and the seconds that one took."""
    return {"count": times.count, "median": times.quantile(0.5), "p99": times.quantile(0.99)}


FILE_KIND: Final = "fibsbot duel 1"
"""What the first line calls itself; another number when the lines change their meaning."""
LONGEST_LINE: Final = 1 << 20
"""Bytes of a line; nothing that we write is nearly as long."""
LARGEST_FIGURE: Final = 1e9
"""No figure of a pair is larger."""
LARGEST_TIME_CLASS: Final = 1000
"""No time is in a class beyond this one, in either direction."""
_converter: Final = cattrs.Converter(forbid_extra_keys=True)


class ResultsFile:
    """A file of results, open for more. One process at a time holds it."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        """Go on with a file that `open` has read."""
        self._path = path
        self._file = file

    @classmethod
    def open(cls, path: Path, plan: DuelPlan, take: Callable[[PairResult], None]) -> Self:
        """Open a file or begin it, and hand on the pairs that it holds; half a line at its end is cut off.

        Raises DuelError where it is no file of this plan, cannot be read or written, or is held by another process.
        """
        try:
            file = path.open("a+b")
        except OSError as error:
            raise DuelError(f"cannot open {path}: {error.strerror}") from None
        with contextlib.ExitStack() as held:
            held.callback(file.close)
            _lock(path, file)
            _read(path, file, plan, take)
            held.pop_all()
        return cls(path, file)

    def add(self, pair: PairResult) -> None:
        """Append a pair; it is in the file when this returns. Raises DuelError where it cannot be written."""
        row = asdict(pair)
        try:
            self._file.write(_line(row))
            self._file.flush()
        except OSError as error:
            raise DuelError(f"cannot write {self._path}: {error.strerror}") from None

    def close(self) -> None:
        """Let go of the file."""
        with contextlib.suppress(OSError):  # what could not be written has been told
            self._file.close()


def _lock(path: Path, file: IO[bytes]) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DuelError(f"another duel writes {path}") from None
    except OSError as error:
        raise DuelError(f"cannot lock {path}: {error.strerror}") from None


def _read(path: Path, file: IO[bytes], plan: DuelPlan, take: Callable[[PairResult], None]) -> None:
    header = _line({"kind": FILE_KIND, **plan.settings()})
    try:
        file.seek(0)
        first = file.readline(LONGEST_LINE)
        if not first.endswith(b"\n") and header.startswith(first):  # new, or killed at its very first line
            file.truncate(0)
            file.write(header)
            file.flush()
            return
        _check_header(path, first, plan)
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 2):
            if not line.endswith(b"\n") and len(line) < LONGEST_LINE:
                file.truncate(file.tell() - len(line))
                break
            take(_pair(f"{path}:{number}", line))
    except OSError as error:
        raise DuelError(f"cannot read {path}: {error.strerror}") from None


def _check_header(path: Path, line: bytes, plan: DuelPlan) -> None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.pop("kind", None) != FILE_KIND:
        raise DuelError(f"expected a file of a duel or none, got {path}")
    wanted = plan.settings()
    for name in sorted({*wanted, *found}):
        if wanted.get(name) != found.get(name):
            held, asked = (json.dumps(it.get(name)) for it in (found, wanted))
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
    """Whether a pair's figures can be reckoned with; nobody else writes them, but anybody might."""
    figures = (*pair.results, *(pair.luck or ()), *(it.loss for it in pair.performances))
    counts = [pair.number, pair.games]
    for it in pair.performances:
        counts += [it.faults, it.judged, *it.plays.classes.values(), *it.others.classes.values()]
    classes = (number for it in pair.performances for times in (it.plays, it.others) for number in times.classes)
    return (
        all(abs(it) < LARGEST_FIGURE for it in figures)
        and all(0 <= it < LARGEST_FIGURE for it in counts)
        and all(abs(it) <= LARGEST_TIME_CLASS for it in classes)
    )


def _no_number(text: str) -> Any:
    raise ValueError(text)


def _line(row: dict[str, Any]) -> bytes:
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"
