"""Our engine, gnubg and Open Sage on the same decisions, and who is right where they differ.

Usage: python -m bench.bench_sage PYTHON [--decisions 400] [--plies 2] [--games 1296]

PYTHON is one that has Open Sage (`bench/sage_engine.py`); gnubg is the package gnubg-nn, and is left out without it.
The decisions are those of `bench_search`: plays without a cube. `PR` is what their file says, and both reference
engines of the file are forerunners of gnubg and Sage, which favours those. So where two of the three choose different
plays, the positions after them are judged again by long rollouts of ours and of Sage, and by gnubg one ply deeper:
`gain` is by how much the first one's plays are better, per decision on which they differ, with its standard error.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from attrs import define, evolve, field
from rich.console import Console
from rich.progress import track

from bench.bench_search import Choice, rows
from bench.beside import Gnubg, gnubg
from fibsbot.engine.arrays import boards_of, cubeless_equity, position_of, swapped
from fibsbot.engine.engine import Engine
from fibsbot.engine.rollout import Candidate, RolloutPlan
from fibsbot.engine.rollout.driver import rollout
from fibsbot.engine.search import SearchLimits
from fibsbot.match import MatchState, Phase
from fibsbot.notation import Xgid
from fibsbot.position import Position
from fibsbot.strategies.ubgi import UbgiStrategy
from fibsbot.workers.pool import InProcessPool

ENGINE: Final = Path(__file__).parent / "sage_engine.py"
Chooser: TypeAlias = Callable[[Choice], Position]
"""Returns the position that a play leaves, seen by the player who has played."""
Judge: TypeAlias = Callable[[Position], float]
"""Returns the cubeless equity of the player who has left a position."""
_ERRORS: Final = Console(stderr=True)


@define
class Chosen:
    """What an engine has chosen."""

    name: str
    left: list[Position] = field(factory=list)
    milliseconds: list[float] = field(factory=list)

    def ask(self, chooser: Chooser, choices: Sequence[Choice]) -> None:
        """Have all decisions made."""
        for choice in track(choices, self.name, console=_ERRORS):
            started = time.perf_counter()
            self.left.append(chooser(choice))
            self.milliseconds.append(1e3 * (time.perf_counter() - started))

    def tell(self, choices: Sequence[Choice]) -> None:
        """Print a row."""
        lost = [choice.loss(left) for choice, left in zip(choices, self.left, strict=True)]
        print(
            f"{self.name:16} PR {500 * statistics.mean(lost):.3f}  "
            f"median {statistics.median(self.milliseconds):8.2f} ms  mean {statistics.mean(self.milliseconds):8.2f}",
            flush=True,
        )


def our_choice(engine: Engine, plies: int) -> Chooser:
    """Return how ours chooses."""

    def choose(choice: Choice) -> Position:
        best = engine.rank(choice.state, choice.plays, SearchLimits(plies, stop_when_decided=True)).best
        return choice.state.position.play(best.play)

    return choose


def gnubgs_choice(other: Gnubg, plies: int) -> Chooser:
    """Return how gnubg chooses."""

    def choose(choice: Choice) -> Position:
        dice = choice.state.dice
        assert dice is not None
        return position_of(other.play(boards_of([choice.state.position])[0], (max(dice), min(dice)), plies))

    return choose


def sages_choice(sage: UbgiStrategy) -> Chooser:
    """Return how Sage chooses; it gets a money game without the Jacoby rule."""

    def choose(choice: Choice) -> Position:
        return choice.state.position.play(sage.choose_play(evolve(choice.state, cubeless=False), choice.plays).play)

    return choose


class SageRollouts:
    """Rollouts by Sage, in a process of its own."""

    def __init__(self, python: str, games: int) -> None:
        """Start it."""
        self._games = games
        self._process = subprocess.Popen(  # noqa: S603 - the program of the command line
            [python, str(ENGINE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def equity(self, left: Position) -> float:
        """Return the equity of the player who has left a position."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        xgid = evolve(Xgid.of(MatchState(left)), turn=-1)
        self._process.stdin.write(f"rollout {self._games} {xgid}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline().split()[0])


def our_judge(engine: Engine, games: int) -> Judge:
    """Return rollouts by ours, to the end, luck taken out."""
    plan = RolloutPlan(games, cubeful=False)

    def equity(left: Position) -> float:
        state = MatchState(left.swapped(), phase=Phase.ROLL, cubeless=True)
        candidates = (Candidate("left", state, mine=False),)
        return rollout(lambda: engine, candidates, plan, pool=InProcessPool()).results[0].equity

    return equity


def gnubgs_judge(other: Gnubg, plies: int) -> Judge:
    """Return gnubg's evaluations, this number of plies deep."""

    def equity(left: Position) -> float:
        return -float(cubeless_equity(np.array([other.chances(swapped(boards_of([left]))[0], plies)]))[0])

    return equity


def judged(pair: tuple[Chosen, Chosen], judges: dict[str, Judge], known: dict[tuple[str, Position], float]) -> None:
    """Print by each judge who is right where two engines have left different positions."""
    one, other = pair
    differing = [(a, b) for a, b in zip(one.left, other.left, strict=True) if a != b]
    for name, judge in judges.items():
        gains = []
        for sides in track(differing, f"{one.name} or {other.name}, by {name}", console=_ERRORS):
            for left in sides:
                if (name, left) not in known:
                    known[name, left] = judge(left)
            gains.append(known[name, sides[0]] - known[name, sides[1]])
        if len(gains) > 1:
            error = statistics.stdev(gains) / math.sqrt(len(gains))
            print(
                f"{one.name} against {other.name}, by {name}: differ in {len(gains)} of {len(one.left)}, "
                f"better in {sum(it > 0 for it in gains)}, gain {statistics.mean(gains):+.4f} +- {error:.4f}",
                flush=True,
            )


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description="Three engines on the same decisions.")
    options.add_argument("python", help="a Python that has Open Sage")
    options.add_argument("--decisions", type=int, default=400)
    options.add_argument("--plies", type=int, default=2, help="depth at which they are compared, as ours counts")
    options.add_argument("--games", type=int, default=1296, help="games of a rollout")
    chosen = options.parse_args()
    engine = Engine.load()
    engine.warm_up()
    choices = [Choice.of(row) for row in rows("checker_decisions.jsonl.gz", chosen.decisions)]
    other = gnubg()
    engines: list[Chosen] = []
    for plies in range(chosen.plies + 1):
        sage = UbgiStrategy(f"{chosen.python} {ENGINE} {plies + 1}ply --cubeless", deadline=120.0)
        choosers = {f"ours {plies}-ply": our_choice(engine, plies), f"sage {plies}-ply": sages_choice(sage)}
        if other is not None:
            choosers[f"gnubg {plies}-ply"] = gnubgs_choice(other, plies)
        engines = []
        for name, chooser in choosers.items():
            chooser(choices[0])
            engines.append(Chosen(name))
            engines[-1].ask(chooser, choices)
            engines[-1].tell(choices)
        sage.close()
    judges: dict[str, Judge] = {
        "our rollouts": our_judge(engine, chosen.games),
        "Sage's rollouts": SageRollouts(chosen.python, chosen.games).equity,
    }
    if other is not None:
        judges[f"gnubg {chosen.plies + 1}-ply"] = gnubgs_judge(other, chosen.plies + 1)
    known: dict[tuple[str, Position], float] = {}
    for pair in itertools.combinations(engines, 2):
        judged(pair, judges, known)


if __name__ == "__main__":
    main()
