"""The connection gives the server's bytes as they were sent, and every end as an end."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import telnetlib3

from fibsbot.client.connection import Connection, ConnectionFailedError, connect
from fibsbot.client.settings import TlsSettings
from tests.client.certificates import NO_OPENSSL, certificate
from tests.client.talking_server import Talk, listening
from tests.patience import SOON


@contextlib.asynccontextmanager
async def connected(talk: Talk) -> AsyncIterator[Connection]:
    """Connect to a server on this machine that talks like this."""
    async with listening(talk) as port:
        connection = await connect("127.0.0.1", port, timeout=SOON)
        try:
            yield connection
        finally:
            connection.close()


def saying(data: bytes) -> Talk:
    """Return what a server does that says this and closes the connection."""

    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        writer.close()

    return talk


async def read_all(connection: Connection) -> bytes:
    data = bytearray()
    while chunk := await connection.read():
        data += chunk
    return bytes(data)


async def test_bytes_arrive_as_they_were_sent_and_then_the_end() -> None:
    async with connected(saying(b"WELCOME\r\n\x07login: ")) as connection:
        assert b"WELCOME\r\n\x07login: " == await read_all(connection)
        assert b"" == await connection.read()


async def test_much_that_is_sent_right_before_the_end_arrives_whole() -> None:
    line = b"5 ford - - 1 0 1500.00 0 0 1 h - -\r\n"

    async with connected(saying(line * 20_000)) as connection:
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


async def test_a_line_that_is_cut_as_it_opens_is_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    really_open = telnetlib3.open_connection

    async def open_and_cut(*arguments: Any, **options: Any) -> Any:
        reader, writer = await really_open(*arguments, **options)
        assert isinstance(writer.transport, asyncio.WriteTransport)
        writer.transport.abort()
        await asyncio.sleep(0)  # until the socket is closed
        return reader, writer

    monkeypatch.setattr(telnetlib3, "open_connection", open_and_cut)
    async with connected(saying(b"")) as connection:
        assert b"" == await connection.read()


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
        assert b"" == await asyncio.wait_for(reading, SOON)
        assert b"bye\r\n" == await asyncio.wait_for(heard, SOON)


async def test_where_nobody_listens_there_is_one_line() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(ConnectionFailedError, match=r"^Connection refused$"):
            await connect("127.0.0.1", unused.getsockname()[1], timeout=SOON)


# -- servers that are not as they should be -------------------------------------------------------------------------


async def test_a_server_that_goes_mute_is_noticed() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"login: ")
        await reader.read()
        writer.close()

    async with connected(talk) as connection:
        assert b"login: " == await connection.read(5)
        with pytest.raises(ConnectionFailedError, match=r"^nothing came for 0.05 seconds$"):
            await connection.read(0.05)
        assert b"" == await connection.read(5), "it is closed"


@pytest.mark.slow
async def test_a_server_that_takes_nothing_is_left_before_memory_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fibsbot.client.connection.BUFFER", 2**12)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reader._transport.pause_reading()  # type: ignore[attr-defined]  # a server that never reads the answers
        while True:
            writer.write(b"\xff\xfb\x2a\xff\xfd\x2b" * 10_000 + b".")
            await writer.drain()

    with socket.socket() as listener:
        for buffer in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            listener.setsockopt(socket.SOL_SOCKET, buffer, 4096)
        listener.bind(("127.0.0.1", 0))
        async with listening(talk, sock=listener) as port:
            connection = await connect("127.0.0.1", port, timeout=SOON)
            connection._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
            with pytest.raises(ConnectionFailedError, match=r"^the server does not take what is sent to it$"):
                await asyncio.wait_for(read_all(connection), SOON)


@pytest.mark.parametrize("seed", range(8))
async def test_telnet_bytes_of_any_kind_do_no_harm_and_make_no_noise(
    seed: int, capfd: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(seed)

    def wish() -> bytes:
        match rng.randrange(4):
            case 0:
                return bytes([255, rng.randrange(251, 255), rng.randrange(256)])
            case 1:
                return bytes([255, 250, rng.randrange(255)]) + rng.randbytes(9).replace(b"\xff", b"") + b"\xff\xf0"
            case 2:
                return bytes([255, rng.choice([241, 242, 246, 249])])
        return b"\xff\xff"

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"".join(wish() for _ in range(2000)).replace(b"\xff\xfd\x12", b""))  # DO LOGOUT
        writer.write(b"\r\nlogin: ")
        writer.write_eof()
        await reader.read()
        writer.close()

    async with connected(talk) as connection:
        assert (await read_all(connection)).endswith(b"\r\nlogin: ")
    assert ("", "") == capfd.readouterr()


async def test_nobody_makes_us_unpack_what_was_never_agreed_on() -> None:
    compressing = b"\xff\xfb\x56\xff\xfa\x56\xff\xf0"  # "from here on I compress"
    async with connected(saying(compressing + b"in clear")) as connection:
        assert b"in clear" == await read_all(connection)


# -- TLS ------------------------------------------------------------------------------------------------------------


async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Echo one line after a greeting."""
    writer.write(b"login: ")
    writer.write(await reader.readline())
    await writer.drain()


@pytest.mark.skipif(NO_OPENSSL, reason="needs the program openssl to make certificates")
async def test_bytes_go_both_ways_through_tls(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ours = certificate(tmp_path, "127.0.0.1")
    async with listening(greet, ours) as port:
        connection = await connect("127.0.0.1", port, timeout=SOON, tls=TlsSettings(ours))
        assert b"login: " == await connection.read(5)
        connection.write(b"hello\r\n")
        assert b"hello\r\n" == await read_all(connection)
        connection.close()
    assert ("", "") == capfd.readouterr()


@pytest.mark.skipif(NO_OPENSSL, reason="needs the program openssl to make certificates")
async def test_a_server_that_is_not_who_it_should_be_is_no_connection_and_one_line(tmp_path: Path) -> None:
    ours, other = certificate(tmp_path, "127.0.0.1"), certificate(tmp_path, "elsewhere.example")
    untrusted = "^the server's certificate is not trusted: "
    async with listening(greet, ours) as port:
        with pytest.raises(ConnectionFailedError, match=untrusted + "self-signed certificate$"):
            await connect("127.0.0.1", port, timeout=SOON, tls=TlsSettings())
        with pytest.raises(ConnectionFailedError, match=untrusted + "self-signed certificate$"):
            await connect("127.0.0.1", port, timeout=SOON, tls=TlsSettings(other))
    async with listening(greet, other) as port:
        with pytest.raises(ConnectionFailedError, match=untrusted + "IP address mismatch.*127.0.0.1'.$"):
            await connect("127.0.0.1", port, timeout=SOON, tls=TlsSettings(other))


async def test_a_server_without_tls_is_one_line_in_time() -> None:
    async with listening(greet) as port:
        with pytest.raises(ConnectionFailedError, match=r"^TLS failed: \w[\w ]+$"):
            await connect("127.0.0.1", port, timeout=SOON, tls=TlsSettings())

    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with listening(mute) as port:
        with pytest.raises(ConnectionFailedError, match=r"^TCP connection to .* timed out after 0.2s$"):
            await connect("127.0.0.1", port, timeout=0.2, tls=TlsSettings())


@pytest.mark.parametrize("text", [None, "this is no certificate"])
async def test_a_file_without_certificates_is_one_line(text: str | None, tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    if text:
        path.write_text(text)
    with pytest.raises(ConnectionFailedError, match=r"^cannot use the certificates in .*ca.pem: [\w :]+$"):
        await connect("127.0.0.1", 1, timeout=SOON, tls=TlsSettings(path))
