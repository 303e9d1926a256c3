"""A bar is shown in time, also where the first step takes long."""

from __future__ import annotations

import io
import sys
import threading

import pytest

from fibsbot.cli import progress


class Terminal(io.StringIO):
    """A terminal that notes when something is written on it."""

    def __init__(self) -> None:
        """Have nothing written yet."""
        super().__init__()
        self.written = threading.Event()

    def isatty(self) -> bool:
        """Claim to be one."""
        return True

    def write(self, text: str) -> int:
        """Note that something is written."""
        if "decisions" in text:
            self.written.set()
        return super().write(text)


def test_progress_is_shown_before_anything_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", 0.001)
    monkeypatch.setenv("TERM", "xterm")
    with progress.shown_progress("decisions"):
        assert terminal.written.wait(30)
