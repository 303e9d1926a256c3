"""Questions to a strategy, the keys that identify them, the check of each answer, and the answers of last resort."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from attrs import frozen

from fibsbot.match import Dice, MatchState, Phase
from fibsbot.position import Play, Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies import base
from fibsbot.strategies.base import CubeAction, CubeAnswer, Opponent, PlayAnswer, Strategy

TAKE_LIMIT = 1.12
"""A double is taken while we have at most this many times the opponent's pips to go."""


class LastResort:
    """A strategy that needs no thought and cannot fail."""

    name = "last-resort"

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:  # noqa: ARG002 - the interface
        """Make the first legal play."""
        return PlayAnswer(plays[0])

    def offer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002 - the interface
        """Never double."""
        return CubeAnswer(CubeAction.ROLL)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take in a race that is not lost."""
        close = state.position.pips <= TAKE_LIMIT * state.position.opponent_pips
        return CubeAnswer(CubeAction.TAKE if close else CubeAction.PASS)

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept where more than the offer can hardly be won."""
        return state.resignation > 1 or state.position.opponent_off > 0

    def resign(self, state: MatchState) -> int:  # noqa: ARG002 - the interface
        """Never resign."""
        return 0

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002 - the interface
        """Leave it to the policy, which has agreed already."""
        return None

    def close(self) -> None:
        """Hold nothing."""


@frozen
class DecisionKey:
    """What makes a decision this one and no other (docs/protocol.md, pitfall 9)."""

    match: int
    """Number of the match since the program started; so is `game`."""
    game: int
    turn: int
    """Number of the throw or pass within the game."""
    phase: Phase
    score: tuple[int, int]
    position: Position
    dice: Dice | None
    cube: int
    offer: int = 0
    """The cube's offered value, the points of an offered resignation, or the least level that we may still offer."""


@frozen
class InvitationKey:
    """The invitation that a question is about."""

    name: str
    length: int
    """Points; 0 is unlimited."""
    number: int
    """Number of the invitation since the program started."""


QuestionKey: TypeAlias = DecisionKey | InvitationKey


@frozen
class ResignAnswer:
    """An answer before the roll: offer to resign."""

    level: int
    """1 single, 2 gammon, 3 backgammon."""


@frozen
class AcceptAnswer:
    """The answer to an invitation or to an offered resignation."""

    accepted: bool
    reason: str | None = None
    """A sentence for whoever was refused."""


StrategyAnswer: TypeAlias = PlayAnswer | CubeAnswer | ResignAnswer | AcceptAnswer


class Question(Protocol):
    """Something to decide."""

    def put_to(self, strategy: Strategy) -> StrategyAnswer:
        """Ask; may take long, and raise whatever the strategy raises.

        Raises InvalidAnswerError for an impossible answer.
        """
        ...

    def fault(self, answer: StrategyAnswer) -> str | None:
        """Return what is wrong with an answer to this question, None when it is possible."""
        ...


class InvalidAnswerError(ValueError):
    """A strategy gave an answer that is none."""


def _check(fault: str | None) -> None:
    if fault:
        raise InvalidAnswerError(fault)


@frozen
class PlayQuestion:
    """Which of the legal plays?"""

    state: MatchState
    listed: tuple[Play, ...] = ()
    """The legal plays, where the asker has listed them already."""

    @property
    def plays(self) -> tuple[Play, ...]:
        """The legal plays, at least two. They are listed by whoever answers: there may be thousands."""
        return self.listed or legal_plays(self.state.position, self.state.dice or (0, 0))

    def put_to(self, strategy: Strategy) -> PlayAnswer:
        """Ask for a play."""
        answer = strategy.choose_play(self.state, self.plays)
        _check(base.play_fault(self.plays, answer))
        return answer

    def fault(self, answer: StrategyAnswer) -> str | None:
        """Return what is wrong with an answer."""
        return base.play_fault(self.plays, answer)


@frozen
class RollQuestion:
    """Roll, double or resign?"""

    state: MatchState
    may_double: bool
    resign_from: int = 1
    """The lowest level that may be offered: a lower one was rejected in this game."""
    resign_to: int = 3
    """The highest level that may be offered; below the lowest, the strategy is not asked whether to resign."""

    def put_to(self, strategy: Strategy) -> CubeAnswer | ResignAnswer:
        """Ask whether to resign, then whether to double."""
        if self.resign_from <= self.resign_to:
            level = strategy.resign(self.state)
            _check(base.resignation_fault(level))
            if self.resign_from <= level <= self.resign_to:
                return ResignAnswer(level)
        if not self.may_double:
            return CubeAnswer(CubeAction.ROLL)
        answer = strategy.offer_double(self.state)
        _check(base.offer_fault(answer))
        return answer

    def fault(self, answer: StrategyAnswer) -> str | None:
        """Return what is wrong with an answer."""
        if isinstance(answer, ResignAnswer):
            return base.resignation_fault(answer.level) or self._level_fault(answer.level)
        if isinstance(answer, CubeAnswer) and answer.action is CubeAction.DOUBLE and not self.may_double:
            return "expected no double where none is allowed"
        return base.offer_fault(answer)

    def _level_fault(self, level: int) -> str | None:
        if self.resign_from <= level <= self.resign_to:
            return None
        none = self.resign_from > self.resign_to
        return f"expected {'none' if none else f'{self.resign_from} to {self.resign_to}'} to resign, got {level}"


@frozen
class TakeQuestion:
    """Take, pass or beaver?"""

    state: MatchState

    def put_to(self, strategy: Strategy) -> CubeAnswer:
        """Ask for the answer to a double."""
        answer = strategy.answer_double(self.state)
        _check(base.response_fault(self.state, answer))
        return answer

    def fault(self, answer: StrategyAnswer) -> str | None:
        """Return what is wrong with an answer."""
        return base.response_fault(self.state, answer)


@frozen
class ResignationQuestion:
    """Is the offered resignation enough?"""

    state: MatchState

    def put_to(self, strategy: Strategy) -> AcceptAnswer:
        """Ask for the answer to a resignation."""
        answer = strategy.accept_resignation(self.state)
        _check(base.acceptance_fault(answer))
        return AcceptAnswer(answer)

    def fault(self, answer: StrategyAnswer) -> str | None:
        """Return what is wrong with an answer."""
        return None if isinstance(answer, AcceptAnswer) else f"expected a Verdict, got {answer!r}"


@frozen
class InvitationQuestion:
    """Shall we play this match?"""

    opponent: Opponent
    length: int
    """Points; 0 is unlimited."""

    def put_to(self, strategy: Strategy) -> AcceptAnswer:
        """Ask for the answer to an invitation."""
        answer = strategy.accept_invitation(self.opponent, self.length)
        _check(base.invitation_fault(answer))
        return AcceptAnswer(answer is None, answer)

    def fault(self, answer: StrategyAnswer) -> str | None:
        """Return what is wrong with an answer."""
        return None if isinstance(answer, AcceptAnswer) else f"expected a Verdict, got {answer!r}"
