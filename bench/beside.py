"""gnubg's networks in this process, for comparison with ours: the package gnubg-nn (GPL; never a dependency)."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from attrs import frozen

from fibsbot.engine.arrays import BAR, CELLS, Board, Boards, Outcomes
from fibsbot.engine.generator import successors


@frozen
class Gnubg:
    """gnubg without its cube and its matches."""

    package: Any
    name: str = "gnubg 0-ply"

    def evaluate(self, boards: Boards) -> Outcomes:
        """Return the chances of the player on roll at 0-ply, shape (n, 6)."""
        return np.array([self.chances(board) for board in boards])

    def play(self, board: Board, roll: tuple[int, int], plies: int) -> Board:
        """Return the board after its play of a roll (high number first), seen by the player who plays."""
        every = successors(board, *roll)
        if len(every) < 2:
            left: Board = every[0] if len(every) else board
            return left
        _, key = self.package.best_move(_sides(board), *roll, plies, b=1)
        own, theirs = self.package.board_from_position_key(key)  # seen by the other side
        left = np.zeros(CELLS, np.int8)
        left[1:] = own
        left[BAR - 1 :: -1] -= np.array(theirs, np.int8)
        if not (every == left).all(axis=1).any():
            raise ValueError(f"gnubg played {roll} from {board.tolist()} to {left.tolist()}")
        return left

    def chances(self, board: Board, plies: int = 0) -> list[float]:
        """Return the six chances of the player on roll."""
        theirs, own = sides = _sides(board)
        if not any(theirs):
            left = sum(own)
            return [0, 0, 0, 1, left == 15, left == 15 and any(own[18:])]
        win, gammon, backgammon, lost_gammon, lost_backgammon = self.package.probabilities(sides, plies)
        return [win, gammon, backgammon, 1 - win, lost_gammon, lost_backgammon]


def _sides(board: Board) -> list[list[int]]:
    """Return the checkers of the opponent, then of the player on roll, each by its own points and the bar."""
    cells = board.tolist()
    return [[max(-count, 0) for count in cells[BAR - 1 :: -1]], [max(count, 0) for count in cells[1:CELLS]]]


def gnubg() -> Gnubg | None:
    """Return gnubg, or print a line and return None if it is not installed."""
    try:
        return Gnubg(importlib.import_module("gnubg_nn"))
    except ImportError:
        print("gnubg is left out: pip install gnubg-nn")
        return None
