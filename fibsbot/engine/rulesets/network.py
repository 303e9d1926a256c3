"""The network that evaluates boards of the family: its inputs, its outputs, and its file.

The inputs are both rows as counts, pins, and a few features of each side; a hidden layer of softsign units leads to six
logistic outputs: the chances that the player who is to roll wins at least one, two and three units, and that he loses
as many. What a unit counts belongs to the game (`unit_points`). A game can be drawn, so that the chances need not add
up to 1.
"""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeAlias

import numpy as np

from fibsbot.engine.arrays import Floats32, Matrix32, Vector32
from fibsbot.engine.jit import compiled, inner
from fibsbot.engine.network import NetworkError, load_arrays, write_whole
from fibsbot.engine.numerics import dot, logistic32
from fibsbot.engine.rulesets.moves import HAND, HOME, START, facing, farthest
from fibsbot.engine.rulesets.parameters import (
    COURSE,
    GAMMON,
    HEAD,
    HIT,
    LAND_BLOCK,
    LANDING,
    MARKS,
    PINNED,
    SIDE,
    THROWS,
    Rules,
    State,
    States,
)

GAME_NETWORKS: Final = Path(__file__).parent.parent / "networks/games"
"""The folder of the bundled networks, one for each game."""
_A_POINT: Final = 5
"""Inputs of a point: one, at least two, at least three, more than three checkers; pinned."""
_FEATURES: Final = 24
SIDE_INPUTS: Final = 24 * _A_POINT + _FEATURES
INPUTS: Final = 2 * SIDE_INPUTS
OUTPUTS: Final = 6
Inputs: TypeAlias = Floats32
Values: TypeAlias = Floats32


class HiddenLayerNetwork(Protocol):
    """A network with one hidden layer of softsign units and logistic outputs."""

    @property
    def input_weights(self) -> Floats32: ...  # noqa: D102 - shape (inputs, hidden)
    @property
    def hidden_bias(self) -> Floats32: ...  # noqa: D102 - shape (hidden,)
    @property
    def output_weights(self) -> Floats32: ...  # noqa: D102 - shape (outputs, hidden)
    @property
    def output_bias(self) -> Floats32: ...  # noqa: D102 - shape (outputs,)


class GameNetwork(NamedTuple):
    """The weights of the network of a tables game."""

    input_weights: Matrix32
    """Shape (INPUTS, hidden)."""
    hidden_bias: Vector32
    """Shape (hidden,)."""
    output_weights: Matrix32
    """Shape (OUTPUTS, hidden)."""
    output_bias: Vector32
    """Shape (OUTPUTS,)."""
    unit_points: Vector32
    """What the first, second and third unit count, shape (3,)."""


class Activations(NamedTuple):
    """Buffers of an evaluation; each thread needs its own."""

    inputs: Vector32
    hidden: Vector32
    outputs: Vector32


def new_network(hidden: int, unit_points: tuple[float, float, float], seed: int) -> GameNetwork:
    """Return a network with random weights."""
    rng = np.random.default_rng(seed)
    bias = [0.0, -1.5, -4.0]
    return GameNetwork(
        input_weights=(rng.standard_normal((INPUTS, hidden)) * 0.1).astype(np.float32),
        hidden_bias=np.zeros(hidden, np.float32),
        output_weights=(rng.standard_normal((OUTPUTS, hidden)) * 0.1).astype(np.float32),
        output_bias=np.array(bias * 2, np.float32),
        unit_points=np.array(unit_points, np.float32),
    )


def new_activations(network: GameNetwork) -> Activations:
    """Return buffers for a network."""
    return Activations(
        np.zeros(INPUTS, np.float32), np.zeros(len(network.hidden_bias), np.float32), np.zeros(OUTPUTS, np.float32)
    )


def save_network(network: GameNetwork, path: Path) -> None:
    """Write a network at half precision, atomically."""
    room = io.BytesIO()
    np.savez_compressed(room, allow_pickle=False, **{k: v.astype(np.float16) for k, v in network._asdict().items()})
    write_whole(path, room.getvalue())


