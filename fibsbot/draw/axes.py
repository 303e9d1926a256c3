"""The axes of a plot: scales, tick marks, title and labels, and the mapping from values to the picture."""

from __future__ import annotations

import datetime as dt
import enum
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from attrs import frozen

from fibsbot.draw.markup import SANS, clean, coord, escape, text_width
from fibsbot.draw.themes import Role, Theme, paint, root_class, style_element

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
MONTH: Final = 30.44 * DAY
YEAR: Final = 365.25 * DAY
MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_STEPS: Final = (
    *(it * MINUTE for it in (1, 2, 5, 10, 15, 30)),
    *(it * HOUR for it in (1, 2, 3, 6, 12)),
    *(it * DAY for it in (1, 2, 7, 14)),
)
_CALENDAR: Final = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200)
"""Months."""
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MONDAY: Final = 4 * DAY
"""The first Monday after the beginning of time."""


class Scale(enum.Enum):
    """What the values along an axis are."""

    NUMBER = "number"
    PERCENT = "percent"
    """1.0 is written as 100%."""
    TIME = "time"
    """Seconds since 1970, UTC."""


@frozen
class Tick:
    """A mark of an axis."""

    value: float
    text: str


def seconds(at: dt.datetime) -> float:
    """Return a time as a value of an axis of times."""
    return (at - _EPOCH).total_seconds()


def value_range(values: Sequence[float], scale: Scale) -> tuple[float, float]:
    """Return least and greatest of the values, apart from each other even where all are the same."""
    finite = [it for it in values if math.isfinite(it)]
    if not finite:
        return (0.0, 1.0)
    low, high = min(finite), max(finite)
    if high - low > 1e-9 * max(abs(low), abs(high), 1e-9):
        return (low, high)
    apart = {Scale.PERCENT: 0.05, Scale.TIME: float(HOUR)}.get(scale, max(abs(low) * 0.05, 1.0))
    return (low - apart, high + apart)


def ticks(low: float, high: float, scale: Scale, about: int = 6) -> list[Tick]:
    """Return some `about` marks between two values, at numbers or times that people think in."""
    if scale is Scale.TIME:
        return list(_times(low, high, about))
    size = 100.0 if scale is Scale.PERCENT else 1.0
    step = nice_step((high - low) * size / max(about, 1))
    digits = max(0, -math.floor(math.log10(step) + 1e-9)) + (1 if _leading(step) == 2.5 and step < 10 else 0)
    first, last = math.ceil(low * size / step - 1e-6), math.floor(high * size / step + 1e-6)
    sign = "%" if scale is Scale.PERCENT else ""
    return [Tick(it * step / size, _number(it * step, digits) + sign) for it in range(first, last + 1)]


