"""JSON objects written in one line each, faster than by `json.dumps`.

`json_encoder` writes any values, in half the time. The encoder of the standard library is written in C, but
`JSONEncoder.encode` builds a new one for each object. Here it is built once. Where an interpreter has none, or builds
it in another way, `JSONEncoder.encode` does the work.

`write_message` writes messages of the protocol, by functions that are compiled from the fields of their classes.
"""

from __future__ import annotations

import datetime as dt
import enum
import json
import json.encoder
from collections.abc import Callable
from functools import cache
from json.encoder import encode_basestring_ascii as write_text
from types import NoneType, UnionType
from typing import Any, Final, TypeAlias, get_args, get_origin, get_type_hints

import attrs

from fibs_protocol.stream import ParsedMessage
from fibs_protocol.words import Colour

EncodeJson: TypeAlias = Callable[[Any], str]
"""Writes a value as `json.dumps` does: in ASCII, in one line."""

_NO_SORT_NO_SKIP: Final = (False, False)
"""Keys are neither sorted nor left out."""


def json_encoder(*, allow_nan: bool = True) -> EncodeJson:
    """Return an encoder for JSON values without cycles.

    It raises TypeError for values that JSON does not have, and ValueError for NaN unless `allow_nan`.
    """
    plain = json.JSONEncoder(check_circular=False, allow_nan=allow_nan)
    make = getattr(json.encoder, "c_make_encoder", None)
    try:
        pieces = make(None, plain.default, write_text, None, ": ", ", ", *_NO_SORT_NO_SKIP, allow_nan)  # type: ignore[misc] # None
    except TypeError:
        return plain.encode
    return lambda value: "".join(pieces(value, 0))


# -- messages -------------------------------------------------------------------------------------------------------

Write: TypeAlias = Callable[[Any], str]
"""Writes the values of one type."""

_SIMPLE: Final[dict[Any, Write]] = {
    str: write_text,
    int: repr,
    float: repr,
    bool: {False: "false", True: "true"}.__getitem__,
    dt.datetime: lambda time: write_text(time.isoformat()),
}


def write_message(received: ParsedMessage) -> str:
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
        return {member: write_text(member.name if kind is Colour else member.value) for member in kind}.__getitem__
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
