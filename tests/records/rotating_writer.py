"""A process that writes a session log which is rotated and compressed all the time, until somebody kills it.

    python -m tests.records.rotating_writer PATH FIRST

Numbers from FIRST on go to the log, and each to standard output when it is there for certain.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from fibsbot.records.session_log import Rotation
from fibsbot.records.session_log_writer import SessionLogWriter


def main(path: str, first: str) -> None:
    """Write numbers."""
    log = SessionLogWriter(Path(path), rotation=Rotation(2**16, daily=True, keep_days=30, max_total_bytes=0))
    for number in itertools.count(int(first)):
        log.event("number", number=number, padding="x" * 2000)
        os.write(1, f"{number}\n".encode())
