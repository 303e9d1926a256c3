"""Counting positions with the fast generator, as `fibsbot.rules.perft` does with the rules core."""

from __future__ import annotations

import numpy as np

from fibsbot.engine.boards import Board
from fibsbot.engine.compiled import allocating
from fibsbot.engine.generator import MOST_PLAYS, generate, swap


@allocating
def perft(board: Board, depth: int) -> int:
    """Count the positions that so many rolls lead to; see `fibsbot.rules.perft`."""
    plays = np.zeros((depth, MOST_PLAYS, 26), np.int8)
    counts, places, rolls = np.zeros(depth, np.int64), np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    scratch, boards = np.zeros((5, 26), np.int8), np.zeros((depth, 26), np.int8)
    boards[0] = board
    total, level = 0, 0
    while level >= 0:
        if places[level] < counts[level]:
            swap(plays[level, places[level]], boards[level + 1])
            places[level] += 1
            level += 1
            counts[level], places[level], rolls[level] = 0, 0, 0
        elif rolls[level] < 36:
            high, low = rolls[level] // 6 + 1, rolls[level] % 6 + 1
            rolls[level] += 1
            if low > high:
                continue
            count = generate(boards[level], high, low, plays[level], scratch)
            if count == 0:
                plays[level, 0] = boards[level]
                count = 1
            if level + 1 == depth:
                total += count
            else:
                counts[level], places[level] = count, 0
        else:
            level -= 1
    return total
