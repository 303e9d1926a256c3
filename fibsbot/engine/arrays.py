"""Boards, rolls and outcomes as numpy arrays, which the engine uses in place of `Position`.

A board is 26 cells of int8 as in `Position.points`: seen by one player, own checkers positive, 1 to 24 the points, 25
the player's bar, 0 the opponent's bar (never positive). Checkers borne off are those missing from 15. Outcomes are the
six chances of how a game ends, shape (n, 6), in the order in which GNU Backgammon prints them, seen by the player on
roll; a chance to win includes gammons and backgammons, so win + lose is 1 and win >= win gammon >= win backgammon.

The module needs numpy and attrs only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import frozen

from fibsbot.match import ROLL_WAYS, ROLLS
from fibsbot.position import Position

CELLS: Final = 26
BAR: Final = 25
CHECKERS: Final = 15
AS_INT: Final = 0
"""Added to a cell, converts its int8 to an int: numba compiles functions once for each width of integers."""

Bools: TypeAlias = npt.NDArray[np.bool_]
Int32s: TypeAlias = npt.NDArray[np.int32]
Int64s: TypeAlias = npt.NDArray[np.int64]
Floats32: TypeAlias = npt.NDArray[np.float32]
Floats64: TypeAlias = npt.NDArray[np.float64]


@frozen
class ArrayType:
    """The type of an array as machine code takes it: the elements are contiguous, in C order."""

    element: str
    """The name of numpy's type of the elements."""
    dimensions: int

    def __str__(self) -> str:
        """Return numba's notation, such as `float32[:,::1]`."""
        return f"{self.element}[{','.join([':'] * (self.dimensions - 1) + ['::1'])}]"


# Compiled functions annotate the arrays that they take with these: machine code is made for the declared types.
Vector32: TypeAlias = Annotated[Floats32, ArrayType("float32", 1)]
Matrix32: TypeAlias = Annotated[Floats32, ArrayType("float32", 2)]
Vector64: TypeAlias = Annotated[Floats64, ArrayType("float64", 1)]
Matrix64: TypeAlias = Annotated[Floats64, ArrayType("float64", 2)]
Tensor64: TypeAlias = Annotated[Floats64, ArrayType("float64", 3)]
IntVector32: TypeAlias = Annotated[Int32s, ArrayType("int32", 1)]
IntMatrix32: TypeAlias = Annotated[Int32s, ArrayType("int32", 2)]
IntTensor32: TypeAlias = Annotated[Int32s, ArrayType("int32", 3)]
IntVector64: TypeAlias = Annotated[Int64s, ArrayType("int64", 1)]
IntMatrix64: TypeAlias = Annotated[Int64s, ArrayType("int64", 2)]
BoolVector: TypeAlias = Annotated[Bools, ArrayType("bool", 1)]
BoolMatrix: TypeAlias = Annotated[Bools, ArrayType("bool", 2)]

Board: TypeAlias = Annotated[npt.NDArray[np.int8], ArrayType("int8", 1)]
"""One board, shape (26,)."""
Boards: TypeAlias = Annotated[npt.NDArray[np.int8], ArrayType("int8", 2)]
"""Many boards, shape (n, 26)."""
BoardGroups: TypeAlias = Annotated[npt.NDArray[np.int8], ArrayType("int8", 3)]
"""Boards in groups, shape (n, m, 26)."""


def boards_of(positions: Iterable[Position]) -> Boards:
    """Return positions as boards, one a row."""
    cells = [position.points for position in positions]
    return np.array(cells, np.int8).reshape(len(cells), CELLS)


def check_boards(boards: npt.NDArray[Any]) -> Boards:
    """Return boards with contiguous rows, which compiled functions read as such without looking.

    Raises ValueError for another shape or type, of which these functions would make nonsense.
    """
    if boards.ndim != 2 or boards.shape[1] != CELLS or boards.dtype != np.int8:
        raise ValueError(f"expected boards of shape (n, {CELLS}) and int8, got {boards.shape} and {boards.dtype}")
    return np.ascontiguousarray(boards)


def check_possible(boards: Boards) -> None:
    """Raise ValueError for the first impossible board: compiled functions use cells as indices without a check."""
    own = np.maximum(boards, 0).sum(axis=1, dtype=np.int64)
    theirs = -np.minimum(boards, 0).sum(axis=1, dtype=np.int64)
    wrong_bar = (boards[:, 0] > 0) | (boards[:, BAR] < 0)
    impossible = (np.maximum(own, theirs) > CHECKERS) | (own + theirs == 0) | wrong_bar
    for row in np.flatnonzero(impossible)[:1]:
        position_of(boards[row]).check()


def position_of(board: Board) -> Position:
    """Return a board as a position."""
    return Position(tuple(board.tolist()))


def swapped(boards: Boards) -> Boards:
    """Return boards as seen by the other player."""
    return np.ascontiguousarray(-boards[..., ::-1])


def have_passed(boards: Boards) -> npt.NDArray[np.bool_]:
    """Return whether the sides have passed each other and both have checkers left, shape (n,)."""
    rearmost = BAR - (boards > 0)[:, ::-1].argmax(axis=1)
    return np.asarray(rearmost < (boards < 0).argmax(axis=1))


ROLL_COUNT: Final = len(ROLLS)
CHANCE_OF_ROLL: Final = np.array(ROLL_WAYS, np.float64) / 36
"""The chance of each roll, in the order of `match.ROLLS`."""


WIN: Final = 0
WIN_GAMMON: Final = 1
WIN_BACKGAMMON: Final = 2
LOSE: Final = 3
LOSE_GAMMON: Final = 4
LOSE_BACKGAMMON: Final = 5
OUTCOMES: Final = 6

OUTPUTS: Final = 5
"""The chances that networks give: win, win gammon, win backgammon, lose gammon, lose backgammon."""

Outcomes: TypeAlias = npt.NDArray[np.floating[Any]]
"""Chances, shape (..., 6)."""


def cubeless_equity(outcomes: Outcomes) -> npt.NDArray[np.floating[Any]]:
    """Return points per game without a cube, gammons counting two and backgammons three; shape (...,)."""
    won = outcomes[..., :LOSE].sum(axis=-1)
    lost = outcomes[..., LOSE:].sum(axis=-1)
    return np.asarray(won - lost)


def other_side(outcomes: Outcomes) -> Outcomes:
    """Return outcomes as seen by the other player."""
    return np.concatenate([outcomes[..., LOSE:], outcomes[..., :LOSE]], axis=-1)
