"""What tables are worth: the bundled networks of the tables games, asked from Python."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from fibsbot.engine.arrays import Floats32
from fibsbot.engine.family.lookahead import Choice, Lookahead, best_play, new_lookahead
from fibsbot.engine.family.network import OUTPUTS, Network, evaluate_states, load_network, new_activations
from fibsbot.engine.family.parameters import NAME_DOUBLE, ROLL, parameters_of, part_code, state_of, states_of
from fibsbot.engine.family.turns import MOST_PARTS
from fibsbot.engine.network import NetworkError
from fibsbot.games.ruleset import Part, Ruleset, Then, Turn
from fibsbot.games.table import Table

GAME_NETWORKS: Final = Path(__file__).parent.parent / "networks/games"
"""The folder of the bundled networks, one for each game."""


MOST_PLIES: Final = 1
"""How far it can look ahead: the opponent's next roll."""
_THEN: Final = {Then.ROLL: ROLL, Then.NAME_DOUBLE: NAME_DOUBLE}


@cache
def network_of_game(game: str, folder: Path | None = None) -> Network:
    """Return the network of a game, by its name without options, from another folder if one is given.

    Raises NetworkError if that has none, and NetworkError or OSError if the network is damaged.
    """
    if folder is None:
        return load_network(GAME_NETWORKS / f"{game}.npz")
    path = folder / f"{game}.npz"
    try:
        return load_network(path)
    except FileNotFoundError:
        raise NetworkError(
            f"expected a network at {path}, found none; `fibsbot train --game {game} -o {folder}` makes one"
        ) from None


class TableEvaluator:
    """Estimates how a game will end. An option of a game is evaluated by the network of the game without it."""

    def __init__(self, rules: Ruleset, network: Network | None = None) -> None:
        """Use the bundled network unless another one is given; raise NetworkError or OSError if it is damaged."""
        self._parameters = parameters_of(rules)
        self._network = network_of_game(rules.name) if network is None else network
        self._of_thread = threading.local()

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

    def best_play(
        self, before: Table, turn: Turn, plays: Sequence[tuple[Table, int]], *, passed: bool = False, plies: int = 0
    ) -> int:
        """Return which of the plays of the first part of a turn is the best, by the points of the player who makes it.

        Args:
            before: The table before the play.
            turn: The part that is played, and what follows it.
            plays: The tables that the plays lead to, and how many moves each makes.
            passed: Whether the turn was left by the opponent.
            plies: 0 looks at the rest of the turn, 1 also at every roll of the opponent.
        """
        todo = np.zeros(MOST_PARTS, np.int64)
        todo[: len(turn)] = [part_code(it) if isinstance(it, Part) else _THEN[it] for it in turn]
        count = len(plays)
        choice = Choice(
            before=state_of(before),
            nodes=states_of([table for table, _ in plays]),
            results=np.arange(count, dtype=np.int32),
            moves=np.array([moves for _, moves in plays], np.int32),
            todo=todo,
        )
        rules, network, ahead = self._parameters, self._network, self._lookahead()
        return best_play(rules, network, ahead, choice, count, len(turn), int(passed), plies)

    def _lookahead(self) -> Lookahead:
        """Return the working memory of this thread."""
        memory: Lookahead | None = getattr(self._of_thread, "lookahead", None)
        if memory is None:
            memory = self._of_thread.lookahead = new_lookahead(self._network)
        return memory
