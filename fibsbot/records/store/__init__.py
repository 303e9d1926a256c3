"""The match store: matches, games, decisions, opponents, ratings and connections, on SQLite or PostgreSQL."""

from fibsbot.records.store.database import StoreError
from fibsbot.records.store.leases import AccountLeases, LeaseHolder, LeaseView
from fibsbot.records.store.reader import Store
from fibsbot.records.store.writer import StoreWriter

__all__ = ["AccountLeases", "LeaseHolder", "LeaseView", "Store", "StoreError", "StoreWriter"]
