"""Files that appear whole, files that only their owner may read and write, and errors of the system in one line."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

PRIVATE: Final = 0o600
"""Mode of a file that only its owner may read and write."""
_LASTING: Final = frozenset(
    {
        errno.EACCES,
        errno.EADDRNOTAVAIL,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EPERM,
        errno.EROFS,
    }
)


def at_home(path: str | Path) -> Path:
    """Return a path with `~` and `~name` replaced; unchanged where there is no such home, as a shell leaves it."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


class DocumentError(ValueError):
    """A text is no TOML or JSON that can be read; the text is one line."""


def read_toml(data: bytes) -> dict[str, Any]:
    """Return the tables of a file that anybody may have written. Raises DocumentError; UnicodeDecodeError."""
    import tomllib  # noqa: PLC0415 - few commands read TOML

    tables: dict[str, Any] = _guarded(tomllib.loads, _decoded(data))
    return tables


def read_json(data: bytes) -> Any:
    """Return the value of a file that anybody may have written. Raises DocumentError; UnicodeDecodeError."""
    return _guarded(json.loads, _decoded(data))


def _decoded(data: bytes) -> str:
    return data.decode("utf-8-sig")  # Windows' editors write a byte order mark


def _guarded(parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except RecursionError:
        raise DocumentError("values that are nested too deep") from None
    except ValueError as error:  # also of a number that has thousands of digits
        raise DocumentError(" ".join(str(error).split()).partition(";")[0]) from None


UNFINISHED: Final = ".part"
"""How the name of a file ends that `replacing` has not finished."""


def make_private(path: Path) -> None:
    """Create an empty file that only its owner may open, or withdraw an existing one from everybody else.

    An existing file is not opened: if it is a SQLite database, closing it would end the locks that this process holds
    on it. The mode of another user's file stays as it is. Raises OSError where the file cannot be created.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE))
    except FileExistsError:
        if _is_open_to_others(path.stat()):
            with contextlib.suppress(PermissionError):
                path.chmod(PRIVATE)


def private_opener(path: str, flags: int) -> int:
    """Open a file as `make_private` leaves it; the `opener` of `open`."""
    handle = os.open(path, flags | os.O_CLOEXEC, PRIVATE)
    if flags & (os.O_WRONLY | os.O_RDWR) and _is_open_to_others(os.fstat(handle)):
        with contextlib.suppress(PermissionError):
            os.fchmod(handle, PRIVATE)
    return handle


@contextlib.contextmanager
def os_errors_as(kind: Callable[[str], Exception], said: str) -> Iterator[None]:
    """Raise an error of this kind, `said` and the system's reason, for an OSError within the block."""
    try:
        yield
    except OSError as error:
        raise kind(f"{said}: {error.strerror or error}") from None


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield the name of a file or folder to make beside `target`; it replaces the target at the end of the block.

    Readers see either the old target or the complete new one. After an error the target is unchanged.
    """
    part = target.with_name(f".{target.name}.{os.getpid()}-{os.urandom(4).hex()}{UNFINISHED}")
    try:
        yield part
        for path in (*(part.iterdir() if part.is_dir() else ()), part):
            write_to_disk(path)
        part.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            for left in part.iterdir() if part.is_dir() else ():
                left.unlink()
            part.rmdir() if part.is_dir() else part.unlink(missing_ok=True)
        raise
    write_to_disk(target.parent)


def check_writable(target: Path) -> None:
    """Raise OSError unless a file can be made beside `target`, whose folder is created if need be."""
    target.parent.mkdir(parents=True, exist_ok=True)
    _make_unnamed_file(target.parent)


def is_disk_full(error: OSError) -> bool:
    """Whether an error says that there is no room, which may pass without anybody changing a setting."""
    return error.errno in {errno.ENOSPC, errno.EDQUOT}


def is_lasting(error: OSError) -> bool:
    """Whether an error stays until somebody changes a setting or the machine: a wrong path, not a full queue."""
    return error.errno is None or error.errno in _LASTING


def check_can_create(folder: Path) -> None:
    """Raise OSError unless files can be made in a folder, or in the first of its parents that exists. Leaves no trace.

    A file is made, because a system that grants access may still refuse: /proc allows root to write.
    """
    existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    _make_unnamed_file(existing)


def _make_unnamed_file(folder: Path) -> None:
    """Raise OSError unless a file can be made in a folder; it has no name, and no longer exists then."""
    import tempfile  # noqa: PLC0415 - slow to import, with the compressions of shutil

    with tempfile.TemporaryFile(dir=folder):
        pass


def write_to_disk(path: Path) -> None:
    """Write what the system still holds back of a file, or of the names in a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def private_database(path: Path) -> Iterator[None]:
    """Make a SQLite database private that is opened for writing within; what cannot be opened keeps its mode.

    SQLite gives the files `-wal` and `-shm` that it creates the mode of the database. No error is raised here: SQLite
    says what is wrong with the file.
    """
    if not path.exists():
        with contextlib.suppress(OSError):
            make_private(path)
    yield
    for part in (path, *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm", "-journal"))):
        if part.exists():
            with contextlib.suppress(OSError):
                make_private(part)


def _is_open_to_others(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and bool(found.st_mode & 0o077)
