"""Sums and elementary functions for compiled functions, with the same bits on every processor.

The C library's exponential function differs in its last digit between libraries and processors, and so do numpy's and
the sums of BLAS. Those here consist of additions, multiplications and divisions in a given order, which IEEE 754
defines to the last bit. Sums in vectors are made of 8 or 16 partial sums, however wide the processor's vectors are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from fibsbot.engine.arrays import (
    ROLL_COUNT,
    Floats32,
    Floats64,
    Matrix32,
    Matrix64,
    Tensor64,
    Vector32,
    Vector64,
)
from fibsbot.engine.jit import compiled, inner
from fibsbot.engine.signatures import Intrinsic
from fibsbot.match import ROLL_WAYS

RectifiedDots: TypeAlias = Callable[[Floats32, Floats32, int, Floats32], None]

GROUP: Final = 8
"""Numbers in a vector, and so the partial sums where several sums are computed side by side."""
PARTIAL_SUMS: Final = 2 * GROUP
"""Partial sums where one sum is computed alone: two vectors, so that the processor need not wait for the first."""

_LOG2_E: Final = float.fromhex("0x1.71547652b82fep+0")
"""The logarithm of e to the base 2."""
_LN2_HIGH: Final = float.fromhex("0x1.62e42fee00000p-1")
"""The logarithm of 2 to 33 bits: its product with a power of two's exponent is exact."""
_LN2_LOW: Final = float.fromhex("0x1.a39ef35793c76p-33")
"""The rest of the logarithm."""
_FARTHEST: Final = 700.0
"""Exponents beyond this, positive or negative, count as this."""
_OFFSET: Final = 1024
"""Added before numbers are truncated to integers, so that they are positive."""
_ERFC: Final = (
    -0.6513268598908547, 0.6419697923564902, 0.019476473204185836, -0.009561514786808632, -0.0009465953444820369,
    0.00036683949785276145, 4.252332480690777e-05, -2.0278578112534243e-05, -1.6242900046470255e-06,
    1.3036558355805232e-06, 1.5626441722066143e-08, -8.523809591492655e-08, 6.529054439098851e-09,
    5.059343495551469e-09, -9.913641564933031e-10, -2.2736512229318359e-10, 9.646791102015527e-11,
    2.394038083039115e-12, -6.886027526497553e-12, 8.944879273090726e-13, 3.130921399342958e-13,
    -1.1270822361367252e-13, 3.810905255189232e-16, 7.106097613609237e-15, -1.5230282014571043e-15,
    -9.457494571291234e-17, 1.2102371892242790e-16, -2.8166630877471770e-17,
)  # fmt: skip
"""Chebyshev coefficients of log(erfc(z) / t) + z² with t = 2 / (2 + z), as a function of 2t - 1 between -1 and 1."""

two_to_the: Final = cast("Callable[[int], float]", Intrinsic("fibsbot.engine.intrinsics", "two_to_the"))
"""Return the power of two with an exponent from -1022 to 1023; for compiled functions."""
_dot: Final = cast(
    "Callable[[Vector32, Vector32, int], np.float32]", Intrinsic("fibsbot.engine.intrinsics", "dot", PARTIAL_SUMS)
)
"""Return the sum of the products of the first elements of two arrays, a multiple of PARTIAL_SUMS."""


def rectified_dots_of(rows: int) -> RectifiedDots:
    """Return the compiled function that writes the products of an array, negative elements being 0, and of rows.

    Its arguments:
        one: float32.
        rows: float32, this many rows of `count` elements.
        count: A multiple of GROUP.
        sums: Receives the sum of the products of each row, float32.
    """
    return cast("RectifiedDots", Intrinsic("fibsbot.engine.intrinsics", "rectified_dots", rows))


