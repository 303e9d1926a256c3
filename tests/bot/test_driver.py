"""The driver: events from the bytes of a connection."""

from __future__ import annotations

import asyncio
import contextlib
import itertools

from fibs_protocol import commands as c
from fibs_protocol.commands import Command
from fibs_protocol.messages import GameStarts, Message
from fibsbot.bot.driver import Driver
from fibsbot.bot.events_and_actions import Action, ConnectionLost, Disconnect, Event, MessageReceived, Send
from fibsbot.client.connection import connect
from fibsbot.strategies.pool import StrategyChain
from fibsbot.strategies.questions import LastResort


class Listener:
    """A handler that only stores messages."""

    def __init__(self) -> None:
        """Start without messages."""
        self.heard: list[Message] = []

    def handle(self, event: Event) -> list[Action]:
        """Store a message."""
        if isinstance(event, MessageReceived):
            self.heard.append(event.message)
        return []


async def heard(data: bytes) -> list[Message]:
    """Send these bytes as a server and close the connection; return the messages of the handler."""

    async def say(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    listener = Listener()
    async with await asyncio.start_server(say, "127.0.0.1", 0) as server:
        driver = Driver(listener, StrategyChain([LastResort()], 1.0), itertools.count().__next__)
        await driver.drive(await connect("127.0.0.1", server.sockets[0].getsockname()[1]))
    return listener.heard


class Talker(Listener):
    """A handler that answers every message with two commands, and sends a farewell when the connection is lost."""

    def handle(self, event: Event) -> list[Action]:
        """Answer."""
        super().handle(event)
        if isinstance(event, MessageReceived):
            return [Send(c.Roll()), Send(c.ShowBoard())]
        return [Send(c.Bye())] if isinstance(event, ConnectionLost) else []


async def test_observers_see_a_command_after_the_message_that_caused_it() -> None:
    seen: list[Message | Command] = []

    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"Starting a new game with ford.\r\nStarting a new game with arthur.\r\n")
        await reader.readuntil(b"board")
        await reader.readuntil(b"board")
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    async with await asyncio.start_server(say, "127.0.0.1", 0) as server:
        driver = Driver(Talker(), StrategyChain([LastResort()], 1.0), itertools.count().__next__)
        driver.on_message = driver.on_sent = seen.append
        await driver.drive(await connect("127.0.0.1", server.sockets[0].getsockname()[1]))
    both = [c.Roll(), c.ShowBoard()]
    assert [GameStarts("ford"), *both, GameStarts("arthur"), *both] == seen, "without what had no connection any more"


class Leaver(Listener):
    """A handler that ends the connection at the first message, for two reasons."""

    def handle(self, event: Event) -> list[Action]:
        """End the connection."""
        return [Disconnect("enough"), Disconnect("more")] if isinstance(event, MessageReceived) else []


async def test_the_first_reason_to_end_a_connection_is_the_one_that_counts() -> None:
    closed = asyncio.Event()

    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"Starting a new game with ford.\r\n")
        await reader.read()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        closed.set()

    async with await asyncio.start_server(say, "127.0.0.1", 0) as server:
        driver = Driver(Leaver(), StrategyChain([LastResort()], 1.0), itertools.count().__next__)
        assert "enough" == await driver.drive(await connect("127.0.0.1", server.sockets[0].getsockname()[1]))
        await closed.wait()


async def test_an_incomplete_line_is_ignored() -> None:
    expected = GameStarts("ford_b")
    assert [expected] == await heard(b"Starting a new game with ford_b.\r\nStarting a new game with ford")
