"""Networks of integers: close to the network they are made of, and the same for a position whatever is beside it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from fibsbot.engine.arrays import boards_of
from fibsbot.engine.engine import load_networks
from fibsbot.engine.features import encode_all
from fibsbot.engine.game_plans import networks_of, plans_of
from fibsbot.engine.network import Network
from fibsbot.engine.quantized import output_sums, quantize
from tests.engine.toys import some_positions, toy_network

BOARDS = boards_of(some_positions(200, 1))
INPUTS = encode_all(BOARDS)


@pytest.mark.parametrize("hidden", [(12, 8), (64,), (65, 1, 130)])
@pytest.mark.parametrize("width", [260, 196, 1])
def test_networks_of_all_shapes_give_nearly_the_same(hidden: tuple[int, ...], width: int) -> None:
    network = Network.new(hidden, 1, width, 7)
    sums = output_sums(quantize(network), np.ascontiguousarray(INPUTS[:, :width]))
    assert (200, 7) == sums.shape
    assert sums == pytest.approx(network.sums(INPUTS[:, :width])[-1], abs=2e-3)


def test_the_bundled_networks_lose_nothing_that_counts() -> None:
    pairs = plans_of(BOARDS)
    for pair, network in enumerate(networks_of(load_networks().contact)):
        inputs = INPUTS[pairs == pair]
        chances = [
            1 / (1 + np.exp(-sums)) for sums in (output_sums(quantize(network), inputs), network.sums(inputs)[-1])
        ]
        difference = (chances[0] - chances[1]).astype(float)
        assert not len(inputs) or np.sqrt(np.mean(difference**2)) < 2e-4
        assert np.abs(difference).max(initial=0) < 3e-3


def test_an_evaluation_does_not_depend_on_the_rest_of_the_batch() -> None:
    integers = quantize(toy_network(hidden=(70, 20)))
    together = output_sums(integers, INPUTS)
    order = np.random.default_rng(3).permutation(len(INPUTS))
    assert (together[order] == output_sums(integers, np.ascontiguousarray(INPUTS[order]))).all()
    for first, last in pairwise((0, 1, 3, 34, 99, 100, 200)):
        assert (together[first:last] == output_sums(integers, INPUTS[first:last])).all()
    assert (0, 5) == output_sums(integers, INPUTS[:0]).shape


def test_sums_of_the_largest_weights_do_not_overflow() -> None:
    network = Network.new((64, 64), 1, 260, 1)
    for weights in network.weights:
        weights[:] = 1000.0
    inputs = np.zeros((2, 260), np.float32)
    inputs[0, :40], inputs[1, :4] = 3, 15
    expected = network.sums(inputs)[-1]
    assert output_sums(quantize(network), inputs) == pytest.approx(expected, rel=1e-3)


def test_units_that_give_nothing_and_weights_of_nothing_do_no_harm() -> None:
    network = Network.new((64, 64), 1, 260, 1)
    for weights in network.weights:
        weights[:] = 0
    network.biases[-1][:] = 2
    assert {2.0} == set(output_sums(quantize(network), INPUTS[:3])[:, 0].tolist())


def test_no_position_has_inputs_that_add_up_to_as_much_as_a_sum_can_hold() -> None:
    assert INPUTS.sum(axis=1).max() < 64
    assert INPUTS.max() < 16
    assert INPUTS.min() >= 0
