"""The one way in which the engine compiles a function: numba, without Python's lock, kept on disk."""

from __future__ import annotations

import functools
import hashlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, cast

from numba import njit
from numba.core.caching import IndexDataCacheFile

from fibsbot.engine.code_cache import CheckedCacheFile

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_LEAN: Final = {"_nrt": False, "no_rewrites": True, "no_cfunc_wrapper": True}
"""What nobody here needs of the compiler: counting who uses an array, a loop for each sum of arrays, calls from C."""

_IMPORTS: Final = re.compile(rb"^from (fibsbot\.engine[\w.]*) import ", re.MULTILINE)
"""What a file of the engine takes from others of its files."""


def compiled(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a function of numbers and arrays at its first call.

    It must make no arrays, nor copy one to another; of one that does numba says "NRT required", and it is `allocating`.
    For `array.shape[0]` and for powers numba compiles functions of its own; `len(array)` and products need none.
    It runs without Python's lock, so that threads run side by side, and what was compiled is kept beside the source or,
    where that cannot be written, in the user's cache; where neither can, each process compiles for itself. A compiled
    function must not call itself: numba cannot load such a one from its cache.
    """
    return cast("Callable[Arguments, Result]", _compile(function, **_lean()))


def allocating(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a function in the same way that makes arrays or copies them, which takes a tenth longer."""
    return cast("Callable[Arguments, Result]", _compile(function))


def inner(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compile a function that compiled ones alone call: Python cannot, which saves a tenth of the time it takes."""
    return cast("Callable[Arguments, Result]", _compile(function, no_cpython_wrapper=True, **_lean()))


def _compile(function: Callable[..., Any], **options: bool) -> Callable[..., Any]:
    how = {"nogil": True, "fastmath": True, "error_model": "numpy", **options}
    try:
        compiler = _njit(cache=True, **how)(function)
    except RuntimeError:  # numba has found no folder that can be written
        return cast("Callable[..., Any]", _njit(**how)(function))
    # Numba compares only the function's own file with what it has kept. What it calls, and constants, are compiled into
    # it and come from other files, too.
    cache: Any = getattr(compiler, "_cache", None)
    if isinstance(plain := getattr(cache, "_cache_file", None), IndexDataCacheFile):
        stamp = _stamp(Path(function.__code__.co_filename))
        cache._cache_file = CheckedCacheFile(plain, stamp)  # noqa: SLF001 - there is no other way
    return cast("Callable[..., Any]", compiler)


def is_missing(function: Callable[..., object]) -> bool:
    """Whether nothing is kept yet of a compiled function, though it could be."""
    kept = getattr(getattr(function, "_cache", None), "_cache_file", None)
    return kept is not None and not kept._load_index()  # noqa: SLF001 - there is no other way


@functools.cache
def _lean() -> dict[str, bool]:
    """Return options with which compiling is a tenth shorter, if this numba knows them: not all of them are public."""
    known = getattr(getattr(_njit(is_missing), "targetdescr", None), "options", None)
    return {name: value for name, value in _LEAN.items() if hasattr(known, name)}


@functools.cache
def _stamp(path: Path) -> str:
    """Return a digest of a file and of all files of the engine that it imports, and that those import."""
    seen: set[Path] = set()
    left = [path]
    digest = hashlib.sha256()
    while left:
        file = left.pop()
        if file not in seen:
            seen.add(file)
            content, imported = _read(file)
            digest.update(content)
            left += imported
    return digest.hexdigest()


@functools.cache
def _read(path: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Return a digest of a file, and which files of the engine it imports; they have been imported by now."""
    text = path.read_bytes()
    modules = [sys.modules.get(name.decode()) for name in _IMPORTS.findall(text)]
    return hashlib.sha256(text).digest(), tuple(Path(it.__file__) for it in modules if it and it.__file__)


_njit: Any = njit
