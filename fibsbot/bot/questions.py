"""Questions for a strategy, the keys that tell them apart, and what an answer to each may be.

A question knows how it is put to a strategy and what is wrong with an answer, so that whoever carries it need not.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

from attrs import frozen

from fibsbot.match import Dice, MatchState, Phase
from fibsbot.position import Play, Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies import answers
from fibsbot.strategies.base import CubeAction, CubeAnswer, Opponent, PlayAnswer, Strategy


@frozen
class Key:
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


AnyKey: TypeAlias = Key | InvitationKey


@frozen
class Resignation:
    """An answer before the roll: offer to resign."""

    level: int
    """1 single, 2 gammon, 3 backgammon."""


@frozen
class Verdict:
    """The answer to an invitation or to an offered resignation."""

    accepted: bool
    reason: str | None = None
    """A sentence for whoever was refused."""


Answer: TypeAlias = PlayAnswer | CubeAnswer | Resignation | Verdict


class Question(Protocol):
    """Something to decide."""

    def put_to(self, strategy: Strategy) -> Answer:
        """Ask; may take long, and raise whatever the strategy raises. Raises NonsenseError for an impossible answer."""
        ...

    def fault(self, answer: Answer) -> str | None:
        """Return what is wrong with an answer to this question, None when it is possible."""
        ...


class NonsenseError(ValueError):
    """A strategy gave an answer that is none."""


def _check(fault: str | None) -> None:
    if fault:
        raise NonsenseError(fault)


@frozen
class WhichPlay:
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
        _check(answers.play_fault(self.plays, answer))
        return answer

    def fault(self, answer: Answer) -> str | None:
        """Return what is wrong with an answer."""
        return answers.play_fault(self.plays, answer)


@frozen
class RollOrWhat:
    """Roll, double or resign?"""

    state: MatchState
    may_double: bool
    resign_from: int = 1
    """The lowest level that may be offered: a lower one was rejected in this game."""
    resign_to: int = 3
    """The highest level that may be offered; below the lowest, the strategy is not asked whether to resign."""

    def put_to(self, strategy: Strategy) -> CubeAnswer | Resignation:
        """Ask whether to resign, then whether to double."""
        if self.resign_from <= self.resign_to:
            level = strategy.resign(self.state)
            _check(answers.resignation_fault(level))
            if self.resign_from <= level <= self.resign_to:
                return Resignation(level)
        if not self.may_double:
            return CubeAnswer(CubeAction.ROLL)
        answer = strategy.offer_double(self.state)
        _check(answers.offer_fault(answer))
        return answer

    def fault(self, answer: Answer) -> str | None:
        """Return what is wrong with an answer."""
        if isinstance(answer, Resignation):
            return answers.resignation_fault(answer.level) or self._level_fault(answer.level)
        if isinstance(answer, CubeAnswer) and answer.action is CubeAction.DOUBLE and not self.may_double:
            return "expected no double where none is allowed"
        return answers.offer_fault(answer)

    def _level_fault(self, level: int) -> str | None:
        if self.resign_from <= level <= self.resign_to:
            return None
        none = self.resign_from > self.resign_to
        return f"expected {'none' if none else f'{self.resign_from} to {self.resign_to}'} to resign, got {level}"


@frozen
class TakeOrPass:
    """Take, pass or beaver?"""

    state: MatchState

    def put_to(self, strategy: Strategy) -> CubeAnswer:
        """Ask for the answer to a double."""
        answer = strategy.answer_double(self.state)
        _check(answers.response_fault(self.state, answer))
        return answer

    def fault(self, answer: Answer) -> str | None:
        """Return what is wrong with an answer."""
        return answers.response_fault(self.state, answer)


@frozen
class AcceptResignation:
    """Is the offered resignation enough?"""

    state: MatchState

    def put_to(self, strategy: Strategy) -> Verdict:
        """Ask for the answer to a resignation."""
        answer = strategy.accept_resignation(self.state)
        _check(answers.acceptance_fault(answer))
        return Verdict(answer)

    def fault(self, answer: Answer) -> str | None:
        """Return what is wrong with an answer."""
        return None if isinstance(answer, Verdict) else f"expected a Verdict, got {answer!r}"


@frozen
class AcceptInvitation:
    """Shall we play this match?"""

    opponent: Opponent
    length: int
    """Points; 0 is unlimited."""

    def put_to(self, strategy: Strategy) -> Verdict:
        """Ask for the answer to an invitation."""
        answer = strategy.accept_invitation(self.opponent, self.length)
        _check(answers.invitation_fault(answer))
        return Verdict(answer is None, answer)

    def fault(self, answer: Answer) -> str | None:
        """Return what is wrong with an answer."""
        return None if isinstance(answer, Verdict) else f"expected a Verdict, got {answer!r}"
