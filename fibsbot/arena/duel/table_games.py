"""Duels in tables games: two of the strategies of `fibsbot.strategies.table_games`, in compiled games.

Every game is played twice with the same dice and swapped seats, as in other duels. There are no matches and no cube.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from attrs import define, field, frozen

from fibsbot.arena.duel.results import Estimate
from fibsbot.engine.arrays import Int64s
from fibsbot.engine.family.evaluator import bundled_network
from fibsbot.engine.family.game_loop import BLOTS, NETWORK, PIPS, RANDOM, new_game_buffers, play_pairs
from fibsbot.engine.family.network import Network, new_network
from fibsbot.engine.family.parameters import parameters_of, start_of
from fibsbot.games import load_ruleset

KINDS: Final = {"random": RANDOM, "pips": PIPS, "blots": BLOTS, "engine": NETWORK}
"""The players of compiled games, by the names of the strategies."""
_UNUSED: Final = new_network(1, (1, 0, 0), 1)
"""The network of games in which nobody needs one."""
BLOCK: Final = 20
"""Pairs between two looks at the result."""


@frozen
class TableDuelPlan:
    """The settings of a duel in a tables game."""

    game: str
    """The game, with its options."""
    strategies: tuple[str, str]
    seed: int = 1
    pairs: int = 100


@define
class TableDuelSummary:
    """The games of a duel, summed up."""

    plan: TableDuelPlan
    points: list[int] = field(factory=list)
    """Points of A, negative if B won, by game; both games of a pair follow each other."""

    def report(self) -> dict[str, Any]:
        """Return everything in JSON types."""
        wins = [0.5 + 0.5 * ((it > 0) - (it < 0)) for it in self.points]
        shares, points = Estimate.of_shares(_pair_means(wins)), Estimate.of(_pair_means(self.points))
        return {
            "game": self.plan.game,
            "strategies": list(self.plan.strategies),
            "seed": self.plan.seed,
            "finished": len(self.points) == 2 * self.plan.pairs,
            "games": len(self.points),
            "wins": sum(it > 0 for it in self.points),
            "draws": self.points.count(0),
            "share": _interval(shares),
            "points": _interval(points),
        }


def _pair_means(values: Sequence[float]) -> list[float]:
    return [(one + other) / 2 for one, other in zip(values[::2], values[1::2], strict=True)]


def _interval(estimate: Estimate | None) -> dict[str, float] | None:
    return {"mean": estimate.mean, "low": estimate.low, "high": estimate.high} if estimate else None


def play_table_duel(plan: TableDuelPlan, network: Network | None = None) -> Iterator[list[int]]:
    """Play the games of a duel; yield blocks of what A wins in each.

    Strategies called `engine` play by the bundled network, or by another one. Raises NetworkError or OSError if it is
    damaged.
    """
    rules = load_ruleset(plan.game)
    weights = network or (bundled_network(rules.name) if "engine" in plan.strategies else _UNUSED)
    buffers = new_game_buffers(start_of(rules), weights)
    players = [KINDS[name] for name in plan.strategies]
    kinds = np.array([players, players[::-1]], np.int64)
    for first in range(0, plan.pairs, BLOCK):
        points: Int64s = np.zeros(2 * min(BLOCK, plan.pairs - first), np.int64)
        play_pairs(parameters_of(rules), kinds, weights, weights, buffers, plan.seed, first, points)
        yield points.tolist()
