"""`**` lines that refuse a command in a game, or because of its laws (specification: "Game Commands")."""

from __future__ import annotations

from fibs_protocol.lazy_attrs import frozen
from fibs_protocol.messages.base import Refusal


@frozen
class NotPlaying(Refusal):
    """`** You're not playing.`"""


@frozen
class GameAlreadyOver(Refusal):
    """`** The game is already over.` (BaldLies)"""


@frozen
class IllegalMove(Refusal):
    """`** Illegal move (unknown error, this should not happen)` (BaldLies): a refusal without a reason."""


@frozen
class AlreadyRolled(Refusal):
    """`** You did already roll the dice.`"""


@frozen
class NotYourRoll(Refusal):
    """`** It's not your turn to roll the dice.`"""


@frozen
class NotYourMove(Refusal):
    """`** It's not your turn to move.`"""


@frozen
class NotYourTurn(Refusal):
    """`** It's not your turn.` (the `off` command)."""


@frozen
class RollFirst(Refusal):
    """`** You have to roll the dice before moving.`"""


@frozen
class MoveWords(Refusal):
    """`** first move: legal words are 'bar', 'home', 'off', 'b', 'h' and 'o'.`"""

    which: int
    """The number of the move, 1 to 4, here and below."""


@frozen
class TooFewMoves(Refusal):
    """`** You must give 2 moves.`"""

    count: int


@frozen
class TooManyMoves(Refusal):
    """`** Please don't give more than 2 moves.`"""

    count: int


@frozen
class CantMoveFrom(Refusal):
    """`** You can't move from 8 in your first move.`"""

    point: int
    which: int


@frozen
class CantMovePoints(Refusal):
    """`** You can't move 3 points in your second move.`"""

    points: int
    which: int


@frozen
class CantMoveTo(Refusal):
    """`** You can't move to 5 in your first move.`"""

    point: int
    which: int


@frozen
class BarFirst(Refusal):
    """`** You have to remove pieces from the bar in your first move.`"""

    which: int


@frozen
class CantBearOff(Refusal):
    """`** You can't remove this piece in your first move.`"""

    which: int


@frozen
class CantMoveHome(Refusal):
    """`** You can't move home in your first move.`, `** You can't move 5-home in your first move.`"""

    point: int | None
    which: int


@frozen
class OffNotPossible(Refusal):
    """`** You can't bear off with every number you have rolled.`"""


@frozen
class PipNotAllowed(Refusal):
    """`** X doesn't allow this. Ask X to 'toggle allowpip'`"""

    name: str


@frozen
class AllowpipFirst(Refusal):
    """`** Type 'toggle allowpip' first.`"""


@frozen
class DoubleBeforeRoll(Refusal):
    """`** You can only double before you roll the dice.`"""


@frozen
class DoubleNotNow(Refusal):
    """`** Please wait until X has moved.`"""

    name: str


@frozen
class NotYourDouble(Refusal):
    """`** It's not your turn to double`"""


@frozen
class CrawfordForbids(Refusal):
    """`** The Crawford rule doesn't allow you to double in this game.`; only the beginning is certain."""


@frozen
class DoublePending(Refusal):
    """`** X hasn't responded to your double yet.`; only the beginning is certain."""

    name: str


@frozen
class NothingToAnswer(Refusal):
    """`** X didn't double or resign.`"""

    name: str


@frozen
class NothingToGiveUp(Refusal):
    """`** You're not playing, so you can't give up.`"""


@frozen
class ResignHow(Refusal):
    """`** Type 'n' (normal), 'g' (gammon) or 'b' (backgammon) after resign.`"""


@frozen
class AlreadyResigned(Refusal):
    """`** You already did that.`"""


@frozen
class ResignPending(Refusal):
    """`** X hasn't accepted or rejected your resign yet.`"""

    name: str


@frozen
class AnswerResign(Refusal):
    """`** X wanted to resign. Type 'accept' or 'reject'.`"""

    name: str


@frozen
class MatchAlreadyOver(Refusal):
    """`** The match is already over.`: BaldLies's answer to `join` and `board`, unknown to FIBS."""


@frozen
class NobodyToLeave(Refusal):
    """`** Error: No one to leave.`"""


@frozen
class RedoubleOnlyUnlimited(Refusal):
    """`** Instant redoubles are only available for unlimited matches.`"""


@frozen
class RedoubleNotAllowed(Refusal):
    """`** You are not allowed to redouble.`"""


@frozen
class WrongRedouble(Refusal):
    """`** This redouble is not a beaver. Please type 'raccoon' or 'redouble'.`"""

    typed: str
    """`beaver`, `raccoon` or `otter`."""
    right: str | None
    """The right command; None after the otter."""


# -- laws (only this project's server) --------------------------------------------------------------------------------


@frozen
class UnknownLaws(Refusal):
    """`** Laws: expected laws such as 1931, 1970, modern, fibs, got '1930'.`: of an invitation."""

    reason: str


@frozen
class KnowsNoLaws(Refusal):
    """`** X's client knows no other laws than those of FIBS.`: the invited player's, or the one to be watched by."""

    name: str


@frozen
class CantRethrow(Refusal):
    """`** You can't reject this roll.`"""
