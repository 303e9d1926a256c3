"""The report of a match, made while a page waits for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Final

from fibsbot.analysis.match_analysis import analyse_matches, count_entries
from fibsbot.analysis.model import MatchAnalysis
from fibsbot.drawing.markup import escape
from fibsbot.report.page import match_title, report_page, report_policy
from fibsbot.strategies.loader import StrategyError
from fibsbot.text import describe_error
from fibsbot.transcript import Transcript
from fibsbot.workers.errors import WorkError
from fibsbot.workers.pool import LocalPool

REPORT_EVALUATOR: Final = "engine"
"""As of `fibsbot report`, so that both say the same."""


class _StoppedError(Exception):
    """Nobody wants the report any more."""


class MatchReport:
    """A report that is being made: in a process of its own, so that the table goes on answering."""

    def __init__(
        self,
        transcript: Transcript,
        changed: Callable[[], None] = lambda: None,
        evaluator: str = REPORT_EVALUATOR,
        *,
        background: bool = False,
    ) -> None:
        """Begin.

        Args:
            transcript: the match.
            changed: called in the event loop when there is progress.
            evaluator: the strategy that evaluates positions.
            background: whether other processes of this machine come first.
        """
        self._transcript = transcript
        self.done = 0
        """Rolls, cube actions and resignations that have been analysed."""
        self.of = count_entries(transcript)
        self.page: str | None = None
        """The page, as soon as it is made."""
        self.fault = ""
        """Why there is none, in a line."""
        self._changed, self._evaluator = changed, evaluator
        self._pool = LocalPool(1, background=background)
        self._stopped = threading.Event()
        self._making = asyncio.create_task(self._make())

    @property
    def policy(self) -> str:
        """The content security policy of the page: its own script only, and the table's page is foreign to it."""
        return f"{report_policy()}; frame-ancestors 'none'; sandbox allow-scripts allow-downloads"

    @property
    def progress(self) -> str:
        """A page that says how far the report is, or why there is none."""
        done = f"The match is being analysed: {self.done} of {self.of} turns."
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Report</title>'
            '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head>'
            f'<body><p role="status">{escape(self.fault or done)}</p></body></html>\n'
        )

    @property
    def over(self) -> bool:
        """Whether there is a page, or will never be one."""
        return self.page is not None or bool(self.fault)

    def stop(self) -> None:
        """Give the report up."""
        self._stopped.set()

    async def _make(self) -> None:
        loop = asyncio.get_running_loop()

        def tick(entries: int, _: int) -> None:
            if self._stopped.is_set():
                raise _StoppedError
            loop.call_soon_threadsafe(self._progress, entries)

        try:
            self.page = await asyncio.to_thread(self._written, tick)
        except _StoppedError:
            return
        except (StrategyError, WorkError, ValueError, OSError) as error:
            self.fault = describe_error(error)
        self._changed()

    def _progress(self, entries: int) -> None:
        self.done += entries
        self._changed()

    def _written(self, tick: Callable[[int, int], None]) -> str:
        """Return the page. Raises what the analysis raises."""
        for analysis in analyse_matches([self._transcript], self._evaluator, pool=self._pool, tick=tick):
            if not isinstance(analysis, MatchAnalysis):
                raise analysis
            return report_page([analysis], title=match_title(self._transcript))
        raise ValueError("expected the analysis of a match, got none")
