"""A hostile server, and the run of a bot on it, shared by tests and the bench."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import resource
import socket
import struct
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, Self

import structlog
from attrs import define, evolve, field

from fibs_protocol.errors import UnknownCommandError
from fibs_protocol.grammar import parse_command
from fibsbot.bot.agent import Agent
from fibsbot.bot.events_and_actions import Record
from fibsbot.bot.runner import Observer, Runner, SessionResult
from fibsbot.bot.settings import AgentSettings, RunSettings, Timings
from fibsbot.client.connection import Connection, connect
from fibsbot.client.settings import BackoffSettings, ServerSettings
from fibsbot.policy import Lengths, Policy
from fibsbot.records.session_log import Received, Rotation, read_session_log
from fibsbot.server.server import Server
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.random_play import RandomStrategy
from tests.bot.agent_script import ME, OWN_INFO
from tests.bot.live_bots import CHEAP, agent_settings
from tests.bot.test_hostile_messages import any_board, any_line

DATA: Final = Path(__file__).parent.parent / "data" / "bot"
QUICK: Final = Timings(watchdog=0.3, keep_alive=5, pause=0, invitation=0.01, retry=0.2, left=0.5, patience=1, silence=5)
FINAL: Final = re.compile(rb"login:|(?:^|\n)[78] marvin|already logged in", re.IGNORECASE)
"""Lines after which a run has to end: a refused password, another login of the same name."""
NOTICE: Final = re.compile(rb"ATTENTION|causes shutdown", re.IGNORECASE)
"""Lines that make the bot disconnect for a while."""
_NO_LINGER: Final = struct.pack("ii", 1, 0)


@cache
def recorded() -> tuple[bytes, ...]:
    """Return the lines of real servers in recorded matches."""
    said = b""
    for path in sorted(DATA.glob("*.jsonl")):
        said += b"".join(record.data for record in read_session_log(path) if isinstance(record, Received))
    return tuple(line for line in said.split(b"\r\n") if line.strip())


class HostileMessages:
    """Generates the bytes of a hostile server."""

    def __init__(self, seed: int) -> None:
        """Seed the generator."""
        self.rng = random.Random(seed)

    def line(self) -> bytes:
        """Return the bytes of one line, a part of one, or garbage."""
        rng = self.rng
        made = rng.choices(
            (
                self._false_line,
                self._damaged,
                self._stranger,
                self._nested,
                self._garbage,
                self._telnet,
                self._half,
                self._huge,
            ),
            (40, 25, 15, 6, 5, 4, 4, 0.3),
        )[0]()
        return b"" if FINAL.search(made) or NOTICE.search(made) else made

    def _false_line(self) -> bytes:
        return any_line(self.rng).encode() + b"\r\n"

    def _damaged(self) -> bytes:
        rng = self.rng
        line = bytearray(rng.choice(recorded()) if rng.random() < 0.7 else any_line(rng).encode())
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(line) + 1)
            match rng.randrange(5):
                case 0:
                    line[place : place + 1] = rng.randbytes(1)
                case 1:
                    del line[place : place + rng.randint(1, 9)]
                case 2:
                    line[place:place] = rng.choice(recorded())[: rng.randint(1, 40)]
                case 3:
                    line[place:place] = str(rng.choice([0, -1, 2**31, 10**30, 1e400])).encode()
                case _:
                    line[place:place] = rng.choice([b"%s%n", b"\x00", b"\x1b[2J", b"\xff", b"\r", b"::", b"  ", b"You"])
        return bytes(line) + b"\r\n"

    def _stranger(self) -> bytes:
        """Return a line about a player with a new name."""
        rng = self.rng
        name = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz_", k=rng.randint(3, 20)))
        text = rng.choice(
            [
                f"5 {name} - - 1 0 1500.00 0 0 1 h - -",
                f"7 {name} {name} logs in.",
                f"8 {name} {name} drops connection.",
                f"{name} wants to play a {rng.choice([1, 3, 5, 9999])} point match with you.",
                f"{name} wants to resume a saved match with you.",
                f"12 {name} {rng.choice(['help', 'stats', 'status', 'quit', 'move', 'x' * 500])}",
                f"15 {name} move",
                f"** You invited {name} to a 5 point match.",
                f" *{name:20} {rng.randint(1, 99)}              1 -  3",
                f"** Player {name} has joined you for a {rng.choice([1, 5, 700])} point match.",
                f"** You are now playing a 5 point match with {name}",
                f"{name} has joined you. Your running match was loaded.",
                f"{name} wins the 5 point match 5-0 .",
            ]
        )
        return text.encode() + b"\r\n"

    def _nested(self) -> bytes:
        board = any_board(self.rng)
        return (board + self.rng.choice(["", ":", "You roll 6 and 4."]) + any_board(self.rng)).encode() + b"\r\n"

    def _garbage(self) -> bytes:
        return self.rng.randbytes(self.rng.randint(1, 200)).replace(b"\xff\xfd\x12", b"") + b"\r\n"

    def _telnet(self) -> bytes:
        rng = self.rng
        if rng.random() < 0.5:
            return bytes([255, rng.randrange(251, 255), rng.randrange(19, 256)])
        return b"\xff\xfa" + bytes([rng.randrange(255)]) + b"x" * rng.randrange(90) + b"\xff\xf0"

    def _half(self) -> bytes:
        line = any_line(self.rng).encode()
        return line[: self.rng.randrange(len(line) + 1)]

    def _huge(self) -> bytes:
        return any_line(self.rng).encode() * self.rng.choice([50, 500, 2000]) + b"\r\n"


class HostileServer:
    """Sends hostile messages on every connection, and stores what it receives."""

    def __init__(self, seed: int, lines: int) -> None:
        """Send about `lines` lines on each connection."""
        self.port = 0
        self.connections = 0
        self.lines = 0
        self.bytes = 0
        self.heard: Counter[str] = Counter()
        """The number of lines received by their first words."""
        self.nonsense: list[str] = []
        """The lines received that are not commands."""
        self._seed = seed
        self._lines = lines
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Start listening."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections."""
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self.connections += 1
        messages = HostileMessages(hash((self._seed, self.connections)))
        received = asyncio.Event()
        listening = asyncio.ensure_future(self._listen(reader, received))
        try:
            with contextlib.suppress(OSError):
                await self._send_messages(messages, received, writer)
                await self._end(messages.rng, listening, writer)
        finally:
            listening.cancel()
            writer.transport.abort()
            await asyncio.gather(listening, return_exceptions=True)
            self._tasks.discard(task)

    async def _send_messages(
        self, messages: HostileMessages, received: asyncio.Event, writer: asyncio.StreamWriter
    ) -> None:
        rng = messages.rng
        if rng.random() < 0.95:
            writer.write(b"WELCOME\r\nlogin: ")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(received.wait(), 0.2)
        if rng.random() < 0.95:
            writer.write(f"1 {ME} 1 h\r\n{OWN_INFO}\r\n".encode())
        for _ in range(rng.randint(0, 2 * self._lines)):
            if writer.is_closing():
                return
            data = messages.line()
            self.lines += 1
            self.bytes += len(data)
            writer.write(data)
            if rng.random() < 0.1:
                await writer.drain()
                await asyncio.sleep(0)  # let the bot run, which shares the event loop
        await writer.drain()

    async def _listen(self, reader: asyncio.StreamReader, received: asyncio.Event) -> None:
        with contextlib.suppress(OSError, asyncio.LimitOverrunError):
            while line := await reader.readline():
                received.set()
                text = re.sub(rb"\xff\xfa.*?\xff\xf0|\xff[\xfb-\xfe].|\xff.", b"", line, flags=re.DOTALL)
                self._note(text.decode("latin-1").strip())

    def _note(self, said: str) -> None:
        if not said:
            return
        self.heard[said.split(maxsplit=1)[0]] += 1
        try:
            parse_command(said)
        except UnknownCommandError:
            self.nonsense.append(said[:200])
        except ValueError:
            pass  # a command that only a real server can check

    async def _end(self, rng: random.Random, listening: asyncio.Future[None], writer: asyncio.StreamWriter) -> None:
        match rng.randrange(4):
            case 0:
                linger = writer.get_extra_info("socket")
                linger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
                writer.transport.abort()
            case 1:
                writer.write_eof()  # it still receives
                await asyncio.wait({listening}, timeout=0.05)
            case 2:
                await asyncio.wait({listening}, timeout=0.02)  # silence
            case _:
                pass


