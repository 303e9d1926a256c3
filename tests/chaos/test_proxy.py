"""The proxy over real TCP: bytes preserved in peace, and what each fault of a connection looks like from both ends."""

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

PATIENCE = 10.0
Stream: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@define
class Notes:
    """A witness that remembers what it heard."""

    from_server: bytearray = field(factory=bytearray)
    from_client: bytearray = field(factory=bytearray)
    to_server: bytearray = field(factory=bytearray)
    gone: list[tuple[bytes, bool]] = field(factory=list)

    def server_said(self, _: ProxyConnection, data: bytes) -> None:
        """Hear the server."""
        self.from_server += data

    def client_said(self, _: ProxyConnection, data: bytes) -> None:
        """Hear the client."""
        self.from_client += data

    def server_heard(self, _: ProxyConnection, data: bytes) -> None:
        """Hear what arrives."""
        self.to_server += data

    def client_heard(self, link: ProxyConnection) -> None:
        """Hear nothing more."""

    def lost(self, _: ProxyConnection, data: bytes, *, to_server: bool) -> None:
        """Hear what gets lost."""
        self.gone.append((data, to_server))


@define
class Wire:
    """Both ends of a connection through the proxy."""

    gate: AccountProxy
    link: ProxyConnection
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
    async with asyncio.timeout(PATIENCE), await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        gate = AccountProxy(0, server.sockets[0].getsockname()[1], notes)
        await gate.open()
        client = await asyncio.open_connection("127.0.0.1", gate.port)
        upstream = await accepted.get()
        others = [upstream]
        link = await gate.connected()
        try:
            yield Wire(gate, link, client, upstream, notes)
        finally:
            await gate.close()
            while not accepted.empty():
                others.append(await accepted.get())
            for _, writer in (client, *others):
                writer.close()
                await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def ended(stream: Stream) -> bytes:
    """Read to the orderly end."""
    return await stream[0].read()


@pytest.mark.parametrize("seed", range(3))
async def test_in_peace_every_byte_arrives_in_both_directions(seed: int) -> None:
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
        assert len(back) == wire.link.from_server.passed


async def test_a_cut_ends_both_sides_in_order_after_so_many_bytes() -> None:
    async with wired() as wire:
        wire.link.from_server.shape(CutAfter(5))
        wire.server[1].write(b"board:You:foe")
        assert b"board" == await ended(wire.client)
        assert b"" == await ended(wire.server)
        assert [(b":You:foe", False)] == wire.notes.gone


async def test_a_reset_is_seen_as_one_by_both_sides() -> None:
    async with wired() as wire:
        wire.link.break_off(Break.RESET)
        for stream in (wire.client, wire.server):
            with pytest.raises(ConnectionResetError):
                await stream[0].read()


@pytest.mark.parametrize("to_server", [True, False])
async def test_a_half_closed_connection_still_works_in_the_other_direction(*, to_server: bool) -> None:
    async with wired() as wire:
        wire.link.half_close(to_server=to_server)
        deaf, heard = (wire.server, wire.client) if to_server else (wire.client, wire.server)
        assert b"" == await ended(deaf)
        heard[1].write(b"never\r\n")
        deaf[1].write(b"still here\r\n")
        assert b"still here\r\n" == await heard[0].readline()


async def test_a_stalled_connection_loses_nothing() -> None:
    async with wired() as wire:
        lane = wire.link.from_server
        lane.block()
        wire.server[1].write(b"late\r\n")
        await wait_until(lambda: bool(wire.notes.from_server), PATIENCE)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await wire.client[0].readline()
        lane.unblock()
        assert b"late\r\n" == await wire.client[0].readline()


async def test_a_black_hole_tells_neither_side_anything() -> None:
    async with wired() as wire:
        wire.link.black_hole()
        wire.server[1].write(b"anybody?\r\n")
        wire.client[1].write(b"anybody?\r\n")
        wire.client[1].write_eof()
        assert await wait_until(lambda: bool(wire.notes.from_client and wire.notes.from_server), PATIENCE)
        for stream in (wire.client, wire.server):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await stream[0].read()
        assert b"" == bytes(wire.notes.to_server)


async def test_a_shut_gate_refuses_and_an_open_one_takes_connections_again() -> None:
    async with wired() as wire:
        port = wire.gate.port
        wire.gate.shut()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
        await wire.gate.open()
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        await writer.wait_closed()
        wire.client[1].write(b"old connections stay\r\n")
        assert b"old connections stay\r\n" == await wire.server[0].readline()


async def test_what_is_injected_never_stands_inside_a_line() -> None:
    async with wired() as wire:
        wire.client[1].write(b"mo")
        assert b"mo" == await wire.server[0].readexactly(2)
        wire.link.to_server.inject(b"leave\r\n")
        wire.client[1].write(b"ve 8-5\r\n")
        assert b"ve 8-5\r\nleave\r\n" == await wire.server[0].readexactly(15)


async def test_two_faults_strike_the_same_lane_one_after_the_other() -> None:
    async with wired() as wire:
        lane = wire.link.to_server
        lane.shape(DropLine(is_any_line))
        lane.shape(CutAfter(4))
        wire.client[1].write(b"roll\r\nboard\r\n")
        assert b"boar" == await ended(wire.server)


async def test_without_a_server_the_connection_ends_at_once() -> None:
    async with wired() as wire:
        gate = AccountProxy(0, 1, wire.notes)
        await gate.open()
        reader, writer = await asyncio.open_connection("127.0.0.1", gate.port)
        with contextlib.suppress(ConnectionResetError):
            assert b"" == await reader.read()
        assert gate.link is None
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)
        await gate.close()


async def test_nothing_is_injected_after_an_end() -> None:
    async with wired() as wire:
        wire.link.half_close(to_server=False)
        wire.link.from_server.inject(b"too late\r\n")
        assert b"" == await ended(wire.client)
