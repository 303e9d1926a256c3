"""SIGTERM that comes before a service can act on it: noted while it starts, obeyed once it runs.

Python needs a second to import a service, in which SIGTERM would kill it without a word. The handler is none of the
operating system's masks, which programs that the service starts would inherit.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Final

SERVICES: Final = frozenset({"run", "serve"})
"""The commands that end in order on SIGTERM."""
MAX_NOTED: Final = 2
"""A further SIGTERM kills, also a service that does not get on with its start."""
_noted: list[signal.Signals] = []


def note_early_signals() -> None:
    """Note SIGTERM from now on if the command line names a service, unless the parent process has it ignored."""
    is_service = sys.argv[1:2] and sys.argv[1] in SERVICES
    if is_service and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _note)


def take_early_signals() -> tuple[signal.Signals, ...]:
    """Return the signals noted so far, each once."""
    noted = tuple(_noted)
    _noted.clear()
    return noted


def _note(number: int, _: FrameType | None) -> None:
    if len(_noted) >= MAX_NOTED:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    _noted.append(signal.Signals(number))
