"""The one way in which the engine compiles a function of numbers and arrays, and calls what was compiled.

Machine code is compiled once (`compiling`, which takes numba, and that takes a moment to load) and kept (`code_cache`).
Every later start loads it from there and needs no compiler.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Generic, ParamSpec, TypeVar, cast

import numpy as np

from fibsbot.engine import code_cache

if TYPE_CHECKING:
    from fibsbot.engine.code_cache import Code

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

OTHER_TYPES: Final = -(1 << 63)
"""What machine code returns that was compiled for other types than those of its arguments; NaN where it returns a
floating-point number."""

NUMBERS: Final[dict[str, Any]] = {
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


class Inner:
    """A function that is compiled into others; Python cannot call it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Take the function as it is written."""
        self.__doc__ = function.__doc__
        self.function = function


class Instruction:
    """What compiled functions may call that is written in LLVM's intermediate representation.

    It is built when something is compiled, by the function of that name in a module that Python need not import before.
    """

    def __init__(self, module: str, name: str, *arguments: object) -> None:
        """Say what makes it: a function of a module, and its arguments."""
        self.module = module
        self.name = name
        self.arguments = arguments


class Compiled(Inner, Generic[Arguments, Result]):
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
        passed = [NUMBERS.get(text, ctypes.py_object) for text in self.annotations]
        number = ctypes.c_double if returned == "float" else ctypes.c_int64
        # This lets go of Python's lock, so that threads run side by side.
        self._prototype = ctypes.CFUNCTYPE(number, ctypes.py_object, *passed)
        self._codes: dict[str, Any] = {}
        self._ways: tuple[Any, ...] = ()

    def __call__(self, *arguments: Arguments.args, **_: Arguments.kwargs) -> Result:
        """Call the machine code for these types; load or compile it first where it is not there yet."""
        for way in self._ways:
            result = way(np.ndarray, *arguments)
            if result != OTHER_TYPES and result == result:  # noqa: PLR0124 - NaN is not equal to itself
                return cast("Result", self._result(result))
        return self._first_call(arguments)

    def is_missing(self) -> bool:
        """Whether nothing is kept yet that was compiled."""
        with _lock:
            if not self._ways:
                self._load()
            return not self._ways

    def _first_call(self, arguments: tuple[Any, ...]) -> Result:
        from fibsbot.engine import code_types  # noqa: PLC0415 - not wanted once all is loaded

        plain = code_types.plain(arguments)
        key = code_types.key(self, plain)
        with _lock:
            if key not in self._codes:
                self._load()
            if key not in self._codes:
                from fibsbot.engine import compiling  # noqa: PLC0415 - loads numba

                code = compiling.compile_for(self, key, plain)
                self.made += 1
                self._add(code)
                code_cache.save(self.function, code)
            way = self._codes[key]
        result = way(np.ndarray, *plain)
        if result == OTHER_TYPES or math.isnan(result):
            raise RuntimeError(f"{self.function.__qualname__} cannot work with {key}")
        return cast("Result", self._result(result))

    def _load(self) -> None:
        """Take what is kept by now: another process may have compiled something meanwhile."""
        for code in code_cache.load(self.function):
            if code.key not in self._codes:
                self._add(code)

    def _add(self, code: Code) -> None:
        address = code_cache.run(code)
        if address:
            self._codes[code.key] = way = self._prototype(address)
            self._ways = (*self._ways, way)


def compiled(function: Callable[Arguments, Result]) -> Compiled[Arguments, Result]:
    """Compile a function of numbers and arrays at its first call.

    Each argument is an int, a bool, a float, a np.float32 (and annotated so), an array, or a named tuple of arrays and
    such tuples; the result is a number, a bool or nothing. It makes no arrays, nor copies one to another as a whole:
    nothing is there that would count who uses them. It must not call itself and raises no errors; arrays are not
    checked for their bounds. For `array.shape[0]` and for powers numba compiles functions of its own; `len(array)` and
    products need none. It runs without Python's lock, so that threads run side by side.
    """
    return Compiled(function)


def inner(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a function that compiled ones alone call: Python cannot."""
    return cast("Callable[Arguments, Result]", Inner(function))
