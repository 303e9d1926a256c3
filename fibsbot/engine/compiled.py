"""The one way in which the engine compiles a function: numba, without Python's lock, kept on disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from numba import njit

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def compiled(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a function of numbers and arrays at its first call.

    It runs without Python's lock, so that threads run side by side, and what was compiled is kept beside the source or,
    where that cannot be written, in the user's cache. A compiled function must not call itself: numba cannot load such
    a one from its cache.
    """
    return cast(
        "Callable[Arguments, Result]", _njit(cache=True, nogil=True, fastmath=True, error_model="numpy")(function)
    )


def inlined(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a small function into each of those that call it."""
    return cast(
        "Callable[Arguments, Result]",
        _njit(cache=True, nogil=True, fastmath=True, error_model="numpy", inline="always")(function),
    )


_njit: Any = njit
