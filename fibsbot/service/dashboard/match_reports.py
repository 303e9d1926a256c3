"""Reports of stored matches, made when somebody asks for one, one after the other and without delaying a bot."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Final

from fibsbot.records.store import Store
from fibsbot.table.match_report import REPORT_EVALUATOR, MatchReport
from fibsbot.transcript import Transcript

KEPT: Final = 16
"""Reports that are kept; others are made again."""


class TooManyReportsError(Exception):
    """Another report is being made."""


class MatchReports:
    """Reports of matches in a store, by the match's ID."""

    def __init__(self, store: str) -> None:
        """Read matches from a store, a path or a URL."""
        self._store = store
        self._made: OrderedDict[int, MatchReport] = OrderedDict()
        self._beginning = asyncio.Lock()

    async def report(self, match_id: int) -> MatchReport | None:
        """Return the report of a match, which may still be made; None if there is no such match.

        Raises TooManyReportsError while another one is being made, StoreError if the store cannot be read, or has only
        the match's result.
        """
        async with self._beginning:
            found = self._made.get(match_id) or await self._begin(match_id)
        if found is None:
            return None
        self._made.move_to_end(match_id)
        while len(self._made) > KEPT:
            self._made.popitem(last=False)[1].stop()
        if found.fault:
            del self._made[match_id]  # the next request tries again
        return found

    async def _begin(self, match_id: int) -> MatchReport | None:
        if not all(report.over for report in self._made.values()):
            raise TooManyReportsError
        transcript = await asyncio.to_thread(self._transcript, match_id)
        if transcript is None:
            return None
        report = MatchReport(transcript, evaluator=REPORT_EVALUATOR, background=True)
        self._made[match_id] = report
        return report

    def _transcript(self, match_id: int) -> Transcript | None:
        with Store.open(self._store) as reader:
            match = reader.match(match_id)
            return None if match is None else reader.transcript(match)

    def close(self) -> None:
        """Give up what is being made."""
        for report in self._made.values():
            report.stop()
