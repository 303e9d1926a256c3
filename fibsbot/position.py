"""Position, Move and Play: the internal position model, immutable, seen by the player on roll.

Points are numbered from the view of the player on roll: 1 is the ace point, 24 the farthest, 25 the bar, 0 is off.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from functools import cached_property, lru_cache
from itertools import starmap
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Self

from attrs import field, frozen

CHECKERS: Final = 15
"""Checkers of each side."""
BAR: Final = 25
"""Where a checker of the player on roll stands when it was hit."""
OFF: Final = 0
"""Where a move ends that bears a checker off."""


@frozen(slots=False)
class Move:
    """One checker's move by one number of the dice."""

    source: int
    """Point left, 1 to 24, or BAR."""
    target: int
    """Point reached, 1 to 24, or OFF."""

    @property
    def pips(self) -> int:
        """Points passed; a checker borne off with a higher number passes fewer than the die shows."""
        return self.source - self.target

    def make(self, cells: list[int]) -> None:
        """Change the cells of a `Position` to those after this own move, which hits a blot; legality is not checked."""
        source, target = self.source, self.target
        cells[source] -= 1
        if target != OFF:
            if cells[target] == -1:
                cells[target] = 0
                cells[0] -= 1
            cells[target] += 1

    def __str__(self) -> str:
        """Write the move as people do: `24/18`, `bar/22`, `6/off`. A hit is not marked: only the board shows it."""
        source = "bar" if self.source == BAR else str(self.source)
        return f"{source}/{self.target or 'off'}"


_ENDS: Final = attrgetter("source", "target")
_move: Final = lru_cache(1024)(Move)
"""All moves of a board are a few hundred, and each is needed very often."""


if TYPE_CHECKING:  # mypy takes a converter's type from its signature

    def _cells(_: Iterable[int]) -> tuple[int, ...]: ...
    def _moves(_: Iterable[Move]) -> tuple[Move, ...]: ...

else:
    _cells = _moves = tuple


@frozen
class Play:
    """A whole turn: no move (a dance) to four."""

    moves: tuple[Move, ...] = field(default=(), converter=_moves)
    """In an order in which they can be made."""

    @classmethod
    def of(cls, *moves: tuple[int, int]) -> Self:
        """Build a play from the source and target of each move."""
        return cls(starmap(_move, moves))

    def __len__(self) -> int:
        """Return how many moves the play has."""
        return len(self.moves)

    def __repr__(self) -> str:
        """Return the moves as text: `Play('8/5 6/5')`."""
        return f"Play({str(self)!r})"

    def __str__(self) -> str:
        """Write the moves as people do, equal ones together: `24/18(2) 13/7`; hits are not marked.

        `notation.format_play` knows the board, and so marks hits and joins the moves of a checker.
        """
        moves = {move: self.moves.count(move) for move in self.ordered}
        return (
            " ".join(f"{move}({times})" if times > 1 else str(move) for move, times in moves.items()) or "cannot move"
        )

    @property
    def ordered(self) -> list[Move]:
        """The moves from the farthest checker to the nearest."""
        return sorted(self.moves, key=_ENDS, reverse=True)


class Flaw(enum.Flag):
    """Faults of a position; VALID is the absence of all."""

    VALID = 0
    WRONG_LENGTH = enum.auto()
    """Not 26 cells."""
    BAR_SIGN = enum.auto()
    """A bar holds checkers of the other side."""
    TOO_MANY_CHECKERS = enum.auto()
    """The player on roll has more than 15 checkers on the board."""
    TOO_MANY_OPPONENT_CHECKERS = enum.auto()
    BOTH_HAVE_WON = enum.auto()
    """Neither side has a checker left."""


