"""Pairs of compiled games, for duels of which `DuelPlan.is_compiled` is true: thousands of games a minute.

Blocks of pairs are pieces of work. A pair depends on nothing but the plan and its number.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Iterator
from typing import Final

import numpy as np
from attrs import define, field

from fibsbot.arena.duel.games import DuelError, DuelPlan, lost_worker_named
from fibsbot.arena.duel.results import PairResult, StrategyStats
from fibsbot.engine.arrays import Int64s
from fibsbot.engine.network import NetworkError
from fibsbot.engine.rulesets.game_loop import (
    BLOTS,
    NETWORK,
    NETWORK_1_PLY,
    PIPS,
    RANDOM,
    GameBuffers,
    new_game_buffers,
    play_pairs,
)
from fibsbot.engine.rulesets.network import GameNetwork, network_of_game, new_network
from fibsbot.engine.rulesets.parameters import parameters_of, start_of
from fibsbot.strategies.engine_options import EngineOptions
from fibsbot.workers.errors import WorkError
from fibsbot.workers.pool import InProcessPool, Piece, ProgressCallback, WorkerPool

_KINDS: Final = {"random": RANDOM, "pips": PIPS, "blots": BLOTS}
"""The simple players of compiled games, by the names of the strategies."""
_UNUSED: Final = new_network(1, (1, 0, 0), 1)
"""The network of a player who needs none."""
BLOCK: Final = 20
"""Pairs of a piece of work, a second or less."""
SEARCHED_BLOCK: Final = 2
"""Pairs of a piece of work in which somebody looks ahead, which takes up to a second a game."""
WORTHWHILE: Final = 25
"""Pieces from which on other processes of this machine are worth their start."""


@define(eq=False)
class CompiledWork:
    """What all pieces of a duel share."""

    plan: DuelPlan
    networks: tuple[GameNetwork, GameNetwork]
    """Those of both strategies; for a strategy that is not `engine`, one that is not used."""
    _buffers: GameBuffers | None = field(default=None, init=False)
    """Working memory of this process."""

    def __reduce__(self) -> tuple[type[CompiledWork], tuple[DuelPlan, tuple[GameNetwork, GameNetwork]]]:
        return CompiledWork, (self.plan, self.networks)

    def play(self, first: int, count: int) -> list[PairResult]:
        """Play pairs that follow each other."""
        plan, rules = self.plan, self.plan.rules
        if self._buffers is None:
            self._buffers = new_game_buffers(
                start_of(rules), max(self.networks, key=lambda network: len(network.hidden_bias))
            )
        players = [_kind(name) for name in plan.strategies]
        kinds = np.array([players, players[::-1]], np.int64)
        points: Int64s = np.zeros(2 * count, np.int64)
        play_pairs(parameters_of(rules), kinds, *self.networks, self._buffers, plan.seed, first, points)
        return [
            PairResult(number, (float(one), float(other)), None, 2, (StrategyStats(), StrategyStats()))
            for number, (one, other) in enumerate(points.reshape(count, 2).tolist(), first)
        ]


def play_compiled_pairs(
    plan: DuelPlan, numbers: Iterable[int], pool: WorkerPool, on_progress: ProgressCallback
) -> Generator[PairResult, None, None]:
    """Have workers play pairs, and yield each. Raises DuelError if a network cannot be read or the workers fail."""
    try:
        one, other = (_network_of(plan, name) for name in plan.strategies)
    except (NetworkError, OSError) as error:
        raise DuelError(str(error)) from None
    looks_ahead = any(_kind(name) == NETWORK_1_PLY for name in plan.strategies)
    pieces = list(_pieces(numbers, SEARCHED_BLOCK if looks_ahead else BLOCK))
    if pool.is_local and len(pieces) < WORTHWHILE:
        pool = InProcessPool()
    run = pool.run(play_block, pieces, shared=CompiledWork(plan, (one, other)), ordered=False, on_progress=on_progress)
    try:
        with lost_worker_named(), contextlib.closing(run) as played:
            for _, pairs in played:
                yield from pairs
    except WorkError as error:
        raise DuelError(str(error)) from None


def play_block(work: CompiledWork, block: tuple[int, int]) -> list[PairResult]:
    """Play a block of pairs in a worker: the number of the first, and how many."""
    return work.play(*block)


def _pieces(numbers: Iterable[int], most: int) -> Iterator[Piece]:
    """Yield blocks of at most so many pairs whose numbers follow each other."""
    first, count = 0, 0
    for number in numbers:
        if count and (number != first + count or count == most):
            yield Piece(f"pair {first + 1}", (first, count))
            count = 0
        if not count:
            first = number
        count += 1
    if count:
        yield Piece(f"pair {first + 1}", (first, count))


def _kind(name: str) -> int:
    """Return the player of compiled games by the name of a strategy."""
    if name in _KINDS:
        return _KINDS[name]
    return NETWORK_1_PLY if _options_of(name).chequer else NETWORK


def _network_of(plan: DuelPlan, name: str) -> GameNetwork:
    return _UNUSED if name in _KINDS else network_of_game(plan.rules.name, _options_of(name).networks)


def _options_of(name: str) -> EngineOptions:
    return EngineOptions.parse(name.partition(":")[2])
