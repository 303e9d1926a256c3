"""Where the marks of an axis stand, and what is written at them."""

from __future__ import annotations

import datetime as dt
import enum
import math
from collections.abc import Iterator, Sequence
from typing import Final

from attrs import frozen

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


def span(values: Sequence[float], scale: Scale) -> tuple[float, float]:
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


def written(value: float, scale: Scale) -> str:
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
