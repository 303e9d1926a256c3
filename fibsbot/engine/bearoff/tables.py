"""The bear-off tables: the index of a position, looking up boards of shape (n, 26), and methods for programs.

With s(k) checkers on the k highest points (s(6) is all that are left), the index is the sum of C(s(k) + k - 1, k)
over k = 1 to 6: the combinatorial number system. It has three properties that are used here:

- The indices are 0 to C(n + 6, 6) - 1 for up to n checkers, without a gap: 54,264 for 15, 924 for 6. They do not depend
  on n, so the positions of a small table are the first ones of a large table.
- No move raises any s(k) and each lowers one, so every move leads to a lower index. In ascending order of the indices,
  the successors of a position come before the position.
- Index 0 is the side that has borne off all checkers.

The tables are passed around as one argument, a tuple of arrays. `NO_TABLES` stands for missing tables and covers
nothing.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from fibsbot.engine.arrays import (
    AS_INT,
    BAR,
    CHECKERS,
    LOSE,
    LOSE_GAMMON,
    OUTCOMES,
    WIN_GAMMON,
    ArrayType,
    Board,
    Boards,
    Floats32,
    Int64s,
    IntMatrix64,
    IntVector64,
    Matrix32,
    check_boards,
    position_of,
)
from fibsbot.engine.arrays import WIN as WINS
from fibsbot.engine.jit import compiled
from fibsbot.engine.simd import find_cells
from fibsbot.match import PIPS_PER_ROLL, Owner

Counts: TypeAlias = npt.NDArray[np.integer[Any]]
"""Checkers on the points 1 to 6, shape (..., 6)."""
POINTS: Final = 6

_CHOOSE: Final = np.array([[comb(s + k - 1, k) if k else 0 for k in range(POINTS + 1)] for s in range(CHECKERS + 1)])
"""C(s + k - 1, k) for s checkers on the k highest points."""


def position_count(checkers: int) -> int:
    """Return the number of positions of up to this number of checkers."""
    return comb(checkers + POINTS, POINTS)


def all_counts(checkers: int) -> Counts:
    """Return the checkers on the points 1 to 6 of every position in the order of their indices, shape (n, 6)."""
    highest = np.array(list(combinations_with_replacement(range(checkers + 1), POINTS)), np.int8)
    highest = highest[np.lexsort(highest.T)]
    return np.ascontiguousarray(np.diff(highest, axis=1, prepend=np.int8(0))[:, ::-1])


def indices_of(counts: Counts) -> Int64s:
    """Return the indices of positions of at most 15 checkers, given as rows of counts, shape (..., 6)."""
    highest = np.cumsum(counts[..., ::-1], axis=-1, dtype=np.int64)
    return np.asarray(_CHOOSE[highest, np.arange(1, POINTS + 1)].sum(axis=-1))


def indices_on_boards(boards: Boards) -> tuple[Int64s, Int64s, Int64s]:
    """Return the rows of the bear-off boards, and the indices of the player's and of the opponent's side on these.

    On a bear-off board all remaining checkers of both sides are home, at most 15 of each, and not all are borne off.
    """
    places, own, opponent = (np.empty(len(boards), np.int64) for _ in range(3))
    count = _write_indices(boards, _CHOOSE, places, own, opponent)
    return places[:count], own[:count], opponent[:count]


_HOME: Final = (1 << (POINTS + 1)) - 1
"""The bits of the points 1 to 6 and of cell 0, where the player has no checkers."""
_THEIR_HOME: Final = _HOME << (BAR - POINTS)
"""The bits of the same points as the opponent sees them."""


@compiled
def _write_indices(
    boards: Boards, choose: IntMatrix64, places: IntVector64, own: IntVector64, opponent: IntVector64
) -> int:
    """Write what `indices_on_boards` returns, and return the number of rows; `choose` is _CHOOSE."""
    count = 0
    for row in range(len(boards)):
        board = boards[row]
        if find_cells(board, 1, CHECKERS) & ~_HOME or find_cells(board, -CHECKERS, -1) & ~_THEIR_HOME:
            continue
        mine, theirs, index, other = 0, 0, 0, 0
        for k in range(1, POINTS + 1):
            mine += max(AS_INT + board[POINTS + 1 - k], 0)
            theirs += max(-(AS_INT + board[BAR - POINTS - 1 + k]), 0)
            if max(mine, theirs) <= CHECKERS:
                index += choose[mine, k]
                other += choose[theirs, k]
        if 0 < max(mine, theirs) <= CHECKERS:
            places[count], own[count], opponent[count] = row, index, other
            count += 1
    return count


Floats: TypeAlias = npt.NDArray[np.floating[Any]]
RollChances: TypeAlias = Annotated[Floats, ArrayType("float64", 2), ArrayType("float32", 2)]
"""Distributions of numbers of rolls, shape (n, rolls); those of a function are all in one precision or the other."""

MAX_ROLLS: Final = 32
"""Entries of the distribution of rolls until all checkers are off, at most 30; 32 fill two cache lines."""
MAX_ROLLS_TO_FIRST: Final = 12
"""Entries of the distribution of rolls until the first checker is off, at most 10."""

WIN: Final = 0
"""Column: the chance to win, without a cube."""
CENTRED: Final = 1
"""Column: equity of not doubling now, the cube in the middle."""
OWNED: Final = 2
"""Column: equity of not doubling now, the cube owned by the player on roll."""
THEIRS: Final = 3
"""Column: equity with the cube owned by the opponent; half of the equity of double and take."""
COLUMNS: Final = 4


class TableArrays(NamedTuple):
    """The tables as read-only arrays."""

    rolls: Floats32
    """Distribution of the rolls to bear off all checkers of a side, shape (n, 32)."""
    first: Floats32
    """Distribution of the rolls to bear off the first of 15 checkers, shape (15504, 12)."""
    means: Floats32
    """Mean number of rolls to bear off all checkers of a side, shape (n,)."""
    pairs: Floats32
    """Exact values of two sides with few checkers, shape (m, m, 4): [on roll, opponent, WIN to THEIRS]."""


def read_only_arrays(rolls: Floats32, first: Floats32, means: Floats32, pairs: Floats32) -> TableArrays:
    """Return the arrays as tables and make them read-only."""
    columns = TableArrays(rolls, first, means, pairs)
    for column in columns:
        column.flags.writeable = False
    return columns


NO_TABLES: Final = read_only_arrays(
    np.empty((0, MAX_ROLLS), np.float32),
    np.empty((0, MAX_ROLLS_TO_FIRST), np.float32),
    np.empty(0, np.float32),
    np.empty((0, 0, COLUMNS), np.float32),
)
"""Tables that cover nothing."""
FIRST_OF_FIFTEEN: Final = position_count(CHECKERS - 1)
"""The lowest index of a position of 15 checkers."""


def look_up(boards: Boards, of: Floats32) -> tuple[Int64s, Int64s, Int64s]:
    """Return the rows of the boards that the table `of` covers, and the player's and opponent's indices on these."""
    places, own, opponent = indices_on_boards(boards)
    there = np.maximum(own, opponent) < len(of)
    return places[there], own[there], opponent[there]


def covered_chances(own: Int64s, opponent: Int64s, columns: TableArrays) -> Floats:
    """Return the outcomes of two covered sides by their indices, of which at most one is 0, shape (n, 6).

    Backgammons are impossible with all checkers home.
    """
    mine, theirs = columns.rolls[own].astype(np.float64), columns.rolls[opponent].astype(np.float64)
    outcomes = chances_from_rolls(mine, first_off(own, columns), theirs, first_off(opponent, columns))
    few = np.flatnonzero(np.maximum(own, opponent) < len(columns.pairs))
    outcomes[few, WINS] = columns.pairs[own[few], opponent[few], WIN]
    outcomes[few, LOSE] = 1 - outcomes[few, WINS]
    return outcomes


def first_off(numbers: Int64s, columns: TableArrays) -> Floats32:
    """Return the distributions of the rolls until a side's first checker is off, shape (n, 12)."""
    first = np.zeros((len(numbers), MAX_ROLLS_TO_FIRST), np.float32)
    whole = numbers >= FIRST_OF_FIFTEEN
    first[whole] = columns.first[numbers[whole] - FIRST_OF_FIFTEEN]
    first[~whole, 0] = 1
    return first


