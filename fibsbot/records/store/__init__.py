"""The match store: matches, games, decisions, opponents, ratings and connections, on SQLite or PostgreSQL."""

from fibsbot.records.store.database import StoreError
from fibsbot.records.store.reading import Recollection, Store, acquaintances
from fibsbot.records.store.schema import Fact, Outcome
from fibsbot.records.store.views import Connection, Decision, Game, Match, Opponent, RatingPoint, Tally
from fibsbot.records.store.writer import StoreWriter

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
