"""Coordinates of the parts of a board, in units of the viewBox."""

from __future__ import annotations

from functools import cached_property
from typing import Final, TypeAlias

from attrs import frozen

from fibsbot.notation.play_notation import IN_HAND
from fibsbot.position import BAR, OFF
from fibsbot.rules.sides import Course

XY: TypeAlias = tuple[float, float]
"""x from the left, y from above."""

POINT: Final = 40
"""Width of a point."""
RADIUS: Final = 17.5
"""Of a checker, to the middle of its outline."""
STACK: Final = 5
"""Maximum number of checkers drawn in a stack; more are shown as a number."""
STRIP: Final = 38
"""Height of the strip of a player."""
SIX: Final = 6 * POINT
LIFT: Final = 16
"""How much higher a stack is drawn that stands on a checker of the other side."""


@frozen
class Proportions:
    """Sizes that differ between boards of different shape."""

    half: float
    """Distance from the base of a point to the middle of the board."""
    apex: float
    """Length of a point."""
    pitch: float
    """Distance between checkers of a stack."""
    slab: float
    """Distance between checkers borne off, which stand on edge."""
    margin: float
    edge: float
    """Width of the frame."""
    tray: float
    bar: float
    """Width of the bar."""
    numbers: float
    """Height of the frame with the numbers of points."""
    cube: float
    """Size of the cube."""


USUAL: Final = Proportions(
    half=218, apex=186, pitch=37, slab=12.2, margin=6, edge=8, tray=50, bar=44, numbers=22, cube=42
)
NARROW: Final = Proportions(
    half=159, apex=136, pitch=26, slab=9, margin=2, edge=5, tray=36, bar=40, numbers=16, cube=30
)
"""For a telephone held upright, on which the board is turned by a quarter: on 390 pixels points are 44 pixels wide."""


@frozen
class Layout:
    """Coordinates of one picture. `below` selects the side of the board."""

    left: bool
    """Whether home is on the left."""
    board_only: bool
    course: Course = Course.CONTRARY
    proportions: Proportions = USUAL

    @cached_property
    def left_half(self) -> float:
        """Left edge of the left half of the points."""
        sizes = self.proportions
        return sizes.margin + sizes.edge + sizes.tray + sizes.edge

    @cached_property
    def right_half(self) -> float:
        """Left edge of the right half of the points."""
        return self.left_half + SIX + self.proportions.bar

    @cached_property
    def width(self) -> float:
        """Width of the picture."""
        return self.right_half + SIX + self.left_half

    @cached_property
    def frame_top(self) -> float:
        """Upper edge of the frame."""
        return self.proportions.margin + (0 if self.board_only else STRIP)

    @cached_property
    def top(self) -> float:
        """Upper edge of the field."""
        return self.frame_top + self.proportions.numbers

    @cached_property
    def middle(self) -> float:
        """The middle of the field."""
        return self.top + self.proportions.half

    @cached_property
    def bottom(self) -> float:
        """Lower edge of the field."""
        return self.middle + self.proportions.half

    @cached_property
    def frame_bottom(self) -> float:
        """Lower edge of the frame."""
        return self.bottom + self.proportions.numbers

    @property
    def height(self) -> float:
        """Height of the picture."""
        return self.frame_bottom + self.proportions.margin + (0 if self.board_only else STRIP)

    def mirrored(self, x: float) -> float:
        """Return an x for the direction of play; `x` is that with home on the right."""
        return self.width - x if self.left else x

    @cached_property
    def off(self) -> float:
        """The middle of the tray for checkers that are off, from the left."""
        return self.mirrored(self.width - self._tray)

    def off_of(self, *, below: bool) -> float:
        """Return the middle of the tray for a side's checkers that are off: the one beside the end of its course."""
        return self.off if below or self.course.facing(1) in {1, 24} else self.cube

    @cached_property
    def cube(self) -> float:
        """The middle of the other tray, from the left; it has the cube."""
        return self.mirrored(self._tray)

    @property
    def _tray(self) -> float:
        sizes = self.proportions
        return sizes.margin + sizes.edge + sizes.tray / 2

    @property
    def bar(self) -> float:
        """The middle of the bar, from the left."""
        return self.width / 2

    def side(self, *, below: bool) -> XY:
        """Return the middle of the half of the board with the dice of a side."""
        return self.mirrored((self.right_half if below else self.left_half) + SIX / 2), self.middle

    def column(self, point: int) -> float:
        """Return the middle of a point from the left; 1 to 24 as the side below counts them."""
        place = 12 - point if point <= 12 else point - 13
        return self.mirrored((self.left_half if place < 6 else self.right_half - SIX) + (place + 0.5) * POINT)

    def stack_spot(self, point: int, index: int, *, below: bool) -> XY:
        """Return the centre of a checker in a stack; `index` counts from the base, or on the bar from the middle.

        Args:
            point: as its side counts, also BAR, OFF and IN_HAND.
            index: 0 is the first checker; beyond the last one shown they coincide.
            below: whose checker it is.
        """
        if point == BAR:
            away = 30.0 + min(index, STACK - 1) * self.proportions.pitch
            return self.bar, self.middle + (away if below else -away)
        if point in {OFF, IN_HAND}:
            away = (index + 0.5) * self.proportions.slab + 2
            x = self.off_of(below=below) if point == OFF else self.cube
            return x, self.bottom - away if below else self.top + away
        seen = point if below else self.course.facing(point)
        away = RADIUS + 2 + min(index, STACK - 1) * self.proportions.pitch
        return self.column(seen), self.bottom - away if seen <= 12 else self.top + away

    def lifted(self, spot: XY) -> XY:
        """Return a spot moved towards the middle of the board, for a checker on top of one of the other side."""
        x, y = spot
        return x, y - LIFT if y > self.middle else y + LIFT
