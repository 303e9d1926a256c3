"""Scores of the Point Game: how far the estimate in `engine/match_equity.py` is from what games come to.

Plays the engine against itself without lookahead and without a cube, and prints for each level its share, the mean
score, and the mean and standard deviation of the error of the estimate over all positions of the winners:

    python -m bench.bench_point_game --games 600
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from random import Random
from statistics import fmean, pstdev

from fibsbot.engine.engine import Engine
from fibsbot.engine.match_equity import estimated_points
from fibsbot.engine.search import SearchLimits
from fibsbot.match import MatchState, Phase
from fibsbot.position import CHECKERS, Position
from fibsbot.rules.backgammon import sides_of
from fibsbot.rules.laws import Level, point_game_score, win_level
from fibsbot.rules.plays import legal_plays


def play_game(engine: Engine, random: Random) -> tuple[list[Position], Position]:
    """Return the winner's positions before all rolls of a game, and the last position, as the winner sees them."""
    position, seat, seen = Position.start(), 0, []
    while True:
        dice = random.randint(1, 6), random.randint(1, 6)
        seen.append((seat, position))
        if plays := legal_plays(position, dice):
            state = MatchState(position, cubeless=True, phase=Phase.MOVE, dice=dice)
            position = position.play(engine.rank(state, plays, SearchLimits(0)).best.play)
        if position.off == CHECKERS:
            return [it if owner == seat else it.swapped() for owner, it in seen], position
        position, seat = position.swapped(), 1 - seat


def main() -> None:
    """Play the games and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--games", type=int, default=600)
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args()
    engine, random = Engine.load(), Random(options.seed)
    scores: dict[Level, list[int]] = defaultdict(list)
    errors: dict[Level, list[float]] = defaultdict(list)
    for _ in range(options.games):
        seen, last = play_game(engine, random)
        level, score = win_level(last), point_game_score(sides_of(last).opponent.row)
        scores[level].append(score)
        errors[level] += [estimated_points(position)[level - 1] - score for position in seen]
    print(f"mean score {fmean([score for found in scores.values() for score in found]):.1f}")
    print("level        share   score   error  deviation")
    for level in sorted(scores):
        share, off, mean = len(scores[level]) / options.games, errors[level], fmean(scores[level])
        print(f"{level.name.lower():10} {share:7.1%} {mean:7.1f} {fmean(off):+7.2f} {pstdev(off):10.2f}")


if __name__ == "__main__":
    main()
