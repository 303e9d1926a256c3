"""Counting positions with the fast generator, as `fibsbot.rules.plays` does with the rules core."""

from __future__ import annotations

import numpy as np

from fibsbot.engine.arrays import Board, BoardGroups, Boards, IntMatrix64
from fibsbot.engine.generator import MAX_PLAYS, Scratch, copy, generate, swap
from fibsbot.engine.jit import compiled


def perft(board: Board, depth: int) -> int:
    """Count the positions after `depth` rolls; see `fibsbot.rules.plays`."""
    boards = np.zeros((depth, 26), np.int8)
    boards[0] = board
    plays, numbers = np.zeros((depth, MAX_PLAYS, 26), np.int8), np.zeros((3, depth), np.int64)
    return _count(plays, numbers, boards, np.zeros((5, 26), np.int8))


@compiled
def _count(plays: BoardGroups, numbers: IntMatrix64, boards: Boards, scratch: Scratch) -> int:
    """Count positions; of each level `numbers` has how many plays there are, the next one, and the next roll."""
    counts, places, rolls = numbers[0], numbers[1], numbers[2]
    depth = len(boards)
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
                copy(boards[level], plays[level, 0])
                count = 1
            if level + 1 == depth:
                total += count
            else:
                counts[level], places[level] = count, 0
        else:
            level -= 1
    return total
