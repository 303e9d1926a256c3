"""From boards to what the networks see of them; what each input means stands in `units`."""

from __future__ import annotations

from itertools import product
from typing import Final

import numpy as np
import numpy.typing as npt

from fibsbot.engine.boards import BAR, CELLS, CHECKERS, WIDE, Board, Boards, swapped
from fibsbot.engine.compiled import compiled, inner
from fibsbot.engine.shots import write_shots
from fibsbot.engine.units import BAR_UNIT, COUNTS, INPUTS, OFF_UNIT, SIDE, Inputs, Unit

AHEAD: Final = 12
"""How many points before a checker decide whether it escapes."""
BLOCKS: Final = (1 << AHEAD) - 1
"""So many sets of them there are, but one."""


def _escapes() -> npt.NDArray[np.float32]:
    """Return the chance that a roll brings a checker more than 6 pips ahead, by which points before it are blocked."""
    blocked = np.arange(1 << AHEAD)

    def is_open(ahead: int) -> npt.NDArray[np.bool_]:
        return np.asarray((blocked >> (ahead - 1) & 1) == 0)  # beyond AHEAD every point is

    rolls = np.zeros(1 << AHEAD)
    for one, other in product(range(1, 7), repeat=2):
        if one != other:
            if one + other > 6:
                rolls += is_open(one + other) & (is_open(one) | is_open(other))
        elif (steps := 6 // one + 1) <= 4:
            rolls += np.all([is_open(step * one) for step in range(1, steps + 1)], axis=0)
    return (rolls / 36).astype(np.float32)


ESCAPES: Final = _escapes()
"""Shape (4096,); bit d - 1 of the index says that the point d pips ahead is blocked."""


def encode_all(boards: Boards) -> Inputs:
    """Return the inputs of boards, shape (n, INPUTS) for n boards of shape (n, 26)."""
    inputs = np.empty((len(boards), INPUTS), np.float32)
    _encode(np.stack((boards, swapped(boards)), axis=1).reshape(-1, CELLS), inputs.reshape(-1, SIDE), ESCAPES)
    return inputs


def _encode(sides: Boards, inputs: Inputs, escapes: Inputs) -> None:
    """Write the inputs of boards, each as who is on roll sees it and then, in the next row, as the opponent does.

    Args:
        sides: Shape (2 n, 26); an odd row is the one before it, swapped.
        inputs: Shape (2 n, SIDE).
        escapes: ESCAPES.
    """
    write_counts(sides, inputs)
    write_blocks(sides, inputs, escapes)
    write_shots(sides, inputs)


encode_into: Final = compiled(_encode)
"""The same for compiled functions. For Python's use the compiler would work on each part twice."""


@compiled
def write_counts(sides: Boards, inputs: Inputs) -> None:
    """Write what follows from where a side's own checkers are; all other inputs of it become 0."""
    for row in range(len(sides)):
        for unit in range(SIDE):
            inputs[row, unit] = 0.0
        _write_checkers(sides[row], inputs[row])
        _write_points(sides[row], inputs[row])


@inner
def _write_checkers(board: Board, inputs: Inputs) -> None:
    pips, squares, checkers, rearmost = 0, 0, 0, 0
    outfield, rear, deep, stacked, crossovers, to_come, spare = 0, 0, 0, 0, 0, 0, 0
    for point in range(1, CELLS):
        count = WIDE + board[point]
        if count <= 0:
            continue
        pips += point * count
        squares += point * point * count
        checkers += count
        rearmost = point
        if point < BAR:
            first = (point - 1) * COUNTS
            inputs[first + min(count, 3) - 1] = 1.0
            if count > 3:
                inputs[first + 3] = (count - 3) * 0.5
            if count > 4:
                stacked += count - 4
        if point > 6:
            crossovers += count * ((point - 1) // 6)
            to_come += count * (point - 6)
        elif count > 2:
            spare += (count - 2) * point
        if 6 < point < 19:
            outfield += count
            spare += count * (point - 6)
        if point > 18:
            rear += count
        if point < 4:
            deep += count
    off = CHECKERS - checkers
    inputs[BAR_UNIT] = board[BAR] * 0.5
    inputs[OFF_UNIT] = off / 15
    inputs[Unit.PIPS] = pips / 100
    inputs[Unit.REARMOST] = rearmost / 24
    inputs[Unit.REAR] = rear / 6
    inputs[Unit.OUTFIELD] = outfield / 10
    inputs[Unit.CROSSOVERS] = crossovers / 20
    inputs[Unit.TO_COME_HOME] = to_come / 100
    inputs[Unit.DEEP] = deep / 8
    inputs[Unit.STACKED] = stacked / 6
    inputs[Unit.SPARE] = spare / 60
    inputs[Unit.OFF] = 1.0 if off > 0 else 0.0
    inputs[Unit.OFF_HALF] = 1.0 if off > 7 else 0.0
    if off > 10:
        inputs[Unit.OFF_LAST] = (off - 10) / 5
    if checkers:
        mean = pips / checkers
        inputs[Unit.SPREAD] = max(squares / checkers - mean * mean, 0.0) ** 0.5 / 10
        if rearmost < 7:
            inputs[Unit.ROLLS] = (checkers + 1) // 2 / 8


@inner
def _write_points(board: Board, inputs: Inputs) -> None:
    home, run, longest, place, anchors, foremost, deepest = 0, 0, 0, 0, 0, 0, 0
    for point in range(1, BAR):
        if board[point] < 2:
            run = 0
            continue
        run += 1
        if run > longest:
            longest, place = run, point
        if point < 7:
            home += 1
        if point > 17:
            anchors += point > 18
            deepest = BAR - point
            if foremost == 0:
                foremost = BAR - point
    inputs[Unit.HOME] = home / 6
    inputs[Unit.HOME_SQUARED] = home * home / 36
    inputs[Unit.PRIME] = longest / 6
    if longest > 2:
        inputs[Unit.PRIME_PLACE] = place / 24
    inputs[Unit.ANCHORS] = anchors / 3
    inputs[Unit.FOREMOST_ANCHOR] = foremost / 7
    inputs[Unit.DEEPEST_ANCHOR] = deepest / 7
    inputs[Unit.BACK_GAME] = 1.0 if anchors > 1 else 0.0


@compiled
def write_blocks(sides: Boards, inputs: Inputs, escapes: Inputs) -> None:
    """Write how freely a side's checkers come home, how the opponent holds them, and whether this is a race."""
    for row in range(len(sides)):
        board, own, theirs = sides[row], inputs[row], inputs[row ^ 1]
        rearmost, last, blocked = BAR, 0, 0
        while rearmost > 0 and board[rearmost] <= 0:
            rearmost -= 1
        while last < BAR and board[last] >= 0:
            last += 1
        for point in range(1, BAR):
            if board[point] < -1:
                blocked |= 1 << (BAR - point)
        least = escape = np.float32(1)
        caught, free, stuck = 0.0, 0.0, 0.0
        for point in range(7, rearmost + 1):
            escape = escapes[blocked >> (BAR + 1 - point) & BLOCKS]
            if point > 12:
                least = min(least, escape)
                caught += 1 - escape
            count = board[point]
            if count > 0:
                free += count * escape * (point - 6)
                stuck += count * (1 - escape)
        if rearmost > 12:
            theirs[Unit.ESCAPE] = escape
            theirs[Unit.LEAST_ESCAPE] = least
            theirs[Unit.CONTAINMENT] = caught / 12
        if rearmost <= last:
            own[Unit.RACE] = 1.0
            continue
        own[Unit.FREE] = free / 100
        own[Unit.STUCK] = stuck / 8
        if board[BAR]:
            closed = 0
            for point in range(19, BAR):
                closed += board[point] < -1
            own[Unit.DANCE] = closed * closed / 36
