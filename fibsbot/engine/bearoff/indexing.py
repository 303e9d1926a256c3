"""The number of a bear-off position: one side's checkers on its six home points.

With s(k) checkers on the k highest points (s(6) is all that are left), the number is the sum of C(s(k) + k - 1, k) over
k = 1 to 6: the combinatorial number system. Three things follow that everything here rests on:

- The numbers are 0 to C(n + 6, 6) - 1 for up to n checkers, without a gap: 54,264 for 15, 924 for 6. They do not depend
  on n, so that the positions of a small table are the first ones of a large table.
- No move raises any s(k) and each lowers one, so every move leads to a lower number. Whoever goes through the numbers
  upwards has done what comes after a position before the position itself.
- Number 0 is the side that has borne off everything.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb
from typing import Final

import numpy as np
import numpy.typing as npt

from fibsbot.engine.boards import BAR, CHECKERS, Board
from fibsbot.engine.compiled import compiled

POINTS: Final = 6

_CHOOSE: Final = np.array([[comb(s + k - 1, k) if k else 0 for k in range(POINTS + 1)] for s in range(CHECKERS + 1)])
"""C(s + k - 1, k) for s checkers on the k highest points."""


def size(checkers: int) -> int:
    """Return how many positions there are of up to so many checkers."""
    return comb(checkers + POINTS, POINTS)


def all_counts(checkers: int) -> npt.NDArray[np.int8]:
    """Return the checkers on the points 1 to 6 of every position in the order of their numbers, shape (n, 6)."""
    highest = np.array(list(combinations_with_replacement(range(checkers + 1), POINTS)), np.int8)
    highest = highest[np.lexsort(highest.T)]
    return np.ascontiguousarray(np.diff(highest, axis=1, prepend=np.int8(0))[:, ::-1])


@compiled
def number_of_counts(counts: npt.NDArray[np.int8]) -> int:
    """Return the number of a position of at most 15 checkers, given the counts of the points 1 to 6."""
    number = checkers = 0
    for k in range(1, POINTS + 1):
        checkers += counts[POINTS - k]
        number += _CHOOSE[checkers, k]
    return number


@compiled
def _number(board: Board, origin: int, sign: int) -> int:
    """Return the number of one side, whose point p is the cell `origin + sign * p`; -1 unless all is home."""
    for point in range(POINTS + 1, BAR + 1):
        if sign * board[origin + sign * point] > 0:
            return -1
    number = checkers = 0
    for k in range(1, POINTS + 1):
        checkers += max(sign * board[origin + sign * (POINTS + 1 - k)], 0)
        if checkers > CHECKERS:
            return -1
        number += _CHOOSE[checkers, k]
    return number


@compiled
def own_number(board: Board) -> int:
    """Return the number of the own side; -1 unless all its checkers that are left are home, at most 15."""
    return _number(board, 0, 1)


@compiled
def opponent_number(board: Board) -> int:
    """Return the number of the opponent's side; -1 unless all its checkers that are left are home, at most 15."""
    return _number(board, BAR, -1)
