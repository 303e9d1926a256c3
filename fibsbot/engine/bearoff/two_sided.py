"""Both sides at once, each with few checkers: exact chances and money equities under the best play and cube action.

The unit is the value of the cube. With so few checkers left nobody can lose a gammon, so the Jacoby rule changes
nothing and no position is too good to double. What is kept are the equities of not doubling now; the rest follows:

- no double: n(owner) is the mean over the throws of the best of -v(owner) of the opponent afterwards;
- double and take: 2 n(opponent's), for the cube goes over;
- the cube played well: v(owner) = max(n(owner), min(1, 2 n(opponent's))) for who may double, else n(opponent's).

Plays are chosen for each owner of the cube by itself: the best play can depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from fibsbot.engine.bearoff.moves import THROWS, Numbers, all_throws
from fibsbot.engine.compiled import compiled

Pairs = npt.NDArray[np.float32]

WIN: Final = 0
"""Column: the chance to win, without a cube."""
CENTRED: Final = 1
"""Column: equity of not doubling now, the cube in the middle."""
OWNED: Final = 2
"""Column: equity of not doubling now, the cube on the side of who is on roll."""
THEIRS: Final = 3
"""Column: equity where the opponent has the cube; half of what double and take is worth."""
COLUMNS: Final = 4

_AFTERWARDS: Final = np.array([0, 1, 3, 2])
"""In which column the opponent looks after a play: my cube is the opponent's cube seen from there."""
_WEIGHTS: Final = np.array([1.0 if high == low else 2.0 for high in range(6) for low in range(high + 1)]) / 36


@compiled
def _settle(means: npt.NDArray[np.float64]) -> None:
    """Let who is on roll double where that is better; means are those of not doubling, shape (4,)."""
    double = min(1.0, 2 * means[3])
    means[1] = max(means[1], double)
    means[2] = max(means[2], double)


@compiled
def _solve_against_lower(
    begins: npt.NDArray[np.int64],
    lists: Numbers,
    number: int,
    values: npt.NDArray[np.float64],
    current: npt.NDArray[np.float64],
    pairs: Pairs,
) -> None:
    """Solve position `number` on roll against every lower one, into `current[column, opponent]`."""
    best = np.empty((COLUMNS, number))
    current[:, 1:number] = 0.0
    for throw in range(THROWS):
        best[:] = -2.0
        for place in range(begins[number * THROWS + throw], begins[number * THROWS + throw + 1]):
            after = lists[place]
            for column in range(COLUMNS):
                row = values[after, _AFTERWARDS[column]]
                for opponent in range(1, number):
                    best[column, opponent] = max(best[column, opponent], -row[opponent])
        for column in range(COLUMNS):
            for opponent in range(1, number):
                current[column, opponent] += _WEIGHTS[throw] * best[column, opponent]
    for opponent in range(1, number):
        pairs[number, opponent] = current[:, opponent]
        _settle(current[:, opponent])
        values[opponent, :, number] = current[:, opponent]


@compiled
def _solve_lower_against(
    begins: npt.NDArray[np.int64],
    lists: Numbers,
    number: int,
    values: npt.NDArray[np.float64],
    current: npt.NDArray[np.float64],
    pairs: Pairs,
) -> None:
    """Solve every position up to `number` on roll against `number`."""
    means = np.empty(COLUMNS)
    for on_roll in range(1, number + 1):
        means[:] = 0.0
        for throw in range(THROWS):
            low0 = low1 = low2 = low3 = 2.0
            for place in range(begins[on_roll * THROWS + throw], begins[on_roll * THROWS + throw + 1]):
                after = lists[place]
                low0 = min(low0, current[0, after])
                low1 = min(low1, current[1, after])
                low2 = min(low2, current[3, after])
                low3 = min(low3, current[2, after])
            weight = _WEIGHTS[throw]
            means[0] -= weight * low0
            means[1] -= weight * low1
            means[2] -= weight * low2
            means[3] -= weight * low3
        pairs[on_roll, number] = means
        _settle(means)
        values[number, :, on_roll] = means


@compiled
def _solve(
    begins: npt.NDArray[np.int64],
    lists: Numbers,
    number: int,
    values: npt.NDArray[np.float64],
    pairs: Pairs,
) -> None:
    """Solve all pairs whose higher position is `number`; those of lower ones are done."""
    current = np.full((COLUMNS, number), -1.0)
    _solve_against_lower(begins, lists, number, values, current, pairs)
    _solve_lower_against(begins, lists, number, values, current, pairs)


def solve_pairs(moves: Numbers, size: int, show: Callable[[int], None]) -> Pairs:
    """Return the table of the first `size` positions, shape (on roll, opponent, 4), in the columns named above.

    `show` is told how many pairs were solved since it was last told. The order is: by the higher of the two numbers;
    first the higher one on roll, which leads to lower pairs only; then the lower ones, which lead there, too, or to
    pairs of the first kind.
    """
    begins, lists = all_throws(moves, size)
    pairs = np.empty((size, size, COLUMNS), np.float32)
    pairs[0] = 1.0
    pairs[1:, 0] = -1.0
    values = np.empty((size, COLUMNS, size))
    """What the cube played well is worth: [opponent, column, on roll]. Who has borne off has won."""
    values[0] = -1.0
    for number in range(1, size):
        _solve(begins, lists, number, values, pairs)
        show(2 * number)
    pairs[..., WIN] = (pairs[..., WIN] + 1) / 2
    return pairs
