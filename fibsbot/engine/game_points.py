"""Points of a game: what each result counts at a cube of 1, also in the Point Game, where that has to be estimated.

In the Point Game (law 21 of 1931) the winner scores for each checker that the loser has left. How many that will be is
estimated from the pips of both sides, separately for single games, gammons and backgammons. The figures were fitted to
600 games of the engine against itself without lookahead and without a cube, 40,000 positions; the standard deviation
of a game around the estimate is 4 points (`docs/cube.md`). A pass counts the checkers where they are, 34 points at the
start; the cube model takes a pass in a later turn for a single game, as by then most checkers have come home.
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

from attrs import frozen

from fibsbot.engine.match_equity import LEAST_SWING
from fibsbot.match import MatchState
from fibsbot.position import CHECKERS, Position
from fibsbot.rules.laws import point_game_score

LevelPoints: TypeAlias = tuple[float, float, float]
"""The points of a single game, a gammon and a backgammon."""

PLAIN_POINTS: Final[LevelPoints] = (1, 2, 3)
POINTS_PER_GAME: Final = 12
"""The mean score of the Point Game, the unit of its equities."""
SWING: Final = 16.0
"""Standard deviation of the difference of the scores after one Point Game, cubes included."""


@frozen
class GamePoints:
    """What the results of a game count for a player at a cube of 1."""

    won: LevelPoints = PLAIN_POINTS
    lost: LevelPoints = PLAIN_POINTS
    cashed: float = 1
    """What the player wins if the opponent passes or resigns now."""
    passed: float = 1
    """What the player loses by passing or resigning now."""
    unit: int = 1
    """The points that equity 1 stands for."""

    @classmethod
    def of(cls, state: MatchState) -> GamePoints:
        """Return what the game of a state counts for its player."""
        if state.point_game:
            position = state.position
            theirs = position.swapped()
            return cls(
                estimated_points(position),
                estimated_points(theirs),
                point_game_score(position),
                point_game_score(theirs),
                POINTS_PER_GAME,
            )
        return PLAIN if state.triple else NO_TRIPLE

    @property
    def swapped(self) -> GamePoints:
        """The same seen by the opponent."""
        return GamePoints(self.lost, self.won, self.passed, self.cashed, self.unit)

    @property
    def point_game(self) -> bool:
        """Whether the checkers left are counted."""
        return self.unit != 1


PLAIN: Final = GamePoints()
"""Gammons count two, backgammons three."""
NO_TRIPLE: Final = GamePoints((1, 2, 2), (1, 2, 2))
"""Backgammons count like gammons."""


def estimated_points(position: Position) -> LevelPoints:
    """Return the mean scores of the Point Game if the player who sees the position wins, by level.

    Exact where the game is over.
    """
    if position.off == CHECKERS:
        score = float(point_game_score(position))
        return (score, score, score)
    ahead = position.opponent_pips - position.pips
    left = CHECKERS - position.opponent_off
    # In a short race what is left follows from the difference in pips; the longer the game, the less it says.
    length = min(position.pips / 120, 1.0)
    single = 3 + 5.6 * length + (0.2 - 0.165 * length) * ahead
    gammon = 11.7 + 0.076 * position.opponent_pips - 0.023 * position.pips
    return (
        min(max(single, 1.0), left, CHECKERS - 1.0),
        min(max(gammon, float(CHECKERS)), 30.0),
        min(max(gammon + 7, CHECKERS + 3.0), 45.0),
    )


def chance_after_points(away: tuple[int, int], points: float) -> float:
    """Return the chance to win a match of Point Games after a game with these points, negative ones lost.

    The difference of the scores is taken for a random walk, one step a game.
    """
    own, theirs = away[0] - max(points, 0), away[1] + min(points, 0)
    if min(own, theirs) <= 0:
        return 1.0 if own <= 0 else 0.0
    from statistics import NormalDist  # noqa: PLC0415 - slow to import, and only the Point Game needs it

    games = max((own + theirs) / POINTS_PER_GAME - 0.5, 0.5)
    return NormalDist().cdf((theirs - own) / (SWING * math.sqrt(games)))


def points_scale(away: tuple[int, int], cube: int) -> tuple[float, float] | None:
    """Return what equity 0 and 1 of the Point Game stand for at a match score, as `equity_scale` does for games."""
    won, lost = (chance_after_points(away, sign * cube * POINTS_PER_GAME) for sign in (1, -1))
    return ((won + lost) / 2, (won - lost) / 2) if won - lost > LEAST_SWING else None
