"""Compile functions of numbers and arrays, and call the machine code.

Machine code is compiled once (`jit_compiler`, the only module that imports numba) and cached on disk (`code_cache`).
Later starts load it from there through llvmlite and never import numba.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Generic, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
from attrs import frozen

from fibsbot.engine import code_cache

if TYPE_CHECKING:
    from fibsbot.engine.code_cache import Code

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

TYPE_MISMATCH: Final = -(1 << 63)
"""What machine code returns that was compiled for other types than those of its arguments; NaN where it returns a
floating-point number."""

SCALAR_TYPES: Final[dict[str, Any]] = {
    "bool": ctypes.c_int64,
    "int": ctypes.c_int64,
    "np.int64": ctypes.c_int64,
    "float": ctypes.c_double,
    "np.float32": ctypes.c_float,
}
"""How arguments are passed that are numbers, by their annotation; all others are arrays, or tuples of these."""
_RESULTS: Final[dict[str, Callable[[Any], Any]]] = {
    "bool": bool,
    "int": int,
    "np.int64": int,
    "float": float,
    "None": lambda _: None,
}
"""What becomes of a result, by its annotation."""

_lock: Final = threading.RLock()
"""Held while machine code is loaded or compiled."""


class InnerFunction:
    """A function that is compiled into others; Python cannot call it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Take the function as it is written."""
        self.__doc__ = function.__doc__
        self.function = function


class Intrinsic:
    """What compiled functions may call that is written in LLVM's intermediate representation.

    It is built when something is compiled, by the function of that name in a module that Python need not import before.
    """

    def __init__(self, module: str, name: str, *arguments: object) -> None:
        """Say what makes it: a function of a module, and its arguments."""
        self.module = module
        self.name = name
        self.arguments = arguments


class CompiledFunction(InnerFunction, Generic[Arguments, Result]):
    """A function that Python can call, too. What it does is compiled at the first call for each set of types."""

    def __init__(self, function: Callable[Arguments, Result]) -> None:
        """Take the function as it is written, with an annotation for each argument."""
        super().__init__(function)
        self.made = 0
        """How often it was compiled in this process."""
        types = {name: str(text) for name, text in function.__annotations__.items()}
        returned = types.pop("return")
        self.annotations = tuple(types.values())
        self.returned = returned
        self._result = _RESULTS[returned]
        passed = [SCALAR_TYPES.get(text, ctypes.py_object) for text in self.annotations]
        number = ctypes.c_double if returned == "float" else ctypes.c_int64
        # This lets go of Python's lock, so that threads run side by side.
        self._prototype = ctypes.CFUNCTYPE(number, ctypes.py_object, *passed)
        self._codes: dict[str, Any] = {}
        self._ways: tuple[Any, ...] = ()

    def __call__(self, *arguments: Arguments.args, **_: Arguments.kwargs) -> Result:
        """Call the machine code for these types; load or compile it first where it is not there yet."""
        for way in self._ways:
            result = way(np.ndarray, *arguments)
            if result != TYPE_MISMATCH and result == result:  # noqa: PLR0124 - NaN is not equal to itself
                return cast("Result", self._result(result))
        return self._first_call(arguments)

    def is_missing(self) -> bool:
        """Whether nothing is kept yet that was compiled."""
        with _lock:
            if not self._ways:
                self._load()
            return not self._ways

    def _first_call(self, arguments: tuple[Any, ...]) -> Result:

        plain = plain_arrays(arguments)
        key = signature_key(self, plain)
        with _lock:
            if key not in self._codes:
                self._load()
            if key not in self._codes:
                from fibsbot.engine import jit_compiler  # noqa: PLC0415 - loads numba

                code = jit_compiler.compile_for(self, key, plain)
                self.made += 1
                self._add(code)
                code_cache.save(self.function, code)
            way = self._codes[key]
        result = way(np.ndarray, *plain)
        if result == TYPE_MISMATCH or math.isnan(result):
            raise RuntimeError(f"{self.function.__qualname__} cannot work with {key}")
        return cast("Result", self._result(result))

    def _load(self) -> None:
        """Take what is kept by now: another process may have compiled something meanwhile."""
        for code in code_cache.load(self.function):
            if code.key not in self._codes:
                self._add(code)

    def _add(self, code: Code) -> None:
        address = code_cache.link(code)
        if address:
            self._codes[code.key] = way = self._prototype(address)
            self._ways = (*self._ways, way)


def compiled(function: Callable[Arguments, Result]) -> CompiledFunction[Arguments, Result]:
    """Compile a function of numbers and arrays at its first call.

    Each argument is an int, a bool, a float, a np.float32 (and annotated so), an array, or a named tuple of arrays and
    such tuples; the result is a number, a bool or nothing. It makes no arrays, nor copies one to another as a whole:
    nothing is there that would count who uses them. It must not call itself and raises no errors; arrays are not
    checked for their bounds. For `array.shape[0]` and for powers numba compiles functions of its own; `len(array)` and
    products need none. It runs without Python's lock, so that threads run side by side.
    """
    return CompiledFunction(function)


def inner(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a function that compiled ones alone call: Python cannot."""
    return cast("Callable[Arguments, Result]", InnerFunction(function))


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

ELEMENT_KINDS: Final = "biuf"
"""The kinds of elements that arrays may have."""


def type_of(value: object) -> ObjectType:
    """Return the type of an array or of a named tuple; raise TypeError for anything else."""
    if isinstance(value, np.ndarray):
        array: npt.NDArray[Any] = value
        flags, dtype = array.flags, array.dtype
        if type(value) is not np.ndarray or dtype.kind not in ELEMENT_KINDS or not dtype.isnative or not flags.aligned:
            raise TypeError(f"expected a plain array of numbers, got {type(value).__name__} of {dtype}")
        return ArrayType(dtype, array.ndim, flags.c_contiguous)
    if isinstance(value, tuple):
        return TupleType(type(value), tuple(map(type_of, value)))
    raise TypeError(f"expected an array or a named tuple of arrays, got {type(value).__name__}")


def signature_key(function: CompiledFunction[..., Any], arguments: tuple[Any, ...]) -> str:
    """Return the types of arguments as a text."""
    if len(arguments) != len(function.annotations):
        name = function.function.__qualname__
        raise TypeError(f"{name} expected {len(function.annotations)} arguments, got {len(arguments)}")
    return " ".join(
        text if text in SCALAR_TYPES else str(type_of(it))
        for text, it in zip(function.annotations, arguments, strict=True)
    )


def plain_arrays(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments with arrays of other classes, such as mapped files, as plain ones."""
    return tuple(it.view(np.ndarray) if isinstance(it, np.ndarray) else it for it in arguments)
