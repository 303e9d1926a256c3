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
PITCH: Final = 37
"""Distance between checkers of a stack."""
STACK: Final = 5
"""Maximum number of checkers drawn in a stack; more are shown as a number."""
SLAB: Final = 12.2
"""Distance between checkers borne off, which stand on edge."""
MARGIN: Final = 6
EDGE: Final = 8
"""Width of the frame."""
TRAY: Final = 50
BAR_WIDTH: Final = 44
NUMBERS: Final = 22
"""Height of the frame with the numbers of points."""
STRIP: Final = 38
"""Height of the strip of a player."""
HALF: Final = 218
"""Distance from the base of a point to the middle of the board."""
SIX: Final = 6 * POINT
LEFT: Final = MARGIN + EDGE + TRAY + EDGE
"""Left edge of the left half of the points."""
RIGHT: Final = LEFT + SIX + BAR_WIDTH
WIDTH: Final = RIGHT + SIX + EDGE + TRAY + EDGE + MARGIN
LIFT: Final = 16
"""How much higher a stack is drawn that stands on a checker of the other side."""


@frozen
class Layout:
    """Coordinates of one picture. `below` selects the side of the board."""

    left: bool
    """Whether home is on the left."""
    board_only: bool
    course: Course = Course.CONTRARY

    @cached_property
    def frame_top(self) -> float:
        """Upper edge of the frame."""
        return MARGIN + (0 if self.board_only else STRIP)

    @cached_property
    def top(self) -> float:
        """Upper edge of the field."""
        return self.frame_top + NUMBERS

    @cached_property
    def middle(self) -> float:
        """The middle of the field."""
        return self.top + HALF

    @cached_property
    def bottom(self) -> float:
        """Lower edge of the field."""
        return self.middle + HALF

    @cached_property
    def frame_bottom(self) -> float:
        """Lower edge of the frame."""
        return self.bottom + NUMBERS

    @property
    def height(self) -> float:
        """Height of the picture."""
        return self.frame_bottom + MARGIN + (0 if self.board_only else STRIP)

    def mirrored(self, x: float) -> float:
        """Return an x for the direction of play; `x` is that with home on the right."""
        return WIDTH - x if self.left else x

    @cached_property
    def off(self) -> float:
        """The middle of the tray for checkers that are off, from the left."""
        return self.mirrored(WIDTH - MARGIN - EDGE - TRAY / 2)

    def off_of(self, *, below: bool) -> float:
        """Return the middle of the tray for a side's checkers that are off: the one beside the end of its course."""
        return self.off if below or self.course.facing(1) in {1, 24} else self.cube

    @cached_property
    def cube(self) -> float:
        """The middle of the other tray, from the left; it has the cube."""
        return self.mirrored(MARGIN + EDGE + TRAY / 2)

    @property
    def bar(self) -> float:
        """The middle of the bar, from the left."""
        return WIDTH / 2

    def side(self, *, below: bool) -> XY:
        """Return the middle of the half of the board with the dice of a side."""
        return self.mirrored((RIGHT if below else LEFT) + SIX / 2), self.middle

    def column(self, point: int) -> float:
        """Return the middle of a point from the left; 1 to 24 as the side below counts them."""
        place = 12 - point if point <= 12 else point - 13
        return self.mirrored((LEFT if place < 6 else RIGHT - SIX) + (place + 0.5) * POINT)

    def stack_spot(self, point: int, index: int, *, below: bool) -> XY:
        """Return the centre of a checker in a stack; `index` counts from the base, or on the bar from the middle.

        Args:
            point: as its side counts, also BAR, OFF and IN_HAND.
            index: 0 is the first checker; beyond the last one shown they coincide.
            below: whose checker it is.
        """
        if point == BAR:
            away = 30.0 + min(index, STACK - 1) * PITCH
            return self.bar, self.middle + (away if below else -away)
        if point in {OFF, IN_HAND}:
            away = (index + 0.5) * SLAB + 2
            x = self.off_of(below=below) if point == OFF else self.cube
            return x, self.bottom - away if below else self.top + away
        seen = point if below else self.course.facing(point)
        away = RADIUS + 2 + min(index, STACK - 1) * PITCH
        return self.column(seen), self.bottom - away if seen <= 12 else self.top + away
