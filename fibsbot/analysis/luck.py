"""Luck: the values of the rolls of a position, the luck of a roll, and luck-adjusted results.

A roll's luck is its value less that of the average roll, so luck is 0 on average with any evaluator. A result minus
its luck has the same mean as the result, but varies less; the better the evaluator, the less.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from attrs import evolve, frozen

from fibsbot.analysis.model import MatchAnalysis, PlayerStatistics, sum_statistics
from fibsbot.analysis.results import Z_95, wilson
from fibsbot.engine.match_equity import LEAST_SWING, POINTS_PER_GAME
from fibsbot.match import ROLLS, Dice, MatchState, Phase
from fibsbot.position import Play, Position
from fibsbot.rules.backgammon import first_board
from fibsbot.rules.general_plays import rolls
from fibsbot.rules.ruleset import Opening
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.base import Evaluator, RollEvaluator

CACHE_SIZE: Final = 1024
"""Rolls and means to cache: openings recur in every game, and after a dance the opponent's position does."""


@frozen
class ValuedPlays:
    """All legal plays of a roll, with their values for the player who makes them."""

    plays: tuple[Play, ...]
    """At least one: a dance is the empty play."""
    values: tuple[float, ...]

    @property
    def best(self) -> float:
        """Value of the best play."""
        return max(self.values)


class RollValues:
    """Values of rolls by one evaluator, cached."""

    def __init__(self, evaluator: Evaluator) -> None:
        """Use `evaluator` for all values."""
        self._evaluator = evaluator
        self._rolls = lru_cache(CACHE_SIZE)(evaluator.value_rolls) if isinstance(evaluator, RollEvaluator) else None
        self._known = lru_cache(CACHE_SIZE)(self._value)
        self._means = lru_cache(CACHE_SIZE)(self._mean)

    def valued(self, state: MatchState) -> ValuedPlays:
        """Return the plays of the dice on the board, with their values; phase MOVE."""
        return self._known(evolve(state, dice=high_die_first(state)))

    def best(self, state: MatchState) -> float:
        """Return the value of the best play of the dice on the board; phase MOVE."""
        if self._rolls is None:
            return self.valued(state).best
        dice = [dice for dice, _ in rolls(state.rules.dice)]
        return self._rolls(evolve(state, dice=None))[dice.index(high_die_first(state))]

    def plays(self, state: MatchState) -> tuple[Play, ...]:
        """Return the plays of the dice on the board: at least one, as a dance is the empty play."""
        return evolve(state, dice=high_die_first(state)).plays or (Play(),)

    def mean(self, state: MatchState) -> float:
        """Return the mean value over all rolls, each played best."""
        return self._means(evolve(state, dice=None))

    def opening_mean(self, state: MatchState) -> float:
        """Return the value of a game before its opening roll, in which either player may begin.

        There are no doublets, unless the winner rolls anew.

        `state` may be seen by either player: the position is the same for both.
        """
        return (self._openings(state) - self._openings(state.swapped())) / 2

    def luck(self, state: MatchState, *, opening: bool) -> float:
        """Return how much better the dice of a state are than the average roll, for the player who rolled them.

        Backgammon is seen with the dice on the board, phase MOVE; every other game before the roll, phase ROLL, as a
        roll may leave its marks on the board.
        """
        luck = self.best(state) - (self.opening_mean(state) if opening else self.mean(state))
        check_finite([luck])
        return luck

    def _openings(self, state: MatchState) -> float:
        rolled = evolve(state, phase=Phase.MOVE) if isinstance(state.board, Position) else state
        if state.rules.opening is Opening.RETHROW:
            return self.mean(rolled)
        best = [self.best(evolve(rolled, dice=dice)) for dice in ROLLS if dice[0] != dice[1]]
        return sum(best) / len(best)

    def _mean(self, state: MatchState) -> float:
        if self._rolls is None:
            values: Iterable[float] = [self.best(evolve(state, dice=dice)) for dice, _ in rolls(state.rules.dice)]
        else:
            values = self._rolls(state)
        ways = [ways for _, ways in rolls(state.rules.dice)]
        return sum([count * value for count, value in zip(ways, values, strict=True)]) / sum(ways)

    def _value(self, state: MatchState) -> ValuedPlays:
        plays = self.plays(state)
        values = tuple(self._evaluator.value_plays(state, plays))
        if len(values) != len(plays):
            raise ValueError(f"expected the values of {len(plays)} plays, got {len(values)}")
        check_finite(values)
        return ValuedPlays(plays, values)


def check_finite(values: Iterable[float]) -> None:
    """Raise ValueError if a value of an evaluator is not a finite number: no other could be compared with it."""
    for value in values:
        if not math.isfinite(value):
            raise ValueError(f"expected finite values, got {value!r}")


