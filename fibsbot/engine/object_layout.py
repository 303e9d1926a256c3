"""Where Python and numpy keep what machine code reads of arrays and tuples.

Machine code takes arrays and named tuples as they are, and reads addresses, shapes and strides from their structures:
passing them one by one would take longer than many a call. Where each value is differs between versions of Python
(3.14 put a hash into tuples) and builds of it, so that the places are computed when a program starts, tried with real
objects, and handed to each call (`LAYOUT`).
"""

from __future__ import annotations

import ctypes
import platform
import sys
from collections import namedtuple
from typing import Any, Final

import numpy as np
from attrs import fields, frozen

from fibsbot.engine import EngineUnavailableError


class LayoutError(EngineUnavailableError):
    """This Python or numpy keeps its objects in another way than expected; the text is one line."""


@frozen
class ObjectLayout:
    """Offsets in bytes; the order of the fields is that of the table which machine code reads."""

    array_class: int
    """The address of numpy's class of arrays."""
    type: int
    """Of the type in an object."""
    type_flags: int
    """Of the flags in a type."""
    tuple_size: int
    tuple_items: int
    data: int
    """Of the address of an array's elements, and so on."""
    dimensions: int
    shape: int
    strides: int
    element_type: int
    flags: int
    byte_order: int
    """Of the byte order in a type of elements; likewise its number."""
    type_number: int

    @classmethod
    def of_this_python(cls) -> ObjectLayout:
        """Return the layout as the sizes of objects suggest it."""
        head, array = object.__basicsize__, [object.__basicsize__ + 8 * place for place in range(7)]
        return cls(
            array_class=id(np.ndarray),
            type=head - 8,
            type_flags=head + 8 + 18 * 8,
            tuple_size=head,
            tuple_items=tuple.__basicsize__,
            data=array[0],
            dimensions=array[1],
            shape=array[2],
            strides=array[3],
            element_type=array[5],
            flags=array[6],
            byte_order=head + 10,
            type_number=head + 12,
        )


CONTIGUOUS: Final = 0x1
"""The flag of an array whose elements are contiguous in C order."""
ALIGNED: Final = 0x100
IS_TUPLE: Final = 1 << 26
"""The flag of tuples and of the classes that are derived from them."""


def check_layout(layout: ObjectLayout) -> None:
    """Compare what is found at these places of real objects with what Python says; raise LayoutError."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        raise LayoutError(_refusal(f"expected CPython of 64 bits, got {platform.python_implementation()}"))
    pair = namedtuple("pair", "one other")  # noqa: PYI024 - any class of tuples does
    wide, big_endian = np.zeros((5, 7, 3), np.float32), np.zeros(4, ">i2")
    arrays = [np.zeros((2, 3), np.int8), np.arange(4.0), wide, wide[::2, 1:, ::-1], big_endian, np.zeros((), np.bool_)]
    for array in arrays:
        _check_array(layout, array)
    for held in (pair(*arrays[:2]), tuple(arrays), ()):
        found = _long(held, layout.tuple_size), [_long(held, layout.tuple_items + 8 * n) for n in range(len(held))]
        _compare("the items of a tuple", (len(held), [id(item) for item in held]), found)
    for kind in (pair, tuple, np.ndarray, list):
        _compare("the flags of a type", kind.__flags__, _long(kind, layout.type_flags))
        _compare("whether a type is one of tuples", issubclass(kind, tuple), bool(kind.__flags__ & IS_TUPLE))
    for value in (*arrays, pair(1, 2), "text"):
        _compare("the type of an object", id(type(value)), _long(value, layout.type))


def _check_array(layout: ObjectLayout, array: np.ndarray[Any, Any]) -> None:
    element, count = array.dtype, array.ndim
    shape, strides = (_long(array, place) for place in (layout.shape, layout.strides))
    # Numpy allocates both together; if these are no addresses, nothing must be read there.
    _compare("the distance of shape and strides", 8 * count, strides - shape)
    found = [[ctypes.c_int64.from_address(at + 8 * n).value for n in range(count)] for at in (shape, strides)]
    _compare("shape and strides of an array", [[*array.shape], [*array.strides]], found)
    _compare("the address of an array", array.ctypes.data, _long(array, layout.data))
    _compare("the dimensions of an array", count, ctypes.c_int32.from_address(id(array) + layout.dimensions).value)
    _compare("the type of the elements", id(element), _long(array, layout.element_type))
    flags = ctypes.c_int32.from_address(id(array) + layout.flags).value
    known = array.flags.c_contiguous, array.flags.aligned
    _compare("the flags of an array", known, (bool(flags & CONTIGUOUS), bool(flags & ALIGNED)))
    order = ctypes.c_char.from_address(id(element) + layout.byte_order).value
    _compare("the byte order of elements", element.byteorder, order.decode("latin-1"))
    number = ctypes.c_int32.from_address(id(element) + layout.type_number).value
    _compare("the number of a type of elements", element.num, number)


def _long(value: object, offset: int) -> int:
    """Return the 8 bytes at a place of an object."""
    return ctypes.c_int64.from_address(id(value) + offset).value


def _compare(what: str, expected: object, found: object) -> None:
    if expected != found:
        raise LayoutError(_refusal(f"expected {what} to be {expected}, found {found}"))


def _refusal(reason: str) -> str:
    python = f"Python {platform.python_version()} with numpy {np.__version__}"
    return f"the engine cannot read the objects of {python}: {reason}"


def layout_table(layout: ObjectLayout) -> Any:
    """Return the layout as the table that machine code reads, an array of 64-bit integers; raise LayoutError."""
    check_layout(layout)
    values = [getattr(layout, attribute.name) for attribute in fields(ObjectLayout)]
    return (ctypes.c_int64 * len(values))(*values)
