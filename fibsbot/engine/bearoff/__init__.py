"""Exact bear-off tables: one-sided for 15 checkers on 6 points, two-sided with the cube for few checkers.

`load_tables` gives the tables, `BearoffTables` answers who asks, `lookup` search and training; `computing` makes
them. What
the tables are and how good they are is in `docs/bearoff.md`.
"""

from fibsbot.engine.bearoff.lookup import NO_TABLES, TableArrays
from fibsbot.engine.bearoff.storage import compute_and_save, load_tables
from fibsbot.engine.bearoff.tables import BearoffTables, MoneyEquities, NotCoveredError, SideRolls

__all__ = [
    "NO_TABLES",
    "BearoffTables",
    "MoneyEquities",
    "NotCoveredError",
    "SideRolls",
    "TableArrays",
    "compute_and_save",
    "load_tables",
]
