"""The test bed: the server and the bots as processes, their opponents, and the proxies between them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import re
import secrets
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import AttrsInstance, asdict, define, field

from bench.chaos.oracle import Oracle
from bench.chaos.proxy import AccountProxy, ProxyConnection
from bench.chaos.schedule import ChaosPlan, IncidentLog
from fibsbot.arena.soak import number_in_letters
from fibsbot.bot.runner import Runner
from fibsbot.bot.settings import AgentSettings, RunSettings, Timings
from fibsbot.client.settings import BackoffSettings, ServerSettings
from fibsbot.policy import Lengths, Policy
from fibsbot.server.limits import SHORT_LIVED
from fibsbot.server.server import Server
from fibsbot.strategies.loader import load

PROCESS_TIMEOUT: Final = 120.0
"""Seconds that a process has to start, and to end."""
MAX_QUOTED: Final = 20
"""Number of problems of a log that are kept."""
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_FOR_PEOPLE: Final = re.compile(rb"\d{4}-\d\d-\d\dT\S+ \[(?:debug|info|warning) *\] |\w+: \d+ matches played, ")
"""Lines without an error: log lines, and the summary at the end."""


class ChildError(Exception):
    """A process does not start, end or listen; the text says which and how."""


@define
class FibsbotProcess:
    """A `fibsbot` process that can be started again with the same command."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(factory=dict, repr=False)
    folder: Path | None = None
    """Working directory."""
    log: Path | None = None
    """File for its stderr, over all starts."""
    starts: int = 0
    exits: list[str] = field(factory=list)
    """Unexpected ends."""
    troubles: list[str] = field(factory=list)
    """Errors and exceptions in its log."""
    _process: asyncio.subprocess.Process | None = None
    _expected: bool = False
    _tasks: set[asyncio.Task[None]] = field(factory=set)

    @property
    def running(self) -> bool:
        """Whether the process is running."""
        return self._process is not None and self._process.returncode is None

    @property
    def memory(self) -> int | None:
        """Resident memory in bytes; None if the process is not running."""
        if self._process is None or self._process.returncode is not None:
            return None
        with contextlib.suppress(OSError, ValueError, IndexError):
            return int(Path(f"/proc/{self._process.pid}/statm").read_text("ascii").split()[1]) * _PAGE
        return None

    async def start(self) -> None:
        """Start the process unless it is running."""
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

        Raises ChildError if the process does not end; it is killed then.
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
            async with asyncio.timeout(PROCESS_TIMEOUT):
                status = await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
            raise ChildError(f"{self.name} did not end within {PROCESS_TIMEOUT:g} s") from None
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
                if is_trouble(line) and len(self.troubles) < MAX_QUOTED:
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


async def wait_for_port(port: int, seconds: float = PROCESS_TIMEOUT) -> None:
    """Wait until a process listens on a local port. Raises ChildError if none does."""
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


PASSWORD_VARIABLE: Final = "FIBSBOT_PASSWORD"  # noqa: S105 - the name of a variable
PORT_RANGE: Final = range(20_000, 32_000)
"""Where ports are looked for: below those that a system gives away by itself, so that a port stays free while nobody
listens on it."""
STORE_FILE: Final = "fibsbot.db"
"""File of a bot's store, in its folder."""
LONGEST_PAUSE: Final = 160.0
"""Seconds between two attempts to connect at most, by the bots' clock: faults come every few minutes, and a bot that
pauses for a quarter of an hour after them would see none."""
HEALTHY_AFTER: Final = 60.0
"""Seconds after which a connection counts as healthy, for the same reason."""


@define(eq=False)
class BotPair:
    """A bot and its opponent."""

    number: int
    bot: Oracle
    opponent: Oracle
    bot_proxy: AccountProxy
    opponent_proxy: AccountProxy
    child: FibsbotProcess
    runner: Runner
    folder: Path
    """Folder of the bot's files."""
    playing: asyncio.Task[object] | None = None
    """The opponent's run."""


@define(eq=False)
class Testbed:
    """The processes, proxies and tasks of a run."""

    plan: ChaosPlan
    folder: Path
    port: int
    """Of the server."""
    server: FibsbotProcess
    pairs: list[BotPair]
    recoveries: IncidentLog
    server_busy: asyncio.Lock = field(factory=asyncio.Lock)
    """Held while the server is being restarted."""

    @property
    def database(self) -> Path:
        """The server's."""
        return self.folder / "server.db"

    @property
    def bots(self) -> list[str]:
        """The bots' names."""
        return [pair.bot.account for pair in self.pairs]

    def connections(self) -> list[ProxyConnection]:
        """Return the open connections."""
        proxies = [proxy for pair in self.pairs for proxy in (pair.bot_proxy, pair.opponent_proxy)]
        return [proxy.connection for proxy in proxies if proxy.connection is not None and not proxy.connection.over]

    async def open(self) -> None:
        """Start everything."""
        await self.start_server()
        for pair in self.pairs:
            await pair.bot_proxy.open()
            await pair.opponent_proxy.open()
            pair.playing = asyncio.create_task(pair.runner.run())
        await asyncio.gather(*(pair.child.start() for pair in self.pairs))

    async def start_server(self) -> None:
        """Start the server and wait until it listens."""
        await self.server.start()
        await wait_for_port(self.port)

    async def close(self) -> None:
        """End everything that still runs, the bots at once."""
        for pair in self.pairs:
            if pair.playing is not None:
                pair.runner.finish()
                _, late = await asyncio.wait({pair.playing}, timeout=5.0)
                for task in late:
                    task.cancel()
                await asyncio.gather(*late, return_exceptions=True)
            if pair.child.running:
                await pair.child.end(signal.SIGKILL)
            await pair.bot_proxy.close()
            await pair.opponent_proxy.close()
        if self.server.running:
            await self.server.end(signal.SIGTERM)


