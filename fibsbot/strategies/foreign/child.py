"""An engine's process: started without a shell, never left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from fibsbot.strategies.foreign.errors import EndedError, EngineError
from fibsbot.strategies.foreign.lines import Lines

GRACE: Final = 0.5
"""Seconds that an engine has to end by itself after it was told to."""
_KEEPER: Final = Path(__file__).with_name("keeper.py")


def program_called(name: str) -> str:
    """Return the path of a program; raise FileNotFoundError where there is none."""
    path = shutil.which(name)
    if path is None:
        raise FileNotFoundError(f"there is no program called {name!r}")
    return path


class Child:
    """A program that is told lines on stdin and answers on stdout.

    It runs under a keeper of its own (`keeper.py`), in a session of its own: Ctrl-C in our terminal does not reach it,
    and it ends when `close` is called, when this object is forgotten, and when our process ends, even by SIGKILL.
    """

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Start it; `environment` goes before our own."""
        lifeline, ours = os.pipe()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
                [sys.executable, "-I", "-S", str(_KEEPER), str(lifeline), *argv],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env={**os.environ, **(environment or {})},
                pass_fds=[lifeline],
                start_new_session=True,
            )
        except OSError as error:
            os.close(ours)
            raise EngineError(f"cannot be started: {error.strerror or error}") from None
        finally:
            os.close(lifeline)
        self._release = weakref.finalize(self, _release, self._process, ours)
        assert self._process.stdin and self._process.stdout and self._process.stderr  # noqa: S101, PT018 - pipes
        self._stdin = self._process.stdin
        self._stderr = self._process.stderr
        self.lines = Lines(self._process.stdout.fileno())

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def tell(self, line: str) -> None:
        """Send a line; raise EndedError where nobody reads it."""
        try:
            self._stdin.write(f"{line}\n".encode())
        except OSError:
            raise EndedError("ended") from None

    def epitaph(self) -> str:
        """Say how it ended and the last that it complained of; empty if it goes on."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        status = self._process.poll()
        if status is None:
            return ""
        os.set_blocking(self._stderr.fileno(), False)
        words = (self._stderr.read() or b"").decode("utf-8", "replace").split("\n")
        last = next((word for line in reversed(words) if (word := "".join(filter(str.isprintable, line)).strip())), "")
        return f"exit status {status}: {last}" if last else f"exit status {status}"

    def close(self, farewell: str | None = None) -> None:
        """End it: by this line first, if there is one, by SIGKILL otherwise. It may be called again."""
        if self._release.alive and farewell is not None and self.running:
            with contextlib.suppress(EngineError):
                self.tell(farewell)
            self._stdin.close()
            self._await_end(time.monotonic() + GRACE)
        self._release()

    def _await_end(self, deadline: float) -> None:
        """Wait for the end, and read on: who cannot write cannot end."""
        with contextlib.suppress(EngineError):
            while time.monotonic() < deadline:  # who never pauses is never late for a line
                self.lines.read(deadline)


def _release(process: subprocess.Popen[bytes], lifeline: int) -> None:
    """Kill a process with all that it has started, and close its pipes."""
    if process.poll() is None:  # its number cannot be anybody else's as long as we have not been told of its end
        os.killpg(process.pid, signal.SIGKILL)
    os.close(lifeline)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
