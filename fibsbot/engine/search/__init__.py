"""Search: plays and cube actions by lookahead, to a fixed depth or by time (docs/explanation/search.md)."""

from __future__ import annotations

from fibsbot.engine.search.lookahead import SearchFilters
from fibsbot.engine.search.searcher import (
    CubeAnalysis,
    PlayComparison,
    RankedPlay,
    Ranking,
    SearchEffort,
    Searcher,
    SearchLimits,
)

__all__ = [
    "CubeAnalysis",
    "PlayComparison",
    "RankedPlay",
    "Ranking",
    "SearchEffort",
    "SearchFilters",
    "SearchLimits",
    "Searcher",
]
