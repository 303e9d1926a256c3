"""How strong the network is without looking ahead, beside gnubg's on the same rows in the same run.

Usage: bench_strength.py [--network FILE]

- Checker plays: PR (500 x mean equity lost) on 4,000 money decisions, by class. The reference is the mean of two
  engines at 2-ply.
- Rolled-out positions: root mean square error of the cubeless equity and of the chance to win, on 4,600 positions.
- Cube decisions: 10,000 at match scores, by gnubg at 4-ply; what wrong doubles and wrong takes cost (PR), the same cube
  model with each engine's chances, and the error of the cubeless equity.

gnubg is the package gnubg-nn (GPL; never a dependency): pip install gnubg-nn. Without it ours stands alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bench.beside import gnubg
from fibsbot.engine.bearoff import load_tables
from fibsbot.engine.benchmark import CheckerBenchmark
from fibsbot.engine.boards import boards_of, swapped
from fibsbot.engine.cube import COLUMN, DEFAULT, TURNED, Stakes, Verdict
from fibsbot.engine.evaluator import Evaluator, NetworkEvaluator
from fibsbot.engine.network import Network
from fibsbot.engine.outcomes import cubeless_equity, other_side
from fibsbot.match import Phase
from fibsbot.notation.gnubg import parse_gnubg_id

DATA: Final = Path(__file__).parent / "data"
Floats = npt.NDArray[np.float64]


def rows_of(name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file of data but for the first, which describes them."""
    with gzip.open(DATA / name, "rt") as file:
        next(file)
        yield from map(json.loads, file)


def measure_plays(evaluators: list[Evaluator]) -> None:
    """Print PR by class."""
    benchmark = CheckerBenchmark.read(DATA / "checker_decisions.jsonl.gz")
    for evaluator in evaluators:
        rating = benchmark.rating(evaluator)
        print(f"plays     {evaluator.name:24} " + "  ".join(f"{kind} {value:.3f}" for kind, value in rating.items()))


def measure_rollouts(evaluators: list[Evaluator]) -> None:
    """Print errors on rolled-out positions."""
    rows = list(rows_of("rollouts.jsonl.gz"))
    boards = np.array([row["board"] for row in rows], np.int8)
    boards[:, 0] *= -1  # the file counts the opponent's checkers on the bar as positive
    boards = swapped(boards)
    equities = np.array([row["equity"] for row in rows])
    wins = np.array([row["probs"][0] for row in rows])
    for evaluator in evaluators:
        outcomes = evaluator.evaluate(boards)
        print(
            f"rollouts  {evaluator.name:24} equity {_rms(-cubeless_equity(outcomes) - equities):.4f}"
            f"  win {_rms(outcomes[:, 3] - wins):.4f}"
        )


def measure_cube(evaluators: list[Evaluator]) -> None:
    """Print what cube errors cost."""
    rows = list(rows_of("cube_decisions.jsonl.gz"))
    states = [parse_gnubg_id(f"{row['pos']}:{row['match']}") for row in rows]
    doubled = np.array([state.phase is Phase.DOUBLED for state in states])
    states = [state.swapped() if state.phase is Phase.DOUBLED else state for state in states]
    signs = np.where(doubled, -1.0, 1.0)
    reference = np.array([[row["nd"], row["dt"], row["dp"]] for row in rows]) * signs[:, None]
    chances = np.array([row["probs"] for row in rows])
    chances[doubled] = other_side(chances[doubled])
    boards = boards_of(state.position for state in states)
    stakes = [Stakes.of(state) for state in states]
    for evaluator in evaluators:
        outcomes = evaluator.evaluate(boards)
        lost = []
        for state, stake, row, worth in zip(states, stakes, outcomes, reference, strict=True):
            held = stake.hold(row, DEFAULT.of_position(state.position))[0]
            ours = Verdict.of(stake, state.owner, held[COLUMN[state.owner]], held[TURNED])
            no_double, double_take, double_pass = worth.tolist()
            theirs = Verdict(no_double, double_take, double_pass, state.owner)
            double = theirs.double_error if ours.action is not theirs.action else 0.0
            take = abs(double_take - double_pass) if ours.answer is not theirs.answer else 0.0
            lost.append((double, take))
        off = _rms(cubeless_equity(outcomes) - cubeless_equity(chances))
        double_pr, take_pr = 500 * np.mean(lost, axis=0)
        print(f"cube      {evaluator.name:24} doubles {double_pr:.2f}  takes {take_pr:.2f}  cubeless equity {off:.4f}")


def _rms(errors: npt.NDArray[np.floating[Any]]) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def main() -> None:
    """Measure all three."""
    options = argparse.ArgumentParser(description="Strength without looking ahead, beside gnubg's.")
    options.add_argument("--network", type=Path, required=True)
    path: Path = options.parse_args().network
    tables = load_tables(compute=True)
    assert tables is not None
    evaluators: list[Evaluator] = [NetworkEvaluator(path.stem, Network.load(path), tables.columns)]
    if (other := gnubg()) is not None:
        evaluators.append(other)
    measure_plays(evaluators)
    measure_rollouts(evaluators)
    measure_cube(evaluators)


if __name__ == "__main__":
    main()