async def build_testbed(plan: ChaosPlan, folder: Path, strategies: tuple[str, str]) -> Testbed:
    """Set up a test bed in an empty folder without starting it, with the strategies of bots and opponents."""
    ports = _free_ports(1 + 2 * plan.pairs)
    port = ports.pop()
    names = [(f"bot_{number_in_letters(number)}", f"foe_{number_in_letters(number)}") for number in range(plan.pairs)]
    passwords = {name: secrets.token_urlsafe(16) for pair in names for name in pair}
    server = Server(db=folder / "server.db", limits=SHORT_LIVED)
    try:
        for name, password in passwords.items():
            await server.register(name, password)
    finally:
        await server.stop()
    recoveries = IncidentLog()
    pairs = []
    for number, (bot, opponent) in enumerate(names):
        oracles = Oracle(bot, recoveries.progressed), Oracle(opponent, recoveries.progressed)
        proxies = [AccountProxy(ports.pop(), port, oracle) for oracle in oracles]
        own = folder / bot
        own.mkdir()
        config = own / "fibsbot.toml"
        config.write_text(config_text(plan, proxies[0].port, bot, opponent, own, strategies[0]), "utf-8")
        pairs.append(
            BotPair(
                number,
                bot=oracles[0],
                opponent=oracles[1],
                bot_proxy=proxies[0],
                opponent_proxy=proxies[1],
                child=FibsbotProcess(
                    bot, bot_arguments(config), {PASSWORD_VARIABLE: passwords[bot]}, log=own / "stderr.jsonl"
                ),
                runner=_opponent(plan, proxies[1].port, opponent, passwords[opponent], strategies[1]),
                folder=own,
            )
        )
    command = ("serve", "--port", str(port), "--database", str(folder / "server.db"), "--seed", str(plan.seed))
    return Testbed(plan, folder, port, FibsbotProcess("server", command), pairs, recoveries)


def bot_arguments(config: Path) -> tuple[str, ...]:
    """Return the arguments of `fibsbot` that start a bot."""
    return ("run", "--config", str(config))


def config_text(plan: ChaosPlan, port: int, name: str, opponent: str, folder: Path, strategy: str) -> str:  # noqa: PLR0913, PLR0917 - what a bot has to be told
    """Return a bot's configuration, with all times shortened."""
    return f"""\
[server]
port = {port}

[account]
name = "{name}"
password_env = "{PASSWORD_VARIABLE}"

[bot]
strategy = "{strategy}"
invite = "{opponent}"
invite_length = {plan.length}

[timing]
{_lines(Timings().scaled(1 / plan.speed))}

[reconnect]
{_lines(_pauses(plan))}

[log]
directory = "{folder / "logs"}"
format = "json"

[service]
store = "{folder / STORE_FILE}"
control = "{folder / "fibsbot.sock"}"
"""


def _lines(settings: AttrsInstance) -> str:
    """Return the lines of a section of the configuration file."""
    return "\n".join(f"{name} = {value}" for name, value in asdict(settings).items() if value is not None)


def _opponent(plan: ChaosPlan, port: int, name: str, password: str, strategy: str) -> Runner:
    agent = AgentSettings(
        name=name,
        password=password,
        policy=Policy(lengths=Lengths(((1, plan.length),))),
        timings=Timings().scaled(1 / plan.speed),
    )
    settings = RunSettings(ServerSettings("127.0.0.1", port), agent, backoff=_pauses(plan), retry_first=True)
    return Runner(settings, load(strategy))


def _pauses(plan: ChaosPlan) -> BackoffSettings:
    waits = {
        "first": BackoffSettings().first,
        "longest": LONGEST_PAUSE,
        "restart": LONGEST_PAUSE,
        "healthy": HEALTHY_AFTER,
    }
    return BackoffSettings(**{name: seconds / plan.speed for name, seconds in waits.items()})


def _free_ports(count: int) -> list[int]:
    """Return ports that are free now."""
    found: list[int] = []
    while len(found) < count:
        port = random.SystemRandom().choice(PORT_RANGE)
        with socket.socket() as sock:
            try:
                sock.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found
