"""`fibs_protocol.connect`: a client of the protocol's package alone, at a real server over TCP."""

from __future__ import annotations

import asyncio

import pytest

import fibs_protocol
from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import LocalProtocolError
from fibsbot.server.server import Server
from tests.patience import SOON
from tests.server.tcp_clients import CHEAP, PASSWORD, Raw

pytestmark = pytest.mark.slow


async def test_messages_arrive_until_the_goodbye() -> None:
    async with Server(seed=1, limits=CHEAP) as server, asyncio.timeout(SOON):
        await server.register("alice", PASSWORD)
        await server.register("bob", PASSWORD)
        bob = await Raw.log_in(server.port, "bob")
        heard = []
        async with fibs_protocol.connect("127.0.0.1", "alice", PASSWORD, port=server.port) as fibs:
            assert PASSWORD not in repr(fibs)
            with pytest.raises(LocalProtocolError):
                fibs.send(c.Roll())
            bob.send("tell alice hello there")
            async for message in fibs:
                heard.append(message)
                if isinstance(message, m.Says):
                    fibs.send(c.Tell("bob", "good morning"))
                    fibs.send(c.Bye())
        assert any(isinstance(message, m.Welcome) for message in heard)
        assert [message for message in heard if isinstance(message, m.Says)] == [m.Says("bob", "hello there")]
        assert "alice" in await bob.until("good morning")
        await bob.close()


async def test_a_refused_password_and_a_silent_server_are_errors() -> None:
    async with Server(seed=1, limits=CHEAP) as server, asyncio.timeout(SOON):
        await server.register("alice", PASSWORD)
        with pytest.raises(fibs_protocol.LoginRefusedError):
            async with fibs_protocol.connect("127.0.0.1", "alice", "wrong", port=server.port):
                pass
    left = asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        await writer.wait_closed()
        left.set()

    silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    async with silent, asyncio.timeout(SOON):
        port = silent.sockets[0].getsockname()[1]
        with pytest.raises(TimeoutError):
            async with fibs_protocol.connect("127.0.0.1", "alice", "x", port=port, timeout=0.2):
                pass
        await left.wait()
    with pytest.raises(ConnectionRefusedError):
        async with fibs_protocol.connect("127.0.0.1", "alice", "x", port=port):
            pass
