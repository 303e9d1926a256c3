"""TD network: one small hidden layer, trained from nothing by TD(0) self-play (Tesauro 1992).

It evaluates one position at a time inside compiled loops. The first deep network learns from it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from attrs import frozen

from fibsbot.engine.arrays import (
    CELLS,
    OUTPUTS,
    Board,
    Boards,
    Floats32,
    Matrix32,
    Outcomes,
    Vector32,
    Vector64,
    boards_of,
)
from fibsbot.engine.bearoff import NO_TABLES, TableArrays
from fibsbot.engine.features import ESCAPES, INPUTS, SIDE_INPUTS, encode_into
from fibsbot.engine.generator import Scratch, copy, generate, plays_and_scratch, swap, write_game_over
from fibsbot.engine.jit import compiled, inner
from fibsbot.engine.network import NetworkError, load_arrays, save_arrays
from fibsbot.engine.network_evaluator import evaluate_with
from fibsbot.engine.rulesets.network import HiddenLayerNetwork, evaluate_inputs
from fibsbot.position import Position

_KEYS: Final = ("inward", "threshold", "outward", "offset")
"""Names of the arrays of a `TDNetwork` in its file, in the order of its fields."""


class TDNetwork(NamedTuple):
    """The weights. Hidden units are softsign, outputs logistic."""

    input_weights: Matrix32
    """Shape (INPUTS, hidden)."""
    hidden_bias: Vector32
    """Shape (hidden,)."""
    output_weights: Matrix32
    """Shape (OUTPUTS, hidden)."""
    output_bias: Vector32
    """Shape (OUTPUTS,)."""


class TDBuffers(NamedTuple):
    """Buffers to evaluate a position; each thread needs its own."""

    sides: Boards
    """The position as each side sees it, shape (2, 26)."""
    inputs: Vector32
    hidden: Vector32
    chances: Vector32
    """The chances of the last position for the player on roll, shape (OUTPUTS,)."""
    escapes: Vector32


def new_td_network(hidden: int, seed: int) -> TDNetwork:
    """Return a TD network with random weights and biases that make gammons rare."""
    rng = np.random.default_rng(seed)
    return TDNetwork(
        input_weights=(rng.standard_normal((INPUTS, hidden)) * 0.1).astype(np.float32),
        hidden_bias=np.zeros(hidden, np.float32),
        output_weights=(rng.standard_normal((OUTPUTS, hidden)) * 0.1).astype(np.float32),
        output_bias=np.array([0, -1.5, -4, -1.5, -4], np.float32),
    )


def save_td_network(path: Path, network: TDNetwork, games: int) -> None:
    """Write a TD network and its number of games, atomically."""
    save_arrays(path, games=np.int64(games), **dict(zip(_KEYS, network, strict=True)))


def load_td_network(path: Path, new: TDNetwork) -> tuple[TDNetwork, int]:
    """Read a TD network shaped like `new` and its number of games; raise NetworkError if the shape differs."""
    arrays = load_arrays(path)
    expected = {"games": (), **{key: weights.shape for key, weights in zip(_KEYS, new, strict=True)}}
    if {name: weights.shape for name, weights in arrays.items()} != expected:
        raise NetworkError(f"{path}: expected a student of {len(new.hidden_bias)} hidden units, found something else")
    games = int(arrays.pop("games"))
    return TDNetwork(*(arrays[key] for key in _KEYS)), games


def new_td_buffers(network: TDNetwork) -> TDBuffers:
    """Return buffers for a TD network."""
    return TDBuffers(
        sides=np.zeros((2, CELLS), np.int8),
        inputs=np.zeros(INPUTS, np.float32),
        hidden=np.zeros(len(network.hidden_bias), np.float32),
        chances=np.zeros(OUTPUTS, np.float32),
        escapes=ESCAPES,
    )


@inner
def load_inputs(buffers: TDBuffers, board: Board) -> None:
    """Write the inputs of a position into the buffers."""
    for cell in range(CELLS):
        buffers.sides[0, cell] = board[cell]
    swap(board, buffers.sides[1])
    encode_into(buffers.sides, buffers.inputs.reshape(2, SIDE_INPUTS), buffers.escapes)


@inner
def forward(network: TDNetwork, buffers: TDBuffers) -> None:
    """Write the chances of the position whose inputs are in the buffers."""
    evaluate_inputs(network, buffers.inputs, buffers.hidden, buffers.chances)


@compiled
def value(network: TDNetwork, buffers: TDBuffers, board: Board) -> float:
    """Return the cubeless equity of a position for the player on roll, and leave its chances in the buffers."""
    chances = buffers.chances
    if not write_game_over(board, chances):
        load_inputs(buffers, board)
        forward(network, buffers)
        chances[1] = min(chances[1], chances[0])
        chances[2] = min(chances[2], chances[1])
        chances[3] = min(chances[3], 1 - chances[0])
        chances[4] = min(chances[4], chances[3])
    return float(2 * chances[0] - 1 + chances[1] + chances[2] - chances[3] - chances[4])


MAX_TURNS = 2000
"""A longer game is abandoned: an untrained network can build blockades that last."""


class SelfPlayBuffers(NamedTuple):
    """Buffers for self-play; each thread needs its own."""

    plays: Boards
    scratch: Scratch
    start: Board
    board: Board
    swapped: Board
    """The position seen by the other player, shape (26,)."""
    buffers: TDBuffers
    next_buffers: TDBuffers
    """Buffers for the next position, whose evaluation is the target of the last one."""
    errors: Vector32
    """Gradients of the hidden units, shape (hidden,)."""
    counts: Vector64
    """Turns, gammons and squared differences, shape (3,)."""


class SelfPlayStats(NamedTuple):
    """Statistics of self-play games."""

    games: int
    turns: int
    gammons: int
    error: float
    """Squared differences of equity between neighbouring positions, summed over turns."""


def new_self_play_buffers(network: TDNetwork) -> SelfPlayBuffers:
    """Return buffers for a TD network's games."""
    plays, scratch = plays_and_scratch()
    return SelfPlayBuffers(
        plays=plays,
        scratch=scratch,
        start=boards_of([Position.start()])[0],
        board=np.zeros(CELLS, np.int8),
        swapped=np.zeros(CELLS, np.int8),
        buffers=new_td_buffers(network),
        next_buffers=new_td_buffers(network),
        errors=np.zeros(network.hidden_bias.shape[0], np.float32),
        counts=np.zeros(3),
    )


