"""Strategies for tests of duels: fast deterministic ones, and ones that fail."""

# ruff: noqa: ARG002, D102 - what they answer does not depend on what they are asked

from __future__ import annotations

import math
import operator
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from fibsbot.match import CubeAction, MatchState
from fibsbot.position import BAR, CHECKERS, Play, Position
from fibsbot.strategies.base import CubeAnswer, CubeValues, PlayAnswer
from fibsbot.strategies.random_play import RandomStrategy
from tests.patience import SOON

PIPS: Final = 25.0
"""Pips of a lead that the Racer values at about three quarters of a game."""


class Racer(RandomStrategy):
    """Race home with few blots, the cube by pips: deterministic, and a poor evaluator."""

    name = "racer"

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        return PlayAnswer(max(plays, key=lambda play: liked(state.position.play(play))))

    def offer_double(self, state: MatchState) -> CubeAnswer:
        return CubeAnswer(CubeAction.DOUBLE if self.value(state) > 0.5 else CubeAction.ROLL)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        if state.redoubles and self.value(state) > 0:
            return CubeAnswer(CubeAction.BEAVER)
        return CubeAnswer(CubeAction.TAKE if self.value(state) > -0.7 else CubeAction.PASS)

    def accept_resignation(self, state: MatchState) -> bool:
        return state.resignation > 1

    def resign(self, state: MatchState) -> int:
        """Resign late, too cheaply at first."""
        lost = state.position.opponent_off > 12 and state.position.pips > 40
        return 1 + (state.position.off == 0) if lost else 0

    def value(self, state: MatchState) -> float:
        return math.tanh((lead(state.position) + 4) / PIPS)

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> Sequence[float]:
        after = [state.position.play(play) for play in plays]
        return [1.0 if it.off == CHECKERS else math.tanh((lead(it) - 4) / PIPS) + liked(it) / 1000 for it in after]

    def value_cube(self, state: MatchState) -> CubeValues:
        value = self.value(state)
        return CubeValues(value, 2 * value - 0.4, 1.0)

    def match_chance(self, state: MatchState, points: int) -> float:
        own, opponent = state.away
        lead = opponent - own + points
        return min(max(0.5 + lead / (2 * state.length), 0.0), 1.0)


class Runner(Racer):
    """Always move the last checker."""

    name = "runner"

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        return PlayAnswer(min(plays, key=lambda play: state.position.play(play).points[::-1]))


def table(value: Callable[[int, int], int]) -> list[list[int]]:
    """Return a score for each number of checkers on each point; negative indices are the opponent's checkers."""
    return [[value(point, n if n <= CHECKERS else n - 31) for n in range(31)] for point in range(BAR + 1)]


LEAD: Final = table(lambda point, n: -point * n if n > 0 else (point - BAR) * n)
LIKED: Final = table(lambda point, n: -point * n - 3 * (n == 1 and point < BAR) if n > 0 else -10 * n * (point == 0))


def lead(position: Position) -> int:
    """Return the lead of the player on roll in pips, without a loop: a duel of Racers computes little else."""
    return sum(map(operator.getitem, LEAD, position.points))


def liked(position: Position) -> float:
    """Return a score of a position after a play: few blots, no checker far back."""
    back = next((point for point in range(BAR, 0, -1) if position.points[point] > 0), 0)
    return float(sum(map(operator.getitem, LIKED, position.points)) - 2 * back)


class Raising(Racer):
    """Raise instead of choosing a play."""

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        raise RuntimeError("no\nidea")


class Nonsense(Racer):
    """Answer nonsense."""

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        return PlayAnswer(Play.of((24, 1)))

    def offer_double(self, state: MatchState) -> CubeAnswer:
        return CubeAnswer(CubeAction.BEAVER)

    def resign(self, state: MatchState) -> int:
        return 7


class Hanging(Racer):
    """Hang at the first play until released, and remember whether it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = threading.Event()
        self.closed = threading.Event()

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        self.let_go.wait(SOON)
        return super().choose_play(state, plays)

    def close(self) -> None:
        self.closed.set()


class Chatty(Racer):
    """Print to stdout."""

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        print("thinking ...")  # noqa: T201 - that is what it is for
        return super().choose_play(state, plays)


class Deadly(Racer):
    """End the process, after a thousand plays."""

    def __init__(self) -> None:
        super().__init__()
        self.left = 1000

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        self.left -= 1
        return super().choose_play(state, plays) if self.left else os._exit(7)


class Resigner(Racer):
    """Offer to resign before every roll, and never accept a resignation."""

    def resign(self, state: MatchState) -> int:
        return 3

    def accept_resignation(self, state: MatchState) -> bool:
        return False


class Unmakeable(Racer):
    """A strategy that cannot be made."""

    def __init__(self) -> None:
        raise OSError("no network\nfound")


class Blind(Racer):
    """An evaluator that always fails."""

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> Sequence[float]:
        raise RuntimeError("too dark")


INSTALLED: Final = (Racer, Runner, Raising, Nonsense, Hanging, Chatty, Deadly, Resigner, Unmakeable, Blind)


def install(folder: Path) -> dict[str, str]:
    """Install the strategies into a folder; return an environment in which programs find them."""
    about = folder / "duellists-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: duellists\nVersion: 1.0\n")
    lines = [f"{it.__name__.lower()} = {it.__module__}:{it.__name__}" for it in INSTALLED]
    (about / "entry_points.txt").write_text("[fibsbot.strategies]\n" + "\n".join(lines) + "\n")
    root = Path(__file__).parents[2]
    return {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{root}", "COLUMNS": "80"}
