"""Counting positions to a depth: exact numbers that pin the generator of plays.

From the opening position, over the 21 rolls (doubles at the first one too) and their plays, the players alternating.
Equal positions are counted as often as they are reached, but looked at once. A roll that leaves no play counts one: the
turn passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations_with_replacement
from typing import Final, TypeAlias

from attrs import frozen

from fibsbot.position import Position
from fibsbot.rules.plays import Cells, results

ROLLS: Final = tuple(combinations_with_replacement(range(1, 7), 2))
"""The 21 rolls."""
Reached: TypeAlias = Mapping[Cells, int]
"""How many times each position is reached, seen by the player on roll."""

START: Final[Reached] = {Position.start().points: 1}
"""The opening position."""


@frozen
class Count:
    """What one more roll and play leads to."""

    positions: int
    """Positions, equal ones not merged."""
    without_play: int
    """How many of them come from a roll that left no play."""

    def __add__(self, other: Count) -> Count:
        """Add up the counts of two parts of a level."""
        return Count(self.positions + other.positions, self.without_play + other.without_play)


def count_next(reached: Iterable[tuple[Cells, int]]) -> Count:
    """Count what one more roll leads to from these positions and the times they are reached, without keeping it."""
    positions = without_play = 0
    for cells, times in reached:
        for roll in ROLLS:
            plays = len(results(cells, roll))
            positions += times * (plays or 1)
            without_play += 0 if plays else times
    return Count(positions, without_play)


def next_level(reached: Reached) -> Reached:
    """Return every position that one more roll leads to, seen by the player who is then on roll."""
    level: Counter[Cells] = Counter()
    for cells, times in reached.items():
        for roll in ROLLS:
            for after in results(cells, roll) or (cells,):
                level[tuple(-n for n in reversed(after))] += times
    return level
