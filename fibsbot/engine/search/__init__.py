"""Looking ahead: plays and cube actions, so many rolls deep or as deep as the time allows. See `docs/search.md`."""

from __future__ import annotations

from fibsbot.engine.search.answers import Compared, Effort, Limits, RankedPlay, Ranking, Reading
from fibsbot.engine.search.filters import Filters
from fibsbot.engine.search.searcher import Searcher

__all__ = ["Compared", "Effort", "Filters", "Limits", "RankedPlay", "Ranking", "Reading", "Searcher"]
