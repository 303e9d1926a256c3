"""Fitting and labelling by PyTorch, where it is installed: on a GPU, or on processors with bfloat16.

Such a processor multiplies three to four times as fast as in single precision; the weights themselves are kept in
single precision. What is learned is the same but for noise, and the networks are numpy's again afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from attrs import field, frozen

from fibsbot.engine.arrays import OUTPUTS, Boards, Floats32, Outcomes
from fibsbot.engine.bearoff import NO_TABLES, TableArrays
from fibsbot.engine.features import INPUTS, Inputs, encode_all
from fibsbot.engine.network import Network
from fibsbot.engine.network_evaluator import evaluate_with
from fibsbot.engine.training.optimizer import (
    CHANCE_WEIGHTS,
    EQUITY_WEIGHTS,
    LEAST_SOFTNESS,
    PLAY_WEIGHTS,
    SOFTNESS,
    FitPlan,
    FitProgress,
    Plays,
    batches,
    batches_of_plays,
    costs_of_units,
    mean_loss,
    rate_of,
)

_ROWS: Final = {"cpu": 512, "cuda": 65536}
"""Positions that go through the layers together, by the device: as many as it keeps at hand."""


def device() -> torch.device:
    """Return the device to compute on."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _precision() -> torch.dtype:
    """Return the precision of products: bfloat16 where that is fast, else single precision."""
    is_supported = getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)  # a private name, which may go
    quick = device().type == "cuda" or is_supported()
    return torch.bfloat16 if quick else torch.float32


def module_of(network: Network) -> torch.nn.Sequential:
    """Return a network as a PyTorch module, up to the sums of its outputs."""
    layers: list[torch.nn.Module] = []
    for weights, bias in zip(network.weights, network.biases, strict=True):
        layer = torch.nn.Linear(*weights.shape)
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(weights.T.copy()))
            layer.bias.copy_(torch.from_numpy(bias))
        layers += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1]).to(device())


@frozen(eq=False)
class TorchEvaluator:
    """A network by PyTorch; finished games and the bear-off tables are exact. The error is about 0.005 points."""

    name: str
    network: Network
    columns: TableArrays = NO_TABLES
    _modules: list[torch.nn.Sequential] = field(factory=list, init=False)

    def evaluate(self, boards: Boards) -> Outcomes:
        """Return the chances of the player on roll, shape (n, 6)."""
        return evaluate_with(boards, self.columns, lambda rest: self._chances(encode_all(rest)))

    def __getstate__(self) -> tuple[str, Network, TableArrays]:
        """Leave out the modules, which belong to this process."""
        return self.name, self.network, self.columns

    def __setstate__(self, state: tuple[str, Network, TableArrays]) -> None:
        """Restore an evaluator without modules."""
        self.__init__(*state)  # type: ignore[misc]

    def _chances(self, inputs: Inputs) -> Floats32:
        where, precision = device(), _precision()
        if not self._modules:
            self._modules.append(module_of(self.network).to(precision))
        found = np.empty((len(inputs), OUTPUTS), np.float32)
        rows = _ROWS[where.type]
        with torch.inference_mode():
            for first in range(0, len(inputs), rows):
                seen = torch.from_numpy(inputs[first : first + rows]).to(where, precision)
                logits = self._modules[0](seen).float()
                found[first : first + rows] = torch.sigmoid(logits).cpu().numpy()
        return found


