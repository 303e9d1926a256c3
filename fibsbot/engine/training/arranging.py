"""Positions that games seldom come to and where networks therefore know least, put on the board at random.

Blockades against checkers on the bar of a side that has borne off already, back games, crashed boards, checkers left
behind: play goes on from there, and soon they look like something that could have happened.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from fibsbot.engine.bearoff import Columns
from fibsbot.engine.boards import BAR, CELLS, CHECKERS, Board, position_of
from fibsbot.engine.evaluator import is_known

Counts: TypeAlias = npt.NDArray[np.int8]
"""Checkers of one side, seen by itself, shape (26,)."""

_REAR: Final = (0.3, 0.2, 0.2, 0.15, 0.1, 0.05)
"""How often so many checkers are in the opponent's home board or on the bar."""


def arrange(rng: np.random.Generator, columns: Columns) -> Board:
    """Return a position that is possible, not over and not in the bear-off tables, seen by who is on roll."""
    while True:
        own = _side(rng, np.ones(CELLS, np.bool_))
        free = own[::-1] == 0
        free[BAR] = True
        board: Board = (own - _side(rng, free)[::-1]).astype(np.int8)
        if rng.random() < 0.5:
            board = np.ascontiguousarray(-board[::-1])
        position = position_of(board)
        if not position.status() and not position.over and not is_known(board[None], columns)[0]:
            return board


def _side(rng: np.random.Generator, free: npt.NDArray[np.bool_]) -> Counts:
    """Return one side's checkers, on points that are free."""
    off = int(rng.integers(1, 15)) if rng.random() < 0.3 else 0
    counts = np.zeros(CELLS, np.int8)
    left = CHECKERS - off
    rear = min(left, int(rng.choice(len(_REAR), p=_REAR)))
    _put(rng, counts, free, rear, np.arange(19, BAR + 1))
    left -= rear
    if rng.random() < 0.5:  # a blockade, perhaps a closed board
        length = int(rng.integers(4, 7))
        first = 1 if off or rng.random() < 0.5 else int(rng.integers(1, 9 - length + 1))
        for point in range(first, first + length):
            if left > 1 and free[point]:
                counts[point] += 2
                left -= 2
    farthest = 6 if off else int(rng.choice((6, 8, 13, 18)))
    _put(rng, counts, free, left, np.arange(1, farthest + 1))
    return counts


def _put(
    rng: np.random.Generator, counts: Counts, free: npt.NDArray[np.bool_], left: int, points: npt.NDArray[np.int64]
) -> None:
    """Put so many checkers on some of the points, mostly in pairs; on the bar where none is free."""
    points = points[free[points]]
    while left:
        point = int(rng.choice(points)) if len(points) else BAR
        together = min(left, 2 if rng.random() < 0.7 else 1)
        counts[point] += together
        left -= together
