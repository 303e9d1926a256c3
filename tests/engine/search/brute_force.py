"""Looking ahead in plain Python over the rules core: slow, and so simple that it can be read beside the definition."""

from __future__ import annotations

from functools import cache

import numpy as np
from attrs import frozen

from fibsbot.engine.arrays import Floats64, Outcomes, boards_of
from fibsbot.engine.cube import CENTRED, DEFAULT_EFFICIENCY, OWNED, THEIRS, Stakes
from fibsbot.engine.network_evaluator import NetworkEvaluator
from fibsbot.engine.pruner import PlayFilter
from fibsbot.engine.search.lookahead import SearchFilters
from fibsbot.match import ROLLS, Owner
from fibsbot.position import Position
from tests.engine.toys import left_by

EVERY_PLAY = PlayFilter(margin=100.0, most=3060)
NO_FILTERS = SearchFilters((EVERY_PLAY,) * 4, EVERY_PLAY, EVERY_PLAY)
"""Filters that leave nothing out: exact, and far too slow to play with."""
OTHER = {CENTRED: CENTRED, OWNED: THEIRS, THEIRS: OWNED}


@frozen
class Cube:
    """A cube: the stakes for the player on roll, and its owner."""

    stakes: Stakes
    column: int

    @property
    def other(self) -> Cube:
        """The same cube seen by the other player."""
        return Cube(self.stakes.swapped, OTHER[self.column])

    @property
    def turned(self) -> Cube:
        """The cube once the player on roll has doubled and was taken."""
        return Cube(self.stakes.turned, THEIRS)

    @property
    def open(self) -> bool:
        """Whether the player on roll may double."""
        return self.column != THEIRS and self.stakes.can_double(Owner.PLAYER)


@cache
def judged(evaluator: NetworkEvaluator, position: Position) -> tuple[Outcomes, Floats64]:
    """Return what the evaluator thinks of a position, and how efficient a cube is there."""
    return evaluator.evaluate(boards_of([position])), DEFAULT_EFFICIENCY.of_position(position)


def at_once(evaluator: NetworkEvaluator, position: Position, cube: Cube) -> float:
    """Return the 0-ply equity of the player on roll, with a double if that gains."""
    return float(cube.stakes.values(*judged(evaluator, position))[0, cube.column])


def value(evaluator: NetworkEvaluator, position: Position, cube: Cube, by: Cube, plies: int) -> float:
    """Return the same looking ahead, plays being chosen by the cube `by`."""
    if plies == 0:
        return at_once(evaluator, position, cube)
    worth = no_double_values(evaluator, position, cube, by, plies)
    if not cube.open:
        return worth
    turned = no_double_values(evaluator, position, cube.turned, by, plies)
    return float(cube.stakes.best_action_value(np.array(worth), np.array(turned)))


def no_double_values(evaluator: NetworkEvaluator, position: Position, cube: Cube, by: Cube, plies: int) -> float:
    """Return the same if the player on roll does not double now: the mean over 36 rolls."""
    if plies == 0 or position.over:
        return float(cube.stakes.no_double_values(*judged(evaluator, position))[0, cube.column])
    worth = 0.0
    for high, low in ROLLS:
        after = [Position(it).swapped() for it in left_by(position, (high, low))]
        chooser = cube.other if plies == 1 else by.other  # the last roll is played separately for each cube
        best = min(after, key=lambda it: at_once(evaluator, it, chooser))
        worth -= value(evaluator, best, cube.other, by.other, plies - 1) * (1 if high == low else 2) / 36
    return worth
