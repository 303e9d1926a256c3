"""Quantized networks of 16-bit integers, by which the engine evaluates positions.

The weights of a `Network` (unit by unit), its inputs and its activations are scaled to integers. Sums of products have
32 bits and are exact: the result of a row depends neither on the other rows nor on the processor's vectors. A fifth of
the inputs and a quarter of the activations are not zero, and only these are multiplied; in the first layer only the
differences to the row before, because the positions that a search compares differ in a few points.

No sum overflows, whatever the weights (see `_STEPS`, `_TOTAL`). The last layer uses floating-point numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from fibsbot.engine.arrays import Floats32, IntMatrix32, IntMatrix64, IntVector32, Matrix32, Vector32
from fibsbot.engine.jit import compiled, inner, target
from fibsbot.engine.network import Network
from fibsbot.engine.numerics import GROUP, dot
from fibsbot.engine.simd import (
    BIT_PLACES,
    SHARED_TILE,
    TILE,
    Bytes,
    WordMatrix,
    Words,
    accumulate_by,
    accumulate_two_by,
    layout,
    list_changes_by,
    list_words_by,
    rectify,
)

_LARGEST_WEIGHT: Final = (1 << 13) - 1
_LARGEST_WORD: Final = (1 << 15) - 2
"""Limit of an activation as an integer, before rounding."""
_STEPS: Final = 1 << 11
"""The integer for an input of 1. Sums overflow if inputs add up to 128; those of a position add up to 60 at most."""
_TOTAL: Final = 200_000
"""Limit of the sum of a layer's activations as integers, before rounding: sums overflow beyond 262,000."""
_BLOCK: Final = 32
"""Rows that go through a layer together, so that its weights stay in the processor's nearest cache."""
_LINE: Final = 64
"""Bytes of a line of the processor's cache."""

_FORM: Final = target().form
_accumulate = accumulate_by(_FORM)
_accumulate_two = accumulate_two_by(_FORM)
_list_words = list_words_by(_FORM)
_list_changes = list_changes_by(_FORM)


class QuantizedNetwork(NamedTuple):
    """A network of integers. In each array the layers follow one another."""

    layers: IntMatrix64
    """For each layer but the last: inputs, units (a multiple of TILE), and the index of its first weight and unit."""
    weights: Words
    """For each layer, shape (tiles, inputs, TILE or, but for the first, SHARED_TILE), by the order of `simd.layout`."""
    scales: Vector32
    """The value of 1 in the integer sum of each unit, for integer inputs."""
    biases: Vector32
    output_weights: Matrix32
    """Weights of the last layer, shape (outputs, inputs)."""
    output_bias: Vector32
    """Biases of the last layer."""


class _Buffers(NamedTuple):
    """Working memory of one call."""

    inputs: Vector32
    """The inputs of a row, padded with zeros."""
    words: Words
    """Those of the row before as integers."""
    before: IntVector32
    """The sums of the first layer in the last row of the previous block, shape (units,)."""
    sums: IntMatrix32
    """Sums of a layer by row and unit, shape (_BLOCK, units)."""
    outputs: Matrix32
    """Activations by row and unit: the sums with biases added, rectified."""
    places: IntMatrix32
    """For each row, or each two rows, the indices of the nonzero words times the tile, padded to an even number."""
    values: WordMatrix
    """These words, by row."""
    pairs: IntVector32
    """Half the number of these words, by row."""
    steps: Vector32
    """The value of a word of 1, by row."""


