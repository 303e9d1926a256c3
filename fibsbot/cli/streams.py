"""Standard output and standard error: no password passes, and when the reader goes away the command ends quietly."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final, TextIO, cast

from fibsbot.redaction import redacted

EXIT_READER_GONE: Final = 141
"""What a shell says of a program that SIGPIPE has ended."""


class ReaderGoneError(BaseException):
    """Nobody reads standard output any more. Not an Exception, so that nobody takes it for a failed connection."""


class Stream:
    """A file for people, without passwords; in everything else it is the file.

    When its reader goes away, as `head` does, what is written from then on is lost.
    """

    def __init__(self, file: TextIO, *, ends: bool) -> None:
        """Write to this file; `ends`: raise ReaderGoneError when its reader has gone."""
        self._file = file
        self._ends = ends
        self.reader_gone = False

    def write(self, text: str) -> int:
        """Write a text; return how many characters it has."""
        self._try(lambda: self._file.write(redacted(text)))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Write what waits in the buffer."""
        self._try(self._file.flush)

    def __getattr__(self, name: str) -> Any:
        """Return what the file has under this name."""
        return getattr(self._file, name)

    def _try(self, write: Callable[[], object]) -> None:
        try:
            write()
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._file.fileno())
            os.close(nowhere)
            self.reader_gone = True
            if self._ends:
                raise ReaderGoneError from None


def replace_streams() -> Stream | None:
    """Put both streams of this process behind a Stream; return standard output, None where there is none."""
    out = None
    if sys.stdout is not None:
        out = Stream(sys.stdout, ends=True)
        sys.stdout = cast("TextIO", out)
    if sys.stderr is not None:
        sys.stderr = cast("TextIO", Stream(sys.stderr, ends=False))
    return out
