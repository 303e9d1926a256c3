"""Efficiency of the cube in contact positions: the source of the figures for contact in `fibsbot.engine.cube`.

Usage: bench_rolled_cubes.py [POSITIONS] [TRIALS]

Positions from games that the engine plays against itself are rolled out to the end with the cube in the middle, with
one's own and with the opponent's, luck taken out. The same games give the chances without a cube, from which the model
says what a dead and what a live cube would be worth; the efficiency that comes nearest to the truth lies in between.
"""

from __future__ import annotations

import argparse
import math
from typing import Final

import numpy as np
import numpy.typing as npt
from attrs import evolve
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from bench.bench_efficiency import fitted
from fibsbot.engine.arrays import CHANCE_OF_ROLL, ROLL_COUNT, Boards, boards_of, cubeless_equity, position_of
from fibsbot.engine.cube import CENTRED, DEFAULT_EFFICIENCY, OWNED, THEIRS, Stakes
from fibsbot.engine.engine import Engine
from fibsbot.engine.pruner import PlayFilter, new_pruner_buffers
from fibsbot.engine.rollout import Candidate, RolloutPlan
from fibsbot.engine.rollout.driver import rollout
from fibsbot.engine.training.labels import one_ply
from fibsbot.match import MatchState, Owner
from fibsbot.position import Position

EVEN: Final = 0.6
"""Largest absolute cubeless equity of the positions that are rolled out."""
EVERY: Final = 7
"""One position in this many of a game is used."""
SAMPLES: Final = 400
"""Number of bootstrap samples for the standard error."""
OWNERS: Final = {CENTRED: Owner.CENTRED, OWNED: Owner.PLAYER, THEIRS: Owner.OPPONENT}
NAMES: Final = {CENTRED: "centred", OWNED: "owned", THEIRS: "opponent's"}


def positions(engine: Engine, count: int, seed: int) -> Boards:
    """Return about even contact positions from games of the engine, shape (count, 26)."""
    rng = np.random.default_rng(seed)
    scales = new_pruner_buffers(engine.pruner)
    start = boards_of([Position.start()])
    found: list[npt.NDArray[np.int8]] = []
    board, turn = start, 0
    while len(found) < count:
        if (board > 0).sum() and (board < 0).sum() and position_of(board[0]).contact:
            _, left = one_ply(engine.evaluator, scales, board, PlayFilter(0.12, 3))
            board = left[:, rng.choice(ROLL_COUNT, p=CHANCE_OF_ROLL)]
            turn += 1
            even = abs(float(cubeless_equity(engine.evaluate(board))[0])) <= EVEN
            if even and turn % EVERY == 0 and position_of(board[0]).contact:
                found.append(board[0])
        else:
            board, turn = start, int(rng.integers(EVERY))
    return np.array(found)


def main() -> None:
    """Roll positions out, and print the efficiency that fits best."""
    options = argparse.ArgumentParser(description="How efficient the cube is with contact.")
    options.add_argument("positions", type=int, nargs="?", default=200)
    options.add_argument("trials", type=int, nargs="?", default=72)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    boards = positions(Engine.load(), chosen.positions, chosen.seed)
    states = [MatchState(position_of(board)) for board in boards]
    candidates = [
        Candidate(NAMES[column], evolve(state, owner=owner), rolls=True)
        for column, owner in OWNERS.items()
        for state in states
    ]
    plan = RolloutPlan(trials=chosen.trials, seed=chosen.seed)
    bar = Progress(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=Console(stderr=True))
    with bar as shown:
        task = shown.add_task("", total=plan.trials)
        result = rollout(
            Engine.load, candidates, plan, on_progress=lambda it: shown.update(task, completed=it.results[0].count)
        )
    rolled = np.array([[*it.outcomes, it.equity] for it in result.results]).reshape(len(OWNERS), len(states), -1)
    rng = np.random.default_rng(chosen.seed)
    for place, column in enumerate(OWNERS):
        chances, true = rolled[place, :, :-1], rolled[place, :, -1]
        stakes = [Stakes.of(evolve(state, owner=OWNERS[column])) for state in states]
        dead, live, ours = (
            np.array(
                [stake.no_double_values(row, x)[0, column] for stake, row, x in zip(stakes, chances, each, strict=True)]
            )
            for each in (
                np.zeros((len(states), 3)),
                np.tile([1.0, 1.0, 0.0], (len(states), 1)),
                DEFAULT_EFFICIENCY.of(boards),
            )
        )
        samples = rng.integers(len(true), size=(SAMPLES, len(true)))
        error = np.std([fitted(true[some], dead[some], live[some]) for some in samples])
        rms = math.sqrt(float(((true - ours) ** 2).mean()))
        print(
            f"{NAMES[column]:10}  efficiency {fitted(true, dead, live):.3f} +- {error:.3f} (standard error);"
            f" the model is off by {(ours - true).mean():+.4f}, rms {rms:.4f}"
        )


if __name__ == "__main__":
    main()
