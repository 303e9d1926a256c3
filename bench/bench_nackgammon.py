"""Nackgammon without a cube against GNU Backgammon at 0-ply, each pair of games with the same dice.

Usage: bench_nackgammon.py [--games 200] [--seed 1]

gnubg runs as a child process, as the strategy `gnubg:0`. Ours is the network of the game at 0-ply. Points are ours per
game, with the 95 % interval over pairs.
"""

from __future__ import annotations

import argparse
import random

from rich.progress import track

from fibsbot.arena.duel.results import Estimate
from fibsbot.engine.family.evaluator import TableEvaluator
from fibsbot.games import load_ruleset
from fibsbot.games.plays import outcome
from fibsbot.games.table import HAND, Side, Table
from fibsbot.match import MatchState, Phase
from fibsbot.position import Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import load

RULES = load_ruleset("nackgammon")
EVALUATOR = TableEvaluator(RULES)


def table_of(position: Position) -> Table:
    """Return a position as a table."""
    points = position.points
    own = [max(it, 0) for it in points]
    theirs = [max(-points[HAND - place], 0) for place in range(HAND + 1)]
    own[0], theirs[0] = position.off, position.opponent_off
    return Table(Side(tuple(own), hit=own[HAND]), Side(tuple(theirs), hit=theirs[HAND]))


def start() -> Position:
    """Return the set-up."""
    row = RULES.start().own.row
    return Position(tuple(row[place] - row[HAND - place] for place in range(HAND + 1)))


def ours(positions: list[Position]) -> Position:
    """Return the position that the network values most for the player who has just moved."""
    tables = [table_of(it) for it in positions]
    expected = [-it for it in EVALUATOR.points([table.swapped() for table in tables]).tolist()]
    for place, table in enumerate(tables):
        if ended := outcome(RULES, table, table):
            expected[place] = ended.points
    return positions[max(range(len(positions)), key=expected.__getitem__)]


def play(gnubg: Strategy, rng: random.Random, *, ours_is_a: bool) -> int:
    """Play a game; return the points that ours wins."""
    dice = (1, 1)
    while dice[0] == dice[1]:
        dice = rng.randint(1, 6), rng.randint(1, 6)
    ours_moves = (dice[0] > dice[1]) is ours_is_a
    position = start()
    while True:
        high, low = max(dice), min(dice)
        plays = legal_plays(position, (high, low))
        if len(plays) > 1 and not ours_moves:
            state = MatchState(position, phase=Phase.MOVE, dice=(high, low), cubeless=True)
            position = position.play(gnubg.choose_play(state, plays).play)
        elif plays:
            position = ours([position.play(it) for it in plays])
        if ended := outcome(RULES, table_of(position), table_of(position)):
            return ended.points if ours_moves else -ended.points
        position, ours_moves, dice = position.swapped(), not ours_moves, (rng.randint(1, 6), rng.randint(1, 6))


def main() -> None:
    """Play and print the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    gnubg = load("gnubg:0")
    means = []
    for pair in track(range(options.games // 2), "nackgammon"):
        results = [play(gnubg, random.Random(f"{options.seed} {pair}"), ours_is_a=it) for it in (True, False)]
        means.append(sum(results) / 2)
    gnubg.close()
    result = Estimate.of(means)
    if result:
        print(f"{result.mean:+.3f} points per game, 95 % interval {result.low:+.3f} to {result.high:+.3f}")


if __name__ == "__main__":
    main()
