"""Time that the engine takes for decisions by depth, and the equity that they lose.

Usage: bench_search.py [DECISIONS [FOLDER]]

Plays of `data/checker_decisions.jsonl.gz` (money, no cube) at 0 to 3 plies and the cube of
`data/cube_decisions.jsonl.gz` at 0 to 2, spread evenly over the files, with the networks of a folder, if no other the
ones that come along. Times are of one core, as the processor counts them, so that other programs don't disturb.
`1000/s` is how many positions were valued a second, in all the time of the decisions, and `speed` that against the bare
evaluator's in batches of 256 in the same run; `x gnubg` is that speed against gnubg's `calibrate`, in turns.
`PR` is 500 x the mean equity lost by the plays, against the mean of both reference engines. Of the cube stand how often
doubling and the answer differ from the reference, and what that costs.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from attrs import evolve, frozen

from bench.bench_engine import GNUBG, gnubg_rate
from bench.beside import Gnubg, gnubg
from fibsbot.engine.arrays import boards_of, position_of
from fibsbot.engine.engine import NETWORKS_FOLDER, Engine
from fibsbot.engine.hash_tables import CACHE_SIZE
from fibsbot.engine.search import SearchEffort, Searcher, SearchFilters, SearchLimits
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.notation.position_ids import parse_gnubg_id, parse_position_id
from fibsbot.position import Play, Position
from fibsbot.rules.plays import legal_plays

DATA: Final = Path(__file__).parent / "data"
DECISIONS: Final = 400
TURNS: Final = 7
"""How often a search and gnubg's evaluations are timed in turns."""
FEWER: Final = 10
"""Divisor of the number of decisions at 3 plies."""
ONE_THREAD: Final = "OPENBLAS_NUM_THREADS"
T = TypeVar("T")
Figures: TypeAlias = npt.NDArray[np.float64]


@frozen
class Choice:
    """A roll with at least two plays."""

    state: MatchState
    plays: Sequence[Play]
    reference: dict[Position, float]
    """Values of the plays in the file, by the position after them."""

    @classmethod
    def of(cls, row: dict[str, Any]) -> Choice:
        """Read a row of the file."""
        position, dice = parse_position_id(row["pos"]), (row["dice"][0], row["dice"][1])
        state = MatchState(position, phase=Phase.MOVE, dice=dice, cubeless=True)
        worths = {parse_position_id(move["id"]): (move["g2"] + move["s3"]) / 2 for move in row["moves"]}
        return cls(state, legal_plays(position, dice), worths)

    def loss(self, left: Position) -> float:
        """Return the loss of a play; a play that is not in the file counts as the worst."""
        return max(self.reference.values()) - self.reference.get(left, min(self.reference.values()))