def is_opening(before: GameState) -> bool:
    """Whether the next roll is the opening roll, also of a game that was first seen with it on the board."""
    fresh = before.turns == 0 and before.board == first_board(before.rules)
    return before.stage is Stage.OPENING or (before.stage is Stage.MOVE and fresh)


def high_die_first(state: MatchState) -> Dice:
    """Return the dice on the board, the higher first, so that both orders share a cache entry."""
    if state.dice is None:
        raise ValueError("expected a state with dice on the board")
    return tuple(sorted(state.dice, reverse=True))


def points_of_equity(state: MatchState) -> int:
    """Return the points that equity 1 stands for: the cube, in the Point Game times its mean score."""
    return state.cube * (POINTS_PER_GAME if state.point_game else 1)


def equity_of_points(evaluator: Evaluator, state: MatchState, points: int) -> float:
    """Return the normalised equity of winning this game with `points`, or losing it with negative ones."""
    unit = points_of_equity(state)
    if not state.length:
        return points / unit
    won, lost = (evaluator.match_chance(state, sign * unit) for sign in (1, -1))
    if won - lost <= LEAST_SWING:
        return points / unit
    return (2 * evaluator.match_chance(state, points) - won - lost) / (won - lost)


def match_chance_per_equity(evaluator: Evaluator, state: MatchState) -> float:
    """Return the match winning chances that a normalised equity of 1 stands for; 0 in an unlimited match."""
    if not state.length:
        return 0.0
    unit = points_of_equity(state)
    return (evaluator.match_chance(state, unit) - evaluator.match_chance(state, -unit)) / 2


def luck_adjusted_result(analysis: MatchAnalysis, seat: Seat) -> float | None:
    """Return the result of a match for a player, 1 for won and 0 for lost, adjusted for the luck of both players.

    It may be below 0 or above 1. None for a match that is not over, is unlimited, or was not seen from its first roll
    to its last: the missing luck would bias the result.
    """
    if analysis.transcript.winner is None or not _is_complete(analysis):
        return None
    own, theirs = analysis.figures_of(seat), analysis.figures_of(seat.other)
    return float(analysis.transcript.winner is seat) - own.luck_in_chances + theirs.luck_in_chances


def _is_complete(analysis: MatchAnalysis) -> bool:
    scores = (0, 0)
    for game in analysis.transcript.games:
        if not game.whole or game.result is None or game.start.scores != scores:
            return False
        a, b = scores
        points = game.result.points
        scores = (a + points, b) if game.result.winner is Seat.A else (a, b + points)
    return True


@frozen
class LuckAdjustedResults:
    """Luck-adjusted results of several matches."""

    actual: tuple[float, ...]
    """1 for each match won, 0 for each match lost."""
    adjusted: tuple[float, ...]
    """The same, adjusted for luck."""
    left_out: int
    """Matches that could not be adjusted."""
    own: PlayerStatistics
    """Our statistics over all matches that could be analysed, complete or not."""
    opponents: PlayerStatistics

    @classmethod
    def of(cls, analyses: Iterable[MatchAnalysis | Exception], seat: Seat = Seat.A) -> LuckAdjustedResults:
        """Sum up analyses; errors raised instead of one count as left out."""
        actual, adjusted, left_out = [], [], 0
        figures: list[tuple[PlayerStatistics, PlayerStatistics]] = []
        for analysis in analyses:
            value = luck_adjusted_result(analysis, seat) if isinstance(analysis, MatchAnalysis) else None
            if isinstance(analysis, MatchAnalysis):
                figures.append(analysis.figures)
            if value is None or not isinstance(analysis, MatchAnalysis):
                left_out += 1
                continue
            actual.append(float(analysis.transcript.winner is seat))
            adjusted.append(value)
        sums = sum_statistics(figures)
        return cls(tuple(actual), tuple(adjusted), left_out, sums[seat], sums[seat.other])

    @property
    def luck(self) -> float:
        """Number of matches won by luck; negative if lost by it."""
        return sum(self.actual) - sum(self.adjusted)

    @property
    def won(self) -> tuple[float, float, float] | None:
        """Share of matches won, with Wilson's 95 % interval; None without a match."""
        count = len(self.actual)
        return (statistics.fmean(self.actual), *wilson(round(sum(self.actual)), count)) if count else None

    @property
    def without_luck(self) -> tuple[float, float, float] | None:
        """The same adjusted for luck, with the interval of the normal distribution; None for fewer than two matches."""
        return mean_interval(self.adjusted)


def mean_interval(values: Sequence[float]) -> tuple[float, float, float] | None:
    """Return the mean and its 95 % interval by the normal distribution; None for fewer than two values."""
    if len(values) < 2:
        return None
    mean = statistics.fmean(values)
    half = Z_95 * statistics.stdev(values) / math.sqrt(len(values))
    return mean, mean - half, mean + half
