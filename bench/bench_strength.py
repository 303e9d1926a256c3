"""Strength of the networks at 0-ply, compared with gnubg's on the same rows in the same run.

Usage: python -m bench.bench_strength [--network FILE] [--plies N]

- Checker plays: PR (500 x mean equity lost) on 4,000 money decisions, by class. The reference is the mean of two
  engines at 2-ply.
- Rolled-out positions: root mean square error of the cubeless equity and of the chance to win, on 4,600 positions.
- Cube decisions: 10,000 at match scores, by gnubg at 4-ply; what wrong doubles and wrong takes cost (PR): the same cube
  model with each engine's chances, ours looking ahead, and gnubg (the program) with its own cube model.

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
from attrs import evolve
from rich.console import Console
from rich.progress import track

from bench.bench_cube import GNUBG, Compared, ask_gnubg, compare
from bench.beside import gnubg
from fibsbot.engine.arrays import boards_of, cubeless_equity, swapped
from fibsbot.engine.bearoff import load_tables
from fibsbot.engine.cube import DEFAULT_EFFICIENCY, OWNER_COLUMN, TURNED, CubeVerdict, Stakes
from fibsbot.engine.engine import Engine, load_networks
from fibsbot.engine.game_plans import load_contact
from fibsbot.engine.network_evaluator import ArrayEvaluator, NetworkEvaluator
from fibsbot.engine.search import SearchLimits
from fibsbot.engine.training.results import CheckerBenchmark
from fibsbot.match import MatchState, Phase

DATA: Final = Path(__file__).parent / "data"
Floats = npt.NDArray[np.floating[Any]]
_ERRORS: Final = Console(stderr=True)


def rows_of(name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a data file except the first, which describes them."""
    with gzip.open(DATA / name, "rt") as file:
        next(file)
        yield from map(json.loads, file)


def measure_plays(evaluators: list[ArrayEvaluator]) -> None:
    """Print PR by class."""
    benchmark = CheckerBenchmark.read(DATA / "checker_decisions.jsonl.gz")
    for evaluator in evaluators:
        rating = benchmark.rating(evaluator)
        print(f"plays     {evaluator.name:24} " + "  ".join(f"{kind} {value:.3f}" for kind, value in rating.items()))


def measure_rollouts(evaluators: list[ArrayEvaluator]) -> None:
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


def measure_cube(evaluators: list[ArrayEvaluator], engine: Engine, plies: int) -> None:
    """Print the cost of cube errors: at 0-ply, then ours with lookahead, then with gnubg's own cube model."""
    decisions = list(compare())
    states = [evolve(it.state, phase=Phase.ROLL, dice=None) for it in decisions]
    boards = boards_of(state.position for state in states)
    stakes = [Stakes.of(state) for state in states]
    for evaluator in evaluators:
        verdicts = [
            _verdict(stake, state, stake.no_double_values(row, DEFAULT_EFFICIENCY.of_position(state.position))[0])
            for state, stake, row in zip(states, stakes, evaluator.evaluate(boards), strict=True)
        ]
        _tell_cube(evaluator.name, decisions, verdicts)
    for depth in range(1, plies + 1):
        found = [
            engine.analyse_cube(state, SearchLimits(plies=depth)).verdict
            for state in track(states, f"{depth}-ply", console=_ERRORS)
        ]
        _tell_cube(f"ours at {depth}-ply", decisions, found)
    if Path(GNUBG).exists():
        equities = [equities for _, equities in ask_gnubg(states)]
        found = [CubeVerdict(rolled, taken, passed) for rolled, taken, passed in equities]
        _tell_cube("gnubg 0-ply, its own cube", decisions, found)


def _verdict(stake: Stakes, state: MatchState, held: Floats) -> CubeVerdict:
    return CubeVerdict.of(stake, state.owner, held[OWNER_COLUMN[state.owner]], held[TURNED])


def _tell_cube(name: str, decisions: list[Compared], verdicts: list[CubeVerdict]) -> None:
    judged = [evolve(it, ours=verdict) for it, verdict in zip(decisions, verdicts, strict=True)]
    double, take = (500 * np.mean([getattr(it, what) for it in judged]) for what in ("double_error", "take_error"))
    print(f"cube      {name:28} doubles {double:.2f}  takes {take:.2f}")


def _rms(errors: npt.NDArray[np.floating[Any]]) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def main() -> None:
    """Measure all three."""
    options = argparse.ArgumentParser(description="Strength without looking ahead, beside gnubg's.")
    options.add_argument("--network", type=Path, help="network to measure instead of the bundled one")
    options.add_argument("--plies", type=int, default=1, help="also measure cube decisions up to this many plies")
    chosen = options.parse_args()
    engine = Engine.load()
    if chosen.network is not None:
        tables = load_tables(compute=True)
        assert tables is not None
        evaluator = NetworkEvaluator(
            chosen.network.stem, load_contact(chosen.network), tables.columns, load_networks().race
        )
        engine = evolve(engine, evaluator=evaluator)
    evaluators = [engine.evaluator]
    if (other := gnubg()) is not None:
        evaluators.append(other)
    measure_plays(evaluators)
    measure_rollouts(evaluators)
    measure_cube(evaluators, engine, chosen.plies)


if __name__ == "__main__":
    main()