def chances_from_rolls(own: Floats, own_first: Floats, theirs: Floats, their_first: Floats) -> Floats:
    """Return the outcomes of a race for the player on roll, shape (n, 6), from both sides' distributions of rolls.

    `own` and `theirs` are the chances that all checkers are off after exactly 0, 1, 2 ... rolls, `own_first` and
    `their_first` that the first one is.
    """
    outcomes = np.zeros((len(own), OUTCOMES), own.dtype)
    _write_chances(own, own_first, theirs, their_first, outcomes)
    return outcomes


@compiled
def _write_chances(
    own: RollChances, own_first: Matrix32, theirs: RollChances, their_first: Matrix32, outcomes: RollChances
) -> None:
    """Write what `chances_from_rolls` returns.

    A player on roll who finishes has rolled once more than the opponent, unless nothing was left to bear off; one who
    loses has rolled as often as the opponent.
    """
    for row in range(len(own)):
        # The chances that the opponent, the opponent's first checker and the player's first need at least `rolls`.
        theirs_left, their_first_left, own_first_left = 1.0, 1.0, 1.0
        win, win_gammon, lose_gammon = 0.0, own[row, 0] * (1.0 - their_first[row, 0]), 0.0
        for rolls in range(own.shape[1]):
            win += own[row, rolls] * theirs_left
            theirs_left -= theirs[row, rolls]
            if rolls < their_first.shape[1]:
                if rolls:
                    win_gammon += own[row, rolls] * their_first_left
                their_first_left -= their_first[row, rolls]
            if rolls + 1 < own_first.shape[1]:
                own_first_left -= own_first[row, rolls]
                lose_gammon += theirs[row, rolls] * own_first_left
        win = min(max(win, 0.0), 1.0)
        outcomes[row, WINS] = win
        outcomes[row, LOSE] = 1 - win
        outcomes[row, WIN_GAMMON] = min(max(win_gammon, 0.0), win)
        outcomes[row, LOSE_GAMMON] = min(max(lose_gammon, 0.0), 1 - win)