@inner
def exp(x: float) -> float:
    """Return e to the power of `x`, with an error of less than a unit in the last place."""
    x = min(max(x, -_FARTHEST), _FARTHEST)
    power = int(x * _LOG2_E + (_OFFSET + 0.5)) - _OFFSET
    r = (x - power * _LN2_HIGH) - power * _LN2_LOW
    # Taylor's series: |r| is below 0.35, and the first term that is left out below 1e-17.
    total = r / 13 + 1.0
    for term in range(12, 0, -1):
        total = total * r / term + 1.0
    return total * two_to_the(power)


@inner
def exp32(x: np.float32) -> np.float32:
    """Return e to the power of `x` in single precision, rounded correctly but for one number in many thousands."""
    wide = min(max(float(x), -80.0), 80.0)
    power = int(wide * _LOG2_E + (_OFFSET + 0.5)) - _OFFSET
    r = wide - power * (_LN2_HIGH + _LN2_LOW)
    total = 1 + r * (1 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040)))))))
    square = r * r
    eighth = square * square * square * square
    return np.float32((total + eighth * (1 / 40320 + r * (1 / 362880))) * two_to_the(power))


@inner
def logistic32(x: np.float32) -> np.float32:
    """Return the logistic function in single precision."""
    return np.float32(1) / (np.float32(1) + exp32(-x))


@inner
def erfc(z: float) -> float:
    """Return the complementary error function of a number that is not negative, with a relative error below 1e-14."""
    t = 2 / (2 + z)
    u = 2 * t - 1
    last, last_but_one = 0.0, 0.0
    for place in range(len(_ERFC) - 1, 0, -1):
        last, last_but_one = 2 * u * last - last_but_one + _ERFC[place], last
    return t * exp(u * last - last_but_one + _ERFC[0] - z * z)


@inner
def dot(one: Vector32, other: Vector32, count: int) -> np.float32:
    """Return the sum of the products of the first `count` elements of two arrays."""
    whole = count - count % PARTIAL_SUMS
    total = _dot(one, other, whole)
    for place in range(whole, count):
        total += one[place] * other[place]
    return total


# -- for arrays --------------------------------------------------------------------------------------------------------


def softmax(sums: Floats32) -> Floats32:
    """Return chances, shape (n, k), in proportion to the exponentials of the sums; each row adds up to 1."""
    chances = np.array(sums, np.float32)
    _write_softmax(chances)
    return chances


@compiled
def _write_softmax(sums: Matrix32) -> None:
    for row in range(len(sums)):
        most = sums[row, 0]
        for place in range(1, sums.shape[1]):
            most = max(most, sums[row, place])
        total = np.float32(0)
        for place in range(sums.shape[1]):
            sums[row, place] = exp32(sums[row, place] - most)
            total += sums[row, place]
        for place in range(sums.shape[1]):
            sums[row, place] /= total


def mean_over_rolls(values: npt.NDArray[np.floating[Any]]) -> Floats64:
    """Return the means over the 21 rolls, by their chances, of values of shape (n, 21, ...); shape (n, ...)."""
    count, _, *shape = values.shape
    means = np.zeros((count, math.prod(shape)))
    columns = np.ascontiguousarray(values, np.float64).reshape(count, ROLL_COUNT, math.prod(shape))
    _write_means(columns, _WAYS, means)
    return means.reshape(count, *shape)


_WAYS: Final = np.array(ROLL_WAYS, np.float64)


@compiled
def _write_means(values: Tensor64, ways: Vector64, means: Matrix64) -> None:
    """Add up by ways and divide once: the mean of a whole number that is the same after every roll is that number."""
    for row in range(len(values)):
        for roll in range(ROLL_COUNT):
            for column in range(means.shape[1]):
                means[row, column] += ways[roll] * values[row, roll, column]
        for column in range(means.shape[1]):
            means[row, column] /= 36.0


def products(rows: npt.NDArray[np.floating[Any]], factors: npt.NDArray[np.floating[Any]]) -> npt.NDArray[Any]:
    """Return the sum of the products of each row's last axis with a few factors: `rows @ factors`, in their order."""
    total = rows[..., 0] * factors[0]
    for place in range(1, len(factors)):
        total = total + rows[..., place] * factors[place]
    return np.asarray(total)
