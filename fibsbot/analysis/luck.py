"""Luck: what the rolls of a position are worth, how lucky one of them was, and results with the luck taken out.

A roll's luck is its value less that of the average roll, so luck is 0 on average, whoever evaluates. A result less
the luck in it is on average as good as the result, but varies less, the less the better the evaluator.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from attrs import evolve, frozen

from fibsbot.analysis.model import MatchAnalysis, PlayerStatistics, sum_statistics
from fibsbot.analysis.results import Z_95, wilson
from fibsbot.match import Dice, MatchState, Phase
from fibsbot.position import Play, Position
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.evaluator import Evaluator, RollEvaluator

ROLLS: Final[tuple[tuple[Dice, int], ...]] = tuple(
    ((high, low), 1 if high == low else 2) for high in range(1, 7) for low in range(1, high + 1)
)
"""The 21 throws, each with how many of the 36 ways in which two dice can fall show it."""
_ROLL_INDEX: Final[Mapping[Dice | None, int]] = {dice: number for number, (dice, _) in enumerate(ROLLS)}
CACHE_SIZE: Final = 1024
"""Throws and means that are kept in mind: the opening comes again in every game, and whoever dances sees a position
twice."""


@frozen
class ValuedPlays:
    """Every play of a throw, with what each is worth to the player who makes it."""

    plays: tuple[Play, ...]
    """At least one: a dance is the empty play."""
    values: tuple[float, ...]

    @property
    def best(self) -> float:
        """What the best one is worth."""
        return max(self.values)


class RollValues:
    """Values of throws, as a judge sees them; asked again, it remembers."""

    def __init__(self, judge: Evaluator) -> None:
        """Ask this judge."""
        self._judge = judge
        self._rolls = lru_cache(CACHE_SIZE)(judge.value_rolls) if isinstance(judge, RollEvaluator) else None
        self._known = lru_cache(CACHE_SIZE)(self._value)
        self._means = lru_cache(CACHE_SIZE)(self._mean)

    def valued(self, state: MatchState) -> ValuedPlays:
        """Return the plays of the throw that lies on the board; phase MOVE."""
        return self._known(_high_die_first(state))

    def best(self, state: MatchState) -> float:
        """Return what the best play of the throw that lies on the board is worth; phase MOVE."""
        if self._rolls is None:
            return self.valued(state).best
        return self._rolls(evolve(state, dice=None))[_ROLL_INDEX[_high_die_first(state).dice]]

    def plays(self, state: MatchState) -> tuple[Play, ...]:
        """Return the plays of the throw that lies on the board: at least one, as a dance is the empty play."""
        assert state.dice  # noqa: S101 - for the type checker: only states with dice come here
        return legal_plays(state.position, (max(state.dice), min(state.dice))) or (Play(),)

    def mean(self, state: MatchState) -> float:
        """Return what the position is worth on average over all throws, each played best."""
        return self._means(evolve(state, dice=None))

    def opening_mean(self, state: MatchState) -> float:
        """Return what the game is worth before the opening throw, in which either player may begin, without doublets.

        The state is that of the player on turn, who may be either: the position is the same for both.
        """
        return (self._openings(state) - self._openings(state.swapped())) / 2

    def luck(self, state: MatchState, *, opening: bool) -> float:
        """Return how much better the throw on the board is than the average one, for who threw it."""
        return self.best(state) - (self.opening_mean(state) if opening else self.mean(state))

    def _openings(self, state: MatchState) -> float:
        moving = evolve(state, phase=Phase.MOVE)
        best = [self.best(evolve(moving, dice=dice)) for dice, _ in ROLLS if dice[0] != dice[1]]
        return sum(best) / len(best)

    def _mean(self, state: MatchState) -> float:
        return sum(ways * self.best(evolve(state, dice=dice)) for dice, ways in ROLLS) / 36

    def _value(self, state: MatchState) -> ValuedPlays:
        plays = self.plays(state)
        return ValuedPlays(plays, _check_count(self._judge.value_plays(state, plays), len(plays)))


def is_opening(before: GameState) -> bool:
    """Whether the next throw is the opening throw, also of a game that was first seen with it on the board."""
    fresh = before.turns == 0 and before.position == Position.start()
    return before.stage is Stage.OPENING or (before.stage is Stage.MOVE and fresh)


def _high_die_first(state: MatchState) -> MatchState:
    """Return the state with the higher die first: the order changes nothing that a play is worth."""
    if state.dice is None:
        raise ValueError("expected a state with dice on the board")
    return evolve(state, dice=(max(state.dice), min(state.dice)))


def _check_count(values: Sequence[float], count: int) -> tuple[float, ...]:
    if len(values) != count:
        raise ValueError(f"expected the values of {count} plays, got {len(values)}")
    return tuple(values)


def equity_of_points(judge: Evaluator, state: MatchState, points: int) -> float:
    """Return what it is worth, normalised, if the player gets so many points for this game, negative ones lost."""
    if not state.length:
        return points / state.cube
    won, lost = (judge.match_chance(state, sign * state.cube) for sign in (1, -1))
    return (2 * judge.match_chance(state, points) - won - lost) / (won - lost)


def match_chance_per_equity(judge: Evaluator, state: MatchState) -> float:
    """Return how many chances to win the match a normalised equity of 1 is; 0 in an unlimited match."""
    if not state.length:
        return 0.0
    return (judge.match_chance(state, state.cube) - judge.match_chance(state, -state.cube)) / 2


def luck_adjusted_result(study: MatchAnalysis, seat: Seat) -> float | None:
    """Return what a match brought a player, 1 for won and 0 for lost, less the luck of both players.

    It may lie outside of 0 to 1. None for a match that is not over, is unlimited, or was not seen from its first throw
    to its last: the luck that is missing would be missing on one side more than on the other.
    """
    if study.transcript.winner is None or not _is_complete(study):
        return None
    own, theirs = study.figures_of(seat), study.figures_of(seat.other)
    return float(study.transcript.winner is seat) - own.luck_in_chances + theirs.luck_in_chances


def _is_complete(study: MatchAnalysis) -> bool:
    scores = (0, 0)
    for game in study.transcript.games:
        if not game.whole or game.result is None or game.start.scores != scores:
            return False
        a, b = scores
        points = game.result.points
        scores = (a + points, b) if game.result.winner is Seat.A else (a, b + points)
    return True


@frozen
class LuckAdjustedResults:
    """Matches with the luck taken out."""

    actual: tuple[float, ...]
    """1 for each match that was won, 0 for each that was lost."""
    adjusted: tuple[float, ...]
    """The same less the luck of both."""
    left_out: int
    """Matches that could not be adjusted."""
    own: PlayerStatistics
    """Ours, summed up over all that could be studied, whole or not."""
    opponents: PlayerStatistics

    @classmethod
    def of(cls, studies: Iterable[MatchAnalysis | Exception], seat: Seat = Seat.A) -> LuckAdjustedResults:
        """Sum up studies, and what was raised instead of one."""
        actual, adjusted, left_out = [], [], 0
        figures: list[tuple[PlayerStatistics, PlayerStatistics]] = []
        for study in studies:
            value = luck_adjusted_result(study, seat) if isinstance(study, MatchAnalysis) else None
            if isinstance(study, MatchAnalysis):
                figures.append(study.figures)
            if value is None or not isinstance(study, MatchAnalysis):
                left_out += 1
                continue
            actual.append(float(study.transcript.winner is seat))
            adjusted.append(value)
        sums = sum_statistics(figures)
        return cls(tuple(actual), tuple(adjusted), left_out, sums[seat], sums[seat.other])

    @property
    def luck(self) -> float:
        """How many matches luck has won us; negative where it has lost them."""
        return sum(self.actual) - sum(self.adjusted)

    @property
    def won(self) -> tuple[float, float, float] | None:
        """The share that was won, with its 95 % interval by Wilson; None without a match."""
        count = len(self.actual)
        return (statistics.fmean(self.actual), *wilson(round(sum(self.actual)), count)) if count else None

    @property
    def without_luck(self) -> tuple[float, float, float] | None:
        """The same without luck, with its interval by the normal distribution; None for fewer than two matches."""
        return mean_interval(self.adjusted)


def mean_interval(values: Sequence[float]) -> tuple[float, float, float] | None:
    """Return the mean of values and its 95 % interval by the normal distribution; None for fewer than two."""
    if len(values) < 2:
        return None
    mean = statistics.fmean(values)
    half = Z_95 * statistics.stdev(values) / math.sqrt(len(values))
    return mean, mean - half, mean + half
