"""The match store: matches, games, decisions, opponents, ratings and connections, on SQLite or PostgreSQL."""

from fibsbot.records.store.database import StoreError
from fibsbot.records.store.reading import Store, acquaintances
from fibsbot.records.store.writer import StoreWriter
from fibsbot.records.views import (
    Connection,
    Decision,
    Fact,
    Game,
    Match,
    Opponent,
    Outcome,
    RatingPoint,
    Recollection,
    Tally,
)

__all__ = [
    "Connection",
    "Decision",
    "Fact",
    "Game",
    "Match",
    "Opponent",
    "Outcome",
    "RatingPoint",
    "Recollection",
    "Store",
    "StoreError",
    "StoreWriter",
    "Tally",
    "acquaintances",
]
