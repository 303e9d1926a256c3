"""`fibsbot run` in a process of its own, with everything that it needs in a folder."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import tempfile
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Self

from attrs import define, field

from fibsbot.records.session_log import read_session_log
from tests.forked import Forked, start
from tests.patience import SOON

ROOT: Final = Path(__file__).parents[2]
SECRET: Final = "swordfish"

HEAD: Final = """
server.port = {port}
server.register = true
bot.strategy = "heuristic"
timing.pause = {pause}
timing.invitation = 0.05
timing.retry = 0.5
reconnect.first = 0.2
reconnect.longest = 1.0
service.store = "store.db"
service.control = "socket"
log.format = "json"
log.level = "debug"
"""


def settings(port: int, *accounts: str, pause: float = 0.0, more: str = "") -> str:
    """Return a file for these accounts: each a name, or a name and more of its settings in the lines after it."""
    tables = []
    for account in accounts:
        name, _, rest = account.partition("\n")
        tables.append(f'[[account]]\nname = "{name}"\npassword_env = "SECRET"\n{rest}\n')
    return HEAD.format(port=port, pause=pause) + more + "\n" + "".join(tables)


@define
class Fleet:
    """The process."""

    folder: Path
    environment: Mapping[str, str] = field(factory=dict)
    process: Forked | None = None

    def write(self, text: str) -> Self:
        """Write its settings."""
        (self.folder / "bots.toml").write_text(text)
        return self

    async def start(self) -> None:
        """Start it; what it says goes to the file `log`."""
        with (self.folder / "log").open("ab") as log:
            self.process = self._fork("fibsbot", "run", "--config", "bots.toml", out=log.fileno(), err=log.fileno())

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(ROOT), "SECRET": SECRET, "COLUMNS": "100", **self.environment}

    def _fork(self, *words: str, out: int, err: int) -> Forked:
        return start(*words, folder=self.folder, environment=self._environment(), out=out, err=err)

    async def say(self, *arguments: str) -> tuple[int, str, str]:
        """Run another command of the program; return its exit status, stdout and stderr."""
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            async with asyncio.timeout(SOON):
                status = await self._fork("fibsbot", *arguments, out=out.fileno(), err=err.fileno()).wait()
            out.seek(0)
            err.seek(0)
            return status, out.read(), err.read()

    async def status(self) -> dict[str, Any]:
        """Return what `fibsbot status --json` tells."""
        code, out, err = await self.say("status", "--config", "bots.toml", "--json")
        assert not code, err
        found: dict[str, Any] = json.loads(out)
        return found

    def signal(self, number: signal.Signals) -> None:
        """Send the process a signal."""
        assert self.process is not None
        self.process.send_signal(number)

    async def end(self) -> int:
        """Wait for the end of the process; return its exit status."""
        assert self.process is not None
        async with asyncio.timeout(SOON):
            return await self.process.wait()

    @property
    def said(self) -> str:
        """Everything that the process has said."""
        return (self.folder / "log").read_text()

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return the lines of its log about this."""
        lines = (line for line in self.said.splitlines() if line.startswith("{") and name in line)
        return [event for event in map(_parsed, lines) if event.get("event") == name]

    async def until(self, name: str, count: int = 1, **fields: Any) -> dict[str, Any]:
        """Wait for so many lines of the log about this, and return the last."""
        async with asyncio.timeout(SOON):
            while True:
                found = [it for it in self.events(name) if fields.items() <= it.items()]
                if len(found) >= count:
                    return found[-1]
                assert self.process is None or self.process.returncode is None, self.said
                await asyncio.sleep(0.02)

    def written(self) -> str:
        """Return what is in all files of the folder."""
        files = (path for path in self.folder.rglob("*") if path.is_file() and path.name != "bots.toml")
        return "".join(path.read_text("latin-1") for path in files)

    def logged(self, account: str) -> Iterable[Any]:
        """Return the records of an account's session log."""
        return read_session_log(self.folder / "logs" / f"{account}.jsonl")


def _parsed(line: str) -> dict[str, Any]:
    with contextlib.suppress(ValueError):
        found: dict[str, Any] = json.loads(line)
        return found
    return {}


@contextlib.asynccontextmanager
async def fleet(folder: Path, text: str, **environment: str) -> AsyncIterator[Fleet]:
    """Run `fibsbot run` with these settings, and kill what is left of it in the end."""
    it = Fleet(folder, environment).write(text)
    await it.start()
    try:
        yield it
    finally:
        if it.process is not None and it.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                it.process.kill()
            await it.process.wait()
        assert SECRET not in it.written()
