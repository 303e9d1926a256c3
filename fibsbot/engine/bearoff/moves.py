"""Moves and throws between bear-off positions, by their numbers.

In a bear-off nothing is in the way: as long as a checker is left, every number can be played. So a throw is its numbers
played one after the other, in either order, and no law about numbers that cannot be played ever bites. The rules core
(`fibsbot/rules/plays.py`) says the same; tests hold this file to it.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from fibsbot.engine.bearoff.indexing import POINTS, number_of_counts
from fibsbot.engine.compiled import compiled

Numbers: TypeAlias = npt.NDArray[np.int32]
"""Numbers of positions."""

FACES: Final = 6
THROWS: Final = 21
WIDEST: Final = 126
"""The most positions after one throw, C(9, 4): four moves from six points, the order left out."""


@compiled
def single_moves(counts: npt.NDArray[np.int8]) -> Numbers:
    """Return the positions after each single move, shape (n, 6, 6), for rows of counts in the order of numbers.

    Row [number, die - 1] lists them, -1 where there are no more. The position without checkers leads to itself.
    """
    moves = np.full((len(counts), FACES, POINTS), -1, np.int32)
    moves[0, :, 0] = 0
    after = np.zeros(POINTS, np.int8)
    for number in range(1, len(counts)):
        for die in range(1, FACES + 1):
            found = 0
            highest = True
            for point in range(POINTS, 0, -1):
                if counts[number, point - 1] == 0:
                    continue
                # Off goes a checker on the number's own point or, where none is higher, on the highest.
                if point >= die or highest:
                    after[:] = counts[number]
                    after[point - 1] -= 1
                    if point > die:
                        after[point - die - 1] += 1
                    moves[number, die - 1, found] = number_of_counts(after)
                    found += 1
                highest = False
    return moves


@compiled
def widen(moves: Numbers, die: int, before: Numbers, count: int, after: Numbers, found: int) -> int:
    """Add to `after`, which holds `found`, what one die makes of the first `count` positions of `before`.

    Each position is added once. Returns how many `after` holds then.
    """
    for place in range(count):
        for move in range(POINTS):
            number = moves[before[place], die - 1, move]
            if number < 0:
                break
            known = False
            for other in range(found):
                known |= after[other] == number
            if not known:
                after[found] = number
                found += 1
    return found


@compiled
def positions_after(moves: Numbers, number: int, die1: int, die2: int, after: Numbers, scratch: Numbers) -> int:
    """Write every position that a throw can leave, each once, into `after`; return how many they are.

    `after` and `scratch` hold at least WIDEST numbers.
    """
    after[0] = number
    if die1 == die2:
        count = 1
        for _ in range(2):
            count = widen(moves, die1, after, count, scratch, 0)
            count = widen(moves, die1, scratch, count, after, 0)
        return count
    start = after[:1].copy()
    count = widen(moves, die1, start, 1, scratch, 0)
    found = widen(moves, die2, scratch, count, after, 0)
    count = widen(moves, die2, start, 1, scratch, 0)
    return widen(moves, die1, scratch, count, after, found)


@compiled
def all_throws(moves: Numbers, size: int) -> tuple[npt.NDArray[np.int64], Numbers]:
    """Return what each throw can leave of the first `size` positions: where its list begins, and the lists.

    List 21 * number + throw goes from `begins[...]` to the beginning of the next. The throws are 1-1, 2-1, 2-2, 3-1
    and so on.
    """
    begins = np.zeros(size * THROWS + 1, np.int64)
    lists = np.empty(size * THROWS * WIDEST, np.int32)
    after = np.empty(WIDEST, np.int32)
    scratch = np.empty(WIDEST, np.int32)
    row = end = 0
    for number in range(size):
        for die1 in range(1, FACES + 1):
            for die2 in range(1, die1 + 1):
                count = positions_after(moves, number, die1, die2, after, scratch)
                lists[end : end + count] = after[:count]
                end += count
                row += 1
                begins[row] = end
    return begins, lists[:end].copy()
