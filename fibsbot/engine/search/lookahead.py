"""Lookahead for many positions at once: all rolls, the best plays of each, and so on down to the network.

Also the cubes of a decision, its clock, and the filters that select the plays to be searched deeper.

A cube line is a cube that can occur: how often it has been doubled since the root, and its owner, seen by the player on
roll. Each position is evaluated for a few lines at once. The tree of positions hardly depends on the cube, so another
line costs little.
"""

from __future__ import annotations

import math
import time
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import define, field, frozen

from fibsbot.engine.arrays import (
    CELLS,
    OUTCOMES,
    ROLL_COUNT,
    Boards,
    Floats64,
    Int32s,
    Int64s,
    IntMatrix64,
    IntVector32,
    Matrix64,
    Outcomes,
    other_side,
)
from fibsbot.engine.bearoff import TableArrays
from fibsbot.engine.bearoff.tables import look_up
from fibsbot.engine.cube import CENTRED, DEFAULT_EFFICIENCY, OWNED, OWNER_COLUMN, THEIRS, TURNED, Efficiency, Stakes
from fibsbot.engine.generator import MAX_PLAYS
from fibsbot.engine.hash_tables import PositionCache, distinct, empty, fill, find, forget, new_cache
from fibsbot.engine.jit import compiled
from fibsbot.engine.network_evaluator import ArrayEvaluator
from fibsbot.engine.numerics import mean_over_rolls
from fibsbot.engine.pruner import PlayFilter, Pruner, expand, new_pruner_buffers
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
        cubes._exact = stakes.endless and not stakes.points.point_game
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
        if not any(self.may_double(side, line) for line in lines):
            return equities
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
        known, figures = self._known(boards)
        efficiency: Floats64 | None = None
        for level in {line.level for line in lines}:
            stakes = self.stakes(side, level)
            if not stakes.turnable:
                by_line[:, [line.level == level for line in lines]] = stakes.cubeless(outcomes)[:, None]
                continue
            if efficiency is None:
                efficiency = self.efficiency.of(boards)
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


# -- lookahead ---------------------------------------------------------------------------------------------------------


class OutOfTimeError(Exception):
    """The deadline has passed; results found before are valid."""


@define
class Clock:
    """Measures the time since it was created, and checks a deadline."""

    seconds: float = math.inf
    started: float = field(factory=time.monotonic)

    def check(self) -> None:
        """Raise OutOfTimeError after the deadline; called between batches, every few milliseconds."""
        if self.elapsed >= self.seconds:
            raise OutOfTimeError

    @property
    def limited(self) -> bool:
        """Whether there is a deadline."""
        return self.seconds < math.inf

    @property
    def elapsed(self) -> float:
        """Seconds since the clock was created."""
        return time.monotonic() - self.started


_ROOT: Final = (PlayFilter(0.2, 10), PlayFilter(0.08, 5), PlayFilter(0.04, 3), PlayFilter(0.03, 3))
_LAST_PLY: Final = PlayFilter(0.35, 8)
_INNER_PLIES: Final = PlayFilter(0.3, 8)


@frozen
class SearchFilters:
    """The plays that are searched deeper, by their difference to the best and by number.

    `docs/lab/search.md` has the alternatives that were tried, with their costs and losses.
    """

    root: tuple[PlayFilter, ...] = _ROOT
    """For the plays to decide on: which are searched at 1-ply, at 2-ply and so on."""
    last_ply: PlayFilter = _LAST_PLY
    """For the plays of the last roll: which are evaluated by the network."""
    inner_plies: PlayFilter = _INNER_PLIES
    """For the plays of earlier rolls: which are evaluated by the network, of which the best one is searched deeper."""


CHUNK: Final = ROLL_COUNT
"""Positions that are expanded together when there is a deadline."""
BATCH: Final = 512
"""Positions that are evaluated together then, including those in the cache: two or three milliseconds."""
UNLIMITED_FACTOR: Final = 4
"""Factor for both without a deadline: fewer and larger batches take a fifth less time."""

_USUAL: Final = 8
"""Plays per roll that the first buffer has room for."""


class LookaheadValues(NamedTuple):
    """Outcomes and equities of positions for the player on roll."""

    outcomes: Outcomes
    """Shape (n, 6)."""
    equities: Floats64
    """By cube line, shape (n, lines)."""


