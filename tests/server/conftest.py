"""What the server's tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from fibsbot.server.users import User
from tests.server.simulated_world import ListedDice, Room
from tests.server.tcp_clients import Raw


@pytest.fixture(autouse=True)
async def _close_connections() -> AsyncIterator[None]:
    """Close whatever connection a test has left open."""
    yield
    for raw in Raw.opened:
        raw.writer.close()
    Raw.opened.clear()


@pytest.fixture(autouse=True)
def _close_rooms() -> Iterator[None]:
    """Close the databases of a test's rooms."""
    yield
    for room in Room.opened:
        room.store.close()
    Room.opened.clear()


@pytest.fixture
def room() -> Room:
    """Return an empty world whose first game begins with 6 and 4."""
    return Room(ListedDice((6, 4)))


@pytest.fixture
def alice(room: Room) -> User:
    """Log alice in."""
    return room.enter("alice")


@pytest.fixture
def bob(room: Room) -> User:
    """Log bob in."""
    return room.enter("bob")
