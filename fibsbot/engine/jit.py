"""Functions of numbers and arrays that run as machine code.

The machine code comes from the library that was built with the package (`kernel_library`). Where there is none, as in a
checkout, functions are compiled at their first call (`jit_compiler`, the only module that imports numba) and cached on
disk (`code_cache`); later starts load them from there through llvmlite and never import numba.

Either way a function is compiled for the types that it declares and takes no others: `arrays` has the types of arrays.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import importlib.util
import math
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, Generic, ParamSpec, TypeVar, cast

import numpy as np

from fibsbot.engine import EngineUnavailableError
from fibsbot.engine.kernel_library import kernel_name, load_library
from fibsbot.engine.object_layout import ObjectLayout, layout_table
from fibsbot.engine.signatures import SCALAR_TYPES, TYPE_MISMATCH, DeclaredFunction, InnerFunction, describe

if TYPE_CHECKING:
    from fibsbot.engine.code_cache import Code
    from fibsbot.engine.targets import Target

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

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


class NoMachineCodeError(EngineUnavailableError):
    """There is neither a library of kernels for this machine nor a compiler; the text is one line."""


LAYOUT: Final = layout_table(ObjectLayout.of_this_python())
"""The table of `object_layout`, passed to each call."""
_LAYOUT_ADDRESS: Final = ctypes.addressof(LAYOUT)
LIBRARY: Final = load_library()
"""The library of kernels; None if functions are compiled when they are called."""
_HINT: Final = "`pip install 'fibsbot[jit]'` brings one"


@functools.cache
def _has_compiler() -> bool:
    """Return whether functions can be compiled."""
    return importlib.util.find_spec("numba") is not None


def require_compiler(what: str) -> None:
    """Raise NoMachineCodeError if functions cannot be compiled here; `what` says what needs that."""
    if not _has_compiler():
        raise NoMachineCodeError(f"expected a compiler for {what}, which no library has, found none; {_HINT}")


if LIBRARY is None and not _has_compiler():  # now, and not in the middle of a match
    raise NoMachineCodeError(
        f"expected machine code of the engine for this platform or a compiler to make it, found neither; {_HINT}"
    )

_compiled_for: Final[list[Target]] = []
"""The target that `compile_for_target` has chosen."""


def compile_for_target(target: Target) -> None:
    """Compile for a target that need not be this machine's; called before a module with compiled functions is imported.

    For the builder of libraries: the functions cannot be called then.
    """
    _compiled_for[:] = [target]


@functools.cache
def target() -> Target:
    """Return the target whose machine code runs in this process; raise TargetError if the environment has no such."""
    if _compiled_for:
        return _compiled_for[0]
    if LIBRARY is not None:
        return LIBRARY.target
    from fibsbot.engine.targets import host_target  # noqa: PLC0415 - loads llvmlite

    return host_target()


def runnable_targets() -> tuple[Target, ...]:
    """Return the targets that this process could run, by its library or its compiler, the preferred one first."""
    if LIBRARY is not None:
        return LIBRARY.targets
    from fibsbot.engine.targets import host_targets  # noqa: PLC0415 - loads llvmlite

    return host_targets()


class CompiledFunction(DeclaredFunction, Generic[Arguments, Result]):
    """A function that Python can call; its machine code is loaded, or compiled, at the first call."""

    def __init__(self, function: Callable[Arguments, Result]) -> None:
        """The function needs an annotation for each argument and for its result."""
        super().__init__(function)
        self.made = 0
        """How often it was compiled in this process; tests read it."""
        self._result = _RESULTS[self.returned]
        passed = [SCALAR_TYPES.get(text, ctypes.py_object) for text in self.annotations]
        number = ctypes.c_double if self.returned == "float" else ctypes.c_int64
        # Functions of CFUNCTYPE release the global interpreter lock, so that threads run side by side.
        self._prototype = ctypes.CFUNCTYPE(number, ctypes.c_void_p, *passed)
        self._codes: dict[str, Any] = {}
        self._ways: tuple[Any, ...] = ()

    def __call__(self, *arguments: Arguments.args, **_: Arguments.kwargs) -> Result:
        """Call the machine code. Raises TypeError for arguments of other types than those declared."""
        for way in self._ways:
            result = way(_LAYOUT_ADDRESS, *arguments)
            if result != TYPE_MISMATCH and result == result:  # noqa: PLR0124 - NaN is not equal to itself
                return cast("Result", self._result(result))
        return self._first_call(arguments)

    def is_missing(self) -> bool:
        """Return whether there is no machine code of this function yet."""
        with _lock:
            if not self._ways:
                self._load()
            return not self._ways

    def _first_call(self, arguments: tuple[Any, ...]) -> Result:
        plain = plain_arrays(arguments)
        key = signature_key(self, plain)
        if key not in self.signatures:
            name = self.function.__qualname__
            raise TypeError(f"{name} expected arguments of the types {' or '.join(self.signatures)}, got {key}")
        with _lock:
            if key not in self._codes:
                self._load()
            if key not in self._codes:
                self._compile(key)
            way = self._codes[key]
        result = way(_LAYOUT_ADDRESS, *plain)
        if result == TYPE_MISMATCH or math.isnan(result):
            raise RuntimeError(f"{self.function.__qualname__} cannot work with {key}")
        return cast("Result", self._result(result))

    def _compile(self, key: str) -> None:
        """Compile for these types, unless another process is just doing so."""
        require_compiler(self.function.__qualname__)
        from fibsbot.engine import code_cache  # noqa: PLC0415 - loads llvmlite

        with code_cache.compiling(self.function):
            self._load()
            if key not in self._codes:
                with no_garbage_collection():
                    from fibsbot.engine import jit_compiler  # noqa: PLC0415 - loads numba

                    code = jit_compiler.compile_for(self, key)
                self.made += 1
                self._add(code)
                code_cache.save(self.function, code)

    def _load(self) -> None:
        """Load machine code from the library, or from the cache, where another process may have stored it."""
        if LIBRARY is not None:
            for variant, key in enumerate(self.signatures):
                symbol = LIBRARY.symbol(kernel_name(self.function.__module__, self.function.__name__, variant))
                if symbol is not None:
                    self._codes[key] = self._prototype(symbol)
            self._ways = tuple(self._codes.values())
        if not self._codes and _has_compiler():
            from fibsbot.engine import code_cache  # noqa: PLC0415 - loads llvmlite

            for code in code_cache.load(self.function):
                if code.key not in self._codes:
                    self._add(code)

    def _add(self, code: Code) -> None:
        from fibsbot.engine import code_cache  # noqa: PLC0415 - loads llvmlite

        address = code_cache.link(code)
        if not address:  # numba's own functions, such as its random numbers, are known once it has been loaded
            from fibsbot.engine import jit_compiler  # noqa: PLC0415 - loads numba

            jit_compiler.make_symbols_known()
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
    """Let a function of numbers and arrays run as machine code.

    Each argument is annotated as int, bool, float or np.float32, as an array by one of the types of `arrays`, or as a
    named tuple of such arrays and tuples. The result is a number, a bool or None. The function must not create arrays
    or assign one array to another as a whole, because reference counting is compiled out. It must not call itself,
    raises no exceptions, and indices are not checked. Prefer `len(array)` to `array.shape[0]` and products to powers:
    the latter make numba compile helper functions. It runs without the global interpreter lock.
    """
    return CompiledFunction(function)


def inner(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Mark a function to be compiled into its compiled callers; Python cannot call it."""
    return cast("Callable[Arguments, Result]", InnerFunction(function))


def signature_key(function: CompiledFunction[..., Any], arguments: tuple[Any, ...]) -> str:
    """Return a text that identifies the types of the arguments."""
    if len(arguments) != len(function.annotations):
        name = function.function.__qualname__
        raise TypeError(f"{name} expected {len(function.annotations)} arguments, got {len(arguments)}")
    return " ".join(
        text if text in SCALAR_TYPES else describe(argument)
        for text, argument in zip(function.annotations, arguments, strict=True)
    )


def plain_arrays(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments with arrays of subclasses, such as mapped files, as plain arrays."""
    return tuple(argument.view(np.ndarray) if isinstance(argument, np.ndarray) else argument for argument in arguments)


if __name__ == "__main__":
    print(*(runnable.name for runnable in runnable_targets()), sep="\n")  # noqa: T201 - what the module is for when it is run
