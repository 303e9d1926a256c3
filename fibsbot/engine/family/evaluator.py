"""What tables are worth: the bundled networks of the tables games, asked from Python."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from fibsbot.engine.arrays import Floats32
from fibsbot.engine.family.network import OUTPUTS, Network, evaluate_states, load_network, new_activations
from fibsbot.engine.family.parameters import parameters_of, states_of
from fibsbot.games.ruleset import Ruleset
from fibsbot.games.table import Table

GAME_NETWORKS: Final = Path(__file__).parent.parent / "networks/games"
"""The folder of the bundled networks, one for each game."""


@cache
def bundled_network(game: str) -> Network:
    """Return the network of a game, by its name without options. Raises NetworkError or OSError if it is damaged."""
    return load_network(GAME_NETWORKS / f"{game}.npz")


class TableEvaluator:
    """Estimates how a game will end. An option of a game is evaluated by the network of the game without it."""

    def __init__(self, rules: Ruleset, network: Network | None = None) -> None:
        """Use the bundled network unless another one is given; raise NetworkError or OSError if it is damaged."""
        self._parameters = parameters_of(rules)
        self._network = bundled_network(rules.name) if network is None else network

    def chances(self, tables: Sequence[Table]) -> Floats32:
        """Return the chances of the player who is to roll, `Table.own`, shape (n, 6).

        They are those to win at least one, two and three units, and to lose as many; see `Network.unit_points`.
        """
        outputs = np.empty((len(tables), OUTPUTS), np.float32)
        buffers = new_activations(self._network)  # for this call alone: strategies may be shared by threads
        evaluate_states(self._parameters, self._network, buffers, states_of(list(tables)), outputs)
        return outputs

    def points(self, tables: Sequence[Table]) -> Floats32:
        """Return the points that the player who is to roll can expect, shape (n,), without the cube."""
        chances = self.chances(tables)
        return np.asarray((chances[:, :3] - chances[:, 3:]) @ self._network.unit_points, np.float32)
