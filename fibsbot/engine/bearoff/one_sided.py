"""One side alone: how many throws until all checkers are off, and until the first is.

Each position gets the play that makes the mean number of throws least (of equal plays, the first that is found),
whatever the opponent does. GNU Backgammon's table is made by the same policy. For the first checker it is the mean
number of throws until then that is made least.

The best of all plays is found without listing them: the best that `k` moves of one die can leave is the best among what
a move leads to of the best that `k - 1` moves can leave there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from fibsbot.engine.bearoff.indexing import POINTS, size
from fibsbot.engine.bearoff.lookup import LONGEST, LONGEST_FIRST
from fibsbot.engine.bearoff.moves import FACES, Numbers
from fibsbot.engine.boards import CHECKERS
from fibsbot.engine.compiled import compiled, inner

Floats: TypeAlias = npt.NDArray[np.float64]

CHUNK: Final = 2_000
"""Positions solved between two looks at the progress bar."""


@inner
def _best(moves: Numbers, number: int, die: int, then: Numbers, means: Floats) -> int:
    """Return the best of what a move by `die` leads to, where `then[after]` is what will be made of it."""
    best = -1
    for point in range(POINTS):
        after = moves[number, die, point]
        if after >= 0 and (best < 0 or means[then[after]] < means[best]):
            best = then[after]
    return best


@compiled
def _solve(moves: Numbers, first: int, last: int, best: Numbers, means: Floats, chances: Floats) -> None:
    """Find means and chances of the positions from `first` to before `last`; those below `first` are done.

    `best[k, die, number]` is the best position after k + 1 moves by the die.
    """
    for number in range(first, last):
        for die in range(FACES):
            best[0, die, number] = _best(moves, number, die, best[4, die], means)
            for k in range(1, 4):
                best[k, die, number] = _best(moves, number, die, best[k - 1, die], means)
        mean = 1.0
        for high in range(FACES):
            for low in range(high + 1):
                weight = 1 / 36
                after = best[3, high, number]
                if low < high:
                    weight = 2 / 36
                    after = _best(moves, number, high, best[0, low], means)
                    other = _best(moves, number, low, best[0, high], means)
                    if means[other] < means[after]:
                        after = other
                mean += weight * means[after]
                for throws in range(len(chances[0]) - 1):
                    chances[number, throws + 1] += weight * chances[after, throws]
        means[number] = mean


def solve(moves: Numbers, done: int, longest: int, show: Callable[[int], None]) -> tuple[Floats, Floats]:
    """Return the mean number of throws, shape (n,), and the chances of each number, shape (n, longest).

    Positions below `done` need no throw. `show` is told how many positions were solved since it was last told.
    """
    count = len(moves)
    means = np.zeros(count)
    chances = np.zeros((count, longest))
    chances[:done, 0] = 1.0
    # Of what needs no throw nothing is made; best[4] stays so, it says that no move is left.
    best = np.broadcast_to(np.arange(count, dtype=np.int32), (5, FACES, count)).copy()
    for first, last in _chunks(done, count):
        _solve(moves, first, last, best, means, chances)
        show(last - first)
    return means, chances


def _chunks(first: int, last: int) -> Iterator[tuple[int, int]]:
    for begin in range(first, last, CHUNK):
        yield begin, min(begin + CHUNK, last)


def solve_all(moves: Numbers, show: Callable[[int], None]) -> tuple[Floats, Floats]:
    """Return means and chances of the number of throws until all checkers are off; see `solve`."""
    return solve(moves, 1, LONGEST, show)


def solve_first(moves: Numbers, show: Callable[[int], None]) -> Floats:
    """Return the chances of the number of throws until the first is off, for the positions of 15 in their order."""
    fifteen = size(CHECKERS - 1)
    return solve(moves, fifteen, LONGEST_FIRST, show)[1][fifteen:]
