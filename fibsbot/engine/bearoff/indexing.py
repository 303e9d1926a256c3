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

from fibsbot.engine.boards import BAR, CHECKERS, Boards

Counts: TypeAlias = npt.NDArray[np.integer[Any]]
"""Checkers on the points 1 to 6, shape (..., 6)."""
Places: TypeAlias = npt.NDArray[np.int64]
"""Numbers of positions, or which rows of an array are meant."""

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


def numbers_of(counts: Counts) -> Places:
    """Return the numbers of positions of at most 15 checkers, given as rows of counts, shape (..., 6)."""
    highest = np.cumsum(counts[..., ::-1], axis=-1, dtype=np.int64)
    return np.asarray(_CHOOSE[highest, np.arange(1, POINTS + 1)].sum(axis=-1))


def numbers_on(boards: Boards) -> tuple[Places, Places, Places]:
    """Return which of many boards have numbers, and on these those of the own and of the opponent's side.

    A board has them if all checkers of both sides that are left are home, at most 15 of each and one of either.
    """
    home = (boards[:, POINTS + 1 :] <= 0).all(axis=1) & (boards[:, : BAR - POINTS] >= 0).all(axis=1)
    places = np.flatnonzero(home)
    if not len(places):  # as nearly always
        return places, places, places
    cells = boards[places].astype(np.int64)
    own, opponent = cells[:, 1 : POINTS + 1], -cells[:, BAR - 1 : BAR - POINTS - 1 : -1]
    many = np.maximum(own.sum(axis=1), opponent.sum(axis=1))
    lawful = (many > 0) & (many <= CHECKERS)
    return places[lawful], numbers_of(own[lawful]), numbers_of(opponent[lawful])
