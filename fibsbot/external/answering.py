"""One line in, one line out: what a strategy decides, in the words that engines use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import structlog

from fibsbot.match import CubeAction, MatchState, Owner, Phase
from fibsbot.position import Play
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies import answers
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.foreign.wording import written

WORDS: Final = {
    CubeAction.ROLL: "roll",
    CubeAction.DOUBLE: "double",
    CubeAction.TAKE: "take",
    CubeAction.PASS: "drop",
    CubeAction.BEAVER: "take",
}
"""Cube actions as engines say them. Neither protocol has a word of ours for a beaver: it is a take."""

AnswerT = TypeVar("AnswerT")
_log = structlog.get_logger(__name__)


class NoAnswerError(Exception):
    """No strategy has an answer."""


class Answerer:
    """Asks the first strategy; where it raises or answers nonsense, the next."""

    def __init__(self, strategies: Sequence[Strategy]) -> None:
        """Ask these strategies in their order; they stay their owner's."""
        self._strategies = strategies

    def answer(self, state: MatchState) -> str:
        """Return the answer to a decision; the empty text where no checker can move.

        Raises NoAnswerError where no strategy has one, ValueError where there is nothing to decide.
        """
        match state.phase:
            case Phase.MOVE:
                return written(self._play(state))
            case Phase.ROLL:
                return WORDS[self._offer(state)]
            case Phase.DOUBLED:
                answer = self._ask(
                    lambda strategy: strategy.answer_double(state),
                    lambda answer: answers.response_fault(state, answer),
                )
                return WORDS[answer.action]
            case Phase.RESIGNED:
                raise ValueError("expected a play or a cube action to decide on, not a resignation")

    def _play(self, state: MatchState) -> Play:
        if state.dice is None:
            raise ValueError("expected dice for a play")
        plays = legal_plays(state.position, state.dice)
        if len(plays) < 2:
            return plays[0] if plays else Play()
        answer = self._ask(
            lambda strategy: strategy.choose_play(state, plays), lambda answer: answers.play_fault(plays, answer)
        )
        return answer.play

    def _offer(self, state: MatchState) -> CubeAction:
        if not may_double(state):
            return CubeAction.ROLL
        return self._ask(lambda strategy: strategy.offer_double(state), answers.offer_fault).action

    def _ask(self, question: Callable[[Strategy], AnswerT], fault_of: Callable[[AnswerT], str | None]) -> AnswerT:
        for strategy in self._strategies:
            try:
                answer = question(strategy)
                fault = fault_of(answer)
            except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
                fault = f"raised {type(error).__name__}: {' '.join(str(error).split())}"
            else:
                if fault is None:
                    return answer
            _log.warning("strategy failed", strategy=strategy.name, fault=fault)
        raise NoAnswerError("no strategy has an answer")


def may_double(state: MatchState) -> bool:
    """Whether the player on roll may double, and a double could change anything."""
    dead = bool(state.length) and state.score[0] + state.cube >= state.length
    return not (dead or state.crawford or state.cubeless or state.owner is Owner.OPPONENT)
