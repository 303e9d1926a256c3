"""Dice statistics: counts of rolls and faces, doublets, entering from the bar, runs, and their chi-square tests.

The opening roll is left out: it has no doublets, and whoever rolled higher plays it, so its dice are nobody's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Self

from attrs import define, field, frozen

from fibsbot.analysis.luck import ROLLS, is_opening
from fibsbot.match import Dice
from fibsbot.position import BAR, Position
from fibsbot.transcript import Gap, Step, Throw, Transcript, walk

LEAST_RELIABLE: Final = 5.0
"""Where the least expected count is below this, the test is only a rough guide (Cochran's rule of thumb)."""


@frozen
class ChiSquare:
    """The result of a test."""

    statistic: float
    freedom: int
    """Degrees of freedom."""
    p_value: float
    """The chance that fair dice give counts at least as uneven as these."""
    least_expected: float
    """The smallest expected count."""

    @property
    def reliable(self) -> bool:
        """Whether there are enough counts for the p-value to be trusted."""
        return self.least_expected >= LEAST_RELIABLE


def chi_square(counts: Sequence[int], weights: Sequence[float]) -> ChiSquare | None:
    """Compare counts with what is expected of them in these proportions; None where nothing was counted."""
    total, whole = sum(counts), sum(weights)
    if not total:
        return None
    expected = [total * weight / whole for weight in weights]
    statistic = sum((count - mean) ** 2 / mean for count, mean in zip(counts, expected, strict=True))
    freedom = len(counts) - 1
    return ChiSquare(statistic, freedom, survival(statistic, freedom), min(expected))


def survival(statistic: float, freedom: int) -> float:
    """Return the chance that a chi-square variable with so many degrees of freedom is at least this large.

    For a whole number of degrees there is a finite sum: a Poisson tail where it is even, and where it is odd the tail
    of the normal distribution with the half-integer terms. Terms are all positive, so nothing cancels.
    """
    if freedom < 1:
        raise ValueError(f"expected at least one degree of freedom, got {freedom}")
    half = statistic / 2
    if half <= 0:
        return 1.0
    odd = freedom % 2
    total = math.erfc(math.sqrt(half)) if odd else math.exp(-half)
    # Each term is half^k e^-half / k!, for k = 1, 2... or 1/2, 3/2...; its logarithm neither over- nor underflows.
    orders = (k + odd / 2 for k in range(1 - odd, (freedom - odd) // 2))
    total += sum(math.exp(k * math.log(half) - half - math.lgamma(k + 1)) for k in orders)
    return min(total, 1.0)


__all__ = ["ChiSquare", "DiceStatistics", "chance_of_run", "chi_square", "dice_statistics", "survival"]

DOUBLET_CHANCE: Final = 1 / 6
"""How likely a throw is a doublet."""
_PLACE_OF_ROLL: Final = {dice: place for place, (dice, _) in enumerate(ROLLS)}


@frozen
class DiceStatistics:
    """The throws of a player."""

    counts: tuple[int, ...] = (0,) * len(ROLLS)
    """How often each of the 21 throws came, in the order of THROWS."""
    openings: int = 0
    """Opening throws that the player won and played; they are in no other figure."""
    barred: int = 0
    """Throws with a checker on the bar."""
    entered: int = 0
    """Those of them that entered a checker at least."""
    entering: float = 0.0
    """How many of them would on average."""
    doublets_in_a_row: int = 0
    """The longest run of doublets."""
    same_in_a_row: int = 0
    """The longest run of one and the same throw."""

    @property
    def throws(self) -> int:
        """All of them."""
        return sum(self.counts)

    @property
    def faces(self) -> tuple[int, ...]:
        """How often each number from 1 to 6 came; a doublet shows its number twice."""
        shown = [0] * 6
        for (dice, _), count in zip(ROLLS, self.counts, strict=True):
            for number in dice:
                shown[number - 1] += count
        return tuple(shown)

    @property
    def doublets(self) -> int:
        """How many throws were doublets."""
        return sum(count for (dice, _), count in zip(ROLLS, self.counts, strict=True) if dice[0] == dice[1])

    @property
    def pips(self) -> float | None:
        """What a throw brought on average, doublets counted four times; fair dice bring 8 1/6. None without a throw."""
        if not self.throws:
            return None
        worth = [sum(dice) * (2 if dice[0] == dice[1] else 1) for dice, _ in ROLLS]
        return sum(pips * count for pips, count in zip(worth, self.counts, strict=True)) / self.throws

    @property
    def throws_test(self) -> ChiSquare | None:
        """Whether the 21 throws are as frequent as fair dice make them."""
        return chi_square(self.counts, [ways for _, ways in ROLLS])

    @property
    def faces_test(self) -> ChiSquare | None:
        """Whether the six numbers are equally frequent."""
        return chi_square(self.faces, [1] * 6)

    @property
    def doublets_test(self) -> ChiSquare | None:
        """Whether a sixth of the throws are doublets."""
        return chi_square((self.doublets, self.throws - self.doublets), (DOUBLET_CHANCE, 1 - DOUBLET_CHANCE))

    @property
    def run_chance(self) -> float:
        """The chance that the longest run of doublets in so many throws is at least as long as this one."""
        return chance_of_run(self.doublets_in_a_row, self.throws)

    def count(self, dice: Dice) -> int:
        """Return how often a throw came, its dice in any order."""
        return self.counts[_PLACE_OF_ROLL[max(dice), min(dice)]]

    def __add__(self, other: Self) -> DiceStatistics:
        return DiceStatistics(
            counts=tuple(map(sum, zip(self.counts, other.counts, strict=True))),
            openings=self.openings + other.openings,
            barred=self.barred + other.barred,
            entered=self.entered + other.entered,
            entering=self.entering + other.entering,
            doublets_in_a_row=max(self.doublets_in_a_row, other.doublets_in_a_row),
            same_in_a_row=max(self.same_in_a_row, other.same_in_a_row),
        )


def dice_statistics(transcript: Transcript) -> tuple[DiceStatistics, DiceStatistics]:
    """Return the throws of both players; raise TranscriptError where something illegal stands in the transcript."""
    a, b = _RollCounter(), _RollCounter()
    for game in transcript.games:
        for step in walk(game):
            if isinstance(step.entry, Gap):
                a.interrupt()
                b.interrupt()
            elif isinstance(step.entry, Throw):
                (a, b)[step.entry.seat].add(step, step.entry)
    return a.statistics(), b.statistics()


def chance_of_run(length: int, trials: int, chance: float = DOUBLET_CHANCE) -> float:
    """Return how likely there is a run of at least this length in so many trials that succeed with this chance."""
    if length < 1:
        return 1.0
    # By trials: how likely no such run has ended yet, and the next one begins after a failure.
    clear = [1.0] * length
    for trial in range(length, trials + 1):
        first = chance**length
        begun = first if trial == length else first * (1 - chance) * clear[trial - length - 1]
        clear.append(clear[-1] - begun)
    return 1 - clear[trials] if trials >= length else 0.0


@define
class _RollCounter:
    """Counts one player's throws, in their order."""

    counts: list[int] = field(factory=lambda: [0] * len(ROLLS))
    openings: int = 0
    barred: int = 0
    entered: int = 0
    entering: float = 0.0
    doublets: list[int] = field(factory=lambda: [0])
    """Lengths of the runs so far, the one that goes on last."""
    same: list[int] = field(factory=lambda: [0])
    last: int | None = None

    def add(self, step: Step, throw: Throw) -> None:
        """Count a throw."""
        before = step.before
        if is_opening(before):
            self.openings += 1
            return
        place = _PLACE_OF_ROLL[max(throw.dice), min(throw.dice)]
        self.counts[place] += 1
        self._enter(before.position_for(throw.seat), throw.dice)
        doublet = throw.dice[0] == throw.dice[1]
        self.doublets = [max(self.doublets), self.doublets[-1] + 1 if doublet else 0]
        self.same = [max(self.same), self.same[-1] + 1 if place == self.last else 1]
        self.last = place

    def interrupt(self) -> None:
        """No run goes on across what was not seen."""
        self.doublets = [max(self.doublets), 0]
        self.same = [max(self.same), 0]
        self.last = None

    def statistics(self) -> DiceStatistics:
        """Return what was counted."""
        return DiceStatistics(
            counts=tuple(self.counts),
            openings=self.openings,
            barred=self.barred,
            entered=self.entered,
            entering=self.entering,
            doublets_in_a_row=max(self.doublets),
            same_in_a_row=max(self.same),
        )

    def _enter(self, position: Position, dice: Dice) -> None:
        if not position.bar:
            return
        closed = [position.points[BAR - number] <= -2 for number in range(1, 7)]
        self.barred += 1
        self.entered += not all(closed[number - 1] for number in dice)
        self.entering += 1 - (sum(closed) / 6) ** 2
