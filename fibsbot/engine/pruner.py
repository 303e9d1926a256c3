"""The pruner: a small network on raw counts that selects the plays to be evaluated by the main network.

`pruner_equity` evaluates a single board. `expand` generates the plays of all 21 rolls of many boards and keeps those
that the pruner selects. That takes half of the time of a search, so the first layer is computed incrementally: the sums
of the board before the roll are computed once, and each play adds only the points that it changes.
"""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from attrs import field, frozen
from attrs.validators import ge, le

from fibsbot.engine.arrays import (
    AS_INT,
    BAR,
    CELLS,
    CHECKERS,
    OUTPUTS,
    ROLL_COUNT,
    Board,
    Boards,
    Floats32,
    IntVector32,
    Matrix32,
    Vector32,
)
from fibsbot.engine.features import BAR_INPUT, INPUTS_PER_POINT, OFF_INPUT, RAW_INPUTS, SIDE_INPUTS, Inputs, encode_all
from fibsbot.engine.generator import MAX_PLAYS, Scratch, generate, plays_and_scratch, swap, write_game_over
from fibsbot.engine.jit import compiled, inner
from fibsbot.engine.network import Network, logistic
from fibsbot.engine.numerics import GROUP, logistic32, rectified_dots_of
from fibsbot.engine.simd import find_changes, lowest_bit

_output_sums: Final = rectified_dots_of(OUTPUTS)


class Pruner(NamedTuple):
    """Weights and buffers; each thread needs its own. Hidden units are rectified, outputs logistic."""

    input_weights: Matrix32
    """Shape (2 * RAW_INPUTS, hidden): the raw inputs of the player on roll, then of the opponent."""
    hidden_bias: Vector32
    output_weights: Matrix32
    """Shape (OUTPUTS, hidden)."""
    output_bias: Vector32
    hidden: Vector32
    chances: Vector32


def raw_columns() -> npt.NDArray[np.intp]:
    """Return the indices of a position's inputs that a pruner uses, shape (2 * RAW_INPUTS,)."""
    return np.concatenate([np.arange(RAW_INPUTS), SIDE_INPUTS + np.arange(RAW_INPUTS)])


def encode_raw(boards: Boards) -> Inputs:
    """Return the pruner's inputs of boards, shape (n, 2 * RAW_INPUTS)."""
    return encode_all(boards)[:, raw_columns()]


def pruner_of(network: Network) -> Pruner:
    """Return a pruner made of a network with one hidden layer on the raw inputs."""
    (input_weights, output_weights), (bias, output_bias) = network.weights, network.biases
    more = -len(bias) % GROUP  # units without weights make whole groups
    return Pruner(
        input_weights=np.pad(input_weights, ((0, 0), (0, more))),
        hidden_bias=np.pad(bias, (0, more)),
        output_weights=np.ascontiguousarray(np.pad(output_weights, ((0, more), (0, 0))).T),
        output_bias=output_bias,
        hidden=np.zeros(len(bias) + more, np.float32),
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
    """Return an estimate of the cubeless equity of the player on roll."""
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
        _output_sums(hidden, pruner.output_weights, len(hidden), chances)
        for chance in range(OUTPUTS):
            chances[chance] = logistic32(pruner.output_bias[chance] + chances[chance])
    return float(2 * chances[0] - 1 + chances[1] + chances[2] - chances[3] - chances[4])


WORST_EQUITY: Final = np.float32(1e9)
"""More than any equity. Not infinity: compiled functions are compiled without support for it, which makes them fast."""

ROWS_PER_POINT: Final = CHECKERS + 1
"""Rows of `PrunerBuffers` per point of a side: no checker, one, and so on. Point 25 is the bar, 0 checkers off."""
WON_VALUE: Final = np.float32(-4)
"""The value of a play that ends the game: the least for the opponent, so that nothing is better for the mover."""
MOVER_ROWS: Final = CELLS * ROWS_PER_POINT
"""Index of the first row of the mover's side; the rows of the opponent, who is on roll then, come before it."""


@frozen
class PlayFilter:
    """Limits for the plays that are evaluated further."""

    margin: float = field(default=0.2, validator=[ge(0), le(1000)])
    """The largest difference in equity to the best play."""
    most: int = field(default=6, validator=[ge(1), le(MAX_PLAYS)])


class PrunerBuffers(NamedTuple):
    """A pruner prepared for the plays of whole rolls, with its buffers; each thread needs its own."""

    rows: Matrix32
    """Contribution of each number of checkers on each point, shape (2 * 26 * ROWS_PER_POINT, hidden)."""
    hidden_bias: Vector32
    output_weights: Matrix32
    output_bias: Vector32
    before: Vector32
    hidden: Vector32
    plays: Boards
    scratch: Scratch
    values: Vector32
    sums: Vector32
    """The sums of the outputs of a play, shape (OUTPUTS,)."""
    logistic: Vector32
    """`logistic_table`."""


def new_pruner_buffers(pruner: Pruner) -> PrunerBuffers:
    """Return the buffers for a pruner."""
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
        np.zeros(OUTPUTS, np.float32),
        logistic_table(),
    )