class NotCoveredError(ValueError):
    """A board that the tables do not cover."""


@frozen
class MoneyEquities:
    """Exact equities of a position with few checkers, before the roll of the player on roll.

    For money, in units of the cube's value, both sides playing and turning the cube as well as possible. Gammons are
    impossible here, so the Jacoby rule changes nothing.
    """

    win: float
    """Chance to win without a cube."""
    centred: float
    """Equity of not doubling now with a centred cube."""
    owned: float
    """Equity of not redoubling now with a cube owned by the player on roll."""
    theirs: float
    """Equity with a cube owned by the opponent."""

    @property
    def cubeless(self) -> float:
        """Equity without a cube."""
        return 2 * self.win - 1

    @property
    def double_take(self) -> float:
        """Equity of doubling if the opponent takes; a pass gives 1."""
        return 2 * self.theirs

    @property
    def double(self) -> float:
        """Equity of doubling against the better answer."""
        return min(1.0, self.double_take)

    def no_double(self, owner: Owner) -> float:
        """Return the equity of leaving the cube alone now."""
        return {Owner.CENTRED: self.centred, Owner.PLAYER: self.owned, Owner.OPPONENT: self.theirs}[owner]

    def value(self, owner: Owner) -> float:
        """Return the equity with the player on roll doubling if that is better."""
        stays = self.no_double(owner)
        return stays if owner is Owner.OPPONENT else max(stays, self.double)


