"""Fixtures of the tests of tables: connections of their telnet users are closed as in the server's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser

from tests.browser import chromium
from tests.server.conftest import _close_connections

__all__ = ["_close_connections", "browser"]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def _started() -> AsyncIterator[Browser]:
    async with chromium() as started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def browser(_started: Browser) -> AsyncIterator[Browser]:
    """Return a browser, the same for all tests on the loop of the session; it forgets what a test has left."""
    yield _started
    for context in _started.contexts:
        await context.close()
