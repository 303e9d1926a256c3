"""`frozen`: attrs' decorator of that name, for classes whose methods are written when one of them is first needed.

attrs takes a third of a millisecond to write and compile the methods of a class. There are more than 400 messages and
commands, of which a process meets a few dozen: until then a class has placeholders, and is completed by the first use
of any of them: an instance, a copy, a match statement, a question about its fields. From then on it is what attrs
makes of it. Its instances have no slots: a frozen class fills a `__dict__` in half the time.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

import attrs

__all__ = ["frozen"]

if TYPE_CHECKING:
    from attrs import frozen
else:

    def frozen(cls: type) -> type:
        """Make a class one of attrs' when it is first used."""
        for name, placeholder in _PLACEHOLDERS.items():
            setattr(cls, name, placeholder)
        return cls


class _Placeholder:
    """A class's attribute that attrs has not written yet."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Any:
        """Complete the class that has this placeholder, which may be a base of the owner; return what is there now."""
        if isinstance(instance, type):  # so inspect.signature of Python 3.13 asks, with a metaclass as the owner
            found = self._written(instance)
            return found.__get__(instance, owner)
        self._written(owner)
        return getattr(owner if instance is None else instance, self._name)

    def _written(self, owner: type) -> Any:
        """Return the attribute of a class or its nearest base that has one, once that class is complete."""
        cls = next(base for base in owner.__mro__ if self._name in vars(base))
        _complete(cls)
        return vars(cls)[self._name]


_PLACEHOLDERS: Final = {
    name: _Placeholder(name)
    for name in ("__attrs_attrs__", "__match_args__", "__init__", "__eq__", "__hash__", "__repr__")
}
_completing: Final = threading.RLock()  # attrs removes the defaults of a class, so that it can do so only once


def _complete(cls: Any) -> None:
    with _completing:
        if isinstance(vars(cls)["__match_args__"], _Placeholder):
            attrs.frozen(slots=False, auto_detect=False, match_args=False)(cls)
            cls.__match_args__ = tuple(field.name for field in attrs.fields(cls))  # type: ignore[misc] # of any class
