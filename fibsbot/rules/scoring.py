"""What a game counts: single, gammon, backgammon, and the Point Game (laws 19 to 21 of 1931, "Scoring" of 1970)."""

from __future__ import annotations

import enum

from fibsbot.position import Position
from fibsbot.rules.laws import Laws


class Level(enum.IntEnum):
    """How a game was won, with what it counts."""

    SINGLE = 1
    GAMMON = 2
    """The loser has borne off no checker."""
    BACKGAMMON = 3
    """Nor that, and has one in the winner's home board or on the bar."""


def level_of(position: Position) -> Level:
    """Return what a game is that ended in this position, seen by the winner."""
    if position.opponent_off:
        return Level.SINGLE
    if any(n < 0 for n in position.points[:7]):
        return Level.BACKGAMMON
    return Level.GAMMON


def multiple(laws: Laws, level: Level, *, unlimited: bool, turned: bool) -> int:
    """Return how many times the cube a game of this level counts.

    `unlimited` tells whether the match is, `turned` whether a double was accepted: automatic raises turn no cube.
    """
    if laws.jacoby and unlimited and not turned:
        return 1
    return min(level, Level.BACKGAMMON if laws.triple else Level.GAMMON)


def men_left(position: Position) -> int:
    """Count the loser's men in the Point Game, the position seen by the winner (law 21 of 1931).

    One in the loser's own inner table counts 1, in the outer table beside it 2, in the winner's outer table 3, in the
    winner's inner table or upon the bar 4.
    """
    return sum(-n * _table(point) for point, n in enumerate(position.points) if n < 0)


def _table(point: int) -> int:
    """Return what a man of the loser counts on a point of the winner's numbering; 0 is the loser's bar."""
    return 4 - max(point - 1, 0) // 6


def has_won(position: Position) -> bool:
    """Whether the player who sees this position has borne off all checkers."""
    return max(position.points) <= 0