def quantize(network: Network) -> QuantizedNetwork:
    """Return a network as integers; it must have a hidden layer."""
    layers: list[tuple[int, int, int, int]] = []
    weights, scales, biases = [], [], []
    weight, unit = 0, 0
    below = network.weights[0].shape[0]
    for exact, bias in zip(network.weights[:-1], network.biases[:-1], strict=True):
        units = -(-exact.shape[1] // TILE) * TILE
        padded = np.zeros((below, units), np.float32)
        padded[: len(exact), : exact.shape[1]] = exact
        largest = np.abs(padded).max(axis=0)
        steps = np.where(largest > 0, _LARGEST_WEIGHT / np.where(largest > 0, largest, 1), 1)
        integers = np.rint(padded * steps).astype(np.int16)
        tile = SHARED_TILE if layers else TILE
        weights.append(integers.reshape(below, -1, tile)[:, :, layout(_FORM, tile)].swapaxes(0, 1).reshape(-1))
        scales.append((1 / steps).astype(np.float32))
        biases.append(np.pad(bias, (0, units - len(bias))).astype(np.float32))
        layers.append((below, units, weight, unit))
        weight, unit, below = weight + below * units, unit + units, units
    output_weights = np.zeros((network.weights[-1].shape[1], below), np.float32)
    output_weights[:, : len(network.weights[-1])] = network.weights[-1].T
    return QuantizedNetwork(
        np.array(layers, np.int64),
        aligned(np.concatenate(weights)),
        np.concatenate(scales),
        np.concatenate(biases),
        output_weights,
        network.biases[-1].astype(np.float32),
    )


def aligned(words: Words) -> Words:
    """Return a copy that begins at a multiple of 64 bytes: no vector of weights then lies in two lines of the cache."""
    held = np.empty(words.nbytes + _LINE, np.uint8)
    begin = -held.ctypes.data % _LINE
    copy = held[begin : begin + words.nbytes].view(words.dtype)
    copy[:] = words
    return copy


def output_sums(network: QuantizedNetwork, inputs: Floats32) -> Floats32:
    """Return the sums of the outputs, shape (n, outputs), for inputs of shape (n, inputs) that are not negative."""
    return output_sums_in_turn([(network, len(inputs))], inputs)


def output_sums_in_turn(parts: Sequence[tuple[QuantizedNetwork, int]], inputs: Floats32) -> Floats32:
    """Return the same for parts of the inputs, each a number of rows for a network; all networks have one shape."""
    network = parts[0][0]
    sums = np.empty((len(inputs), len(network.output_bias)), np.float32)
    width = -(-inputs.shape[1] // GROUP) * GROUP
    widest = max(width, int(network.layers[:, 1].max()))
    buffers = _Buffers(
        np.zeros(width, np.float32),
        np.zeros(width, np.int16),
        np.zeros(network.layers[0, 1], np.int32),
        np.empty((_BLOCK, widest), np.int32),
        np.zeros((_BLOCK, widest), np.float32),
        np.empty((_BLOCK, widest + GROUP), np.int32),
        np.empty((_BLOCK, widest + GROUP), np.int16),
        np.empty(_BLOCK, np.int32),
        np.ones(_BLOCK, np.float32),
    )
    begin = 0
    for each, rows in parts:
        if begin:  # the row before belongs to another network
            buffers.words[:] = 0
            buffers.before[:] = 0
        _write_sums(each, buffers, inputs[begin : begin + rows], sums[begin : begin + rows], BIT_PLACES)
        begin += rows
    return sums


@compiled
def _write_sums(network: QuantizedNetwork, buffers: _Buffers, inputs: Matrix32, sums: Matrix32, table: Bytes) -> None:
    for start in range(0, len(inputs), _BLOCK):
        rows = min(len(inputs) - start, _BLOCK)
        _sum_first(network, buffers, inputs[start : start + rows], table)
        for layer in range(len(network.layers)):
            if layer:
                _sum_later(network, buffers, layer, rows, table)
            units, begin = network.layers[layer, 1], network.layers[layer, 3]
            scales, biases = network.scales[begin : begin + units], network.biases[begin : begin + units]
            for row in range(rows):
                step = rectify(
                    buffers.sums[row],
                    scales,
                    biases,
                    buffers.steps[row],
                    units,
                    buffers.outputs[row],
                    np.float32(1 / _TOTAL),
                    np.float32(1 / _LARGEST_WORD),
                )
                buffers.steps[row] = step if step > 0 else np.float32(1)
        for row in range(rows):
            _write_last(buffers.outputs[row], network, sums[start + row])


@inner
def _sum_first(network: QuantizedNetwork, buffers: _Buffers, inputs: Floats32, table: Bytes) -> None:
    """Write the sums of the first layer: those of the row before and the products of the inputs that changed."""
    units, weights, padded = network.layers[0, 1], 0, len(buffers.inputs)
    for row in range(len(inputs)):
        for place in range(len(inputs[row])):
            buffers.inputs[place] = inputs[row, place]
        places, values = buffers.places[row], buffers.values[row]
        count = _list_changes(buffers.inputs, buffers.words, np.float32(_STEPS), padded, table, places, values)
        _end(buffers, row, count)
        buffers.steps[row] = np.float32(1 / _STEPS)
    for unit in range(0, units, TILE):
        for row in range(len(inputs)):
            before = buffers.sums[row - 1] if row else buffers.before
            places, values, pairs = buffers.places[row], buffers.values[row], buffers.pairs[row]
            _accumulate(before, buffers.sums[row], unit, network.weights, weights, places, values, pairs)
        weights += network.layers[0, 0] * TILE
    for unit in range(units):
        buffers.before[unit] = buffers.sums[len(inputs) - 1, unit]


@inner
def _sum_later(network: QuantizedNetwork, buffers: _Buffers, layer: int, rows: int, table: Bytes) -> None:
    """Write the sums of another layer, by two rows: most of their activations that are not 0 are the same ones.

    If the number of rows is odd, the last one has an old one beside it.
    """
    width, units, weights = network.layers[layer, 0], network.layers[layer, 1], network.layers[layer, 2]
    for row in range(0, rows, 2):
        count = _list_words(
            buffers.outputs[row],
            buffers.outputs[row + 1],
            np.float32(1) / buffers.steps[row],
            np.float32(1) / buffers.steps[row + 1],
            width,
            table,
            buffers.places[row],
            buffers.values[row],
            buffers.values[row + 1],
        )
        buffers.values[row + 1, count] = 0
        _end(buffers, row, count)
    for unit in range(0, units, SHARED_TILE):
        for row in range(0, rows, 2):
            _accumulate_two(
                buffers.sums[row],
                buffers.sums[row + 1],
                unit,
                network.weights,
                weights,
                buffers.places[row],
                buffers.values[row],
                buffers.values[row + 1],
                buffers.pairs[row],
            )
        weights += width * SHARED_TILE


@inner
def _end(buffers: _Buffers, row: int, count: int) -> None:
    """Pad the list of a row to an even number of words."""
    buffers.places[row, count] = 0
    buffers.values[row, count] = 0
    buffers.pairs[row] = (count + 1) >> 1


@inner
def _write_last(outputs: Floats32, network: QuantizedNetwork, sums: Floats32) -> None:
    """Write the sums of the last layer."""
    for output in range(len(sums)):
        weights = network.output_weights[output]
        sums[output] = network.output_bias[output] + dot(outputs, weights, len(weights))
