"""What stands around a plot: title, axes, marks, and where within the picture its values lie."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Final

from attrs import frozen

from fibsbot.draw.markup import SANS, clean, escape, short, width_of
from fibsbot.draw.themes import Role, Theme, own_style, painted, root_class
from fibsbot.draw.ticks import Tick

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


def framed(axes: Axes, xs: tuple[float, float], ys: tuple[float, float], *, legend: bool) -> Frame:
    """Leave as much room around the plot as its texts take."""
    width, height = axes.size
    widest = max((width_of(tick.text, TEXT) for tick in axes.y_ticks), default=0.0)
    top = 12.0 + (TITLE + 10 if axes.title else 0) + (TEXT + 8 if legend else 0) + (TEXT + 6 if axes.y_label else 0)
    bottom = height - TEXT - 14 - (TEXT + 6 if axes.x_label else 0)
    return Frame(math.ceil(widest) + 20, top, width - 18, bottom, xs, ys)


def grid(axes: Axes, frame: Frame) -> Iterator[str]:
    """Draw a line for each mark of the y axis, and write what it is."""
    lines = "".join(f"M{short(frame.left)} {short(frame.y(it.value))}H{short(frame.right)}" for it in axes.y_ticks)
    yield f'<path d="{lines}"{painted(Role.GRID, axes.theme)}/>'
    yield f'<g text-anchor="end"{painted(Role.FAINT, axes.theme)}>'
    for tick in axes.y_ticks:
        yield f'<text x="{short(frame.left - 8)}" y="{short(frame.y(tick.value) + TEXT * 0.36)}">{tick.text}</text>'
    yield "</g>"
    if axes.y_label:
        label = escape(clean(axes.y_label, 60))
        yield f'<text x="12" y="{short(frame.top - 10)}"{painted(Role.FAINT, axes.theme)}>{label}</text>'


def x_axis(axes: Axes, frame: Frame) -> Iterator[str]:
    """Draw the x axis, and write as many of its marks as have room."""
    at = frame.y(0.0) if axes.zero else frame.bottom
    yield f'<path d="M{short(frame.left)} {short(at)}H{short(frame.right)}"{painted(Role.AXIS, axes.theme)}/>'
    yield f'<g text-anchor="middle"{painted(Role.FAINT, axes.theme)}>'
    taken = 0.0
    for tick in axes.x_ticks:
        half = width_of(tick.text, TEXT) / 2
        x = min(frame.x(tick.value), frame.right + 12 - half)
        if x - half >= taken:
            yield f'<text x="{short(x)}" y="{short(frame.bottom + TEXT + 6)}">{tick.text}</text>'
            taken = x + half + 8
    if axes.x_label:
        x, y = (frame.left + frame.right) / 2, frame.bottom + 2 * TEXT + 12
        yield f'<text x="{short(x)}" y="{short(y)}">{escape(clean(axes.x_label, 60))}</text>'
    yield "</g>"


def nothing(frame: Frame, theme: Theme) -> str:
    """Say that there is nothing to be seen."""
    x, y = (frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2
    return f'<text x="{short(x)}" y="{short(y)}" text-anchor="middle"{painted(Role.FAINT, theme)}>nothing yet</text>'


def picture(axes: Axes, description: str, body: Iterable[str], roles: Iterable[Role], data: str = "") -> str:
    """Put a picture together; `roles` are the colours of its body, `data` more attributes of its outermost element."""
    width, height = axes.size
    title, theme = clean(axes.title, 100), axes.theme
    heading = f'<text x="12" y="{TITLE + 8}" font-size="{TITLE}" font-weight="600"{painted(Role.INK, theme)}>'
    root = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" font-family="{SANS}" font-size="{TEXT}"{root_class(theme)}{data}>'
    )
    parts = [
        root,
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>" if description else "",
        own_style((Role.PAPER, Role.INK, Role.FAINT, *roles), theme),
        f'<rect width="{width}" height="{height}" rx="8"{painted(Role.PAPER, theme)}/>',
        f"{heading}{escape(title)}</text>" if title else "",
        *body,
        "</svg>",
    ]
    return "\n".join(it for it in parts if it) + "\n"
