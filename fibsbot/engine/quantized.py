"""Networks of 16-bit integers: what the engine evaluates positions with.

The weights of a `Network`, unit by unit, its inputs and what its layers give are scaled to integers. Sums of products
have 32 bits and are exact: the result of a row depends neither on the rows beside it nor on the processor's vectors.
A fifth of the inputs and a quarter of what the layers give is not zero, and only that is multiplied; in the first
layer only what differs from the row before, because positions that a search compares differ in a few points.

No sum overflows, whatever the network (see `_STEPS`, `_TOTAL`). The last layer has floating-point numbers.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from fibsbot.engine.arrays import Floats32
from fibsbot.engine.jit import compiled, inner
from fibsbot.engine.network import Network
from fibsbot.engine.simd import (
    BIT_PLACES,
    GROUP,
    TILE,
    Bytes,
    Sums,
    Words,
    accumulate_by,
    find_nonzero,
    host_form,
    layout,
)

_LARGEST_WEIGHT: Final = (1 << 13) - 1
_LARGEST_WORD: Final = (1 << 15) - 2
"""Of what a layer gives, before it is rounded."""
_STEPS: Final = 1 << 11
"""What an input of 1 becomes. Sums overflow where inputs add up to 128; those of no position add up to 60."""
_TOTAL: Final = 200_000
"""What the outputs of a layer add up to at most, before they are rounded: sums overflow beyond 262,000."""
_BLOCK: Final = 32
"""Rows that go through a layer together, so that its weights stay in the processor's nearest cache."""
_SHIFT: Final = np.uint32(TILE.bit_length() - 1)

_FORM: Final = host_form()
_accumulate = accumulate_by(_FORM)


class QuantizedNetwork(NamedTuple):
    """A network of integers. Everything of a layer stands behind that of the layer before."""

    layers: npt.NDArray[np.int64]
    """Of each layer but the last the inputs, the units (a multiple of TILE), and where its weights and units begin."""
    weights: Words
    """Of each layer (tiles, inputs, TILE), each tile in the order of `simd.layout`."""
    scales: Floats32
    """What an integer of 1 in the sum of a unit stands for, of inputs that are integers themselves."""
    biases: Floats32
    output_weights: Floats32
    """Weights of the last layer, shape (outputs, inputs)."""
    output_bias: Floats32
    """Thresholds of the last layer."""


class _Room(NamedTuple):
    """Room to work, for one call."""

    inputs: Words
    """The inputs of a row and of the row before it, shape (2, width); zeros follow the last input."""
    before: Sums
    """The sums of the first layer in the last row of the block before, shape (units,)."""
    zeros: Sums
    """As many as a layer has units at most."""
    sums: Sums
    """Of a layer by row and unit, shape (_BLOCK, units)."""
    outputs: Floats32
    """The same once biases are added and what is below 0 is made 0."""
    words: Words
    """What goes into a layer for one row."""
    places: Sums
    """Of each row TILE times the places of the words that are not zero; an odd number is made even by a word of 0."""
    values: Words
    """These words."""
    pairs: Sums
    """Half as many as there are of them, by row."""
    steps: Floats32
    """What a word of 1 stands for, by row."""
    most: Floats32
    """The largest output of a row, shape (1,)."""


