"""Vectors of 16-bit integers: every form that a processor may need gives the same results, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from fibsbot.engine import simd
from fibsbot.engine.arrays import IntMatrix32, Matrix32, Vector32
from fibsbot.engine.jit import compiled, target
from fibsbot.engine.numerics import GROUP
from fibsbot.engine.simd import SHARED_TILE, TILE, Bytes, Sums, WordMatrix, Words, rectify
from fibsbot.engine.targets import VectorForm

FORMS = [form for form in VectorForm if target().form is VectorForm.AVX2 or form is not VectorForm.AVX2]
"""Those that this processor knows: SSE2 is a part of AVX2."""
VALUES = np.array([32767, -32768, 1, -1, 0, 20], np.int16)
ROWS = np.array([7, 0, 0, 3, 1, 4])


@pytest.mark.parametrize("form", FORMS)
def test_every_form_adds_the_products_exactly(form: VectorForm) -> None:
    accumulate = simd.accumulate_by(form)

    @compiled
    def add(  # noqa: PLR0917 - compiled functions know no others
        begin: Sums, sums: Sums, weights: Words, places: Sums, values: Words, pairs: int
    ) -> None:
        accumulate(begin, sums, TILE, weights, TILE, places, values, pairs)

    rng = np.random.default_rng(1)
    weights = rng.integers(-(1 << 13) + 1, 1 << 13, (9, TILE)).astype(np.int16)
    begin = rng.integers(-1000, 1000, 2 * TILE).astype(np.int32)
    for pairs in range(4):
        sums = np.full(2 * TILE, 5, np.int32)
        add(begin, sums, _kept(weights, form), (ROWS * TILE).astype(np.int32), VALUES, pairs)
        expected = begin[TILE:] + VALUES[: 2 * pairs].astype(int) @ weights[ROWS[: 2 * pairs]].astype(int)
        assert expected.tolist() == sums[TILE:].tolist()
        assert {5} == set(sums[:TILE].tolist()), "nothing else is written"


@pytest.mark.parametrize("form", FORMS)
def test_two_rows_that_share_the_weights_get_each_its_own_sums(form: VectorForm) -> None:
    accumulate = simd.accumulate_two_by(form)

    @compiled
    def add(sums: IntMatrix32, weights: Words, places: Sums, values: WordMatrix, pairs: int) -> None:
        accumulate(sums[0], sums[1], SHARED_TILE, weights, SHARED_TILE, places, values[0], values[1], pairs)

    rng = np.random.default_rng(1)
    weights = rng.integers(-(1 << 13) + 1, 1 << 13, (9, SHARED_TILE)).astype(np.int16)
    values = np.array([VALUES, VALUES[::-1]])
    for pairs in range(4):
        sums = np.full((2, 2 * SHARED_TILE), 5, np.int32)
        add(sums, _kept(weights, form), (ROWS * SHARED_TILE).astype(np.int32), values, pairs)
        expected = values[:, : 2 * pairs].astype(int) @ weights[ROWS[: 2 * pairs]].astype(int)
        assert expected.tolist() == sums[:, SHARED_TILE:].tolist()
        assert {5} == set(sums[:, :SHARED_TILE].reshape(-1).tolist()), "nothing else is written"


def _kept(weights: Words, form: VectorForm) -> Words:
    """Return weights in the order that a form expects, after a tile of others."""
    tile = weights.shape[1]
    return np.concatenate([np.zeros(tile, np.int16), weights[:, simd.layout(form, tile)].reshape(-1)])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_words_that_are_not_zero_in_either_row_are_listed_in_their_order(form: VectorForm, share: float) -> None:
    list_words = simd.list_words_by(form)

    @compiled
    def find(numbers: Matrix32, count: int, table: Bytes, places: Sums, values: WordMatrix) -> int:
        one, other = np.float32(100), np.float32(200)
        return list_words(numbers[0], numbers[1], one, other, count, table, places, values[0], values[1])

    rng = np.random.default_rng(2)
    numbers = (rng.random((2, 40)) * (rng.random((2, 40)) < share)).astype(np.float32)
    words = np.floor(numbers * np.array([[100], [200]], np.float32) + np.float32(0.5)).astype(np.int16)
    for count in (0, GROUP, 40):
        places, values = np.full(40 + GROUP, -1, np.int32), np.zeros((2, 40 + GROUP), np.int16)
        found = find(numbers, count, simd.BIT_PLACES, places, values)
        expected = np.flatnonzero(words[:, :count].any(axis=0))
        assert (SHARED_TILE * expected).tolist() == places[:found].tolist()
        assert words[:, expected].tolist() == values[:, :found].tolist()


@pytest.mark.parametrize("form", FORMS)
def test_changes_from_the_row_before_are_listed_and_the_row_is_remembered(form: VectorForm) -> None:
    list_changes = simd.list_changes_by(form)

    @compiled
    def find(numbers: Vector32, before: Words, table: Bytes, places: Sums, values: Words) -> int:
        return list_changes(numbers, before, np.float32(2048), len(numbers), table, places, values)

    before = np.zeros(2 * GROUP, np.int16)
    places, values = np.empty(3 * GROUP, np.int32), np.empty(3 * GROUP, np.int16)
    for changed in ({0: 1.0, 9: 0.25}, {0: 1.0, 9: 0.25}, {9: 0.5, 15: 3.0}):
        numbers = np.zeros(2 * GROUP, np.float32)
        numbers[list(changed)] = list(changed.values())
        differences = np.rint(2048 * numbers).astype(int) - before
        count = find(numbers, before, simd.BIT_PLACES, places, values)
        assert (TILE * np.flatnonzero(differences)).tolist() == places[:count].tolist()
        assert differences[differences != 0].tolist() == values[:count].tolist()
        assert np.rint(2048 * numbers).tolist() == before.tolist()


@compiled
def rectified(sums: Sums, scales: Vector32, biases: Vector32, outputs: Vector32, by_total: float) -> float:
    """Return the larger one of a part of the sum of the activations and a tenth of the largest."""
    step = np.float32(0.5)
    return float(rectify(sums, scales, biases, step, len(sums), outputs, np.float32(by_total), np.float32(0.1)))


def test_sums_become_activations() -> None:
    rng = np.random.default_rng(3)
    sums, outputs = rng.integers(-1000, 1000, 2 * TILE).astype(np.int32), np.empty(2 * TILE, np.float32)
    scales, biases = rng.random((2, 2 * TILE)).astype(np.float32)
    expected = (sums * scales * np.float32(0.5) + biases).clip(0)
    assert pytest.approx(0.1 * expected.max()) == rectified(sums, scales, biases, outputs, 0.0)
    assert pytest.approx(expected) == outputs
    assert pytest.approx(expected.sum()) == rectified(sums, scales, biases, outputs, 1.0)
