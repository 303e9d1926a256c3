"""Equal rows are found by their hashes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine.arrays import boards_of
from fibsbot.engine.hash_tables import distinct
from tests.engine.toys import some_positions

SOME = boards_of(some_positions(30, 1))


@given(picked=st.lists(st.integers(0, 29), max_size=60), cells=st.sampled_from([2, 18, 26]))
def test_each_row_is_met_once(picked: list[int], cells: int) -> None:
    rows = np.ascontiguousarray(SOME[picked][:, :cells])
    first, number = distinct(rows)
    kept = rows[first]
    assert len(np.unique(kept, axis=0)) == len(first)
    assert (rows == kept[number]).all()
