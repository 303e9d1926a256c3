"""The end of a server, and connections that come just then."""

from __future__ import annotations

import asyncio
import socket

import pytest

from fibsbot.server.server import Server
from tests.server.raw import CHEAP, Raw


@pytest.mark.parametrize("steps", [3, 4, 5])
async def test_a_connection_that_comes_while_the_server_ends_is_not_served(steps: int) -> None:
    server = Server()
    await server.start()
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.settimeout(5)
        for _ in range(steps):
            await asyncio.sleep(0)
        await server.stop()
        await asyncio.sleep(0.01)
        assert not server._open, "nobody would close it any more"


@pytest.mark.parametrize("cancelled", [1, 2])
async def test_a_connection_is_closed_when_its_task_is_cancelled(cancelled: int) -> None:
    async with Server(limits=CHEAP) as server:
        client = await Raw.connect(server.port)
        (task,) = server._tasks
        for _ in range(cancelled):  # the second time while the server waits for the client to close its side
            task.cancel()
            await asyncio.sleep(0.01)
        assert await client.rest() == ""
        await asyncio.wait({task}, timeout=5)
        assert task.cancelled()
        assert not server._open
        assert not server._by_address
