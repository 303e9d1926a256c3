"""The throws of a rollout: the first two of each game in equal shares, the same for all candidates."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from fibsbot.engine.rollout.plan import BLOCK

Rolls = npt.NDArray[np.int64]
"""Throws by their number in the order 1-1, 2-1, 2-2, 3-1 and so on, 0 to 20."""

_OF_DICE: Final = np.array(
    [max(one, other) * (max(one, other) - 1) // 2 + min(one, other) - 1 for one in range(1, 7) for other in range(1, 7)]
)
"""The number of each of 36 throws of two dice that can be told apart."""


class Dice:
    """The throws of a block of 36 games, turn by turn.

    In each block every first throw comes up as often as it should, and every second one; in 36 blocks every pair of the
    two. Which game gets which is up to the seed, so that each single throw is as random as any other.
    """

    def __init__(self, seed: int, block: int) -> None:
        """Make the throws of the block of this number."""
        order = np.random.default_rng((seed, 0))
        self._early = (order.permutation(36), order.permutation(36))
        self._later = np.random.default_rng((seed, 1, block))
        self._block = block
        self._turn = 0

    def throw(self) -> Rolls:
        """Return the throw of each game of the block at its next turn, shape (36,)."""
        games = np.arange(BLOCK)
        turn, self._turn = self._turn, self._turn + 1
        if turn < 2:
            return np.asarray(_OF_DICE[self._early[turn][(games + turn * self._block) % 36]])
        return np.asarray(_OF_DICE[self._later.integers(36, size=BLOCK)])
