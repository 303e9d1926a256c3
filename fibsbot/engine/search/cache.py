"""What positions were worth to the evaluator, as long as there is room: the same ones come up over and over."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from fibsbot.engine.arrays import CELLS, OUTCOMES, Board, Boards, Floats32, Int32s
from fibsbot.engine.jit import compiled, inner

CACHE_SIZE: Final = 1 << 13
"""Positions that are kept: half a megabyte. Four times as many save 3 % of the evaluations, and no time."""
EMPTY: Final = 127
"""In the first cell of an empty place: no board has so many checkers."""


class PositionCache(NamedTuple):
    """Positions and their chances, each at the one place that follows from where its checkers are."""

    boards: Boards
    outcomes: Floats32
    used: Int32s
    """The batch in which a place was last asked for: until that has been valued, it is not given away."""


def new_cache(size: int = CACHE_SIZE) -> PositionCache:
    """Return an empty cache; the size is a power of 2."""
    cache = PositionCache(
        np.zeros((size, CELLS), np.int8), np.zeros((size, OUTCOMES), np.float32), np.zeros(size, np.int32)
    )
    empty(cache)
    return cache


def empty(cache: PositionCache) -> None:
    """Forget all positions."""
    cache.boards[:, 0] = EMPTY


@inner
def _place(board: Board, size: int) -> np.int64:
    """Return where a position stands: FNV-1a (Fowler, Noll, Vo) over its cells."""
    number = np.uint64(14695981039346656037)
    for cell in range(CELLS):
        number = (number ^ np.uint64(board[cell] + 16)) * np.uint64(1099511628211)
    number ^= number >> np.uint64(29)
    return np.int64(number & np.uint64(size - 1))


@inner
def _is_same(board: Board, other: Board) -> bool:
    for cell in range(CELLS):  # noqa: SIM110 - compiled: a generator is slow
        if board[cell] != other[cell]:
            return False
    return True


@compiled
def find(cache: PositionCache, boards: Boards, batch: int, places: Int32s, unknown: Int32s) -> int:
    """Write where the chances of each board will be found, and which boards have to be valued; return how many.

    Indices below 0 are no places of the cache: -1 - n stands for the n-th of the boards that have to be valued.
    """
    size = len(cache.used)
    count = 0
    for row in range(len(boards)):
        place = _place(boards[row], size)
        if not _is_same(cache.boards[place], boards[row]):
            unknown[count] = row
            count += 1
            if cache.used[place] == batch:
                places[row] = -count
                continue
            for cell in range(CELLS):  # one by one: to copy a row takes seconds to compile
                cache.boards[place, cell] = boards[row, cell]
        cache.used[place] = batch
        places[row] = place
    return count


def fill(cache: PositionCache, places: Int32s, unknown: Int32s, valued: Floats32) -> Floats32:
    """Keep the chances of what has been valued and return those of all boards, shape (n, 6)."""
    asked = places[unknown]
    cache.outcomes[asked[asked >= 0]] = valued[asked >= 0]
    without = places < 0
    outcomes = cache.outcomes[np.where(without, 0, places)]
    outcomes[without] = valued[-1 - places[without]]
    return outcomes


def forget(cache: PositionCache, places: Int32s, unknown: Int32s) -> None:
    """Give back the places of boards that were not valued after all."""
    asked = places[unknown]
    cache.boards[asked[asked >= 0], 0] = EMPTY


@compiled
def distinct(boards: Boards, table: Int32s, first: Int32s, number: Int32s) -> int:
    """Write the rows of boards that are met for the first time and the number of each board among these.

    Returns how many there are. `table` is -1 all over, its size a power of 2 and above the number of boards.
    """
    size = len(table)
    count = 0
    for row in range(len(boards)):
        place = _place(boards[row], size)
        while table[place] >= 0 and not _is_same(boards[first[table[place]]], boards[row]):
            place = (place + 1) & (size - 1)
        if table[place] < 0:
            table[place] = count
            first[count] = row
            count += 1
        number[row] = table[place]
    return count
