"""A process that plays for one account as the service does, and remembers it; tests run it and kill it.

    python -m tests.records.store.playing_process STORE PORT NAME [OPPONENT]

With an opponent it invites to a match of three points, or takes up the one that was saved.
"""

from __future__ import annotations

import asyncio
import logging
import sys

import structlog

from fibsbot.records.store import StoreWriter
from fibsbot.service.account import Hooks
from fibsbot.strategies.loader import load
from tests.service.accounts import plan, supervisor


async def main(url: str, port: str, name: str, opponent: str | None = None) -> None:
    """Play one match to its end, over as many connections as it takes."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    writer = StoreWriter(url)
    one = plan(int(port), name, invite=opponent, length=3, matches=1)
    await supervisor(one, strategies={"plain": lambda: load("heuristic")}, hooks=Hooks(store_record=writer.put)).run()
    assert writer.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
