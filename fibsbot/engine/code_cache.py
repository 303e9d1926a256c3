"""Cache of machine code on disk: a file for each compiled function, with a checksum.

A file that is damaged, or that was made from other sources, by another compiler or for another processor, is replaced.
Files are in `__pycache__` beside the source or, where that cannot be written, in `fibsbot/code` of the user's cache;
if neither can be written, each process compiles for itself. Of several processes that need the same function, one
compiles it and the others wait. The environment variable FIBSBOT_CODE_CACHE names another folder.

The digest of the sources follows imports by a regular expression: lines that begin with
`from fibsbot.engine.<module> import`, and strings of the form `"fibsbot.engine.<module>"`. A file with compiled code
must not import modules of the engine in any other way (`from fibsbot.engine import x`, or an indented import).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import hashlib
import json
import multiprocessing
import os
import re
import struct
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, Final

import llvmlite.binding as llvm
import numpy as np
from attrs import frozen

from fibsbot.engine.targets import host_target
from fibsbot.files import replacing

FOLDER_VARIABLE: Final = "FIBSBOT_CODE_CACHE"
"""The environment variable that names the folder of the cache."""
MARK: Final = b"fibsbot machine code 2\n"
"""Begins each file."""
_NUMBER: Final = struct.Struct("<I")
"""Two of these follow the mark: a checksum of the rest of the file, and the length of a description in JSON. The
description is followed by the object files."""
LOCK: Final = "compiling.lock"
"""A file of each folder, in which a process locks one byte for each function that it compiles."""
MAX_WAIT: Final = 240.0
"""Seconds that a process waits for another one that compiles the same function; then it compiles for itself.

The longest functions take half a minute of the processor, which is minutes on a busy machine.
"""
SILENCE: Final = 1.0
"""Seconds of compilation, or of waiting for another process that compiles, after which a line says so."""
_IMPORTS: Final = re.compile(rb"^from (fibsbot\.engine[\w.]*) import |\"(fibsbot\.engine\.\w+)\"", re.MULTILINE)
"""Imports of a file of the engine from other files of the engine."""

_warned: Final[set[str]] = set()
"""Folders that a warning was logged for: one line is enough for a hundred functions."""
_engines: Final[list[Any]] = []
"""Owners of the loaded code, which must not be freed."""


@frozen
class Code:
    """Machine code of a function for one combination of argument types."""

    key: str
    """The types of its arguments."""
    entry: str
    """The name of the function in `content`."""
    needs: tuple[str, ...]
    """Symbols of other libraries that it calls."""
    content: bytes
    """An object file."""


def load(function: Callable[..., Any]) -> list[Code]:
    """Return the cached code of a function, as far as it is valid."""
    for folder in _folders(function):
        path = folder / _name(function)
        try:
            content = path.read_bytes()
        except OSError:
            continue
        try:
            stamp, codes = _read(content)
        except (ValueError, KeyError, TypeError, struct.error):
            _warn(folder, "compiled code was damaged and is compiled again")
            return []
        return codes if stamp == _stamp(function) else []
    return []


def save(function: Callable[..., Any], code: Code) -> None:
    """Add code to the cache; log a warning if it cannot be written."""
    codes = [*(kept for kept in load(function) if kept.key != code.key), code]
    trouble: OSError | None = None
    for folder in _folders(function):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with replacing(folder / _name(function)) as part:
                part.write_bytes(_dump(_stamp(function), codes))
        except OSError as error:
            trouble = trouble or error
        else:
            return
    if trouble:
        _warn(_folders(function)[0], f"compiled code cannot be kept: {trouble.strerror or trouble}")


@contextlib.contextmanager
def compiling(function: Callable[..., Any]) -> Iterator[None]:
    """Wait for other processes that compile a function, then keep them waiting.

    What they have compiled is in the cache, so that the caller must look there again.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(_progress.step())
        for folder in _folders(function):
            with contextlib.suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)
                _wait_for_lock(stack.enter_context((folder / LOCK).open("ab")), zlib.crc32(_name(function).encode()))
                break
        yield


def link(code: Code) -> int:
    """Load code into memory and return the address of its entry; 0 if it needs symbols that do not exist.

    Raises OSError where this process may not make memory executable.
    """
    _check_memory()
    missing = [name for name in code.needs if not llvm.address_of_symbol(name)]
    if missing:
        return 0
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code.content))
    engine.finalize_object()
    _engines.append(engine)
    return int(engine.get_function_address(code.entry))


@functools.cache
def _check_memory() -> None:
    """Raise OSError where memory cannot be made executable: LLVM would not notice, and the first call would crash."""
    llvm.check_jit_execution()


def target_machine() -> Any:
    """Return LLVM's target machine for this processor."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    found = llvm.Target.from_default_triple()
    reloc = "static" if found.name.startswith("x86") else "default"
    return found.create_target_machine(cpu=host_target().cpu, opt=3, reloc=reloc, codemodel="jitdefault", jit=True)


# -- files -------------------------------------------------------------------------------------------------------------


def _folders(function: Callable[..., Any]) -> list[Path]:
    """Return the possible folders for a function's code, the best first; none for a closure."""
    if function.__closure__:
        return []
    if own := os.environ.get(FOLDER_VARIABLE):
        return [Path(own)]
    beside = Path(function.__code__.co_filename).parent / "__pycache__"
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        return [beside, Path(cache).expanduser() / "fibsbot" / "code"]
    except RuntimeError:  # there is no home directory
        return [beside]


