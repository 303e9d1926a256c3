"""Fitting: gradients are what they should be, a toy function is learned, and the seed decides everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from fibsbot.engine import network as network_module
from fibsbot.engine.arrays import OUTPUTS, Boards, Floats32, boards_of
from fibsbot.engine.features import encode_all
from fibsbot.engine.game_plans import PAIRS, plans_of
from fibsbot.engine.network import Network
from fibsbot.engine.pruner import raw_columns
from fibsbot.engine.training import optimizer
from fibsbot.engine.training.optimizer import (
    FitPlan,
    FitProgress,
    Plays,
    _gradients,
    batches_of_plays,
    fit,
    labels_by_plan,
)
from tests.engine.toys import Recounted, some_positions

WORTH = np.array([2, 1, 1, 1, 1])
SIGNS = np.array([2, 1, 1, -1, -1])


@pytest.fixture
def _double_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the logistic function take doubles; that of the engine is single precision."""

    def logistic(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        sums[:] = 1 / (1 + np.exp(-sums))
        return sums

    for module in (network_module, optimizer):
        monkeypatch.setattr(module, "logistic", logistic)


def exact(hidden: tuple[int, ...]) -> Network:
    """Return a network in double precision, so that small differences can be seen."""
    network = Network.new(hidden, 3, inputs=7)
    parts = [tuple(array.astype(float) for array in part) for part in (network.weights, network.biases)]
    return Network(*parts)


def loss(network: Network, inputs: npt.NDArray[np.float64], targets: npt.NDArray[np.float64], equity: float) -> float:
    """Return the loss: cross entropy weighted by the value of each chance, plus half the squared equity error."""
    chances = network.activations(inputs)[-1].astype(float)  # type: ignore[arg-type]  # doubles
    entropy = -(targets * np.log(chances) + (1 - targets) * np.log(1 - chances)) @ WORTH
    error = (chances - targets) @ SIGNS
    return float(np.mean(entropy + equity * error**2 / 2))


def check_gradients(network: Network, gradients: list[Floats32], lost: Callable[[], float], tolerance: float) -> None:
    """Check that gradients are how the loss changes if one weight after the other does."""
    for parameter, gradient in zip([*network.weights, *network.biases], gradients, strict=True):
        for place in np.ndindex(parameter.shape):
            kept = parameter[place]
            parameter[place] = kept + 1e-5
            above = lost()
            parameter[place] = kept - 1e-5
            below = lost()
            parameter[place] = kept
            assert (above - below) / 2e-5 == pytest.approx(float(gradient[place]), abs=tolerance)


@pytest.mark.usefixtures("_double_precision")
@pytest.mark.parametrize("equity", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("hidden", [(), (6,), (6, 4)])
def test_gradients_are_numerical_differences(hidden: tuple[int, ...], equity: float) -> None:
    network = exact(hidden)
    rng = np.random.default_rng(1)
    inputs, targets = rng.standard_normal((9, 7)), rng.uniform(0.05, 0.95, (9, OUTPUTS))
    miss, gradients = _gradients(network, inputs, targets, FitPlan(equity=equity))  # type: ignore[arg-type]  # doubles
    parameters = [*network.weights, *network.biases]
    assert [it.shape for it in parameters] == [it.shape for it in gradients]
    assert np.mean(((network.activations(inputs)[-1] - targets) @ SIGNS) ** 2) == pytest.approx(miss)  # type: ignore[arg-type]
    check_gradients(network, gradients, lambda: loss(network, inputs, targets, equity), 1e-6)


@pytest.mark.usefixtures("_double_precision")
def test_gradients_of_differences_are_numerical_ones() -> None:
    network = exact((6, 4))
    rng = np.random.default_rng(1)
    inputs, targets = rng.standard_normal((9, 7)), rng.uniform(0.05, 0.95, (9, OUTPUTS))
    counts = np.array([3, 1, 2], np.int32)

    def lost() -> float:
        chances = network.activations(inputs)[-1].astype(float)  # type: ignore[arg-type]  # doubles
        differences = 0.0
        for rows in (slice(3, 6), slice(6, 7), slice(7, 9)):
            miss = chances[rows] - targets[rows]
            miss -= miss.mean(axis=0)
            differences += float(((miss @ SIGNS) ** 2 / 2 + (miss**2) @ (2 * WORTH)).sum())
        return loss(network, inputs[:3], targets[:3], 1.0) + 5 * differences / 3

    plan = FitPlan(equity=1.0, differences=5.0)
    _, gradients = _gradients(network, inputs, targets[:3], plan, (targets[3:], counts))  # type: ignore[arg-type]
    check_gradients(network, gradients, lost, 1e-5)


@pytest.mark.usefixtures("_double_precision")
def test_gradients_of_the_number_of_active_units_are_numerical_ones() -> None:
    network = exact((6, 4))
    rng = np.random.default_rng(1)
    inputs, targets = rng.standard_normal((9, 7)), rng.uniform(0.05, 0.95, (9, OUTPUTS))

    def sums() -> list[npt.NDArray[Any]]:
        layers = network.activations(inputs)  # type: ignore[arg-type]  # doubles
        return [layers[at].astype(float) @ network.weights[at] + network.biases[at] for at in (0, 1)]

    softness = [0.2 * layer.std(axis=0) + 1e-3 for layer in sums()]  # as it is before a step

    def lost() -> float:
        first, second = (float((1 / (1 + np.exp(-s / by))).sum()) for s, by in zip(sums(), softness, strict=True))
        return loss(network, inputs, targets, 0.0) + 0.3 * (first + second * OUTPUTS / 4) / len(inputs)

    _, gradients = _gradients(network, inputs, targets, FitPlan(sparsity=0.3))  # type: ignore[arg-type]
    check_gradients(network, gradients, lost, 1e-4)


def test_the_network_of_a_pair_of_plans_learns_from_its_positions_alone() -> None:
    boards = boards_of(some_positions(300, 4))
    targets = np.arange(300 * OUTPUTS, dtype=np.float32).reshape(300, OUTPUTS)
    counts = np.tile(np.array([1, 2, 3], np.int32), 50)
    pairs = plans_of(boards)
    decisions = np.split(np.arange(300), np.cumsum(counts)[:-1])
    seen = 0
    for pair in range(PAIRS):
        own, wanted, plays = labels_by_plan(pair, boards, targets, Plays(boards, targets, counts))
        assert (own == boards[pairs == pair]).all()
        assert (wanted == targets[pairs == pair]).all()
        whole = [rows for rows in decisions if (pairs[rows] == pair).all()]
        if plays is None:
            assert not whole
        else:
            assert (plays.boards == boards[np.concatenate(whole)]).all()
            assert (plays.targets == targets[np.concatenate(whole)]).all()
            assert [len(rows) for rows in whole] == plays.counts.tolist()
        seen += len(own)
    assert 300 == seen


@pytest.mark.slow
def test_fewer_units_are_active_if_they_cost(labels: tuple[Boards, Floats32]) -> None:
    active = []
    for sparsity in (0.0, 1e-3):
        network = Network.new((24, 12), 1)
        list(fit(network, *labels, FitPlan(epochs=4, batch=50, rate=0.01, equity=1.0, sparsity=sparsity)))
        active.append(float((network.activations(encode_all(labels[0]))[1] > 0).sum(axis=1).mean()))
    assert active[1] < 0.8 * active[0]


def test_each_epoch_takes_all_decisions_with_all_their_plays() -> None:
    counts = np.array([2, 3, 1, 4, 2, 2], np.int32)
    plays = Plays(np.zeros((14, 26), np.int8), np.zeros((14, OUTPUTS), np.float32), counts)
    made = list(batches_of_plays(plays, FitPlan(epochs=2, batch=10), 35))
    assert 2 * 3 == len(made)
    for epoch in (made[:3], made[3:]):
        assert [*range(14)] == sorted(np.concatenate([rows for rows, _ in epoch]))
        assert sorted(counts) == sorted(np.concatenate([sizes for _, sizes in epoch]))
    assert [rows.tolist() for rows, _ in made[:3]] != [rows.tolist() for rows, _ in made[3:]]
    few = list(batches_of_plays(plays, FitPlan(epochs=1, batch=1), 20))
    assert 20 == len(few), "fewer decisions than batches are repeated"


@pytest.mark.slow
def test_of_plays_the_differences_are_learned_and_not_the_level(labels: tuple[Boards, Floats32]) -> None:
    boards, chances = labels
    counts = np.full(1000, 3, np.int32)
    shifted = chances + np.float32(0.2)
    network, other = Network.new((16,), 1), Network.new((16,), 1)
    few = labels[0][:50], labels[1][:50]
    plan = FitPlan(epochs=200, batch=50, rate=0.02)
    for _ in fit(network, *few, plan, Plays(boards, shifted, counts)):
        pass
    fitted(few, plan, other)
    assert error(network, labels) < 0.6 * error(other, labels)


@pytest.fixture(scope="module")
def labels() -> tuple[Boards, Floats32]:
    """Positions of which a function of the pips is to be learned."""
    boards = boards_of(some_positions(3000, 1))
    chances = Recounted().evaluate(boards)
    return boards, chances[:, [0, 1, 2, 4, 5]].astype(np.float32)


def fitted(labels: tuple[Boards, Floats32], plan: FitPlan, network: Network) -> list[FitProgress]:
    """Fit, and return the reported progress."""
    return list(fit(network, *labels, plan))


def error(network: Network, labels: tuple[Boards, Floats32], columns: npt.NDArray[np.intp] | None = None) -> float:
    inputs = encode_all(labels[0])
    said = network.chances(inputs if columns is None else inputs[:, columns])
    return float(np.sqrt(np.mean(((said - labels[1]) @ SIGNS) ** 2)))


@pytest.mark.parametrize("equity", [0.0, 1.0])
def test_a_function_of_the_board_is_learned(labels: tuple[Boards, Floats32], equity: float) -> None:
    network = Network.new((16,), 1)
    before = error(network, labels)
    progress = fitted(labels, FitPlan(epochs=8, batch=50, rate=0.02, equity=equity), network)
    assert error(network, labels) < 0.15 * before
    assert progress[-1].loss < progress[0].loss
    assert [(0, 0), (7, 479)] == [(it.epoch, it.batch) for it in (progress[0], progress[-1])]
    assert {480} == {it.batches for it in progress}
    assert 8 * 60 == len(progress) == FitPlan(epochs=8, batch=50).batches(3000)


def test_a_network_may_see_some_of_the_inputs_only(labels: tuple[Boards, Floats32]) -> None:
    columns = raw_columns()
    network = Network.new((16,), 1, len(columns))
    before = error(network, labels, columns)
    fitted(labels, FitPlan(epochs=4, batch=50, rate=0.02, columns=columns), network)
    assert error(network, labels, columns) < 0.5 * before


def test_the_seed_decides_everything(labels: tuple[Boards, Floats32]) -> None:
    def made(change: Callable[[FitPlan], FitPlan] = lambda plan: plan) -> str:
        network = Network.new((8,), 1)
        fitted(labels, change(FitPlan(epochs=2, batch=300, seed=5)), network)
        return network.checksum()

    assert made() == made()
    assert made() != made(lambda plan: FitPlan(plan.epochs, plan.batch, seed=6))


def test_fewer_labels_than_a_batch_are_a_batch(labels: tuple[Boards, Floats32]) -> None:
    network = Network.new((8,), 1)
    before = network.checksum()
    few = labels[0][:10], labels[1][:10]
    assert 3 == len(fitted(few, FitPlan(epochs=3, batch=1024), network)) == FitPlan(epochs=3, batch=1024).batches(10)
    assert before != network.checksum()


def test_nothing_is_learned_from_nothing(labels: tuple[Boards, Floats32]) -> None:
    network = Network.new((8,), 1)
    before = network.checksum()
    assert [] == fitted((labels[0][:0], labels[1][:0]), FitPlan(), network)
    assert before == network.checksum()


def test_labels_in_half_precision_do_as_well(labels: tuple[Boards, Floats32]) -> None:
    network = Network.new((8,), 1)
    before = error(network, labels)
    fitted((labels[0], labels[1].astype(np.float16)), FitPlan(epochs=4, batch=50, rate=0.02), network)
    assert error(network, labels) < 0.5 * before
    assert all(it.dtype == np.float32 for it in (*network.weights, *network.biases))
