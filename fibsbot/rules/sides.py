"""Sides, Side and Course: the board of any tables game, immutable, seen by the player on roll.

Each side counts its checkers in its own numbering: 24 is the first point of its course, 1 the last, HAND where its
checkers wait to enter, OFF where they end. So numbers always go down, and the games differ in where the two courses
meet. `fibsbot.position.Position` holds backgammon in half the space, but neither two colours on a point nor courses
that are not each other's reverse.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final

from attrs import frozen

from fibsbot.fast_evolve import fast_evolve

HAND: Final = 25
"""Where checkers are before they enter, and after they were hit."""
OFF: Final = 0
"""Where checkers are that were borne off."""
START: Final = 24
"""The first point of a course."""
HOME: Final = 6
"""The farthest point of the home table, which is the last quarter of a course."""
_CELLS: Final = 26


class Course(enum.Enum):
    """How the courses of the two sides meet. The value describes them."""

    CONTRARY = "in opposite directions; each ends where the other begins"
    SAME = "in the same direction from the same corner"
    DIAGONAL = "in the same direction from opposite corners"

    def facing(self, point: int) -> int:
        """Return the number that the opponent has for a point, 1 to 24, of ours."""
        if self is Course.CONTRARY:
            return HAND - point
        return point if self is Course.SAME else (point + 11) % 24 + 1


class Mark(enum.Flag):
    """Facts about a side that its checkers do not show."""

    NONE = 0
    RELEASED = enum.auto()
    """Swedish Tables, rule 2: a checker has stood on the farthest point of the opponent's side."""
    FIVE_LEFT = enum.auto()
    """Swedish Tables, rule 6: five checkers have left the start."""
    FOUR_SIXES = enum.auto()
    """Swedish Tables, rule 1: the four checkers of a 6-6 on the first roll still stand together."""
    STARTED = enum.auto()
    """Russian backgammon: two checkers have been on the board."""
    HIT = enum.auto()
    """Tabula without its optional rule: a checker was hit and has not come home yet."""
    DOUBLE = enum.auto()
    """Irish as backgammon of 1665: the last roll was a double."""


@frozen(slots=False)
class Side:
    """The checkers of one side, and what has to be remembered about it."""

    row: tuple[int, ...]
    """26 counts in the side's own numbering: 0 off, 1 to 24 the points, 25 in hand or on the bar."""
    pinned: int = 0
    """Bit p is set while the side's only checker on point p lies under one of the opponent's."""
    hit: int = 0
    """How many of the checkers in HAND were hit; they enter before those that never were on the board."""
    throws: int = 0
    """How often the side has rolled in this game; a roll that it gets on top counts, too."""
    marks: Mark = Mark.NONE
    head: int = 0
    """Narde: how many checkers may still leave the start in this turn."""
    held: int = 0
    """Tavla: bit p is set if one checker on point p may not move on in this turn."""

    @property
    def checkers(self) -> int:
        """All checkers of the side, those borne off included."""
        return sum(self.row)

    @property
    def pips(self) -> int:
        """What all checkers have still to go."""
        return sum(point * n for point, n in enumerate(self.row))

    @property
    def all_off(self) -> bool:
        """Whether the last checker has been borne off."""
        return not any(self.row[1:])

    @property
    def all_home(self) -> bool:
        """Whether no checker is outside the home table."""
        return not any(self.row[HOME + 1 :])

    @property
    def farthest(self) -> int:
        """The number of the point on which the last checker is; 0 if all are off."""
        return next((point for point in range(HAND, OFF, -1) if self.row[point]), OFF)

    def moved(self, source: int, target: int, checkers: int = 1) -> Side:
        """Return the side after some of its checkers went from one place to another."""
        row = list(self.row)
        row[source] -= checkers
        row[target] += checkers
        return fast_evolve(self, row=tuple(row))

    def marked(self, mark: Mark) -> Side:
        """Return the side with a mark added."""
        return self if mark in self.marks else fast_evolve(self, marks=self.marks | mark)


def side(points: Mapping[int, int]) -> Side:
    """Return a side with this many checkers on each of these places; the other places are empty."""
    row = [0] * _CELLS
    for place, checkers in points.items():
        row[place] = checkers
    return Side(tuple(row))


@frozen(slots=False)
class Sides:
    """The board, seen by the player on roll."""

    own: Side
    opponent: Side

    def __hash__(self) -> int:
        """Hash the checkers only: boards are looked up often, and few differ in nothing but what is remembered."""
        return hash((self.own.row, self.opponent.row))

    def swapped(self) -> Sides:
        """Return the same board seen by the other player."""
        return Sides(self.opponent, self.own)
