"""What the tables say of boards, shape (n, 26), in compiled loops that allocate nothing.

They get the tables as one argument, a `Columns`. Where there are no tables it is `NO_COLUMNS`, with which every
function answers that it does not know, so that nobody needs a second version.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fibsbot.engine.bearoff.indexing import numbers, size
from fibsbot.engine.bearoff.one_sided import LONGEST, LONGEST_FIRST
from fibsbot.engine.bearoff.two_sided import COLUMNS, WIN
from fibsbot.engine.boards import CHECKERS, Boards
from fibsbot.engine.compiled import compiled, inner
from fibsbot.engine.outcomes import LOSE, LOSE_GAMMON, WIN_GAMMON
from fibsbot.engine.outcomes import WIN as WINS

Singles: TypeAlias = npt.NDArray[np.float32]
Flags: TypeAlias = npt.NDArray[np.bool_]


class Columns(NamedTuple):
    """The tables as arrays that nobody may write to; a named tuple, which numba takes as one argument."""

    throws: Singles
    """Chance that a side needs exactly so many throws to bear off all; shape (n, 32)."""
    first: Singles
    """The same until the first of 15 checkers is off; shape (15504, 12), the positions of 15 in their order."""
    means: Singles
    """Mean number of throws to bear off all; shape (n,)."""
    pairs: Singles
    """Exact figures of few checkers, shape (m, m, 4): [on roll, opponent, column of `two_sided`]."""


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

_FIFTEEN: Final = size(CHECKERS - 1)
"""The lowest number of a position of 15 checkers."""


@inner
def _gammon(throws: npt.NDArray[np.float32], first: npt.NDArray[np.float32]) -> float:
    """Return the chance that a side is done before the other's first checker is off.

    `throws` begins with the throw of the side that comes before the other's first one is over.
    """
    chance = 0.0
    still = 1.0
    for count in range(len(first)):
        # Where the other has thrown `count` times, its first checker is still there with the chance `still`.
        still -= first[count]
        if count < len(throws):
            chance += throws[count] * still
    return chance


@inner
def _chances(own: int, opponent: int, columns: Columns, out: npt.NDArray[np.float32]) -> None:
    """Write the six chances of two covered positions, of which at most one is 0."""
    win = gammon = lose_gammon = 0.0
    if own < len(columns.pairs) and opponent < len(columns.pairs):
        win = columns.pairs[own, opponent, WIN]
    elif own == 0:
        win = 1.0
        gammon = 1.0 if opponent >= _FIFTEEN else 0.0
    else:
        mine, theirs = columns.throws[own], columns.throws[opponent]
        still = 1.0
        for count in range(1, LONGEST):
            still -= theirs[count - 1]
            win += mine[count] * still
        if opponent >= _FIFTEEN:
            gammon = _gammon(mine[1:], columns.first[opponent - _FIFTEEN])
        if own >= _FIFTEEN:
            lose_gammon = _gammon(theirs, columns.first[own - _FIFTEEN])
    # Sums of rounded chances may miss 0, 1 and each other by the last digit.
    win = min(max(win, 0.0), 1.0)
    for outcome in range(len(out)):
        out[outcome] = 0.0
    out[WINS] = win
    out[WIN_GAMMON] = min(max(gammon, 0.0), win)
    out[LOSE] = 1 - win
    out[LOSE_GAMMON] = min(max(lose_gammon, 0.0), 1 - win)


@compiled
def write_chances(boards: Boards, columns: Columns, out: npt.NDArray[np.float32], unknown: Flags) -> None:
    """Write the chances of those unknown boards that are covered, a row each, and mark them as known.

    `out` has shape (n, 6), in the order of `engine.outcomes`. Backgammons are impossible with all home.
    """
    for row in range(len(boards)):
        if unknown[row]:
            own, opponent = numbers(boards[row])
            if own >= 0 and own < len(columns.throws) and opponent < len(columns.throws):
                _chances(own, opponent, columns, out[row])
                unknown[row] = False


@compiled
def write_money(boards: Boards, columns: Columns, out: npt.NDArray[np.float32], few: Flags) -> None:
    """Tell which boards the two-sided table covers, and write the exact figures of these, a row each.

    `out` has shape (n, 4), in the columns of `two_sided`.
    """
    for row in range(len(boards)):
        own, opponent = numbers(boards[row])
        few[row] = own >= 0 and own < len(columns.pairs) and opponent < len(columns.pairs)
        if few[row]:
            for column in range(COLUMNS):  # one by one: to copy a row takes seconds to compile
                out[row, column] = columns.pairs[own, opponent, column]


@compiled
def all_chances(
    own: npt.NDArray[np.int64], opponent: npt.NDArray[np.int64], columns: Columns, out: npt.NDArray[np.float32]
) -> None:
    """Write the chances of many pairs of covered positions, given by their numbers, into the rows of `out`."""
    for row in range(len(own)):
        _chances(own[row], opponent[row], columns, out[row])
