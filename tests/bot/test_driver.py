"""What the driver makes of the bytes of a connection."""

from __future__ import annotations

import asyncio
import contextlib
import itertools

from fibsbot.bot.actions import Action
from fibsbot.bot.driver import Driver
from fibsbot.bot.events import Event, MessageReceived
from fibsbot.bot.fallback import LastResort
from fibsbot.bot.thinking import Thinker
from fibsbot.client.connection import connect
from protocol.messages import GameStarts, Message


class Listener:
    """A handler that only remembers what was said."""

    def __init__(self) -> None:
        """Have heard nothing."""
        self.heard: list[Message] = []

    def handle(self, event: Event) -> list[Action]:
        """Remember it."""
        if isinstance(event, MessageReceived):
            self.heard.append(event.message)
        return []


async def heard(data: bytes) -> list[Message]:
    """Let a server say this and close the connection; return what the handler has heard."""

    async def say(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    listener = Listener()
    async with await asyncio.start_server(say, "127.0.0.1", 0) as server:
        driver = Driver(listener, Thinker([LastResort()], 1.0), itertools.count().__next__, ())
        await driver.drive(await connect("127.0.0.1", server.sockets[0].getsockname()[1]))
    return listener.heard


async def test_a_line_that_was_cut_off_says_nothing() -> None:
    expected = GameStarts("ford_b")
    assert [expected] == await heard(b"Starting a new game with ford_b.\r\nStarting a new game with ford")
