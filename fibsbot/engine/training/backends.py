"""What multiplies matrices for the training: numpy, or PyTorch where it is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator

from attrs import frozen

from fibsbot.engine.bearoff import Columns
from fibsbot.engine.boards import Boards
from fibsbot.engine.evaluator import Evaluator, NetworkEvaluator
from fibsbot.engine.network import Floats, Network
from fibsbot.engine.training import fitting
from fibsbot.engine.training.fitting import Plan, Progress


@frozen
class Backend:
    """Who fits, and who evaluates for labels."""

    name: str
    fit: Callable[[Network, Boards, Floats, Plan], Iterator[Progress]]
    """Changes a network in place; see `fitting.fit`."""
    evaluator: Callable[[str, Network, Columns], Evaluator]
    """Makes an evaluator of a network, its name and the bear-off tables; can be sent to another process."""


NUMPY = Backend("numpy", fitting.fit, NetworkEvaluator)


def torch_backend() -> Backend:
    """Return PyTorch's; raise ImportError where it is not installed."""
    from fibsbot.engine.training import torching  # noqa: PLC0415 - an extra, and it takes seconds to load

    return Backend("torch", torching.fit, torching.TorchEvaluator)


def best_backend() -> Backend:
    """Return PyTorch's if it is installed, numpy's if not."""
    return torch_backend() if importlib.util.find_spec("torch") else NUMPY
