"""The pruner: a very small network of raw counts that selects the plays worth evaluating by a better one.

`pruner_equity` values a single board, `expand` goes through all 21 rolls of many boards and returns the plays that
the pruner leaves. That is half of the time of a search, so the first layer is not summed anew for each play: the
board before the roll is summed once, and a play adds only the points that it changes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from attrs import field, frozen
from attrs.validators import ge, le

from fibsbot.engine.arrays import AS_INT, BAR, CELLS, CHECKERS, OUTPUTS, ROLL_COUNT, Board, Boards, Floats32, Int32s
from fibsbot.engine.features import BAR_INPUT, INPUTS_PER_POINT, OFF_INPUT, RAW_INPUTS, SIDE_INPUTS, Inputs, encode_all
from fibsbot.engine.generator import MAX_PLAYS, Scratch, generate, plays_and_scratch, swap, write_game_over
from fibsbot.engine.jit import compiled, inner
from fibsbot.engine.network import Network


class Pruner(NamedTuple):
    """The weights, and room to work: each thread needs one of its own. Hidden units are rectified, outputs logistic."""

    input_weights: Floats32
    """Shape (2 * RAW, hidden): what the player on roll has, then the opponent, each seen by itself."""
    hidden_bias: Floats32
    output_weights: Floats32
    """Shape (OUTPUTS, hidden)."""
    output_bias: Floats32
    hidden: Floats32
    chances: Floats32


def raw_columns() -> npt.NDArray[np.intp]:
    """Return which of a position's inputs a pruner sees, shape (2 * RAW,)."""
    return np.concatenate([np.arange(RAW_INPUTS), SIDE_INPUTS + np.arange(RAW_INPUTS)])


def encode_raw(boards: Boards) -> Inputs:
    """Return what a pruner sees of boards, shape (n, 2 * RAW)."""
    return encode_all(boards)[:, raw_columns()]


def pruner_of(network: Network) -> Pruner:
    """Return a network of one hidden layer, which sees the raw inputs alone, as a pruner."""
    (input_weights, output_weights), (threshold, offset) = network.weights, network.biases
    return Pruner(
        input_weights=np.ascontiguousarray(input_weights),
        hidden_bias=threshold,
        output_weights=np.ascontiguousarray(output_weights.T),
        output_bias=offset,
        hidden=np.zeros_like(threshold),
        chances=np.zeros(OUTPUTS, np.float32),
    )


@inner
def _add(hidden: Floats32, weights: Floats32, row: int) -> None:
    for unit in range(len(hidden)):
        hidden[unit] += weights[row, unit]


@inner
def _add_some(hidden: Floats32, weights: Floats32, row: int, amount: np.float32) -> None:
    for unit in range(len(hidden)):
        hidden[unit] += amount * weights[row, unit]


@compiled
def pruner_equity(pruner: Pruner, board: Board) -> float:
    """Return about what a position is worth to the player on roll, in points without a cube."""
    chances = pruner.chances
    if not write_game_over(board, chances):
        hidden, input_weights = pruner.hidden, pruner.input_weights
        for unit in range(len(hidden)):
            hidden[unit] = pruner.hidden_bias[unit]
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
                base, point = RAW_INPUTS, BAR - cell
            if point == BAR:
                _add_some(hidden, input_weights, base + BAR_INPUT, np.float32(0.5 * count))
                continue
            row = base + (point - 1) * INPUTS_PER_POINT
            _add(hidden, input_weights, row + min(count, 3) - 1)
            if count > 3:
                _add_some(hidden, input_weights, row + 3, np.float32(0.5 * (count - 3)))
        _add_some(hidden, input_weights, OFF_INPUT, np.float32((CHECKERS - own) / CHECKERS))
        _add_some(hidden, input_weights, RAW_INPUTS + OFF_INPUT, np.float32((CHECKERS - theirs) / CHECKERS))
        for chance in range(OUTPUTS):
            total = pruner.output_bias[chance]
            for unit in range(len(hidden)):
                total += max(hidden[unit], np.float32(0)) * pruner.output_weights[chance, unit]
            chances[chance] = np.float32(1) / (np.float32(1) + np.exp(-total))
    return float(2 * chances[0] - 1 + chances[1] + chances[2] - chances[3] - chances[4])


