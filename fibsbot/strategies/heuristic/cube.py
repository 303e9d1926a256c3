"""Cube model: the equity of a position's chances with a cube, for money and at a match score.

The model is Janowski's ("Take-Points in Money Games", 1993), extended to matches by the match equity of each result in
place of points: the equity is a straight line over the chance to win with a dead cube, a steeper one with a live cube,
and CUBE_EFFICIENCY of the way in between. `engine.cube.janowski` is the same model for arrays, compiled; this one is
plain arithmetic, so that the strategy works where nothing can be compiled. Both share the match equities.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Final, TypeAlias

from attrs import field, frozen

from fibsbot.engine.match_equity import (
    PLAIN,
    POINTS_PER_GAME,
    GamePoints,
    chance_after_game,
    chance_after_points,
    equity_scale,
    points_scale,
)
from fibsbot.match import MatchState, Owner


@frozen
class OutcomeChances:
    """The chances of how the game ends for the player."""

    win: float
    """Of any kind."""
    win_gammon: float = 0.0
    """Backgammons included."""
    win_backgammon: float = 0.0
    lose_gammon: float = 0.0
    """Backgammons included."""
    lose_backgammon: float = 0.0

    @property
    def equity(self) -> float:
        """Average points per game without a cube, -3 to 3."""
        gammons = self.win_gammon + self.win_backgammon - self.lose_gammon - self.lose_backgammon
        return 2 * self.win - 1 + gammons

    def reversed(self) -> OutcomeChances:
        """Return the opponent's chances."""
        return OutcomeChances(
            1 - self.win, self.lose_gammon, self.lose_backgammon, self.win_gammon, self.win_backgammon
        )


CUBE_EFFICIENCY: Final = 0.75
"""The share of a perfectly used cube's gain that is realised."""
DEAD_CUBE: Final = 64
"""A cube of this value counts as dead: nobody turns it again."""

PointsEquity: TypeAlias = Callable[[float], float]
"""The equity of points won, negative ones lost. The opponent's equity is minus this one."""


