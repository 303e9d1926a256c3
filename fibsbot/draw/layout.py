"""Where on a picture of a board everything lies, in units of its viewBox."""

from __future__ import annotations

from typing import Final, TypeAlias

from attrs import frozen

from fibsbot.position import BAR, OFF

Spot: TypeAlias = tuple[float, float]
"""x from the left, y from above."""

POINT: Final = 40
"""Width of a point."""
RADIUS: Final = 17.5
"""Of a checker, to the middle of its outline."""
PITCH: Final = 37
"""From one checker of a heap to the next."""
STACK: Final = 5
"""Checkers of a heap that are shown; of more the number is told."""
SLAB: Final = 12.2
"""From one checker that is off to the next; they stand on edge."""
MARGIN: Final = 6
EDGE: Final = 8
"""Of wood."""
TRAY: Final = 50
BAR_WIDTH: Final = 44
NUMBERS: Final = 22
"""Height of the wood with the points' numbers."""
STRIP: Final = 38
"""Height of what tells of a player."""
HALF: Final = 218
"""From the end of a point to the middle of the board."""
SIX: Final = 6 * POINT
LEFT: Final = MARGIN + EDGE + TRAY + EDGE
"""Where the left half of the points begins."""
RIGHT: Final = LEFT + SIX + BAR_WIDTH
WIDTH: Final = RIGHT + SIX + EDGE + TRAY + EDGE + MARGIN


@frozen
class Layout:
    """Where everything lies on one picture. `below` says which side of the board is meant."""

    left: bool
    """Whether home is on the left."""
    bare: bool

    @property
    def frame_top(self) -> float:
        """Where the wood begins."""
        return MARGIN + (0 if self.bare else STRIP)

    @property
    def top(self) -> float:
        """Where the field begins."""
        return self.frame_top + NUMBERS

    @property
    def middle(self) -> float:
        """The middle of the field."""
        return self.top + HALF

    @property
    def bottom(self) -> float:
        """Where the field ends."""
        return self.middle + HALF

    @property
    def frame_bottom(self) -> float:
        """Where the wood ends."""
        return self.bottom + NUMBERS

    @property
    def height(self) -> float:
        """Height of the picture."""
        return self.frame_bottom + MARGIN + (0 if self.bare else STRIP)

    def across(self, x: float) -> float:
        """Return where something lies whose place is known for a home on the right."""
        return WIDTH - x if self.left else x

    @property
    def off(self) -> float:
        """The middle of the tray for checkers that are off, from the left."""
        return self.across(WIDTH - MARGIN - EDGE - TRAY / 2)

    @property
    def cube(self) -> float:
        """The middle of the cube's tray, from the left."""
        return self.across(MARGIN + EDGE + TRAY / 2)

    @property
    def bar(self) -> float:
        """The middle of the bar, from the left."""
        return WIDTH / 2

    def side(self, *, below: bool) -> Spot:
        """Return the middle of the half of the board where a side's dice lie."""
        return self.across((RIGHT if below else LEFT) + SIX / 2), self.middle

    def column(self, point: int) -> float:
        """Return the middle of a point from the left; 1 to 24 as the side below counts them."""
        place = 12 - point if point <= 12 else point - 13
        return self.across((LEFT if place < 6 else RIGHT - SIX) + (place + 0.5) * POINT)

    def heap(self, point: int, index: int, *, below: bool) -> Spot:
        """Return where a checker of a heap lies; `index` counts from the outer end, or on the bar from the middle.

        Args:
            point: as its side counts, also BAR and OFF.
            index: 0 is the first checker; beyond the last one shown they lie on each other.
            below: whose checker it is.
        """
        if point == BAR:
            away = 30.0 + min(index, STACK - 1) * PITCH
            return self.bar, self.middle + (away if below else -away)
        if point == OFF:
            away = (index + 0.5) * SLAB + 2
            return self.off, self.bottom - away if below else self.top + away
        seen = point if below else BAR - point
        away = RADIUS + 2 + min(index, STACK - 1) * PITCH
        return self.column(seen), self.bottom - away if seen <= 12 else self.top + away
