"""Lookahead, many positions at once: all rolls, the best plays of each, and so on down to the network.

With the deadline of a decision and the filters that say which plays are searched deeper.
"""

from __future__ import annotations

import math
import time
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from attrs import define, field, frozen

from fibsbot.engine.arrays import (
    CELLS,
    CHANCE_OF_ROLL,
    OUTCOMES,
    ROLL_COUNT,
    Boards,
    Floats64,
    Int32s,
    Outcomes,
    other_side,
)
from fibsbot.engine.evaluator import Evaluator
from fibsbot.engine.generator import MAX_PLAYS
from fibsbot.engine.jit import compiled
from fibsbot.engine.pruner import PlayFilter, Pruner, expand, new_pruner_buffers
from fibsbot.engine.search.cache import PositionCache, distinct, empty, fill, find, forget, new_cache
from fibsbot.engine.search.cube_lines import OPPONENT_COLUMN, CubeLine, CubeLines, DecisionCubes


class OutOfTimeError(Exception):
    """The deadline has passed; what was found before stands."""


@define
class Clock:
    """Runs from when it is made."""

    seconds: float = math.inf
    started: float = field(factory=time.monotonic)

    def check(self) -> None:
        """Raise OutOfTimeError after the deadline. Asked between batches, every few milliseconds."""
        if self.elapsed >= self.seconds:
            raise OutOfTimeError

    @property
    def limited(self) -> bool:
        """Whether there is a deadline."""
        return self.seconds < math.inf

    @property
    def elapsed(self) -> float:
        """Seconds since the clock was made."""
        return time.monotonic() - self.started


EVERY_PLAY: Final = PlayFilter(margin=100.0, most=3060)
"""Every play."""

_ROOT: Final = (PlayFilter(0.2, 10), PlayFilter(0.08, 5), PlayFilter(0.04, 3), PlayFilter(0.03, 3))
_LAST_PLY: Final = PlayFilter(0.35, 8)
_INNER_PLIES: Final = PlayFilter(0.3, 8)


@frozen
class SearchFilters:
    """Which plays stay in the running, in equity below the best and by number.

    What was tried, and what it costs and gives away, is in `docs/search.md`.
    """

    root: tuple[PlayFilter, ...] = _ROOT
    """Of the plays that are to be decided on: which are looked at 1 roll ahead, 2 rolls and so on."""
    last_ply: PlayFilter = _LAST_PLY
    """Of the plays of the last roll: which of them the pruner leaves to the network."""
    inner_plies: PlayFilter = _INNER_PLIES
    """The same of the rolls before; of these the network then chooses one."""


NO_FILTERS: Final = SearchFilters((EVERY_PLAY,) * 4, EVERY_PLAY, EVERY_PLAY)
"""Nothing is left out: exact, and far too slow to play with."""


CHUNK: Final = ROLL_COUNT
"""Positions whose rolls are looked at together where there is a deadline."""
BATCH: Final = 512
"""Positions that are valued together then, those that are remembered among them: two or three milliseconds."""
UNLIMITED_FACTOR: Final = 4
"""How many times as many without a deadline: fewer and larger batches take a fifth less time."""

_USUAL: Final = 8
"""Plays of a roll for which there is room at first."""


class LookaheadValues(NamedTuple):
    """What positions are worth to the player on roll."""

    outcomes: Outcomes
    """Shape (n, 6)."""
    equities: Floats64
    """By line, shape (n, lines)."""


