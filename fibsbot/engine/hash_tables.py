"""Hash tables of boards, or of sides of races: equal rows among many, and a cache of evaluations.

Rows are read as words of two integers, which takes half as many steps; a row has an even number of them. The cache is
that of a search, which meets the same positions over and over.
"""

from __future__ import annotations

from typing import Annotated, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fibsbot.engine.arrays import CELLS, OUTCOMES, ArrayType, Floats32, Int32s, IntVector32, Matrix32
from fibsbot.engine.jit import compiled, inner

Rows: TypeAlias = npt.NDArray[np.int8]
"""Shape (n, an even number)."""
Words: TypeAlias = Annotated[npt.NDArray[np.int16], ArrayType("int16", 2)]
"""Rows as words, shape (n, half that number)."""


@inner
def place_of(words: Words, size: int) -> np.int64:
    """Return the index of a row in a table whose size is a power of 2: FNV-1a (Fowler, Noll, Vo) by words."""
    number = np.uint64(14695981039346656037)
    for place in range(len(words)):
        number = (number ^ np.uint64(words[place] & 0xFFFF)) * np.uint64(1099511628211)
    number ^= number >> np.uint64(29)
    return np.int64(number & np.uint64(size - 1))


@inner
def is_same(words: Words, other: Words) -> bool:
    """Return whether two rows are the same."""
    for place in range(len(words)):  # noqa: SIM110 - compiled: a generator is slow
        if words[place] != other[place]:
            return False
    return True


def distinct(rows: Rows) -> tuple[Int32s, Int32s]:
    """Return the indices of the first of each set of equal rows, and the number of each row among these."""
    table = np.full(1 << (2 * len(rows)).bit_length(), -1, np.int32)
    first, number = np.empty(len(rows), np.int32), np.empty(len(rows), np.int32)
    count = _distinct(rows.view(np.int16), table, first, number)
    return first[:count], number


@compiled
def _distinct(words: Words, table: IntVector32, first: IntVector32, number: IntVector32) -> int:
    """Write the results of `distinct`, and return how many rows are distinct.

    `table` is filled with -1; its size is a power of 2 above the number of rows.
    """
    size = len(table)
    count = 0
    for row in range(len(words)):
        place = place_of(words[row], size)
        while table[place] >= 0 and not is_same(words[first[table[place]]], words[row]):
            place = (place + 1) & (size - 1)
        if table[place] < 0:
            table[place] = count
            first[count] = row
            count += 1
        number[row] = table[place]
    return count


# -- cache of evaluations ----------------------------------------------------------------------------------------------


CACHE_SIZE: Final = 1 << 13
"""Positions in the cache: half a megabyte. Four times as many save 3 % of the evaluations, and no time."""
EMPTY: Final = 127
"""Marks an empty entry in its first word: the first cell would hold a number of checkers that no board has."""


class PositionCache(NamedTuple):
    """Positions and their outcomes; each position has one possible entry, given by its hash."""

    boards: Words
    """Shape (size, 13)."""
    outcomes: Matrix32
    used: IntVector32
    """The batch in which an entry was last used: it is not replaced before that batch is evaluated."""


def new_cache(size: int = CACHE_SIZE) -> PositionCache:
    """Return an empty cache; the size is a power of 2."""
    cache = PositionCache(
        np.zeros((size, CELLS // 2), np.int16), np.zeros((size, OUTCOMES), np.float32), np.zeros(size, np.int32)
    )
    empty(cache)
    return cache


def empty(cache: PositionCache) -> None:
    """Remove all positions."""
    cache.boards[:, 0] = EMPTY


@compiled
def find(cache: PositionCache, words: Words, batch: int, places: IntVector32, unknown: IntVector32) -> int:
    """Write the entry of each board to `places` and the boards to be evaluated to `unknown`; return their number.

    `words` are the boards.
    A board without an entry of its own gets -1 - n in `places`, where n is its index among the boards to be evaluated.
    """
    size = len(cache.used)
    count = 0
    for row in range(len(words)):
        place = place_of(words[row], size)
        if not is_same(cache.boards[place], words[row]):
            unknown[count] = row
            count += 1
            if cache.used[place] == batch:
                places[row] = -count
                continue
            for word in range(len(words[row])):  # one by one: copying a row takes seconds to compile
                cache.boards[place, word] = words[row, word]
        cache.used[place] = batch
        places[row] = place
    return count


def fill(cache: PositionCache, places: Int32s, unknown: Int32s, valued: Floats32) -> Floats32:
    """Store the outcomes of the boards that were evaluated and return those of all boards, shape (n, 6)."""
    outcomes = np.empty((len(places), OUTCOMES), np.float32)
    _fill(cache.outcomes, places, unknown, valued, outcomes)
    return outcomes


@compiled
def _fill(kept: Matrix32, places: IntVector32, unknown: IntVector32, valued: Matrix32, outcomes: Matrix32) -> None:
    for number in range(len(unknown)):
        place = places[unknown[number]]
        if place >= 0:
            for outcome in range(OUTCOMES):
                kept[place, outcome] = valued[number, outcome]
    for row in range(len(places)):
        place = places[row]
        for outcome in range(OUTCOMES):
            outcomes[row, outcome] = kept[place, outcome] if place >= 0 else valued[-1 - place, outcome]


def forget(cache: PositionCache, places: Int32s, unknown: Int32s) -> None:
    """Free the entries of boards whose evaluation failed."""
    asked = places[unknown]
    cache.boards[asked[asked >= 0], 0] = EMPTY
