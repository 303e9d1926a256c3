"""Fixtures for the tests of rotated logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from fibsbot.records.archive import Archive
from tests.records.rotating import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "marvin.jsonl"


@pytest.fixture
def by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no thread sweep."""
    monkeypatch.setattr(Archive, "sweep_in_background", lambda _: None)