class Lookahead:
    """Looks ahead; each thread needs its own."""

    def __init__(self, evaluator: Evaluator, pruner: Pruner, filters: SearchFilters, size: int) -> None:
        """Make room. `size` is that of the cache."""
        self._evaluator = evaluator
        self._scales = new_pruner_buffers(pruner)
        self._filters = filters
        self._cache: PositionCache = new_cache(size)
        self._batch = 0
        self.evaluations = 0
        self.clock = Clock()

    def forget(self) -> None:
        """Forget all positions: what matrix products give depends on their batch in the last digit."""
        empty(self._cache)

    @property
    def _factor(self) -> int:
        return 1 if self.clock.limited else UNLIMITED_FACTOR

    def evaluate(self, boards: Boards) -> Outcomes:
        """Return the chances of the player on roll without lookahead, shape (n, 6)."""
        outcomes = np.empty((len(boards), OUTCOMES), np.float32)
        batch = BATCH * self._factor
        for first in range(0, len(boards), batch):
            self.clock.check()
            outcomes[first : first + batch] = self._evaluate(boards[first : first + batch])
        return outcomes

    def values(self, cubes: DecisionCubes, side: int, lines: CubeLines, boards: Boards, plies: int) -> LookaheadValues:
        """Return what positions are worth to the side, which is on roll and doubles where that gains."""
        if plies == 0:
            outcomes = self.evaluate(boards)
            return LookaheadValues(outcomes, cubes.values(side, lines, boards, outcomes))
        rolled = cubes.lines_when_rolling(side, lines)
        found = self.no_double_values(cubes, side, rolled, boards, plies)
        return LookaheadValues(found.outcomes, cubes.after_doubling(side, lines, rolled, found.equities))

    def no_double_values(
        self, cubes: DecisionCubes, side: int, lines: CubeLines, boards: Boards, plies: int
    ) -> LookaheadValues:
        """Return the same if the side does not double now."""
        outcomes = np.empty((len(boards), OUTCOMES))
        equities = np.empty((len(boards), len(lines)))
        final = cubes.are_final(boards) if plies else np.ones(len(boards), np.bool_)
        known = np.flatnonzero(final)
        if len(known):
            outcomes[known] = found = self.evaluate(boards[known])
            equities[known] = cubes.no_double_values(side, lines, boards[known], found)
        rest, number = self.distinct(boards[~final])
        if len(rest):
            chunk = CHUNK * self._factor
            looked = [
                self._rolls(cubes, side, lines, rest[first : first + chunk], plies)
                for first in range(0, len(rest), chunk)
            ]
            outcomes[~final] = np.concatenate([it.outcomes for it in looked])[number]
            equities[~final] = np.concatenate([it.equities for it in looked])[number]
        return LookaheadValues(outcomes, equities)

    def _rolls(self, cubes: DecisionCubes, side: int, lines: CubeLines, boards: Boards, plies: int) -> LookaheadValues:
        """Return the means over all rolls of what the best plays leave; games that are over have none."""
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
            np.tensordot(other_side(chosen.outcomes).reshape(-1, ROLL_COUNT, OUTCOMES), CHANCE_OF_ROLL, (1, 0)),
            -np.tensordot(chosen.equities.reshape(-1, ROLL_COUNT, len(lines)), CHANCE_OF_ROLL, (1, 0)),
        )

    def expand(self, boards: Boards, chosen: PlayFilter) -> tuple[Boards, Int32s]:
        """Return what the plays that deserve a look leave, seen by the opponent, and the slot of each.

        The slot is `row * 21 + roll`; they come in their order and none is left out.
        """
        self.clock.check()
        most = min(chosen.most, MAX_PLAYS)
        room = len(boards) * ROLL_COUNT * min(most, _USUAL) + most
        while True:
            found, slots = np.empty((room, CELLS), np.int8), np.empty(room, np.int32)
            count = expand(self._scales, boards, np.float32(chosen.margin), most, found, slots)
            if count >= 0:
                return found[:count], slots[:count]
            room *= 2

    def _evaluate(self, boards: Boards) -> Outcomes:
        self._batch += 1
        places, unknown = np.empty(len(boards), np.int32), np.empty(len(boards), np.int32)
        count = find(self._cache, boards, self._batch, places, unknown)
        unknown = unknown[:count]
        try:
            valued = self._evaluator.evaluate(boards[unknown])
        except BaseException:
            forget(self._cache, places, unknown)
            raise
        self.evaluations += count
        return fill(self._cache, places, unknown, np.asarray(valued, np.float32))

    def distinct(self, boards: Boards) -> tuple[Boards, Int32s]:
        """Return each board once, and for each which of these it is."""
        table = np.full(1 << (2 * len(boards)).bit_length(), -1, np.int32)
        first, number = np.empty(len(boards), np.int32), np.empty(len(boards), np.int32)
        count = distinct(boards, table, first, number)
        return boards[first[:count]], number


def argmin_of_slots(equities: Floats64, slots: Int32s, count: int) -> npt.NDArray[np.int64]:
    """Return where in each slot the least worth stands, by column, shape (count, columns)."""
    best = np.full((count, equities.shape[1]), -1)
    _write_least(equities, slots, best)
    return best


@compiled
def _write_least(equities: Floats64, slots: Int32s, best: npt.NDArray[np.int64]) -> None:
    for place in range(len(slots)):
        for column in range(len(best[0])):
            held = best[slots[place], column]
            if held < 0 or equities[place, column] < equities[held, column]:
                best[slots[place], column] = place
