"""The laws of backgammon as options, the named sets of options, and what a game counts.

How checkers move is the same in all of them (see plays.py). What differs is what a game counts and how the count is
raised. What a document leaves to the players' agreement is off; `attrs.evolve(LAWS_1931, ...)` turns it on. Scoring:
laws 19 to 21 of 1931, "Scoring" of 1970.
"""

from __future__ import annotations

import enum
from typing import Final

from attrs import frozen

from fibsbot.position import Position

UNLIMITED_REDOUBLES: Final = 9999
"""So many instant redoubles are allowed that nobody will ever count them."""


class AutomaticRaise(enum.Enum):
    """What a tie in the opening throw does to the count (law 20 of 1931, "automatically"; 1970 knows only DOUBLE)."""

    NONE = "none"
    DOUBLE = "double"
    ADD_ONE = "add one"


@frozen(slots=False)
class Laws:
    """Which options are in force. The defaults are what all documents share."""

    name: str
    automatic: AutomaticRaise = AutomaticRaise.NONE
    automatic_limit: int | None = None
    """The highest count that automatic raises may reach; None is no limit."""
    reject_first_throw: bool = False
    """Whether each player may reject the first throw of a game, which doubles the count, and throw again."""
    cube: bool = True
    """Whether the count can be raised voluntarily."""
    cube_limit: int | None = None
    """The highest value of the cube; None is no limit, though the die itself ends with 64."""
    dead_cube: bool = True
    """Whether one may double who would win the match at the present value already."""
    crawford: bool = False
    """Matches only: nobody doubles in the first game after a player has come within one point of winning."""
    jacoby: bool = False
    """Unlimited matches only: gammon and backgammon count as a single game unless a double was accepted."""
    redoubles: int = 0
    """Unlimited matches only: instant redoubles in a row. 1 is the beaver, 2 the raccoon too, 3 the otter."""
    triple: bool = True
    """Whether a backgammon counts three times; otherwise it counts as a gammon."""
    point_game: bool = False
    """Whether the winner scores for each man that the loser has left, instead (law 21 of 1931)."""


LAWS_1931: Final = Laws("1931")
"""Racquet and Tennis Club, New York. By agreement: `automatic` in either form with its limit, `point_game`."""

LAWS_1970: Final = Laws("1970")
"""International Backgammon Association. By agreement: `automatic` with its limit. A later afterword says that `jacoby`
and the beaver (`redoubles`) are in widespread use."""

MODERN: Final = Laws("modern", crawford=True, jacoby=True, redoubles=1)
"""As played today: Crawford in matches, Jacoby and the beaver for money. By agreement: `automatic`,
`reject_first_throw`, no `triple`."""

FIBS: Final = Laws("fibs", crawford=True)
"""As the server plays. `crawford` goes off when both players' toggle is off, `automatic` becomes DOUBLE when both have
`autodouble` on, and `redoubles` is the smaller of the two players' variable. There is no Jacoby rule."""

LAWS: Final = {laws.name: laws for laws in (LAWS_1931, LAWS_1970, MODERN, FIBS)}
"""Every set by its name."""


class Level(enum.IntEnum):
    """How a game was won, with what it counts."""

    SINGLE = 1
    GAMMON = 2
    """The loser has borne off no checker."""
    BACKGAMMON = 3
    """Nor that, and has one in the winner's home board or on the bar."""


def win_level(position: Position) -> Level:
    """Return what a game is that ended in this position, seen by the winner."""
    if position.opponent_off:
        return Level.SINGLE
    if any(n < 0 for n in position.points[:7]):
        return Level.BACKGAMMON
    return Level.GAMMON


def game_multiplier(laws: Laws, level: Level, *, unlimited: bool, turned: bool) -> int:
    """Return how many times the cube a game of this level counts.

    `unlimited` tells whether the match is, `turned` whether a double was accepted: automatic raises turn no cube.
    """
    if laws.jacoby and unlimited and not turned:
        return 1
    return min(level, Level.BACKGAMMON if laws.triple else Level.GAMMON)


def point_game_score(position: Position) -> int:
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
