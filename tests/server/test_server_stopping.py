"""Stopping a server, and connections made at that moment."""

from __future__ import annotations

import asyncio
import socket

import pytest
from attrs import evolve

from fibsbot.server.server import Server
from tests.patience import SOON
from tests.server.tcp_clients import CHEAP, Raw


@pytest.mark.parametrize("steps", [3, 4, 5])
async def test_a_connection_made_while_the_server_stops_is_not_served(steps: int) -> None:
    server = Server()
    await server.start()
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.settimeout(SOON)
        for _ in range(steps):
            await asyncio.sleep(0)
        await server.stop()
        await asyncio.sleep(0.01)
        assert not server._open, "nothing would close it any more"


@pytest.mark.parametrize("cancelled", [1, 2])
async def test_a_connection_is_closed_when_its_task_is_cancelled(cancelled: int) -> None:
    async with Server(limits=CHEAP) as server:
        client = await Raw.connect(server.port)
        (task,) = server._tasks
        for _ in range(cancelled):  # the second time while the server waits for the client to close its side
            task.cancel()
            await asyncio.sleep(0.01)
        assert await client.rest() == ""
        await asyncio.wait({task}, timeout=SOON)
        assert task.cancelled()
        assert not server._open
        assert not server._by_address


async def test_a_connection_can_be_closed_at_the_moment_of_its_timeout() -> None:
    async with Server(limits=evolve(CHEAP, idle_time=0.0)) as server, asyncio.timeout(SOON):
        Raw(*await asyncio.open_connection("127.0.0.1", server.port))
        while not any(connection._reading and connection._reading.expired() for connection in server._open):  # noqa: ASYNC110 - an event would come a step too late
            await asyncio.sleep(0)
        await server.stop()
