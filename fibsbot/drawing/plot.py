"""Charts as SVG: curves and bars. Pure functions that return text."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from attrs import field, frozen

from fibsbot.drawing.axes import TEXT, TITLE, Axes, Scale, Tick, format_value, ticks, value_range
from fibsbot.drawing.markup import clean, coord, escape, svg_document, text_width
from fibsbot.drawing.themes import DASHES, SERIES, ColourRole, Theme, paint

MAX_LABEL: Final = 24
"""Maximum length of a label."""
MAX_DOTTED: Final = 40
"""A curve with at most this many points has a dot at each."""
NO_DATA: Final = "nothing yet"


def _points(points: Iterable[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    return tuple((float(x), float(y)) for x, y in points)


@frozen
class Series:
    """A curve."""

    name: str
    points: tuple[tuple[float, float], ...] = field(converter=_points)
    """x and y of each point, x rising. A point that is not finite interrupts the curve."""
    intervals: tuple[tuple[float, float], ...] = field(default=(), converter=_points)
    """The lowest and highest value that each point may have, drawn as a vertical line through it; empty for none."""


@frozen
class Annotation:
    """A text at a position of the x axis, such as the start of a game."""

    x: float
    text: str


@frozen
class Marker:
    """A highlighted point of a curve, such as an error."""

    x: float
    y: float
    text: str
    """Description, shown as a tooltip and read by screen readers."""
    role: ColourRole
    """Colour."""
    square: bool = False
    """Whether it is a square instead of a circle."""


@frozen
class Bar:
    """A bar."""

    label: str
    value: float
    expected: float | None = None
    """Expected value, drawn as a line across the bar."""


def curve_svg(  # noqa: PLR0913 - the parts of a chart
    series: Sequence[Series],
    *,
    title: str,
    x_label: str = "",
    y_label: str = "",
    x: Scale = Scale.NUMBER,
    y_range: tuple[float, float] = (math.nan, math.nan),
    zero: bool = False,
    annotations: Sequence[Annotation] = (),
    markers: Sequence[Marker] = (),
    x_ticks: Sequence[Tick] | None = None,
    theme: Theme = Theme.AUTO,
    width: int = 720,
    height: int = 300,
) -> str:
    """Draw curves, such as equity by move or rating by time.

    The root element has the range of x in `data-x`, and the left, top, right and bottom of the plot in units of its
    `viewBox` in `data-plot`, for scripts that show a value in the plot. Its description has the first and last value
    of each curve.

    Args:
        series: six curves at most; each has its own colour and dashes.
        title: title above the plot.
        x_label: label of the x axis.
        y_label: label of the y axis.
        x: kind of the values of x.
        y_range: values of y that the plot includes.
        zero: whether it includes y = 0, with the x axis there.
        annotations: texts at positions of the x axis.
        markers: highlighted points.
        x_ticks: ticks of the x axis, by default at its values.
        theme: colours.
        width: width of the picture; text is 13 units high.
        height: height of the picture.
    """
    if len(series) > len(SERIES):
        raise ValueError(f"expected {len(SERIES)} series at most, got {len(series)}")
    values = [point for curve in series for point in curve.points if _finite(point)]
    ends = [end for curve in series for interval in curve.intervals for end in interval]
    xs = value_range([point[0] for point in values], x)
    low, high = value_range([*(point[1] for point in values), *ends, *y_range, *([0.0] if zero else [])], Scale.NUMBER)
    margin = 0.04 * (high - low)
    labels = {tick.value: tick.text for tick in x_ticks or () if x is Scale.TIME}
    if x_ticks is None:
        x_ticks = ticks(*xs, x, max(2, width // 110)) if values else []
    y_ticks = ticks(low, high, Scale.NUMBER, max(2, height // 55)) if values else []
    ys = (low - margin, high + margin)
    axes = Axes((width, height), xs, ys, x_ticks, y_ticks, theme, title, x_label, y_label, legend=len(series) > 1)
    body = [
        *axes.draw(zero=zero),
        *(() if values else axes.note(NO_DATA)),
        *_annotations(annotations, axes),
        *(line for number, curve in enumerate(series) for line in _curve(curve, number, axes)),
        *(_marker(marker, axes) for marker in markers),
        *(_legend(series, axes) if axes.legend else ()),
    ]
    plot = " ".join(map(coord, (axes.left, axes.top, axes.right, axes.bottom)))
    return _document(
        axes,
        [_describe_curve(curve, x, labels) for curve in series],
        body,
        (*SERIES[: len(series)], *{marker.role: None for marker in markers}),
        f' data-x="{xs[0]:.10g} {xs[1]:.10g}" data-plot="{plot}"',
    )


def bars_svg(  # noqa: PLR0913 - the parts of a chart
    bars: Sequence[Bar],
    *,
    title: str,
    x_label: str = "",
    y_label: str = "",
    theme: Theme = Theme.AUTO,
    width: int = 720,
    height: int = 300,
) -> str:
    """Draw bars, such as the count of each roll; the description has all values."""
    low, high = value_range(
        [0.0, *(value for bar in bars for value in (bar.value, bar.expected) if value is not None)], Scale.NUMBER
    )
    margin = 0.05 * (high - low)
    x_ticks = [Tick(number + 0.5, clean(bar.label, MAX_LABEL)) for number, bar in enumerate(bars)]
    y_ticks = ticks(low, high, Scale.NUMBER, max(2, height // 55)) if bars else []
    ys = (low - margin if low < 0 else low, high + margin if high > 0 else high)
    axes = Axes((width, height), (0.0, max(len(bars), 1.0)), ys, x_ticks, y_ticks, theme, title, x_label, y_label)
    body = [*axes.draw(zero=low < 0, x_role=ColourRole.INK), *(_bars(bars, axes) if bars else axes.note(NO_DATA))]
    return _document(axes, map(_describe_bar, bars), body, (ColourRole.SERIES_1, ColourRole.EXPECTED))


def _document(
    axes: Axes, description: Iterable[str], body: list[str], roles: Iterable[ColourRole], data: str = ""
) -> str:
    """Return the picture; `roles` are the colours of the body beside those of the axes."""
    title, text, (width, height) = clean(axes.title, 100), "\n".join(description), axes.size
    heading = f'<text x="12" y="{TITLE + 8}" font-size="{TITLE}" font-weight="600"{paint(ColourRole.INK, axes.theme)}>'
    body = [
        f'<rect width="{width}" height="{height}" rx="8"{paint(ColourRole.PAPER, axes.theme)}/>',
        f"{heading}{escape(title)}</text>" if title else "",
        *body,
    ]
    roles = (ColourRole.PAPER, ColourRole.INK, ColourRole.FAINT, ColourRole.GRID, ColourRole.AXIS, *roles)
    return svg_document((width, height), title, text, body, axes.theme, roles, f' font-size="{TEXT}"{data}')


def _annotations(annotations: Sequence[Annotation], axes: Axes) -> Iterator[str]:
    taken = -math.inf
    for annotation in sorted(annotations, key=lambda annotation: annotation.x):
        if not axes.xs[0] <= annotation.x <= axes.xs[1]:
            continue
        x, text = axes.x(annotation.x), clean(annotation.text, MAX_LABEL)
        line = f"M{coord(x)} {coord(axes.top)}V{coord(axes.bottom)}"
        yield f'<path d="{line}" stroke-dasharray="1 4"{paint(ColourRole.AXIS, axes.theme)}/>'
        end = x + 4 + text_width(text, TEXT)
        if x >= taken and end <= axes.right + 14:
            place = f'x="{coord(x + 4)}" y="{coord(axes.top + TEXT)}"'
            yield f"<text {place}{paint(ColourRole.FAINT, axes.theme)}>{escape(text)}</text>"
            taken = end + 4


def _marker(marker: Marker, axes: Axes) -> str:
    x, y = axes.x(marker.x), min(max(axes.y(marker.y), axes.top), axes.bottom)
    name, shape = (
        ("rect", f'x="{coord(x - 4)}" y="{coord(y - 4)}" width="8" height="8"')
        if marker.square
        else ("circle", f'cx="{coord(x)}" cy="{coord(y)}" r="4.5"')
    )
    return f"<{name} {shape}{paint(marker.role, axes.theme)}><title>{escape(clean(marker.text, 200))}</title></{name}>"


def _legend(series: Sequence[Series], axes: Axes) -> Iterator[str]:
    x, y = 12.0, 12.0 + TITLE + TEXT + 8
    for number, curve in enumerate(series):
        name = clean(curve.name, MAX_LABEL)
        yield f'<path d="M{coord(x)} {coord(y - TEXT * 0.35)}h26" stroke-width="2.5"{_line(number, axes.theme)}/>'
        yield f'<text x="{coord(x + 32)}" y="{coord(y)}"{paint(ColourRole.INK, axes.theme)}>{escape(name)}</text>'
        x += 32 + text_width(name, TEXT) + 18
        if x > axes.right:
            return


# -- curves ---------------------------------------------------------------------------------------------------------


def _finite(point: tuple[float, float]) -> bool:
    return all(map(math.isfinite, point))


def _line(number: int, theme: Theme) -> str:
    """Return the attributes of the line of a series."""
    dashes = f' stroke-dasharray="{DASHES[number]}"' if DASHES[number] else ""
    return f"{dashes}{paint(SERIES[number], theme)}"


def _curve(curve: Series, number: int, axes: Axes) -> Iterator[str]:
    runs = [
        [(axes.x(x), axes.y(y)) for x, y in run] for finite, run in itertools.groupby(curve.points, _finite) if finite
    ]
    if runs:
        line = 'fill-opacity="0" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"'
        path = "".join(_path(_thinned(run)) for run in runs)
        yield f'<path d="{path}" {line}{_line(number, axes.theme)}/>'
    lines = [
        f"M{coord(axes.x(point[0]))} {coord(axes.y(low))}V{coord(axes.y(high))}"
        for point, (low, high) in zip(curve.points, curve.intervals, strict=False)
        if all(map(math.isfinite, (*point, low, high)))
    ]
    if lines:
        yield f'<path d="{"".join(lines)}" stroke-width="1.2" stroke-opacity="0.7"{paint(SERIES[number], axes.theme)}/>'
    few = sum(map(len, runs)) <= MAX_DOTTED
    dots = [point for run in runs for point in run if few or len(run) == 1]
    if dots:
        circles = "".join(f'<circle cx="{coord(x)}" cy="{coord(y)}" r="{3 if few else 2}"/>' for x, y in dots)
        yield f'<g stroke-width="0"{paint(SERIES[number], axes.theme)}>{circles}</g>'


def _thinned(points: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    """Keep the first, lowest, highest and last point of each unit of width: 10,000 matches would take 100 kB."""
    if len(points) < 2 or len(points) <= points[-1][0] - points[0][0]:
        return points
    kept: list[tuple[float, float]] = []
    for _, group in itertools.groupby(enumerate(points), lambda numbered: int(numbered[1][0])):
        column = list(group)
        extremes = (choose(column, key=lambda numbered: numbered[1][1]) for choose in (min, max))
        kept += [point for _, point in sorted({column[0], column[-1], *extremes})]
    return kept


def _path(points: Sequence[tuple[float, float]]) -> str:
    """Return a path through points, in relative coordinates."""
    rounded = [(round(x, 1), round(y, 1)) for x, y in points]
    steps = (f"{coord(x - a)} {coord(y - b)}" for (a, b), (x, y) in itertools.pairwise(rounded))
    return f"M{' '.join(map(coord, rounded[0]))}" + (f"l{' '.join(steps)}" if len(rounded) > 1 else "")


def _describe_curve(curve: Series, x: Scale, labels: Mapping[float, str]) -> str:
    finite = [point for point in curve.points if _finite(point)]
    if not finite:
        return f"{clean(curve.name)}: {NO_DATA}"
    ends = " to ".join(
        f"{format_value(value, Scale.NUMBER)} at {labels.get(at) or format_value(at, x)}"
        for at, value in (finite[0], finite[-1])
    )
    low, high = (format_value(choose(value for _, value in finite), Scale.NUMBER) for choose in (min, max))
    return f"{clean(curve.name)}: {ends}; between {low} and {high}, {len(finite)} points"


# -- bars -----------------------------------------------------------------------------------------------------------


def _bars(bars: Sequence[Bar], axes: Axes) -> Iterator[str]:
    base, half = axes.y(max(0.0, axes.ys[0])), 0.36 * (axes.x(1) - axes.x(0))
    rects, lines = "", ""
    for number, bar in enumerate(bars):
        middle, top = axes.x(number + 0.5), axes.y(bar.value)
        box = (middle - half, min(top, base), 2 * half, abs(base - top))
        rects += '<rect x="{}" y="{}" width="{}" height="{}"/>'.format(*map(coord, box))
        if bar.expected is not None:
            lines += f"M{coord(middle - half * 1.2)} {coord(axes.y(bar.expected))}h{coord(half * 2.4)}"
    yield f'<g stroke-width="0" fill-opacity="0.75"{paint(ColourRole.SERIES_1, axes.theme)}>{rects}</g>'
    if lines:
        yield f'<path d="{lines}" stroke-width="2" stroke-dasharray="4 3"{paint(ColourRole.EXPECTED, axes.theme)}/>'


def _describe_bar(bar: Bar) -> str:
    text = f"{clean(bar.label)}: {format_value(bar.value, Scale.NUMBER)}"
    return text if bar.expected is None else f"{text}, expected {format_value(bar.expected, Scale.NUMBER)}"
