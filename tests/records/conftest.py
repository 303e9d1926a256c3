"""Fixtures for the tests of rotated logs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fibsbot.records.finished_logs import FinishedLogs
from tests.records.log_clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "marvin.jsonl"


@pytest.fixture
def by_hand() -> Iterator[None]:
    """Let no thread sweep, also after a test has undone what it has patched."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(FinishedLogs, "sweep_in_background", lambda _: None)
        yield