def nice_step(rough: float) -> float:
    """Return the step of 1, 2, 2.5 or 5 times a power of ten that comes next."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(it * power for it in (1.0, 2.0, 2.5, 5.0, 10.0) if it * power >= rough * (1 - 1e-9))


def format_value(value: float, scale: Scale) -> str:
    """Write a single value as the marks are written, a little more exactly."""
    if scale is Scale.TIME:
        return f"{_EPOCH + dt.timedelta(seconds=value):%Y-%m-%d %H:%M}"
    if scale is Scale.PERCENT:
        return _number(100 * value, 1) + "%"
    return _number(value, 3 if abs(value) < 10 else 1 if abs(value) < 1000 else 0)


def _leading(step: float) -> float:
    return round(step / 10.0 ** math.floor(math.log10(step) + 1e-9), 3)


def _number(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _times(low: float, high: float, about: int) -> Iterator[Tick]:
    rough = (high - low) / max(about, 1)
    step = next((it for it in _STEPS if it >= rough), None)
    if step is None:
        yield from _months(low, high, rough)
        return
    offset = _MONDAY if step >= 7 * DAY else 0
    for count in range(math.ceil((low - offset) / step), math.floor((high - offset) / step) + 1):
        at = _EPOCH + dt.timedelta(seconds=count * step + offset)
        midnight = at.hour == at.minute == 0
        text = f"{at.day} {MONTHS[at.month - 1]}" if step >= DAY or midnight else f"{at:%H:%M}"
        yield Tick(count * step + offset, text)


def _months(low: float, high: float, rough: float) -> Iterator[Tick]:
    step = next((it for it in _CALENDAR if it * MONTH >= rough), _CALENDAR[-1])
    first, last = (_EPOCH + dt.timedelta(seconds=it) for it in (low, high))
    month = (first.year * 12 + first.month - 1) // step * step
    while month <= last.year * 12 + last.month - 1:
        year, index = divmod(month, 12)
        value = seconds(dt.datetime(year, index + 1, 1, tzinfo=dt.UTC)) if 1 <= year <= 9999 else -math.inf
        if low <= value <= high:
            yield Tick(value, str(year) if step >= 12 else f"{MONTHS[index]} {year}")
        month += step


TEXT: Final = 13
"""Size of the text at the axes."""
TITLE: Final = 16


@frozen
class Frame:
    """Where the values of a plot lie in its picture."""

    left: float
    top: float
    right: float
    bottom: float
    xs: tuple[float, float]
    ys: tuple[float, float]

    def x(self, value: float) -> float:
        """Return where a value lies, from the left."""
        low, high = self.xs
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def y(self, value: float) -> float:
        """Return where a value lies, from above."""
        low, high = self.ys
        return self.bottom - (value - low) / (high - low) * (self.bottom - self.top)


@frozen
class Axes:
    """What stands around a plot."""

    size: tuple[int, int]
    """Width and height of the picture."""
    title: str
    x_label: str
    y_label: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    zero: bool
    theme: Theme


def plot_frame(axes: Axes, xs: tuple[float, float], ys: tuple[float, float], *, legend: bool) -> Frame:
    """Leave as much room around the plot as its texts take."""
    width, height = axes.size
    widest = max((text_width(tick.text, TEXT) for tick in axes.y_ticks), default=0.0)
    top = 12.0 + (TITLE + 10 if axes.title else 0) + (TEXT + 8 if legend else 0) + (TEXT + 6 if axes.y_label else 0)
    bottom = height - TEXT - 14 - (TEXT + 6 if axes.x_label else 0)
    return Frame(math.ceil(widest) + 20, top, width - 18, bottom, xs, ys)


def y_grid(axes: Axes, frame: Frame) -> Iterator[str]:
    """Draw a line for each mark of the y axis, and write what it is."""
    lines = "".join(f"M{coord(frame.left)} {coord(frame.y(it.value))}H{coord(frame.right)}" for it in axes.y_ticks)
    yield f'<path d="{lines}"{paint(Role.GRID, axes.theme)}/>'
    yield f'<g text-anchor="end"{paint(Role.FAINT, axes.theme)}>'
    for tick in axes.y_ticks:
        yield f'<text x="{coord(frame.left - 8)}" y="{coord(frame.y(tick.value) + TEXT * 0.36)}">{tick.text}</text>'
    yield "</g>"
    if axes.y_label:
        label = escape(clean(axes.y_label, 60))
        yield f'<text x="12" y="{coord(frame.top - 10)}"{paint(Role.FAINT, axes.theme)}>{label}</text>'


def x_axis(axes: Axes, frame: Frame) -> Iterator[str]:
    """Draw the x axis, and write as many of its marks as have room."""
    at = frame.y(0.0) if axes.zero else frame.bottom
    yield f'<path d="M{coord(frame.left)} {coord(at)}H{coord(frame.right)}"{paint(Role.AXIS, axes.theme)}/>'
    yield f'<g text-anchor="middle"{paint(Role.FAINT, axes.theme)}>'
    taken = 0.0
    for tick in axes.x_ticks:
        half = text_width(tick.text, TEXT) / 2
        x = min(frame.x(tick.value), frame.right + 12 - half)
        if x - half >= taken:
            yield f'<text x="{coord(x)}" y="{coord(frame.bottom + TEXT + 6)}">{tick.text}</text>'
            taken = x + half + 8
    if axes.x_label:
        x, y = (frame.left + frame.right) / 2, frame.bottom + 2 * TEXT + 12
        yield f'<text x="{coord(x)}" y="{coord(y)}">{escape(clean(axes.x_label, 60))}</text>'
    yield "</g>"


def nothing_yet(frame: Frame, theme: Theme) -> str:
    """Say that there is nothing to be seen."""
    x, y = (frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2
    return f'<text x="{coord(x)}" y="{coord(y)}" text-anchor="middle"{paint(Role.FAINT, theme)}>nothing yet</text>'


def svg_document(axes: Axes, description: str, body: Iterable[str], roles: Iterable[Role], data: str = "") -> str:
    """Put a picture together; `roles` are the colours of its body, `data` more attributes of its outermost element."""
    width, height = axes.size
    title, theme = clean(axes.title, 100), axes.theme
    heading = f'<text x="12" y="{TITLE + 8}" font-size="{TITLE}" font-weight="600"{paint(Role.INK, theme)}>'
    root = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" font-family="{SANS}" font-size="{TEXT}"{root_class(theme)}{data}>'
    )
    parts = [
        root,
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>" if description else "",
        style_element((Role.PAPER, Role.INK, Role.FAINT, *roles), theme),
        f'<rect width="{width}" height="{height}" rx="8"{paint(Role.PAPER, theme)}/>',
        f"{heading}{escape(title)}</text>" if title else "",
        *body,
        "</svg>",
    ]
    return "\n".join(it for it in parts if it) + "\n"