@frozen
class SideRolls:
    """The rolls that one side needs, independent of the other side."""

    pips: int
    mean: float
    """Mean number of rolls to bear off all checkers."""
    deviation: float
    """Standard deviation of that number."""
    throws: tuple[float, ...]
    """Chance to need exactly 0, 1, 2 ... rolls."""

    @property
    def effective_pips(self) -> float:
        """The effective pip count (EPC): the pips of the mean number of rolls."""
        return self.mean * PIPS_PER_ROLL

    @property
    def wastage(self) -> float:
        """The effective pip count minus the pip count."""
        return self.effective_pips - self.pips


@frozen
class BearoffTables:
    """The tables. `columns` is for search and training."""

    columns: TableArrays = field(repr=False)

    @property
    def checkers(self) -> int:
        """The largest number of checkers per side with exact chances and cubeful equities."""
        return next(n for n in range(CHECKERS + 1) if position_count(n) >= len(self.columns.pairs))

    def covers(self, boards: Boards) -> npt.NDArray[np.bool_]:
        """Return whether `evaluate` covers boards of shape (n, 26), shape (n,).

        It does if all checkers of both sides are home and have passed each other. Games that are over are covered, too,
        if the loser's checkers are all home.
        """
        return self._numbers(boards, self.columns.rolls)[0] >= 0

    def evaluate(self, boards: Boards) -> npt.NDArray[np.float32]:
        """Return the chances of the player on roll, shape (n, 6), in the order of `engine.arrays`.

        They are exact if both sides have few checkers, else computed from both sides' distributions of rolls, with each
        side playing for the least mean: see `docs/explanation/bearoff.md` for the error. Raises NotCoveredError.
        """
        own, opponent = self._numbers(boards, self.columns.rolls)
        _check(own, boards)
        return covered_chances(own, opponent, self.columns).astype(np.float32)

    def covers_money(self, boards: Boards) -> npt.NDArray[np.bool_]:
        """Return whether `money` covers boards, shape (n,): few checkers on both sides."""
        return self._numbers(boards, self.columns.pairs)[0] >= 0

    def evaluate_money(self, boards: Boards) -> npt.NDArray[np.float32]:
        """Return exact money equities, shape (n, 4), in the columns WIN to THEIRS. Raises NotCoveredError."""
        own, opponent = self._numbers(boards, self.columns.pairs)
        _check(own, boards)
        return np.asarray(self.columns.pairs[own, opponent])

    def money(self, board: Board) -> MoneyEquities | None:
        """Return the exact equities of one board; None if it has too many checkers or they are not home."""
        if not self.covers_money(board[None])[0]:
            return None
        row = self.evaluate_money(board[None])[0].tolist()
        return MoneyEquities(win=row[WIN], centred=row[CENTRED], owned=row[OWNED], theirs=row[THEIRS])

    def sides(self, board: Board) -> tuple[SideRolls, SideRolls]:
        """Return what the player on roll needs and what the opponent needs. Raises NotCoveredError."""
        own, opponent = self._numbers(board[None], self.columns.rolls)
        _check(own, board[None])
        position = position_of(board)
        return self._side(own[0], position.pips), self._side(opponent[0], position.opponent_pips)

    def _numbers(self, boards: Boards, of: Floats32) -> tuple[Int64s, Int64s]:
        """Return the indices of both sides, -1 on boards that the table `of` does not cover."""
        numbers = np.full((2, len(boards)), -1)
        places, *found = look_up(check_boards(boards), of)
        numbers[:, places] = found
        return numbers[0], numbers[1]

    def _side(self, number: int, pips: int) -> SideRolls:
        throws = self.columns.rolls[number].astype(float)
        counts = np.arange(MAX_ROLLS)
        mean = float(self.columns.means[number])
        deviation = float(np.sqrt(max((throws * counts**2).sum() - (throws * counts).sum() ** 2, 0.0)))
        return SideRolls(pips, mean, deviation, tuple(np.trim_zeros(throws, "b").tolist()))


def _check(numbers: Int64s, boards: Boards) -> None:
    """Raise NotCoveredError for the first board without an index."""
    if len(numbers) and numbers.min() < 0:
        place = int(numbers.argmin())
        raise NotCoveredError(f"expected a board that the tables cover, got {boards[place].tolist()} at {place}")
