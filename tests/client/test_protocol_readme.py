"""The client of protocol/README.md does on the embedded server what the page says, with the package alone."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest

from fibsbot.server.server import Server
from tests.server.tcp_clients import CHEAP, PASSWORD, Raw

PROTOCOL: Final = Path(__file__).parents[2] / "protocol"
CLIENT: Final = re.findall(r"^```python\n(.*?)^```", (PROTOCOL / "README.md").read_text(), re.DOTALL | re.MULTILINE)
PATIENCE: Final = 60
"""Seconds until the client must have ended."""


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server(seed=1, limits=CHEAP) as running:
        for name in ("alice", "bob"):
            await running.register(name, PASSWORD)
        yield running


async def start(server: Server, password: str) -> asyncio.subprocess.Process:
    (client,) = CLIENT
    arguments = ("-W", "error", "-c", client, "127.0.0.1", str(server.port), "alice", password)
    environment = {**os.environ, "PYTHONPATH": str(PROTOCOL)}
    return await asyncio.create_subprocess_exec(
        sys.executable, *arguments, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )


async def output(process: asyncio.subprocess.Process) -> tuple[int | None, list[str]]:
    """Wait for the end of a client; return its status and what it has printed."""
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    return process.returncode, (out + err).decode().splitlines()


async def test_the_client_lists_users_and_answers_what_it_is_told(server: Server) -> None:
    bob = await Raw.log_in(server.port, "bob")
    await bob.ask("toggle ready", "ready")
    process = await start(server, PASSWORD)
    await bob.until("alice logs in.")
    await bob.ask("tell alice well, hello", "12 alice You said: well, hello")
    bob.send("tell alice bye")
    expected = ["logged in as alice, the last time from -", "bob is ready to play, rating 1500.00"]
    assert (0, expected) == await output(process)
    await bob.close()


async def test_the_client_ends_when_its_password_is_refused(server: Server) -> None:
    status, (error,) = await output(await start(server, "wrong"))
    assert status == 1
    assert error.startswith("expected the password of an account 'alice' on 127.0.0.1, got the login prompt again")