def quantize(network: Network) -> QuantizedNetwork:
    """Return a network as integers; it needs a hidden layer at least."""
    layers, weights, scales, biases = [], [], [], []
    order = layout(_FORM)
    weight, unit = 0, 0
    below = network.weights[0].shape[0]
    for exact, bias in zip(network.weights[:-1], network.biases[:-1], strict=True):
        units = -(-exact.shape[1] // TILE) * TILE
        padded = np.zeros((below, units), np.float32)
        padded[: len(exact), : exact.shape[1]] = exact
        largest = np.abs(padded).max(axis=0)
        steps = np.where(largest > 0, _LARGEST_WEIGHT / np.where(largest > 0, largest, 1), 1)
        integers = np.rint(padded * steps).astype(np.int16)
        weights.append(integers.reshape(below, -1, TILE)[:, :, order].swapaxes(0, 1).reshape(-1))
        scales.append((1 / steps).astype(np.float32))
        biases.append(np.pad(bias, (0, units - len(bias))).astype(np.float32))
        layers.append((below, units, weight, unit))
        weight, unit, below = weight + below * units, unit + units, units
    output_weights = np.zeros((network.weights[-1].shape[1], below), np.float32)
    output_weights[:, : len(network.weights[-1])] = network.weights[-1].T
    return QuantizedNetwork(
        np.array(layers, np.int64),
        np.concatenate(weights),
        np.concatenate(scales),
        np.concatenate(biases),
        output_weights,
        network.biases[-1].astype(np.float32),
    )


def output_sums(network: QuantizedNetwork, inputs: Floats32) -> Floats32:
    """Return what the outputs add up, shape (n, outputs), of inputs that are not negative, shape (n, inputs)."""
    sums = np.empty((len(inputs), len(network.output_bias)), np.float32)
    width = -(-inputs.shape[1] // GROUP) * GROUP
    widest = max(width, int(network.layers[:, 1].max()))
    room = _Room(
        np.zeros((2, width), np.int16),
        np.zeros(network.layers[0, 1], np.int32),
        np.zeros(widest, np.int32),
        np.empty((_BLOCK, widest), np.int32),
        np.empty((_BLOCK, widest), np.float32),
        np.empty(widest, np.int16),
        np.empty((_BLOCK, widest + GROUP), np.int32),
        np.empty((_BLOCK, widest + GROUP), np.int16),
        np.empty(_BLOCK, np.int32),
        np.empty(_BLOCK, np.float32),
        np.empty(1, np.float32),
    )
    _write_sums(network, room, inputs, sums, BIT_PLACES)
    return sums


@compiled
def _write_sums(network: QuantizedNetwork, room: _Room, inputs: Floats32, sums: Floats32, table: Bytes) -> None:
    for start in range(0, len(inputs), _BLOCK):
        rows = min(len(inputs) - start, _BLOCK)
        for layer in range(len(network.layers)):
            width, units, weights = network.layers[layer, 0], network.layers[layer, 1], network.layers[layer, 2]
            for row in range(rows):
                if layer == 0:
                    _write_changes(room, row, inputs[start + row])
                else:
                    _write_words(room, row, width)
                _list_words(room, row, width if layer else room.inputs.shape[1], table)
            for unit in range(0, units, TILE):
                for row in range(rows):
                    begin = room.zeros if layer else room.sums[row - 1] if row else room.before
                    places, values, pairs = room.places[row], room.values[row], room.pairs[row]
                    _accumulate(begin, room.sums[row], unit, network.weights, weights, places, values, pairs)
                weights += width * TILE
            if layer == 0:
                for unit in range(units):
                    room.before[unit] = room.sums[rows - 1, unit]
            for row in range(rows):
                _write_outputs(room, row, network, layer)
        for row in range(rows):
            _write_last(room.outputs[row], network, sums[start + row])


@inner
def _write_changes(room: _Room, row: int, inputs: Floats32) -> None:
    """Write by how much the inputs of a row differ from those of the row before."""
    before, now = room.inputs[0], room.inputs[1]
    for place in range(len(inputs)):
        now[place] = np.int16(inputs[place] * np.float32(_STEPS) + np.float32(0.5))
    for place in range(len(before)):
        room.words[place] = now[place] - before[place]
        before[place] = now[place]
    room.steps[row] = np.float32(1 / _STEPS)


@inner
def _write_words(room: _Room, row: int, width: int) -> None:
    """Write the outputs of a layer as words, as large as they may be without an overflow of the next layer's sums."""
    outputs, words = room.outputs[row], room.words
    bits = outputs.view(np.int32)  # of numbers that are not negative in the same order; the compiler has vectors for it
    total, most = np.float32(0), np.int32(0)
    for place in range(width):
        total += outputs[place]
        most = max(most, bits[place])
    room.most.view(np.int32)[0] = most
    step = max(total * np.float32(1 / _TOTAL), room.most[0] * np.float32(1 / _LARGEST_WORD))
    if step == 0:
        step = np.float32(1)
    scale = np.float32(1) / step
    for place in range(width):
        words[place] = np.int16(outputs[place] * scale + np.float32(0.5))
    room.steps[row] = step


@inner
def _list_words(room: _Room, row: int, width: int, table: Bytes) -> None:
    """List the words that are not zero."""
    places, values, words = room.places[row], room.values[row], room.words
    count = find_nonzero(words, width, table, places)
    for number in range(count):
        values[number] = words[np.uint32(places[number]) >> _SHIFT]
    places[count] = 0
    values[count] = 0
    room.pairs[row] = (count + 1) >> 1


@inner
def _write_outputs(room: _Room, row: int, network: QuantizedNetwork, layer: int) -> None:
    """Write what a layer gives for a row."""
    units, begin = network.layers[layer, 1], network.layers[layer, 3]
    # With a sum of numbers as index, the compiler would look at each whether it is below 0: hence the slices.
    outputs, sums = room.outputs[row][:units], room.sums[row][:units]
    scales, biases = network.scales[begin : begin + units], network.biases[begin : begin + units]
    step = room.steps[row]
    for unit in range(len(outputs)):
        outputs[unit] = max(np.float32(sums[unit]) * (scales[unit] * step) + biases[unit], np.float32(0))


@inner
def _write_last(outputs: Floats32, network: QuantizedNetwork, sums: Floats32) -> None:
    """Write what the last layer adds up."""
    for output in range(len(sums)):
        total = network.output_bias[output]
        for place in range(network.output_weights.shape[1]):
            total += outputs[place] * network.output_weights[output, place]
        sums[output] = total
