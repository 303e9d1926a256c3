"""Arrows that show a play on a picture of a board."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final

from attrs import field, frozen

from fibsbot.drawing.layout import RADIUS, XY, Layout
from fibsbot.drawing.markup import coord
from fibsbot.drawing.scene import ShownPlay
from fibsbot.drawing.themes import ColourRole, Theme, paint
from fibsbot.notation.play_notation import Path

BEND: Final = 0.16
"""Bend of an arrow, as a fraction of its length."""
HEAD: Final = 19.0
"""Length of an arrow's head."""
BADGE: Final = 13
"""Radius of the badge with a number of checkers."""
TIMES_SIGN: Final = "\N{MULTIPLICATION SIGN}"


@frozen
class Arrow:
    """The path of one checker, or of several with the same path."""

    spots: tuple[XY, ...]
    """Points where it touches the board."""
    times: int


@frozen
class _Curve:
    """A bent line from one spot to another."""

    start: XY
    bend: XY
    end: XY

    def at(self, part: float) -> XY:
        """Return a spot on the line; 0 is its start, 1 its end."""
        rest = 1 - part
        x, y = (
            rest * rest * a + 2 * rest * part * b + part * part * c
            for a, b, c in zip(self.start, self.bend, self.end, strict=True)
        )
        return x, y


@frozen
class _Stacks:
    """Stacks of the moving player, with the checkers that have left and arrived."""

    layout: Layout
    row: tuple[int, ...]
    below: bool
    gone: Counter[int] = field(factory=Counter)
    come: Counter[int] = field(factory=Counter)

    def leave(self, point: int, times: int) -> XY:
        index = max(self.row[point] - self.gone[point] - 1, 0)
        self.gone[point] += times
        return self.layout.stack_spot(point, index, below=self.below)

    def touch(self, point: int) -> XY:
        return self.layout.stack_spot(point, self.row[point], below=self.below)

    def arrive(self, point: int, times: int) -> XY:
        index = self.row[point] + self.come[point]
        self.come[point] += times
        return self.layout.stack_spot(point, index, below=self.below)


def arrows_of(shown: ShownPlay, layout: Layout) -> list[Arrow]:
    """Return an arrow for each path of checkers."""
    board = _Stacks(layout, shown.row, shown.below)
    return [_arrow(path, len(list(group)), board) for path, group in groupby(shown.paths)]


def _arrow(path: Path, times: int, board: _Stacks) -> Arrow:
    first, *between, last = path
    start = board.leave(first, times)
    return Arrow((start, *map(board.touch, between), board.arrive(last, times)), times)


def hits_of(shown: ShownPlay, layout: Layout) -> list[XY]:
    """Return the coordinates of checkers that are hit or pinned."""
    return [layout.stack_spot(point, 0, below=shown.below) for point in shown.hits]


def draw_arrows(shown: ShownPlay, layout: Layout, theme: Theme) -> Iterator[str]:
    """Draw a play: arrows, a ring around each checker that is hit, and the numbers of checkers with the same path."""
    arrows = arrows_of(shown, layout)
    lines = "".join(_line(_curves(arrow.spots, layout)) for arrow in arrows)
    heads = "".join(_head(_curves(arrow.spots, layout)[-1]) for arrow in arrows)
    rings = "".join(f'<circle cx="{coord(x)}" cy="{coord(y)}" r="{RADIUS + 1}"/>' for x, y in hits_of(shown, layout))
    for role, line, head in ((ColourRole.OUTLINE, 9, 4), (ColourRole.ARROW, 5, 0)):
        yield f'<g stroke-linecap="round" stroke-linejoin="round"{paint(role, theme)}>'
        yield f'<path d="{lines}" fill-opacity="0" stroke-width="{line}"/>'
        yield f'<path d="{heads}" stroke-width="{head}"/>'
        if rings:
            yield f'<g fill-opacity="0" stroke-width="{line - 1}">{rings}</g>'
        yield "</g>"
    for arrow in arrows:
        if arrow.times > 1:
            yield from _badge(arrow, layout, theme)


def _curves(spots: Sequence[XY], layout: Layout) -> list[_Curve]:
    return [_curve(start, end, layout) for start, end in pairwise(spots)]


def _curve(start: XY, end: XY, layout: Layout) -> _Curve:
    """Bend a line towards the middle of the board, away from the checkers between."""
    (x, y), (to_x, to_y) = start, end
    middle = (x + to_x) / 2, (y + to_y) / 2
    across = (to_y - y) * BEND, (x - to_x) * BEND
    sign = 1 if (layout.middle - middle[1]) * across[1] >= 0 else -1
    return _Curve(start, (middle[0] + sign * across[0], middle[1] + sign * across[1]), end)


def _line(curves: Sequence[_Curve]) -> str:
    """Return the path of an arrow's line, which ends within its head."""
    text = "M{} {}".format(*map(coord, curves[0].start))
    for number, curve in enumerate(curves, 1):
        end = _base(curve)[0] if number == len(curves) else curve.end
        text += "Q{} {} {} {}".format(*map(coord, (*curve.bend, *end)))
    return text


def _base(curve: _Curve) -> tuple[XY, XY]:
    """Return the middle of the back of an arrow's head, and the direction in which it points."""
    length = max(math.dist(curve.start, curve.end), 1.0)
    back = curve.at(max(1 - HEAD / length, 0.0))
    dx, dy = curve.end[0] - back[0], curve.end[1] - back[1]
    size = math.hypot(dx, dy) or 1.0
    return back, (dx / size, dy / size)


def _head(curve: _Curve) -> str:
    (x, y), (dx, dy) = _base(curve)
    wide = HEAD * 0.6
    corners = ((x - dy * wide, y + dx * wide), (x + dy * wide, y - dx * wide))
    tip = "{} {}".format(*map(coord, curve.end))
    return f"M{tip}L{'L'.join('{} {}'.format(*map(coord, corner)) for corner in corners)}Z"


def _badge(arrow: Arrow, layout: Layout, theme: Theme) -> Iterator[str]:
    curves = _curves(arrow.spots, layout)
    x, y = curves[0].at(0.5)
    place = f'x="{coord(x)}" y="{coord(y + 5.5)}" text-anchor="middle" font-size="16" font-weight="700"'
    arrow_paint, outline = paint(ColourRole.ARROW, theme), paint(ColourRole.OUTLINE, theme)
    yield f'<g stroke-width="4"{outline}><circle cx="{coord(x)}" cy="{coord(y)}" r="{BADGE + 2}"/></g>'
    yield f'<g stroke-width="0"{arrow_paint}><circle cx="{coord(x)}" cy="{coord(y)}" r="{BADGE}"/></g>'
    yield f"<text {place}{paint(ColourRole.ON_ARROW, theme)}>{TIMES_SIGN}{arrow.times}</text>"
