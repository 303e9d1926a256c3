"""Recognise that a command failed because the system refused it memory or threads, whatever error came of it."""

from __future__ import annotations

import errno
import resource
from collections.abc import Iterator
from typing import Final

_REFUSED: Final = ("can't start new thread", "failed to map segment", "cannot allocate memory", "failed to allocate")
"""What threads, the dynamic linker and OpenBLAS say when they get no memory."""


def shortage(error: BaseException) -> str | None:
    """Return what memory or threads were missing for, as a sentence; None if the error is about something else."""
    if not any(_is_shortage(one) for one in _chain(error)):
        return None
    limit = _limit()
    least = "" if limit is None else f", got at most {limit // 1024} KiB (`ulimit -v`)"
    said = " ".join(str(error).split())[:200]
    return f"expected enough memory and threads for this command{least}: {type(error).__name__}{said and f': {said}'}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and those that it came from."""
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield following
        following = following.__cause__ or following.__context__


def _is_shortage(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    if not isinstance(error, OSError | ImportError | RuntimeError):
        return False
    text = str(error).lower()
    # llvmlite says of a library that could not be mapped only that it could not be loaded.
    unloadable = "could not find/load shared object file" in text and _limit() is not None
    return unloadable or any(words in text for words in _REFUSED)


def _limit() -> int | None:
    """Return how many bytes this process may map; None if there is no limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft
