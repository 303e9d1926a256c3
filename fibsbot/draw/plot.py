"""Curves and bars as SVG: pure functions that return text. `curve_text` draws a curve in a terminal."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from attrs import field, frozen

from fibsbot.draw.axes import (
    TEXT,
    TITLE,
    Axes,
    Frame,
    Scale,
    Tick,
    format_value,
    nothing_yet,
    plot_frame,
    seconds,
    svg_document,
    ticks,
    value_range,
    x_axis,
    y_grid,
)
from fibsbot.draw.markup import clean, coord, escape, text_width
from fibsbot.draw.plot_text import curve_text
from fibsbot.draw.themes import DASHES, SERIES, Role, Theme, paint

__all__ = ["Bar", "Dot", "Mark", "Scale", "Series", "Theme", "Tick", "bars_svg", "curve_svg", "curve_text", "seconds"]

MAX_LABEL: Final = 24
"""Characters of a label at most."""
MAX_DOTTED: Final = 40
"""A series of so many points has a dot at each."""
PER_PIXEL: Final = 1
"""Points of a series to a unit of width; of more only the least and the greatest can be seen."""


def _points(points: Iterable[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    return tuple((float(x), float(y)) for x, y in points)


@frozen
class Series:
    """A curve."""

    name: str
    points: tuple[tuple[float, float], ...] = field(converter=_points)
    """x and y of each point, x rising. Where one of them is no finite number the curve is interrupted."""
    band: tuple[tuple[float, float], ...] = field(default=(), converter=_points)
    """Least and greatest y of each point, such as a confidence interval; none, or as many as points."""


@frozen
class Mark:
    """Something to be told at a place of the x axis, such as where a game begins."""

    x: float
    text: str


@frozen
class Dot:
    """Something to be pointed out at a point of a curve, such as an error."""

    x: float
    y: float
    text: str
    """What it is, for those who point at it or cannot see it."""
    role: Role
    """Its colour."""
    square: bool = False
    """A square, for what differs from the others in more than in degree."""


@frozen
class Bar:
    """A bar, and what it is compared with."""

    label: str
    value: float
    low: float | None = None
    """The confidence interval, where there is one."""
    high: float | None = None
    expected: float | None = None
    """What the value should be, where that is known: drawn as a line across the bar."""


def curve_svg(  # noqa: PLR0913 - what a plot is made of
    series: Sequence[Series],
    *,
    title: str,
    description: str = "",
    x_label: str = "",
    y_label: str = "",
    x: Scale = Scale.NUMBER,
    y: Scale = Scale.NUMBER,
    y_range: tuple[float, float] | None = None,
    zero: bool = False,
    marks: Sequence[Mark] = (),
    dots: Sequence[Dot] = (),
    x_ticks: Sequence[Tick] | None = None,
    theme: Theme = Theme.AUTO,
    width: int = 720,
    height: int = 300,
) -> str:
    """Draw curves, such as equity by move or rating by time.

    The outermost element tells in `data-x` the values at the left and right end of the x axis, and in `data-plot` the
    left, top, right and bottom of the plot in units of its `viewBox`, for a page that wants to point at a value.

    Args:
        series: the curves, six at most; each has a colour and a dash of its own.
        title: stands above the plot.
        description: for those who cannot see it; without one it tells first and last value of each curve.
        x_label: what the x axis is.
        y_label: what the y axis is.
        x: how values along the x axis are written.
        y: how those along the y axis are.
        y_range: values of y that are always within the plot.
        zero: whether y = 0 is within the plot, with a line.
        marks: places of the x axis to be marked.
        dots: points to be pointed out.
        x_ticks: what is written along the x axis, where that is not its values.
        theme: which colours.
        width: of the picture, in units; text is 13 units high.
        height: of the picture.
    """
    if len(series) > len(SERIES):
        raise ValueError(f"expected {len(SERIES)} series at most, got {len(series)}")
    values = [point for it in series for point in it.points if _finite(point)]
    heights = [point[1] for point in values] + [it for one in series for pair in one.band for it in pair]
    xs = value_range([point[0] for point in values], x)
    low, high = value_range([*heights, *(y_range or ()), *([0.0] if zero else [])], y)
    x_marked, y_marked = (
        (ticks(*xs, x, max(2, width // 110)), ticks(low, high, y, max(2, height // 55))) if values else ([], [])
    )
    x_marked = x_marked if x_ticks is None else list(x_ticks)
    room = 0.04 * (high - low)
    axes = Axes((width, height), title, x_label, y_label, tuple(x_marked), tuple(y_marked), zero, theme)
    frame = plot_frame(axes, xs, (low - room, high + room), legend=len(series) > 1)
    body = [
        *y_grid(axes, frame),
        *x_axis(axes, frame),
        *_marks(marks, frame, theme),
        *(line for number, one in enumerate(series) for line in _curve(one, number, frame, theme)),
        *_dots(dots, frame, theme),
        *(_legend(series, frame, theme) if len(series) > 1 else ()),
        *([] if values else [nothing_yet(frame, theme)]),
    ]
    if not description:
        description = "\n".join(_describe_curve(one, x, y) for one in series)
    data = (
        f' data-x="{xs[0]:.10g} {xs[1]:.10g}"'
        f' data-plot="{" ".join(coord(it) for it in (frame.left, frame.top, frame.right, frame.bottom))}"'
    )
    roles = (*SERIES[: len(series)], Role.GRID, Role.AXIS, *{dot.role: None for dot in dots})
    return svg_document(axes, description, body, roles, data)


def bars_svg(  # noqa: PLR0913 - what a plot is made of
    bars: Sequence[Bar],
    *,
    title: str,
    description: str = "",
    x_label: str = "",
    y_label: str = "",
    y: Scale = Scale.NUMBER,
    y_range: tuple[float, float] | None = None,
    theme: Theme = Theme.AUTO,
    width: int = 720,
    height: int = 300,
) -> str:
    """Draw bars, such as how often each number was thrown, or results with their confidence intervals.

    Args:
        bars: from left to right.
        title: stands above the plot.
        description: for those who cannot see it; without one it tells each value.
        x_label: what the bars are.
        y_label: what their heights are.
        y: how values are written.
        y_range: values that are always within the plot; 0 is anyway.
        theme: which colours.
        width: of the picture, in units; text is 13 units high.
        height: of the picture.
    """
    heights = [it for bar in bars for it in (bar.value, bar.low, bar.high, bar.expected) if it is not None]
    low, high = value_range([0.0, *heights, *(y_range or ())], y)
    room = 0.05 * (high - low)
    ys = (low - room if low < 0 else low, high + room if high > 0 else high)
    y_ticks = tuple(ticks(low, high, y, max(2, height // 55))) if bars else ()
    axes = Axes((width, height), title, x_label, y_label, (), y_ticks, low < 0, theme)
    frame = plot_frame(axes, (0.0, float(max(len(bars), 1))), ys, legend=False)
    body = [
        *y_grid(axes, frame),
        *x_axis(axes, frame),
        *_bars(bars, frame, theme),
        *_bar_labels(bars, frame, theme),
        *([] if bars else [nothing_yet(frame, theme)]),
    ]
    description = description or "\n".join(_describe_bar(bar, y) for bar in bars)
    roles = (Role.SERIES_1, Role.GRID, Role.AXIS, Role.EXPECTED, Role.CASING)
    return svg_document(axes, description, body, roles)


def _marks(marks: Sequence[Mark], frame: Frame, theme: Theme) -> Iterator[str]:
    taken = -math.inf
    for mark in sorted(marks, key=lambda it: it.x):
        if not frame.xs[0] <= mark.x <= frame.xs[1]:
            continue
        x, text = frame.x(mark.x), clean(mark.text, MAX_LABEL)
        axis = paint(Role.AXIS, theme)
        yield f'<path d="M{coord(x)} {coord(frame.top)}V{coord(frame.bottom)}" stroke-dasharray="1 4"{axis}/>'
        end = x + 4 + text_width(text, TEXT)
        if x >= taken and end <= frame.right + 14:
            faint = paint(Role.FAINT, theme)
            yield f'<text x="{coord(x + 4)}" y="{coord(frame.top + TEXT)}"{faint}>{escape(text)}</text>'
            taken = end + 4


def _dots(dots: Sequence[Dot], frame: Frame, theme: Theme) -> Iterator[str]:
    for dot in dots:
        x, y = frame.x(dot.x), min(max(frame.y(dot.y), frame.top), frame.bottom)
        shape = (
            f'<rect x="{coord(x - 4)}" y="{coord(y - 4)}" width="8" height="8"'
            if dot.square
            else f'<circle cx="{coord(x)}" cy="{coord(y)}" r="4.5"'
        )
        name = "rect" if dot.square else "circle"
        yield f"{shape}{paint(dot.role, theme)}><title>{escape(clean(dot.text, 200))}</title></{name}>"


def _legend(series: Sequence[Series], frame: Frame, theme: Theme) -> Iterator[str]:
    x, y = 12.0, 12.0 + TITLE + TEXT + 8
    for number, one in enumerate(series):
        name = clean(one.name, MAX_LABEL)
        line = f"M{coord(x)} {coord(y - TEXT * 0.35)}h26"
        yield f'<path d="{line}" stroke-width="2.5"{_dash(number)}{_line(number, theme)}/>'
        yield f'<text x="{coord(x + 32)}" y="{coord(y)}"{paint(Role.INK, theme)}>{escape(name)}</text>'
        x += 32 + text_width(name, TEXT) + 18
        if x > frame.right:
            return


# -- curves ---------------------------------------------------------------------------------------------------------


def _finite(point: tuple[float, float]) -> bool:
    return all(map(math.isfinite, point))


def _line(number: int, theme: Theme) -> str:
    return paint(SERIES[number], theme)


def _dash(number: int) -> str:
    return f' stroke-dasharray="{DASHES[number]}"' if DASHES[number] else ""


def _curve(one: Series, number: int, frame: Frame, theme: Theme) -> Iterator[str]:
    if one.band:
        yield from _band(one, number, frame, theme)
    runs = [list(run) for finite, run in itertools.groupby(one.points, _finite) if finite]
    drawn = [[(frame.x(x), frame.y(y)) for x, y in run] for run in runs]
    path = "".join(_path(_thinned(run)) for run in drawn)
    if path:
        line = 'fill-opacity="0" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"'
        yield f'<path d="{path}" {line}{_dash(number)}{_line(number, theme)}/>'
    count = sum(map(len, runs))
    dots = [point for run in drawn for point in run if count <= MAX_DOTTED or len(run) == 1]
    if dots:
        radius = 3 if count <= MAX_DOTTED else 2
        circles = "".join(f'<circle cx="{coord(x)}" cy="{coord(y)}" r="{radius}"/>' for x, y in dots)
        yield f'<g stroke-width="0"{_line(number, theme)}>{circles}</g>'


def _band(one: Series, number: int, frame: Frame, theme: Theme) -> Iterator[str]:
    edges = [
        (frame.x(x), frame.y(low), frame.y(high))
        for (x, y), (low, high) in zip(one.points, one.band, strict=True)
        if _finite((x, y)) and _finite((low, high))
    ]
    if len(edges) > 1:
        upper = _thinned([(x, high) for x, _, high in edges])
        lower = _thinned([(x, low) for x, low, _ in edges])[::-1]
        path = f"{_path([*upper, *lower])}Z"
        yield f'<path d="{path}" fill-opacity="0.18" stroke-width="0"{_line(number, theme)}/>'


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Leave out points that nobody could see: of each unit of width the first, least, greatest and last stay."""
    if len(points) < 2 or len(points) <= PER_PIXEL * (points[-1][0] - points[0][0]):
        return list(points)
    kept: list[tuple[float, float]] = []
    for _, group in itertools.groupby(enumerate(points), lambda it: int(it[1][0])):
        column = list(group)
        picked = {column[0], column[-1], *(choose(column, key=lambda it: it[1][1]) for choose in (min, max))}
        kept += [point for _, point in sorted(picked)]
    return kept


def _path(points: Sequence[tuple[float, float]]) -> str:
    """Return a path through points; each is written by how far it is from the one before."""
    text, before = "", (0.0, 0.0)
    for number, (x, y) in enumerate((round(x, 1), round(y, 1)) for x, y in points):
        if number == 0:
            text = f"M{coord(x)} {coord(y)}"
        else:
            text += f"{'l' if number == 1 else ' '}{coord(x - before[0])} {coord(y - before[1])}"
        before = (x, y)
    return text


def _describe_curve(one: Series, x: Scale, y: Scale) -> str:
    finite = [point for point in one.points if _finite(point)]
    if not finite:
        return f"{clean(one.name)}: nothing yet"
    ends = " to ".join(f"{format_value(value, y)} at {format_value(at, x)}" for at, value in (finite[0], finite[-1]))
    low, high = min(value for _, value in finite), max(value for _, value in finite)
    return (
        f"{clean(one.name)}: {ends}; between {format_value(low, y)} and {format_value(high, y)}, {len(finite)} points"
    )


# -- bars -----------------------------------------------------------------------------------------------------------


def _bars(bars: Sequence[Bar], frame: Frame, theme: Theme) -> Iterator[str]:
    base = frame.y(max(0.0, frame.ys[0]))
    rects, whiskers, lines = "", "", ""
    for number, bar in enumerate(bars):
        middle, half = frame.x(number + 0.5), 0.36 * (frame.x(1) - frame.x(0))
        top = frame.y(bar.value)
        box = (middle - half, min(top, base), 2 * half, abs(base - top))
        rects += '<rect x="{}" y="{}" width="{}" height="{}"/>'.format(*map(coord, box))
        if bar.low is not None and bar.high is not None:
            arm = min(half * 0.4, 6.0)
            low, high = frame.y(bar.low), frame.y(bar.high)
            whiskers += f"M{coord(middle)} {coord(low)}V{coord(high)}" + "".join(
                f"M{coord(middle - arm)} {coord(it)}h{coord(2 * arm)}" for it in (low, high)
            )
        if bar.expected is not None:
            lines += f"M{coord(middle - half * 1.2)} {coord(frame.y(bar.expected))}h{coord(half * 2.4)}"
    yield f'<g stroke-width="0" fill-opacity="0.75"{paint(Role.SERIES_1, theme)}>{rects}</g>'
    if whiskers:
        yield f'<path d="{whiskers}" stroke-width="1.5"{paint(Role.EXPECTED, theme)}/>'
    if lines:
        yield f'<path d="{lines}" stroke-width="2" stroke-dasharray="4 3"{paint(Role.EXPECTED, theme)}/>'


def _bar_labels(bars: Sequence[Bar], frame: Frame, theme: Theme) -> Iterator[str]:
    """Write the labels, all of them or every second, third and so on, as room permits."""
    labels = [clean(bar.label, MAX_LABEL) for bar in bars]
    each = frame.x(1) - frame.x(0)
    widest = max((text_width(label, TEXT) for label in labels), default=0.0) + 6
    every = max(1, math.ceil(widest / each))
    yield f'<g text-anchor="middle"{paint(Role.INK, theme)}>'
    for number in range(0, len(labels), every):
        x, y = frame.x(number + 0.5), frame.bottom + TEXT + 6
        yield f'<text x="{coord(x)}" y="{coord(y)}">{escape(labels[number])}</text>'
    yield "</g>"


def _describe_bar(bar: Bar, scale: Scale) -> str:
    said = f"{clean(bar.label)}: {format_value(bar.value, scale)}"
    if bar.low is not None and bar.high is not None:
        said += f" ({format_value(bar.low, scale)} to {format_value(bar.high, scale)})"
    return said if bar.expected is None else f"{said}, expected {format_value(bar.expected, scale)}"
