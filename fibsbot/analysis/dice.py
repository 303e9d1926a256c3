"""Dice statistics: counts of rolls and faces, doublets, entering from the bar, runs, and chi-square tests.

The opening roll is left out: it has no doublets, and each player rolls only one of its dice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Self

from attrs import define, field, frozen

from fibsbot.analysis.luck import is_opening
from fibsbot.match import ROLLS, Dice
from fibsbot.position import BAR, Position
from fibsbot.rules.general_plays import rolls
from fibsbot.transcript import Gap, Step, Throw, Transcript, walk

LEAST_RELIABLE: Final = 5.0
"""If an expected count is smaller, the test is only a rough guide (Cochran's rule of thumb)."""


@frozen
class ChiSquare:
    """Result of a chi-square test."""

    statistic: float
    freedom: int
    """Degrees of freedom."""
    p_value: float
    """Probability that fair dice give counts at least as uneven."""
    least_expected: float
    """The smallest expected count."""

    @property
    def reliable(self) -> bool:
        """Whether there are enough counts for the p-value to be trusted."""
        return self.least_expected >= LEAST_RELIABLE


def chi_square(counts: Sequence[int], weights: Sequence[float]) -> ChiSquare | None:
    """Compare counts with the given proportions; return None if all counts are 0."""
    total, whole = sum(counts), sum(weights)
    if not total:
        return None
    expected = [total * weight / whole for weight in weights]
    statistic = sum((count - mean) ** 2 / mean for count, mean in zip(counts, expected, strict=True))
    freedom = len(counts) - 1
    return ChiSquare(statistic, freedom, survival(statistic, freedom), min(expected))


def survival(statistic: float, freedom: int) -> float:
    """Return the probability that a chi-square variable is at least `statistic`; `freedom`: degrees of freedom.

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


DOUBLET_CHANCE: Final = 1 / 6
"""Probability of a doublet."""


@frozen
class DiceStatistics:
    """The rolls of a player."""

    counts: tuple[int, ...] = (0,) * len(ROLLS)
    """Count of each of the 21 rolls, in the order of ROLLS; with three dice of each of the 56 rolls."""
    openings: int = 0
    """Opening rolls that the player won and played; not part of any other figure."""
    from_bar: int = 0
    """Rolls with a checker on the bar."""
    entered: int = 0
    """Those of them that entered at least one checker."""
    expected_entered: float = 0.0
    """Expected number of them."""
    doublets_in_a_row: int = 0
    """The longest run of doublets."""

    @property
    def dice(self) -> int:
        """Dice of a roll."""
        return 2 if len(self.counts) == len(ROLLS) else 3

    @property
    def rolls(self) -> int:
        """Number of rolls."""
        return sum(self.counts)

    @property
    def faces(self) -> tuple[int, ...]:
        """Count of each number from 1 to 6; a doublet shows its number twice."""
        shown = [0] * 6
        for (dice, _), count in zip(rolls(self.dice), self.counts, strict=True):
            for number in dice:
                shown[number - 1] += count
        return tuple(shown)

    @property
    def doublets(self) -> int:
        """Number of doublets."""
        return sum(count for dice, count in zip(ROLLS, self.counts, strict=True) if dice[0] == dice[1])

    @property
    def pips(self) -> float | None:
        """Mean pips of a roll, doublets played four times: 8 1/6 with fair dice. None without a roll."""
        if not self.rolls:
            return None
        worth = [sum(dice) * (2 if dice[0] == dice[1] else 1) for dice in ROLLS]
        return sum(pips * count for pips, count in zip(worth, self.counts, strict=True)) / self.rolls

    @property
    def rolls_test(self) -> ChiSquare | None:
        """Test whether the 21 rolls are as frequent as with fair dice."""
        return chi_square(self.counts, [ways for _, ways in rolls(self.dice)])

    @property
    def faces_test(self) -> ChiSquare | None:
        """Test whether the six numbers are equally frequent."""
        return chi_square(self.faces, [1] * 6)

    @property
    def run_chance(self) -> float:
        """Probability that fair dice give a run of doublets at least as long in as many rolls."""
        return chance_of_run(self.doublets_in_a_row, self.rolls)

    def __add__(self, other: Self) -> DiceStatistics:
        return DiceStatistics(
            counts=tuple(map(sum, zip(self.counts, other.counts, strict=True))),
            openings=self.openings + other.openings,
            from_bar=self.from_bar + other.from_bar,
            entered=self.entered + other.entered,
            expected_entered=self.expected_entered + other.expected_entered,
            doublets_in_a_row=max(self.doublets_in_a_row, other.doublets_in_a_row),
        )


def dice_statistics(transcript: Transcript) -> tuple[DiceStatistics, DiceStatistics]:
    """Return the dice statistics of both players; raise TranscriptError for an illegal transcript."""
    a, b = _RollCounter(transcript.rules.dice), _RollCounter(transcript.rules.dice)
    for game in transcript.games:
        for step in walk(game):
            if isinstance(step.entry, Gap):
                a.interrupt()
                b.interrupt()
            elif isinstance(step.entry, Throw):
                (a, b)[step.entry.seat].add(step, step.entry)
    return a.statistics(), b.statistics()


def chance_of_run(length: int, trials: int, chance: float = DOUBLET_CHANCE) -> float:
    """Return the probability of a run of at least `length` successes in `trials`, each with this chance."""
    if length < 1:
        return 1.0
    # By number of trials: the probability of no such run so far. A run begins after a failure.
    clear = [1.0] * length
    for trial in range(length, trials + 1):
        first = chance**length
        begun = first if trial == length else first * (1 - chance) * clear[trial - length - 1]
        clear.append(clear[-1] - begun)
    return 1 - clear[trials] if trials >= length else 0.0


@define
class _RollCounter:
    """Counts the rolls of one player, in order."""

    dice: int
    """Dice of a roll."""
    counts: list[int] = field(init=False)
    openings: int = 0
    from_bar: int = 0
    entered: int = 0
    expected_entered: float = 0.0
    doublets: list[int] = field(factory=lambda: [0])
    """The longest run so far, and the current one."""

    @counts.default
    def _no_counts(self) -> list[int]:
        return [0] * len(rolls(self.dice))

    def add(self, step: Step, roll: Throw) -> None:
        """Count a roll."""
        before = step.before
        if is_opening(before):
            self.openings += 1
            return
        shown = tuple(sorted(roll.dice, reverse=True))
        self.counts[[dice for dice, _ in rolls(self.dice)].index(shown)] += 1
        if isinstance(before.board, Position):
            self._enter(before.position_for(roll.seat), roll.dice)
        doublet = len(set(roll.dice)) == 1
        self.doublets = [max(self.doublets), self.doublets[-1] + 1 if doublet else 0]

    def interrupt(self) -> None:
        """End all runs: rolls are missing here."""
        self.doublets = [max(self.doublets), 0]

    def statistics(self) -> DiceStatistics:
        """Return the statistics."""
        return DiceStatistics(
            counts=tuple(self.counts),
            openings=self.openings,
            from_bar=self.from_bar,
            entered=self.entered,
            expected_entered=self.expected_entered,
            doublets_in_a_row=max(self.doublets),
        )

    def _enter(self, position: Position, dice: Dice) -> None:
        if not position.bar:
            return
        closed = [position.points[BAR - number] <= -2 for number in range(1, 7)]
        self.from_bar += 1
        self.entered += not all(closed[number - 1] for number in dice)
        self.expected_entered += 1 - (sum(closed) / 6) ** 2
