"""What the server's tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.server.raw import Raw


@pytest.fixture(autouse=True)
async def _close_connections() -> AsyncIterator[None]:
    """Close whatever connection a test has left open."""
    yield
    for raw in Raw.opened:
        raw.writer.close()
    Raw.opened.clear()