@define
class HostileResults:
    """The results of a run."""

    matches: int = 0
    log_lines: int = 0
    """Number of lines of the program's own log."""
    most_tasks: int = 0
    """Maximum number of questions that waited for the strategy at the same time."""
    memory: list[float] = field(factory=list)
    """Memory in use in MiB, sampled during the run."""


class RecordCounter(Observer):
    """Counts records by name."""

    def __init__(self) -> None:
        """Start without records."""
        self.records: Counter[str] = Counter()

    def on_record(self, record: Record, agent: Agent) -> None:  # noqa: ARG002 - the interface
        """Count a record."""
        self.records[record.name] += 1


class HostileRun:
    """The run of one bot: hostile connections and matches on a real server in turn."""

    def __init__(self, seed: int, log: Path, lines: int, strategy: Strategy | None = None) -> None:
        """Prepare a run with a session log at `log`."""
        self.hostile = HostileServer(seed, lines)
        self.real = Server(seed=seed, limits=CHEAP)
        self.record_counter = RecordCounter()
        self.results = HostileResults()
        self._port = 0
        self._connection: Connection | None = None
        policy = Policy(lengths=Lengths(unlimited=True))
        settings = AgentSettings(ME, "pw-of-marvin", policy=policy, timings=QUICK, seed=seed)
        pauses = BackoffSettings(first=0.001, longest=0.002)
        run = RunSettings(ServerSettings("127.0.0.1", 1), settings, retry_first=True, backoff=pauses, log_path=log)
        self._settings = evolve(run, rotation=Rotation(2**20, daily=True, keep_days=30, max_total_bytes=2**22))
        self._runner = Runner(
            self._settings, strategy or RandomStrategy(seed), observer=self.record_counter, connect_to=self._connect_to
        )

    async def _connect_to(self) -> Connection:
        self._connection = await connect("127.0.0.1", self._port, timeout=5)
        return self._connection

    async def run(self, connections: int, matches: int) -> SessionResult:
        """Make this many hostile connections, with matches in between and one at the end."""
        async with self.hostile, self.real:
            for name in (ME, "ford"):
                await self.real.register(name, f"pw-of-{name}")
            self._port = self.hostile.port
            with counted_log(self.results):
                running = asyncio.create_task(self._runner.run())
                for number in range(1, matches + 1):
                    await self._run_hostile(running, number * connections // matches)
                    await self._play(running)
                self._runner.quit()
                return await running

    async def _run_hostile(self, running: asyncio.Task[SessionResult], until: int) -> None:
        self._move_to(self.hostile.port)
        while self.hostile.connections < until and not running.done():
            self.results.most_tasks = max(self.results.most_tasks, len(self._runner._driver._pending))
            await asyncio.sleep(0.01)
        self.results.memory.append(memory())

    async def _play(self, running: asyncio.Task[SessionResult]) -> None:
        """Play a match with the bot on the real server."""
        self._move_to(self.real.port)
        timings = evolve(QUICK, watchdog=2, patience=10)
        settings = agent_settings("ford", "pw-of-ford", invite=ME, length=1, matches=1, timings=timings)
        ford = Runner(
            RunSettings(ServerSettings("127.0.0.1", self.real.port), settings, retry_first=True), RandomStrategy(1)
        )
        playing = asyncio.create_task(ford.run())
        await asyncio.wait({playing, running}, return_when=asyncio.FIRST_COMPLETED)
        if not playing.done():
            playing.cancel()
            await asyncio.wait({playing})
            return
        self.results.matches += playing.result().counters.matches

    def _move_to(self, port: int) -> None:
        self._port = port
        if self._connection:
            self._connection.close()


@contextlib.contextmanager
def counted_log(results: HostileResults) -> Iterator[None]:
    """Count the lines that the program's own log would have at the default level."""

    class Counting:
        def msg(self, *_: object, **__: object) -> None:
            results.log_lines += 1

        info = warning = error = critical = msg

    structlog.configure(
        processors=[],
        wrapper_class=structlog.make_filtering_bound_logger(20),
        logger_factory=lambda *_: Counting(),
        cache_logger_on_first_use=False,
    )
    try:
        yield
    finally:
        structlog.reset_defaults()


def memory() -> float:
    """Return the memory in use by this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() / 2**20
