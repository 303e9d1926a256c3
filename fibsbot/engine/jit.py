"""Compile functions of numbers and arrays, and call the machine code.

Machine code is compiled once (`jit_compiler`, the only module that imports numba) and cached on disk (`code_cache`).
Later starts load it from there through llvmlite and never import numba.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import math
import threading
from collections.abc import Callable, Iterator
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
_RESULTS: Final[dict[str, Callable[[Any], Any]]] = {
    "bool": bool,
    "int": int,
    "np.int64": int,
    "float": float,
    "None": lambda _: None,
}
"""Conversions of results, by annotation."""

_lock: Final = threading.RLock()
"""Held while machine code is loaded or compiled."""


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


class CompiledFunction(InnerFunction, Generic[Arguments, Result]):
    """A function that Python can call; it is compiled at the first call for each combination of argument types."""

    def __init__(self, function: Callable[Arguments, Result]) -> None:
        """The function needs an annotation for each argument and for its result."""
        super().__init__(function)
        self.made = 0
        """How often it was compiled in this process; tests read it."""
        types = {name: str(text) for name, text in function.__annotations__.items()}
        returned = types.pop("return")
        self.annotations = tuple(types.values())
        self.returned = returned
        self._result = _RESULTS[returned]
        passed = [SCALAR_TYPES.get(text, ctypes.py_object) for text in self.annotations]
        number = ctypes.c_double if returned == "float" else ctypes.c_int64
        # Functions of CFUNCTYPE release the global interpreter lock, so that threads run side by side.
        self._prototype = ctypes.CFUNCTYPE(number, ctypes.py_object, *passed)
        self._codes: dict[str, Any] = {}
        self._ways: tuple[Any, ...] = ()

    def __call__(self, *arguments: Arguments.args, **_: Arguments.kwargs) -> Result:
        """Call the machine code for these types, loaded or compiled first if necessary."""
        for way in self._ways:
            result = way(np.ndarray, *arguments)
            if result != TYPE_MISMATCH and result == result:  # noqa: PLR0124 - NaN is not equal to itself
                return cast("Result", self._result(result))
        return self._first_call(arguments)

    def is_missing(self) -> bool:
        """Return whether no machine code of this function is cached yet."""
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
                self._compile(key, plain)
            way = self._codes[key]
        result = way(np.ndarray, *plain)
        if result == TYPE_MISMATCH or math.isnan(result):
            raise RuntimeError(f"{self.function.__qualname__} cannot work with {key}")
        return cast("Result", self._result(result))

    def _compile(self, key: str, arguments: tuple[Any, ...]) -> None:
        """Compile for these types, unless another process is just doing so."""
        with code_cache.compiling(self.function):
            self._load()
            if key not in self._codes:
                with no_garbage_collection():
                    from fibsbot.engine import jit_compiler  # noqa: PLC0415 - loads numba

                    code = jit_compiler.compile_for(self, key, arguments)
                self.made += 1
                self._add(code)
                code_cache.save(self.function, code)

    def _load(self) -> None:
        """Load machine code from the cache, where another process may have stored it."""
        for code in code_cache.load(self.function):
            if code.key not in self._codes:
                self._add(code)

    def _add(self, code: Code) -> None:
        address = code_cache.link(code)
        if address:
            self._codes[code.key] = way = self._prototype(address)
            self._ways = (*self._ways, way)


@contextlib.contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Collect no garbage meanwhile: the compiler leaves little, and collecting it takes an eighth of its time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def compiled(function: Callable[Arguments, Result]) -> CompiledFunction[Arguments, Result]:
    """Compile a function of numbers and arrays at its first call.

    Each argument is annotated as int, bool, float or np.float32, or is an array or a named tuple of arrays and such
    tuples. The result is a number, a bool or None. The function must not create arrays or assign one array to another
    as a whole, because reference counting is compiled out. It must not call itself, raises no exceptions, and indices
    are not checked. Prefer `len(array)` to `array.shape[0]` and products to powers: the latter make numba compile
    helper functions. It runs without the global interpreter lock.
    """
    return CompiledFunction(function)


def inner(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Mark a function to be compiled into its compiled callers; Python cannot call it."""
    return cast("Callable[Arguments, Result]", InnerFunction(function))


@frozen
class ArrayType:
    """The type of an array."""

    dtype: np.dtype[Any]
    dimensions: int
    contiguous: bool
    """Whether the elements are contiguous in C order."""

    def __str__(self) -> str:
        """Return numba's notation: `float32[:,:]`, or `float32[:,::1]` if contiguous."""
        last = "::1" if self.contiguous else ":"
        return f"{self.dtype.name}[{','.join([':'] * (self.dimensions - 1) + [last])}]"


@frozen
class TupleType:
    """The type of a named tuple."""

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
    """Return a text that identifies the types of the arguments."""
    if len(arguments) != len(function.annotations):
        name = function.function.__qualname__
        raise TypeError(f"{name} expected {len(function.annotations)} arguments, got {len(arguments)}")
    return " ".join(
        text if text in SCALAR_TYPES else str(type_of(it))
        for text, it in zip(function.annotations, arguments, strict=True)
    )


def plain_arrays(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments with arrays of subclasses, such as mapped files, as plain arrays."""
    return tuple(it.view(np.ndarray) if isinstance(it, np.ndarray) else it for it in arguments)
