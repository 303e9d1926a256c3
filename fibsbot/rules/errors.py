"""Errors of the rules core: invalid, illegal and ambiguous plays; actions that are not allowed now."""

from __future__ import annotations

import enum
from typing import TypeAlias

from attrs import frozen


class Law(enum.Enum):
    """The laws that a play can break, each in one sentence, with its numbers in the laws of 1931 and of 1970."""

    NOT_ROLLED = "a checker moves by a number that was rolled, each number once"
    """11 and 11: one checker may go on with the second number, but touches down in between."""
    WRONG_DIRECTION = "checkers move towards their own home board"
    """4 and 4."""
    NO_CHECKER = "a move takes one of the player's own checkers"
    POINT_HELD = "no checker lands on a point that the opponent holds with two or more"
    """12 and 14."""
    BAR_FIRST = "a checker on the bar enters before any other moves"
    """14 and 16."""
    TOO_EARLY = "no checker is borne off while another is outside the home board or on the bar"
    """11 and 11."""
    HIGHER_POINT = "a number higher than the point bears off only from the highest occupied point"
    """15 and 17."""
    TOO_MANY_MOVES = "each number is played once, a double four times"
    """11 and 12."""
    MUST_PLAY = "a number that can be played must be played"
    """15 and 13."""
    BOTH_NUMBERS = "both numbers must be played if that is possible"
    """15 and 13."""
    HIGHER_NUMBER = "if either number can be played, but not both, the higher must be played"
    """15 and 13."""
    WHOLE_DOUBLE = "a double is played four times, or as often as possible"
    """11 and 12."""
    NOTHING_TO_HIT = "only a blot of the opponent can be hit"
    """13 and 15."""


@frozen
class NamedLaw:
    """A law of a game of the family, in one sentence."""

    value: str
    """The sentence, named as that of a `Law`."""


AnyLaw: TypeAlias = Law | NamedLaw
"""A law of backgammon or of another game."""


class RuleError(ValueError):
    """A play or an action that the rules forbid; players' actions raise no other errors."""


class PlayError(RuleError):
    """A play that cannot be made."""


class InvalidPlayError(PlayError):
    """Not a play: a point that does not exist, a text that cannot be parsed."""


class IllegalPlayError(PlayError):
    """A play that a law forbids in this position."""

    def __init__(self, law: AnyLaw, reason: str) -> None:
        super().__init__(reason)
        self.law = law
        """The law that the play breaks."""

    def __reduce__(self) -> tuple[type[IllegalPlayError], tuple[AnyLaw, str]]:
        """Pickle both arguments: by default an error keeps the text alone, and the process that gets it breaks."""
        return type(self), (self.law, str(self))


class AmbiguousPlayError(PlayError):
    """A text that can be read as plays leading to different positions."""


class NotYourTurnError(RuleError):
    """It is the other player's turn to act."""


class RollFirstError(RuleError):
    """There are no dice to play yet."""


class AlreadyRolledError(RuleError):
    """The dice have already been rolled in this turn."""


class DoublePendingError(RuleError):
    """A double waits for its answer."""


class ResignationPendingError(RuleError):
    """A resignation waits for its answer, and until then nothing else is allowed."""


class NothingToAnswerError(RuleError):
    """There is no double or resignation to answer."""


class NotStartedError(RuleError):
    """The opening roll comes first."""


class GameOverError(RuleError):
    """The game, or the match, is over."""


class GameRunningError(RuleError):
    """The game is not over yet."""


class CubeRefusal(enum.Enum):
    """The reasons why a player may not double or redouble, each in one sentence."""

    NO_CUBE = "the game is played without a cube"
    NOT_OWNER = "the opponent owns the cube"
    CRAWFORD = "nobody doubles in the Crawford game"
    DEAD_CUBE = "the game at its present value wins the match already"
    LIMIT = "the cube has reached its limit"
    ALREADY_ROLLED = "a double is offered before the roll"
    NO_REDOUBLE_LEFT = "no instant redouble is left"
    MATCH = "instant redoubles belong to unlimited matches"


class CubeError(RuleError):
    """A player may not double or redouble."""

    def __init__(self, refusal: CubeRefusal) -> None:
        super().__init__(refusal.value)
        self.refusal = refusal
        """The reason."""

    def __reduce__(self) -> tuple[type[CubeError], tuple[CubeRefusal]]:
        """Pickle the reason, as for `IllegalPlayError`."""
        return type(self), (self.refusal,)


class DiceError(RuleError):
    """Dice that are not two numbers from 1 to 6, or a roll that may not be rejected."""
