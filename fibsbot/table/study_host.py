"""`fibsbot report --serve`: the page about matches, and a board on which a person tries plays.

The position is a decision of these matches, or one that is pasted as an ID. Each play gets the verdict of the engine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

import structlog

from fibsbot.engine import short_details
from fibsbot.match import MatchState
from fibsbot.practice.deck import Deck, PracticeItem
from fibsbot.practice.exercises import Exercise, exercise_of_position
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.rules.laws import MODERN
from fibsbot.rules.state import GameState
from fibsbot.table.hints import Adviser
from fibsbot.table.hosts import Document
from fibsbot.table.practice_host import Answered, PracticeHost
from fibsbot.table.practice_model import PERSON
from fibsbot.table.set_up import read_position
from fibsbot.text import describe_error

REPORT: Final = "report"
"""The address of the report, beside that of the board."""
_log = structlog.get_logger(__name__)


class _NoAnswers:
    """Keeps no answers: nobody practises here."""

    def save(self, item: PracticeItem, answer: Answered) -> None:
        """Do nothing."""


class StudyHost(PracticeHost):
    """A person who tries plays in positions."""

    def __init__(
        self, evaluator: str, report: Document | None = None, find: Callable[[str], Exercise | None] = lambda _: None
    ) -> None:
        """Value positions by an evaluator.

        Args:
            evaluator: name of a strategy.
            report: the page about matches, if there is one.
            find: returns the decision at a link of that page, `m1g2t14`; None if there is none.
        """
        super().__init__(Deck(), _NoAnswers(), evaluator)
        self._report, self._find = report, find
        self._exercise: Exercise | None = None

    @property
    def parts(self) -> Mapping[str, Any]:
        """What the page shows beside the board."""
        return {"practice": {**self._to_json(), "study": True, "report": self._report is not None}}

    def document(self, address: str) -> Document | None:
        """Return the report."""
        return self._report if address == REPORT else None

    def request(self, address: str, asked: Mapping[str, Any]) -> bool:
        """Do what the page asks: another position, by an ID or a link of the report, besides answers."""
        match address:
            case "position":
                text = asked.get("position")
                self._analyse(read_position(text if isinstance(text, str) else "", BACKGAMMON, MODERN))
                return True
            case "open":
                exercise = self._find(str(asked.get("entry")))
                if exercise is not None:
                    self._show(exercise, solved=False)
                return exercise is not None
        return super().request(address, asked)

    def _next_item(self) -> PracticeItem | None:
        """Ask the same again."""
        return None if self._exercise is None else PracticeItem(self._exercise)

    def _comes_again(self, item: PracticeItem) -> str:  # noqa: ARG002 - of the base class
        """Say nothing of other days."""
        return ""

    def _show(self, exercise: Exercise, *, solved: bool) -> None:
        """Show a position, at once with its solution, or to try a play first."""
        self._exercise, self._faults = exercise, []
        self._next(skip=True)
        if solved:
            self._decide(None)

    def _analyse(self, game: GameState) -> None:
        self.show_progress("The position is being analysed")
        self._begin(self._analysed(game))

    async def _analysed(self, game: GameState) -> None:
        try:
            exercise = await asyncio.get_running_loop().run_in_executor(self._thread, self._exercise_of, game)
        except Exception as error:  # noqa: BLE001 - whatever an evaluator raises, the page goes on
            _log.warning("a position cannot be valued", reason=describe_error(error))
            self.show_fault(f"{self._evaluator} cannot value this position: {describe_error(error)}")
        else:
            self._show(exercise, solved=True)
        self.show_progress("")

    def _exercise_of(self, game: GameState) -> Exercise:
        """Return a position with its best choices, in a thread."""
        evaluator = self._strategies.fresh_evaluator(self._evaluator)
        state, hint = MatchState.of(game, PERSON), Adviser(evaluator).hint(game, PERSON)
        if state is None or hint is None:
            raise ValueError("expected a position in which the player on turn decides")
        details = short_details(str(getattr(evaluator, "details", ""))) or evaluator.name
        return exercise_of_position(state, hint.choices, details, hint.chances)
