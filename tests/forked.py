"""Processes that tests start and kill, forked from one that has imported the program already.

Importing takes half a second of the processor each time; only tests of the start itself have to start Python anew.
Worker processes of these programs, and of the program in the tests' own process, are forked from it, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import importlib
import multiprocessing
import os
import runpy
import signal
import sys
import tempfile
import termios
import weakref
from collections.abc import Iterator, Mapping
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO, Any, Final, TextIO

from attrs import frozen

from fibsbot.workers import processes as worker_processes
from tests.commands import Finished
from tests.patience import SOON

ROOT: Final = Path(__file__).parents[1]
FORKS: Final = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        "fibsbot.arena.duel.pairs",
        "fibsbot.cli.duel",
        "fibsbot.cli.play_session",
        "fibsbot.cli.replay_output",
        "fibsbot.cli.run_service",
        "fibsbot.cli.serve",
        "fibsbot.cli.status",
        "fibsbot.cli.train",
        "fibsbot.engine.rollout.driver",
        "fibsbot.engine.training.pipeline",
        "fibsbot.replay.batch",
        "fibsbot.strategies.engine_strategy",
        "fibsbot.strategies.heuristic",
        "fibsbot.strategies.loader",
        "tests.archive.killed_adding",
        "tests.records.store.concurrent_writer",
        "tests.records.store.impatient_writer",
        "tests.records.store.playing_process",
    ]
)


class _Worker(ForkServerProcess):
    """A worker process that inherits environment, output and blocked signals of the process that starts it."""

    def start(self) -> None:
        """Start it."""
        _start_server()
        self._inherited = dict(os.environ), signal.pthread_sigmask(signal.SIG_BLOCK, ()), _duplicates(1, 2)
        super().start()
        del self._inherited

    def run(self) -> None:
        """Work."""
        environment, blocked, streams = self._inherited
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        _become(environment, *streams)
        super().run()


class WorkerContext(ForkServerContext):
    """Starts the worker processes of the program."""

    Process = _Worker


@frozen
class Forked:
    """A process that runs a module as a program."""

    process: BaseProcess
    out: IO[str]
    err: IO[str]

    @property
    def pid(self) -> int:
        """Return its process ID."""
        assert self.process.pid is not None
        return self.process.pid

    @property
    def returncode(self) -> int | None:
        """Return its exit status, the negative number of the signal that ended it, or None while it runs."""
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):  # it has ended just now
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Wait for the end without holding up the event loop; return the exit status."""
        while self.returncode is None:  # noqa: ASYNC110 - the end of another process sets no asyncio.Event
            await asyncio.sleep(0.005)
        return self.returncode

    @property
    def errors(self) -> str:
        """Return what it has written to stderr."""
        return _text(self.err)

    def finish(self, seconds: float = SOON) -> Finished:
        """Wait for the end, killing it if that does not come; return exit status, stdout and stderr."""
        self.process.join(seconds)
        self.kill()
        self.process.join()
        assert self.returncode is not None
        return Finished(self.returncode, _text(self.out), _text(self.err))


def start(
    module: str,
    *arguments: object,
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    out: int | None = None,
    err: int | None = None,
    terminal: int | None = None,
) -> Forked:
    """Start `python -m MODULE ARGUMENTS ...` in a folder.

    Its output goes to these file descriptors, by default to the files that `Forked.finish` reads. A terminal is all of
    its streams, and controls it.
    """
    environment = os.environ if environment is None else environment
    words = (module, *map(str, arguments))
    files = [tempfile.TemporaryFile("w+", encoding="utf-8") for _ in range(2)]  # noqa: SIM115 - closed below
    numbers = [file.fileno() if it is None else it for file, it in zip(files, (out, err), strict=True)]
    streams = _duplicates(*(numbers if terminal is None else [terminal] * 2))
    arguments = (words, str(folder), dict(environment), terminal is not None, *streams)
    process = FORKS.Process(target=_run, args=arguments)
    _start_server()
    process.start()
    for file in files:
        weakref.finalize(process, file.close)
    return Forked(process, *files)


@contextlib.contextmanager
def printing(module: str, *arguments: object) -> Iterator[tuple[Forked, TextIO]]:
    """Start a process; yield it and what it prints, line by line, and kill it in the end."""
    read, write = os.pipe()
    with os.fdopen(read) as printed:
        process = start(module, *arguments, out=write)
        os.close(write)
        try:
            yield process, printed
        finally:
            process.kill()


def run(*arguments: object, **options: Any) -> Finished:
    """Run `fibsbot ARGUMENTS ...` to its end, with the options of `start`; return exit status, stdout and stderr."""
    return start("fibsbot", *arguments, **options).finish()


def fork_workers() -> None:
    """Let the program in this process fork its worker processes."""
    worker_processes.CONTEXT = WorkerContext()


def _start_server() -> None:
    """Start the process that the others are forked from, if it is not running."""
    with worker_processes.single_threaded_libraries(), contextlib.chdir(ROOT):  # there it finds the modules to import
        forkserver._forkserver.ensure_running()  # the public name is not what _run replaces


def _run(  # noqa: PLR0917 - all that makes a process
    words: tuple[str, ...],
    folder: str,
    environment: dict[str, str],
    at_terminal: bool,  # noqa: FBT001 - as above
    out: Connection,
    err: Connection,
) -> None:
    """Become the program: in the child."""
    if at_terminal:
        os.setsid()
        fcntl.ioctl(out.fileno(), termios.TIOCSCTTY, 0)
        os.dup2(out.fileno(), 0)
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - that of the other process is closed
        sys.__stdin__ = sys.stdin  # type: ignore[misc]
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # a worker process may have been the first, with signals held back
    _become(environment, out, err)
    os.chdir(folder)
    forkserver._forkserver.ensure_running = lambda: None  # type: ignore[method-assign] # it is our parent
    fork_workers()
    module, *arguments = words
    sys.argv = [module, *arguments]
    if module == "fibsbot":
        sys.exit(importlib.import_module("fibsbot.__main__").main())
    asyncio_main = importlib.import_module(module).main(*arguments)
    if asyncio.iscoroutine(asyncio_main):
        asyncio.run(asyncio_main)


def _duplicates(*numbers: int) -> list[Connection]:
    """Duplicate file descriptors, for another process; they are closed with what is returned."""
    return [Connection(os.dup(number), readable=False) for number in numbers]


def _become(environment: Mapping[str, str], out: Connection, err: Connection) -> None:
    """Take over environment and output, and run what is to run before the program, as Python does when it starts."""
    for number, stream in ((1, out), (2, err)):
        os.dup2(stream.fileno(), number)
        stream.close()
    os.environ.clear()
    os.environ.update(environment)
    paths = [it for it in environment.get("PYTHONPATH", "").split(os.pathsep) if it and it not in sys.path]
    sys.path[:0] = paths
    for path in paths:
        if (customization := Path(path, "sitecustomize.py")).exists():
            runpy.run_path(str(customization))


def _text(file: IO[str]) -> str:
    """Read a file without moving the place where others write."""
    number = file.fileno()
    return os.pread(number, os.fstat(number).st_size, 0).decode()


def stop() -> None:
    """Stop the process that the others are forked from, and wait for its end."""
    forkserver._forkserver._stop()  # type: ignore[attr-defined] # nothing public does it before Python ends