def rows(name: str, count: int) -> list[dict[str, Any]]:
    """Return a number of rows spread over a file."""
    with gzip.open(DATA / name, "rt") as file:
        next(file)
        every = [json.loads(line) for line in file]
    return every[:: max(len(every) // count, 1)][:count]


def timed(ask: Callable[[T], SearchEffort], things: Iterable[T]) -> tuple[Figures, Figures]:
    """Return the milliseconds and the evaluations of each call."""
    times, evaluations = [], []
    for thing in things:
        started = time.thread_time()
        effort = ask(thing)
        times.append(1e3 * (time.thread_time() - started))
        evaluations.append(effort.evaluations)
    return np.array(times), np.array(evaluations)


def line(what: str, times: Figures, evaluations: Figures, bare: float, rest: str) -> float:
    """Print the row for a depth; return the evaluations per second."""
    speed = float(1e3 * evaluations.sum() / times.sum())
    middle, worst, mean, positions = np.median(times), np.percentile(times, 99), times.mean(), np.median(evaluations)
    figures = f"{middle:9.2f} {worst:7.1f} {mean:8.2f} {positions:9.0f} {speed / 1e3:7.1f} {speed / bare:6.0%}"
    print(f"{what:22} {figures}  {rest}", flush=True)
    return speed


def plays(engine: Engine, choices: Sequence[Choice], plies: int, size: int, bare: float) -> float:
    """Print the rows for plays; return the evaluations per second."""
    searcher = Searcher(engine.evaluator, engine.pruner, SearchFilters(), size=size)
    lost = []

    def ask(choice: Choice) -> SearchEffort:
        ranking = searcher.rank(choice.state, choice.plays, SearchLimits(plies, stop_when_decided=True))
        lost.append(choice.loss(ranking.best.position))
        return ranking.effort

    ask(choices[0])
    lost.clear()
    what = f"play, {plies}-ply" if size > 1 else f"play, {plies}-ply, no cache"
    return line(what, *timed(ask, choices), bare, f"PR {500 * np.mean(lost):.3f}")


def gnubgs(other: Gnubg, choices: Sequence[Choice], plies: int) -> None:
    """Print the rows for gnubg's plays."""
    lost, times = [], []
    for choice in choices:
        board, dice = boards_of([choice.state.position])[0], choice.state.dice
        assert dice is not None
        started = time.thread_time()
        left = other.play(board, (max(dice), min(dice)), plies)
        times.append(1e3 * (time.thread_time() - started))
        lost.append(choice.loss(position_of(left)))
    middle, worst, mean = np.median(times), np.percentile(times, 99), np.mean(times)
    what = f"gnubg, {plies}-ply"
    print(f"{what:22} {middle:9.2f} {worst:7.1f} {mean:8.2f} {'':25}  PR {500 * np.mean(lost):.3f}", flush=True)


def cubes(engine: Engine, decisions: Sequence[dict[str, Any]], plies: int, bare: float) -> None:
    """Print the rows for cube decisions."""
    doubles, answers, cost = [], [], []

    def ask(row: dict[str, Any]) -> SearchEffort:
        state = evolve(parse_gnubg_id(f"{row['pos']}:{row['match']}"), phase=Phase.ROLL, dice=None)
        reading = engine.analyse_cube(state, SearchLimits(plies))
        verdict = reading.verdict
        best = min(row["dt"], row["dp"])
        wrong = (verdict.action is CubeAction.DOUBLE) != (best >= row["nd"])
        misanswered = (verdict.answer is CubeAction.PASS) != (row["dt"] > row["dp"])
        doubles.append(wrong)
        answers.append(misanswered)
        cost.append(wrong * abs(best - row["nd"]) + misanswered * abs(row["dt"] - row["dp"]))
        return reading.effort

    ask(decisions[0])
    for figures in (doubles, answers, cost):
        figures.clear()
    times, evaluations = timed(ask, decisions)
    rest = f"doubles wrong {np.mean(doubles):.1%}, answers {np.mean(answers):.1%}, lost {1e3 * np.mean(cost):.2f} mEMG"
    line(f"cube, {plies}-ply", times, evaluations, bare, rest)


def bare_speed(engine: Engine, choices: Sequence[Choice]) -> float:
    """Return the positions per second of the evaluator alone."""
    boards = boards_of(choice.state.position.play(play).swapped() for choice in choices for play in choice.plays)
    engine.evaluator.evaluate(boards[:256])
    started = time.thread_time()
    for first in range(0, len(boards), 256):
        engine.evaluator.evaluate(boards[first : first + 256])
    return len(boards) / (time.thread_time() - started)


def main() -> None:
    """Print a table, in a process in which numpy uses one thread."""
    if os.environ.get(ONE_THREAD) != "1":
        arguments = [sys.executable, *sys.argv]
        os.execve(sys.executable, arguments, os.environ | {ONE_THREAD: "1"})  # noqa: S606 - itself
    count = int(sys.argv[1]) if len(sys.argv) > 1 else DECISIONS
    engine = Engine.load(Path(sys.argv[2]) if len(sys.argv) > 2 else NETWORKS_FOLDER)
    engine.warm_up()
    choices = [Choice.of(row) for row in rows("checker_decisions.jsonl.gz", count)]
    decisions = rows("cube_decisions.jsonl.gz", count)
    bare = bare_speed(engine, choices)
    print(f"{engine.name}; the evaluator alone: {bare / 1e3:.1f} thousand positions a second")
    heads = ("median ms", "p99", "mean", "positions", "1000/s", "speed")
    print(f"{'':22} {heads[0]:>9} {heads[1]:>7} {heads[2]:>8} {heads[3]:>9} {heads[4]:>7} {heads[5]:>6}")
    for plies in (0, 1, 2):
        plays(engine, choices, plies, CACHE_SIZE, bare)
    if GNUBG:
        in_turns = [(plays(engine, choices, 2, CACHE_SIZE, bare), gnubg_rate()) for _ in range(TURNS)]
        ours, theirs = np.array(in_turns).T
        middle, best = np.median(ours / theirs), ours.max() / theirs.max()
        print(f"{middle:.2f} x gnubg in a search (median of the turns), {best:.2f} by the best turn of each: ", end="")
        print(f"{ours.max() / 1e3:.0f} and {theirs.max() / 1e3:.0f} thousand evaluations a second")
    plays(engine, choices, 2, 1, bare)
    plays(engine, choices[::FEWER], 3, CACHE_SIZE, bare)
    if (other := gnubg()) is not None:
        for plies in (0, 1, 2):
            gnubgs(other, choices, plies)
        gnubgs(other, choices[::FEWER], 3)
    for plies in (0, 1, 2):
        cubes(engine, decisions, plies, bare)


if __name__ == "__main__":
    main()
