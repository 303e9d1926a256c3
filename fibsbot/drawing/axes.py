"""Axes of charts: ticks at round numbers and times, labels, and the mapping from values to coordinates."""

from __future__ import annotations

import datetime as dt
import enum
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from attrs import frozen

from fibsbot.drawing.markup import clean, coord, escape, text_width
from fibsbot.drawing.themes import ColourRole, Theme, paint

TEXT: Final = 13
"""Font size of labels."""
TITLE: Final = 16
"""Font size of the title."""
MAX_LABEL: Final = 60
"""Maximum length of the label of an axis."""
GAP: Final = 6
"""Minimum space between two labels."""

HOUR: Final = 3600
DAY: Final = 24 * HOUR
MONTH: Final = 30.44 * DAY
_STEPS: Final = (
    *(minutes * 60 for minutes in (1, 2, 5, 10, 15, 30)),
    *(hours * HOUR for hours in (1, 2, 3, 6, 12)),
    *(days * DAY for days in (1, 2, 7, 14)),
)
"""Steps between ticks, in seconds."""
_MONTH_STEPS: Final = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200)
"""Longer steps, in months."""
MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MONDAY: Final = 4 * DAY
"""The first Monday after the epoch: weeks begin there."""


class Scale(enum.Enum):
    """Kind of the values along an axis."""

    NUMBER = "number"
    TIME = "time"
    """Seconds since 1970, UTC."""


@frozen
class Tick:
    """A tick of an axis."""

    value: float
    text: str


def seconds(at: dt.datetime) -> float:
    """Return a time as a value of Scale.TIME."""
    return (at - _EPOCH).total_seconds()


def value_range(values: Sequence[float], scale: Scale) -> tuple[float, float]:
    """Return the minimum and maximum of the finite values, widened if they are equal; (0, 1) if there are none."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return (0.0, 1.0)
    low, high = min(finite), max(finite)
    if high - low > 1e-9 * max(abs(low), abs(high), 1e-9):
        return (low, high)
    margin = HOUR if scale is Scale.TIME else max(abs(low) * 0.05, 1.0)
    return (low - margin, high + margin)


def ticks(low: float, high: float, scale: Scale, about: int = 6) -> list[Tick]:
    """Return `about` ticks between two values, at round numbers or times."""
    if scale is Scale.TIME:
        return list(_time_ticks(low, high, (high - low) / max(about, 1)))
    step = nice_step((high - low) / max(about, 1))
    power = math.floor(math.log10(step) + 1e-9)
    quarters = step < 10 and round(step / 10.0**power, 3) == 2.5  # needs one digit more
    first, last = math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6)
    return [Tick(number * step, _number(number * step, max(0, -power) + quarters)) for number in range(first, last + 1)]


def nice_step(rough: float) -> float:
    """Return the next larger step of 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= rough * (1 - 1e-9))


def format_value(value: float, scale: Scale) -> str:
    """Format a single value, a little more precisely than the ticks."""
    if scale is Scale.TIME:
        return f"{_EPOCH + dt.timedelta(seconds=value):%Y-%m-%d %H:%M}"
    return _number(value, 3 if abs(value) < 10 else 1 if abs(value) < 1000 else 0)