WORST_EQUITY: Final = np.float32(1e9)
"""More than any equity; compiled functions are fast because they know no infinity."""

ROWS_PER_POINT: Final = CHECKERS + 1
"""Rows of `PrunerBuffers` per point of a side: no checker, one, and so on; point 25 is the bar, 0 is off."""
WON_VALUE: Final = np.float32(-4)
"""What a play is taken for that ends the game: less than any, nothing is better for the mover."""
MOVER_ROWS: Final = CELLS * ROWS_PER_POINT
"""Where the rows of the side begin that has just played; those of the opponent, then on roll, come before them."""


@frozen
class PlayFilter:
    """Which plays are looked at by the better network."""

    margin: float = field(default=0.2, validator=[ge(0), le(1000)])
    """How far, in equity, the pruner may hold a play below its best."""
    most: int = field(default=6, validator=[ge(1), le(MAX_PLAYS)])


class PrunerBuffers(NamedTuple):
    """A pruner made ready to weigh all plays of a roll, and room for that; each thread needs its own."""

    rows: Floats32
    """What so many checkers of a side on a point add, shape (2 * 26 * HEIGHT, hidden); see MOVER."""
    hidden_bias: Floats32
    output_weights: Floats32
    output_bias: Floats32
    before: Floats32
    hidden: Floats32
    plays: Boards
    scratch: Scratch
    values: Floats32
    changed: npt.NDArray[np.int64]
    """Of a play which rows give way to which, shape (54, 2): at most one a cell and side, and those of checkers off."""


def new_pruner_buffers(pruner: Pruner) -> PrunerBuffers:
    """Return a pruner's scales."""
    hidden = len(pruner.hidden_bias)
    rows = np.zeros((2, CELLS, ROWS_PER_POINT, hidden), np.float32)
    for side, input_weights in enumerate((pruner.input_weights[:RAW_INPUTS], pruner.input_weights[RAW_INPUTS:])):
        for count in range(1, CHECKERS + 1):
            for point in range(1, BAR):
                row = (point - 1) * INPUTS_PER_POINT
                more = np.float32(0.5 * max(count - 3, 0))
                rows[side, point, count] = input_weights[row + min(count, 3) - 1] + more * input_weights[row + 3]
            rows[side, BAR, count] = np.float32(0.5 * count) * input_weights[BAR_INPUT]
            rows[side, 0, count] = np.float32(count / CHECKERS) * input_weights[OFF_INPUT]
    plays, scratch = plays_and_scratch()
    return PrunerBuffers(
        rows.reshape(-1, hidden),
        np.ascontiguousarray(pruner.hidden_bias),
        np.ascontiguousarray(pruner.output_weights),
        np.ascontiguousarray(pruner.output_bias),
        np.zeros(hidden, np.float32),
        np.zeros(hidden, np.float32),
        plays,
        scratch,
        np.zeros(MAX_PLAYS, np.float32),
        np.zeros((2 * CELLS + 2, 2), np.int64),
    )


