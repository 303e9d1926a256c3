"""A faster `attrs.evolve` for frozen records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from attrs import evolve as fast_evolve  # mypy knows it, and checks the names and types of what changes
else:
    _T = TypeVar("_T")
    _new = object.__new__
    _set = object.__setattr__

    def fast_evolve(record: _T, /, **changes: Any) -> _T:
        """Return a copy of a record with some fields changed.

        For attrs classes with a dictionary (`slots=False`) whose fields have neither converters nor validators, and
        that keep nothing else in it. Raises TypeError for a name that is no field.
        """
        before = record.__dict__
        fields = before | changes
        if len(fields) != len(before):
            raise TypeError(f"expected fields of {type(record).__name__}, got {sorted(changes)}")
        copy = _new(type(record))
        _set(copy, "__dict__", fields)  # the class itself, which is frozen, would refuse it
        return copy


__all__ = ["fast_evolve"]
