"""Commands in a real terminal: what they show, keys, and a terminal that is afterwards as it was before."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
from typing import Any, Final, Self

from attrs import define, field

from tests.forked import Forked, start
from tests.patience import SOON

CONTROL: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@define
class Terminal:
    """A terminal of 100 columns and 36 lines in which a command of `fibsbot` runs."""

    arguments: tuple[str, ...]
    size: tuple[int, int] = (36, 100)
    text: str = ""
    """The output since the last key, without control sequences."""
    before: list[Any] = field(init=False)
    _fd: int = field(init=False)
    _inner: int = field(init=False)
    process: Forked = field(init=False)

    def __enter__(self) -> Self:
        self._fd, self._inner = pty.openpty()
        fcntl.ioctl(self._inner, termios.TIOCSWINSZ, struct.pack("HHHH", *self.size, 0, 0))
        self.before = termios.tcgetattr(self._inner)
        environment = {**os.environ, "TERM": "xterm-256color", "LINES": "", "COLUMNS": ""}
        self.process = start("fibsbot", *self.arguments, environment=environment, terminal=self._inner)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.process.join()
        os.close(self._fd)
        os.close(self._inner)

    def press(self, keys: str) -> None:
        """Press keys, and forget what was shown before."""
        self.text = ""
        os.write(self._fd, keys.encode())

    def expect(self, *parts: str) -> str:
        """Wait until all of these were shown; return everything that was."""
        end = time.monotonic() + SOON
        while not all(part in self.text for part in parts):
            if not self._read(end - time.monotonic()):
                raise AssertionError(f"expected {parts}, got {self.text[-2000:]!r}")
        return self.text

    def end(self) -> int:
        """Wait for the command to end and check that the terminal is restored; return its exit status."""
        end = time.monotonic() + SOON
        while self.process.returncode is None and time.monotonic() < end:
            self._read(0.05)
        while self._read(0.05):
            pass
        assert self.before == termios.tcgetattr(self._inner)
        assert self.process.returncode is not None
        return self.process.returncode

    def _read(self, seconds: float) -> bool:
        if seconds <= 0 or not select.select([self._fd], [], [], seconds)[0]:
            return False
        self.text += CONTROL.sub("", os.read(self._fd, 2**16).decode("utf-8", "replace"))
        return True
