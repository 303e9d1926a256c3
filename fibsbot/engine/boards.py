"""Boards as arrays: what the engine sees instead of a Position.

A board is 26 cells of int8 as in `Position.points`: seen by one player, own checkers positive, 1 to 24 the points, 25
the own bar, 0 the opponent's bar (never positive). Checkers borne off are those that are missing from 15.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from fibsbot.position import Position

CELLS: Final = 26
BAR: Final = 25
CHECKERS: Final = 15
WIDE: Final = 0
"""Added to what stands in a cell, makes a whole number of the usual width of it: each width is compiled by itself."""

Board: TypeAlias = npt.NDArray[np.int8]
"""One board, shape (26,)."""
Boards: TypeAlias = npt.NDArray[np.int8]
"""Many boards, shape (n, 26)."""


def boards_of(positions: Iterable[Position]) -> Boards:
    """Return positions as boards, one a row."""
    cells = [position.points for position in positions]
    return np.array(cells, np.int8).reshape(len(cells), CELLS)


def position_of(board: Board) -> Position:
    """Return a board as a position."""
    return Position(board.tolist())


def swapped(boards: Boards) -> Boards:
    """Return the same boards seen by the other player."""
    return np.ascontiguousarray(-boards[..., ::-1])


def have_passed(boards: Boards) -> npt.NDArray[np.bool_]:
    """Return for each board whether the sides have passed each other and both have checkers left, shape (n,)."""
    rearmost = BAR - (boards > 0)[:, ::-1].argmax(axis=1)
    return np.asarray(rearmost < (boards < 0).argmax(axis=1))
