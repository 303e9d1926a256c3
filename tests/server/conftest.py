"""Fixtures of the server's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from fibsbot.server.users import User
from tests.server.simulated_world import ListedDice, Simulation
from tests.server.tcp_clients import Raw


@pytest.fixture(autouse=True)
async def _close_connections() -> AsyncIterator[None]:
    """Close the connections that a test has left open."""
    yield
    for raw in Raw.opened:
        raw.writer.close()
    Raw.opened.clear()


@pytest.fixture(autouse=True)
def _close_databases() -> Iterator[None]:
    """Close the databases of a test's simulations."""
    yield
    for simulation in Simulation.opened:
        simulation.store.close()
    Simulation.opened.clear()


@pytest.fixture
def simulation() -> Simulation:
    """Return an empty world whose first game begins with 6 and 4."""
    return Simulation(ListedDice((6, 4)))


@pytest.fixture
def alice(simulation: Simulation) -> User:
    """Log alice in."""
    return simulation.log_in("alice")


@pytest.fixture
def bob(simulation: Simulation) -> User:
    """Log bob in."""
    return simulation.log_in("bob")