def fit(
    network: Network, boards: Boards, targets: Floats32, plan: FitPlan, plays: Plays | None = None
) -> Iterator[FitProgress]:
    """Change the network's weights in place, a batch a step; see `optimizer.fit`, of which this is the twin.

    The weights are changed when all batches are done.
    """
    module = module_of(network)
    costs = costs_of_units(network) if plan.sparsity else []
    adam = torch.optim.Adam(module.parameters(), fused=True)
    worth, signs = (torch.from_numpy(array).to(device()) for array in (CHANCE_WEIGHTS, EQUITY_WEIGHTS))
    inputs = _inputs(boards, plan)
    added = _PlayBatches(plays, plan, len(boards)) if plays else None
    loss = 0.0
    for batch in batches(len(boards), plan):
        seen = _rows(inputs, batch.rows)
        wanted = torch.from_numpy(targets[batch.rows]).to(device())
        if added:
            seen = torch.cat([seen, added.next_inputs()])
        with torch.autocast(device().type, torch.bfloat16, enabled=_precision() == torch.bfloat16):
            every, active = _run(module, seen, costs)
        every = every.float()
        logits = every[: len(wanted)]
        entropy = torch.nn.functional.binary_cross_entropy_with_logits(logits, wanted, worth, reduction="sum")
        missed = (torch.sigmoid(logits) - wanted) @ signs
        error = entropy + plan.equity / 2 * (missed * missed).sum()
        if added:
            error = error + plan.differences * added.loss(every[len(wanted) :])
        error = (error + plan.sparsity * active) / len(wanted)
        adam.zero_grad()
        error.backward()
        adam.param_groups[0]["lr"] = rate_of(plan, batch)
        adam.step()
        loss = mean_loss(loss, (missed * missed).mean().item(), batch)
        yield FitProgress(batch.epoch, batch.number, batch.of, loss)
    layers = [layer for layer in module if isinstance(layer, torch.nn.Linear)]
    for layer, weights, bias in zip(layers, network.weights, network.biases, strict=True):
        weights[:] = layer.weight.detach().cpu().numpy().T
        bias[:] = layer.bias.detach().cpu().numpy()


def _run(module: torch.nn.Sequential, inputs: torch.Tensor, costs: list[float]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the sums of the outputs and, if units have costs, what those that are not zero cost, made smooth.

    See `optimizer._activity`.
    """
    active = torch.zeros((), device=device())
    if not costs:
        return module(inputs), active
    left = iter(costs)
    layer = inputs
    for part in module:
        layer = part(layer)
        if isinstance(part, torch.nn.Linear) and part is not module[-1]:
            sums = layer.float()
            softness = SOFTNESS * sums.detach().std(0, correction=0) + LEAST_SOFTNESS
            active = active + next(left) * torch.sigmoid(sums / softness).sum()
    return layer, active


class _PlayBatches:
    """The plays that are added to each batch; see `optimizer.fit`."""

    def __init__(self, plays: Plays, plan: FitPlan, boards: int) -> None:
        self._inputs = _inputs(plays.boards, plan)
        self._targets = plays.targets
        self._batches = batches_of_plays(plays, plan, boards)

    def next_inputs(self) -> torch.Tensor:
        """Go on to the next batch and return its inputs."""
        self._rows, self._counts = next(self._batches)
        return _rows(self._inputs, self._rows)

    def loss(self, logits: torch.Tensor) -> torch.Tensor:
        """Return the error of the differences between the plays of this batch; see `optimizer._difference_error`."""
        where = device()
        miss = torch.sigmoid(logits) - torch.from_numpy(self._targets[self._rows]).to(where)
        decision = torch.from_numpy(np.repeat(np.arange(len(self._counts)), self._counts)).to(where)
        sums = torch.zeros((len(self._counts), miss.shape[1]), device=where).index_add_(0, decision, miss)
        miss = miss - (sums / torch.from_numpy(self._counts).to(where)[:, None])[decision]
        equity = miss @ torch.from_numpy(EQUITY_WEIGHTS).to(where)
        squares = (miss * miss) @ torch.from_numpy(PLAY_WEIGHTS).to(where)
        return ((equity * equity).sum() + squares.sum()) / 2


def _inputs(boards: Boards, plan: FitPlan) -> torch.Tensor:
    """Return the inputs of all boards at once, on the device if it has room: to encode or move them would take longer.

    That is 520 bytes a board where bfloat16 is used.
    """
    columns = np.arange(INPUTS) if plan.columns is None else plan.columns
    shape = len(boards), len(columns)
    try:
        inputs = torch.empty(shape, dtype=_precision(), device=device())
    except torch.cuda.OutOfMemoryError:
        inputs = torch.empty(shape, dtype=_precision())
    for first in range(0, len(boards), 4096):
        rows = slice(first, first + 4096)
        inputs[rows] = torch.from_numpy(encode_all(boards[rows])[:, columns])
    return inputs


def _rows(inputs: torch.Tensor, rows: npt.NDArray[np.intp]) -> torch.Tensor:
    """Return some of the inputs on the device."""
    return inputs[torch.from_numpy(rows).to(inputs.device)].to(device())
