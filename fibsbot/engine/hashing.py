"""Hash and compare rows of small integers: boards, or sides of races.

Rows are read as words of two integers, which takes half as many steps; a row has an even number of them.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fibsbot.engine.arrays import Int32s
from fibsbot.engine.jit import compiled, inner

Rows: TypeAlias = npt.NDArray[np.int8]
"""Shape (n, an even number)."""
Words: TypeAlias = npt.NDArray[np.int16]
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
def _distinct(words: Words, table: Int32s, first: Int32s, number: Int32s) -> int:
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
