"""Errors of the rules core: a play that cannot be read, is illegal or ambiguous; an action whose time has not come."""

from __future__ import annotations

import enum


class Law(enum.Enum):
    """What a play can break. Each value says the law in one sentence; numbers are those of 1931 and of 1970."""

    NOT_THROWN = "a checker moves by a number that was thrown, each number once"
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


class RuleError(ValueError):
    """The rules forbid it. Nothing else is raised by a play or an action of a player, however wrong it is."""


class PlayError(RuleError):
    """A play cannot be made."""


class InvalidPlayError(PlayError):
    """It is not a play at all: a point that the board has not, a text that no play is written like."""


class IllegalPlayError(PlayError):
    """It is a play, but a law forbids it here."""

    def __init__(self, law: Law, reason: str) -> None:
        super().__init__(reason)
        self.law = law
        """The law that is broken."""


class AmbiguousPlayError(PlayError):
    """It can be read as plays that leave different positions."""


class NotYourTurnError(RuleError):
    """The other player has to act."""


class RollFirstError(RuleError):
    """There are no dice to play yet."""


class AlreadyRolledError(RuleError):
    """The dice have been thrown for this turn."""


class DoublePendingError(RuleError):
    """A double waits for its answer."""


class ResignationPendingError(RuleError):
    """A resignation waits for its answer, and until then nothing else is allowed."""


class NothingToAnswerError(RuleError):
    """Nobody has doubled or wants to resign."""


class NotStartedError(RuleError):
    """The opening throw comes first."""


class GameOverError(RuleError):
    """The game, or the match, is over."""


class GameRunningError(RuleError):
    """The game is not over yet."""


class CubeRefusal(enum.Enum):
    """Why a player may not double or redouble; each value says it in one sentence."""

    NO_CUBE = "the game is played without a cube"
    NOT_OWNER = "the opponent owns the cube"
    CRAWFORD = "nobody doubles in the Crawford game"
    DEAD_CUBE = "the game at its present value wins the match already"
    LIMIT = "the cube has reached its limit"
    ALREADY_THROWN = "a double is offered before the throw"
    NO_REDOUBLE_LEFT = "no instant redouble is left"
    MATCH = "instant redoubles belong to unlimited matches"


class CubeError(RuleError):
    """A player may not double or redouble."""

    def __init__(self, refusal: CubeRefusal) -> None:
        super().__init__(refusal.value)
        self.refusal = refusal
        """The reason."""


class ThrowError(RuleError):
    """A throw cannot be rejected here, or is none: two numbers from 1 to 6."""