@frozen(cache_hash=True, slots=False)
class Position:
    """Where the checkers stand, seen by the player on roll."""

    points: tuple[int, ...] = field(converter=_cells)
    """26 cells: 1 to 24 the points, 25 the player's bar, 0 the opponent's bar.

    Own checkers count positive, the opponent's negative.
    """

    @classmethod
    def start(cls) -> Self:
        """Return the opening position."""
        return cls((0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0))

    @classmethod
    def from_sides(cls, own: Iterable[int], opponent: Iterable[int]) -> Self:
        """Build a position from two rows of 25 counts (points 1 to 24, then the bar), each from its own side's view.

        Raises ValueError for rows of another length.
        """
        mine, theirs = tuple(own), tuple(opponent)
        if (len(mine), len(theirs)) != (BAR, BAR):
            raise ValueError(
                f"expected {BAR} counts of checkers for each side, points 1 to 24 and the bar, "
                f"got {len(mine)} and {len(theirs)}"
            )
        cells = [0] * 26
        cells[0] = -theirs[24]
        cells[BAR] = mine[24]
        for point in range(1, 25):
            cells[point] = mine[point - 1] - theirs[24 - point]
        return cls(tuple(cells))

    @cached_property
    def off(self) -> int:
        """Own checkers borne off."""
        off = CHECKERS
        for n in self.points:
            if n > 0:
                off -= n
        return off

    @cached_property
    def opponent_off(self) -> int:
        """The opponent's checkers borne off."""
        off = CHECKERS
        for n in self.points:
            if n < 0:
                off += n
        return off

    @property
    def bar(self) -> int:
        """Own checkers on the bar."""
        return self.points[BAR]

    @property
    def opponent_bar(self) -> int:
        """The opponent's checkers on the bar."""
        return -self.points[0]

    @cached_property
    def pips(self) -> int:
        """Own pip count: what all own checkers have still to go."""
        pips = 0
        for point, n in enumerate(self.points):
            if n > 0:
                pips += n * point
        return pips

    @cached_property
    def opponent_pips(self) -> int:
        """The opponent's pip count."""
        pips = 0
        for point, n in enumerate(self.points):
            if n < 0:
                pips -= n * (BAR - point)
        return pips

    @property
    def all_home(self) -> bool:
        """Whether the player on roll may bear off: no checker beyond the home board or on the bar."""
        return all(n <= 0 for n in self.points[7:])

    @property
    def over(self) -> bool:
        """Whether one side has borne off all its checkers."""
        return max(self.points) <= 0 or min(self.points) >= 0

    @property
    def contact(self) -> bool:
        """Whether the sides can still meet: some own checker has an opponent's checker ahead of it."""
        points = self.points
        own_last = next((point for point in range(BAR, 0, -1) if points[point] > 0), 0)
        opponent_last = next((point for point in range(own_last) if points[point] < 0), BAR)
        return own_last > opponent_last

    def swapped(self) -> Position:
        """Return the same position seen by the other player."""
        return Position(tuple([-n for n in self.points[::-1]]))  # a list is built twice as fast as a generator runs

    def after(self, move: Move) -> Position:
        """Return the position after one own move, which hits a blot; legality is not checked."""
        return self.play(Play((move,)))

    def play(self, play: Play) -> Position:
        """Return the position after a whole own play, still seen by the player who made it; legality is not checked."""
        cells = list(self.points)
        for move in play.moves:
            move.make(cells)
        return Position(tuple(cells))

    def status(self) -> Flaw:
        """Return everything that is wrong with this position."""
        if len(self.points) != 26:
            return Flaw.WRONG_LENGTH
        flaws = Flaw.VALID
        if self.points[BAR] < 0 or self.points[0] > 0:
            flaws |= Flaw.BAR_SIGN
        own = sum([n for n in self.points if n > 0])
        other = own - sum(self.points)
        if own > CHECKERS:
            flaws |= Flaw.TOO_MANY_CHECKERS
        if other > CHECKERS:
            flaws |= Flaw.TOO_MANY_OPPONENT_CHECKERS
        if own == 0 == other:
            flaws |= Flaw.BOTH_HAVE_WON
        return flaws

    def check(self) -> None:
        """Raise ValueError if anything is wrong with this position."""
        if flaws := self.status():
            raise ValueError(f"expected a possible position, got one with {flaws.name}: {self.points}")
