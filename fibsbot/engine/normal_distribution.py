"""The standard normal distribution and the logarithm with the same bits on every processor.

Python's own functions are the C library's, whose last digits differ between systems. These use decimal arithmetic,
which is exact to the digits asked for; they take some 20 microseconds, and their callers remember the results.
"""

from __future__ import annotations

from decimal import Context, Decimal
from statistics import NormalDist
from typing import Final

_DIGITS: Final = Context(prec=40)
"""More than twice those of a float, so that sums whose terms cancel are exact, too."""
_ROOT_OF_TAU: Final = Decimal("2.506628274631000502415765284811045253007")
"""The square root of 2 pi."""
_FAR: Final = 9.0
"""Beyond this the chance is 0 or 1, to the precision of a float near 1."""


def cdf(x: float) -> float:
    """Return the chance of a number of at most `x`."""
    if abs(x) >= _FAR:
        return float(x > 0)
    return float(_DIGITS.add(Decimal("0.5"), _above_middle(Decimal(x))))


def inverse_cdf(chance: float) -> float:
    """Return the number below which this chance is, between 0 and 1."""
    found = Decimal(NormalDist().inv_cdf(chance))
    # The first digits do not depend on the C library, and two steps of Newton's make all the others of them.
    for _ in range(2):
        missing = _DIGITS.subtract(_DIGITS.subtract(Decimal(chance), Decimal("0.5")), _above_middle(found))
        found = _DIGITS.add(found, _DIGITS.divide(missing, _density(found)))
    return float(found)


def log(x: float) -> float:
    """Return the natural logarithm of a positive number."""
    return float(_DIGITS.ln(Decimal(x)))


def _density(x: Decimal) -> Decimal:
    return _DIGITS.divide(_DIGITS.exp(_DIGITS.divide(_DIGITS.multiply(x, x), Decimal(-2))), _ROOT_OF_TAU)


def _above_middle(x: Decimal) -> Decimal:
    """Return the chance of a number between 0 and `x`, negative if `x` is: the density times x + x^3/3 + x^5/15 ..."""
    total = term = x
    square, odd = _DIGITS.multiply(x, x), 1
    while abs(term) > Decimal("1e-36"):
        odd += 2
        term = _DIGITS.divide(_DIGITS.multiply(term, square), Decimal(odd))
        total = _DIGITS.add(total, term)
    return _DIGITS.multiply(_density(x), total)
