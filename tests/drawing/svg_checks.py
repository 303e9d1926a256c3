"""Helpers for tests of pictures."""

from __future__ import annotations

import re
from typing import Final
from xml.etree import ElementTree as ET

SVG: Final = "{http://www.w3.org/2000/svg}"
NASTY: Final = "<script>&\"'\x00\x1b[31m\u202e\ud800\n]]>"
"""A hostile name."""


def parsed(text: str) -> ET.Element:
    """Parse a picture as strict XML, and return its root."""
    return ET.fromstring(text.encode())  # noqa: S314 - our own text


def texts(root: ET.Element) -> list[str]:
    """Return the texts of a picture."""
    return [it.text or "" for it in root.iter(f"{SVG}text")]


def said(root: ET.Element, tag: str) -> str:
    """Return the title or the description."""
    return root.findtext(f"{SVG}{tag}") or ""


def reaches_out(text: str) -> list[str]:
    """Return everything in a picture that could load or run something."""
    rest = text.replace('xmlns="http://www.w3.org/2000/svg"', "")
    rest = re.sub(r"<(title|desc|text)\b.*?</\1>", "", rest, flags=re.DOTALL)
    return re.findall(r"https?:|href|url\(|@import|<script|<foreignObject|<image|\bon[a-z]+=", rest)


def luminance(colour: str) -> float:
    """Return the relative luminance of `#rrggbb`, as WCAG defines it."""
    parts = [int(colour[it : it + 2], 16) / 255 for it in (1, 3, 5)]
    red, green, blue = (it / 12.92 if it <= 0.04045 else ((it + 0.055) / 1.055) ** 2.4 for it in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours: 1 none, 21 black on white."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
