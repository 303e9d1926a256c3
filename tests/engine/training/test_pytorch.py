"""PyTorch: what it learns and says is what numpy learns and says, but for noise."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from fibsbot.engine.arrays import boards_of
from fibsbot.engine.network import Network
from fibsbot.engine.network_evaluator import NetworkEvaluator
from fibsbot.engine.pruner import raw_columns
from fibsbot.engine.training import optimizer
from fibsbot.engine.training.backends import NUMPY, best_backend, torch_backend
from fibsbot.engine.training.optimizer import FitPlan, Plays
from tests.engine.toys import Recounted, some_positions, toy_network

torching = pytest.importorskip(
    "fibsbot.engine.training.pytorch",
    reason="PyTorch is not installed (pip install 'fibsbot[train]')",
    exc_type=ImportError,
)

BOARDS = boards_of(some_positions(3000, 1))
TARGETS = np.delete(Recounted().evaluate(BOARDS), 3, axis=1).astype(np.float32)


def error(network: Network) -> float:
    """Return how far a network's equities are from the targets."""
    said = np.delete(NetworkEvaluator("it", network).evaluate(BOARDS), 3, axis=1)
    return float(np.sqrt(np.mean(((said - TARGETS) @ optimizer.EQUITY_WEIGHTS) ** 2)))


def test_it_is_taken_where_it_is_installed() -> None:
    assert "torch" == best_backend().name == torch_backend().name
    assert "numpy" == NUMPY.name


def test_it_says_what_numpy_says() -> None:
    network = toy_network()
    expected = NetworkEvaluator("it", network).evaluate(BOARDS)
    assert torching.TorchEvaluator("it", network).evaluate(BOARDS) == pytest.approx(expected, abs=0.02)
    assert (0, 6) == torching.TorchEvaluator("it", network).evaluate(BOARDS[:0]).shape


def test_it_travels_to_another_process() -> None:
    evaluator = torching.TorchEvaluator("it", toy_network())
    before = evaluator.evaluate(BOARDS[:9])
    assert (before == pickle.loads(pickle.dumps(evaluator)).evaluate(BOARDS[:9])).all()  # noqa: S301 - our own


@pytest.mark.parametrize("equity", [0.0, 1.0])
def test_it_learns_as_numpy_learns(equity: float) -> None:
    plan = FitPlan(epochs=8, batch=50, rate=0.02, equity=equity)
    ours, its = Network.new((16,), 1), Network.new((16,), 1)
    before = error(its)
    said = list(optimizer.fit(ours, BOARDS, TARGETS, plan))
    heard = list(torching.fit(its, BOARDS, TARGETS, plan))
    assert [(it.epoch, it.batch, it.batches) for it in said] == [(it.epoch, it.batch, it.batches) for it in heard]
    assert heard[0].loss == pytest.approx(said[0].loss, rel=0.05)
    assert error(its) < 0.2 * before
    assert error(ours) < 0.2 * before


@pytest.mark.parametrize("sparsity", [0.0, 0.1])
@pytest.mark.parametrize("plays", [None, Plays(BOARDS, TARGETS + np.float32(0.1), np.full(1000, 3, np.int32))])
def test_one_step_is_the_same(plays: Plays | None, sparsity: float) -> None:
    plan = FitPlan(epochs=1, batch=3000, rate=0.5, sparsity=sparsity)
    ours, its = toy_network(), toy_network()
    list(optimizer.fit(ours, BOARDS, TARGETS, plan, plays))
    list(torching.fit(its, BOARDS, TARGETS, plan, plays))
    start = toy_network()
    for one, other, before in zip(ours.weights, its.weights, start.weights, strict=True):
        moved, also = (one - before).ravel(), (other - before).ravel()
        assert np.corrcoef(moved, also)[0, 1] > 0.95


def test_a_network_may_see_some_of_the_inputs_only() -> None:
    columns = raw_columns()
    network = Network.new((16,), 1, len(columns))
    progress = list(torching.fit(network, BOARDS, TARGETS, FitPlan(epochs=4, batch=50, rate=0.02, columns=columns)))
    assert progress[-1].loss < 0.5 * progress[0].loss
