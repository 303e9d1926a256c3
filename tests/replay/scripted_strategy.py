"""A strategy and evaluator for tests: it gives scripted answers and simple values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, field

from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.position import Play
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.base import CubeAnswer, CubeValues, Opponent, PlayAnswer


@define
class ScriptedStrategy:
    """A strategy and evaluator with scripted answers, which records the questions."""

    name = "puppet"
    play: Callable[[MatchState, Sequence[Play]], Any] = lambda _, plays: PlayAnswer(plays[0])
    offer: CubeAction = CubeAction.ROLL
    answer: CubeAction = CubeAction.TAKE
    level: int = 0
    accepts: bool = True
    asked: list[Phase] = field(factory=list)
    closed: int = 0

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Return the scripted play."""
        self.asked.append(Phase.MOVE)
        answer: PlayAnswer = self.play(state, plays)
        return answer

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Return the scripted action."""
        self.asked.append(state.phase)
        return CubeAnswer(self.offer)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Return the scripted answer."""
        self.asked.append(state.phase)
        return CubeAnswer(self.answer)

    def accept_resignation(self, state: MatchState) -> bool:
        """Return the scripted answer."""
        self.asked.append(state.phase)
        return self.accepts

    def resign(self, state: MatchState) -> int:  # noqa: ARG002 - the interface
        """Return the scripted level."""
        return self.level

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002 - the interface
        """Accept any invitation."""
        return None

    def close(self) -> None:
        """Count the calls."""
        self.closed += 1

    def value(self, state: MatchState) -> float:  # noqa: ARG002 - the interface
        """Return 0.5."""
        return 0.5

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> Sequence[float]:
        """Return values that fall along the list of legal plays."""
        legal = legal_plays(state.position, state.dice or (1, 1))
        after = [state.position.play(play) for play in legal]
        return [float(-after.index(state.position.play(play))) for play in plays]

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return values by which a double is right."""
        assert Phase.ROLL is state.phase
        return CubeValues(0.25, 0.75, 1.0)

    def match_chance(self, state: MatchState, points: int) -> float:  # noqa: ARG002 - the interface
        """Return a chance that grows with the points."""
        return 0.5 + points / 20
