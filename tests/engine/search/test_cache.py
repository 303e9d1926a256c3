"""The cache of evaluated positions."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine.arrays import Boards, boards_of
from fibsbot.engine.hash_tables import fill, find, forget, new_cache
from tests.engine.toys import Recounted, some_positions

SOME = boards_of(some_positions(30, 1))
PICKED = st.lists(st.lists(st.integers(0, 29), max_size=40), max_size=6)


@given(batches=PICKED, size=st.sampled_from([1, 2, 8, 256]))
def test_batch_after_batch_gives_what_the_evaluator_gives(batches: list[list[int]], size: int) -> None:
    cache, evaluator = new_cache(size), Recounted()
    for number, batch in enumerate(batches, 1):
        boards: Boards = SOME[batch]
        places, unknown = np.empty(len(batch), np.int32), np.empty(len(batch), np.int32)
        unknown = unknown[: find(cache, boards.view(np.int16), number, places, unknown)]
        outcomes = fill(cache, places, unknown, evaluator.evaluate(boards[unknown]))
        assert (evaluator.evaluate(boards) == outcomes).all()


def test_a_position_is_valued_once() -> None:
    cache = new_cache(1 << 12)
    boards = np.concatenate([SOME, SOME])
    places, unknown = np.empty(60, np.int32), np.empty(60, np.int32)
    count = find(cache, boards.view(np.int16), 1, places, unknown)
    assert len(np.unique(SOME, axis=0)) == count
    fill(cache, places, unknown[:count], Recounted().evaluate(boards[unknown[:count]]))
    assert 0 == find(cache, boards.view(np.int16), 2, places, unknown)


def test_what_was_not_valued_after_all_is_forgotten() -> None:
    cache = new_cache(1 << 12)
    places, unknown = np.empty(30, np.int32), np.empty(30, np.int32)
    count = find(cache, SOME.view(np.int16), 1, places, unknown)
    forget(cache, places, unknown[:count])
    assert count == find(cache, SOME.view(np.int16), 2, places, unknown)
