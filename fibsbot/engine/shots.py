"""Shots: by which rolls a player hits, exactly, over all 21 of them.

A set of rolls is an integer: bit `high * (high - 1) / 2 + low - 1` stands for a roll.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fibsbot.engine.boards import BAR, Board, Boards
from fibsbot.engine.compiled import compiled, inner
from fibsbot.engine.rolls import DICE
from fibsbot.engine.units import Inputs, Unit

_WITH: Final = np.array([sum(1 << bit for bit, roll in enumerate(DICE) if number in roll) for number in range(7)])
"""The rolls that show a number, by the number."""
_DOUBLES: Final = sum(1 << bit for bit, (high, low) in enumerate(DICE) if high == low)


@compiled
def write_shots(sides: Boards, inputs: Inputs) -> None:
    """Write HIT, DOUBLE_HIT and HIT_PIPS of each side, shape (n, 26), that throws next, shape of the inputs (n, SIDE).

    Of several blots that a roll hits the one that loses most counts for the pips.
    """
    for row in range(len(sides)):
        board = sides[row]
        some, two, cost = 0, 0, 0
        for point in range(BAR - 1, 0, -1):
            if board[point] == -1:
                rolls = _shots_from_the_bar(board, point) if board[BAR] else _shots(board, point)
                cost += point * _weight(rolls & ~some)
                two |= rolls & some
                some |= rolls
        # `two` is part of `some`. Of either alone numba would take the 0 of the beginning for a kind of its own.
        inputs[row, Unit.HIT] = _weight(some | two) / 36
        inputs[row, Unit.DOUBLE_HIT] = _weight(some & two) / 36
        inputs[row, Unit.HIT_PIPS] = cost / 36 / 12


@inner
def _weight(rolls: int) -> int:
    """Return how many of 36 throws show one of the rolls."""
    count = 0
    left = rolls
    while left:
        left &= left - 1
        count += 2
    left = rolls & _DOUBLES
    while left:
        left &= left - 1
        count -= 1
    return count


@inner
def _shots(board: Board, point: int) -> int:
    """Return the rolls that hit the blot on a point, with nobody on the bar."""
    rolls = 0
    farthest = min(6, BAR - 1 - point)  # with a plain 6 the compiler writes each loop out, which takes it a second
    for number in range(1, farthest + 1):
        if board[point + number] > 0:
            rolls |= _WITH[number]
    for high in range(2, farthest + 1):
        for low in range(1, min(high, BAR - point - high)):
            if board[point + high + low] > 0 and (board[point + high] > -2 or board[point + low] > -2):
                rolls |= 1 << (high * (high - 1) // 2 + low - 1)
    for number in range(1, farthest + 1):
        source = point
        for _ in range(4):
            source += number
            if source >= BAR or board[source] <= -2:
                break
            if board[source] > 0:
                rolls |= 1 << (number * (number + 1) // 2 - 1)
                break
    return rolls


@inner
def _shots_from_the_bar(board: Board, point: int) -> int:
    """Return the rolls that hit the blot on a point, with checkers on the bar that have to enter first."""
    rolls = 0
    entry = BAR - point
    if entry < 7:
        rolls = _WITH[entry]
    waiting = board[BAR]
    for entered in range(1, 7):
        arrived = BAR - entered
        if board[arrived] <= -2:
            continue
        if waiting == 1:
            for moved in range(1, 7):
                source = point + moved
                if moved != entered and (source == arrived or (source < BAR and board[source] > 0)):
                    high, low = max(entered, moved), min(entered, moved)
                    rolls |= 1 << (high * (high - 1) // 2 + low - 1)
        source = point
        for _ in range(4 - waiting):
            source += entered
            if source >= BAR or board[source] <= -2:
                break
            if board[source] > 0 or source == arrived:
                rolls |= 1 << (entered * (entered + 1) // 2 - 1)
                break
    return rolls
