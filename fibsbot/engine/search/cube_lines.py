"""The cube during a search: the cubes that can occur, and the equities of positions with each of them.

A cube line is a cube that can occur: how often it has been doubled since the root, and its owner, seen by the player on
roll. Each position is evaluated for a few lines at once. The tree of positions hardly depends on the cube, so another
line costs little.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import define, field

from fibsbot.engine.arrays import Boards, Floats64, Int64s, Outcomes
from fibsbot.engine.bearoff import TableArrays
from fibsbot.engine.bearoff.lookup import look_up
from fibsbot.engine.cube import CENTRED, DEFAULT_EFFICIENCY, OWNED, OWNER_COLUMN, THEIRS, TURNED, Efficiency, Stakes
from fibsbot.match import MatchState, Owner


class CubeLine(NamedTuple):
    """A cube that can occur in a search."""

    level: int
    """How often it has been doubled since the root."""
    column: int
    """CENTRED, OWNED by the player on roll, or THEIRS."""


CubeLines: TypeAlias = tuple[CubeLine, ...]
"""Plays are chosen by the first line."""

OPPONENT_COLUMN: Final = {CENTRED: CENTRED, OWNED: THEIRS, THEIRS: OWNED}
"""The column of the same cube as seen by the other player."""


@define(eq=False)
class DecisionCubes:
    """The cubes of a decision as seen by both players. Side 0 is the player of the state."""

    _stakes: dict[tuple[int, int], Stakes]
    """By side and level."""
    start: CubeLine
    """The cube of the state, seen by side 0."""
    columns: TableArrays
    """Bear-off tables; for money, their cubeful equities are used where they cover a position."""
    efficiency: Efficiency = DEFAULT_EFFICIENCY
    _exact: bool = field(init=False, default=False)

    @classmethod
    def of(cls, state: MatchState, columns: TableArrays, efficiency: Efficiency = DEFAULT_EFFICIENCY) -> DecisionCubes:
        """Return the cubes of a state."""
        stakes = Stakes.of(state)
        cubes = cls(
            {(0, 0): stakes, (1, 0): stakes.swapped}, CubeLine(0, OWNER_COLUMN[state.owner]), columns, efficiency
        )
        cubes._exact = stakes.live and not stakes.match and not stakes.points.point_game
        return cubes

    def stakes(self, side: int, level: int) -> Stakes:
        """Return the stakes of a side after the cube has been doubled `level` times."""
        found = self._stakes.get((side, level))
        if found is None:
            found = self._stakes[side, level] = self.stakes(side, level - 1).turned
        return found

    def may_double(self, side: int, line: CubeLine) -> bool:
        """Return whether the side, on roll, may turn the cube and has a use for it."""
        return line.column != THEIRS and self.stakes(side, line.level).can_double(Owner.PLAYER)

    def lines_when_rolling(self, side: int, lines: CubeLines) -> CubeLines:
        """Return the lines that are possible when the side rolls: the cubes unchanged, and turned."""
        turned = [CubeLine(line.level + 1, THEIRS) for line in lines if self.may_double(side, line)]
        return tuple(dict.fromkeys([*lines, *turned]))

    def after_doubling(self, side: int, lines: CubeLines, rolled: CubeLines, equities: Floats64) -> Floats64:
        """Return the equities for `lines`, with the side doubling where that gains, from the equities when it rolls.

        `equities` has shape (n, len(rolled)), the result (n, len(lines)).
        """
        settled = equities[:, : len(lines)].copy()
        for column, line in enumerate(lines):
            if self.may_double(side, line):
                turned = equities[:, rolled.index(CubeLine(line.level + 1, THEIRS))]
                settled[:, column] = self.stakes(side, line.level).best_action_value(settled[:, column], turned)
        return settled

    # -- without lookahead ------------------------------------------------------------------------------------

    def values(self, side: int, lines: CubeLines, boards: Boards, outcomes: Outcomes) -> Floats64:
        """Return the equities of the side, which is on roll and doubles where that gains, shape (n, len(lines))."""
        return self._by_line(side, lines, boards, outcomes, doubling=True)

    def no_double_values(self, side: int, lines: CubeLines, boards: Boards, outcomes: Outcomes) -> Floats64:
        """Return the equities of the side, which is on roll and does not double now, shape (n, len(lines))."""
        return self._by_line(side, lines, boards, outcomes, doubling=False)

    def _by_line(self, side: int, lines: CubeLines, boards: Boards, outcomes: Outcomes, *, doubling: bool) -> Floats64:
        by_line = np.empty((len(boards), len(lines)))
        efficiency = self.efficiency.of(boards)
        known, figures = self._known(boards)
        for level in {line.level for line in lines}:
            stakes = self.stakes(side, level)
            if doubling:
                equities = stakes.values(outcomes, efficiency)
            else:
                equities = stakes.no_double_values(outcomes, efficiency)[:, :TURNED]
            if len(known):
                exact = no_double = figures[:, 1:] * (stakes.cube / stakes.unit)
                if doubling and stakes.can_double(Owner.PLAYER):
                    exact = no_double.copy()
                    for column in (CENTRED, OWNED):
                        exact[:, column] = stakes.best_action_value(no_double[:, column], 2 * no_double[:, THEIRS])
                equities[known] = exact
            for column, line in enumerate(lines):
                if line.level == level:
                    by_line[:, column] = equities[:, line.column]
        return by_line

    def are_final(self, boards: Boards) -> npt.NDArray[np.bool_]:
        """Return whether lookahead is useless: the game is over, or the evaluation is exact, shape (n,)."""
        final = np.logical_not((boards < 0).any(axis=1) & (boards > 0).any(axis=1))
        if self._exact or not self.stakes(0, 0).live:
            final[look_up(boards, self.columns.pairs)[0]] = True
        return np.asarray(final)

    def _known(self, boards: Boards) -> tuple[Int64s, Floats64]:
        """Return the indices of the boards with exact money equities in the tables, and their rows, shape (k, 4)."""
        if not self._exact:
            return np.empty(0, np.int64), np.empty((0, 4))
        few, own, opponent = look_up(boards, self.columns.pairs)
        return few, self.columns.pairs[own, opponent].astype(np.float64)
