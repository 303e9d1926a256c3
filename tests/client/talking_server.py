"""A server of a test that talks as the test says."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from tests.client.certificates import server_context

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def listening(talk: Talk, tls: Path | None = None, sock: socket.socket | None = None) -> AsyncIterator[int]:
    """Run a server on this machine that talks like this, with a certificate or without; yield its port."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        tasks.add(task)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await talk(reader, writer)
        writer.transport.abort() if task.cancelling() else writer.close()

    where = {"sock": sock} if sock else {"host": "127.0.0.1", "port": 0}
    async with await asyncio.start_server(serve, ssl=server_context(tls) if tls else None, **where) as server:
        yield server.sockets[0].getsockname()[1]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)
        await asyncio.sleep(0)  # transports close in the next iteration of the loop
