"""Strength and speed of the heuristic strategy, compared with the random one.

Usage: bench_strategies.py [PAIRS [SEED]]

Cubeless money games, in pairs with the same dice and the sides exchanged, so that luck that does not depend on the
plays cancels. Points per game stand with their 95 % interval; the time is that of one `choose_play`.
"""

from __future__ import annotations

import math
import random
import statistics
import sys
import time
from collections.abc import Iterator
from typing import Final

from fibsbot.match import Dice, MatchState, Phase
from fibsbot.position import CHECKERS, Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.heuristic import HeuristicStrategy
from fibsbot.strategies.heuristic.strategy import position_chances
from fibsbot.strategies.random_play import RandomStrategy

PAIRS: Final = 100
LIMIT_MS: Final = 20
"""Time limit for a typical play."""


class Timed:
    """A strategy whose plays are timed."""

    def __init__(self, strategy: Strategy) -> None:
        """Time this strategy."""
        self.strategy = strategy
        self.times: list[float] = []

    def play(self, position: Position, dice: Dice) -> Position:
        """Return the position after a play, asking the strategy when there is a choice."""
        plays = legal_plays(position, dice)
        if len(plays) < 2:
            return position.play(plays[0]) if plays else position
        state = MatchState(position, phase=Phase.MOVE, dice=dice)
        started = time.perf_counter()
        answer = self.strategy.choose_play(state, plays)
        self.times.append(time.perf_counter() - started)
        return position.play(answer.play)


def throws(seed: str) -> Iterator[Dice]:
    """Yield the rolls of a game, the opening roll first."""
    rng = random.Random(seed)
    opening = rng.sample(range(1, 7), 2)
    yield opening[0], opening[1]
    while True:
        yield rng.randint(1, 6), rng.randint(1, 6)


def game(first: Timed, second: Timed, seed: str) -> float:
    """Play one game; return the points of the player who begins."""
    position, sign = Position.start(), 1
    for dice in throws(seed):
        mover = first if sign == 1 else second
        position = mover.play(position, dice)
        if position.off == CHECKERS:
            return sign * -position_chances(position.swapped()).equity
        position, sign = position.swapped(), -sign
    raise AssertionError("throws never end")


def match(ours: Timed, theirs: Timed, pairs: int, seed: int) -> list[float]:
    """Play pairs of games; return our points per game in each pair."""
    return [(game(ours, theirs, f"{seed}-{pair}") - game(theirs, ours, f"{seed}-{pair}")) / 2 for pair in range(pairs)]


def main() -> None:
    """Print points per game, games per second and milliseconds per play."""
    pairs, seed = ([int(argument) for argument in sys.argv[1:]] + [PAIRS, 1][len(sys.argv) - 1 :])[:2]
    ours, theirs = Timed(HeuristicStrategy()), Timed(RandomStrategy(seed))
    started = time.perf_counter()
    points = match(ours, theirs, pairs, seed)
    seconds = time.perf_counter() - started
    error = 1.96 * statistics.stdev(points) / math.sqrt(pairs)
    print(f"heuristic against random, {pairs} pairs of cubeless games, seed {seed}")
    print(f"  points per game    {statistics.mean(points):+.3f} +- {error:.3f}")
    print(f"  games per second   {2 * pairs / seconds:.1f}")
    for name, timed, limit in (("heuristic", ours, f" (at most {LIMIT_MS} wanted)"), ("random", theirs, "")):
        times = sorted(1000 * it for it in timed.times)
        median, late = times[len(times) // 2], times[len(times) * 99 // 100]
        print(f"  {name:<9} ms a play: median {median:.2f}{limit}, 99 % within {late:.1f}")


if __name__ == "__main__":
    main()
