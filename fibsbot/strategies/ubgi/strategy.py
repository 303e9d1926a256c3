"""The strategy `ubgi:COMMAND`: every decision is asked of an engine that speaks UBGI."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

from fibsbot.match import MatchState
from fibsbot.notation import NotationError, Xgid
from fibsbot.position import Play
from fibsbot.strategies.base import CubeAction, CubeAnswer, Opponent, PlayAnswer
from fibsbot.strategies.foreign.boards import board_line
from fibsbot.strategies.foreign.child import program_called
from fibsbot.strategies.foreign.errors import DeclinedError, SorryError
from fibsbot.strategies.foreign.revival import Revival
from fibsbot.strategies.foreign.wording import chosen, one_of
from fibsbot.strategies.handmade.strategy import HandmadeStrategy, is_beavered
from fibsbot.strategies.ubgi.process import UbgiProcess

DEADLINE: Final = 20.0
"""Seconds for a decision, the start of the engine included."""
OFFERS: Final = {"roll": CubeAction.ROLL, "double": CubeAction.DOUBLE}
RESPONSES: Final = {"take": CubeAction.TAKE, "drop": CubeAction.PASS}
AnswerT = TypeVar("AnswerT")


class UbgiStrategy:
    """Ask the engine that a command starts and that speaks UBGI: `ubgi:COMMAND`.

    UBGI has no words for resignations and for beavers of our own doubles: those are decided as `handmade` does.
    """

    def __init__(self, command: str = "", *, deadline: float = DEADLINE) -> None:
        """Start nothing yet.

        Args:
            command: the engine's program and its arguments, with quotes as in a shell.
            deadline: seconds for a decision.

        Raises:
            ValueError: no command, or one whose quotes do not match.
            FileNotFoundError: there is no such program.
        """
        words = shlex.split(command)
        if not words:
            raise ValueError("expected a command after the name: ubgi:COMMAND")
        self.name = f"ubgi:{command}"
        self._argv = [program_called(words[0]), *words[1:]]
        self._deadline = deadline
        self._running = Revival(partial(UbgiProcess, self._argv))
        self._formats: list[Callable[[MatchState], str]] = [_xgid, board_line]
        self._aside = HandmadeStrategy()

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose one of the plays."""
        return PlayAnswer(self._decide(state, lambda answer: chosen(answer, state, plays)))

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Double or roll."""
        return CubeAnswer(self._decide(state, partial(one_of, OFFERS)))

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take or pass."""
        if is_beavered(state):
            return self._aside.answer_double(state)
        return CubeAnswer(self._decide(state, partial(one_of, RESPONSES)))

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept what is enough."""
        return self._aside.accept_resignation(state)

    def resign(self, state: MatchState) -> int:
        """Resign what no dice can save."""
        return self._aside.resign(state)

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002 - the interface
        """Play anybody at any length that the policy allows."""
        return None

    def close(self) -> None:
        """End the engine."""
        self._running.close()

    def _decide(self, state: MatchState, understand: Callable[[str], AnswerT]) -> AnswerT:
        """Ask in the format that the engine knows: an engine has to read one of the two, and is sorry for the other."""
        deadline = time.monotonic() + self._deadline
        try:
            return self._ask(self._formats[0](state), understand, deadline)
        except SorryError:
            answer = self._ask(self._formats[1](state), understand, deadline)
            self._formats.reverse()
            return answer

    def _ask(self, position: str, understand: Callable[[str], AnswerT], deadline: float) -> AnswerT:
        return self._running.ask(lambda engine: understand(engine.ask(position, deadline)), deadline)


def _xgid(state: MatchState) -> str:
    try:
        return str(Xgid.of(state))
    except NotationError as error:
        raise DeclinedError(f"cannot be asked: {error}") from None
