"""Vectors of 16-bit integers: every form that a processor may need gives the same sums, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from fibsbot.engine.jit import compiled
from fibsbot.engine.simd import (
    BIT_PLACES,
    GROUP,
    TILE,
    Bytes,
    Sums,
    VectorForm,
    Words,
    accumulate_by,
    find_nonzero,
    host_form,
    layout,
)

FORMS = [form for form in VectorForm if host_form() is VectorForm.AVX2 or form is not VectorForm.AVX2]
"""Those that this processor knows: SSE2 is a part of AVX2."""


@pytest.mark.parametrize("form", FORMS)
def test_every_form_adds_the_products_exactly(form: VectorForm) -> None:
    accumulate = accumulate_by(form)

    @compiled
    def add(  # noqa: PLR0917 - compiled functions know no others
        begin: Sums, sums: Sums, weights: Words, places: Sums, values: Words, pairs: int
    ) -> None:
        accumulate(begin, sums, TILE, weights, TILE, places, values, pairs)

    rng = np.random.default_rng(1)
    weights = rng.integers(-(1 << 13) + 1, 1 << 13, (9, TILE)).astype(np.int16)
    values = np.array([32767, -32768, 1, -1, 0, 20], np.int16)
    rows = np.array([7, 0, 0, 3, 1, 4])
    begin = rng.integers(-1000, 1000, 2 * TILE).astype(np.int32)
    for pairs in range(4):
        sums = np.full(2 * TILE, 5, np.int32)
        kept = np.concatenate([np.zeros(TILE, np.int16), weights[:, layout(form)].reshape(-1)])
        add(begin, sums, kept, (rows * TILE).astype(np.int32), values, pairs)
        expected = begin[TILE:] + values[: 2 * pairs].astype(int) @ weights[rows[: 2 * pairs]].astype(int)
        assert expected.tolist() == sums[TILE:].tolist()
        assert {5} == set(sums[:TILE].tolist()), "nothing else is written"


@compiled
def find(words: Words, count: int, table: Bytes, places: Sums) -> int:
    """Return how many words are not zero."""
    return find_nonzero(words, count, table, places)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_words_that_are_not_zero_are_found_in_their_order(share: float) -> None:
    rng = np.random.default_rng(2)
    words = (rng.integers(-3, 3, 40) * (rng.random(40) < share)).astype(np.int16)
    words[0] = -32768 if share else 0
    for count in (0, GROUP, 40):
        places = np.full(40 + GROUP, -1, np.int32)
        found = find(words, count, BIT_PLACES, places)
        assert (TILE * np.flatnonzero(words[:count])).tolist() == places[:found].tolist()
        assert {-1} >= set(places[count + GROUP :].tolist())
