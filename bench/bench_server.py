"""The embedded server under load: matches per minute, time from command to answer, memory per connection.

The server runs in a process of its own. The clients here are raw: they answer at once, with random legal plays. Beside
each time stands that of a bare echo server in the same run, asked by as many clients at once.

    python bench/bench_server.py [--quick]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import structlog
from attrs import define, field, frozen

from fibs_protocol.words import Colour
from fibsbot.fibs_numbering import play_to_fibs
from fibsbot.position import Move, Play
from fibsbot.rules.plays import resulting_positions
from fibsbot.server.limits import ServerLimits
from fibsbot.server.server import Server

PASSWORD: Final = "benchmark"  # noqa: S105 - of accounts that live for this run
PAIRS: Final = 50
CROWD: Final = 1000
MEMORY_LIMIT: Final = 100.0
"""kB per connection."""
UNHURRIED: Final = ServerLimits(
    connections=3000, connections_per_address=3000, commands_per_second=1e9, burst=10**6, password_cost=2**4
)
"""No rate limit and cheap password hashes, because neither is measured here."""


def name(number: int) -> str:
    """Return a user's name: letters only."""
    return "b_" + "".join(chr(97 + int(digit)) for digit in str(number))


# -- the other process ----------------------------------------------------------------------------------------------


async def serve(users: int) -> None:
    """Run the server: register users, print the port, and end at the end of standard input."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    async with Server(seed=1, limits=UNHURRIED) as server:
        for number in range(users):
            await server.register(name(number), PASSWORD)
        await _stay(server.port)


async def echo() -> None:
    """Run the bare echo server."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line)

    async with await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1024) as server:
        await _stay(server.sockets[0].getsockname()[1])


async def _stay(port: int) -> None:
    print(port, flush=True)
    await asyncio.to_thread(sys.stdin.read)


