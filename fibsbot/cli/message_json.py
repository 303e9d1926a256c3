"""Messages of the protocol as JSON, each in a line, by functions that are compiled from the fields of the classes."""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Callable
from functools import cache
from json.encoder import encode_basestring_ascii as write_text
from types import NoneType, UnionType
from typing import Any, Final, TypeAlias, get_args, get_origin, get_type_hints

import attrs

from fibs_protocol.stream import Received
from fibs_protocol.words import Colour

Write: TypeAlias = Callable[[Any], str]
"""Writes the values of one type."""

_SIMPLE: Final[dict[Any, Write]] = {
    str: write_text,
    int: repr,
    float: repr,
    bool: {False: "false", True: "true"}.__getitem__,
    dt.datetime: lambda time: write_text(time.isoformat()),
}


def write_line(received: Received) -> str:
    """Write a message and where it came from, as `json.dumps` would, with a newline."""
    cls: Any = type(received.message)
    kind, write_fields = _of_class(cls)
    return (
        f'{{"kind": {kind}, "fields": {write_fields(received.message)}, '
        f'"text": {write_text(received.text)}, "offset": {received.offset}}}\n'
    )


@cache
def _of_class(cls: Any) -> tuple[str, Write]:
    """Return the kind and what writes the fields."""
    return write_text(cls.kind()), _writer(cls)


@cache
def _writer(kind: Any) -> Write:
    """Return the function that writes values of a type."""
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if isinstance(kind, UnionType):
        (some,) = (_writer(one) for one in get_args(kind) if one is not NoneType)
        return lambda value: "null" if value is None else some(value)
    if get_origin(kind) is tuple:
        if get_args(kind)[0] is int:
            return lambda numbers: repr(list(numbers))
        one = _writer(get_args(kind)[0])
        return lambda values: f"[{', '.join(map(one, values))}]"
    if issubclass(kind, enum.Enum):
        return {it: write_text(it.name if kind is Colour else it.value) for it in kind}.__getitem__
    return _compile(kind)


def _compile(cls: type[attrs.AttrsInstance]) -> Write:
    """Return the function that writes an object, such as `lambda it: f'{{"name": {name(it.name)}}}'`.

    The code is made of names of fields alone.
    """
    types = get_type_hints(cls)
    writers = {field.name: _writer(types[field.name]) for field in attrs.fields(cls)}
    members = ", ".join(f'"{name}": {{{name}(it.{name})}}' for name in writers)
    write: Write = eval(f"lambda it: f'{{{{{members}}}}}'", dict(writers))  # noqa: S307 - see above
    return write
