"""`fibs_protocol.connect`: a client of the protocol's package alone, at a real server over TCP."""

from __future__ import annotations

import asyncio

import pytest

import fibs_protocol
from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import LocalProtocolError
from fibsbot.server.server import Server
from tests.client.talking_server import listening
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


async def test_a_name_is_registered_and_its_settings_are_known_at_once() -> None:
    async with Server(seed=1, limits=CHEAP) as server, asyncio.timeout(SOON):
        async with fibs_protocol.connect("127.0.0.1", "carol", PASSWORD, port=server.port, register=True) as fibs:
            assert fibs.settings is not None
            assert (fibs.settings.name, fibs.settings.rating) == ("carol", 1500.0)
            async for message in fibs:  # what came before is not lost
                if isinstance(message, m.Welcome):
                    break
        async with fibs_protocol.connect("127.0.0.1", "carol", PASSWORD, port=server.port):
            pass
        with pytest.raises(fibs_protocol.LoginRefusedError, match=r"expected a name that is free, got 'carol'"):
            async with fibs_protocol.connect("127.0.0.1", "carol", PASSWORD, port=server.port, register=True):
                pass
        with pytest.raises(fibs_protocol.LoginRefusedError, match=r"expected 'a7' to be registered, got '.*name may"):
            async with fibs_protocol.connect("127.0.0.1", "a7", PASSWORD, port=server.port, register=True):
                pass
        with pytest.raises(fibs_protocol.LoginRefusedError, match=r"got 'guest', by which servers let people in"):
            async with fibs_protocol.connect("127.0.0.1", "guest", PASSWORD, port=server.port):
                pass


@pytest.mark.parametrize(
    ("name", "password", "error", "text"),
    [
        ("guest", PASSWORD, fibs_protocol.LoginRefusedError, "expected a name to register, got 'guest'"),
        ("a b", PASSWORD, LocalProtocolError, "expected a name of one word"),
        ("", PASSWORD, LocalProtocolError, "expected a name of one word"),
        ("carol", "of two words", LocalProtocolError, "expected a password of one word"),
        ("carol", "", LocalProtocolError, "expected a password of one word"),
        ("carol", "caf\xe9-123", LocalProtocolError, "expected a password of one word"),
    ],
)
async def test_what_cannot_log_in_is_refused(name: str, password: str, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as raised:  # before a connection: no server listens there
        async with fibs_protocol.connect("127.0.0.1", name, password, port=1, register=True):
            pass
    assert "two" not in str(raised.value)


async def test_a_server_without_settings_lets_in_and_a_reading_task_does_not_spoil_the_goodbye(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fibs_protocol.connection.SETTINGS_TIME", 0.1)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"login: ")
        await reader.readline()
        writer.write(b"1 carol 1041253132 localhost\r\n")
        assert await reader.readline() == b"bye\r\n"
        writer.close()

    async with listening(talk) as port, asyncio.timeout(SOON):
        async with fibs_protocol.connect("127.0.0.1", "carol", PASSWORD, port=port) as fibs:
            assert fibs.settings is None
            messages = aiter(fibs)
            assert isinstance(await anext(messages), m.Welcome)
            reading = asyncio.create_task(anext(messages, None))
            await asyncio.sleep(0)
        assert await reading is None


async def test_a_connection_that_is_closed_in_the_middle_ends_the_match_with_an_error() -> None:
    settings = "2 carol 1 1 0 0 0 0 1 1 2396 0 1 0 1 3457.85 0 0 0 0 0 Australia/Melbourne"

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"login: ")
        await reader.readline()
        writer.write(f"1 carol 1041253132 localhost\r\n{settings}\r\n".encode())
        await reader.readline()  # the first command of a client that plays
        writer.close()

    async with (
        listening(talk) as port,
        asyncio.timeout(SOON),
        fibs_protocol.connect("127.0.0.1", "carol", PASSWORD, port=port) as fibs,
    ):
        with pytest.raises(ConnectionResetError, match="expected the end of the match"):
            _ = [decision async for decision in fibs.play("bob", 3)]
