"""What every picture is written with: safe text, short numbers, and how wide a text is."""

from __future__ import annotations

from typing import Final

UNPRINTABLE: Final = "\ufffd"
"""Stands for whatever XML does not allow or would turn the writing round."""
SANS: Final = "system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
"""Fonts that are there everywhere: a picture brings none along."""

_ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_NARROW: Final = frozenset(" .,:;'!|()[]/-Iijltfr1")
_BROAD: Final = frozenset("OQGDHNUCVAXYK&+=<>~")
_WIDE: Final = frozenset("mwMW@%")
_BOLD: Final = 1.1
"""How much wider bold text is."""


def clean(text: str, longest: int | None = None) -> str:
    """Return text in one line of printable characters, shortened with an ellipsis."""
    cut = text if longest is None else text[: 4 * longest]
    line = "".join(it if it.isprintable() else UNPRINTABLE for it in " ".join(cut.split()))
    if longest is None or (len(line) <= longest and len(cut) == len(text)):
        return line
    return f"{line[: longest - 1].rstrip()}…"


def escape(text: str) -> str:
    """Return text as it may stand between tags and in attributes; line breaks stay."""
    return "".join(it if it.isprintable() or it == "\n" else UNPRINTABLE for it in text).translate(_ENTITIES)


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
