"""The cube during a search: which cubes can come up, and what positions are worth with each of them.

A line is a cube that may come up: how often it has been doubled since the root, and where it is, seen by the player
on roll. Each position is valued for a few lines at once. The positions below hardly depend on the cube, so another
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
    """A cube that may come up."""

    level: int
    """How often it has been doubled."""
    column: int
    """CENTRED, OWNED by the player on roll, or LOST."""


CubeLines: TypeAlias = tuple[CubeLine, ...]
"""The first one is that by which plays are chosen."""

OPPONENT_COLUMN: Final = {CENTRED: CENTRED, OWNED: THEIRS, THEIRS: OWNED}
"""The column in which the other player finds the same cube."""


@define(eq=False)
class DecisionCubes:
    """The cubes of a decision, as both players see them. Side 0 is the player whose state it is."""

    _stakes: dict[tuple[int, int], Stakes]
    """By side and level."""
    start: CubeLine
    """The cube of the state, seen by side 0."""
    columns: TableArrays
    """Bear-off tables; where they know what a cube is worth for money, nothing else is asked."""
    efficiency: Efficiency = DEFAULT_EFFICIENCY
    _exact: bool = field(init=False, default=False)

    @classmethod
    def of(cls, state: MatchState, columns: TableArrays, efficiency: Efficiency = DEFAULT_EFFICIENCY) -> DecisionCubes:
        """Return the cubes of a state."""
        stakes = Stakes.of(state)
        cubes = cls(
            {(0, 0): stakes, (1, 0): stakes.swapped}, CubeLine(0, OWNER_COLUMN[state.owner]), columns, efficiency
        )
        cubes._exact = stakes.live and not stakes.match
        return cubes

    def stakes(self, side: int, level: int) -> Stakes:
        """Return what is at stake for a side once the cube has been doubled so often."""
        found = self._stakes.get((side, level))
        if found is None:
            found = self._stakes[side, level] = self.stakes(side, level - 1).turned
        return found

    def may_double(self, side: int, line: CubeLine) -> bool:
        """Whether the side, on roll, may turn that cube and has a use for it."""
        return line.column != THEIRS and self.stakes(side, line.level).can_double(Owner.PLAYER)

    def lines_when_rolling(self, side: int, lines: CubeLines) -> CubeLines:
        """Return the lines of those cubes that may lie there when the side rolls: as they are, and turned."""
        turned = [CubeLine(line.level + 1, THEIRS) for line in lines if self.may_double(side, line)]
        return tuple(dict.fromkeys([*lines, *turned]))

    def after_doubling(self, side: int, lines: CubeLines, rolled: CubeLines, equities: Floats64) -> Floats64:
        """Return what positions are worth for lines, the side doubling where that gains, from what rolling is worth.

        `equities` has shape (n, len(rolled)); the result (n, len(lines)).
        """
        settled = equities[:, : len(lines)].copy()
        for column, line in enumerate(lines):
            if self.may_double(side, line):
                turned = equities[:, rolled.index(CubeLine(line.level + 1, THEIRS))]
                settled[:, column] = self.stakes(side, line.level).best_action_value(settled[:, column], turned)
        return settled

    # -- without lookahead ------------------------------------------------------------------------------------

    def values(self, side: int, lines: CubeLines, boards: Boards, outcomes: Outcomes) -> Floats64:
        """Return what positions are worth to the side, which is on roll and doubles where that gains.

        Shape (n, len(lines)) for boards of shape (n, 26) and their six chances.
        """
        found = np.empty((len(boards), len(lines)))
        spread = self.efficiency.of(boards)
        few, figures = self._known(boards)
        for level in {line.level for line in lines}:
            stakes = self.stakes(side, level)
            equities = stakes.values(outcomes, spread)
            if len(few):
                held = figures[:, 1:] * (stakes.cube / stakes.unit)
                exact = held.copy()
                if stakes.can_double(Owner.PLAYER):
                    for column in (CENTRED, OWNED):
                        exact[:, column] = stakes.best_action_value(held[:, column], 2 * held[:, THEIRS])
                equities[few] = exact
            for column, line in enumerate(lines):
                if line.level == level:
                    found[:, column] = equities[:, line.column]
        return found

    def no_double_values(self, side: int, lines: CubeLines, boards: Boards, outcomes: Outcomes) -> Floats64:
        """Return the same if the side does not double now."""
        found = np.empty((len(boards), len(lines)))
        spread = self.efficiency.of(boards)
        few, figures = self._known(boards)
        for level in {line.level for line in lines}:
            stakes = self.stakes(side, level)
            equities = stakes.no_double_values(outcomes, spread)[:, :TURNED]
            if len(few):
                equities[few] = figures[:, 1:] * (stakes.cube / stakes.unit)
            for column, line in enumerate(lines):
                if line.level == level:
                    found[:, column] = equities[:, line.column]
        return found

    def are_final(self, boards: Boards) -> npt.NDArray[np.bool_]:
        """Return which positions nothing is gained by looking ahead from: games that are over, and what is exact."""
        final = np.logical_not((boards < 0).any(axis=1) & (boards > 0).any(axis=1))
        if self._exact or not self.stakes(0, 0).live:
            final[look_up(boards, self.columns.pairs)[0]] = True
        return np.asarray(final)

    def _known(self, boards: Boards) -> tuple[Int64s, Floats64]:
        """Return which boards the tables know for money, and the figures of these, shape (k, 4)."""
        if not self._exact:
            return np.empty(0, np.int64), np.empty((0, 4))
        few, own, opponent = look_up(boards, self.columns.pairs)
        return few, self.columns.pairs[own, opponent].astype(np.float64)
