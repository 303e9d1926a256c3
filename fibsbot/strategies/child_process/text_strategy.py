"""The base of strategies whose engine answers each decision by a line of text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.strategies.base import CubeAction, CubeAnswer, Opponent, PlayAnswer
from fibsbot.strategies.child_process.wire_format import parse_play_choice, parse_word
from fibsbot.strategies.heuristic.strategy import HeuristicStrategy

OFFERS: Final = {"roll": CubeAction.ROLL, "double": CubeAction.DOUBLE}
AnswerT = TypeVar("AnswerT")


class TextStrategy(ABC):
    """A strategy that asks an engine; `heuristic` decides what the engine has no words for."""

    def __init__(self) -> None:
        self._heuristic = HeuristicStrategy()

    @abstractmethod
    def _decide(self, state: MatchState, parse: Callable[[str], AnswerT]) -> AnswerT:
        """Return the parsed answer of the engine to a decision. Raises EngineError."""

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose one of the plays."""
        return PlayAnswer(self._decide(state, lambda answer: parse_play_choice(answer, state, plays)))

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Double or roll."""
        return CubeAnswer(self._decide(state, partial(parse_word, OFFERS)))

    def resign(self, state: MatchState) -> int:
        """Resign a game that no dice can save; engines never resign."""
        return self._heuristic.resign(state)

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002 - the interface
        """Accept every opponent and length that the policy accepts."""
        return None
