"""Functions that are compiled to machine code, as they are declared: the types of their arguments."""

from __future__ import annotations

import ctypes
import functools
import typing
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import frozen

from fibsbot.engine.arrays import ArrayType

TYPE_MISMATCH: Final = -(1 << 63)
"""Returned by machine code whose arguments are not of the types that it was compiled for; functions that return a
floating-point number return NaN."""

SCALAR_TYPES: Final[dict[str, Any]] = {
    "bool": ctypes.c_int64,
    "int": ctypes.c_int64,
    "np.int64": ctypes.c_int64,
    "float": ctypes.c_double,
    "np.float32": ctypes.c_float,
}
"""C types of arguments that are numbers, by annotation; all other arguments are arrays, or tuples of arrays."""


class InnerFunction:
    """A function that is compiled into its callers; Python cannot call it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__doc__ = function.__doc__
        self.function = function


class Intrinsic:
    """A function for compiled callers that is written in LLVM's intermediate representation.

    It is built when a caller is compiled, by a function in a module that is imported only then.
    """

    def __init__(self, module: str, name: str, *arguments: object) -> None:
        """The function that builds it is `name` in `module`, called with `arguments`."""
        self.module = module
        self.name = name
        self.arguments = arguments


class DeclaredFunction(InnerFunction):
    """A function for Python, with the types of its arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """The function needs an annotation for each argument and for its result."""
        super().__init__(function)
        types = {name: str(text) for name, text in function.__annotations__.items()}
        self.returned = types.pop("return")
        self.annotations = tuple(types.values())

    @functools.cached_property
    def signatures(self) -> dict[str, Signature]:
        """The types of the arguments that the function is compiled for, by their text.

        There are several where the type of an array has several alternatives, of which all arrays have the same one.
        """
        hints = typing.get_type_hints(self.function, include_extras=True)
        hints.pop("return")
        named = [*zip(self.annotations, hints.values(), strict=True)]
        count = max((len(_alternatives(hint)) for _, hint in named), default=1) or 1
        every = [
            tuple(text if text in SCALAR_TYPES else _declared(hint, number) for text, hint in named)
            for number in range(count)
        ]
        return {" ".join(map(str, types)): types for types in every}


@frozen
class TupleType:
    """The type of a named tuple."""

    name: type
    types: tuple[ObjectType, ...]

    def __str__(self) -> str:
        """Return the types in parentheses."""
        return f"({' '.join(map(str, self.types))})"


ObjectType: TypeAlias = ArrayType | TupleType
Signature: TypeAlias = tuple[ObjectType | str, ...]
"""The types of the arguments of a function; those of numbers are annotations."""


def _alternatives(hint: Any) -> tuple[ArrayType, ...]:
    """Return the types of arrays that an annotation allows; none for a named tuple."""
    found: tuple[ArrayType, ...] = hint.__metadata__ if typing.get_origin(hint) is typing.Annotated else ()
    return found


def _declared(hint: Any, number: int) -> ObjectType:
    """Return the type that an annotation declares, of several the one with this number.

    Raises TypeError for an annotation that is neither one of the types of `arrays` nor a named tuple of them.
    """
    if found := _alternatives(hint):
        return found[min(number, len(found) - 1)]
    if isinstance(hint, type) and issubclass(hint, tuple):
        items = typing.get_type_hints(hint, include_extras=True).values()
        return TupleType(hint, tuple(_declared(item, number) for item in items))
    raise TypeError(f"expected an annotation of a number, an array of a declared type or a named tuple, got {hint}")


def describe(value: object) -> str:
    """Return the type of an array or of a tuple of arrays as text, in the notation of the declared types."""
    if isinstance(value, np.ndarray):
        array: npt.NDArray[Any] = value
        flags, dtype = array.flags, array.dtype
        name = dtype.name if dtype.isnative and flags.aligned else f"unusable {dtype}"
        last = "::1" if flags.c_contiguous else ":"
        return f"{name}[{','.join([':'] * (array.ndim - 1) + [last])}]"
    if isinstance(value, tuple):
        return f"({' '.join(map(describe, value))})"
    return type(value).__name__
