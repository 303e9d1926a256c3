"""Duels in tables games: two of the strategies `engine`, `pips`, `blots` and `random`, in compiled games.

Where the engine plays by the networks of backgammon (`fibsbot.games.backgammons.is_backgammon`), it is asked for each
play, and the simple players are the compiled ones.

Every game is played twice with the same dice and swapped seats, as in other duels. There are no matches and no cube.
Blocks of pairs are pieces of work, whose results depend on nothing but the plan and the number of the first pair.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Final, TypeAlias

import numpy as np
from attrs import define, field, frozen

from fibsbot.arena.duel.games import lost_worker_named
from fibsbot.arena.duel.results import Estimate
from fibsbot.engine.arrays import Int64s
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
)
from fibsbot.engine.family.network import GameNetwork, network_of_game, new_network
from fibsbot.engine.family.parameters import parameters_of, start_of, state_of, table_of
from fibsbot.games import load_ruleset
from fibsbot.match import MatchState
from fibsbot.rules.backgammon import board_of, is_backgammon, position_of
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game import reach, roll, roll_opening, start_match_of
from fibsbot.rules.ruleset import Ruleset
from fibsbot.rules.sides import Sides
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies import DEFAULT_STRATEGY as ENGINE
from fibsbot.strategies import base_name
from fibsbot.strategies.engine_options import EngineOptions
from fibsbot.strategies.loader import Seeded, load
from fibsbot.workers.pool import InProcessPool, LocalPool, Piece, ProgressCallback, WorkerPool
from fibsbot.workers.processes import usable_cores

KINDS: Final = {"random": RANDOM, "pips": PIPS, "blots": BLOTS}
"""The simple players of compiled games, by the names of the strategies."""
PLAYERS: Final = (*KINDS, ENGINE)
"""The names of the strategies that can play, the weakest first."""
_UNUSED: Final = new_network(1, (1, 0, 0), 1)
"""The network of games in which nobody needs one."""
BLOCK: Final = 20
"""Pairs of a piece of work, a second or less."""
SEARCHED_BLOCK: Final = 2
"""Pairs of a piece of work in which somebody looks ahead, which takes up to a second a game."""
WORTHWHILE: Final = 25
"""Pieces from which on it is worthwhile to start processes."""


@frozen
class TableDuelPlan:
    """The settings of a duel in a tables game."""

    game: str
    """The game, with its options."""
    strategies: tuple[str, str]
    seed: int = 1
    pairs: int = 100

    @property
    def block(self) -> int:
        """Pairs of a piece of work."""
        looks_ahead = any(base_name(it) == ENGINE and _options_of(it).chequer for it in self.strategies)
        return SEARCHED_BLOCK if looks_ahead else BLOCK


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


@define(eq=False)
class TableDuelWork:
    """What all pieces of a duel share."""

    plan: TableDuelPlan
    networks: tuple[GameNetwork, GameNetwork]
    """Those of both strategies; for a strategy that is not `engine`, one that is not used."""
    _buffers: GameBuffers | None = field(default=None, init=False)
    """Working memory of this process."""

    def __reduce__(self) -> tuple[type[TableDuelWork], tuple[TableDuelPlan, tuple[GameNetwork, GameNetwork]]]:
        return TableDuelWork, (self.plan, self.networks)

    def play(self, first: int) -> list[int]:
        """Play a block of pairs; return what A wins in both games of each. Raises NetworkError or OSError."""
        plan, rules = self.plan, load_ruleset(self.plan.game)
        count = min(plan.block, plan.pairs - first)
        if is_backgammon(rules) and ENGINE in map(base_name, plan.strategies):
            return _play_by_strategies(rules, plan, range(first, first + count))
        if self._buffers is None:
            self._buffers = new_game_buffers(start_of(rules), max(self.networks, key=lambda it: len(it.hidden_bias)))
        players = [_kind(name) for name in plan.strategies]
        kinds = np.array([players, players[::-1]], np.int64)
        points: Int64s = np.zeros(2 * count, np.int64)
        play_pairs(parameters_of(rules), kinds, *self.networks, self._buffers, plan.seed, first, points)
        found: list[int] = points.tolist()
        return found


def play_table_duel(
    plan: TableDuelPlan,
    pool: WorkerPool | None = None,
    on_progress: ProgressCallback = lambda _: None,
) -> Iterator[list[int]]:
    """Have workers play the games of a duel; yield blocks of what A wins in each game, in their order.

    Strategies called `engine` play by the bundled network, or by that of their option `networks=FOLDER`. Without a
    pool, processes of this machine are started if that is worthwhile. Raises NetworkError or OSError if a network is
    missing or damaged, DuelError if a worker is lost, and WorkError.
    """
    one, other = (_network_of(name, load_ruleset(plan.game)) for name in plan.strategies)
    pieces = [Piece(f"pair {first + 1}", first) for first in range(0, plan.pairs, plan.block)]
    if pool is None:
        pool = LocalPool(usable_cores()) if len(pieces) >= WORTHWHILE else InProcessPool()
    run = pool.run(play_block, pieces, shared=TableDuelWork(plan, (one, other)), on_progress=on_progress)
    with lost_worker_named(), contextlib.closing(run) as played:
        for _, points in played:
            yield points


def play_block(work: TableDuelWork, first: int) -> list[int]:
    """Play a block of pairs in a worker."""
    return work.play(first)


def _options_of(name: str) -> EngineOptions:
    return EngineOptions.parse(name.partition(":")[2])


def _network_of(name: str, rules: Ruleset) -> GameNetwork:
    """Return the network of a strategy."""
    if base_name(name) != ENGINE or is_backgammon(rules):
        return _UNUSED
    return network_of_game(rules.name, _options_of(name).networks)


def _kind(name: str) -> int:
    """Return the player of compiled games by the name of a strategy."""
    if base_name(name) != ENGINE:
        return KINDS[name]
    return NETWORK_1_PLY if _options_of(name).chequer else NETWORK


def _play_by_strategies(rules: Ruleset, plan: TableDuelPlan, numbers: Sequence[int]) -> list[int]:
    """Return what A wins in both games of each of these pairs; both players are new, so that nothing came before."""
    buffers = new_game_buffers(start_of(rules), _UNUSED)
    players = [make_player(rules, buffers, name, plan.seed) for name in plan.strategies]
    points: list[int] = []
    for pair in numbers:
        buffers.random[:] = plan.seed * 1_000_003 + pair
        one, other = (_play_game(rules, seats, Random(f"{plan.seed} {pair}")) for seats in (players, players[::-1]))
        points += [one, -other]
    return points


Player: TypeAlias = Callable[[GameState], Sides]
"""Returns the table after a player's play, asked in MOVE."""