def _number(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _time_ticks(low: float, high: float, rough: float) -> Iterator[Tick]:
    step = next((length for length in _STEPS if length >= rough), None)
    if step is None:
        yield from _month_ticks(
            low, high, next((months for months in _MONTH_STEPS if months * MONTH >= rough), _MONTH_STEPS[-1])
        )
        return
    offset = _MONDAY if step >= 7 * DAY else 0
    for count in range(math.ceil((low - offset) / step), math.floor((high - offset) / step) + 1):
        value = count * step + offset
        at = _EPOCH + dt.timedelta(seconds=value)
        yield Tick(value, f"{at.day} {MONTHS[at.month - 1]}" if value % DAY == 0 else f"{at:%H:%M}")


def _month_ticks(low: float, high: float, step: int) -> Iterator[Tick]:
    first, last = (
        (moment.year * 12 + moment.month - 1) // step
        for moment in (_EPOCH + dt.timedelta(seconds=since_epoch) for since_epoch in (low, high))
    )
    for count in range(first, last + 1):
        year, month = divmod(count * step, 12)
        if dt.MINYEAR <= year <= dt.MAXYEAR:
            at = dt.datetime(year, month + 1, 1, tzinfo=dt.UTC)
            if low <= seconds(at) <= high:
                yield Tick(seconds(at), str(year) if step >= 12 else f"{MONTHS[month]} {year}")


@frozen
class Axes:
    """The axes of a chart."""

    size: tuple[int, int]
    """Width and height of the picture."""
    xs: tuple[float, float]
    """Range of x."""
    ys: tuple[float, float]
    """Range of y."""
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    theme: Theme
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    legend: bool = False
    """Whether there is a line for a legend above the plot."""

    @property
    def left(self) -> float:
        """The left edge of the plot, with space for the labels of the ticks."""
        return math.ceil(max((text_width(tick.text, TEXT) for tick in self.y_ticks), default=0.0)) + 20

    @property
    def right(self) -> float:
        """The right edge of the plot."""
        return self.size[0] - 18

    @property
    def top(self) -> float:
        """The upper edge of the plot."""
        lines = (TITLE + 10, self.title), (TEXT + 8, self.legend), (TEXT + 6, self.y_label)
        return 12.0 + sum(height for height, shown in lines if shown)

    @property
    def bottom(self) -> float:
        """The lower edge of the plot."""
        return self.size[1] - TEXT - 14 - (TEXT + 6 if self.x_label else 0)

    def x(self, value: float) -> float:
        """Return the coordinate of a value."""
        low, high = self.xs
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def y(self, value: float) -> float:
        """Return the coordinate of a value."""
        low, high = self.ys
        return self.bottom - (value - low) / (high - low) * (self.bottom - self.top)

    def draw(self, *, zero: bool, x_role: ColourRole = ColourRole.FAINT) -> Iterator[str]:
        """Yield grid, axes and labels; with `zero` the x axis is at y = 0 instead of the lower edge."""
        left, right, bottom = map(coord, (self.left, self.right, self.bottom))
        lines = "".join(f"M{left} {coord(self.y(tick.value))}H{right}" for tick in self.y_ticks)
        yield f'<path d="{lines}"{paint(ColourRole.GRID, self.theme)}/>'
        yield from self._texts(
            [(self.left - 8, self.y(tick.value) + TEXT * 0.36, tick.text) for tick in self.y_ticks], "end"
        )
        line = coord(self.y(0.0)) if zero else bottom
        yield f'<path d="M{left} {line}H{right}"{paint(ColourRole.AXIS, self.theme)}/>'
        yield from self._texts(self._x_labels(), "middle", x_role)
        if self.y_label:
            yield from self._texts([(12, self.top - 10, clean(self.y_label, MAX_LABEL))], "start")
        if self.x_label:
            middle = (self.left + self.right) / 2
            yield from self._texts([(middle, self.bottom + 2 * TEXT + 12, clean(self.x_label, MAX_LABEL))], "middle")

    def note(self, text: str) -> Iterator[str]:
        """Yield a text in the middle of the plot."""
        yield from self._texts([((self.left + self.right) / 2, (self.top + self.bottom) / 2, text)], "middle")

    def _x_labels(self) -> Iterator[tuple[float, float, str]]:
        """Yield as many labels of the x axis as fit."""
        taken = 0.0
        for tick in self.x_ticks:
            half = text_width(tick.text, TEXT) / 2
            x = min(self.x(tick.value), self.right + 12 - half)
            if x - half >= taken:
                yield x, self.bottom + TEXT + 6, tick.text
                taken = x + half + GAP

    def _texts(
        self, texts: Iterable[tuple[float, float, str]], anchor: str, role: ColourRole = ColourRole.FAINT
    ) -> Iterator[str]:
        yield f'<g text-anchor="{anchor}"{paint(role, self.theme)}>'
        yield from (f'<text x="{coord(x)}" y="{coord(y)}">{escape(text)}</text>' for x, y, text in texts)
        yield "</g>"
