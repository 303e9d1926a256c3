"""Cubeless games against gnubg's networks at 0-ply, each pair of games with the same dice.

Usage: bench_games.py [--games 2000] [--seed 1] [--jobs N] [--network FILE]

gnubg is the package gnubg-nn (GPL; never a dependency) in process: pip install gnubg-nn. It picks its play as it does
by itself at 0-ply; ours is the best of all plays as the network values them. Points are ours per game, the interval is
of 95 % and of the pairs, whose luck is the same.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import numpy as np
import numpy.typing as npt
from attrs import define, field, frozen
from rich.progress import track

from bench.beside import gnubg
from fibsbot.engine.arrays import Board, boards_of, cubeless_equity, swapped
from fibsbot.engine.bearoff import load_tables
from fibsbot.engine.engine import CONTACT, NETWORKS_FOLDER
from fibsbot.engine.generator import successors
from fibsbot.engine.network import Network
from fibsbot.engine.network_evaluator import NetworkEvaluator
from fibsbot.position import Position

PAIRS: Final = 250
"""Pairs of games that are played in parallel."""
TURNS: Final = 1000
"""Maximum number of rolls in a game."""
START: Final = boards_of([Position.start()])[0]


@define
class Game:
    """An unfinished game."""

    pair: int
    dice: npt.NDArray[np.int64]
    """Shape (TURNS, 2), the higher number first."""
    ours: bool
    """Whether our engine is on roll."""
    board: Board = field(factory=START.copy)
    """The board seen by the player on roll."""
    turn: int = 0
    points: int = 0
    """Points that our engine has won."""

    def go_on(self, left: Board) -> None:
        """Make the play that leads to a board, seen by the player who made it."""
        self.board = swapped(left[None])[0]
        if not (left > 0).any():
            rest = self.board
            worth = 1 if rest[rest > 0].sum() < 15 else 3 if (rest[19:] > 0).any() else 2
            self.points = worth if self.ours else -worth
        self.ours = not self.ours
        self.turn += 1


@frozen
class Chore:
    """Several pairs of games."""

    first: int
    pairs: int
    seed: int
    network: Path


def pair_of(number: int, seed: int) -> list[Game]:
    """Start two games with the same dice and the sides swapped."""
    rng = np.random.default_rng([seed, number])
    dice = rng.integers(1, 7, (TURNS, 2))
    while dice[0, 0] == dice[0, 1]:
        dice[0] = rng.integers(1, 7, 2)
    dice = -np.sort(-dice, axis=1)
    return [Game(number, dice, ours) for ours in (True, False)]


def play(chore: Chore) -> list[int]:
    """Return our points in each pair."""
    tables = load_tables(compute=True)
    assert tables is not None
    evaluator = NetworkEvaluator("ours", Network.load(chore.network), tables.columns)
    other = gnubg()
    assert other is not None
    games = [game for number in range(chore.pairs) for game in pair_of(chore.first + number, chore.seed)]
    going = games
    while going:
        play_ours(evaluator, [game for game in going if game.ours])
        # Our engine has just played in its games; gnubg plays only in those where it was on roll before.
        going = [game for game in going if not game.points]
        for game in going:
            if not game.ours:
                high, low = game.dice[game.turn].tolist()
                game.go_on(other.play(game.board, (high, low), 0))
        going = [game for game in going if not game.points]
    return [one.points + other.points for one, other in zip(games[::2], games[1::2], strict=True)]


def play_ours(evaluator: NetworkEvaluator, games: Iterable[Game]) -> None:
    """Play our best play in each game."""
    games = list(games)
    if not games:
        return
    every = [successors(game.board, *game.dice[game.turn]) for game in games]
    every = [plays if len(plays) else game.board[None] for plays, game in zip(every, games, strict=True)]
    theirs = cubeless_equity(evaluator.evaluate(swapped(np.concatenate(every))))
    first = 0
    for game, plays in zip(games, every, strict=True):
        game.go_on(plays[int(np.argmin(theirs[first : first + len(plays)]))])
        first += len(plays)


def main() -> None:
    """Play, and print the result."""
    options = argparse.ArgumentParser(description="Games against gnubg's networks, both at 0-ply.")
    options.add_argument("--games", type=int, default=2000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options.add_argument("--network", type=Path, default=NETWORKS_FOLDER / CONTACT)
    chosen = options.parse_args()
    if gnubg() is None:
        return
    pairs = max(1, chosen.games // 2)
    chores = [Chore(first, min(PAIRS, pairs - first), chosen.seed, chosen.network) for first in range(0, pairs, PAIRS)]
    began = time.monotonic()
    points: list[int] = []
    with multiprocessing.get_context("spawn").Pool(chosen.jobs) as pool:
        done = pool.imap(play, chores)
        for some in track(done, "games", len(chores), disable=not sys.stderr.isatty()):
            points += some
    half = np.array(points) / 2
    error = 1.96 * half.std(ddof=1) / len(half) ** 0.5 if len(half) > 1 else float("inf")
    spent = time.monotonic() - began
    print(f"{2 * pairs} games  {half.mean():+.4f} +- {error:.4f} points a game  {2 * pairs / spent:.0f} games/s")


if __name__ == "__main__":
    main()
