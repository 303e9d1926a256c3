"""Networks by the game plans of both sides: together they know more than one network, and each position needs only one.

A side's checkers behind say most about how it plays: no checker in the opponent's home board or on the bar (it runs
or has run), some there without an anchor (it escapes, or is attacked), one anchor (a holding or ace-point game), or
more (a back game). With the plans of both sides that makes sixteen pairs, and a network for each takes no longer to
evaluate than a single one for all, which would have to be far wider to be as good.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from fibsbot.engine.arrays import BAR, CHECKERS, OUTPUTS, Boards, Floats32, Int32s, IntVector32
from fibsbot.engine.features import Inputs
from fibsbot.engine.jit import compiled
from fibsbot.engine.network import Network, load_arrays, save_arrays
from fibsbot.engine.quantized import QuantizedNetwork, output_sums, output_sums_in_turn
from fibsbot.engine.simd import bit_count, find_cells

PLANS: Final = 4
"""The plans of a side: no checker back, some without an anchor, one anchor, more anchors."""
PAIRS: Final = PLANS * PLANS
"""Pairs of plans; the number of a pair is PLANS times the player's plan plus the opponent's."""
_BACK: Final = BAR - 6
"""The first cell of the opponent's home board."""
_HOME: Final = 0b111111
"""A bit for each point of a home board."""


@frozen(eq=False)
class NetworksByPlan:
    """A network for each pair of plans, all of one shape."""

    networks: tuple[Network, ...] = field()

    @networks.validator
    def _check(self, _: object, networks: tuple[Network, ...]) -> None:
        if len(networks) != PAIRS or len({network.shape for network in networks}) != 1:
            raise ValueError(f"expected {PAIRS} networks of one shape")

    @property
    def shape(self) -> str:
        """The number of networks and the units of each layer, such as `16 x 260-512-5`."""
        return f"{PAIRS} x {self.networks[0].shape}"

    def rounded(self, precision: npt.DTypeLike) -> Self:
        """Return the networks as they are after they were stored at this precision."""
        return type(self)(tuple(network.rounded(precision) for network in self.networks))

    def save(self, path: Path, precision: npt.DTypeLike = np.float32) -> None:
        """Write all to one file atomically, each layer of all together; see `Network.save`."""
        layers = [network.arrays() for network in self.networks]
        save_arrays(path, **{name: np.stack([each[name] for each in layers]).astype(precision) for name in layers[0]})


ContactNetwork: TypeAlias = Network | NetworksByPlan
"""What evaluates positions with contact."""


def load_contact(path: Path) -> ContactNetwork:
    """Read a network or networks by plan. Raises NetworkError if it is neither, OSError if it cannot be read."""
    arrays = load_arrays(path)
    if {array.shape[:1] for array in arrays.values()} != {(PAIRS,)}:
        return Network.of_arrays(path, arrays, OUTPUTS)
    each = ({name: array[pair] for name, array in arrays.items()} for pair in range(PAIRS))
    return NetworksByPlan(tuple(Network.of_arrays(path, one, OUTPUTS) for one in each))


def networks_of(network: ContactNetwork) -> tuple[Network, ...]:
    """Return the networks: one, or PAIRS."""
    return network.networks if isinstance(network, NetworksByPlan) else (network,)


def plans_of(boards: Boards) -> Int32s:
    """Return the number of each board's pair of plans, shape (n,)."""
    pairs = np.empty(len(boards), np.int32)
    _write_plans(boards, pairs)
    return pairs


@compiled
def _write_plans(boards: Boards, pairs: IntVector32) -> None:
    for row in range(len(boards)):
        board = boards[row]
        own, own_points = find_cells(board, 1, CHECKERS) >> _BACK, find_cells(board, 2, CHECKERS) >> _BACK
        theirs, their_points = find_cells(board, -CHECKERS, -1), find_cells(board, -CHECKERS, -2)
        plan = 1 + min(bit_count(own_points & _HOME), 2) if own else 0
        their_plan = 1 + min(bit_count(their_points & (_HOME << 1)), 2) if theirs & (_HOME << 1 | 1) else 0
        pairs[row] = PLANS * plan + their_plan


def sums_by_plan(
    network_of: Callable[[int], QuantizedNetwork], boards: Boards, encode: Callable[[Boards], Inputs]
) -> Floats32:
    """Return the sums of the outputs, shape (n, OUTPUTS), of each board by the network of its pair of plans.

    Boards of one pair go through its network together, in their order: neighbours differ in a few points.
    """
    pairs = plans_of(boards)
    counts = np.bincount(pairs, minlength=PAIRS)
    parts = [(network_of(pair), int(counts[pair])) for pair in np.flatnonzero(counts).tolist()]
    if len(parts) < 2:
        return output_sums(network_of(int(counts.argmax())), encode(boards))
    order = np.argsort(pairs, kind="stable")
    sums = np.empty((len(boards), OUTPUTS), np.float32)
    sums[order] = output_sums_in_turn(parts, encode(boards[order]))
    return sums
