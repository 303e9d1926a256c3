"""The laws of backgammon as options, the named sets of options, and the scoring of games.

All sets move checkers alike (see plays.py). They differ in scoring and in how the cube is raised. Options that
a document leaves to the players' agreement are off; `attrs.evolve(LAWS_1931, ...)` turns them on. Scoring:
laws 19 to 21 of 1931, "Scoring" of 1970.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Final

from attrs import evolve, frozen

from fibsbot.position import Position

UNLIMITED_REDOUBLES: Final = 9999
"""A number of instant redoubles that no game reaches."""
REDOUBLE_NAMES: Final = ("beaver", "raccoon", "otter")
"""What instant redoubles in a row are called."""


class AutomaticRaise(enum.Enum):
    """The effect of a tie in the opening roll on the cube (law 20 of 1931, "automatically"; in 1970 only DOUBLE)."""

    NONE = "none"
    DOUBLE = "double"
    ADD_ONE = "add one"


@frozen(slots=False)
class Laws:
    """A set of options. The defaults are common to all documents."""

    name: str
    automatic: AutomaticRaise = AutomaticRaise.NONE
    automatic_limit: int | None = None
    """The highest cube value that automatic raises may reach; None is no limit."""
    reject_first_throw: bool = False
    """Whether each player may reject the first roll of a game, which doubles the cube, and roll again."""
    cube: bool = True
    """Whether a doubling cube is used."""
    cube_limit: int | None = None
    """The highest value of the cube; None is no limit, although a real cube ends at 64."""
    dead_cube: bool = True
    """Whether a player may double who would already win the match at the current value of the cube."""
    crawford: bool = False
    """Matches only: no doubles in the first game after a player has come within one point of winning."""
    jacoby: bool = False
    """Unlimited matches only: gammons and backgammons count as single games unless a double was accepted."""
    redoubles: int = 0
    """Unlimited matches only: instant redoubles in a row. 1 allows the beaver, 2 also the raccoon, 3 also the otter."""
    gammon: bool = True
    """Whether a gammon or backgammon counts more than a single game."""
    triple: bool = True
    """Whether a backgammon counts three times; otherwise it counts as a gammon."""
    point_game: bool = False
    """Whether the winner scores for each checker that the loser has left instead (law 21 of 1931)."""


LAWS_1931: Final = Laws("1931")
"""Racquet and Tennis Club, New York. Optional: `automatic` in either form with its limit, `point_game`."""

LAWS_1970: Final = Laws("1970")
"""International Backgammon Association. Optional: `automatic` with its limit. A later afterword says that `jacoby`
and the beaver (`redoubles`) are in widespread use."""

MODERN: Final = Laws("modern", crawford=True, jacoby=True, redoubles=1)
"""As played today: Crawford in matches, Jacoby and the beaver for money. Optional: `automatic`,
`reject_first_throw`, no `triple`."""

FIBS: Final = Laws("fibs", crawford=True)
"""As FIBS plays. `crawford` goes off when both players' toggle is off, `automatic` becomes DOUBLE when both have
`autodouble` on, and `redoubles` is the smaller of the two players' variable. There is no Jacoby rule."""

LAWS: Final = {laws.name: laws for laws in (LAWS_1931, LAWS_1970, MODERN, FIBS)}
"""The sets of options by name."""


MOST_BY_ONES: Final = 6
"""The highest cube that ties raise by one on a server: a `board:` line has powers of two, and 3 and 5 times one."""


def with_board_limit(laws: Laws) -> Laws:
    """Return laws with the limit of `board:` lines for ties that add one to the cube."""
    if laws.automatic is not AutomaticRaise.ADD_ONE:
        return laws
    return evolve(laws, automatic_limit=min(laws.automatic_limit or MOST_BY_ONES, MOST_BY_ONES))


class Level(enum.IntEnum):
    """How a game was won; the value is its multiplier."""

    SINGLE = 1
    GAMMON = 2
    """The loser has borne off no checker."""
    BACKGAMMON = 3
    """A gammon with a checker in the winner's home board or on the bar."""

    @property
    def words(self) -> str:
        """What is won or resigned: `a single game`, `a gammon`, `a backgammon`."""
        return "a single game" if self is Level.SINGLE else f"a {self.name.lower()}"


def win_level(position: Position) -> Level:
    """Return the level of a game that ended in this position, seen by the winner."""
    if position.opponent_off:
        return Level.SINGLE
    if any(n < 0 for n in position.points[:7]):
        return Level.BACKGAMMON
    return Level.GAMMON


def game_multiplier(laws: Laws, level: Level, *, unlimited: bool, turned: bool) -> int:
    """Return the multiplier of the cube for a game of this level.

    `unlimited` is for unlimited matches, `turned` for games in which a double was accepted: automatic raises do not
    count.
    """
    if not laws.gammon or (laws.jacoby and unlimited and not turned):
        return 1
    return min(level, Level.BACKGAMMON if laws.triple else Level.GAMMON)


def point_game_score(row: Sequence[int]) -> int:
    """Return the score of the Point Game by the loser's checkers in the loser's own numbering (law 21 of 1931).

    One in the loser's own inner table counts 1, in the outer table beside it 2, in the winner's outer table 3, in the
    winner's inner table or upon the bar 4. `row` has 26 counts: 0 off, 1 to 24 the points, 25 the bar.
    """
    return sum(n * min((place + 5) // 6, 4) for place, n in enumerate(row))


def has_won(position: Position) -> bool:
    """Return whether the player who sees this position has borne off all checkers."""
    return max(position.points) <= 0
