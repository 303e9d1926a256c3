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
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from fibsbot.engine.boards import BAR, CHECKERS, Board, Boards
from fibsbot.engine.compiled import compiled

Counts: TypeAlias = npt.NDArray[np.integer[Any]]
"""Checkers on the points 1 to 6, shape (..., 6)."""

POINTS: Final = 6

_CHOOSE: Final = np.array([[comb(s + k - 1, k) if k else 0 for k in range(POINTS + 1)] for s in range(CHECKERS + 1)])
"""C(s + k - 1, k) for s checkers on the k highest points."""


def size(checkers: int) -> int:
    """Return how many positions there are of up to so many checkers."""
    return comb(checkers + POINTS, POINTS)


def all_counts(checkers: int) -> Counts:
    """Return the checkers on the points 1 to 6 of every position in the order of their numbers, shape (n, 6)."""
    highest = np.array(list(combinations_with_replacement(range(checkers + 1), POINTS)), np.int8)
    highest = highest[np.lexsort(highest.T)]
    return np.ascontiguousarray(np.diff(highest, axis=1, prepend=np.int8(0))[:, ::-1])


def numbers_of(counts: Counts) -> npt.NDArray[np.int64]:
    """Return the numbers of positions of at most 15 checkers, given as rows of counts, shape (..., 6)."""
    highest = np.cumsum(counts[..., ::-1], axis=-1, dtype=np.int64)
    return np.asarray(_CHOOSE[highest, np.arange(1, POINTS + 1)].sum(axis=-1))


def numbers_on(boards: Boards) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the numbers of the own and of the opponent's side on each of many boards; see `numbers`."""
    cells = boards.astype(np.int64)
    own = cells[:, 1 : POINTS + 1].clip(0)
    opponent = -cells[:, BAR - 1 : BAR - POINTS - 1 : -1].clip(max=0)
    good = (cells[:, POINTS + 1 :] <= 0).all(axis=1) & (cells[:, : BAR - POINTS] >= 0).all(axis=1)
    good &= np.maximum(own.sum(axis=1), opponent.sum(axis=1)) <= CHECKERS
    good &= (own + opponent).any(axis=1)
    # Number 0 stands in for positions that have none.
    own, opponent = (numbers_of(np.where(good[:, None], counts, 0)) for counts in (own, opponent))
    return np.where(good, own, -1), np.where(good, opponent, -1)


@compiled
def numbers(board: Board) -> tuple[int, int]:
    """Return the numbers of the own and of the opponent's side.

    They are -1 unless all checkers of both sides that are left are home, at most 15 of each and one of either.
    """
    own = opponent = mine = theirs = 0
    for point in range(BAR, 0, -1):
        left, other = board[point], -board[BAR - point]
        if point > POINTS:
            if left > 0 or other > 0:
                return -1, -1
            continue
        if left > 0:
            mine += left
        if other > 0:
            theirs += other
        if mine > CHECKERS or theirs > CHECKERS:
            return -1, -1
        own += _CHOOSE[mine, POINTS + 1 - point]
        opponent += _CHOOSE[theirs, POINTS + 1 - point]
    if own == 0 and opponent == 0:
        return -1, -1
    return own, opponent
