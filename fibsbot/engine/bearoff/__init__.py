"""Exact bear-off tables: one-sided for 15 checkers on 6 points, two-sided with the cube for few checkers.

`load_tables` gives the tables, `Tables` answers who asks, `lookup` search and training; `computing` makes them. What
the tables are and how good they are is in `docs/bearoff.md`.
"""

from fibsbot.engine.bearoff.loading import build, load_tables
from fibsbot.engine.bearoff.lookup import NO_COLUMNS, Columns
from fibsbot.engine.bearoff.tables import Money, NotCoveredError, Side, Tables

__all__ = ["NO_COLUMNS", "Columns", "Money", "NotCoveredError", "Side", "Tables", "build", "load_tables"]
