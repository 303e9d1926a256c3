"""The connection gives the server's bytes as they were sent, and every end as an end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from fibsbot.client.connection import Connection, ConnectionFailedError, connect

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def connected(talk: Talk) -> AsyncIterator[Connection]:
    """Connect to a server on this machine that talks like this."""
    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        connection = await connect("127.0.0.1", port, timeout=5)
        try:
            yield connection
        finally:
            connection.close()


async def read_all(connection: Connection) -> bytes:
    data = bytearray()
    while chunk := await connection.read():
        data += chunk
    return bytes(data)


async def test_bytes_arrive_as_they_were_sent_and_then_the_end() -> None:
    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"WELCOME\r\n\x07login: ")
        await writer.drain()
        writer.close()

    async with connected(talk) as connection:
        assert b"WELCOME\r\n\x07login: " == await read_all(connection)
        assert b"" == await connection.read()


async def test_much_that_is_sent_right_before_the_end_arrives_whole() -> None:
    line = b"5 ford - - 1 0 1500.00 0 0 1 h - -\r\n"

    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(line * 20_000)
        writer.close()

    async with connected(talk) as connection:
        assert line * 20_000 == await read_all(connection)


async def test_telnet_options_are_answered_and_are_no_data() -> None:
    answers = asyncio.get_running_loop().create_future()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"\xff\xfb\x01Please give your password: ")
        answers.set_result(await reader.read(100))
        writer.write(b"\xff\xfc\x01\r\nYou are registered.\r\n")
        writer.close()

    async with connected(talk) as connection:
        assert b"Please give your password: " == await connection.read()
        assert b"\xff\xfd\x01" == await answers, "the server may echo"
        assert b"\r\nYou are registered.\r\n" == await read_all(connection)


async def test_what_is_written_arrives() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"you said " + await reader.readuntil(b"\r\n"))
        writer.close()

    async with connected(talk) as connection:
        connection.write(b"tell ford \xff hello\r\n")
        assert b"you said tell ford \xff hello\r\n" == await read_all(connection)


async def test_a_reset_is_a_failure_with_one_line() -> None:
    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.write(b"x")
        await writer.drain()
        writer.transport.abort()

    async with connected(talk) as connection:
        with pytest.raises(ConnectionFailedError, match=r"^Connection reset by peer$"):
            await read_all(connection)


async def test_writing_after_the_end_does_nothing() -> None:
    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with connected(talk) as connection:
        assert b"" == await read_all(connection)
        connection.write(b"roll\r\n")
        connection.close()
        connection.close()
        connection.write(b"roll\r\n")


async def test_closing_wakes_the_reader_and_sends_what_was_written() -> None:
    heard = asyncio.get_running_loop().create_future()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.set_result(await reader.read())
        writer.close()

    async with connected(talk) as connection:
        reading = asyncio.create_task(connection.read())
        await asyncio.sleep(0.05)
        connection.write(b"bye\r\n")
        connection.close()
        assert b"" == await asyncio.wait_for(reading, 5)
        assert b"bye\r\n" == await asyncio.wait_for(heard, 5)


async def test_where_nobody_listens_there_is_one_line() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(ConnectionFailedError, match=r"^Connection refused$"):
            await connect("127.0.0.1", unused.getsockname()[1], timeout=5)