def load_network(path: Path) -> GameNetwork:
    """Read a network. Raises NetworkError if it is none, OSError if it cannot be read."""
    arrays = load_arrays(path)
    if set(arrays) != set(GameNetwork._fields):
        raise NetworkError(f"{path}: expected a network of a tables game, found {', '.join(arrays):.200}")
    network = GameNetwork(**{name: np.ascontiguousarray(array, np.float32) for name, array in arrays.items()})
    hidden = network.hidden_bias.shape[:1]
    expected = ((INPUTS, *hidden), hidden, (OUTPUTS, *hidden), (OUTPUTS,), (3,))
    if tuple(array.shape for array in network) != expected or not all(np.isfinite(array).all() for array in network):
        shapes = ", ".join(str(array.shape) for array in network)
        raise NetworkError(f"{path}: expected finite arrays of the shapes {expected}, found {shapes}")
    return network


@cache
def network_of_game(game: str, folder: Path | None = None) -> GameNetwork:
    """Return the network of a game, by its name without options, from another folder if one is given.

    Raises NetworkError if there is none, and NetworkError or OSError if the network is damaged.
    """
    path = (folder or GAME_NETWORKS) / f"{game}.npz"
    try:
        return load_network(path)
    except FileNotFoundError:
        made_in = folder or "FOLDER"
        raise NetworkError(
            f"expected a network at {path}, found none; `fibsbot train --game {game} -o {made_in}` makes one"
        ) from None


@inner
def _count_inputs(state: State, side: int, inputs: Inputs, first: int) -> None:
    pinned = state[side + PINNED]
    place = first
    for point in range(1, HAND):
        n = state[side + point]
        if n > 0:
            if n == 1:
                inputs[place] = 1.0
            else:
                inputs[place + 1] = 1.0
                if n > 2:
                    inputs[place + 2] = 1.0
                    inputs[place + 3] = (n - 3) * 0.5
            if pinned >> point & 1:
                inputs[place + 4] = 1.0
        place += _A_POINT


@inner
def _feature_inputs(rules: Rules, state: State, side: int, inputs: Inputs, place: int) -> None:
    """Write what is to be seen of a side at a glance: the race, blots, primes, what waits to enter."""
    course, held_by = rules[COURSE], 1 if rules[LANDING] == LAND_BLOCK else 2
    other = SIDE - side
    rear = farthest(state, other)
    pips, home, blots, shots, run, longest, behind = 0, 0, 0, 0, 0, 0, 0
    for point in range(1, HAND + 1):
        pips += point * state[side + point]
        if point <= HOME:
            home += state[side + point]
    for point in range(1, HAND):
        n = state[side + point]
        theirs = facing(course, point)
        if n == 1 and theirs < rear:
            blots += 1
            for distance in range(1, 7):
                if theirs + distance <= HAND and state[other + theirs + distance] > 0:
                    shots += 1
        # A prime is seen by the opponent, who has to pass it: in his numbering.
        mine = facing(course, point)
        own = state[side + mine]
        if own >= held_by or (own == 1 and state[other + PINNED] >> point & 1):
            run += 1
            if run > longest:
                longest = run
                behind = point
        else:
            run = 0
    trapped = 0
    for point in range(behind + 1, HAND + 1):
        trapped += state[other + point]
    barred = 0
    for point in range(START - HOME + 1, HAND):
        if state[side + facing(course, point)] >= held_by:
            barred += 1
    inputs[place] = pips * 0.01
    inputs[place + 1] = state[side + HAND] * 0.25
    inputs[place + 2] = 1.0 if state[side + HAND] > 0 else 0.0
    inputs[place + 3] = state[side + HIT] * 0.25
    inputs[place + 4] = state[side] * 0.0667
    inputs[place + 5] = home * 0.0667
    inputs[place + 6] = blots * 0.25
    inputs[place + 7] = shots * 0.1
    inputs[place + 8] = longest * 0.1667
    inputs[place + 9] = longest * trapped * 0.02
    inputs[place + 10] = barred * 0.1667
    inputs[place + 11] = farthest(state, side) * 0.04
    inputs[place + 12] = 1.0 if longest >= 5 and trapped > 0 else 0.0
    inputs[place + 13] = 1.0 if state[side + THROWS] == 0 else 0.0
    inputs[place + 14] = 1.0 if state[side + THROWS] < 3 else 0.0
    for mark in range(5):
        inputs[place + 15 + mark] = 1.0 if state[side + MARKS] >> mark & 1 else 0.0
    inputs[place + 20] = 1.0 if rear > 0 and _has_passed(course, state, side, rear) else 0.0
    inputs[place + 21] = state[side + START] * 0.0667
    inputs[place + 22] = 1.0 if home + state[side] == 0 else 0.0
    inputs[place + 23] = 1.0 if state[side + HEAD] > 0 else 0.0


