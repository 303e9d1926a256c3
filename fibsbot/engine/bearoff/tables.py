"""The bear-off tables with methods for single boards and many boards at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from fibsbot.engine.arrays import CELLS, CHECKERS, Board, Boards, Floats32, Int64s, position_of
from fibsbot.engine.bearoff.lookup import (
    CENTRED,
    MAX_ROLLS,
    OWNED,
    THEIRS,
    WIN,
    TableArrays,
    covered_chances,
    look_up,
    position_count,
)
from fibsbot.match import PIPS_PER_ROLL, Owner


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
    """The tables. `columns` is for search and training (see `lookup`)."""

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
        side playing for the least mean: see `docs/bearoff.md` for the error. Raises NotCoveredError.
        """
        own, opponent = self._numbers(boards, self.columns.rolls)
        _check(own, boards)
        return covered_chances(own, opponent, self.columns).astype(np.float32)

    def covers_money(self, boards: Boards) -> npt.NDArray[np.bool_]:
        """Return whether `money` covers boards, shape (n,): few checkers on both sides."""
        return self._numbers(boards, self.columns.pairs)[0] >= 0

    def evaluate_money(self, boards: Boards) -> npt.NDArray[np.float32]:
        """Return exact money equities, shape (n, 4), in the columns of `lookup`. Raises NotCoveredError."""
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
        if boards.ndim != 2 or boards.shape[1] != CELLS or boards.dtype != np.int8:
            raise ValueError(f"expected boards of shape (n, {CELLS}) and int8, got {boards.shape} and {boards.dtype}")
        numbers = np.full((2, len(boards)), -1)
        places, *found = look_up(boards, of)
        numbers[:, places] = found
        return numbers[0], numbers[1]

    def _side(self, number: int, pips: int) -> SideRolls:
        throws = self.columns.rolls[number].astype(float)
        counts = np.arange(MAX_ROLLS)
        mean = float(self.columns.means[number])
        deviation = float(np.sqrt(max(throws @ counts**2 - (throws @ counts) ** 2, 0.0)))
        return SideRolls(pips, mean, deviation, tuple(np.trim_zeros(throws, "b").tolist()))


def _check(numbers: Int64s, boards: Boards) -> None:
    """Raise NotCoveredError for the first board without an index."""
    if len(numbers) and numbers.min() < 0:
        place = int(numbers.argmin())
        raise NotCoveredError(f"expected a board that the tables cover, got {boards[place].tolist()} at {place}")