@contextmanager
def process(*arguments: str) -> Iterator[tuple[int, int]]:
    """Run this file as another process; yield its port and process id."""
    command = [sys.executable, __file__, *arguments]
    child = subprocess.Popen(  # noqa: S603 - this very file
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    if child.stdin is None or child.stdout is None:
        raise AssertionError("the child has pipes")
    try:
        yield int(child.stdout.readline()), child.pid
    finally:
        child.stdin.close()
        child.wait(30)
        child.stdout.close()


def resident(pid: int) -> float:
    """Return a process's resident memory in kB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1024


# -- clients --------------------------------------------------------------------------------------------------------


@define
class Tally:
    """Measurements of the clients."""

    deadline: float
    """Monotonic time after which no new match begins."""
    matches: int = 0
    times: list[float] = field(factory=list)
    """Seconds from each command to the first line of its answer."""


class Client:
    """A raw client that plays."""

    def __init__(self, number: int, opponent: int, tally: Tally) -> None:
        """Store the numbers of this client and its opponent; the even one invites."""
        self._number = number
        self._opponent = name(opponent)
        self._tally = tally
        self._random = random.Random(number)
        self._sent_at = 0.0
        self._board: list[str] = []
        self._to_open = False
        self.over = False

    async def play(self, port: int) -> None:
        """Log in and play until the time is over."""
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
        await self._reader.readuntil(b"login: ")
        self._send(f"login bench 1008 {name(self._number)} {PASSWORD}")
        await self._reader.readuntil(b"\n6\r\n")
        self._send("set boardstyle 3")
        self._send("toggle ready")
        if self._number % 2 == 0:
            await asyncio.sleep(0.5)
            self._invite()
        while not self.over:
            line = (await self._reader.readline()).decode().rstrip()
            if not line:
                if self._reader.at_eof():
                    return
            elif not line[0].isdigit():
                self._note_time()
                self._react(line)
        self._writer.close()

    def _send(self, command: str) -> None:
        self._writer.write(command.encode() + b"\r\n")
        self._sent_at = time.monotonic()

    def _note_time(self) -> None:
        if self._sent_at:
            self._tally.times.append(time.monotonic() - self._sent_at)
            self._sent_at = 0.0

    def _invite(self) -> None:
        if time.monotonic() > self._tally.deadline:
            self.over = True
        else:
            self._send(f"invite {self._opponent} 1")

    def _react(self, line: str) -> None:
        if line.startswith("board:"):
            self._board = line.split(":")
            if self._to_open:
                self._to_open = False
                self._move()
        elif line.startswith("Please move"):
            self._move()
        elif line.startswith("It's your turn to move"):
            self._to_open = True
        elif line.startswith("It's your turn."):
            self._send("roll")
        elif line.startswith("Type 'join"):
            self._send(f"join {self._opponent}")
        elif (
            " match " in line and " the " in line and line.startswith(("You win", "b_")) and "wins the game" not in line
        ):
            self._end_match()
        elif line.startswith("** ") and "You invited" not in line and "playing" not in line and "now" not in line:
            self._complain(line)

    def _end_match(self) -> None:
        if self._number % 2 == 0:
            self._tally.matches += 1
            self._invite()
        elif time.monotonic() > self._tally.deadline:
            self.over = True

    def _complain(self, line: str) -> None:
        if not line.startswith(("** Player", "** Forced")):
            print(f"{name(self._number)} was told {line!r}", file=sys.stderr)

    def _move(self) -> None:
        colour, direction = Colour(int(self._board[41])), int(self._board[42])
        points = tuple(int(cell) * colour for cell in self._board[6:32])[::-direction]
        dice = int(self._board[33]), int(self._board[34])
        steps = self._random.choice(list(resulting_positions(points, dice).values()))
        play = play_to_fibs(Play(tuple(Move(*step) for step in steps)), direction)
        self._send("move " + " ".join(f"{move.source or 'bar'}-{move.target or 'off'}" for move in play))


async def play_matches(port: int, pairs: int, seconds: float) -> Tally:
    """Let pairs of clients play for some time; return the measurements."""
    tally = Tally(time.monotonic() + seconds)
    clients = [Client(number, number ^ 1, tally) for number in range(2 * pairs)]
    # The last matches begun before the deadline may continue a little; they are not waited for.
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(client.play(port)) for client in clients]
        await asyncio.sleep(seconds)
        for task in tasks:
            task.cancel()
    return tally


async def ask_echo(port: int, clients: int, rounds: int) -> list[float]:
    """Return the seconds of an echo for several clients at once."""
    times: list[float] = []

    async def ask() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(rounds):
            began = time.monotonic()
            writer.write(b"move 24-18 18-13\r\n")
            await reader.readline()
            times.append(time.monotonic() - began)
        writer.close()

    await asyncio.gather(*(ask() for _ in range(clients)))
    return times


async def crowd(port: int, pid: int, users: int) -> float:
    """Log users in and keep them connected; return the server's memory per user, in kB."""
    before = resident(pid)
    writers = []

    async def log_in(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
        await reader.readuntil(b"login: ")
        writer.write(f"login bench 1008 {name(number)} {PASSWORD}\r\n".encode())
        await reader.readuntil(b"\n6\r\n")
        drained.append(asyncio.create_task(drain(reader)))
        writers.append(writer)

    async def drain(reader: asyncio.StreamReader) -> None:
        while await reader.read(2**16):
            pass

    drained: list[asyncio.Task[None]] = []
    for first in range(0, users, 20):
        await asyncio.gather(*(log_in(number) for number in range(first, min(first + 20, users))))
    await asyncio.sleep(1)
    per_connection = (resident(pid) - before) / users
    for writer in writers:
        writer.close()
    await asyncio.gather(*drained)
    return per_connection


# -- the table ------------------------------------------------------------------------------------------------------


@frozen
class Row:
    """A row of the result."""

    what: str
    value: str
    beside: str


def milliseconds(times: list[float], share: float) -> float:
    """Return a quantile in milliseconds."""
    return 1000 * statistics.quantiles(times, n=100)[round(100 * share) - 1]


def compare(what: str, times: list[float], bare: list[float]) -> Iterator[Row]:
    """Yield median and p99 beside the echo server's."""
    for title, share in (("median", 0.5), ("p99", 0.99)):
        value, echoed = milliseconds(times, share), milliseconds(bare, share)
        yield Row(f"{what}, {title}", f"{value:.2f} ms", f"echo {echoed:.2f} ms, ratio {value / echoed:.1f}")


def measure(*, quick: bool) -> Iterator[Row]:
    """Run all measurements."""
    seconds, users = (5.0, 200) if quick else (30.0, CROWD)
    with process("--be", "echo") as (port, _):
        alone = asyncio.run(ask_echo(port, 1, 2000))
        together = asyncio.run(ask_echo(port, 2 * PAIRS, 100))
    with process("--be", "server", "--users", str(2 * PAIRS)) as (port, _):
        one = asyncio.run(play_matches(port, 1, seconds / 3))
    with process("--be", "server", "--users", str(2 * PAIRS)) as (port, _):
        all_pairs = asyncio.run(play_matches(port, PAIRS, seconds))
    with process("--be", "server", "--users", str(users)) as (port, pid):
        memory = asyncio.run(crowd(port, pid, users))
    if not one.matches or not all_pairs.matches:
        raise SystemExit(f"expected matches to end within {seconds / 3:.0f} and {seconds:.0f} s, got none: no result")
    rate, commands = 60 * all_pairs.matches / seconds, len(all_pairs.times) / seconds
    yield Row(f"1-point matches a minute, {PAIRS} pairs", f"{rate:.0f}", f"{commands:.0f} commands a second")
    yield from compare("command to answer, 1 pair", one.times, alone)
    yield from compare(f"command to answer, {PAIRS} pairs", all_pairs.times, together)
    yield Row(f"memory a connection, {users} logged in", f"{memory:.1f} kB", f"limit {MEMORY_LIMIT:.0f} kB")


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a short run")
    parser.add_argument("--be", choices=("server", "echo"), help=argparse.SUPPRESS)
    parser.add_argument("--users", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8192)), hard))
    if arguments.be:
        asyncio.run(serve(arguments.users) if arguments.be == "server" else echo())
        return
    for row in measure(quick=arguments.quick):
        print(f"{row.what:<42} {row.value:>12}   {row.beside}")


if __name__ == "__main__":
    main()
