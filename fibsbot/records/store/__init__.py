"""The match store: matches, games, decisions, opponents, ratings and connections, on SQLite or PostgreSQL."""

from fibsbot.records.store.database import StoreError
from fibsbot.records.store.reader import Store
from fibsbot.records.store.writer import StoreWriter

__all__ = ["Store", "StoreError", "StoreWriter"]
