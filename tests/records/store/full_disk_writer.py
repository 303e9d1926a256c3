"""A process that puts decisions while its disk is full, and then no longer.

    python -m tests.records.store.full_disk_writer PATH

It prints the state of the store's writer, while the disk was full and afterwards, as a line of JSON.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import resource
from typing import Final

from fibsbot.records.store import StoreWriter

DECISIONS: Final = 3000
"""How many it puts, twice as many as there is room for."""
ROOM: Final = 200_000
"""Bytes that a file may have."""


def main(path: str) -> None:
    """Put decisions, print what became of them."""
    warnings: list[str] = []
    writer = StoreWriter(path, on_error=warnings.append, pauses=(0.01, 0.02))

    def put(name: str, **fields: object) -> None:
        writer.put("marvin", name, fields, dt.datetime.now(dt.UTC))

    put("match_started", opponent="ford", length=5, resumed=False)
    assert writer.flush()
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, most))
    for turn in range(DECISIONS):
        put("decision", phase="move", turn=turn, xgid="x" * 60, dice=(3, 1), answer="8/5 6/5")
    assert not writer.flush(1.0)
    full = {"healthy": writer.healthy, "waiting": writer.waiting, "lost": writer.lost, "trouble": writer.error}
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert writer.flush(20.0)
    full |= {"healthy_again": writer.healthy, "lost_after": writer.lost, "warnings": len(warnings)}
    assert writer.close()
    os.write(1, f"{json.dumps(full)}\n".encode())
