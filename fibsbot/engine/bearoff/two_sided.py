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
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from fibsbot.engine.bearoff.lookup import CENTRED, COLUMNS, OWNED, THEIRS, WIN
from fibsbot.engine.bearoff.moves import Numbers, all_throws
from fibsbot.engine.compiled import compiled
from fibsbot.engine.rolls import CHANCE_OF_ROLL, ROLLS

Pairs: TypeAlias = npt.NDArray[np.float32]
"""The table, shape (on roll, opponent, 4)."""
Values: TypeAlias = npt.NDArray[np.float64]

_AFTERWARDS: Final = np.array([0, 1, 3, 2])
"""In which column the opponent looks after a play: my cube is the opponent's cube seen from there."""


@compiled
def _means(begins: npt.NDArray[np.int64], lists: Numbers, values: Values, least: Values, out: Values) -> None:
    """Write what each position, a row of `out`, has before the throw; `out` comes full of 0.

    `values` is what the opponent has after the throw, a row for each position that it can lead to. All of a row is
    treated alike, column by column, which is fast where many opponents stand in one row. `least` is room for a row.
    """
    width = len(least)
    for row in range(len(out)):
        for throw in range(ROLLS):
            for place in range(width):
                least[place] = 2.0
            for it in range(begins[row * ROLLS + throw], begins[row * ROLLS + throw + 1]):
                position = lists[it]
                for place in range(width):
                    least[place] = min(least[place], values[position, place])
            for place in range(width):
                out[row, place] -= CHANCE_OF_ROLL[throw] * least[place]


def _settled(means: Values) -> Values:
    """Return what the cube played well is worth, where `means` are the equities of not doubling, shape (..., 4)."""
    double = np.minimum(1.0, 2 * means[..., THEIRS])
    settled = means.copy()
    for column in (CENTRED, OWNED):
        settled[..., column] = np.maximum(means[..., column], double)
    return settled


def solve_pairs(moves: Numbers, show: Callable[[int], None]) -> Pairs:
    """Return the table of the positions whose moves these are, shape (on roll, opponent, 4), columns as named above.

    `show` is told how many pairs were solved since it was last told. The order is: by the higher of the two numbers;
    first the higher one on roll, which leads to lower pairs only; then the lower ones, which lead there, too, or to
    pairs of the first kind.
    """
    begins, lists = all_throws(moves)
    count = len(moves)
    pairs = np.empty((count, count, COLUMNS), np.float32)
    pairs[0] = 1.0
    pairs[1:, 0] = -1.0
    values = np.ones((count, count, COLUMNS))
    """What the cube played well is worth: [opponent, on roll, column]. Who has borne off has won."""
    values[0] = -1.0
    for number in range(1, count):
        means = np.zeros((number, COLUMNS))
        _means(begins[number * ROLLS :], lists, values.reshape(count, -1), np.empty(means.size), means.reshape(1, -1))
        means = means[:, _AFTERWARDS]
        means[0] = -1.0
        pairs[number, :number] = means
        current = values[:number, number] = _settled(means)
        means = np.zeros((number, COLUMNS))
        _means(begins[ROLLS:], lists, np.ascontiguousarray(current[:, _AFTERWARDS]), np.empty(COLUMNS), means)
        pairs[1 : number + 1, number] = means
        values[number, 1 : number + 1] = _settled(means)
        show(2 * number)
    pairs[..., WIN] = (pairs[..., WIN] + 1) / 2
    return pairs
