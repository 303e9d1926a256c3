"""What the store knows, as frozen objects."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import select

from fibsbot.records.store.database import locate, open_engine
from fibsbot.records.store.migrations import version_of
from fibsbot.records.store.schema import ACCOUNTS, FACTS, FINISHED, MATCHES, OPPONENTS, Fact


class Recollection(NamedTuple):
    """What an account has to remember of a player."""

    matches: tuple[dt.datetime, ...] = ()
    """Ends of matches that were played to their end, oldest first."""
    refused: dt.datetime | None = None
    """When the player last refused an invitation of ours."""


def acquaintances(url: str | Path, account: str, since: dt.datetime) -> Mapping[str, Recollection]:
    """Return by name what an account has to remember of the players whom it has met since then.

    An empty store knows nobody. Raises StoreError when there is no store, DBAPIError when it cannot be reached.
    """
    engine = open_engine(locate(url))
    with engine.begin() as connection:
        if not version_of(connection):
            return {}
        ours = ACCOUNTS.c.name == account
        ended = (
            select(OPPONENTS.c.name, MATCHES.c.ended)
            .select_from(MATCHES.join(OPPONENTS, MATCHES.c.opponent_id == OPPONENTS.c.id))
            .join(ACCOUNTS, MATCHES.c.account_id == ACCOUNTS.c.id)
            .where(ours, MATCHES.c.ended >= since, MATCHES.c.outcome.in_([outcome.value for outcome in FINISHED]))
            .order_by(MATCHES.c.ended)
        )
        refused = (
            select(OPPONENTS.c.name, FACTS.c.last_at)
            .select_from(FACTS.join(OPPONENTS).join(ACCOUNTS))
            .where(ours, FACTS.c.fact == Fact.REFUSED.value, FACTS.c.last_at >= since)
        )
        known: dict[str, Recollection] = {}
        for name, at in connection.execute(ended):
            before = known.get(name, Recollection())
            known[name] = before._replace(matches=(*before.matches, at))
        for name, at in connection.execute(refused):
            known[name] = known.get(name, Recollection())._replace(refused=at)
        return known