@compiled
def expand(scales: PrunerBuffers, boards: Boards, margin: np.float32, most: int, found: Boards, slots: Int32s) -> int:
    """Write what the plays leave that deserve a look, seen by the opponent, and the slot of each; return how many.

    A slot is `row * 21 + roll`, the rolls in the order 1-1, 2-1, 2-2, 3-1 and so on; none is left out, a dance leaves
    the board. Returns -1 where there is no room for all. A play deserves a look if it is among so many best (`most`, at
    most MAX_PLAYS) and not further than the margin below the best. Games that are over have no rolls: leave them out.
    """
    plays, values = scales.plays, scales.values
    count = 0
    for row in range(len(boards)):
        board = boards[row]
        before_is_known = False
        slot = row * ROLL_COUNT
        for high in range(1, 7):
            for low in range(1, high + 1):
                if count + most > len(found):
                    return -1
                of = generate(board, high, low, plays, scales.scratch)
                if of < 2:
                    swap(plays[0] if of else board, found[count])
                    slots[count] = slot
                    count += 1
                    slot += 1
                    continue
                if not before_is_known:
                    _write_before(scales, board)
                    before_is_known = True
                _weigh(scales, board, of)
                first = count
                least = WORST_EQUITY
                while count - first < most:
                    best = 0
                    for play in range(1, of):
                        if values[play] < values[best]:
                            best = play
                    if count == first:
                        least = values[best]
                    if values[best] > least + margin:
                        break
                    swap(plays[best], found[count])
                    slots[count] = slot
                    values[best] = WORST_EQUITY
                    count += 1
                slot += 1
    return count


@inner
def _write_before(scales: PrunerBuffers, board: Board) -> None:
    """Add up the first layer for a board of the mover, as it is before he plays."""
    rows, before = scales.rows, scales.before
    own, theirs = CHECKERS, CHECKERS
    for unit in range(len(before)):
        before[unit] = scales.hidden_bias[unit]
    for cell in range(CELLS + 2):
        if cell < CELLS:
            count = board[cell]
            if count == 0:
                continue
            if count > 0:
                own -= count
                row = MOVER_ROWS + cell * ROWS_PER_POINT + count
            else:
                theirs += count
                row = (BAR - cell) * ROWS_PER_POINT - count
        else:
            row = MOVER_ROWS + own if cell == CELLS else theirs
        for unit in range(len(before)):
            before[unit] += rows[row, unit]


@inner
def _weigh(scales: PrunerBuffers, board: Board, count: int) -> None:
    """Write into `values` about what each play is worth to the opponent, in points without a cube."""
    rows, before, hidden, plays, values = scales.rows, scales.before, scales.hidden, scales.plays, scales.values
    output_weights, offset, units, changed = (
        scales.output_weights,
        scales.output_bias,
        len(scales.hidden),
        scales.changed,
    )
    off = CHECKERS
    for cell in range(1, CELLS):
        off -= max(AS_INT + board[cell], 0)
    for play in range(count):
        changes = 0
        left = off
        for cell in range(CELLS):
            old, new = AS_INT + board[cell], AS_INT + plays[play, cell]
            if old == new:
                continue
            left += max(old, 0) - max(new, 0)
            # Rows of no checkers are zero, and a point is never both sides'.
            changed[changes, 0] = MOVER_ROWS + cell * ROWS_PER_POINT + max(old, 0)
            changed[changes, 1] = MOVER_ROWS + cell * ROWS_PER_POINT + max(new, 0)
            changes += 1
            if old < 0 or new < 0:
                changed[changes, 0] = (BAR - cell) * ROWS_PER_POINT + max(-old, 0)
                changed[changes, 1] = (BAR - cell) * ROWS_PER_POINT + max(-new, 0)
                changes += 1
        if left > off:
            if left == CHECKERS:
                values[play] = WON_VALUE
                continue
            changed[changes, 0] = MOVER_ROWS + off
            changed[changes, 1] = MOVER_ROWS + left
            changes += 1
        for unit in range(units):
            hidden[unit] = before[unit]
        for change in range(changes):
            old, new = changed[change, 0], changed[change, 1]
            for unit in range(units):
                hidden[unit] += rows[new, unit] - rows[old, unit]
        value = np.float32(-1)
        for chance in range(len(offset)):  # with a plain 5 the compiler writes all of it out five times
            total = offset[chance]
            for unit in range(units):
                total += max(hidden[unit], np.float32(0)) * output_weights[chance, unit]
            sure = np.float32(1) / (np.float32(1) + np.exp(-total))
            value += 2 * sure if chance == 0 else sure if chance < 3 else -sure
        values[play] = value
