"""Of what types the arguments of a compiled function are: what machine code is compiled for and kept under."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import frozen

from fibsbot.engine.compiled import NUMBERS, Compiled


@frozen
class ArrayType:
    """An array."""

    dtype: np.dtype[Any]
    dimensions: int
    contiguous: bool
    """Whether its elements stand one after the other, the last index changing fastest."""

    def __str__(self) -> str:
        """Return it as `float32[:,:]`, or with `::1` for the last dimension of a contiguous one."""
        last = "::1" if self.contiguous else ":"
        return f"{self.dtype.name}[{','.join([':'] * (self.dimensions - 1) + [last])}]"


@frozen
class TupleType:
    """A named tuple."""

    name: type
    types: tuple[ObjectType, ...]

    def __str__(self) -> str:
        """Return the types in parentheses."""
        return f"({' '.join(map(str, self.types))})"


ObjectType: TypeAlias = ArrayType | TupleType

KINDS: Final = "biuf"
"""The kinds of elements that arrays may have."""


def type_of(value: object) -> ObjectType:
    """Return the type of an array or of a named tuple; raise TypeError for anything else."""
    if isinstance(value, np.ndarray):
        array: npt.NDArray[Any] = value
        flags, dtype = array.flags, array.dtype
        if type(value) is not np.ndarray or dtype.kind not in KINDS or not dtype.isnative or not flags.aligned:
            raise TypeError(f"expected a plain array of numbers, got {type(value).__name__} of {dtype}")
        return ArrayType(dtype, array.ndim, flags.c_contiguous)
    if isinstance(value, tuple):
        return TupleType(type(value), tuple(map(type_of, value)))
    raise TypeError(f"expected an array or a named tuple of arrays, got {type(value).__name__}")


def key(function: Compiled[..., Any], arguments: tuple[Any, ...]) -> str:
    """Return the types of arguments as a text."""
    if len(arguments) != len(function.annotations):
        name = function.function.__qualname__
        raise TypeError(f"{name} expected {len(function.annotations)} arguments, got {len(arguments)}")
    return " ".join(
        text if text in NUMBERS else str(type_of(it)) for text, it in zip(function.annotations, arguments, strict=True)
    )


def plain(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments with arrays of other classes, such as mapped files, as plain ones."""
    return tuple(it.view(np.ndarray) if isinstance(it, np.ndarray) else it for it in arguments)
