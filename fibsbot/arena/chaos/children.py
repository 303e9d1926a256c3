"""The processes of a run: the server and the bots, started, watched, killed and started again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import define, field

START: Final = 30.0
"""Seconds that a process has to start, and to end."""
QUOTED: Final = 20
"""Troubles of a process's log that are kept."""
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_FOR_PEOPLE: Final = re.compile(rb"\d{4}-\d\d-\d\dT\S+ \[(?:debug|info|warning) *\] |\w+: \d+ matches played, ")
"""Lines for people that tell of no error: a log's, and the summary at the end."""


class ChildError(Exception):
    """A process does not do what it is there for; the text says which and how."""


@define
class Child:
    """A process that is started again and again with the same command."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(factory=dict, repr=False)
    folder: Path | None = None
    """Where it runs."""
    log: Path | None = None
    """Where its log goes, of all its lives."""
    starts: int = 0
    exits: list[str] = field(factory=list)
    """Ends that nobody asked for."""
    troubles: list[str] = field(factory=list)
    """Errors and exceptions in its log."""
    _process: asyncio.subprocess.Process | None = None
    _expected: bool = False
    _tasks: set[asyncio.Task[None]] = field(factory=set)

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.returncode is None

    @property
    def memory(self) -> int | None:
        """Bytes of memory that the process has resident; None if it does not run."""
        if self._process is None or self._process.returncode is not None:
            return None
        with contextlib.suppress(OSError, ValueError, IndexError):
            return int(Path(f"/proc/{self._process.pid}/statm").read_text("ascii").split()[1]) * _PAGE
        return None

    async def start(self) -> None:
        """Start the process, if it does not run."""
        if self.running:
            return
        self._expected = False
        self.starts += 1
        process = self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "fibsbot",
            *self.command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **self.environment},
            cwd=self.folder,
        )
        task = asyncio.create_task(self._watch(process))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def end(self, *signals: signal.Signals) -> int | None:
        """Send signals, one after the other, and wait for the end; return the exit status.

        Raises ChildError when the process does not end; it is killed then.
        """
        process = self._process
        if process is None:
            return None
        self._expected = True
        for number in signals:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(number)
            await asyncio.sleep(0.05)
        try:
            async with asyncio.timeout(START):
                status = await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
            raise ChildError(f"{self.name} did not end within {START:g} s") from None
        finally:
            await asyncio.gather(*self._tasks)
        return status

    def signal(self, number: signal.Signals) -> None:
        """Send a signal after which the process may end by itself."""
        self._expected = True
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(number)

    async def _watch(self, process: asyncio.subprocess.Process) -> None:
        if process.stderr is None:
            return
        with (self.log or Path(os.devnull)).open("ab") as file:
            while line := await _line(process.stderr):
                file.write(line)
                if is_trouble(line) and len(self.troubles) < QUOTED:
                    self.troubles.append(f"{self.name}: {line.decode('utf-8', 'replace').strip()[:300]}")
        status = await process.wait()
        if not self._expected:
            self.exits.append(f"{self.name} ended by itself with status {status}")


async def _line(stream: asyncio.StreamReader) -> bytes:
    """Read a line, or as much of an overlong one as there is."""
    try:
        return await stream.readuntil()
    except asyncio.IncompleteReadError as error:
        return error.partial
    except asyncio.LimitOverrunError as error:
        return await stream.read(error.consumed)


def is_trouble(line: bytes) -> bool:
    """Whether a line of a log, in JSON or for people, tells of an error; what is neither is part of a traceback."""
    if not line.strip():
        return False
    try:
        entry = json.loads(line)
    except ValueError:
        return _FOR_PEOPLE.match(line) is None
    return not isinstance(entry, dict) or "exception" in entry or entry.get("level") in {"error", "critical"}


async def listening(port: int, seconds: float = START) -> None:
    """Wait until somebody listens on a port of this machine. Raises ChildError when nobody does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
            return
        await asyncio.sleep(0.05)
    raise ChildError(f"nobody listens on port {port}")
