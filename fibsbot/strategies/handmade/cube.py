"""What a game is worth when the cube can be turned.

The model is Janowski's ("Take-Points in Money Games", 1993), carried over to matches by asking what each result is
worth instead of counting points. With a dead cube the value of a position runs in a straight line from a certain loss
to a certain win. With a cube that is used perfectly the line is steeper: it reaches the win where the opponent has to
pass, the loss where the player has to. The truth lies between them, LIVELINESS of the way to the perfect cube.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Final, TypeAlias

from attrs import field, frozen

from fibsbot.match import Owner
from fibsbot.strategies.handmade.chances import Chances

LIVELINESS: Final = 0.75
"""How much of a perfect cube's gain is had. With this figure the match equities meet the published tables."""
LAST: Final = 64
"""A cube of this value is taken as dead: nobody turns it again."""

Worth: TypeAlias = Callable[[int], float]
"""What it is worth to win so many points, or to lose them when negative. What is good for one is bad for the other."""


@frozen
class Game:
    """A game that is being played, seen by one player: the ways in which it may end, and what they are worth."""

    worth: Worth
    won: tuple[float, float, float]
    """How many of 1 wins are single games, gammons and backgammons."""
    lost: tuple[float, float, float]
    away: tuple[int, int] = (0, 0)
    """Points that player and opponent still need; (0, 0) in an unlimited match."""
    jacoby: bool = False
    """Whether gammons count only after a double."""
    _opponents: Game | None = field(default=None, eq=False, repr=False)
    """The same game as the opponent sees it, where it has been asked for from there."""
    _take_points: dict[int, float] = field(factory=dict, init=False, eq=False, repr=False)
    """Those that have been reckoned."""

    @classmethod
    def of(cls, chances: Chances, worth: Worth, away: tuple[int, int] = (0, 0), *, jacoby: bool = False) -> Game:
        """Build a game whose gammons are as frequent among wins and losses as in these chances."""
        lose = 1 - chances.win
        return cls(
            worth,
            won=_shares(chances.win, chances.win_gammon, chances.win_backgammon),
            lost=_shares(lose, chances.lose_gammon, chances.lose_backgammon),
            away=away,
            jacoby=jacoby,
        )

    def reversed(self) -> Game:
        """Return the game as the opponent sees it."""
        return self._opponents or self._reversed

    @cached_property
    def _reversed(self) -> Game:
        worth, away = self.worth, self.away[::-1]
        return Game(lambda points: -worth(-points), self.lost, self.won, away, self.jacoby, self)

    def value(self, win: float, cube: int, owner: Owner) -> float:
        """Return what the game is worth with this chance to win it, the cube at this value and place."""
        dead = self._line(win, cube, owner, perfect=False)
        return dead + LIVELINESS * (self._line(win, cube, owner, perfect=True) - dead)

    def dead_value(self, win: float, cube: int) -> float:
        """Return what the game is worth if nobody turns the cube again."""
        return self._line(win, cube, Owner.CENTRED, perfect=False)

    def take_point(self, cube: int) -> float:
        """Return the chance to win from which a double to this value is taken when the cube is used perfectly."""
        if cube not in self._take_points:
            self._take_points[cube] = self._take_point(cube)
        return self._take_points[cube]

    def _take_point(self, cube: int) -> float:
        lost = self._mean(self.lost, -cube)
        slope = self._mean(self.won, cube) - lost
        if not self.dead(cube):
            cash = self.cash_point(cube)
            slope = max(slope, (self.worth(cube) - lost) / cash) if cash > 0 else math.inf
        return min(max((self.worth(-(cube // 2)) - lost) / slope, 0.0), 1.0) if slope > 0 else 1.0

    def cash_point(self, cube: int) -> float:
        """Return the chance to win from which the opponent passes a double from this value."""
        return 1 - self.reversed().take_point(2 * cube)

    def _line(self, win: float, cube: int, owner: Owner, *, perfect: bool) -> float:
        single = self.jacoby and owner is Owner.CENTRED
        lost = self.worth(-cube) if single else self._mean(self.lost, -cube)
        won = self.worth(cube) if single else self._mean(self.won, cube)
        corners = [(0.0, lost), (1.0, won)]
        if not perfect:
            return _interpolate(corners, win)
        # Nobody has to cash: where playing on for a gammon brings more, the corner would bend the line the wrong way.
        if owner is not Owner.PLAYER and not self.reversed().dead(cube):
            pass_point, passed = 1 - self.reversed().cash_point(cube), self.worth(-cube)
            if passed < lost + (won - lost) * pass_point:
                corners.append((pass_point, passed))
        if owner is not Owner.OPPONENT and not self.dead(cube):
            cash_point, cashed = self.cash_point(cube), self.worth(cube)
            if cashed > lost + (won - lost) * cash_point:
                corners.append((cash_point, cashed))
        return _interpolate(sorted(corners), win)

    def _mean(self, shares: tuple[float, float, float], points: int) -> float:
        single, gammon, backgammon = shares
        worth = self.worth
        return single * worth(points) + gammon * worth(2 * points) + backgammon * worth(3 * points)

    def dead(self, cube: int) -> bool:
        """Return whether the player has no use for a cube of this value: winning the game wins the match already."""
        return cube >= LAST or 0 < self.away[0] <= cube


def _shares(win: float, gammon: float, backgammon: float) -> tuple[float, float, float]:
    if win <= 0:
        return (1.0, 0.0, 0.0)
    return ((win - gammon) / win, (gammon - backgammon) / win, backgammon / win)


def _interpolate(corners: list[tuple[float, float]], at: float) -> float:
    for (left, low), (right, high) in pairwise(corners):
        if at <= right:
            return high if right == left else low + (high - low) * (at - left) / (right - left)
    return corners[-1][1]
