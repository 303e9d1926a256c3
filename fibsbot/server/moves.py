"""Why a move is refused, in the server's words (specification: "Move"), and the plays that the server makes itself."""

from __future__ import annotations

from typing import Final

from fibsbot import fibs
from fibsbot.match import Dice
from fibsbot.position import BAR, OFF, Move, Play, Position
from fibsbot.rules.plays import legal_plays, results
from protocol import messages as m
from protocol.messages import Refusal
from protocol.words import FibsMove

FIBS_BARS: Final = {1: 0, -1: BAR}
"""The number under which the server speaks of the bar of a player who moves in this direction."""


def possible_moves(position: Position, dice: Dice) -> int:
    """Return how many checkers can be moved: 0 to 4."""
    return max(map(len, results(position.points, dice).values()), default=0)


def greedy_play(position: Position, dice: Dice) -> Play | None:
    """Return the play that bears off a checker with every number; None if there is none.

    Where fewer checkers are left than numbers, bearing all of them off is enough.
    """
    if not position.all_home:
        return None
    numbers = 4 if dice[0] == dice[1] else 2
    for play in legal_plays(position, dice):
        borne_off = bool(play.moves) and all(move.target == OFF for move in play.moves)
        if borne_off and (len(play) == numbers or position.play(play).over):
            return play
    return None


def only_play(position: Position, dice: Dice) -> Play | None:
    """Return the play if the dice leave no choice (other ways to the same position do not count)."""
    plays = results(position.points, dice)
    return Play(tuple(Move(*step) for step in next(iter(plays.values())))) if len(plays) == 1 else None


def refusal(position: Position, dice: Dice, moves: tuple[FibsMove, ...], direction: int) -> Refusal:
    """Tell what is wrong with a play that the laws forbid.

    First the number of moves, then the moves in the order given: each must be possible after those before it. What is
    left over is a play that uses the wrong number, where only one of the two can be played.
    """
    count = possible_moves(position, dice)
    if len(moves) < count:
        return m.TooFewMoves(count)
    if len(moves) > count:
        return m.TooManyMoves(count)
    left = [dice[0]] * 4 if dice[0] == dice[1] else list(dice)
    which, move = 0, Move(0, 0)
    for which, fibs_move in enumerate(moves, 1):
        move = fibs.from_fibs(fibs_move, direction)
        reason = _refusal_of_one(position, left, move, which, direction)
        if reason is not None:
            return reason
        left.remove(_number_used(left, move))
        position = position.after(move)
    return m.CantMovePoints(move.pips, which)


def _refusal_of_one(position: Position, left: list[int], move: Move, which: int, direction: int) -> Refusal | None:
    fibs_move = fibs.to_fibs(move, direction)
    source = FIBS_BARS[direction] if fibs_move.source is None else fibs_move.source
    off = move.target == OFF
    reasons = (
        (m.BarFirst(which), position.bar and move.source != BAR),
        (m.CantMoveFrom(source, which), position.points[move.source] <= 0),
        (m.CantMoveHome(source, which), move.target >= move.source),
        (m.CantBearOff(which), off and not (position.all_home and _bears_off(position, left, move.source))),
        (m.CantMovePoints(move.pips, which), not off and move.pips not in left),
        (m.CantMoveTo(fibs_move.target or 0, which), not off and position.points[move.target] < -1),
    )
    return next((reason for reason, holds in reasons if holds), None)


def _bears_off(position: Position, left: list[int], source: int) -> bool:
    highest = not any(n > 0 for n in position.points[source + 1 :])
    return source in left or (highest and max(left) > source)


def _number_used(left: list[int], move: Move) -> int:
    if move.pips in left:
        return move.pips
    return min(number for number in left if number > move.pips)
