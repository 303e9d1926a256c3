"""The libraries that fit networks: numpy, or PyTorch where it is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator

from attrs import frozen

from fibsbot.engine.arrays import Boards, Floats32
from fibsbot.engine.bearoff import TableArrays
from fibsbot.engine.network import Network
from fibsbot.engine.network_evaluator import ArrayEvaluator, NetworkEvaluator
from fibsbot.engine.training.optimizer import FitPlan, FitProgress, Plays, fit


@frozen
class Backend:
    """The library that fits networks and evaluates positions for labels."""

    name: str
    fit: Callable[[Network, Boards, Floats32, FitPlan, Plays | None], Iterator[FitProgress]]
    """Changes a network in place; see `optimizer.fit`."""
    evaluator: Callable[[str, Network, TableArrays], ArrayEvaluator]
    """Makes an evaluator from a name, a network and the bear-off tables; picklable."""


NUMPY = Backend("numpy", fit, NetworkEvaluator)


def torch_backend() -> Backend:
    """Return PyTorch's; raise ImportError where it is not installed."""
    from fibsbot.engine.training import pytorch  # noqa: PLC0415 - an extra, and it takes seconds to load

    return Backend("torch", pytorch.fit, pytorch.TorchEvaluator)


def best_backend() -> Backend:
    """Return PyTorch's if it is installed, numpy's if not."""
    return torch_backend() if importlib.util.find_spec("torch") else NUMPY