@inner
def _has_passed(course: int, state: State, side: int, rear: int) -> bool:
    """Return whether no checker of a side stands where the opponent's last one has still to pass."""
    if state[side + HAND] > 0:
        return False
    for point in range(1, HAND):
        if state[side + point] > 0 and facing(course, point) < rear:
            return False
    return True


@inner
def encode(rules: Rules, state: State, inputs: Inputs) -> None:
    """Write the inputs of a board that is seen by the player who is to roll."""
    for place in range(INPUTS):
        inputs[place] = 0.0
    for which in range(2):
        side, first = which * SIDE, which * SIDE_INPUTS
        _count_inputs(state, side, inputs, first)
        _feature_inputs(rules, state, side, inputs, first + 24 * _A_POINT)


@inner
def evaluate_inputs(network: HiddenLayerNetwork, inputs: Floats32, hidden: Floats32, outputs: Floats32) -> None:
    """Write the hidden units and the outputs for the inputs; the hidden layer may be narrower than its buffer."""
    units = len(network.hidden_bias)
    for unit in range(units):
        hidden[unit] = network.hidden_bias[unit]
    for place in range(len(network.input_weights)):
        value = inputs[place]
        if value != 0.0:
            for unit in range(units):
                hidden[unit] += value * network.input_weights[place, unit]
    for unit in range(units):
        hidden[unit] /= np.float32(1.0) + abs(hidden[unit])
    for output in range(len(network.output_bias)):
        total = network.output_bias[output] + dot(hidden, network.output_weights[output], units)
        outputs[output] = logistic32(total)


@inner
def forward(network: GameNetwork, buffers: Activations) -> None:
    """Write the outputs for the inputs in the buffers, which may be those of a wider network."""
    evaluate_inputs(network, buffers.inputs, buffers.hidden, buffers.outputs)


@inner
def points_of(network: GameNetwork, outputs: Values) -> float:
    """Return the expected points of the player who is to roll."""
    total = 0.0
    for unit in range(3):
        total += network.unit_points[unit] * (outputs[unit] - outputs[unit + 3])
    return float(total)


@inner
def value(rules: Rules, network: GameNetwork, buffers: Activations, state: State) -> float:
    """Return the expected points of the player who is to roll, and leave the outputs in the buffers."""
    encode(rules, state, buffers.inputs)
    forward(network, buffers)
    return points_of(network, buffers.outputs)


@inner
def bound(rules: Rules, state: State, outputs: Values) -> None:
    """Correct what cannot be: more units won than games, and a gammon after a checker was borne off."""
    for first in range(0, OUTPUTS, 3):
        loser = SIDE if first == 0 else 0
        outputs[first + 1] = min(outputs[first + 1], outputs[first])
        if rules[GAMMON] and state[loser] > 0:
            outputs[first + 1] = 0.0
        outputs[first + 2] = min(outputs[first + 2], outputs[first + 1])


@inner
def bounded_value(rules: Rules, network: GameNetwork, buffers: Activations, state: State) -> float:
    """Return the expected points of the player who is to roll, by corrected outputs."""
    value(rules, network, buffers, state)
    bound(rules, state, buffers.outputs)
    return points_of(network, buffers.outputs)


@compiled
def evaluate_states(
    rules: Rules, network: GameNetwork, buffers: Activations, states: States, outputs: Matrix32
) -> None:
    """Write the outputs for boards, one a row, seen by the player who is to roll."""
    for row in range(len(states)):
        bounded_value(rules, network, buffers, states[row])
        for output in range(OUTPUTS):
            outputs[row, output] = buffers.outputs[output]
