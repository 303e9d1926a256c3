"""A faster `attrs.evolve` for frozen records."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from attrs import evolve  # mypy knows it, and checks the names and types of what changes
else:
    _T = TypeVar("_T")
    _new = object.__new__

    def evolve(record: _T, /, **changes: Any) -> _T:
        """Return a copy of a record with some fields changed.

        For attrs classes with a dictionary (`slots=False`) whose fields have neither converters nor validators, and
        that keep nothing else in it. Raises TypeError for a name that is no field.
        """
        cls = record.__class__
        before = record.__dict__
        fields = before | changes
        if len(fields) != len(before):
            raise TypeError(f"expected fields of {cls.__name__}, got {sorted(changes)}")
        copy = _new(cls)
        _dictionary_of(cls)(copy, fields)
        return copy

    @cache
    def _dictionary_of(cls: type) -> Callable[[Any, dict[str, Any]], None]:
        """Return the setter of an instance's `__dict__`, which bypasses a frozen class."""
        owner = next(it for it in cls.__mro__ if "__dict__" in it.__dict__)
        return owner.__dict__["__dict__"].__set__


__all__ = ["evolve"]
