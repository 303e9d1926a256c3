"""A flood of the embedded server: clients that never stop sending, and an honest client that measures response times.

Server and flood are processes of their own, all on 127.0.0.1. Times are the processor time of the server's process, so
that they mean the same on a machine that does other things as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
import statistics
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from fibsbot.log import LogLevel, configure_log
from fibsbot.server.limits import ServerLimits
from fibsbot.server.server import Server

PASSWORD: Final = "a_password"  # noqa: S105 - of a server that lives for seconds
BLOCKS: Final = (100 * b"rawwho\r\n", 1000 * b"port\r\n", 4096 * b"x", 2000 * b"\n", 500 * b"shout hello\r\n")
"""The lines that flooding clients send over and over, one per client."""
WRONG: Final = b"connect victim wrong\r\n"


@frozen
class Flooded:
    """Response times of the honest client, in seconds of the server's processor time."""

    quiet: list[float]
    """Command to answer before the flood."""
    flooded: list[float]
    """The same during the flood."""
    login: float
    """Connection to logged in, during the flood."""
    stop: float
    """SIGTERM to the end of the server's process, during the flood."""


def measure(clients: int, commands: int) -> Flooded:
    """Flood a server with clients, half of which are logged in, and send it honest commands meanwhile."""
    with _process(_serve, clients) as (server, ours):
        port = ours.recv()
        with _process(_flood, clients, port) as (_, flooding):
            used = Used(server.pid or 0)
            result = asyncio.run(_be_honest(port, commands, flooding, used))
            began = used()
            os.kill(server.pid or 0, signal.SIGTERM)
            while server.is_alive():
                used()
                time.sleep(0.01)
        return evolve(result, stop=used() - began)


class Used:
    """The processor time of a process in seconds, from `/proc`; for a finished process the last known."""

    def __init__(self, process: int) -> None:
        """Watch the process with this ID."""
        self._path = Path(f"/proc/{process}/schedstat")
        self._last = 0.0

    def __call__(self) -> float:
        """Return the seconds."""
        with contextlib.suppress(OSError, IndexError):
            self._last = int(self._path.read_text(encoding="ascii").split()[0]) / 1e9
        return self._last


@contextlib.contextmanager
def _process(target: object, *arguments: int) -> Iterator[tuple[multiprocessing.process.BaseProcess, Connection]]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=target, args=(theirs, *arguments))  # type: ignore[arg-type] # any function
    process.start()
    theirs.close()
    try:
        yield process, ours
    finally:
        process.kill()
        process.join()


# -- the three sides ------------------------------------------------------------------------------------------------


def _serve(pipe: Connection, clients: int) -> None:
    configure_log(level=LogLevel.ERROR)

    async def run() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        async with Server(limits=ServerLimits(password_cost=16)) as server:
            for name in ("honest", *map(_name, range(clients))):
                await server.register(name, PASSWORD)
            pipe.send(server.port)
            await stop.wait()

    asyncio.run(run())


def _name(number: int) -> str:
    return "flood_" + "".join(chr(ord("a") + int(digit)) for digit in str(number))


def _flood(pipe: Connection, clients: int, port: int) -> None:
    pipe.recv()
    asyncio.run(_all_flood(pipe, clients, port))


async def _all_flood(pipe: Connection, clients: int, port: int) -> None:
    started = asyncio.Semaphore(0)
    tasks = [asyncio.create_task(_one_floods(number, port, started)) for number in range(clients)]
    for _ in range(clients):
        await started.acquire()
    pipe.send("all are at it")
    await asyncio.wait(tasks)


async def _one_floods(number: int, port: int, started: asyncio.Semaphore) -> None:
    """Log in, or not, and send without end; reconnect when the connection is closed."""
    block = BLOCKS[number % len(BLOCKS)]
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            if number % 2:
                writer.write(f"login flood 1008 {_name(number)} {PASSWORD}\r\n".encode())
            elif number % 10:
                writer.write(4 * WRONG)
            reading = asyncio.create_task(_swallow(reader))
            started.release()
            with contextlib.suppress(OSError):
                while not reading.done():
                    writer.write(block)
                    await writer.drain()
                    await asyncio.sleep(0)
            reading.cancel()
            writer.transport.abort()
        await asyncio.sleep(0.05)


async def _swallow(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(OSError):
        while await reader.read(2**16):
            pass


async def _be_honest(port: int, commands: int, flooding: Connection, used: Used) -> Flooded:
    reader, writer = await _log_in(port)
    quiet = [await _command(reader, writer, used) for _ in range(commands)]
    flooding.send("begin")
    await asyncio.to_thread(flooding.recv)
    flooded = [await _command(reader, writer, used) for _ in range(commands)]
    writer.close()
    began = used()
    _, writer = await _log_in(port)
    login = used() - began
    writer.close()
    return Flooded(quiet, flooded, login, 0.0)


async def _log_in(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**22)
    writer.write(f"login bench 1008 honest {PASSWORD}\r\ntoggle silent\r\n".encode())
    await reader.readuntil(b"\n6\r\n")
    return reader, writer


async def _command(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, used: Used) -> float:
    await asyncio.sleep(0.02)
    began = used()
    writer.write(b"port\r\n")
    await reader.readuntil(b"running on port")
    return used() - began


def percentile(seconds: list[float], share: float) -> float:
    """Return a quantile of the values."""
    return statistics.quantiles(seconds, n=100, method="inclusive")[round(100 * share) - 1]
