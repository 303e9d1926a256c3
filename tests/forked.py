"""Processes that tests start and kill, forked from one that has imported the program already.

Importing takes half a second of the processor each time; only tests of the start itself have to start Python anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from attrs import frozen

ROOT: Final = Path(__file__).parents[1]
FORKS: Final = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        "fibsbot.cli.play",
        "fibsbot.cli.run",
        "fibsbot.cli.serve",
        "fibsbot.cli.status",
        "fibsbot.strategies.heuristic",
        "fibsbot.strategies.loader",
        "tests.records.store.concurrent_writer",
        "tests.records.store.playing_process",
    ]
)


@frozen
class Forked:
    """A process that runs a module as a program."""

    process: BaseProcess

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


def start(
    module: str,
    *arguments: object,
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    out: int | None = None,
    err: int | None = None,
) -> Forked:
    """Start `python -m MODULE ARGUMENTS ...` in a folder, with the output going to file descriptors."""
    environment = os.environ if environment is None else environment
    words = (module, *map(str, arguments))
    streams = [Connection(os.dup(number), readable=False) if number is not None else None for number in (out, err)]
    process = FORKS.Process(target=_run, args=(words, str(folder), dict(environment), *streams))
    with contextlib.chdir(ROOT):  # where the server of forks finds the modules to import
        process.start()
    for stream in streams:
        if stream is not None:
            stream.close()
    return Forked(process)


def _run(
    words: tuple[str, ...], folder: str, environment: dict[str, str], out: Connection | None, err: Connection | None
) -> None:
    """Become the program: in the child."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, stream in ((1, out), (2, err)):
        if stream is not None:
            os.dup2(stream.fileno(), number)
            stream.close()
    module, *arguments = words
    sys.argv = [module, *arguments]
    if module == "fibsbot":
        sys.exit(importlib.import_module("fibsbot.__main__").main())
    asyncio_main = importlib.import_module(module).main(*arguments)
    if asyncio.iscoroutine(asyncio_main):
        asyncio.run(asyncio_main)


def stop() -> None:
    """Stop the process that the others are forked from, and wait for its end."""
    forkserver._forkserver._stop()  # type: ignore[attr-defined] # nothing public does it before Python ends
