"""Dask's standard worker, started with safe addresses and again whenever it has ended.

A worker ends, with exit status 0, when its scheduler is lost, and does not come back by itself.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from attrs import field, frozen

from fibsbot.workers.pool import TlsFiles
from fibsbot.workers.processes import EXIT_TIMEOUT, signals_held_back, single_threaded_libraries

LOOPBACK: Final = "127.0.0.1"
SCHEDULER_SECONDS: Final = 60
"""Seconds for a worker to find its scheduler, or else end, to be started again."""
LOOK_SECONDS: Final = 1.0
"""Between two attempts to reach a scheduler, before a worker is started."""
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
    """Run a worker until SIGTERM or SIGINT; start it again whenever it ends. `report` gets a line about each end."""
    ending = threading.Event()
    handlers = {it: signal.signal(it, lambda *_: ending.set()) for it in (signal.SIGTERM, signal.SIGINT)}
    try:
        for pause in _pauses():
            if not _wait_for_scheduler(settings.scheduler, ending):
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


def _wait_for_scheduler(address: str, ending: threading.Event) -> bool:
    """Wait until somebody listens at an address, or `ending` is set; return whether somebody does."""
    place = urlsplit(address)
    while not ending.is_set():
        with contextlib.suppress(OSError), socket.create_connection((place.hostname, place.port), LOOK_SECONDS):
            return True
        ending.wait(LOOK_SECONDS)
    return False


def _pauses() -> Iterator[float]:
    """Yield how long to wait before each start but the first."""
    pause = FIRST_PAUSE
    while True:
        started = time.monotonic()
        yield pause
        pause = min(2 * pause, LONGEST_PAUSE) if time.monotonic() - started < SOON else FIRST_PAUSE


def _run_once(command: list[str], ending: threading.Event, report: Callable[[str], object]) -> str:
    """Run a worker to its end, or until `ending` is set; return its exit status, and its last words if it failed."""
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
    last_words = [""]
    relay = threading.Thread(target=_relay, args=(worker.stderr, last_words, report), daemon=True)
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
    return f"status {status}" + (f": {last_words[0]}" if status else "")


def _relay(lines: Iterable[str], last_words: list[str], report: Callable[[str], object]) -> None:
    """Report the lines of Dask's log, without tracebacks, whose last line says enough."""
    for line in lines:
        if text := line.rstrip():
            last_words[0] = text
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
