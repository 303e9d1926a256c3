"""Numba's files of compiled code, with a checksum each: one that a power cut has damaged is compiled anew.

Numba itself reads whatever is there: an empty index raises EOFError from within its compiler, and machine code with a
block of zeros in it ends the process. It offers no way to replace its files but its private names, of which all that
are used stand here.
"""

from __future__ import annotations

import pickle
import struct
import sys
import zlib
from pathlib import Path
from typing import Any, Final

from numba.core.caching import IndexDataCacheFile

MARK: Final = pickle.dumps("fibsbot compiled code 1", protocol=4)
"""Begins each file; numba takes it for an index of another version of itself, and writes a new one."""
_PICKLE: Final = MARK[:1]
"""Begins numba's own files."""
_CHECKSUM: Final = struct.Struct("<I")
_warned: Final[set[str]] = set()
"""Folders with damaged files that were spoken of: one line is enough for a hundred functions."""


class CheckedCacheFile(IndexDataCacheFile):
    """The index and the data files of one function."""

    def __init__(self, plain: Any, stamp: str) -> None:
        """Take the place of numba's own; `stamp` tells one state of the sources from another."""
        vars(self).update(vars(plain))
        self._source_stamp = stamp

    def save(self, key: Any, data: Any) -> None:
        """Keep what was compiled; where it cannot be written, this process goes on with what it has."""
        try:
            super().save(key, data)  # type: ignore[no-untyped-call]  # numba has no types
        except OSError as error:
            _warn(self._cache_path, f"compiled code cannot be kept: {error.strerror or error}")

    def _load_index(self) -> dict[Any, str]:
        try:
            found = self._read(self._index_path)
        except FileNotFoundError:
            return {}
        return found if isinstance(found, dict) else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, overloads)

    def _load_data(self, name: str) -> Any:
        """Return what was compiled; None makes numba compile it again."""
        return self._read(self._data_path(name))  # type: ignore[no-untyped-call]  # numba has no types

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)  # type: ignore[no-untyped-call]  # numba has no types

    def _write(self, path: str, what: Any) -> None:
        data = self._dump((self._version, self._source_stamp, self._dump(what)))  # type: ignore[no-untyped-call]  # numba has no types
        with self._open_for_write(path) as file:
            file.write(MARK + _CHECKSUM.pack(zlib.crc32(data)) + data)

    def _read(self, path: str) -> Any:
        """Return what a file holds; None where it is damaged, of another numba or of other sources.

        Raises OSError where there is none.
        """
        content = Path(path).read_bytes()
        head, data = content[: len(MARK)], content[len(MARK) + _CHECKSUM.size :]
        if head != MARK and head.startswith(_PICKLE) and not MARK.startswith(head):
            return None  # numba's own
        if content != MARK + _CHECKSUM.pack(zlib.crc32(data)) + data:
            _warn(self._cache_path, "compiled code was damaged and is compiled again")
            return None
        version, stamp, kept = pickle.loads(data)  # noqa: S301 - of the user's own folder, as numba does
        return pickle.loads(kept) if (version, stamp) == (self._version, self._source_stamp) else None  # noqa: S301


def _warn(folder: str, text: str) -> None:
    """Log a line: to the program's log where a command has set it up, else as errors are shown."""
    if folder in _warned:
        return
    _warned.add(folder)
    import structlog  # noqa: PLC0415 - rarely wanted

    if structlog.is_configured():
        structlog.get_logger(__name__).warning(text, folder=folder)
    else:
        sys.stderr.write(f"fibsbot: {text}: {folder}\n")
