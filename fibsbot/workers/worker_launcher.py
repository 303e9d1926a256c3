"""Dask's standard worker, started with safe addresses and again whenever it has ended.

A worker ends, with exit status 0, when its scheduler is lost, and does not come back by itself.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Final
from urllib.parse import urlsplit

from attrs import define, field, frozen

from fibsbot.workers.errors import TlsFiles
from fibsbot.workers.processes import EXIT_TIMEOUT, signals_held_back, single_threaded_libraries

LOOPBACK: Final = "127.0.0.1"
SCHEDULER_SECONDS: Final = 60
"""Seconds for a worker to find its scheduler, or else end, to be started again."""
LOOK_SECONDS: Final = 1.0
"""Between two attempts to reach a scheduler, before a worker is started."""
ANSWER_SECONDS: Final = 5.0
"""For the scheduler to answer such an attempt."""
FIRST_PAUSE: Final = 1.0
"""Seconds before a worker is started again; each time twice as long, if it has ended soon."""
LONGEST_PAUSE: Final = 30.0
SOON: Final = 60.0
"""Seconds within which a worker has ended soon."""
CLOSE_SECONDS: Final = 3 * EXIT_TIMEOUT
"""For a worker to end at SIGTERM; then it is killed, with its nanny and their processes."""
QUIET: Final = {
    "LOGGING__DISTRIBUTED": "warning",
    "WORKER__PROFILE__ENABLED": "False",
    "WORKER__MEMORY__MONITOR_INTERVAL": "500ms",
    "ADMIN__TICK__INTERVAL": "1s",
    "ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
}
"""Dask's configuration unless the environment has another one.

By default worker and nanny look after themselves 50 times a second and sample what is computed 100 times, which
costs 4 % of a core when there is nothing to do, and more when there is. With these settings it is 0.3 %.
"""
MALLOC: Final = {"MALLOC_TRIM_THRESHOLD_": str(2**26), "MALLOC_MMAP_THRESHOLD_": str(2**25)}
"""How much free memory the C library keeps, as it does by itself.

By default a nanny has each array of 64 kB given back at once, which costs the engine a seventh of its time.
"""
_LOG_LINE: Final = re.compile(r"[-0-9]{10} [:,0-9]{8,} - distributed")
_TRACEBACK: Final = "Traceback (most recent call last):"
_CHAINED: Final = (
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)


@frozen
class WorkerSettings:
    """How a worker is started."""

    scheduler: str
    """Address, checked by `cluster.check_address`."""
    tls: TlsFiles = field(factory=TlsFiles)
    host: str | None = None
    """The address that it listens on; None: loopback if the scheduler is there, else what Dask finds."""
    memory: str = "auto"
    """Limit for its process, in Dask's notation, such as `2GB`; near it the nanny starts the process anew."""
    folder: Path | None = None
    """For its temporary files."""
    name: str | None = None
    context: ssl.SSLContext | None = None
    """That of its certificates; None without TLS."""
    preload: str = ""
    """Module whose function `dask_setup` is called in the worker before it takes work."""


def command_of(settings: WorkerSettings) -> list[str]:
    """Return the command that starts Dask's worker: one thread, watched by a nanny."""
    secure = settings.scheduler.startswith("tls://")
    host = settings.host or (None if secure else LOOPBACK)
    options: dict[str, Any] = {
        "--nthreads": 1,
        "--nworkers": 1,
        "--memory-limit": settings.memory,
        "--death-timeout": SCHEDULER_SECONDS,
        "--dashboard-address": f"{LOOPBACK}:0",
        "--host": host,
        "--local-directory": settings.folder,
        "--name": settings.name,
        "--preload": settings.preload or None,
        "--preload-nanny": __name__,
        "--protocol": "tls" if secure else None,
        "--tls-ca-file": settings.tls.ca,
        "--tls-cert": settings.tls.certificate,
        "--tls-key": settings.tls.key,
    }
    words = [str(word) for option, value in options.items() if value is not None for word in (option, value)]
    return [sys.executable, "-m", "dask", "worker", settings.scheduler, "--nanny", *words]


