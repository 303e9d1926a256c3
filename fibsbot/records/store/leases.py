"""Leases of accounts: which of the processes that share a store plays which account (docs/how-to/running.md).

Each process renews its leases every few seconds. When it has ended they expire, and the others take its accounts. All
times are those of the database, because the clocks of several machines differ.
"""

from __future__ import annotations

import datetime as dt
import os
import socket
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen
from sqlalchemy import Connection, delete, func, insert, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from fibsbot.records.store.database import StoreError, database_error_text, database_url, is_sqlite, open_engine
from fibsbot.records.store.schema import ACCOUNT_LEASES, SHARING_PROCESSES, prepare

LEASE_SECONDS: Final = 20.0
"""Seconds after its last renewal at which a lease expires."""
_LOCK: Final = 0x4C454153
"""Key of the advisory lock that a process holds on PostgreSQL while it changes leases."""


@frozen
class LeaseHolder:
    """The process that plays an account, and what it last said about it."""

    host: str
    process: int
    state: str
    """As in the status of an account."""
    sentence: str
    """A phrase for what the account is doing."""


@frozen
class LeaseView:
    """The leases after a renewal."""

    held: frozenset[str] = frozenset()
    """Accounts that this process is to play."""
    elsewhere: Mapping[str, LeaseHolder] = field(factory=dict)
    """The processes that play other accounts."""
    surplus: int = 0
    """How many accounts this process has beyond its share."""


class AccountLeases:
    """The leases of one process. All calls wait for the database."""

    def __init__(self, url: str | Path, *, seconds: float = LEASE_SECONDS) -> None:
        """Prepare leases of `seconds` in a store; the first renewal opens it. Raises StoreError for an invalid URL."""
        self._url = database_url(url)
        self._engine = open_engine(self._url, writing=True)
        self._seconds = seconds
        self._id = uuid.uuid4().hex
        self._prepared = False

    def renew(
        self, accounts: Iterable[str], doing: Mapping[str, tuple[str, str]], take: Iterable[str] = ()
    ) -> LeaseView:
        """Extend the leases of accounts that this process plays, give up its others, and take free ones.

        Args:
            accounts: all accounts that are shared.
            doing: the accounts that this process plays, each with its state and a phrase for what it does.
            take: the accounts that it may take if they are free; it takes no more than its share, which is the number
                of accounts divided by the number of living processes, rounded up.

        Raises StoreError if the database cannot be used.
        """
        names = tuple(accounts)
        try:
            if not self._prepared:
                with self._engine.connect() as connection:
                    prepare(connection)
                self._prepared = True
            with self._engine.begin() as connection:
                self._lock(connection)
                return self._renew(connection, names, doing, frozenset(take))
        except SQLAlchemyError as error:
            raise StoreError(database_error_text(error)) from None

    def give_up(self) -> None:
        """Give up all leases, at the end of the process. Raises StoreError if the database cannot be used."""
        try:
            with self._engine.begin() as connection:
                connection.execute(delete(ACCOUNT_LEASES).where(ACCOUNT_LEASES.c.holder == self._id))
                connection.execute(delete(SHARING_PROCESSES).where(SHARING_PROCESSES.c.id == self._id))
        except SQLAlchemyError as error:
            raise StoreError(database_error_text(error)) from None

    def _lock(self, connection: Connection) -> None:
        """Let no other process change leases before the end of the transaction, as SQLite does by itself."""
        if not is_sqlite(self._url):
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})

    def _renew(
        self, connection: Connection, names: tuple[str, ...], doing: Mapping[str, tuple[str, str]], take: frozenset[str]
    ) -> LeaseView:
        now = dt.datetime.now(dt.UTC) if is_sqlite(self._url) else connection.scalar(select(func.clock_timestamp()))
        if now is None:
            raise StoreError("the database does not tell the time")
        until = now + dt.timedelta(seconds=self._seconds)
        share = -(-len(names) // self._sign_in(connection, now, until))
        leases, processes = ACCOUNT_LEASES.c, SHARING_PROCESSES.c
        query = (
            select(leases.account, leases.holder, leases.state, leases.sentence, processes.host, processes.process)
            .join(SHARING_PROCESSES, processes.id == leases.holder)
            .where(leases.account.in_(names))
        )
        rows: dict[str, Any] = {row.account: row for row in connection.execute(query)}
        elsewhere = {
            name: LeaseHolder(row.host, row.process, row.state, row.sentence)
            for name, row in rows.items()
            if row.holder != self._id
        }
        connection.execute(delete(ACCOUNT_LEASES).where(leases.holder == self._id))
        held = [name for name in doing if name not in elsewhere]
        free = [name for name in names if name in take and name not in elsewhere and name not in doing]
        held += free[: max(share - len(held), 0)]
        if held:
            described = ((name, *doing.get(name, ("RESTING", "starting"))) for name in held)
            connection.execute(
                insert(ACCOUNT_LEASES),
                [
                    {"account": name, "holder": self._id, "state": state, "sentence": sentence}
                    for name, state, sentence in described
                ],
            )
        return LeaseView(frozenset(held), elsewhere, max(len(held) - share, 0))

    def _sign_in(self, connection: Connection, now: dt.datetime, until: dt.datetime) -> int:
        """Extend this process's row, delete those of ended processes, and return the number of running ones."""
        processes = SHARING_PROCESSES.c
        connection.execute(delete(SHARING_PROCESSES).where(processes.until < now, processes.id != self._id))
        own = connection.execute(update(SHARING_PROCESSES).where(processes.id == self._id).values(until=until))
        if not own.rowcount:
            row = {"id": self._id, "host": socket.gethostname(), "process": os.getpid(), "until": until}
            connection.execute(insert(SHARING_PROCESSES), row)
        return connection.scalar(select(func.count()).select_from(SHARING_PROCESSES)) or 1
