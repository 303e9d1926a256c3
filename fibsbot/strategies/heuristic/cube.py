"""What the chances of a game are worth with a cube and at a match score.

The cube model is Janowski's ("Take-Points in Money Games", 1993), carried over to matches by asking what each result
is worth instead of counting points: on a straight line with a dead cube, steeper with a live one, LIVELINESS of the
way in between. Match equities follow from the model itself, score by score; they agree with Kazaross XG2 up to 25
points: to 0.0012 on average, 0.007 at worst.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import Final, TypeAlias

from attrs import field, frozen

from fibsbot.match import MatchState, Owner


@frozen
class OutcomeChances:
    """How likely each end of the game is for the player."""

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
        """Points that the player expects on average from a game without a cube, -3 to 3."""
        gammons = self.win_gammon + self.win_backgammon - self.lose_gammon - self.lose_backgammon
        return 2 * self.win - 1 + gammons

    def reversed(self) -> OutcomeChances:
        """Return the opponent's chances."""
        return OutcomeChances(
            1 - self.win, self.lose_gammon, self.lose_backgammon, self.win_gammon, self.win_backgammon
        )


LIVELINESS: Final = 0.75
"""How much of a perfect cube's gain is had. With this figure the match equities meet the published tables."""
DEAD_CUBE: Final = 64
"""A cube of this value is taken as dead: nobody turns it again."""

Worth: TypeAlias = Callable[[int], float]
"""What it is worth to win so many points, or to lose them when negative. What is good for one is bad for the other."""


@frozen
class CubeModel:
    """A game that is being played, seen by one player: the ways in which it may end, and what they are worth."""

    worth: Worth
    won: tuple[float, float, float]
    """How many of 1 wins are single games, gammons and backgammons."""
    lost: tuple[float, float, float]
    away: tuple[int, int] = (0, 0)
    """Points that player and opponent still need; (0, 0) in an unlimited match."""
    jacoby: bool = False
    """Whether gammons count only after a double."""
    _opponents: CubeModel | None = field(default=None, eq=False, repr=False)
    """The same game as the opponent sees it, where it has been asked for from there."""
    _take_points: dict[int, float] = field(factory=dict, init=False, eq=False, repr=False)
    """Those that have been reckoned."""

    @classmethod
    def of(
        cls, chances: OutcomeChances, worth: Worth, away: tuple[int, int] = (0, 0), *, jacoby: bool = False
    ) -> CubeModel:
        """Build a game whose gammons are as frequent among wins and losses as in these chances."""
        lose = 1 - chances.win
        return cls(
            worth,
            won=_shares(chances.win, chances.win_gammon, chances.win_backgammon),
            lost=_shares(lose, chances.lose_gammon, chances.lose_backgammon),
            away=away,
            jacoby=jacoby,
        )

    def reversed(self) -> CubeModel:
        """Return the game as the opponent sees it."""
        return self._opponents or self._reversed

    @cached_property
    def _reversed(self) -> CubeModel:
        worth, away = self.worth, self.away[::-1]
        return CubeModel(lambda points: -worth(-points), self.lost, self.won, away, self.jacoby, self)

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
        return cube >= DEAD_CUBE or 0 < self.away[0] <= cube


def _shares(win: float, gammon: float, backgammon: float) -> tuple[float, float, float]:
    if win <= 0:
        return (1.0, 0.0, 0.0)
    return ((win - gammon) / win, (gammon - backgammon) / win, backgammon / win)


def _interpolate(corners: list[tuple[float, float]], at: float) -> float:
    for (left, low), (right, high) in pairwise(corners):
        if at <= right:
            return high if right == left else low + (high - low) * (at - left) / (right - left)
    return corners[-1][1]


GAMMONS: Final = 0.29
"""How many of 1 wins are gammons between equal players."""
FREE_DROP: Final = 0.02
"""The share of his chances that the trailer loses after the Crawford game because the leader may pass at once when the
opening rolls went wrong. That is free while the trailer needs an even number of points."""


def match_equity(away: int, opponent_away: int, *, crawford_played: bool) -> float:
    """Return the player's chance to win the match, before a game, needing so many points against so many."""
    _prepare(max(away, opponent_away))
    return _look_up(away, opponent_away, crawford_played=crawford_played)


def chance_after(state: MatchState, points: int) -> float:
    """Return the player's chance to win the match after a game that ended with so many points, negative ones lost."""
    if not state.length:
        raise ValueError("expected a match of some length, got an unlimited one")
    away, opponent_away = state.away
    _prepare(max(away, opponent_away))
    return (1 + _worth(away, opponent_away, state.crawford or state.post_crawford, points)) / 2


def worth_of(state: MatchState) -> Worth:
    """Return what it is worth to win points in this game, in units of what the present cube decides.

    Winning the game at the present cube is worth 1, losing it -1, so that any score reads like a money game.
    """
    if not state.length:
        return partial(_money_worth, state.cube)
    away, opponent_away = state.away
    _prepare(max(away, opponent_away))
    worth = partial(_worth, away, opponent_away, state.crawford or state.post_crawford)
    won, lost = worth(state.cube), worth(-state.cube)
    return partial(_scaled, worth, (won + lost) / 2, (won - lost) / 2)


@cache
def after_crawford(away: int) -> float:
    """Return the trailer's chance after the Crawford game, when the leader needs one point.

    The trailer doubles at once; the leader takes or passes, whichever is better for him.
    """
    if away <= 1:
        return 0.5 if away == 1 else 1.0
    taken = 0.5 * ((1 - GAMMONS) * after_crawford(away - 2) + GAMMONS * after_crawford(away - 4))
    return min(taken, after_crawford(away - 1)) * (1 if away % 2 else 1 - FREE_DROP)


def _look_up(away: int, opponent_away: int, *, crawford_played: bool) -> float:
    if away <= 0 or opponent_away <= 0:
        return 1.0 if away <= 0 else 0.0
    if away < opponent_away:
        return 1 - _look_up(opponent_away, away, crawford_played=crawford_played)
    if away == opponent_away:
        return 0.5
    if opponent_away > 1:
        return _before_crawford(away, opponent_away)
    return after_crawford(away) if crawford_played else _crawford(away)


def _worth(away: int, opponent_away: int, crawford_played: bool, points: int) -> float:  # noqa: FBT001 - for partial
    left, opponent_left = away - max(points, 0), opponent_away - max(-points, 0)
    return 2 * _look_up(left, opponent_left, crawford_played=crawford_played) - 1


def _crawford(away: int) -> float:
    return 0.5 * ((1 - GAMMONS) * after_crawford(away - 1) + GAMMONS * after_crawford(away - 2))


def _money_worth(cube: int, points: int) -> float:
    return points / cube


def _scaled(worth: Worth, middle: float, unit: float, points: int) -> float:
    return (worth(points) - middle) / unit


@cache
def _before_crawford(away: int, opponent_away: int) -> float:
    shares = (1 - GAMMONS, GAMMONS, 0.0)
    worth = partial(_worth, away, opponent_away, False)  # noqa: FBT003 - for partial
    game = CubeModel(worth, won=shares, lost=shares, away=(away, opponent_away))
    return (1 + game.value(0.5, 1, Owner.CENTRED)) / 2


@cache
def _prepare(away: int) -> None:
    """Reckon all scores up to this one from below, so that no recursion runs through a whole long match."""
    if away > 2:
        _prepare(away - 1)
    for opponent_away in range(2, away):
        _before_crawford(away, opponent_away)
