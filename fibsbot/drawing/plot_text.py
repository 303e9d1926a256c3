"""Curves in a terminal, in braille dots or ASCII."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from fibsbot.drawing.axes import Scale, Tick, ticks, value_range

BRAILLE: Final = 0x2800
"""Empty braille character; each dot adds a bit."""
_BITS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of the dots, by row and column."""


def curve_text(  # noqa: PLR0913 - the parts of a chart
    points: Iterable[tuple[float, float]],
    *,
    width: int = 72,
    height: int = 12,
    x: Scale = Scale.NUMBER,
    y: Scale = Scale.NUMBER,
    unicode: bool = True,
) -> list[str]:
    """Return a curve and its axes as lines of text.

    Args:
        points: x and y of each point, x rising; points that are not finite are left out.
        width: characters of the longest line.
        height: lines of the plot; the x axis takes two more.
        x: kind of the values of x.
        y: kind of the values of y.
        unicode: whether the terminal can show braille; otherwise only ASCII is used.
    """
    finite = [point for point in points if all(map(math.isfinite, point))]
    if not finite:
        return ["nothing yet"]
    xs, ys = value_range([point[0] for point in finite], x), value_range([point[1] for point in finite], y)
    rows = _labels(ticks(*ys, y, max(2, height // 3)), ys, height)
    margin = max((len(text) for text in rows.values()), default=0)
    columns = max(width - margin - 2, 8)
    dots = (2 * columns, 4 * height) if unicode else (columns, height)
    canvas = _line_dots([_dot(point, xs, ys, dots) for point in finite])
    axis, tee, corner = ("│", "┤", "└") if unicode else ("|", "+", "+")
    plot = _braille(canvas, columns, height) if unicode else _ascii(canvas, columns, height)
    return [
        *(
            f"{rows.get(row, ''):>{margin}} {tee if row in rows else axis}{line}".rstrip()
            for row, line in enumerate(plot)
        ),
        f"{'':>{margin}} {corner}{('─' if unicode else '-') * columns}",
        f"{'':>{margin}}  {_x_labels(ticks(*xs, x, max(2, columns // 14)), xs, columns)}".rstrip(),
    ]


def _labels(marks: Sequence[Tick], ys: tuple[float, float], height: int) -> dict[int, str]:
    """Return the labels of the y axis by row."""
    low, high = ys
    return {round((high - tick.value) / (high - low) * (height - 1)): tick.text for tick in marks}


def _x_labels(marks: Sequence[Tick], xs: tuple[float, float], columns: int) -> str:
    line = ""
    for mark in marks:
        at = round((mark.value - xs[0]) / (xs[1] - xs[0]) * (columns - 1)) - len(mark.text) // 2
        at = min(max(at, 0), columns - len(mark.text))
        if at >= len(line) + (2 if line else 0):
            line += " " * (at - len(line)) + mark.text
    return line


def _dot(
    point: tuple[float, float], xs: tuple[float, float], ys: tuple[float, float], dots: tuple[int, int]
) -> tuple[int, int]:
    """Return column and row of a value, rows from above."""
    across = (point[0] - xs[0]) / (xs[1] - xs[0])
    up = (point[1] - ys[0]) / (ys[1] - ys[0])
    return round(across * (dots[0] - 1)), round((1 - up) * (dots[1] - 1))


def _line_dots(path: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return all dots of the line through these points."""
    return {*path[:1], *(dot for start, end in pairwise(path) for dot in _line(start, end))}


def _line(start: tuple[int, int], end: tuple[int, int]) -> Iterator[tuple[int, int]]:
    (x, y), (to_x, to_y) = start, end
    steps = max(abs(to_x - x), abs(to_y - y), 1)
    for step in range(steps + 1):
        yield round(x + (to_x - x) * step / steps), round(y + (to_y - y) * step / steps)


def _braille(canvas: set[tuple[int, int]], columns: int, height: int) -> Iterator[str]:
    cells = [[0] * columns for _ in range(height)]
    for x, y in canvas:
        cells[y // 4][x // 2] |= _BITS[y % 4][x % 2]
    for row in cells:
        yield "".join(chr(BRAILLE + bits) if bits else " " for bits in row)


def _ascii(canvas: set[tuple[int, int]], columns: int, height: int) -> Iterator[str]:
    for row in range(height):
        yield "".join("*" if (column, row) in canvas else " " for column in range(columns))
