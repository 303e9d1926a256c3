"""One record on its way into the store, and what may be taken from its fields.

Much in a record comes from a server or an opponent. Whatever does not fit into a column is left out here, so that no
database ever refuses a row because of what somebody sent.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

LONGEST: Final = 400
"""Characters of a text that are kept."""
LARGEST: Final = 2**31 - 1
"""Whole numbers beyond this are none that a server means."""


class UnusableRecordError(ValueError):
    """A record lacks what makes it one; it is dropped."""


@frozen
class Fields:
    """A record's fields, each taken as what it should be or not at all."""

    _values: Mapping[str, Any]

    def text(self, name: str) -> str | None:
        """Return a text that any database takes, None when there is none."""
        return clean(self._values.get(name))

    def name(self, name: str) -> str:
        """Return a text that must be there."""
        if not (text := self.text(name)):
            raise UnusableRecordError(f"expected a record with {name}, got {self._values.get(name)!r}")
        return text

    def names(self, name: str) -> frozenset[str]:
        """Return a list of texts that must be there, though it may be empty."""
        values = self._values.get(name)
        if not isinstance(values, list | tuple | set | frozenset):
            raise UnusableRecordError(f"expected a record with a list {name}, got {values!r}")
        return frozenset(text for value in values if (text := clean(value)))

    def whole(self, name: str) -> int | None:
        """Return a whole number, None when there is none or it is absurd."""
        return _whole(self._values.get(name))

    def number(self, name: str) -> float | None:
        """Return a finite number."""
        value = self._values.get(name)
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            return None
        return float(value) if abs(value) <= LARGEST else None

    def flag(self, name: str) -> bool | None:
        """Return true or false."""
        value = self._values.get(name)
        return value if isinstance(value, bool) else None

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return names and values that must be there."""
        value = self._values.get(name)
        if not isinstance(value, Mapping):
            raise UnusableRecordError(f"expected a record with {name}, got {value!r:.200}")
        return value

    def pair(self, name: str) -> tuple[int, int] | None:
        """Return two whole numbers, such as a score."""
        value = self._values.get(name)
        if not isinstance(value, list | tuple) or len(value) != 2:
            return None
        first, second = map(_whole, value)
        return None if first is None or second is None else (first, second)


@frozen
class Entry:
    """A record as it was put."""

    number: int
    """Counts what one writer has taken."""
    account: str
    name: str
    fields: Mapping[str, Any]
    at: dt.datetime


def clean(value: Any) -> str | None:
    """Return a text without what PostgreSQL does not store (NUL, lone surrogates), and not longer than LONGEST."""
    if not isinstance(value, str):
        return None
    return value[:LONGEST].encode("utf-8", "replace").decode().replace("\0", "�")


def _whole(value: Any) -> int | None:
    usable = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST
    return value if usable else None
