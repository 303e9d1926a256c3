"""Engines as child processes: errors, lines with deadlines, and restarts after a failure.

An engine is started by `launcher.py`, without a shell, and never outlives this process.
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
    """The engine has ended."""


class DeclinedError(EngineError):
    """The engine cannot answer this question, but works."""


class SorryError(DeclinedError):
    """The engine itself says that it has no answer."""


class NotReadyError(EngineError):
    """The engine is still starting; it may be ready for the next decision."""


MAX_LINE: Final = 16_384
"""Maximum length of a line in bytes; answers are much shorter."""
MAX_UNREQUESTED: Final = 1 << 20
"""Bytes that may have arrived before a question, unrequested."""
_CHUNK: Final = 65_536


class LineReader:
    """Reads lines from a file descriptor, which the caller closes."""

    def __init__(self, source: int) -> None:
        """Read from this descriptor."""
        self._source = source
        self._buffer = bytearray()

    def read(self, deadline: float) -> str:
        """Return the next line without its end; `deadline` is a time of `time.monotonic`.

        Raises EngineError if no whole line arrives in time, the line is too long, or the other end is closed.
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
        """Discard unrequested input. Raises EngineError if it does not end, or the other end is closed."""
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
"""Seconds that an engine has to end after it was asked to."""
_LAUNCHER: Final = Path(__file__).with_name("launcher.py")


def find_program(name: str) -> str:
    """Return the path of a program. Raises FileNotFoundError if there is none."""
    path = shutil.which(name)
    if path is None:
        raise FileNotFoundError(f"there is no program called {name!r}")
    return path


class ChildProcess:
    """A program that reads lines from stdin and answers on stdout.

    It runs under `launcher.py`, in a session of its own: Ctrl-C in our terminal does not reach it, and it ends when
    `close` is called, when this object is garbage collected, and when our process ends, even by SIGKILL.
    """

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Start the program; `environment` overrides our own."""
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
        """Whether the program has not ended."""
        return self._process.poll() is None

    def send(self, line: str) -> None:
        """Send a line. Raises EngineExitedError if the program no longer reads."""
        try:
            self._stdin.write(f"{line}\n".encode())
        except OSError:
            raise EngineExitedError("ended") from None

    def exit_reason(self) -> str:
        """Return the exit status and the last line of stderr; an empty text if the program is running."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(EXIT_GRACE)
        status = self._process.poll()
        if status is None:
            return ""
        os.set_blocking(self._stderr.fileno(), False)
        words = (self._stderr.read() or b"").decode("utf-8", "replace").split("\n")
        last = next((word for line in reversed(words) if (word := "".join(filter(str.isprintable, line)).strip())), "")
        return f"exit status {status}: {last}" if last else f"exit status {status}"

    def with_exit_reason(self, error: EngineExitedError) -> EngineExitedError:
        """Return the error with the reason for which the program has ended."""
        reason = self.exit_reason()
        return EngineExitedError(f"{error} ({reason})") if reason else error

    def close(self, quit_command: str | None = None) -> None:
        """End the program, if possible with a command, else by SIGKILL. It may be called again."""
        if self._release.alive and quit_command is not None and self.running:
            with contextlib.suppress(EngineError):
                self.send(quit_command)
            self._stdin.close()
            self._wait_for_end(time.monotonic() + EXIT_GRACE)
        self._release()

    def _wait_for_end(self, deadline: float) -> None:
        """Wait for the end, and read meanwhile: a program whose pipe is full cannot end."""
        with contextlib.suppress(EngineError):
            while time.monotonic() < deadline:  # a program that keeps writing never misses the deadline of a line
                self.lines.read(deadline)


def _kill_group(process: subprocess.Popen[bytes], lifeline: int) -> None:
    """Kill a process and all processes that it has started, and close its pipes."""
    if process.poll() is None:  # its PID is not reused before we have waited for it
        os.killpg(process.pid, signal.SIGKILL)
    os.close(lifeline)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


RESTART_DELAYS: Final = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
"""Seconds between a failure and the next start: after the first, the second ... failure in a row."""
MAX_FAILURES: Final = 20
"""Failures in a row after which it is not started again."""


class Restartable(Protocol):
    """An engine that can be ended and started again."""

    @property
    def running(self) -> bool:
        """Whether it has not ended, as far as is known."""
        ...

    def close(self) -> None:
        """End the engine."""
        ...


RestartableT = TypeVar("RestartableT", bound=Restartable)
AnswerT = TypeVar("AnswerT")


class RestartingEngine(Generic[RestartableT]):
    """An engine that is started when it is needed, and again after it has failed.

    An engine that has ended is started and asked again: no decision is lost unless it ends again. One that is late or
    answers nonsense is ended, and that decision is lost. In the pause before the next start, questions fail at once.
    """

    def __init__(self, start: Callable[[float], RestartableT], clock: Callable[[], float] = time.monotonic) -> None:
        """Start nothing yet; `start` gets the deadline of the question, a time of `time.monotonic`."""
        self._start = start
        self._clock = clock
        self._engine: RestartableT | None = None
        self._failures = 0
        self._not_before = 0.0

    def ask(self, question: Callable[[RestartableT], AnswerT], deadline: float) -> AnswerT:
        """Call `question` with the running engine and return its result. Raises EngineError if the engine fails."""
        fresh = self._engine is None
        try:
            answer = question(self._ready_engine(deadline))
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

    def _ready_engine(self, deadline: float) -> RestartableT:
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
