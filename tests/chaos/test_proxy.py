"""The proxy over real TCP: bytes are preserved without faults, and the effect of each fault on both ends."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeAlias

import pytest
from attrs import define, field

from bench.chaos.proxy import AccountProxy, ProxyConnection, wait_until
from bench.chaos.shapers import Break, CutAfter, DropLine, is_any_line
from tests.patience import SOON

Stream: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@define
class Notes:
    """An observer that stores the bytes it is notified of."""

    from_server: bytearray = field(factory=bytearray)
    from_client: bytearray = field(factory=bytearray)
    to_server: bytearray = field(factory=bytearray)
    gone: list[tuple[bytes, bool]] = field(factory=list)

    def server_said(self, _: ProxyConnection, data: bytes) -> None:
        """Store bytes of the server."""
        self.from_server += data

    def client_said(self, _: ProxyConnection, data: bytes) -> None:
        """Store bytes of the client."""
        self.from_client += data

    def server_heard(self, _: ProxyConnection, data: bytes) -> None:
        """Store bytes that arrive at the server."""
        self.to_server += data

    def client_heard(self, connection: ProxyConnection) -> None:
        """Do nothing."""

    def lost(self, _: ProxyConnection, data: bytes, *, to_server: bool) -> None:
        """Store lost bytes."""
        self.gone.append((data, to_server))


@define
class Wire:
    """Both ends of a connection through the proxy."""

    proxy: AccountProxy
    connection: ProxyConnection
    client: Stream
    server: Stream
    notes: Notes


@asynccontextmanager
async def wired() -> AsyncIterator[Wire]:
    """Connect a client and a server through a proxy."""
    accepted: asyncio.Queue[Stream] = asyncio.Queue()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await accepted.put((reader, writer))

    notes = Notes()
    async with asyncio.timeout(SOON), await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        proxy = AccountProxy(0, server.sockets[0].getsockname()[1], notes)
        await proxy.open()
        client = await asyncio.open_connection("127.0.0.1", proxy.port)
        upstream = await accepted.get()
        others = [upstream]
        connection = await proxy.connected()
        try:
            yield Wire(proxy, connection, client, upstream, notes)
        finally:
            await proxy.close()
            while not accepted.empty():
                others.append(await accepted.get())
            for _, writer in (client, *others):
                writer.close()
                await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def ended(stream: Stream) -> bytes:
    """Read to the end of the stream."""
    return await stream[0].read()


@pytest.mark.parametrize("seed", range(3))
async def test_without_faults_every_byte_arrives_in_both_directions(seed: int) -> None:
    chance = random.Random(seed)
    there, back = chance.randbytes(200_000), chance.randbytes(200_000)
    async with wired() as wire:

        async def say(writer: asyncio.StreamWriter, data: bytes) -> None:
            while data:
                count = chance.choice((1, 7, 1000, 50_000))
                writer.write(data[:count])
                data = data[count:]
                await writer.drain()
            writer.write_eof()

        said = asyncio.gather(say(wire.client[1], there), say(wire.server[1], back))
        assert (there, back) == tuple(await asyncio.gather(ended(wire.server), ended(wire.client)))
        await said
        assert (bytes(wire.notes.to_server), bytes(wire.notes.from_server)) == (there, back)
        assert there == wire.notes.from_client
        assert len(back) == wire.connection.from_server.passed


async def test_a_cut_closes_both_sides_after_the_given_number_of_bytes() -> None:
    async with wired() as wire:
        wire.connection.from_server.add_shaper(CutAfter(5))
        wire.server[1].write(b"board:You:opponent")
        assert b"board" == await ended(wire.client)
        assert b"" == await ended(wire.server)
        assert [(b":You:opponent", False)] == wire.notes.gone


async def test_a_reset_is_seen_as_one_by_both_sides() -> None:
    async with wired() as wire:
        wire.connection.break_off(Break.RESET)
        for stream in (wire.client, wire.server):
            with pytest.raises(ConnectionResetError):
                await stream[0].read()


@pytest.mark.parametrize("to_server", [True, False])
async def test_a_half_closed_connection_still_works_in_the_other_direction(*, to_server: bool) -> None:
    async with wired() as wire:
        wire.connection.half_close(to_server=to_server)
        deaf, heard = (wire.server, wire.client) if to_server else (wire.client, wire.server)
        assert b"" == await ended(deaf)
        heard[1].write(b"never\r\n")
        deaf[1].write(b"still here\r\n")
        assert b"still here\r\n" == await heard[0].readline()


async def test_a_stalled_connection_loses_nothing() -> None:
    async with wired() as wire:
        stream = wire.connection.from_server
        stream.block()
        wire.server[1].write(b"late\r\n")
        await wait_until(lambda: bool(wire.notes.from_server), SOON)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await wire.client[0].readline()
        stream.unblock()
        assert b"late\r\n" == await wire.client[0].readline()


async def test_a_black_hole_is_noticed_by_neither_side() -> None:
    async with wired() as wire:
        wire.connection.black_hole()
        wire.server[1].write(b"anybody?\r\n")
        wire.client[1].write(b"anybody?\r\n")
        wire.client[1].write_eof()
        assert await wait_until(lambda: bool(wire.notes.from_client and wire.notes.from_server), SOON)
        for stream in (wire.client, wire.server):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await stream[0].read()
        assert b"" == bytes(wire.notes.to_server)


async def test_a_closed_proxy_refuses_connections_until_it_is_opened() -> None:
    async with wired() as wire:
        port = wire.proxy.port
        wire.proxy.shut()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
        await wire.proxy.open()
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        await writer.wait_closed()
        wire.client[1].write(b"old connections stay\r\n")
        assert b"old connections stay\r\n" == await wire.server[0].readline()


async def test_injected_bytes_never_split_a_line() -> None:
    async with wired() as wire:
        wire.client[1].write(b"mo")
        assert b"mo" == await wire.server[0].readexactly(2)
        wire.connection.to_server.inject(b"leave\r\n")
        wire.client[1].write(b"ve 8-5\r\n")
        assert b"ve 8-5\r\nleave\r\n" == await wire.server[0].readexactly(15)


async def test_two_faults_of_the_same_direction_take_effect_one_after_the_other() -> None:
    async with wired() as wire:
        stream = wire.connection.to_server
        stream.add_shaper(DropLine(is_any_line))
        stream.add_shaper(CutAfter(4))
        wire.client[1].write(b"roll\r\nboard\r\n")
        assert b"boar" == await ended(wire.server)


async def test_without_a_server_the_connection_ends_at_once() -> None:
    async with wired() as wire:
        proxy = AccountProxy(0, 1, wire.notes)
        await proxy.open()
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        with contextlib.suppress(ConnectionResetError):
            assert b"" == await reader.read()
        assert proxy.connection is None
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)
        await proxy.close()


async def test_nothing_is_injected_after_an_end() -> None:
    async with wired() as wire:
        wire.connection.half_close(to_server=False)
        wire.connection.from_server.inject(b"too late\r\n")
        assert b"" == await ended(wire.client)
