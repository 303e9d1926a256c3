"""What accounts remember of other players and of servers, from the store."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Mapping
from typing import Final

import structlog

from fibsbot.bot.context import AgentMemory, features_named
from fibsbot.records.session_log import utc_now
from fibsbot.records.store import AccountLeases, Store, StoreError
from fibsbot.service.account import BotAccount
from fibsbot.service.account_sharing import AccountSharing

MEMORY_AGE: Final = dt.timedelta(days=30)
"""Older records are not loaded."""

_log = structlog.get_logger(__name__)


def load_memories(store: str, accounts: Mapping[str, str]) -> dict[str, AgentMemory]:
    """Return each account's memory of other players and of its server, `host:port`, from the store.

    If the store cannot be read, there is a warning.
    """
    now, clock = utc_now(), time.monotonic()
    memories: dict[str, AgentMemory] = {}
    try:
        with Store.open(store) as reader:
            for account, server in accounts.items():
                memory = memories[account] = AgentMemory(
                    lacking=features_named(reader.missing_features(server, now - MEMORY_AGE))
                )
                for name, known in reader.player_memories(account, now - MEMORY_AGE, now).items():
                    matches = [clock - (now - at).total_seconds() for at in known.matches]
                    refused = clock - (now - known.refused).total_seconds() if known.refused else None
                    broke_off = clock - (now - known.broke_off).total_seconds() if known.broke_off else None
                    stuck = clock - (now - known.stuck).total_seconds() if known.stuck else None
                    memory.load(name, matches, refused, broke_off, stuck)
    except StoreError as error:
        _log.warning("what was remembered of other players cannot be read", error=str(error))
    return memories


def sharing_on(store: str) -> AccountSharing:
    """Share accounts by a store, from which an account that is taken over has its memory."""

    def load_memory(account: BotAccount) -> AgentMemory:
        loaded = load_memories(store, {account.name: account.settings.server.address})
        return loaded.get(account.name) or AgentMemory()

    return AccountSharing(AccountLeases(store), load_memory)
