"""A program that runs for us ends when it shall, whatever it does."""

from __future__ import annotations

import shutil
import time
from typing import Final

import pytest

from fibsbot.strategies.child_process.engine_process import ChildProcess
from tests.patience import SOON

YES: Final = shutil.which("yes")


@pytest.mark.slow
@pytest.mark.skipif(YES is None, reason="there is no program called yes")
def test_who_writes_faster_than_can_be_read_is_ended_all_the_same() -> None:
    assert YES is not None
    child = ChildProcess([YES])
    assert "y" == child.lines.read(time.monotonic() + SOON)
    began = time.monotonic()
    child.close("quit")
    assert time.monotonic() - began < SOON
    assert not child.running
