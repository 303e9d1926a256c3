"""Keys of a terminal, one at a time; the terminal is as it was afterwards, whatever happens."""

from __future__ import annotations

import enum
import os
import re
import select
import signal
import sys
import time
from types import FrameType, TracebackType
from typing import Any, Final, NoReturn, Self

from attrs import define

try:
    import termios
    import tty
except ImportError:  # where there is no such terminal, no key is heard
    HAVE_TERMINALS = False
else:
    HAVE_TERMINALS = True


class Key(enum.Enum):
    """What a key is for."""

    SPACE = enum.auto()
    NEXT = enum.auto()
    PREVIOUS = enum.auto()
    GAME = enum.auto()
    PLAY = enum.auto()
    QUIT = enum.auto()


_KEYS: Final = {
    b" ": Key.SPACE,
    b"\r": Key.NEXT,
    b"\n": Key.NEXT,
    b"n": Key.NEXT,
    b"l": Key.NEXT,
    b"\x1b[C": Key.NEXT,
    b"\x1bOC": Key.NEXT,
    b"b": Key.PREVIOUS,
    b"h": Key.PREVIOUS,
    b"\x7f": Key.PREVIOUS,
    b"\b": Key.PREVIOUS,
    b"\x1b[D": Key.PREVIOUS,
    b"\x1bOD": Key.PREVIOUS,
    b"g": Key.GAME,
    b"\x1b[B": Key.GAME,
    b"\x1bOB": Key.GAME,
    b"\x1b[6~": Key.GAME,
    b"p": Key.PLAY,
    b"q": Key.QUIT,
    b"Q": Key.QUIT,
    b"\x04": Key.QUIT,
}
_LONGEST: Final = max(map(len, _KEYS))
_SEQUENCE: Final = re.compile(rb"\x1b[\[O][0-9;]*[@-~]?")
"""What a key sends that has a name instead of a letter."""
_ESCAPE_PAUSE: Final = 0.05
"""Seconds within which the rest of an arrow key comes."""


class _Waker:
    """A pipe that is readable as soon as a signal has come.

    One that comes just before `select` begins would not end its wait: Python heeds it only afterwards.
    """

    def __init__(self) -> None:
        self.pipe, self._end = os.pipe()
        os.set_blocking(self.pipe, False)
        os.set_blocking(self._end, False)
        self._usual = signal.set_wakeup_fd(self._end, warn_on_full_buffer=False)

    def close(self) -> None:
        signal.set_wakeup_fd(self._usual)
        os.close(self.pipe)
        os.close(self._end)


@define
class Keys:
    """Listens to a terminal; where there is none it hears nothing, and waits all the same."""

    fd: int | None
    """Of the terminal; None for no terminal."""
    _before: list[Any] | None = None
    _terminated: Any = None
    _held: bytes = b""
    _waker: _Waker | None = None

    @classmethod
    def of_stdin(cls) -> Self:
        """Listen to the standard input, if that is a terminal."""
        heard = HAVE_TERMINALS and sys.stdin is not None and sys.stdin.isatty()
        return cls(sys.stdin.fileno() if heard else None)

    @property
    def heard(self) -> bool:
        """Whether keys are heard."""
        return self.fd is not None

    def __enter__(self) -> Self:
        if self.fd is not None:
            self._terminated = signal.signal(signal.SIGTERM, _exit)
            self._waker = _Waker()
            self._before = termios.tcgetattr(self.fd)
            tty.setcbreak(self.fd, termios.TCSADRAIN)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.fd is not None and self._before is not None:
            termios.tcsetattr(self.fd, termios.TCSADRAIN, self._before)
            signal.signal(signal.SIGTERM, self._terminated)
        if self._waker is not None:
            self._waker.close()
            self._waker = None

    def wait(self, seconds: float | None) -> Key | None:
        """Return the next key that means something; None if none came in time. None waits as long as it takes."""
        if self.fd is None:
            time.sleep(seconds or 0.0)
            return None
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            if not self._held and not self._read(left):
                return None
            key = self._take()
            if key is not None:
                return key

    def _read(self, seconds: float | None) -> bool:
        """Read what was typed; return whether anything was. A terminal that is gone says quit."""
        if self.fd is None:
            return False
        listening = [self.fd] if self._waker is None else [self.fd, self._waker.pipe]
        ready = select.select(listening, [], [], seconds)[0]
        if self._waker is not None and self._waker.pipe in ready:
            os.read(self._waker.pipe, 64)  # a signal that lets the wait go on is heard once
        if self.fd not in ready:
            return bool(ready)
        try:
            data = os.read(self.fd, 64)
        except OSError:
            data = b""
        self._held += data or b"q"
        return True

    def _take(self) -> Key | None:
        """Take one key from what was read; None for one without a meaning."""
        if self._held == b"\x1b":
            self._read(_ESCAPE_PAUSE)
        for length in range(min(_LONGEST, len(self._held)), 0, -1):
            key = _KEYS.get(self._held[:length])
            if key is not None:
                self._held = self._held[length:]
                return key
        unknown = _SEQUENCE.match(self._held)
        self._held = self._held[unknown.end() if unknown else 1 :]
        return None


def _exit(number: int, _frame: FrameType | None) -> NoReturn:
    """Leave by an exception, so that the terminal is put right."""
    raise SystemExit(128 + number)
