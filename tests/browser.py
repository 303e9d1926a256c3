"""A real browser for tests of pages: the machine's own Chromium, without a window."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, async_playwright

from tests.patience import SOON

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)

NEEDLESS = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup"),
    *("HttpsUpgrades", "LensOverlay", "MediaRouter", "OptimizationHints", "PaintHolding"),
)
"""Features that are switched off: the first three start a process for each window, and the others Playwright would
switch off if it were not told anything else."""

requires_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium")
"""Marks a test that needs the browser; where it is missing the test says so."""


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Start the browser; every name but this machine's leads nowhere."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM,
            timeout=SOON * 1000,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                f"--disable-features={','.join(NEEDLESS)}",
            ],
        )
        try:
            yield browser
        finally:
            await browser.close()
