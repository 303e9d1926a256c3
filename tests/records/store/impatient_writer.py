"""A process that puts decisions of an account and never waits for the database; tests run it and kill it.

    python -m tests.records.store.impatient_writer URL FIRST

The number of each goes to standard output, from FIRST on.
"""

from __future__ import annotations

import datetime as dt
import itertools
import os

from fibsbot.records.store import StoreWriter


def main(url: str, first: str) -> None:
    """Put decisions until somebody kills us."""
    writer = StoreWriter(url)

    def put(name: str, **fields: object) -> None:
        writer.put("marvin", name, fields, dt.datetime.now(dt.UTC))

    put("match_started", opponent="ford", length=25, resumed=first != "1")
    if first == "1":
        put("game_started", opponent="ford", game=1)
    assert writer.flush()
    for turn in itertools.count(int(first)):
        put("decision", phase="move", turn=turn, xgid="x" * 60, dice=(3, 1), answer="8/5 6/5")
        os.write(1, f"{turn}\n".encode())