def _name(function: Callable[..., Any]) -> str:
    name = re.sub(r"[^\w.]", "", f"{function.__module__}.{function.__qualname__}")
    return f"{name}-{function.__code__.co_firstlineno}.{sys.implementation.cache_tag}.code"


def _dump(stamp: str, codes: list[Code]) -> bytes:
    rows = [[code.key, code.entry, code.needs, len(code.content)] for code in codes]
    description = json.dumps({"stamp": stamp, "codes": rows}).encode()
    body = _NUMBER.pack(len(description)) + description + b"".join(code.content for code in codes)
    return MARK + _NUMBER.pack(zlib.crc32(body)) + body


def _read(content: bytes) -> tuple[str, list[Code]]:
    """Return stamp and codes of a file; raise ValueError, KeyError, TypeError or struct.error if it is damaged."""
    if not content.startswith(MARK):
        raise ValueError("expected another beginning")
    body = content[len(MARK) + _NUMBER.size :]
    if _NUMBER.unpack_from(content, len(MARK)) != (zlib.crc32(body),):
        raise ValueError("expected another checksum")
    (length,) = _NUMBER.unpack_from(body)
    begin = _NUMBER.size + length
    description = json.loads(body[_NUMBER.size : begin])
    codes = []
    for key, entry, needs, size in description["codes"]:
        codes.append(Code(key, entry, tuple(needs), body[begin : begin + size]))
        begin += size
    return description["stamp"], codes


def _wait_for_lock(file: IO[bytes], place: int) -> None:
    """Lock a byte of a file until it is closed. Raises OSError if the file system has no locks."""
    deadline = time.monotonic() + MAX_WAIT
    while time.monotonic() < deadline:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except OSError as error:
            if error.errno not in {errno.EACCES, errno.EAGAIN}:
                raise
            _progress.check()
            time.sleep(0.01)
        else:
            return


class _Progress:
    """Says once, and in one process of several, that the first start takes long.

    A function's compilation begins with those that it calls, and one that takes long comes after many short ones, so
    that it is enough to look at the clock when one begins.
    """

    def __init__(self) -> None:
        """Nothing is compiled yet."""
        self._spent = 0.0
        """Seconds of all steps that have ended."""
        self._began: float | None = None
        """When the outermost step that is on began."""
        self._is_said = False

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Count the time of the block, which may be within another one's."""
        if self._began is not None:
            self.check()
            yield
            return
        self._began = time.monotonic()
        try:
            self.check()
            yield
        finally:
            self._spent += time.monotonic() - self._began
            self._began = None

    def check(self) -> None:
        """Write the line if enough time has passed."""
        began = self._began
        if self._is_said or began is None or self._spent + time.monotonic() - began < SILENCE:
            return
        self._is_said = True
        if multiprocessing.parent_process() is None and _is_watched():
            _log("info", "the engine is compiled on its first start, which takes about half a minute")


_progress: Final = _Progress()


def _is_watched() -> bool:
    """Return whether somebody may look on: a program's log, a terminal, a notebook; not whoever reads a pipe."""
    import structlog  # noqa: PLC0415 - rarely needed

    return structlog.is_configured() or sys.stderr.isatty() or "ipykernel" in sys.modules


def _warn(folder: Path, text: str) -> None:
    """Log a warning, once for each folder."""
    if str(folder) in _warned:
        return
    _warned.add(str(folder))
    _log("warning", text, folder=str(folder))


def _log(level: str, text: str, **more: str) -> None:
    """Write a line to the program's log if it is configured, else to stderr."""
    import structlog  # noqa: PLC0415 - rarely needed

    if structlog.is_configured():
        getattr(structlog.get_logger(__name__), level)(text, **more)
    else:
        sys.stderr.write(": ".join(["fibsbot", text, *more.values()]) + "\n")


# -- digest of the sources ---------------------------------------------------------------------------------------------


def _stamp(function: Callable[..., Any]) -> str:
    """Return a digest of everything that the code depends on."""
    return _digest(function.__code__.co_filename) + _surroundings()


@functools.cache
def _surroundings() -> str:
    llvm_version = f"{version('llvmlite')} {llvm.llvm_version_info}"
    text = " ".join((llvm.get_process_triple(), host_target().name, version("numba"), llvm_version, np.__version__))
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def _digest(file: str) -> str:
    """Return a digest of a file, the compiler, and all files of the engine that they import, directly or indirectly."""
    seen: set[Path] = set()
    left = [Path(file), *map(_path, (b"fibsbot.engine.jit_compiler", b"fibsbot.engine.intrinsics", __name__.encode()))]
    digest = hashlib.sha256()
    while left:
        path = left.pop()
        if path not in seen:
            seen.add(path)
            content, imported = _content(path)
            digest.update(content)
            left += imported
    return digest.hexdigest()


@functools.cache
def _content(path: Path) -> tuple[bytes, tuple[Path, ...]]:
    """Return a digest of a file, and the files of the engine that it imports."""
    text = path.read_bytes()
    names = [one or other for one, other in _IMPORTS.findall(text)]
    return hashlib.sha256(text).digest(), tuple(map(_path, names))


def _path(module: bytes) -> Path:
    """Return the file of a module of the engine, whether it is imported or not."""
    name = module.decode()
    known = getattr(sys.modules.get(name), "__file__", None)
    if known:
        return Path(known)
    place = Path(__file__).parents[2].joinpath(*name.split("."))
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
