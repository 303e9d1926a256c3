"""Stakes: the equities of results, positions and resignations at a score and with a cube."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Final

import numpy as np
from attrs import evolve, frozen

from fibsbot.engine.arrays import LOSE, OUTCOMES, WIN, Bools, Floats64, Outcomes, cubeless_equity
from fibsbot.engine.cube import janowski
from fibsbot.engine.cube.janowski import CENTRED, OWNED, THEIRS, TURNED
from fibsbot.engine.match_equity import (
    PLAIN,
    GamePoints,
    chance_after_game,
    chance_after_points,
    equity_scale,
    points_scale,
)
from fibsbot.engine.numerics import products
from fibsbot.match import MatchState, Owner

OWNER_COLUMN: Final = {Owner.CENTRED: CENTRED, Owner.PLAYER: OWNED, Owner.OPPONENT: THEIRS}
"""The column of `Stakes.values` by the owner of the cube."""


@frozen(slots=False)
class Stakes:
    """The stakes of a game, seen by the player on roll.

    All equities are normalised: at the cube of the state from which the stakes were built, a single game won is 1 and
    a single game lost -1 (GNU Backgammon's EMG). They keep that unit when the cube is turned or the other player is on
    roll, so that a search may compare and average them; one player's equity is minus the other's.
    """

    away: tuple[int, int]
    """Points that the player and the opponent still need; (0, 0) for money."""
    cube: int
    """The value of the cube."""
    live: bool = True
    """Whether the cube can be turned at all: not in the Crawford game, nor without a cube, nor at its limit."""
    jacoby: bool = False
    """Whether gammons count only once the cube has been turned."""
    beavers: bool = False
    """Whether a player who is doubled may redouble at once and keep the cube (valued as if the limit were far away)."""
    limit: float = math.inf
    """The highest value of the cube."""
    unit: int = 1
    """For money: the cube at which 1 is a single game."""
    middle: float = 0.0
    """At a match score: the chance to win the match at equity 0."""
    half: float = 1.0
    """At a match score: the difference of that chance between equity 0 and 1."""
    points: GamePoints = PLAIN
    """What the results count; in the Point Game an estimate that belongs to the position of the decision."""

    @classmethod
    def of(cls, state: MatchState) -> Stakes:
        """Return the stakes of a state, seen by its player, who need not be on roll."""
        live, limit = state.cube_turns, state.cube_limit or math.inf
        points = GamePoints.of(state)
        if state.length:
            away = (max(state.away[0], 1), max(state.away[1], 1))
            scale = points_scale(away, state.cube) if state.point_game else equity_scale(away, state.cube)
            if scale is not None:
                return cls(away, state.cube, live, limit=limit, middle=scale[0], half=scale[1], points=points)
        beavers = state.redoubles > 0 and not state.length and 4 * state.cube <= limit
        jacoby = state.jacoby and not (state.length or state.point_game)
        return cls((0, 0), state.cube, live, jacoby, beavers, limit, unit=state.cube * points.unit, points=points)

    @property
    def match(self) -> bool:
        """Whether the game is part of a match, not for money."""
        return self.away != (0, 0)

    @cached_property
    def swapped(self) -> Stakes:
        """The same stakes seen by the other player."""
        middle = 1 - self.middle if self.match else 0.0
        return evolve(self, away=self.away[::-1], middle=middle, points=self.points.swapped)

    @cached_property
    def turned(self) -> Stakes:
        """The stakes once the cube has been turned, seen by the same player, in the same unit."""
        return evolve(self, cube=2 * self.cube, beavers=self.beavers and 8 * self.cube <= self.limit)

    def equity(self, points: float) -> float:
        """Return the equity of points won in this game, negative ones lost; only the Point Game has fractions."""
        if self.match:
            if self.points.point_game:
                return (chance_after_points(self.away, points) - self.middle) / self.half
            return (chance_after_game(self.away, int(points)) - self.middle) / self.half
        return points / self.unit

    def match_chance(self, equity: float) -> float:
        """Return the chance to win the match at an equity; raise ValueError for money."""
        if not self.match:
            raise ValueError("expected a match of some length, got an unlimited one")
        return self.middle + self.half * equity

    @cached_property
    def turnable(self) -> bool:
        """Whether either player may turn the cube and has a use for it, or gammons depend on whether it is turned."""
        return bool(self._turnable.any()) or self.jacoby

    def can_double(self, owner: Owner) -> bool:
        """Return whether the player may turn the cube and has a use for it: the present cube may win the match."""
        return owner is not Owner.OPPONENT and self._useful(self.cube)[0]

    # -- positions ------------------------------------------------------------------------------------------------

    def no_double_values(self, outcomes: Outcomes, efficiency: Floats64) -> Floats64:
        """Return the equities of positions if the player on roll does not turn the cube now.

        Args:
            outcomes: The six chances of the player on roll, shape (n, 6).
            efficiency: The efficiency of the cube, shape (n, 3) or (3,); see `Efficiency.of`.

        Returns:
            Shape (n, 4), by column: the cube CENTRED, OWNED by the player on roll, THEIRS (the opponent's), and TURNED
            now and taken.
        """
        chances = np.ascontiguousarray(outcomes, np.float64).reshape(-1, OUTCOMES)
        values = np.empty((len(chances), janowski.COLUMNS))
        spread = np.ascontiguousarray(np.broadcast_to(np.asarray(efficiency, np.float64), (len(chances), 3)))
        points = np.empty((2, len(self._won) + 1))
        janowski.no_double_values(chances, spread, self._won, self._lost, self._turnable, self.jacoby, points, values)
        return values

    def values(self, outcomes: Outcomes, efficiency: Floats64) -> Floats64:
        """Return the equities of positions for the player on roll, who doubles now where that gains.

        A search uses them at its leaves. Arguments are those of `no_double_values`.

        Returns:
            Shape (n, 3), by column: the cube CENTRED, OWNED by the player on roll, THEIRS (the opponent's).
        """
        by_action = self.no_double_values(outcomes, efficiency)
        equities = by_action[:, :TURNED]
        if self._turnable[0, 0]:
            for column in (CENTRED, OWNED):
                equities[:, column] = self.best_action_value(equities[:, column], by_action[:, TURNED])
        return equities

    def best_action_value(self, no_double: Floats64, double_take: Floats64) -> Floats64:
        """Return the equities of the better one of rolling and doubling, from the equities of both.

        `double_take` is in the unit of these stakes: about twice the equity of the same position without doubling.
        """
        return np.maximum(no_double, np.minimum(self.take_value(double_take), self.pass_value))

    def take_value(self, double_take: Floats64) -> Floats64:
        """Return the equity of doubling against a take or, where it is allowed and better, a beaver."""
        if not self.beavers:
            return np.asarray(double_take)
        # For money everything is twice as much when the opponent turns the cube once more and keeps it.
        return np.minimum(double_take, 2 * np.asarray(double_take))

    @property
    def pass_value(self) -> float:
        """The equity of a double that is passed."""
        return self.equity(self.points.cashed * self.cube) if self.points.point_game else float(self._won[0, 0])

    @property
    def loss_value(self) -> float:
        """The equity of passing a double."""
        return self.equity(-self.points.passed * self.cube)

    def cubeless(self, outcomes: Outcomes) -> Floats64:
        """Return the equities if the cube is never turned again, shape (n,) for (n, 6); gammons count."""
        chances = np.asarray(outcomes, np.float64)
        if not self.match and self.points is PLAIN:
            return np.asarray(cubeless_equity(chances) * (self.cube / self.unit), np.float64)
        won, lost = self._won[0], self._lost[0]
        steps = np.array([won[0], *np.diff(won), lost[0], *np.diff(lost)])
        sure = chances[..., 0] + chances[..., LOSE]
        return np.asarray(products(chances, steps) / np.where(sure > 0, sure, 1))

    def market(self, outcomes: Outcomes) -> Floats64:
        """Return the live market window of one position at each level, shape (levels, 2); see `janowski.market`."""
        points = np.zeros((2, len(self._won) + 1))
        chances = np.ascontiguousarray(outcomes, np.float64)
        janowski.market(chances, self._won, self._lost, self._turnable, points)
        return points[:, :-1].T

    # -- by level -------------------------------------------------------------------------------------------------

    @property
    def endless(self) -> bool:
        """Whether the cube can be turned again and again, so that all its values are alike."""
        return self.live and not self.match and self.limit == math.inf

    def _useful(self, cube: int) -> tuple[bool, bool]:
        live = self.live and 2 * cube <= self.limit
        if not self.match:
            return (live, live)
        won, lost = cube * self.points.won[0], cube * self.points.lost[0]
        return (live and self.away[0] > won, live and self.away[1] > lost)

    @cached_property
    def _cubes(self) -> tuple[int, ...]:
        """The values of the cube by level: two for money, in a match or below a limit up to the first of no use."""
        cubes = [self.cube, 2 * self.cube]
        while not self.endless and any(self._useful(cubes[-1])):
            cubes.append(2 * cubes[-1])
        return tuple(cubes)

    @cached_property
    def _won(self) -> Floats64:
        return np.array([[self.equity(points * cube) for points in self.points.won] for cube in self._cubes])

    @cached_property
    def _lost(self) -> Floats64:
        return np.array([[self.equity(-points * cube) for points in self.points.lost] for cube in self._cubes])

    @cached_property
    def _turnable(self) -> Bools:
        return np.array([self._useful(cube) for cube in self._cubes])


RESIGNATION_LEVELS: Final = (1, 2, 3)
"""A single game, a gammon, a backgammon."""
ACCEPT_SLACK: Final = 1e-3
"""The equity by which an offer may fall short of the position: estimated chances are never quite 1."""
RESIGN_LIMIT: Final = 5e-4
"""The largest chance to win, and the largest loss of equity, with which a player resigns."""


def resigned_equity(stakes: Stakes, owner: Owner, level: int) -> float:
    """Return the equity of a resignation, negative levels resigned by the player.

    Under the Jacoby rule it counts as a single game as long as the cube has not been turned; in the Point Game the
    checkers count where they stand.
    """
    points = stakes.points
    if stakes.jacoby and owner is Owner.CENTRED:
        level = max(-1, min(level, 1))
    if points.point_game:
        return stakes.equity(stakes.cube * (points.cashed if level > 0 else -points.passed))
    counted = points.won[level - 1] if level > 0 else -points.lost[-level - 1]
    return stakes.equity(counted * stakes.cube)


def accepts_resignation(stakes: Stakes, owner: Owner, level: int, equity: float) -> bool:
    """Return whether the player should accept the opponent's offer, where `equity` is the player's of playing on.

    It belongs to the position, independent of the player on roll, in the unit of `stakes`.
    """
    return resigned_equity(stakes, owner, level) >= equity - ACCEPT_SLACK


def level_to_resign(stakes: Stakes, owner: Owner, outcomes: Outcomes, efficiency: Floats64) -> int:
    """Return the level that the player on roll should resign: 0 nothing, 1 single, 2 gammon, 3 backgammon.

    Only a certain loss is resigned, at the lowest level that a well-informed opponent accepts. The Point Game is never
    resigned: playing on brings checkers home.
    """
    if outcomes[WIN] > RESIGN_LIMIT or stakes.points.point_game:
        return 0
    equity = float(stakes.values(outcomes, efficiency)[0, OWNER_COLUMN[owner]])
    return next(
        (level for level in RESIGNATION_LEVELS if abs(resigned_equity(stakes, owner, -level) - equity) <= RESIGN_LIMIT),
        0,
    )
