"""Keys of a terminal: read as they are pressed, with the terminal's settings restored whatever happens."""

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
except ImportError:  # without such a terminal no keys are read
    HAVE_TERMINALS = False
else:
    HAVE_TERMINALS = True


class Key(enum.Enum):
    """The functions of keys."""

    SPACE = enum.auto()
    NEXT = enum.auto()
    PREVIOUS = enum.auto()
    GAME = enum.auto()
    TOGGLE_PAUSE = enum.auto()
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
    b"p": Key.TOGGLE_PAUSE,
    b"q": Key.QUIT,
    b"Q": Key.QUIT,
    b"\x04": Key.QUIT,
}
_LONGEST_KEY: Final = max(map(len, _KEYS))
_SEQUENCE: Final = re.compile(rb"\x1b[\[O][0-9;]*[@-~]?")
"""The bytes of an unknown special key."""
_ESCAPE_PAUSE: Final = 0.05
"""Seconds to wait for the rest of an arrow key's bytes."""


class _SignalPipe:
    """A pipe that becomes readable when a signal arrives.

    A signal that arrives just before `select` would not end its wait: Python handles it only afterwards.
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
class KeyReader:
    """Reads keys from a terminal; without one it only waits."""

    fd: int | None
    """The terminal's file descriptor; None without a terminal."""
    _terminal_settings: list[Any] | None = None
    _previous_sigterm: Any = None
    _unread: bytes = b""
    _waker: _SignalPipe | None = None

    @classmethod
    def of_stdin(cls) -> Self:
        """Return a reader of the standard input, if that is a terminal."""
        is_listening = HAVE_TERMINALS and sys.stdin is not None and sys.stdin.isatty()
        return cls(sys.stdin.fileno() if is_listening else None)

    @property
    def is_listening(self) -> bool:
        """Whether keys are read."""
        return self.fd is not None

    def __enter__(self) -> Self:
        if self.fd is not None:
            self._previous_sigterm = signal.signal(signal.SIGTERM, _exit_on_signal)
            self._waker = _SignalPipe()
            self._terminal_settings = termios.tcgetattr(self.fd)
            tty.setcbreak(self.fd, termios.TCSADRAIN)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.fd is not None and self._terminal_settings is not None:
            termios.tcsetattr(self.fd, termios.TCSADRAIN, self._terminal_settings)
            signal.signal(signal.SIGTERM, self._previous_sigterm)
        if self._waker is not None:
            self._waker.close()
            self._waker = None

    def wait(self, seconds: float | None) -> Key | None:
        """Return the next key with a function; None if there was none within `seconds` (None: wait without limit)."""
        if self.fd is None:
            time.sleep(seconds or 0.0)
            return None
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            if not self._unread and not self._read(left):
                return None
            key = self._next_key()
            if key is not None:
                return key

    def _read(self, seconds: float | None) -> bool:
        """Read input; return whether there was any. A terminal that was closed counts as quit."""
        if self.fd is None:
            return False
        listening = [self.fd] if self._waker is None else [self.fd, self._waker.pipe]
        ready = select.select(listening, [], [], seconds)[0]
        if self._waker is not None and self._waker.pipe in ready:
            os.read(self._waker.pipe, 64)  # a signal that does not end the wait is handled once
        if self.fd not in ready:
            return bool(ready)
        try:
            data = os.read(self.fd, 64)
        except OSError:
            data = b""
        self._unread += data or b"q"
        return True

    def _next_key(self) -> Key | None:
        """Take one key from the input; return None for one without a function."""
        if self._unread == b"\x1b":
            self._read(_ESCAPE_PAUSE)
        for length in range(min(_LONGEST_KEY, len(self._unread)), 0, -1):
            key = _KEYS.get(self._unread[:length])
            if key is not None:
                self._unread = self._unread[length:]
                return key
        unknown = _SEQUENCE.match(self._unread)
        self._unread = self._unread[unknown.end() if unknown else 1 :]
        return None


def _exit_on_signal(number: int, _frame: FrameType | None) -> NoReturn:
    """Raise SystemExit, so that the terminal's settings are restored."""
    raise SystemExit(128 + number)
