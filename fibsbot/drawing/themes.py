"""Colours of all pictures. Colours differ in lightness, too, so that nothing depends on hue alone."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from attrs import frozen

ROOT: Final = "fibsbot-picture"
"""CSS class of the root element of each picture."""


class Theme(enum.Enum):
    """Colour theme of a picture."""

    LIGHT = "light"
    DARK = "dark"
    AUTO = "auto"
    """Light or dark as the viewer prefers, for a standalone picture."""
    PAGE = "page"
    """For a picture within a page that has `stylesheet()`, where the page chooses. Without it the picture is light."""


class ColourRole(enum.Enum):
    """Use of a colour."""

    PAPER = "paper"
    """Background."""
    INK = "ink"
    """Important text."""
    FAINT = "faint"
    """Secondary text."""
    AXIS = "axis"
    GRID = "grid"
    EXPECTED = "expected"
    """Expected values."""
    FRAME = "frame"
    """Frame of the board."""
    ON_FRAME = "on-frame"
    """Numbers on the frame."""
    FIELD = "field"
    """Field behind the points."""
    TRAY = "tray"
    """Trays for the cube and checkers borne off."""
    POINT = "point"
    """Every other point."""
    OTHER_POINT = "other-point"
    DARK = "dark"
    """Checkers and dice of one side."""
    ON_DARK = "on-dark"
    """Numbers and pips on them."""
    LIGHT = "light"
    ON_LIGHT = "on-light"
    CUBE = "cube"
    ON_CUBE = "on-cube"
    ARROW = "arrow"
    """A play."""
    OUTLINE = "outline"
    """Outline of arrows."""
    ON_ARROW = "on-arrow"
    """Text on an arrow."""
    SERIES_1 = "series-1"
    SERIES_2 = "series-2"
    SERIES_3 = "series-3"
    SERIES_4 = "series-4"
    SERIES_5 = "series-5"
    SERIES_6 = "series-6"


SERIES: Final = (
    ColourRole.SERIES_1,
    ColourRole.SERIES_2,
    ColourRole.SERIES_3,
    ColourRole.SERIES_4,
    ColourRole.SERIES_5,
    ColourRole.SERIES_6,
)
DASHES: Final = ("", "7 4", "2 3", "10 3 2 3", "14 4", "4 2")
"""Dashes of the series."""


@frozen
class Paint:
    """Fill and stroke; None inherits."""

    fill: str | None = None
    stroke: str | None = None

    def attributes(self) -> str:
        """Return the attributes of an element, each after a blank."""
        return "".join(f' {name}="{value}"' for name, value in self._pairs())

    def declarations(self) -> str:
        """Return CSS declarations."""
        return ";".join(f"{name}:{value}" for name, value in self._pairs())

    def _pairs(self) -> Iterable[tuple[str, str]]:
        return [(name, value) for name, value in (("fill", self.fill), ("stroke", self.stroke)) if value]


Palette = Mapping[ColourRole, Paint]

LIGHT: Final[Palette] = {
    ColourRole.PAPER: Paint("#fbfaf7"),
    ColourRole.INK: Paint("#1b2430"),
    ColourRole.FAINT: Paint("#4d5762"),
    ColourRole.AXIS: Paint("none", "#4d5762"),
    ColourRole.GRID: Paint("none", "#dcdad4"),
    ColourRole.EXPECTED: Paint("none", "#1b2430"),
    ColourRole.FRAME: Paint("#46535f"),
    ColourRole.ON_FRAME: Paint("#f4f1e8"),
    ColourRole.FIELD: Paint("#efe9dc"),
    ColourRole.TRAY: Paint("#d9d2c2"),
    ColourRole.POINT: Paint("#6f8ba3"),
    ColourRole.OTHER_POINT: Paint("#c9b48c"),
    ColourRole.DARK: Paint("#1d2430", "#f4f1e8"),
    ColourRole.ON_DARK: Paint("#ffffff"),
    ColourRole.LIGHT: Paint("#fffdf6", "#1d2430"),
    ColourRole.ON_LIGHT: Paint("#1d2430"),
    ColourRole.CUBE: Paint("#ffffff", "#1d2430"),
    ColourRole.ON_CUBE: Paint("#1d2430"),
    ColourRole.ARROW: Paint("#ffb000", "#ffb000"),
    ColourRole.OUTLINE: Paint("#14181d", "#14181d"),
    ColourRole.ON_ARROW: Paint("#14181d"),
    ColourRole.SERIES_1: Paint("#0067a5", "#0067a5"),
    ColourRole.SERIES_2: Paint("#c04a00", "#c04a00"),
    ColourRole.SERIES_3: Paint("#00795a", "#00795a"),
    ColourRole.SERIES_4: Paint("#a2457e", "#a2457e"),
    ColourRole.SERIES_5: Paint("#7a5c00", "#7a5c00"),
    ColourRole.SERIES_6: Paint("#444c56", "#444c56"),
}
DARK: Final[Palette] = {
    ColourRole.PAPER: Paint("#14181d"),
    ColourRole.INK: Paint("#e8ebf0"),
    ColourRole.FAINT: Paint("#a3afbc"),
    ColourRole.AXIS: Paint("none", "#a3afbc"),
    ColourRole.GRID: Paint("none", "#2c343d"),
    ColourRole.EXPECTED: Paint("none", "#e8ebf0"),
    ColourRole.FRAME: Paint("#465360"),
    ColourRole.ON_FRAME: Paint("#f4f1e8"),
    ColourRole.FIELD: Paint("#252b33"),
    ColourRole.TRAY: Paint("#333c46"),
    ColourRole.POINT: Paint("#42586d"),
    ColourRole.OTHER_POINT: Paint("#847961"),
    ColourRole.DARK: Paint("#0b0d11", "#aebccb"),
    ColourRole.ON_DARK: Paint("#ffffff"),
    ColourRole.LIGHT: Paint("#f5ecd9", "#0b0d11"),
    ColourRole.ON_LIGHT: Paint("#0b0d11"),
    ColourRole.CUBE: Paint("#f5ecd9", "#0b0d11"),
    ColourRole.ON_CUBE: Paint("#0b0d11"),
    ColourRole.ARROW: Paint("#ffb000", "#ffb000"),
    ColourRole.OUTLINE: Paint("#0b0d11", "#0b0d11"),
    ColourRole.ON_ARROW: Paint("#0b0d11"),
    ColourRole.SERIES_1: Paint("#5bb4f0", "#5bb4f0"),
    ColourRole.SERIES_2: Paint("#ff9a52", "#ff9a52"),
    ColourRole.SERIES_3: Paint("#2fd0a2", "#2fd0a2"),
    ColourRole.SERIES_4: Paint("#f0a3d0", "#f0a3d0"),
    ColourRole.SERIES_5: Paint("#e8cf5a", "#e8cf5a"),
    ColourRole.SERIES_6: Paint("#c9d1da", "#c9d1da"),
}


@cache
def paint(role: ColourRole, theme: Theme) -> str:
    """Return the attributes that give an element its colours."""
    colours = (DARK if theme is Theme.DARK else LIGHT)[role].attributes()
    return colours if theme in {Theme.LIGHT, Theme.DARK} else f' class="fb-{role.value}"{colours}'


def style_element(roles: Iterable[ColourRole], theme: Theme) -> str:
    """Return the style element of a standalone picture for dark mode; empty for other themes."""
    if theme is not Theme.AUTO:
        return ""
    rules = _rules(f".{ROOT}-auto ", roles, DARK)
    return f"<style>@media (prefers-color-scheme:dark){{{rules}}}</style>"


def root_class(theme: Theme) -> str:
    """Return the class attribute of the root element, for the style of a page or of the picture."""
    classes = {Theme.AUTO: f"{ROOT} {ROOT}-auto", Theme.PAGE: f"{ROOT} {ROOT}-page"}
    return f' class="{classes.get(theme, ROOT)}"'


def stylesheet() -> str:
    """Return the CSS that colours the pictures of Theme.PAGE in a page.

    They follow the viewer's preference, unless `data-theme="light"` or `"dark"` is set at an element around them, such
    as `html`.
    """
    light = _rules('[data-theme="light"] .fibsbot-picture-page ', ColourRole, LIGHT)
    dark = _rules('[data-theme="dark"] .fibsbot-picture-page ', ColourRole, DARK)
    preferred = _rules(".fibsbot-picture-page ", ColourRole, DARK)
    return f"@media (prefers-color-scheme:dark){{{preferred}}}\n{dark}\n{light}\n"


def _rules(before: str, roles: Iterable[ColourRole], palette: Palette) -> str:
    return "".join(f"{before}.fb-{role.value}{{{palette[role].declarations()}}}" for role in roles)