def learn(network: TDNetwork, memory: SelfPlayBuffers, games: int, seed: int, rate: float) -> SelfPlayStats:
    """Play games of the network against itself and update the weights after each turn; return statistics."""
    memory.counts.fill(0)
    _learn(network, memory, games, seed, np.float32(rate))
    turns, gammons, error = memory.counts.tolist()
    return SelfPlayStats(games, int(turns), int(gammons), error)


@inner
def best_play(network: TDNetwork, buffers: TDBuffers, plays: Boards, count: int, swapped: Board) -> int:
    """Return the index of the play that the network values most for the player who makes it."""
    best = 0
    least = 1e9  # more than any equity; compiled functions know no infinity
    for play in range(count):
        swap(plays[play], swapped)
        theirs = value(network, buffers, swapped)
        if theirs < least:
            least, best = theirs, play
    return best


@compiled
def _learn(network: TDNetwork, memory: SelfPlayBuffers, games: int, seed: int, rate: np.float32) -> None:
    """Play, and add to `memory.counts` the turns, the gammons and the squared differences of equity."""
    np.random.seed(seed)  # noqa: NPY002 - compiled functions have no other generator of their own
    board, swapped, next_buffers, counts = memory.board, memory.swapped, memory.next_buffers, memory.counts
    for _ in range(games):
        copy(memory.start, board)
        for turn in range(MAX_TURNS):
            one = np.random.randint(1, 7)  # noqa: NPY002
            other = np.random.randint(1, 7)  # noqa: NPY002
            while turn == 0 and one == other:
                other = np.random.randint(1, 7)  # noqa: NPY002
            count = generate(board, max(one, other), min(one, other), memory.plays, memory.scratch)
            load_inputs(memory.buffers, board)
            if count:
                copy(memory.plays[best_play(network, next_buffers, memory.plays, count, swapped)], board)
            swap(board, swapped)
            theirs = value(network, next_buffers, swapped)
            forward(network, memory.buffers)
            difference = _update(network, memory, rate)
            counts[0] += 1
            counts[2] += difference * difference
            copy(swapped, board)
            if write_game_over(board, next_buffers.chances):
                if theirs < -1:
                    counts[1] += 1
                break


@inner
def move_hidden_layer(network: HiddenLayerNetwork, inputs: Floats32, hidden: Floats32, errors: Floats32) -> None:
    """Move the weights of the hidden layer by the errors of its outputs, which become those of its sums."""
    units = len(network.hidden_bias)
    for unit in range(units):
        slope = np.float32(1.0) - abs(hidden[unit])
        errors[unit] *= slope * slope
        network.hidden_bias[unit] += errors[unit]
    for place in range(len(network.input_weights)):
        amount = inputs[place]
        if amount != 0.0:
            for unit in range(units):
                network.input_weights[place, unit] += amount * errors[unit]


@inner
def _update(network: TDNetwork, memory: SelfPlayBuffers, rate: np.float32) -> float:
    """Move the chances towards the next position's, seen by this side; return the difference of the equities."""
    learned, seen, errors = memory.buffers.chances, memory.next_buffers.chances, memory.errors
    hidden, inputs = memory.buffers.hidden, memory.buffers.inputs
    units = hidden.shape[0]
    for unit in range(units):
        errors[unit] = 0.0
    difference = 0.0
    for chance in range(OUTPUTS):
        target = np.float32(1.0) - seen[0] if chance == 0 else seen[chance + 2 if chance < 3 else chance - 2]
        miss = target - learned[chance]
        difference += miss if 1 <= chance <= 2 else -miss if chance else 2 * miss
        step = rate * miss
        network.output_bias[chance] += step
        for unit in range(units):
            errors[unit] += step * network.output_weights[chance, unit]
            network.output_weights[chance, unit] += step * hidden[unit]
    move_hidden_layer(network, inputs, hidden, errors)
    return difference


@frozen(eq=False)
class TDEvaluator:
    """Evaluates positions with a TD network; used for the labels of the first deep network."""

    name: str
    network: TDNetwork
    columns: TableArrays = NO_TABLES

    def evaluate(self, boards: Boards) -> Outcomes:
        """Return the chances of the player on roll, shape (n, 6)."""
        return evaluate_with(boards, self.columns, self._chances)

    def _chances(self, boards: Boards) -> Floats32:
        chances = np.empty((len(boards), OUTPUTS), np.float32)
        _evaluate_all(self.network, new_td_buffers(self.network), boards, chances)
        return chances


@compiled
def _evaluate_all(network: TDNetwork, buffers: TDBuffers, boards: Boards, chances: Matrix32) -> None:
    for row in range(len(boards)):
        value(network, buffers, boards[row])
        for chance in range(OUTPUTS):
            chances[row, chance] = buffers.chances[chance]
