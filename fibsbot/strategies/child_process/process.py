"""An engine as a child process.

Its errors, its lines with deadlines, starting and ending it, restarting it after a failure.

It is started without a shell by `launcher.py` and never left behind.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Generic, Protocol, TypeVar


class EngineError(Exception):
    """The engine failed: it was late or answered nonsense. It is ended, and started again for a later decision."""


class EngineTimeoutError(EngineError):
    """The engine gave no answer in time."""


class EngineExitedError(EngineError):
    """The engine has ended by itself."""


class DeclinedError(EngineError):
    """There is no answer to this question, but nothing is wrong with the engine."""


class SorryError(DeclinedError):
    """The engine itself says that it has no answer."""


class NotReadyError(EngineError):
    """The engine still starts; it may be ready for the next decision."""


MAX_LINE: Final = 16_384
"""Bytes of a line. No answer comes near it."""
MAX_UNREQUESTED: Final = 1 << 20
"""Bytes that may have come unasked before a question."""
_CHUNK: Final = 65_536


class LineReader:
    """Reads lines from a descriptor, which stays its owner's."""

    def __init__(self, source: int) -> None:
        """Read from this descriptor."""
        self._source = source
        self._buffer = bytearray()

    def read(self, deadline: float) -> str:
        """Return the next line without its end; `deadline` is when to give up, by `time.monotonic`.

        Raises EngineError where no whole line came in time, a line has no end, or the other end is gone.
        """
        while b"\n" not in self._buffer:
            if len(self._buffer) > MAX_LINE:
                raise EngineError(f"sent a line of more than {MAX_LINE} bytes")
            if not self._ready(deadline - time.monotonic()):
                raise EngineTimeoutError("gave no answer in time")
            self._buffer += self._chunk()
        line, _, rest = self._buffer.partition(b"\n")
        self._buffer = rest
        return line.decode("utf-8", "replace").rstrip("\r")

    def drain(self) -> None:
        """Forget what has come unasked; raise EngineError where it does not end, or the other end is gone."""
        taken = len(self._buffer)
        self._buffer.clear()
        while self._ready(0):
            taken += len(self._chunk())
            if taken > MAX_UNREQUESTED:
                raise EngineError(f"sent more than {MAX_UNREQUESTED} bytes unasked")

    def _ready(self, seconds: float) -> bool:
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        return bool(poll.poll(max(0.0, seconds) * 1000))

    def _chunk(self) -> bytes:
        try:
            chunk = os.read(self._source, _CHUNK)
        except OSError as error:
            raise EngineExitedError(f"cannot be read from: {error.strerror or error}") from None
        if not chunk:
            raise EngineExitedError("ended")
        return chunk


EXIT_GRACE: Final = 0.5
"""Seconds that an engine has to end by itself after it was told to."""
_LAUNCHER: Final = Path(__file__).with_name("launcher.py")


def find_program(name: str) -> str:
    """Return the path of a program; raise FileNotFoundError where there is none."""
    path = shutil.which(name)
    if path is None:
        raise FileNotFoundError(f"there is no program called {name!r}")
    return path


class ChildProcess:
    """A program that is told lines on stdin and answers on stdout.

    It runs under `launcher.py`, in a session of its own: Ctrl-C in our terminal does not reach it, and it ends when
    `close` is called, when this object is forgotten, and when our process ends, even by SIGKILL.
    """

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Start it; `environment` goes before our own."""
        lifeline, ours = os.pipe()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
                [sys.executable, "-I", "-S", str(_LAUNCHER), str(lifeline), *argv],
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
        self._release = weakref.finalize(self, _kill_group, self._process, ours)
        assert self._process.stdin and self._process.stdout and self._process.stderr  # noqa: S101, PT018 - pipes
        self._stdin = self._process.stdin
        self._stderr = self._process.stderr
        self.lines = LineReader(self._process.stdout.fileno())

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def tell(self, line: str) -> None:
        """Send a line; raise EngineExitedError where nobody reads it."""
        try:
            self._stdin.write(f"{line}\n".encode())
        except OSError:
            raise EngineExitedError("ended") from None

    def epitaph(self) -> str:
        """Say how it ended and the last that it complained of; empty if it goes on."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(EXIT_GRACE)
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
            self._await_end(time.monotonic() + EXIT_GRACE)
        self._release()

    def _await_end(self, deadline: float) -> None:
        """Wait for the end, and read on: who cannot write cannot end."""
        with contextlib.suppress(EngineError):
            while time.monotonic() < deadline:  # who never pauses is never late for a line
                self.lines.read(deadline)


def _kill_group(process: subprocess.Popen[bytes], lifeline: int) -> None:
    """Kill a process with all that it has started, and close its pipes."""
    if process.poll() is None:  # its number cannot be anybody else's as long as we have not been told of its end
        os.killpg(process.pid, signal.SIGKILL)
    os.close(lifeline)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


RESTART_DELAYS: Final = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
"""Seconds between a failure and the next start: after the first, the second... failure in a row."""
MAX_FAILURES: Final = 20
"""After so many failures in a row it is not started again."""


class Restartable(Protocol):
    """What can be kept running."""

    @property
    def running(self) -> bool:
        """Whether it can be asked, as far as is known."""
        ...

    def close(self) -> None:
        """End it."""
        ...


RestartableT = TypeVar("RestartableT", bound=Restartable)
AnswerT = TypeVar("AnswerT")


class RestartingEngine(Generic[RestartableT]):
    """Holds at most one engine.

    An engine that has ended is started again and asked again: that costs no decision unless it ends again. One that is
    late or talks nonsense is ended and costs that decision. Nobody waits for a pause to end: who asks in it gets an
    error at once.
    """

    def __init__(self, start: Callable[[float], RestartableT], clock: Callable[[], float] = time.monotonic) -> None:
        """Start nothing yet; `start` is told until when, by `time.monotonic`, whoever asks can wait."""
        self._start = start
        self._clock = clock
        self._engine: RestartableT | None = None
        self._failures = 0
        self._not_before = 0.0

    def ask(self, question: Callable[[RestartableT], AnswerT], deadline: float) -> AnswerT:
        """Return what a question to the running engine returns; raise EngineError where there is none to ask."""
        fresh = self._engine is None
        try:
            answer = question(self._running(deadline))
        except (DeclinedError, NotReadyError):
            raise
        except BaseException as error:
            self._fail()
            if fresh or not isinstance(error, EngineExitedError):
                raise
            return self.ask(question, deadline)
        self._failures = 0
        return answer

    def close(self) -> None:
        """End the engine; it is started again if it is asked again."""
        if self._engine is not None:
            engine, self._engine = self._engine, None
            engine.close()

    def _running(self, deadline: float) -> RestartableT:
        if self._engine is not None and not self._engine.running:
            self.close()
        if self._engine is None:
            if self._failures >= MAX_FAILURES:
                raise DeclinedError(f"failed {MAX_FAILURES} times in a row and is not started again")
            left = self._not_before - self._clock()
            if left > 0:
                raise DeclinedError(f"has failed, and is started again in {left:.0f} s")
            self._engine = self._start(deadline)
        return self._engine

    def _fail(self) -> None:
        self.close()
        pause = RESTART_DELAYS[min(self._failures, len(RESTART_DELAYS) - 1)]
        self._failures += 1
        self._not_before = self._clock() + pause