@frozen
class CubeModel:
    """A game seen by one player: the shares of its results, and their equities."""

    points_equity: PointsEquity
    won: tuple[float, float, float]
    """Shares of single games, gammons and backgammons among the wins."""

    lost: tuple[float, float, float]
    away: tuple[int, int] = (0, 0)
    """Points that player and opponent still need; (0, 0) in an unlimited match."""
    jacoby: bool = False
    """Whether gammons count only after a double."""
    points: GamePoints = PLAIN
    """What the results count."""
    _opponents: CubeModel | None = field(default=None, eq=False, repr=False)
    """The same game as the opponent sees it, if this one was made by reversing that."""
    _take_points: dict[int, float] = field(factory=dict, init=False, eq=False, repr=False)
    """Take points computed so far, by cube."""

    @classmethod
    def of(
        cls,
        chances: OutcomeChances,
        points_equity: PointsEquity,
        away: tuple[int, int] = (0, 0),
        *,
        jacoby: bool = False,
        points: GamePoints = PLAIN,
    ) -> CubeModel:
        """Build a game with the gammon rates of these chances."""
        lose = 1 - chances.win
        return cls(
            points_equity,
            won=_shares(chances.win, chances.win_gammon, chances.win_backgammon),
            lost=_shares(lose, chances.lose_gammon, chances.lose_backgammon),
            away=away,
            jacoby=jacoby,
            points=points,
        )

    def reversed(self) -> CubeModel:
        """Return the game as the opponent sees it."""
        return self._opponents or self._reversed

    @cached_property
    def _reversed(self) -> CubeModel:
        equity, away = self.points_equity, self.away[::-1]
        return CubeModel(
            lambda points: -equity(-points), self.lost, self.won, away, self.jacoby, self.points.swapped, self
        )

    def value(self, win: float, cube: int, owner: Owner) -> float:
        """Return the equity at a chance to win, for a cube of this value and owner."""
        dead = self._line(win, cube, owner, perfect=False)
        return dead + CUBE_EFFICIENCY * (self._line(win, cube, owner, perfect=True) - dead)

    def dead_value(self, win: float, cube: int) -> float:
        """Return the equity if nobody turns the cube again."""
        return self._line(win, cube, Owner.CENTRED, perfect=False)

    def take_point(self, cube: int) -> float:
        """Return the chance to win from which a double to this value is a take, if the cube is used perfectly."""
        if cube not in self._take_points:
            self._take_points[cube] = self._take_point(cube)
        return self._take_points[cube]

    def _take_point(self, cube: int) -> float:
        lost = self._mean(self.lost, -cube)
        slope = self._mean(self.won, cube) - lost
        if not self.dead(cube):
            cash = self.cash_point(cube)
            slope = max(slope, (self.cashed(cube) - lost) / cash) if cash > 0 else math.inf
        return min(max((self.passed(cube // 2) - lost) / slope, 0.0), 1.0) if slope > 0 else 1.0

    def cashed(self, cube: int) -> float:
        """Return the equity of a double from this value that the opponent passes later."""
        return self.points_equity(self.points.won[0] * cube)

    def passed(self, cube: int) -> float:
        """Return the equity of passing a double from this value later."""
        return self.points_equity(-self.points.lost[0] * cube)

    def cash_point(self, cube: int) -> float:
        """Return the chance to win from which the opponent passes a double from this value."""
        return 1 - self.reversed().take_point(2 * cube)

    def _line(self, win: float, cube: int, owner: Owner, *, perfect: bool) -> float:
        single = self.jacoby and owner is Owner.CENTRED
        lost = self.points_equity(-cube) if single else self._mean(self.lost, -cube)
        won = self.points_equity(cube) if single else self._mean(self.won, cube)
        corners = [(0.0, lost), (1.0, won)]
        if not perfect:
            return _interpolate(corners, win)
        # Nobody has to cash: where playing on for a gammon brings more, the corner would bend the line the wrong way.
        if owner is not Owner.PLAYER and not self.reversed().dead(cube):
            pass_point, passed = 1 - self.reversed().cash_point(cube), self.passed(cube)
            if passed < lost + (won - lost) * pass_point:
                corners.append((pass_point, passed))
        if owner is not Owner.OPPONENT and not self.dead(cube):
            cash_point, cashed = self.cash_point(cube), self.cashed(cube)
            if cashed > lost + (won - lost) * cash_point:
                corners.append((cash_point, cashed))
        return _interpolate(sorted(corners), win)

    def _mean(self, shares: tuple[float, float, float], points: int) -> float:
        single, gammon, backgammon = shares
        one, two, three = self.points.won if points > 0 else self.points.lost
        equity = self.points_equity
        return single * equity(one * points) + gammon * equity(two * points) + backgammon * equity(three * points)

    def dead(self, cube: int) -> bool:
        """Return whether the cube is of no use to the player: winning the game at this value wins the match."""
        return cube >= DEAD_CUBE or 0 < self.away[0] <= cube * self.points.won[0]


def _shares(win: float, gammon: float, backgammon: float) -> tuple[float, float, float]:
    if win <= 0:
        return (1.0, 0.0, 0.0)
    return ((win - gammon) / win, (gammon - backgammon) / win, backgammon / win)


def _interpolate(corners: list[tuple[float, float]], at: float) -> float:
    for (left, low), (right, high) in pairwise(corners):
        if at <= right:
            return high if right == left else low + (high - low) * (at - left) / (right - left)
    return corners[-1][1]


def chance_after(state: MatchState, points: int) -> float:
    """Return the player's chance to win the match after a game that ended with these points, negative ones lost."""
    if not state.length:
        raise ValueError("expected a match of some length, got an unlimited one")
    if state.point_game:
        return chance_after_points(state.away, points)
    return chance_after_game(state.away, points)


def points_equity(state: MatchState) -> PointsEquity:
    """Return the equity of points won in this game, on the scale of the present cube.

    Winning the game at the present cube is 1, losing it -1, so that any score reads like a money game; in the Point
    Game 1 stands for POINTS_PER_GAME.
    """
    away, cube = state.away, state.cube
    scale = (points_scale(away, cube) if state.point_game else equity_scale(away, cube)) if state.length else None
    if scale is None:
        unit = cube * POINTS_PER_GAME if state.point_game else cube
        return lambda points: points / unit
    middle, half = scale
    if state.point_game:
        return lambda points: (chance_after_points(away, points) - middle) / half
    return lambda points: (chance_after_game(away, int(points)) - middle) / half