def make_player(rules: Ruleset, buffers: GameBuffers, name: str, seed: int) -> Player:
    """Return a player of a game by the rules of backgammon, whose plays the compiled kernel makes or checks."""
    parameters = parameters_of(rules)

    def plays(game: GameState, kind: int) -> list[Sides]:
        """Return what the roll can lead to, the choice of a simple player first."""
        buffers.board[:] = state_of(game.sides)
        buffers.dice[:2] = game.dice or (0, 0)
        count = find_plays(parameters, kind, buffers)
        return [table_of(it) for it in buffers.search.nodes[buffers.search.results[:count]]] or [game.sides]

    def choose_simply(game: GameState) -> Sides:
        return plays(game, KINDS[name])[0]

    def choose(game: GameState) -> Sides:
        state = MatchState.of(game, game.turn)
        options = state.plays if state is not None else ()
        if state is None or not options:
            return game.sides
        made = game.position.play(options[0] if len(options) == 1 else strategy.choose_play(state, options).play)
        reached = next((it for it in plays(game, NETWORK) if position_of(it) == made), None)
        if reached is None:
            raise RuleError(f"expected a legal play, got one from {game.position} to {made}")
        return reached

    if name in KINDS:
        return choose_simply
    strategy = load(name)
    if isinstance(strategy, Seeded):
        strategy.reseed(str(seed))
    return choose


def _play_game(rules: Ruleset, players: Sequence[Player], random: Random) -> int:
    """Play a game without a cube by the rules of backgammon; return the points of the first player."""
    state = start_match_of(rules, 0)
    while state.stage is not Stage.OVER:
        if state.stage is Stage.MOVE:
            state = reach(state, board_of(rules, players[state.turn](state)), len(state.part.numbers))
            continue
        dice = random.randint(1, 6), random.randint(1, 6)
        state = roll_opening(state, *dice) if state.stage is Stage.OPENING else roll(state, state.turn, dice)
    return state.scores[Seat.A] - state.scores[Seat.B]
