"""The end of a server, and connections that come just then."""

from __future__ import annotations

import asyncio
import socket

import pytest

from fibsbot.server.server import Server


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
