"""Moves and throws between bear-off positions, by their numbers.

In a bear-off nothing is in the way: as long as a checker is left, every number can be played. So a throw is its numbers
played one after the other, in either order, and no law about numbers that cannot be played ever bites. The rules core
(`fibsbot/rules/plays.py`) says the same; tests hold this file to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from fibsbot.engine.bearoff.indexing import POINTS, Counts, numbers_of

Numbers: TypeAlias = npt.NDArray[np.int32]
"""Numbers of positions."""

FACES: Final = 6


def single_moves(counts: Counts) -> Numbers:
    """Return the positions after each single move, shape (n, 6, 6), for rows of counts in the order of numbers.

    Cell [number, die - 1, point - 1] is what a move from the point leads to, -1 where it is impossible. The position
    without checkers leads to itself.
    """
    moves = np.full((len(counts), FACES, POINTS), -1, np.int32)
    moves[0, :, 0] = 0
    for point in range(1, POINTS + 1):
        there = counts[:, point - 1] > 0
        highest = there & (counts[:, point:] == 0).all(axis=1)
        for die in range(1, FACES + 1):
            # Off goes a checker on the number's own point or, where none is higher, on the highest.
            possible = np.flatnonzero(there if point >= die else highest)
            after = counts[possible]
            after[:, point - 1] -= 1
            if point > die:
                after[:, point - die - 1] += 1
            moves[possible, die - 1, point - 1] = numbers_of(after)
    return moves


def positions_after(moves: Sequence[Sequence[Sequence[int]]], number: int, die1: int, die2: int) -> set[int]:
    """Return every position that a throw can leave; `moves` are those of `single_moves` as a list."""
    orders = [(die1,) * 4] if die1 == die2 else [(die1, die2), (die2, die1)]
    found: set[int] = set()
    for order in orders:
        left = {number}
        for die in order:
            left = {after for before in left for after in moves[before][die - 1] if after >= 0}
        found |= left
    return found


def all_throws(moves: Numbers) -> tuple[npt.NDArray[np.int64], Numbers]:
    """Return what each throw can leave of each position: where its list begins, and the lists.

    List 21 * number + throw goes from `begins[...]` to the beginning of the next. The throws are 1-1, 2-1, 2-2, 3-1
    and so on.
    """
    rows = moves.tolist()
    throws = [(high, low) for high in range(1, FACES + 1) for low in range(1, high + 1)]
    lists = [sorted(positions_after(rows, number, *throw)) for number in range(len(rows)) for throw in throws]
    begins = np.cumsum([0, *map(len, lists)])
    return begins, np.array([number for found in lists for number in found], np.int32)
