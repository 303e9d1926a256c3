"""The match files of BGBlitz, `.bgf`: a line of JSON that says how the rest is packed, and the fields of the rest.

The rest is one object, as SMILE (`smile.py`) or JSON, packed by gzip or zlib. BGBlitz publishes no layout: this is what
other readers agree on, and every field is checked where it is read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

from fibsbot.formats import FormatError, expected, single_line, unpack
from fibsbot.formats.smile import MAGIC, MOST_VALUES, Value, read_smile

LARGEST_CONTENT: Final = 2**25
"""Bytes of a match, unpacked, at most: those of about 10,000 analysed turns."""
LONGEST_HEADER: Final = 2000
"""Bytes of the first line, at most."""
NEWEST_VERSION: Final = 1
"""The whole number of the newest version that is known."""
_VERSION: Final = re.compile(r"[0-9]{1,9}")
_GZIP: Final = b"\x1f\x8b"
_FIGURE: Final = re.compile(r"[+-]?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?")
"""Figures are texts in some places."""
_LARGEST_FIGURE: Final = 90.0
"""-99 and -999 stand for what was not calculated."""


@frozen
class Fields:
    """An object in a file; every field is checked when it is read. A field that is missing has its default."""

    place: str
    """Where it is, for errors."""
    data: Mapping[str, Value]

    def _wrong(self, name: str, what: str) -> FormatError:
        return FormatError(f"{self.place}: expected {what} as {name}, got {single_line(str(self.data[name]))[:40]!r}")

    def has(self, name: str) -> bool:
        """Whether there is a field of this name with a value."""
        return self.data.get(name) is not None

    def number(self, name: str, otherwise: int, *, lowest: int, highest: int) -> int:
        """Return a whole number. Raises FormatError for one that is not in the range."""
        if not self.has(name):
            return otherwise
        value = self.data[name]
        if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
            raise self._wrong(name, f"a number from {lowest} to {highest}")
        return value

    def numbers(self, name: str, *, count: int, lowest: int, highest: int, more: int = 0) -> tuple[int, ...]:
        """Return a list of whole numbers, without the `more` that may follow; an empty one where it is missing."""
        if not self.has(name):
            return ()
        value = self.data[name]
        if (
            not isinstance(value, list)
            or len(value) not in {count, count + more}
            or not all(_is_in(it, lowest, highest) for it in value)
        ):
            raise self._wrong(name, f"{count} numbers from {lowest} to {highest}")
        return tuple(value[:count])

    def flag(self, name: str, *, otherwise: bool = False) -> bool:
        """Return a truth value."""
        if not self.has(name):
            return otherwise
        if not isinstance(self.data[name], bool):
            raise self._wrong(name, "true or false")
        return bool(self.data[name])

    def text(self, name: str) -> str:
        """Return a text on one line; an empty one where it is missing or something else."""
        value = self.data.get(name)
        return single_line(value) if isinstance(value, str) else ""

    def figure(self, name: str) -> float | None:
        """Return a figure of an analysis; None for what was not calculated."""
        value = self.data.get(name)
        if isinstance(value, str) and _FIGURE.fullmatch(value):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return round(float(value), 6) if abs(value) < _LARGEST_FIGURE and math.isfinite(value) else None

    def part(self, name: str) -> Fields:
        """Return an object; one without fields where it is missing."""
        value = self.data.get(name)
        if value is not None and not isinstance(value, dict):
            raise self._wrong(name, "an object")
        return Fields(self.place, value or {})

    def parts(self, name: str, place: str) -> list[Fields]:
        """Return a list of objects, with places that begin with `place` and have their numbers, from 1."""
        value = self.data.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self._wrong(name, "a list of objects")
        return [Fields(f"{place} {number}", item) for number, item in enumerate(value, 1)]


def _is_in(value: Value, lowest: int, highest: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest


def read_fields(data: bytes) -> Fields:
    """Return the match in a file. Raises FormatError."""
    first, newline, packed = data.partition(b"\n")
    header = _json(first[:LONGEST_HEADER], "the first line")
    if header.get("format") != "BGF" or not newline:
        raise expected(
            "a match of BGBlitz, which begins with a line such as {'format': 'BGF'}", first[:40].decode("latin-1")
        )
    version = str(header.get("version", NEWEST_VERSION))
    found = _VERSION.match(version)
    if found is None or int(found[0]) > NEWEST_VERSION:
        raise expected(f"a file of BGBlitz of version {NEWEST_VERSION}", single_line(version))
    content = packed
    if header.get("compress") or packed.startswith(_GZIP):
        content = unpack(packed, LARGEST_CONTENT, "file of BGBlitz")
    if len(content) > LARGEST_CONTENT:
        raise FormatError(f"expected at most {LARGEST_CONTENT} bytes of content in a file of BGBlitz, got more")
    match = read_smile(content) if content.startswith(MAGIC) else _json(content, "the match")
    if not isinstance(match, dict):
        raise FormatError("expected an object as the match, got something else")
    return Fields("match", match)


def _json(data: bytes, what: str) -> dict[str, Any]:
    """Return an object of JSON. Raises FormatError."""
    if sum(map(data.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise FormatError(f"expected at most {MOST_VALUES} values in {what}, got more")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise FormatError(f"expected JSON as {what} of a file of BGBlitz, got something else")
    return value