@compiled
def expand(
    scales: PrunerBuffers, boards: Boards, margin: np.float32, most: int, found: Boards, slots: IntVector32
) -> int:
    """Write the boards after the selected plays, seen by the opponent, and the slot of each; return their number.

    A slot is `row * 21 + roll`, rolls in the order of `match.ROLLS`. Every slot occurs: if no checker can move, with
    the board itself. Returns -1 if `found` is too short. A play is selected if it is one of the `most` best (not above
    MAX_PLAYS) and at most `margin` below the best. The games must not be over.
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


_REACH: Final = 16
"""Sums beyond this are as good as sure."""
_STEPS: Final = 32
"""Steps of `logistic_table` per unit. Between them it is linear, and at most 0.00002 off."""


@functools.cache
def logistic_table() -> Vector32:
    """Return the logistic function from -_REACH to _REACH and one step beyond."""
    steps: Floats32 = np.arange(2 * _REACH * _STEPS + 2).astype(np.float32) / np.float32(_STEPS) - np.float32(_REACH)
    return np.ascontiguousarray(logistic(steps[None])[0])


@inner
def _logistic(table: Floats32, total: np.float32) -> np.float32:
    place = (min(max(total, np.float32(-_REACH)), np.float32(_REACH)) + np.float32(_REACH)) * np.float32(_STEPS)
    step = np.int64(place)
    return np.float32(table[step] + (place - np.float32(step)) * (table[step + 1] - table[step]))


@inner
def _replace(hidden: Floats32, rows: Floats32, old: int, new: int) -> None:
    """Put one row of weights in place of another in the sums."""
    for unit in range(len(hidden)):
        hidden[unit] += rows[new, unit] - rows[old, unit]


@inner
def _write_before(scales: PrunerBuffers, board: Board) -> None:
    """Compute the sums of the first layer for the mover's board before the play."""
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
    """Write an estimate of the opponent's cubeless equity after each play into `values`."""
    rows, hidden, plays, values = scales.rows, scales.hidden, scales.plays, scales.values
    sums, offset, units, table = scales.sums, scales.output_bias, len(hidden), scales.logistic
    off = CHECKERS
    for cell in range(1, CELLS):
        off -= max(AS_INT + board[cell], 0)
    for play in range(count):
        left = off
        for unit in range(units):
            hidden[unit] = scales.before[unit]
        changes = find_changes(board, plays[play])
        while changes:
            cell = lowest_bit(changes)
            changes &= changes - 1
            old, new = AS_INT + board[cell], AS_INT + plays[play, cell]
            left += max(old, 0) - max(new, 0)
            # Rows of no checkers are zero, and a point is never both sides'.
            row = MOVER_ROWS + cell * ROWS_PER_POINT
            _replace(hidden, rows, row + max(old, 0), row + max(new, 0))
            if old < 0 or new < 0:
                row = (BAR - cell) * ROWS_PER_POINT
                _replace(hidden, rows, row + max(-old, 0), row + max(-new, 0))
        if left > off:
            if left == CHECKERS:
                values[play] = WON_VALUE
                continue
            _replace(hidden, rows, MOVER_ROWS + off, MOVER_ROWS + left)
        _output_sums(hidden, scales.output_weights, units, sums)
        win, gammon = _logistic(table, offset[0] + sums[0]), _logistic(table, offset[1] + sums[1])
        backgammon, lose_gammon = _logistic(table, offset[2] + sums[2]), _logistic(table, offset[3] + sums[3])
        lose_backgammon = _logistic(table, offset[4] + sums[4])
        values[play] = 2 * win - 1 + (gammon + backgammon) - (lose_gammon + lose_backgammon)
