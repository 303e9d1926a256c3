"""An order to end that comes early: while an account is being made, or before a connection is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from attrs import evolve

from fibsbot.bot.events_and_actions import End
from fibsbot.bot.runner import Runner
from fibsbot.client.connection import Connection, ConnectionFailedError
from fibsbot.client.settings import BackoffSettings
from fibsbot.strategies.random_play import RandomStrategy
from tests.bot.live_bots import settings


@asynccontextmanager
async def slow_server(heard: list[bytes]) -> AsyncIterator[int]:
    """Serve a server that asks for the name of a guest and then says nothing more; yield its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"login: ")
        while line := await reader.readline():
            heard.append(line.strip())
            if line.strip() == b"guest":
                writer.write(b"Welcome to FIBS. You just logged in as guest.\r\n")
                writer.write(
                    b"Please register before using this server:\r\n\r\nType 'name username' where username\r\n"
                )
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.parametrize("quit_at_once", [False, True])
async def test_an_order_to_end_ends_a_registration(*, quit_at_once: bool) -> None:
    heard: list[bytes] = []
    async with asyncio.timeout(20), slow_server(heard) as port:
        plan = settings(port, "marvin")
        plan = evolve(plan, server=evolve(plan.server, register=True))
        runner = Runner(plan, RandomStrategy(1))
        running = asyncio.create_task(runner.run())
        while b"guest" not in heard:  # noqa: ASYNC110 - a list
            await asyncio.sleep(0.01)
        (runner.quit if quit_at_once else runner.finish)()
        assert End.FINISHED is (await running).end
    assert not [line for line in heard if line.startswith(b"login")]


async def test_an_order_to_connect_ends_the_pause_before_the_next_attempt() -> None:
    heard: list[bytes] = []
    async with asyncio.timeout(30), slow_server(heard) as port:
        plan = settings(port, "marvin", register=False, retry_first=True)
        plan = evolve(plan, backoff=BackoffSettings(first=600, longest=900))
        attempts = [0]

        async def refused() -> Connection:
            attempts[0] += 1
            raise ConnectionFailedError("nobody listens")

        runner = Runner(plan, RandomStrategy(1), connect_to=refused)
        running = asyncio.create_task(runner.run())
        for count in (1, 2, 3):
            while attempts[0] < count:  # noqa: ASYNC110 - a list
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
            runner.connect_now()
        runner.quit()
        await running
    assert attempts[0] >= 3
