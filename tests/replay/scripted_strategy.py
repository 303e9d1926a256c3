"""A strategy and judge for tests: it does what it is told, and values things by simple rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, field

from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.position import Play
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.base import CubeAnswer, Opponent, PlayAnswer
from fibsbot.strategies.evaluator import CubeValues


@define
class ScriptedStrategy:
    """A strategy and judge that does what it is told, and remembers what it was asked."""

    name = "puppet"
    play: Callable[[MatchState, Sequence[Play]], Any] = lambda _, plays: PlayAnswer(plays[0])
    offer: CubeAction = CubeAction.ROLL
    answer: CubeAction = CubeAction.TAKE
    level: int = 0
    accepts: bool = True
    asked: list[Phase] = field(factory=list)
    closed: int = 0

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Play what it is told."""
        self.asked.append(Phase.MOVE)
        answer: PlayAnswer = self.play(state, plays)
        return answer

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Offer what it is told."""
        self.asked.append(state.phase)
        return CubeAnswer(self.offer)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Answer what it is told."""
        self.asked.append(state.phase)
        return CubeAnswer(self.answer)

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept if it is told."""
        self.asked.append(state.phase)
        return self.accepts

    def resign(self, state: MatchState) -> int:  # noqa: ARG002 - the interface
        """Resign what it is told."""
        return self.level

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002 - the interface
        """Play anybody."""
        return None

    def close(self) -> None:
        """Count."""
        self.closed += 1

    def value(self, state: MatchState) -> float:  # noqa: ARG002 - the interface
        """Be content."""
        return 0.5

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> Sequence[float]:
        """Prefer what comes first in the list of legal plays."""
        legal = legal_plays(state.position, state.dice or (1, 1))
        after = [state.position.play(play) for play in legal]
        return [float(-after.index(state.position.play(play))) for play in plays]

    def value_cube(self, state: MatchState) -> CubeValues:
        """Find a double right."""
        assert Phase.ROLL is state.phase
        return CubeValues(0.25, 0.75, 1.0)

    def match_chance(self, state: MatchState, points: int) -> float:  # noqa: ARG002 - the interface
        """Count points."""
        return 0.5 + points / 20
