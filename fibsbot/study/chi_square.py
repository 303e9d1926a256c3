"""Pearson's chi-square test: how often chance alone gives counts as far from what is expected as these, or farther."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from attrs import frozen

ENOUGH: Final = 5.0
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
        return self.least_expected >= ENOUGH


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
