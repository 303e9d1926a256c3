"""Duels in tables games: two of the strategies of `fibsbot.strategies.table_games`, in compiled games.

Where the engine plays by the networks of backgammon (`fibsbot.games.backgammons.is_backgammon`), it is asked for each
play, and the simple players are the compiled ones.

Every game is played twice with the same dice and swapped seats, as in other duels. There are no matches and no cube.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Final, TypeAlias

import numpy as np
from attrs import define, field, frozen

from fibsbot.arena.duel.results import Estimate
from fibsbot.engine.arrays import Int64s
from fibsbot.engine.family.evaluator import bundled_network
from fibsbot.engine.family.game_loop import (
    BLOTS,
    NETWORK,
    NETWORK_1_PLY,
    PIPS,
    RANDOM,
    GameBuffers,
    find_plays,
    new_game_buffers,
    play_pairs,
    play_simply,
)
from fibsbot.engine.family.network import Network, new_network
from fibsbot.engine.family.parameters import parameters_of, start_of, state_of, table_of
from fibsbot.games import load_ruleset
from fibsbot.games.backgammons import is_backgammon, position_of
from fibsbot.games.game import TableGame, reach, roll, roll_opening, start_match
from fibsbot.games.ruleset import Ruleset
from fibsbot.games.table import Table
from fibsbot.rules.errors import RuleError
from fibsbot.rules.state import Seat, Stage
from fibsbot.strategies import base_name
from fibsbot.strategies.engine_options import EngineOptions
from fibsbot.strategies.table_games import ENGINE, load_table_strategy

KINDS: Final = {"random": RANDOM, "pips": PIPS, "blots": BLOTS}
"""The simple players of compiled games, by the names of the strategies."""
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
    with_engine = ENGINE in map(base_name, plan.strategies)
    if with_engine and is_backgammon(rules):
        yield from _play_by_strategies(rules, plan)
        return
    weights = network or (bundled_network(rules.name) if with_engine else _UNUSED)
    buffers = new_game_buffers(start_of(rules), weights)
    players = [_kind(name) for name in plan.strategies]
    kinds = np.array([players, players[::-1]], np.int64)
    for first in range(0, plan.pairs, BLOCK):
        points: Int64s = np.zeros(2 * min(BLOCK, plan.pairs - first), np.int64)
        play_pairs(parameters_of(rules), kinds, weights, weights, buffers, plan.seed, first, points)
        yield points.tolist()


def _kind(name: str) -> int:
    """Return the player of compiled games by the name of a strategy."""
    plain, _, options = name.partition(":")
    if plain != ENGINE:
        return KINDS[name]
    return NETWORK_1_PLY if EngineOptions.parse(options).chequer else NETWORK


def _play_by_strategies(rules: Ruleset, plan: TableDuelPlan) -> Iterator[list[int]]:
    """Yield what A wins in both games of each pair."""
    buffers = new_game_buffers(start_of(rules), _UNUSED)
    players = [make_player(rules, buffers, name, plan.seed) for name in plan.strategies]
    for pair in range(plan.pairs):
        buffers.random[:] = plan.seed * 1_000_003 + pair
        points = [_play_game(rules, seats, Random(f"{plan.seed} {pair}")) for seats in (players, players[::-1])]
        yield [points[0], -points[1]]


Player: TypeAlias = Callable[[TableGame], Table]
"""Returns the table after a player's play, asked in MOVE."""


def make_player(rules: Ruleset, buffers: GameBuffers, name: str, seed: int) -> Player:
    """Return a player of a game by the rules of backgammon, whose plays the compiled kernel makes or checks."""
    parameters = parameters_of(rules)

    def choose_simply(game: TableGame) -> Table:
        _set_up(buffers, game)
        play_simply(parameters, KINDS[name], _UNUSED, buffers)
        return table_of(buffers.board)

    def choose(game: TableGame) -> Table:
        made = position_of(game.table).play(strategy.choose_play(game))
        _set_up(buffers, game)
        count = find_plays(parameters, buffers)
        legal = [table_of(it) for it in buffers.search.nodes[buffers.search.results[:count]]] or [game.table]
        reached = next((it for it in legal if position_of(it) == made), None)
        if reached is None:
            raise RuleError(f"expected a legal play, got one from {position_of(game.table)} to {made}")
        return reached

    if name in KINDS:
        return choose_simply
    strategy = load_table_strategy(name, seed=seed)
    return choose


def _set_up(buffers: GameBuffers, game: TableGame) -> None:
    buffers.board[:] = state_of(game.table)
    buffers.dice[:2] = game.dice or (0, 0)


def _play_game(rules: Ruleset, players: Sequence[Player], random: Random) -> int:
    """Play a game without a cube by the rules of backgammon; return the points of the first player."""
    state = start_match(rules, 0)
    while state.stage is not Stage.OVER:
        if state.stage is Stage.MOVE:
            state = reach(state, players[state.turn](state), len(state.part.numbers))
            continue
        dice = random.randint(1, 6), random.randint(1, 6)
        state = roll_opening(state, *dice) if state.stage is Stage.OPENING else roll(state, state.turn, dice)
    return state.scores[Seat.A] - state.scores[Seat.B]
