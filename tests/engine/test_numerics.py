"""Elementary functions and sums: as accurate as those of the C library, and the same bits whatever the layout."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine import normal_distribution
from fibsbot.engine.arrays import CHANCE_OF_ROLL, Matrix32, Vector32
from fibsbot.engine.jit import compiled
from fibsbot.engine.numerics import (
    GROUP,
    PARTIAL_SUMS,
    dot,
    erfc,
    exp,
    exp32,
    mean_over_rolls,
    products,
    rectified_dots_of,
    softmax,
)
from tests.examples import examples

ROWS = 5
_dots = rectified_dots_of(ROWS)


@compiled
def exp_of(x: float) -> float:
    """Return `exp`."""
    return exp(x)


@compiled
def exp32_of(x: np.float32) -> float:
    """Return `exp32`."""
    return float(exp32(x))


@compiled
def erfc_of(z: float) -> float:
    """Return `erfc`."""
    return erfc(z)


@compiled
def dot_of(one: Vector32, other: Vector32) -> float:
    """Return `dot` of whole arrays."""
    return float(dot(one, other, len(one)))


@compiled
def write_dots(one: Vector32, rows: Matrix32, sums: Vector32) -> None:
    """Write rectified products."""
    _dots(one, rows, len(one), sums)


@given(st.floats(-700, 700))
@examples(200)
def test_exponentials_are_those_of_the_c_library_but_for_the_last_digit(x: float) -> None:
    assert math.exp(x) == pytest.approx(exp_of(x), rel=4e-16)
    small = np.float32(x / 10)
    assert math.exp(float(small)) == pytest.approx(exp32_of(small), rel=6.1e-8)


def test_exponentials_far_away_are_finite() -> None:
    assert [exp_of(700.0), exp_of(-700.0)] == [exp_of(1e9), exp_of(-1e9)]
    assert (1.0, 1.0) == (exp_of(0.0), exp32_of(np.float32(0)))


@given(st.floats(0, 26))
@examples(200)
def test_the_error_function_is_that_of_the_c_library(z: float) -> None:
    assert math.erfc(z) == pytest.approx(erfc_of(z), rel=3e-13 if z > 6 else 2e-14)


@given(st.integers(0, 70), st.integers(0, 1000))
@examples(50)
def test_products_are_added_in_partial_sums(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.standard_normal((2, count)).astype(np.float32)
    whole = count - count % PARTIAL_SUMS
    partial = np.zeros(PARTIAL_SUMS, np.float32)
    for first in range(0, whole, PARTIAL_SUMS):
        partial += one[first : first + PARTIAL_SUMS] * other[first : first + PARTIAL_SUMS]
    while len(partial) > 1:
        half = len(partial) // 2
        partial = partial[:half] + partial[half:]
    expected = partial[0]
    for place in range(whole, count):
        expected += one[place] * other[place]
    assert float(expected) == dot_of(one, other)


def test_negative_units_count_as_nothing() -> None:
    rng = np.random.default_rng(4)
    one, *rest = rng.standard_normal((1 + ROWS, 3 * GROUP)).astype(np.float32)
    rows = np.array(rest)
    sums = np.zeros(ROWS, np.float32)
    write_dots(one, rows, sums)
    assert pytest.approx(rows @ one.clip(0), rel=1e-5) == sums


def test_chances_add_up_to_one_whatever_the_sums() -> None:
    sums = np.array([[0, 1, 2], [-1000, 1000, 1000], [3, 3, 3]], np.float32)
    found = softmax(sums)
    assert pytest.approx(np.ones(3)) == found.sum(axis=1)
    assert pytest.approx([0, 0.5, 0.5]) == found[1].tolist()
    assert pytest.approx(np.exp(sums[0]) / np.exp(sums[0]).sum()) == found[0]


def test_means_over_rolls_are_weighted_by_their_chances() -> None:
    values = np.random.default_rng(5).random((4, 21, 3))
    assert pytest.approx(np.tensordot(values, CHANCE_OF_ROLL, (1, 0))) == mean_over_rolls(values)
    assert (4,) == mean_over_rolls(values[..., 0]).shape
    assert [1.0, -3.0] == mean_over_rolls(np.array([[1.0] * 21, [-3.0] * 21])).tolist(), "exactly"


def test_products_of_rows_with_factors() -> None:
    rows, factors = np.random.default_rng(6).random((2, 7, 3)), np.array([1.0, -2.0, 0.5])
    assert pytest.approx(rows @ factors) == products(rows, factors)


@given(st.floats(-12, 12), st.floats(1e-9, 1 - 1e-9), st.floats(1e-6, 1e6))
@examples(50)
def test_the_normal_distribution_is_that_of_the_standard_library(x: float, chance: float, number: float) -> None:
    assert NormalDist().cdf(x) == pytest.approx(normal_distribution.cdf(x), rel=1e-9, abs=1e-15)
    assert NormalDist().inv_cdf(chance) == pytest.approx(normal_distribution.inverse_cdf(chance), abs=1e-8)
    assert math.log(number) == pytest.approx(normal_distribution.log(number), rel=1e-15, abs=1e-15)