def keep_running(settings: WorkerSettings, report: Callable[[str], object]) -> None:
    """Run a worker until SIGTERM or SIGINT; start it again whenever it ends.

    `report` gets a line about each end, and about a scheduler that is waited for.
    """
    ending = threading.Event()
    handlers = {
        signal_number: signal.signal(signal_number, lambda *_: ending.set())
        for signal_number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        for pause in _pauses():
            if not _wait_for_scheduler(settings, ending, report):
                return
            reason = _run_once(command_of(settings), ending, report)
            if ending.is_set():
                return
            report(f"the worker has ended ({reason}) and is started again in {pause:g} s")
            if ending.wait(pause):
                return
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _wait_for_scheduler(settings: WorkerSettings, ending: threading.Event, report: Callable[[str], object]) -> bool:
    """Wait until the scheduler answers, or `ending` is set; return whether it does."""
    said: set[str] = set()
    while not ending.is_set():
        try:
            _connect_once(settings)
        except OSError as error:
            reason = error.strerror or str(error) or type(error).__name__
            if reason not in said:
                said.add(reason)
                report(f"no scheduler answers at {settings.scheduler} ({reason}); waiting for it")
            # Certificates do not mend themselves, and each attempt is an error in the scheduler's log.
            is_refused = isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError)
            ending.wait(LONGEST_PAUSE if is_refused else LOOK_SECONDS)
        else:
            if said:
                report("scheduler found")
            return True
    return False


def _connect_once(settings: WorkerSettings) -> None:
    """Connect to the scheduler, with TLS where it has it, and hang up; raise OSError if that fails.

    To hang up before the TLS handshake would be a warning in the scheduler's log.
    """
    place = urlsplit(settings.scheduler)
    with socket.create_connection((place.hostname, place.port), ANSWER_SECONDS) as bare:
        if settings.context:
            settings.context.wrap_socket(bare).close()


def _pauses() -> Iterator[float]:
    """Yield how long to wait before each start but the first."""
    pause = FIRST_PAUSE
    while True:
        started = time.monotonic()
        yield pause
        pause = min(2 * pause, LONGEST_PAUSE) if time.monotonic() - started < SOON else FIRST_PAUSE


def _run_once(command: list[str], ending: threading.Event, report: Callable[[str], object]) -> str:
    """Run a worker to its end, or until `ending` is set; return why it has ended."""
    with single_threaded_libraries(), signals_held_back():
        quiet = {f"DASK_DISTRIBUTED__{name}": value for name, value in QUIET.items()}
        worker = subprocess.Popen(  # noqa: S603 - ourselves
            command,
            env={**quiet, **MALLOC, **os.environ},
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
    errors = _Errors()
    relay = threading.Thread(target=_relay, args=(worker.stderr, errors, report), daemon=True)
    relay.start()
    try:
        while worker.poll() is None and not ending.wait(0.2):
            pass
        worker.terminate()
        status = worker.wait(CLOSE_SECONDS)
    except subprocess.TimeoutExpired:
        status = -signal.SIGKILL
    finally:
        _kill_group(worker)
    relay.join(EXIT_TIMEOUT)
    return f"status {status}: {errors.reason}" if status else "status 0, as when the scheduler is lost"


@define
class _Errors:
    """The lines of a worker's stderr, one by one, and what they say about its end."""

    reason: str = ""
    """The last line; after a traceback its error, the first one of a chain: Dask's own errors hide the cause."""
    _before: str = ""
    _in_traceback: bool = False
    _is_chained: bool = False

    def add(self, line: str) -> None:
        """Take the next line, which is not empty."""
        if line == _TRACEBACK:
            self._in_traceback = True
            self._is_chained = self._before in _CHAINED
        elif not self._in_traceback:
            self.reason = self.reason if line in _CHAINED else line
        elif not line.startswith(" "):
            self._in_traceback = False
            self.reason = self.reason if self._is_chained else line
        self._before = line


def _relay(stderr: IO[str], errors: _Errors, report: Callable[[str], object]) -> None:
    """Report the lines of Dask's log, without tracebacks, whose error is reported with the end of the worker."""
    with stderr:
        for line in stderr:
            if text := line.rstrip():
                errors.add(text)
                if _LOG_LINE.match(text):
                    report(text.partition(" - ")[2])


def _kill_group(worker: subprocess.Popen[str]) -> None:
    """Kill what is left of a worker: itself, and the process that its nanny has started."""
    try:
        os.killpg(worker.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
    worker.wait()


async def dask_setup(_: Any) -> None:
    """End this process, a nanny, soon after the process that started it has been killed. Called by Dask."""
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)
