"""Quantized networks of 16-bit integers, by which the engine evaluates positions.

The weights of a `Network` (unit by unit), its inputs and its activations are scaled to integers. Sums of products have
32 bits and are exact: the result of a row depends neither on the other rows nor on the processor's vectors. A fifth of
the inputs and a quarter of the activations are not zero, and only these are multiplied; in the first layer only the
differences to the row before, because the positions that a search compares differ in a few points.

No sum overflows, whatever the weights (see `_STEPS`, `_TOTAL`). The last layer uses floating-point numbers.
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
"""Limit of an activation as an integer, before rounding."""
_STEPS: Final = 1 << 11
"""The integer for an input of 1. Sums overflow if inputs add up to 128; those of a position add up to 60 at most."""
_TOTAL: Final = 200_000
"""Limit of the sum of a layer's activations as integers, before rounding: sums overflow beyond 262,000."""
_BLOCK: Final = 32
"""Rows that go through a layer together, so that its weights stay in the processor's nearest cache."""
_SHIFT: Final = np.uint32(TILE.bit_length() - 1)

_FORM: Final = host_form()
_accumulate = accumulate_by(_FORM)


class QuantizedNetwork(NamedTuple):
    """A network of integers. In each array the layers follow one another."""

    layers: npt.NDArray[np.int64]
    """For each layer but the last: inputs, units (a multiple of TILE), and the index of its first weight and unit."""
    weights: Words
    """For each layer, shape (tiles, inputs, TILE), each tile in the order of `simd.layout`."""
    scales: Floats32
    """The value of 1 in the integer sum of each unit, for integer inputs."""
    biases: Floats32
    output_weights: Floats32
    """Weights of the last layer, shape (outputs, inputs)."""
    output_bias: Floats32
    """Biases of the last layer."""


class _Buffers(NamedTuple):
    """Working memory of one call."""

    inputs: Words
    """The inputs of the row before and of a row, shape (2, width), padded with zeros."""
    before: Sums
    """The sums of the first layer in the last row of the previous block, shape (units,)."""
    zeros: Sums
    """Zeros, as many as the widest layer has units."""
    sums: Sums
    """Sums of a layer by row and unit, shape (_BLOCK, units)."""
    outputs: Floats32
    """Activations by row and unit: the sums with biases added, rectified."""
    words: Words
    """The integer inputs of a layer for one row."""
    places: Sums
    """For each row TILE times the indices of the nonzero words, padded to an even number by a word of 0."""
    values: Words
    """These words."""
    pairs: Sums
    """Half the number of these words, by row."""
    steps: Floats32
    """The value of a word of 1, by row."""
    most: Floats32
    """The largest activation of a row, shape (1,)."""


def quantize(network: Network) -> QuantizedNetwork:
    """Return a network as integers; it must have a hidden layer."""
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
    """Return the sums of the outputs, shape (n, outputs), for inputs of shape (n, inputs) that are not negative."""
    sums = np.empty((len(inputs), len(network.output_bias)), np.float32)
    width = -(-inputs.shape[1] // GROUP) * GROUP
    widest = max(width, int(network.layers[:, 1].max()))
    buffers = _Buffers(
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
    _write_sums(network, buffers, inputs, sums, BIT_PLACES)
    return sums


@compiled
def _write_sums(network: QuantizedNetwork, buffers: _Buffers, inputs: Floats32, sums: Floats32, table: Bytes) -> None:
    for start in range(0, len(inputs), _BLOCK):
        rows = min(len(inputs) - start, _BLOCK)
        for layer in range(len(network.layers)):
            width, units, weights = network.layers[layer, 0], network.layers[layer, 1], network.layers[layer, 2]
            for row in range(rows):
                if layer == 0:
                    _write_changes(buffers, row, inputs[start + row])
                else:
                    _write_words(buffers, row, width)
                _list_words(buffers, row, width if layer else buffers.inputs.shape[1], table)
            for unit in range(0, units, TILE):
                for row in range(rows):
                    begin = buffers.zeros if layer else buffers.sums[row - 1] if row else buffers.before
                    places, values, pairs = buffers.places[row], buffers.values[row], buffers.pairs[row]
                    _accumulate(begin, buffers.sums[row], unit, network.weights, weights, places, values, pairs)
                weights += width * TILE
            if layer == 0:
                for unit in range(units):
                    buffers.before[unit] = buffers.sums[rows - 1, unit]
            for row in range(rows):
                _write_outputs(buffers, row, network, layer)
        for row in range(rows):
            _write_last(buffers.outputs[row], network, sums[start + row])


@inner
def _write_changes(buffers: _Buffers, row: int, inputs: Floats32) -> None:
    """Write the differences between the inputs of a row and those of the row before."""
    before, now = buffers.inputs[0], buffers.inputs[1]
    for place in range(len(inputs)):
        now[place] = np.int16(inputs[place] * np.float32(_STEPS) + np.float32(0.5))
    for place in range(len(before)):
        buffers.words[place] = now[place] - before[place]
        before[place] = now[place]
    buffers.steps[row] = np.float32(1 / _STEPS)


@inner
def _write_words(buffers: _Buffers, row: int, width: int) -> None:
    """Write the activations of a layer as words, scaled as far as the sums of the next layer allow."""
    outputs, words = buffers.outputs[row], buffers.words
    bits = outputs.view(np.int32)  # of numbers that are not negative in the same order; the compiler has vectors for it
    total, most = np.float32(0), np.int32(0)
    for place in range(width):
        total += outputs[place]
        most = max(most, bits[place])
    buffers.most.view(np.int32)[0] = most
    step = max(total * np.float32(1 / _TOTAL), buffers.most[0] * np.float32(1 / _LARGEST_WORD))
    if step == 0:
        step = np.float32(1)
    scale = np.float32(1) / step
    for place in range(width):
        words[place] = np.int16(outputs[place] * scale + np.float32(0.5))
    buffers.steps[row] = step


@inner
def _list_words(buffers: _Buffers, row: int, width: int, table: Bytes) -> None:
    """List the words that are not zero."""
    places, values, words = buffers.places[row], buffers.values[row], buffers.words
    count = find_nonzero(words, width, table, places)
    for number in range(count):
        values[number] = words[np.uint32(places[number]) >> _SHIFT]
    places[count] = 0
    values[count] = 0
    buffers.pairs[row] = (count + 1) >> 1


@inner
def _write_outputs(buffers: _Buffers, row: int, network: QuantizedNetwork, layer: int) -> None:
    """Write the activations of a layer for a row."""
    units, begin = network.layers[layer, 1], network.layers[layer, 3]
    # If the index were a sum, the compiler would test each for being negative: hence the slices.
    outputs, sums = buffers.outputs[row][:units], buffers.sums[row][:units]
    scales, biases = network.scales[begin : begin + units], network.biases[begin : begin + units]
    step = buffers.steps[row]
    for unit in range(len(outputs)):
        outputs[unit] = max(np.float32(sums[unit]) * (scales[unit] * step) + biases[unit], np.float32(0))


@inner
def _write_last(outputs: Floats32, network: QuantizedNetwork, sums: Floats32) -> None:
    """Write the sums of the last layer."""
    for output in range(len(sums)):
        total = network.output_bias[output]
        for place in range(network.output_weights.shape[1]):
            total += outputs[place] * network.output_weights[output, place]
        sums[output] = total
