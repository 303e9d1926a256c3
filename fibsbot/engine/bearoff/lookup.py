"""What the tables say of many boards at once, shape (n, 26).

Everybody gets the tables as one argument, a `Columns`. Where there are no tables it is `NO_COLUMNS`, which covers
nothing, so that nobody needs a second version.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fibsbot.engine.bearoff.indexing import Places, numbers_on, size
from fibsbot.engine.boards import CHECKERS, Boards
from fibsbot.engine.outcomes import LOSE, LOSE_GAMMON, OUTCOMES, WIN_GAMMON
from fibsbot.engine.outcomes import WIN as WINS

Singles: TypeAlias = npt.NDArray[np.float32]
Floats: TypeAlias = npt.NDArray[np.floating[Any]]

LONGEST: Final = 32
"""Columns of the distribution of throws until all are off, which can take 30; 32 fill two cache lines."""
LONGEST_FIRST: Final = 12
"""Columns until the first is off, which can take 10 throws."""

WIN: Final = 0
"""Column: the chance to win, without a cube."""
CENTRED: Final = 1
"""Column: equity of not doubling now, the cube in the middle."""
OWNED: Final = 2
"""Column: equity of not doubling now, the cube on the side of who is on roll."""
THEIRS: Final = 3
"""Column: equity where the opponent has the cube; half of what double and take is worth."""
COLUMNS: Final = 4


class Columns(NamedTuple):
    """The tables as arrays that nobody may write to."""

    throws: Singles
    """Chance that a side needs exactly so many throws to bear off all; shape (n, 32)."""
    first: Singles
    """The same until the first of 15 checkers is off; shape (15504, 12), the positions of 15 in their order."""
    means: Singles
    """Mean number of throws to bear off all; shape (n,)."""
    pairs: Singles
    """Exact figures of few checkers, shape (m, m, 4): [on roll, opponent, WIN to THEIRS]."""


def frozen_columns(throws: Singles, first: Singles, means: Singles, pairs: Singles) -> Columns:
    """Return the arrays as columns; whoever made them can no longer write to them either."""
    columns = Columns(throws, first, means, pairs)
    for column in columns:
        column.flags.writeable = False
    return columns


NO_COLUMNS: Final = frozen_columns(
    np.empty((0, LONGEST), np.float32),
    np.empty((0, LONGEST_FIRST), np.float32),
    np.empty(0, np.float32),
    np.empty((0, 0, COLUMNS), np.float32),
)
"""Tables that cover nothing."""
FIFTEEN: Final = size(CHECKERS - 1)
"""The lowest number of a position of 15 checkers."""


def look_up(boards: Boards, of: Singles) -> tuple[Places, Places, Places]:
    """Return which boards a column covers on both sides, and on these the own and the opponent's number."""
    places, own, opponent = numbers_on(boards)
    there = np.maximum(own, opponent) < len(of)
    return places[there], own[there], opponent[there]


def covered_chances(own: Places, opponent: Places, columns: Columns) -> Floats:
    """Return the six chances of two covered sides by their numbers, of which at most one is 0, shape (n, 6).

    The order is that of `engine.outcomes`. Backgammons are impossible with all home.
    """
    mine, theirs = columns.throws[own].astype(np.float64), columns.throws[opponent].astype(np.float64)
    outcomes = chances_of_throws(mine, first_off(own, columns), theirs, first_off(opponent, columns))
    few = np.flatnonzero(np.maximum(own, opponent) < len(columns.pairs))
    outcomes[few, WINS] = columns.pairs[own[few], opponent[few], WIN]
    outcomes[few, LOSE] = 1 - outcomes[few, WINS]
    return outcomes


def first_off(numbers: Places, columns: Columns) -> Singles:
    """Return the chances that a side needs exactly so many throws until its first checker is off, shape (n, 12)."""
    first = np.zeros((len(numbers), LONGEST_FIRST), np.float32)
    whole = numbers >= FIFTEEN
    first[whole] = columns.first[numbers[whole] - FIFTEEN]
    first[~whole, 0] = 1
    return first


def chances_of_throws(own: Floats, own_first: Floats, theirs: Floats, their_first: Floats) -> Floats:
    """Return the six chances of who is on roll in a race, shape (n, 6), from both sides' numbers of throws.

    `own` and `theirs` are the chances that all checkers are off after exactly 0, 1, 2 ... throws, `own_first` and
    `their_first` that the first one is.
    """
    outcomes = np.zeros((len(own), OUTCOMES), own.dtype)
    outcomes[:, WINS] = _both(own, _not_before(theirs)).clip(0, 1)
    outcomes[:, LOSE] = 1 - outcomes[:, WINS]
    # Who is on roll has, when he is done, thrown once more than the opponent, unless he was done before; and else as
    # often as the opponent.
    left, own_left = _not_before(their_first), _not_before(own_first)[:, 1:]
    gammon = _both(own[:, 1:], left[:, 1:]) + own[:, 0] * left[:, 1]
    outcomes[:, WIN_GAMMON] = gammon.clip(0, outcomes[:, WINS])
    outcomes[:, LOSE_GAMMON] = _both(theirs, own_left).clip(0, outcomes[:, LOSE])
    return outcomes


def _both(chances: Floats, others: Floats) -> Floats:
    """Return the sum of the products of each row's columns, as far as both go."""
    width = min(chances.shape[1], others.shape[1])
    return np.asarray(np.einsum("nk,nk->n", chances[:, :width], others[:, :width]))


def _not_before(chances: Floats) -> Floats:
    """Return how likely it is that not fewer than so many throws are needed."""
    return np.asarray(1 - (chances.cumsum(axis=1) - chances))
