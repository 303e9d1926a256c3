"""Colours of the table in a terminal. Whatever they say, a sign says as well."""

from __future__ import annotations

from typing import Final

from attrs import frozen
from rich.style import Style
from textual.theme import Theme


@frozen
class Colours:
    """The style of each part of the screen."""

    screen: Style
    faint: Style
    strong: Style
    frame: Style
    """The frame with the numbers of the points, and the bar."""
    point: Style
    other_point: Style
    field: Style
    """Between the points of the two sides."""
    own: Style
    """The person's checkers."""
    opponent: Style
    source: Style
    """The number of a point whose checker can move."""
    target: Style
    """The number of a point where the chosen checker can go."""
    cursor: Style
    """The number of the point that Enter plays from."""
    last: Style
    """Added where the opponent has just moved."""
    die: Style
    used_die: Style
    cube: Style
    prompt: Style
    """What is asked, or went wrong."""
    key: Style
    """A key that may be pressed."""
    chosen: Style
    """Added to the chosen row of a list."""


DARK: Final = Colours(
    screen=Style.parse("#e8ebf0 on #14181d"),
    faint=Style.parse("#a3afbc"),
    strong=Style.parse("bold #ffffff"),
    frame=Style.parse("#d5dbe2 on #33404d"),
    point=Style.parse("#5f7a92 on #222a33"),
    other_point=Style.parse("#8d8266 on #2b3139"),
    field=Style.parse("#a3afbc on #1b2128"),
    own=Style.parse("bold #ffd75f"),
    opponent=Style.parse("bold #7fd7ff"),
    source=Style.parse("bold #0b0d11 on #6fd08c"),
    target=Style.parse("bold #0b0d11 on #6fb7ff"),
    cursor=Style.parse("bold underline #0b0d11 on #ffd75f"),
    last=Style.parse("#ff9a52"),
    die=Style.parse("bold #0b0d11 on #f5ecd9"),
    used_die=Style.parse("#7d8894"),
    cube=Style.parse("bold #0b0d11 on #f5ecd9"),
    prompt=Style.parse("bold #ffb000"),
    key=Style.parse("bold #6fd08c"),
    chosen=Style.parse("on #2f4256"),
)
LIGHT: Final = Colours(
    screen=Style.parse("#1b2430 on #fbfaf7"),
    faint=Style.parse("#4d5762"),
    strong=Style.parse("bold #000000"),
    frame=Style.parse("#1b2430 on #c9d3dc"),
    point=Style.parse("#6f8ba3 on #e4ddcd"),
    other_point=Style.parse("#a08a5c on #f1ece0"),
    field=Style.parse("#4d5762 on #f8f4ea"),
    own=Style.parse("bold #9a4a00"),
    opponent=Style.parse("bold #005a9c"),
    source=Style.parse("bold #ffffff on #00703c"),
    target=Style.parse("bold #ffffff on #0058a8"),
    cursor=Style.parse("bold underline #000000 on #ffc400"),
    last=Style.parse("#b03000"),
    die=Style.parse("bold #ffffff on #1d2430"),
    used_die=Style.parse("#8a8f96"),
    cube=Style.parse("bold #ffffff on #1d2430"),
    prompt=Style.parse("bold #a03000"),
    key=Style.parse("bold #00703c"),
    chosen=Style.parse("on #d3e0ec"),
)


def theme_of(name: str, colours: Colours, *, dark: bool) -> Theme:
    """Return the colours of widgets that are not ours."""
    background, ink = colours.screen.bgcolor, colours.screen.color
    accent = colours.key.color
    names = [colour.name for colour in (background, ink, accent) if colour is not None]
    return Theme(
        name=name, dark=dark, background=names[0], surface=names[0], panel=names[0], foreground=names[1],
        primary=names[2], accent=names[2],
    )  # fmt: skip
