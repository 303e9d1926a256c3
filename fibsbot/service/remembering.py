"""What the store knows of other players, on the agents' clock, and of servers."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Mapping
from typing import Final

import structlog

from fibsbot.bot.features import features
from fibsbot.bot.memory import Memory
from fibsbot.records.session_log import utc_now
from fibsbot.records.store import Store, StoreError

HORIZON: Final = dt.timedelta(days=30)
"""Nothing that is longer ago is recalled."""

_log = structlog.get_logger(__name__)


def recall(store: str, accounts: Mapping[str, str]) -> dict[str, Memory]:
    """Return by account what it has to remember of other players and of its server, `host:port`.

    A store that cannot be read is as good as none.
    """
    now, clock = utc_now(), time.monotonic()
    memories: dict[str, Memory] = {}
    try:
        with Store.open(store) as reader:
            for account, server in accounts.items():
                memory = memories[account] = Memory(lacking=features(reader.lacking(server, now - HORIZON)))
                for name, known in reader.acquaintances(account, now - HORIZON).items():
                    matches = [clock - (now - at).total_seconds() for at in known.matches]
                    refused = clock - (now - known.refused).total_seconds() if known.refused else None
                    broke_off = clock - (now - known.broke_off).total_seconds() if known.broke_off else None
                    stuck = clock - (now - known.stuck).total_seconds() if known.stuck else None
                    memory.recall(name, matches, refused, broke_off, stuck)
    except StoreError as error:
        _log.warning("what was remembered of other players cannot be read", error=str(error))
    return memories