class Lookahead:
    """Searches many positions at once; each thread needs its own."""

    def __init__(self, evaluator: ArrayEvaluator, pruner: Pruner, filters: SearchFilters, size: int) -> None:
        """`size` is that of the cache, a power of 2."""
        self._evaluator = evaluator
        self._buffers = new_pruner_buffers(pruner)
        self._filters = filters
        self._cache: PositionCache = new_cache(size)
        self._batch = 0
        self.evaluations = 0
        self.clock = Clock()

    def forget(self) -> None:
        """Empty the cache, so that results cannot depend on earlier searches whatever the evaluator does."""
        empty(self._cache)

    @property
    def _factor(self) -> int:
        return 1 if self.clock.limited else UNLIMITED_FACTOR

    def evaluate(self, boards: Boards) -> Outcomes:
        """Return the outcomes for the player on roll without lookahead, shape (n, 6)."""
        outcomes = np.empty((len(boards), OUTCOMES), np.float32)
        batch = BATCH * self._factor
        for first in range(0, len(boards), batch):
            self.clock.check()
            outcomes[first : first + batch] = self._evaluate(boards[first : first + batch])
        return outcomes

    def values(self, cubes: DecisionCubes, side: int, lines: CubeLines, boards: Boards, plies: int) -> LookaheadValues:
        """Return the values of positions for the side, which is on roll and doubles where that gains."""
        if plies == 0:
            outcomes = self.evaluate(boards)
            return LookaheadValues(outcomes, cubes.values(side, lines, boards, outcomes))
        rolled = cubes.lines_when_rolling(side, lines)
        found = self.no_double_values(cubes, side, rolled, boards, plies)
        return LookaheadValues(found.outcomes, cubes.after_doubling(side, lines, rolled, found.equities))

    def no_double_values(
        self, cubes: DecisionCubes, side: int, lines: CubeLines, boards: Boards, plies: int
    ) -> LookaheadValues:
        """Return the values of positions for the side, which is on roll and does not double now."""
        outcomes = np.empty((len(boards), OUTCOMES))
        equities = np.empty((len(boards), len(lines)))
        final = cubes.are_final(boards) if plies else np.ones(len(boards), np.bool_)
        known = np.flatnonzero(final)
        if len(known):
            outcomes[known] = found = self.evaluate(boards[known])
            equities[known] = cubes.no_double_values(side, lines, boards[known], found)
        rest = boards[~final]
        if len(rest):
            first, number = distinct(rest)
            rest = rest[first]
            chunk = CHUNK * self._factor
            searched = [
                self._rolls(cubes, side, lines, rest[begin : begin + chunk], plies)
                for begin in range(0, len(rest), chunk)
            ]
            outcomes[~final] = np.concatenate([part.outcomes for part in searched])[number]
            equities[~final] = np.concatenate([part.equities for part in searched])[number]
        return LookaheadValues(outcomes, equities)

    def _rolls(self, cubes: DecisionCubes, side: int, lines: CubeLines, boards: Boards, plies: int) -> LookaheadValues:
        """Return the means over all rolls of the values after the best play; the games must not be over."""
        found, slots = self.expand(boards, self._filters.last_ply if plies == 1 else self._filters.inner_plies)
        theirs = tuple(CubeLine(line.level, OPPONENT_COLUMN[line.column]) for line in lines)
        outcomes = self.evaluate(found)
        if plies == 1:
            equities = cubes.values(1 - side, theirs, found, outcomes)
            best = argmin_of_slots(equities, slots, len(boards) * ROLL_COUNT)
            chosen = LookaheadValues(outcomes[best[:, 0]], np.take_along_axis(equities, best, axis=0))
        else:
            equities = cubes.values(1 - side, theirs[:1], found, outcomes)
            best = argmin_of_slots(equities, slots, len(boards) * ROLL_COUNT)
            chosen = self.values(cubes, 1 - side, theirs, found[best[:, 0]], plies - 1)
        return LookaheadValues(
            mean_over_rolls(other_side(chosen.outcomes).reshape(-1, ROLL_COUNT, OUTCOMES)),
            -mean_over_rolls(chosen.equities.reshape(-1, ROLL_COUNT, len(lines))),
        )

    def expand(self, boards: Boards, chosen: PlayFilter) -> tuple[Boards, Int32s]:
        """Return the boards after the plays that the pruner selects, seen by the opponent, and the slot of each.

        The slot is `row * 21 + roll`; slots are in ascending order, and every slot occurs.
        """
        self.clock.check()
        most = min(chosen.most, MAX_PLAYS)
        size = len(boards) * ROLL_COUNT * min(most, _USUAL) + most
        while True:
            found, slots = np.empty((size, CELLS), np.int8), np.empty(size, np.int32)
            count = expand(self._buffers, boards, np.float32(chosen.margin), most, found, slots)
            if count >= 0:
                return found[:count], slots[:count]
            size *= 2

    def _evaluate(self, boards: Boards) -> Outcomes:
        self._batch += 1
        places, unknown = np.empty(len(boards), np.int32), np.empty(len(boards), np.int32)
        count = find(self._cache, boards.view(np.int16), self._batch, places, unknown)
        unknown = unknown[:count]
        try:
            valued = self._evaluator.evaluate(boards[unknown])
        except BaseException:
            forget(self._cache, places, unknown)
            raise
        self.evaluations += count
        return fill(self._cache, places, unknown, np.asarray(valued, np.float32))


def argmin_of_slots(equities: Floats64, slots: Int32s, count: int) -> npt.NDArray[np.int64]:
    """Return the row with the least equity of each slot, by column, shape (count, columns)."""
    best = np.full((count, equities.shape[1]), -1)
    _write_least(equities, slots, best)
    return best


@compiled
def _write_least(equities: Matrix64, slots: IntVector32, best: IntMatrix64) -> None:
    for place in range(len(slots)):
        for column in range(len(best[0])):
            row = best[slots[place], column]
            if row < 0 or equities[place, column] < equities[row, column]:
                best[slots[place], column] = place
