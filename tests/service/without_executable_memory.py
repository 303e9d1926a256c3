"""A process that loads the engine where no memory may become code, as under systemd's MemoryDenyWriteExecute=.

Its exit status is that of CANNOT_DENY if the kernel does not know how to deny it.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Final

from fibsbot.strategies.loader import load

PR_SET_MDWE: Final = 65
CANNOT_DENY: Final = 77


def main() -> None:
    """Load the engine."""
    if ctypes.CDLL(None).prctl(PR_SET_MDWE, 1, 0, 0, 0):
        sys.exit(CANNOT_DENY)
    load("engine").close()
