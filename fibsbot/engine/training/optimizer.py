"""Supervised fitting with Adam (Kingma and Ba 2015), by numpy or, where it is installed, by PyTorch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from attrs import define, field, frozen

from fibsbot.engine.arrays import Boards, Floats32, Int32s, Vector32
from fibsbot.engine.features import Inputs, encode_all
from fibsbot.engine.game_plans import plans_of
from fibsbot.engine.jit import compiled
from fibsbot.engine.network import Network, logistic

_MEMORY: Final = 0.9
_SQUARES_MEMORY: Final = 0.999
_TINY: Final = 1e-8
_WARM_UP: Final = 500
"""Batches during which the rate rises to its maximum."""
_LOWEST: Final = 0.01
"""The final rate as a share of the maximum."""
SOFTNESS: Final = 0.2
"""How far from 0 the sum of a unit counts as neither zero nor not, as a share of its standard deviation in the batch:
scaling weights down does not make a unit count for less."""
LEAST_SOFTNESS: Final = 1e-3
"""The same in absolute terms, for units that are always the same."""
CHANCE_WEIGHTS: Final = np.array([2, 1, 1, 1, 1], np.float32)
"""The weight of each chance in the loss: its weight in the equity."""
EQUITY_WEIGHTS: Final = np.array([2, 1, 1, -1, -1], np.float32)
"""The derivative of the equity with respect to each chance."""
PLAY_WEIGHTS: Final = 4 * CHANCE_WEIGHTS
"""The weight of each squared difference between plays."""


@frozen
class FitPlan:
    """The parameters of a fit."""

    epochs: int = 5
    batch: int = 1024
    rate: float = 1e-3
    """The maximum rate; it falls along a cosine."""
    equity: float = 0.0
    """The weight of the error of the equity relative to errors of the chances."""
    seed: int = 1
    columns: npt.NDArray[np.intp] | None = None
    """The indices of the network's inputs; None is all of them."""
    differences: float = 10.0
    """The weight of the differences between the plays of a decision, if such are given."""
    sparsity: float = 0.0
    """The weight of a hidden unit that is not zero: the fewer there are, the faster a position is evaluated."""

    def batches(self, boards: int) -> int:
        """Return the number of batches for this number of boards in all epochs."""
        return self.epochs * (boards // min(self.batch, boards)) if boards else 0


@frozen
class FitProgress:
    """The progress of a fit after a batch."""

    epoch: int
    batch: int
    batches: int
    loss: float
    """Mean squared error of the equity, over about a thousand batches."""


class Batch(NamedTuple):
    """Positions of one step."""

    epoch: int
    number: int
    of: int
    """The number of batches in all epochs."""
    rows: npt.NDArray[np.intp]
    """The indices of the positions."""


def batches(boards: int, plan: FitPlan) -> Iterator[Batch]:
    """Yield the batches for this number of boards, in a new order each epoch; an incomplete last batch is left out."""
    rng = np.random.default_rng(plan.seed)
    size = max(1, min(plan.batch, boards))
    steps = plan.batches(boards)
    number = 0
    for epoch in range(plan.epochs):
        order = rng.permutation(boards)
        for first in range(0, steps // plan.epochs * size, size):
            yield Batch(epoch, number, steps, order[first : first + size])
            number += 1


class Plays(NamedTuple):
    """Positions after the plays of decisions; only the differences between those of a decision are learned."""

    boards: Boards
    """Shape (n, 26), one decision after the other."""
    targets: Floats32
    """Shape (n, OUTPUTS)."""
    counts: Int32s
    """The number of positions of each decision."""


def labels_by_plan(pair: int, boards: Boards, targets: Floats32, plays: Plays) -> tuple[Boards, Floats32, Plays | None]:
    """Return the labels for the network of a pair of plans: of its boards, and of decisions between such alone."""
    chosen = plans_of(boards) == pair
    first = np.cumsum(plays.counts) - plays.counts
    fits = np.logical_and.reduceat(plans_of(plays.boards) == pair, first) if len(first) else np.zeros(0, np.bool_)
    within = np.repeat(fits, plays.counts)
    own = Plays(plays.boards[within], plays.targets[within], plays.counts[fits])
    return boards[chosen], targets[chosen], own if fits.any() else None


def batches_of_plays(plays: Plays, plan: FitPlan, boards: int) -> Iterator[tuple[npt.NDArray[np.intp], Int32s]]:
    """Yield rows of plays, and the number of them for each decision, for each of the batches of a fit to `boards`.

    Each epoch takes all decisions, in a new order, but for an incomplete batch.
    """
    rng = np.random.default_rng(plan.seed)
    first = np.cumsum(plays.counts) - plays.counts
    steps = plan.batches(boards) // plan.epochs
    size = max(1, len(first) // max(1, steps))
    for _ in range(plan.epochs):
        order = rng.permutation(len(first))
        for step in range(steps):
            chosen = order[np.arange(step * size, (step + 1) * size) % len(first)]
            counts = plays.counts[chosen]
            within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
            yield np.repeat(first[chosen], counts) + within, counts


def rate_of(plan: FitPlan, batch: Batch) -> float:
    """Return the learning rate of a batch: a linear rise, then a fall along a cosine."""
    falling = _LOWEST + (1 - _LOWEST) * 0.5 * (1 + math.cos(math.pi * batch.number / batch.of))
    return plan.rate * falling * min(1.0, (batch.number + 1) / _WARM_UP)


def fit(
    network: Network, boards: Boards, targets: Floats32, plan: FitPlan, plays: Plays | None = None
) -> Iterator[FitProgress]:
    """Fit a network in place, one batch per step.

    Boards have shape (n, 26), targets (n, OUTPUTS), both seen by the player on roll. Of `plays` as many are added to a
    batch as make the same number of epochs.
    """
    more = batches_of_plays(plays, plan, len(boards)) if plays else None
    adam = Adam([*network.weights, *network.biases])
    loss = 0.0
    for batch in batches(len(boards), plan):
        inputs = encode_all(boards[batch.rows])
        if plan.columns is not None:
            inputs = inputs[:, plan.columns]
        if plays and more:
            rows, counts = next(more)
            inputs = np.concatenate([inputs, encode_all(plays.boards[rows])])
            miss, gradients = _gradients(network, inputs, targets[batch.rows], plan, (plays.targets[rows], counts))
        else:
            miss, gradients = _gradients(network, inputs, targets[batch.rows], plan)
        adam.step(gradients, rate_of(plan, batch))
        loss = mean_loss(loss, miss, batch)
        yield FitProgress(batch.epoch, batch.number, batch.of, loss)


def mean_loss(loss: float, miss: float, batch: Batch) -> float:
    """Return the moving average of the loss over about a thousand batches."""
    return loss + (miss - loss) * max(0.001, 1 / (batch.number + 1))


def _gradients(
    network: Network,
    inputs: Inputs,
    targets: Floats32,
    plan: FitPlan,
    plays: tuple[Floats32, Int32s] | None = None,
) -> tuple[float, list[Floats32]]:
    """Return the mean squared error of the equity, and the gradients of the weights and biases.

    After the inputs that belong to `targets` come those of `plays`: their targets, and how many belong to a decision.
    """
    layers = network.activations(inputs)
    chances = layers[-1][: len(targets)]
    miss = chances - targets
    equity_error = miss @ EQUITY_WEIGHTS
    error = miss * CHANCE_WEIGHTS  # of the cross entropy
    if plan.equity:
        error += (plan.equity * equity_error)[:, None] * EQUITY_WEIGHTS * chances * (1 - chances)
    if plays:
        after = layers[-1][len(targets) :]
        error = np.concatenate([error, plan.differences * _difference_error(after, *plays)])
    error /= len(targets)
    added = _activity(network, layers, plan.sparsity / len(targets)) if plan.sparsity else []
    return float(np.mean(equity_error * equity_error)), backpropagate(network, layers, error, added)


def costs_of_units(network: Network) -> list[float]:
    """Return the cost of a unit of each hidden layer that is not zero, relative to one of the first layer.

    It is multiplied with as many weights as the next layer has units.
    """
    return [len(bias) / len(network.biases[1]) for bias in network.biases[1:]]


def _activity(network: Network, layers: list[Floats32], weight: float) -> list[Floats32]:
    """Return the gradients of the number of units that are not zero, with respect to the sums of each hidden layer.

    It is made smooth: a unit counts as the logistic function of its sum over `SOFTNESS` standard deviations.
    """
    gradients = []
    for below, weights, bias, cost in zip(
        layers, network.weights, network.biases, costs_of_units(network), strict=False
    ):
        sums = below @ weights + bias
        softness = SOFTNESS * sums.std(axis=0) + LEAST_SOFTNESS
        share = logistic(sums / softness)
        gradients.append(np.float32(weight * cost) * share * (1 - share) / softness)
    return gradients


def _difference_error(chances: Floats32, targets: Floats32, counts: Int32s) -> Floats32:
    """Return the error of the outputs from the errors of the differences between the plays of decisions.

    A chance weighs as much as it does in the cross entropy if it is a half.
    """
    miss = chances - targets
    means = np.add.reduceat(miss, np.cumsum(counts) - counts, axis=0) / counts[:, None].astype(np.float32)
    miss -= np.repeat(means, counts, axis=0)
    equity = (miss * EQUITY_WEIGHTS).sum(axis=1, keepdims=True)
    error = PLAY_WEIGHTS * miss + equity * EQUITY_WEIGHTS
    return np.asarray(error * chances * (1 - chances))


def backpropagate(
    network: Network, layers: list[Floats32], error: Floats32, added: Sequence[Floats32] = ()
) -> list[Floats32]:
    """Return the gradients of the weights and biases from the error of the outputs, shape (n, to) (backpropagation).

    `layers` are the activations of each layer, the inputs first; `added` are further errors of the hidden ones, if any.
    """
    weights, biases = [], []
    for layer in range(len(network.weights) - 1, -1, -1):
        weights.append(layers[layer].T @ error)
        biases.append(error.sum(axis=0))
        if layer:
            error = error @ network.weights[layer].T
            error *= layers[layer] > 0
            if added:
                error += added[layer - 1]
    return [*reversed(weights), *reversed(biases)]


@define
class Adam:
    """The Adam optimizer."""

    parameters: list[Floats32]
    steps: int = 0
    means: list[Floats32] = field(init=False)
    squares: list[Floats32] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.means = [np.zeros_like(parameter) for parameter in self.parameters]
        self.squares = [np.zeros_like(parameter) for parameter in self.parameters]

    def step(self, gradients: list[Floats32], rate: float) -> None:
        """Change the parameters."""
        self.steps += 1
        first = np.float32(rate / (1 - _MEMORY**self.steps))
        second = np.float32(1 / (1 - _SQUARES_MEMORY**self.steps))
        for parameter, gradient, mean, square in zip(self.parameters, gradients, self.means, self.squares, strict=True):
            flat = parameter.reshape(-1)
            _step(flat, gradient.reshape(-1), mean.reshape(-1), square.reshape(-1), first, second)


@compiled
def _step(
    parameter: Vector32, gradient: Vector32, mean: Vector32, square: Vector32, first: np.float32, second: np.float32
) -> None:
    for place in range(parameter.shape[0]):
        slope = gradient[place]
        mean[place] += np.float32(1 - _MEMORY) * (slope - mean[place])
        square[place] += np.float32(1 - _SQUARES_MEMORY) * (slope * slope - square[place])
        parameter[place] -= first * mean[place] / (np.sqrt(second * square[place]) + np.float32(_TINY))
