"""The pruner: a very small network of raw counts that says which plays deserve a look by a better one.

It costs a tenth of a microsecond a position: the inputs are never written down, only the weights of what stands on the
board are added up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fibsbot.engine.boards import BAR, CELLS, CHECKERS, Board, Boards
from fibsbot.engine.compiled import compiled, inner
from fibsbot.engine.inputs import encode_all
from fibsbot.engine.network import Floats, Network
from fibsbot.engine.student import CHANCES, write_ending
from fibsbot.engine.units import BAR_UNIT, COUNTS, OFF_UNIT, RAW, SIDE, Inputs


class Pruner(NamedTuple):
    """The weights, and room to work: each thread needs one of its own. Hidden units are rectified, outputs logistic."""

    inward: Floats
    """Shape (2 * RAW, hidden): what the player on roll has, then the opponent, each seen by itself."""
    threshold: Floats
    outward: Floats
    """Shape (CHANCES, hidden)."""
    offset: Floats
    hidden: Floats
    chances: Floats


def raw_columns() -> npt.NDArray[np.intp]:
    """Return which of a position's inputs a pruner sees, shape (2 * RAW,)."""
    return np.concatenate([np.arange(RAW), SIDE + np.arange(RAW)])


def encode_raw(boards: Boards) -> Inputs:
    """Return what a pruner sees of boards, shape (n, 2 * RAW)."""
    return encode_all(boards)[:, raw_columns()]


def pruner_of(network: Network) -> Pruner:
    """Return a network of one hidden layer, which sees the raw inputs alone, as a pruner."""
    (inward, outward), (threshold, offset) = network.weights, network.thresholds
    return Pruner(
        inward=np.ascontiguousarray(inward),
        threshold=threshold,
        outward=np.ascontiguousarray(outward.T),
        offset=offset,
        hidden=np.zeros_like(threshold),
        chances=np.zeros(CHANCES, np.float32),
    )


@inner
def _add(hidden: Floats, weights: Floats, row: int) -> None:
    for unit in range(len(hidden)):
        hidden[unit] += weights[row, unit]


@inner
def _add_some(hidden: Floats, weights: Floats, row: int, amount: np.float32) -> None:
    for unit in range(len(hidden)):
        hidden[unit] += amount * weights[row, unit]


@compiled
def prune_value(pruner: Pruner, board: Board) -> float:
    """Return about what a position is worth to the player on roll, in points without a cube."""
    chances = pruner.chances
    if not write_ending(board, chances):
        hidden, inward = pruner.hidden, pruner.inward
        for unit in range(len(hidden)):
            hidden[unit] = pruner.threshold[unit]
        own, theirs = 0, 0
        for cell in range(CELLS):
            count = board[cell]
            if count == 0:
                continue
            if count > 0:
                own += count
                base, point = 0, cell
            else:
                count = -count
                theirs += count
                base, point = RAW, BAR - cell
            if point == BAR:
                _add_some(hidden, inward, base + BAR_UNIT, np.float32(0.5 * count))
                continue
            row = base + (point - 1) * COUNTS
            _add(hidden, inward, row + min(count, 3) - 1)
            if count > 3:
                _add_some(hidden, inward, row + 3, np.float32(0.5 * (count - 3)))
        _add_some(hidden, inward, OFF_UNIT, np.float32((CHECKERS - own) / CHECKERS))
        _add_some(hidden, inward, RAW + OFF_UNIT, np.float32((CHECKERS - theirs) / CHECKERS))
        for chance in range(CHANCES):
            total = pruner.offset[chance]
            for unit in range(len(hidden)):
                total += max(hidden[unit], np.float32(0)) * pruner.outward[chance, unit]
            chances[chance] = np.float32(1) / (np.float32(1) + np.exp(-total))
    return float(2 * chances[0] - 1 + chances[1] + chances[2] - chances[3] - chances[4])
