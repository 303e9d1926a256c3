"""The journal of a run: finished pieces in a file of the client, so that the same command goes on where it was ended.

A line per piece: `key result`, the result pickled, compressed and in base 64. The file is only appended to, and each
line is flushed. A last line that was cut off, as by a kill or a full disk, is dropped. Keys begin with the fingerprint
of the run, so that results of other versions, networks or settings are never taken; they may stay in the file. A file
that does not begin like a journal is left as it is.
"""

from __future__ import annotations

import base64
import os
import pickle
import re
import zlib
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from fibsbot.files import PRIVATE, make_private, private_opener, replacing
from fibsbot.text import one_line
from fibsbot.workers.errors import WorkError

_LINE: Final = re.compile(rb"([0-9a-f]+):[^ \n]+ [A-Za-z0-9+/]+={0,2}\n")
_CUT_LINE: Final = re.compile(rb"([0-9a-f]+):([^ \n]+( [A-Za-z0-9+/]*={0,2})?)?")
"""With the fingerprint, which is always as long as that of this run."""
_SEEN: Final = 1 << 20
"""Bytes of the first line that are compared: another file may be one long line."""


class JournalError(WorkError):
    """A journal that cannot be used; the text says why, in one line."""


class Journal:
    """Keys and results of finished pieces, in memory as the places of their lines in the file."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        """Open a journal, or begin one; raise JournalError if it cannot be used.

        Reading a result unpickles it. So the file must belong to this user and be writable by nobody else.

        Args:
            path: the file; one that is there must be a journal, or empty.
            fingerprint: of all that the results depend on besides the keys, in hexadecimal digits.
        """
        self._path = path
        self._prefix = f"{fingerprint}:".encode()
        self._places: dict[bytes, tuple[int, int]] = {}
        try:
            self._file: IO[bytes] = open(path, "a+b", opener=_opener)  # noqa: SIM115 - closed by `close`
            self._check_form()
            make_private(path)
            self._check_owner()
            self._read()
        except OSError as error:
            raise JournalError(f"{path}: {one_line(error.strerror or error)}") from None

    def __contains__(self, key: str) -> bool:
        return self._key(key) in self._places

    def __len__(self) -> int:
        return len(self._places)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def result(self, key: str) -> Any:
        """Return the result of a finished piece; raise JournalError if the file was changed meanwhile."""
        start, size = self._places[self._key(key)]
        self._file.seek(start)
        return self._decoded(self._file.read(size), key)

    def add(self, key: str, result: Any) -> None:
        """Write a finished piece; raise JournalError where that fails."""
        name = self._key(key)
        text = base64.b64encode(zlib.compress(pickle.dumps(result), 1))
        try:
            start = self._file.seek(0, os.SEEK_END)
            self._file.write(name + b" " + text + b"\n")
            self._file.flush()
        except OSError as error:
            raise JournalError(f"{self._path}: {one_line(error.strerror or error)}") from None
        self._places[name] = start + len(name) + 1, len(text)

    def discard(self, keys: Iterable[str]) -> None:
        """Drop finished pieces that are kept elsewhere by now; raise JournalError where that fails.

        The file is replaced by one with the other pieces of this run.
        """
        for key in keys:
            self._places.pop(self._key(key), None)
        places: dict[bytes, tuple[int, int]] = {}
        try:
            with replacing(self._path) as part, open(part, "wb", opener=private_opener) as file:
                for name, (start, size) in self._places.items():
                    self._file.seek(start)
                    file.write(name + b" ")
                    places[name] = file.tell(), size
                    file.write(self._file.read(size) + b"\n")
            self._file.close()
            self._file = open(self._path, "a+b", opener=private_opener)  # noqa: SIM115 - closed by `close`
        except OSError as error:
            raise JournalError(f"{self._path}: {one_line(error.strerror or error)}") from None
        self._places = places

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _key(self, key: str) -> bytes:
        return self._prefix + key.replace("%", "%25").replace(" ", "%20").replace("\n", "%0A").encode()

    def _check_form(self) -> None:
        """Raise JournalError for a file that somebody else has written, before anything of it is changed."""
        self._file.seek(0)
        line = self._file.readline(_SEEN)
        found = (_LINE if line.endswith(b"\n") else _CUT_LINE).fullmatch(line)
        digits = len(self._prefix) - 1
        is_ours = len(found[1]) == digits if found else 2 * len(line) >= digits and self._prefix.startswith(line)
        if line and not is_ours:
            self._file.close()
            raise JournalError(f"{self._path}: expected a journal or a new file, got something else")

    def _check_owner(self) -> None:
        found = os.fstat(self._file.fileno())
        if found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise JournalError(f"{self._path}: expected a file that only this user may write")

    def _read(self) -> None:
        """Note the places of the lines, and cut off a last line without its end."""
        self._file.seek(0)
        start = 0
        for line in self._file:
            if not line.endswith(b"\n"):
                self._file.truncate(start)
                break
            name, _, text = line.rstrip(b"\n").partition(b" ")
            if name.startswith(self._prefix):
                self._places[name] = start + len(name) + 1, len(text)
            start += len(line)

    def _decoded(self, text: bytes, key: str) -> Any:
        try:
            return pickle.loads(zlib.decompress(base64.b64decode(text)))  # noqa: S301 - a file of this user alone
        except (ValueError, zlib.error, pickle.UnpicklingError, EOFError, AttributeError, ImportError) as error:
            raise JournalError(f"{self._path}: cannot read the result of {key}: {one_line(error)}") from None


def _opener(path: str, flags: int) -> int:
    """Open a file, new ones for this user alone; the mode of one that is there stays until it is known to be ours."""
    return os.open(path, flags | os.O_CLOEXEC, PRIVATE)
