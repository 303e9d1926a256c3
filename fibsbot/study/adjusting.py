"""Results with the luck of the dice taken out.

A throw's luck is what it was worth above the average throw, so that luck is 0 on average, whoever judges. A result less
the luck in it is therefore, on average, as good as the result; but it varies less, the less the better the judge is.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

from attrs import frozen

from fibsbot.rules.state import Seat
from fibsbot.study.model import Figures, MatchStudy, summed
from fibsbot.study.results import NORMAL, wilson


def luck_adjusted(study: MatchStudy, seat: Seat) -> float | None:
    """Return what a match brought a player, 1 for won and 0 for lost, less the luck of both players.

    It may lie outside of 0 to 1. None for a match that is not over, is unlimited, or was not seen from its first throw
    to its last: the luck that is missing would be missing on one side more than on the other.
    """
    if study.transcript.winner is None or not _seen(study):
        return None
    own, theirs = study.figures_of(seat), study.figures_of(seat.other)
    return float(study.transcript.winner is seat) - own.luck_in_chances + theirs.luck_in_chances


def _seen(study: MatchStudy) -> bool:
    scores = (0, 0)
    for game in study.transcript.games:
        if not game.whole or game.result is None or game.start.scores != scores:
            return False
        a, b = scores
        points = game.result.points
        scores = (a + points, b) if game.result.winner is Seat.A else (a, b + points)
    return True


@frozen
class Adjusted:
    """Matches with the luck taken out."""

    actual: tuple[float, ...]
    """1 for each match that was won, 0 for each that was lost."""
    adjusted: tuple[float, ...]
    """The same less the luck of both."""
    left_out: int
    """Matches that could not be adjusted."""
    own: Figures
    """Ours, summed up over all that could be studied, whole or not."""
    opponents: Figures

    @classmethod
    def of(cls, studies: Iterable[MatchStudy | Exception], seat: Seat = Seat.A) -> Adjusted:
        """Sum up studies, and what was raised instead of one."""
        actual, adjusted, left_out = [], [], 0
        figures: list[tuple[Figures, Figures]] = []
        for study in studies:
            value = luck_adjusted(study, seat) if isinstance(study, MatchStudy) else None
            if isinstance(study, MatchStudy):
                figures.append(study.figures)
            if value is None or not isinstance(study, MatchStudy):
                left_out += 1
                continue
            actual.append(float(study.transcript.winner is seat))
            adjusted.append(value)
        sums = summed(figures)
        return cls(tuple(actual), tuple(adjusted), left_out, sums[seat], sums[seat.other])

    @property
    def luck(self) -> float:
        """How many matches luck has won us; negative where it has lost them."""
        return sum(self.actual) - sum(self.adjusted)

    @property
    def won(self) -> tuple[float, float, float] | None:
        """The share that was won, with its 95 % interval by Wilson; None without a match."""
        count = len(self.actual)
        return (statistics.fmean(self.actual), *wilson(round(sum(self.actual)), count)) if count else None

    @property
    def without_luck(self) -> tuple[float, float, float] | None:
        """The same without luck, with its interval by the normal distribution; None for fewer than two matches."""
        return mean_interval(self.adjusted)


def mean_interval(values: Sequence[float]) -> tuple[float, float, float] | None:
    """Return the mean of values and its 95 % interval by the normal distribution; None for fewer than two."""
    if len(values) < 2:
        return None
    mean = statistics.fmean(values)
    half = NORMAL * statistics.stdev(values) / math.sqrt(len(values))
    return mean, mean - half, mean + half
