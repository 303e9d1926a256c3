"""Building blocks of pictures: the SVG document, escaped text, coordinates, and the width of texts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from fibsbot.drawing.themes import ColourRole, Theme, root_class, style_element

UNPRINTABLE: Final = "\ufffd"
"""Replaces characters that XML does not allow, or that change the text direction."""
SANS: Final = "system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
"""Fonts available everywhere: pictures contain none."""

_ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_NARROW: Final = frozenset(" .,:;'!|()[]/-Iijltfr1")
_BROAD: Final = frozenset("OQGDHNUCVAXYK&+=<>~")
_WIDE: Final = frozenset("mwMW@%")
_BOLD: Final = 1.1
"""Relative width of bold text."""


def clean(text: str, longest: int | None = None) -> str:
    """Return text in one line of printable characters, shortened with an ellipsis."""
    cut = text if longest is None else text[: 4 * longest]
    line = " ".join(cut.split())
    if not line.isprintable():
        line = "".join([character if character.isprintable() else UNPRINTABLE for character in line])
    if longest is None or (len(line) <= longest and len(cut) == len(text)):
        return line
    return f"{line[: longest - 1].rstrip()}…"


def escape(text: str) -> str:
    """Return text as it may stand between tags and in attributes; line breaks stay."""
    if not text.isprintable():
        text = "".join(
            [character if character.isprintable() or character == "\n" else UNPRINTABLE for character in text]
        )
    return text.translate(_ENTITIES)


def svg_document(  # noqa: PLR0913, PLR0917 - the parts of a picture
    size: tuple[float, float],
    title: str,
    description: str,
    body: Iterable[str],
    theme: Theme,
    roles: Iterable[ColourRole],
    attributes: str = "",
    width: float | None = None,
) -> str:
    """Return an SVG picture.

    Args:
        size: width and height of the viewBox.
        title: title for screen readers.
        description: long description for screen readers.
        body: elements, each a line; empty ones are left out.
        theme: colours.
        roles: colours that the body uses.
        attributes: more attributes of the root element.
        width: width in pixels that the picture asks for, if not that of the viewBox.
    """
    wide, high = size
    width = width or wide
    root = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {coord(wide)} {coord(high)}" width="{coord(width)}"'
        f' height="{coord(high * width / wide)}" role="img" font-family="{SANS}"{attributes}{root_class(theme)}>'
    )
    lines = [
        root,
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>" if description else "",
        style_element(roles, theme),
        *body,
        "</svg>",
    ]
    return "\n".join(filter(None, lines)) + "\n"


@lru_cache(1 << 12)  # the same few numbers are in every picture
def coord(number: float, digits: int = 1) -> str:
    """Write a coordinate with no more digits than can be seen."""
    text = f"{number:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Estimate how wide a text is in a sans-serif font of this size; rather too wide than too narrow."""
    return sum(map(_letter_width, text)) * size * (_BOLD if bold else 1)


def _letter_width(letter: str) -> float:
    if letter in _NARROW:
        return 0.38
    if letter in _WIDE or not letter.isascii():
        return 1.0
    return 0.78 if letter in _BROAD else 0.63
