"""Exact bear-off tables: one-sided for 15 checkers on 6 points, two-sided with the cube for few checkers.

`load_tables` loads or computes the tables, `BearoffTables` has methods for programs, its module functions for search
and training. `docs/explanation/bearoff.md` describes the tables and their accuracy.
"""

from fibsbot.engine.bearoff.storage import compute_and_save, load_tables
from fibsbot.engine.bearoff.tables import (
    NO_TABLES,
    BearoffTables,
    MoneyEquities,
    NotCoveredError,
    SideRolls,
    TableArrays,
)

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
