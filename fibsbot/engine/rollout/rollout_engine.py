"""Decisions by truncated rollouts: the close candidates of a search are rolled out until one leads or time is up.

What a rollout finds is weighed against what the search found, each by the inverse of its variance: a few games are
noisy, and many are better than the search. The result depends on the seed and the number of games alone, unless the
time runs out before.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Self

import numpy as np
from attrs import define, evolve, field, frozen
from attrs.validators import ge

from fibsbot.engine import DEFAULT_TRIALS
from fibsbot.engine.arrays import Floats64
from fibsbot.engine.cube import CubeVerdict, Stakes
from fibsbot.engine.engine import DEFAULT_LIMITS, Engine
from fibsbot.engine.rollout.driver import standard_error
from fibsbot.engine.rollout.games import (
    BLOCK,
    EQUITY,
    BlockPlayer,
    Candidate,
    RolloutPlan,
    Trials,
    cube_candidates,
    play_candidates,
    whole_blocks,
)
from fibsbot.engine.search import CubeAnalysis, PlayComparison, RankedPlay, Ranking, SearchEffort, SearchLimits
from fibsbot.engine.search.lookahead import Clock, OutOfTimeError
from fibsbot.match import MatchState
from fibsbot.position import Play

SEARCH_SHARE: Final = 0.4
"""The largest share of the time for the search before."""
_TIME_LEFT: Final = 1.2
"""A block begins only if there is still this many times the last block's time."""


@frozen
class RolloutLimits:
    """Limits of a decision by rollouts. `docs/lab/search.md` has what was tried."""

    trials: int = field(default=DEFAULT_TRIALS, converter=whole_blocks, validator=ge(1))
    """The maximum number of games of a candidate; a multiple of 36."""
    truncated: int = 7
    """The number of turns after which a game is evaluated by the network."""
    seed: int = 1
    threads: int = field(default=1, validator=ge(1))
    """The number of candidates that are rolled out at the same time."""
    most: int = 4
    """The maximum number of plays."""
    margin: float = 0.06
    """The largest difference to the best play, by the search, for the others."""
    clear: float = 2.5
    """A candidate is dropped when it is behind by this number of standard errors."""
    play_error: float = 0.012
    """Standard deviation of the error of the difference of two plays, by the search."""
    cube_error: float = 0.03
    """Standard deviation of the error of the equity of a cube action, by the search."""
    cube_margin: float = 0.2
    """Cube actions that are farther apart, by the search, are not rolled out."""


@frozen(eq=False)
class RolloutEngine(Engine):
    """An engine that decides by rollouts where the search leaves a decision close."""

    rollout: RolloutLimits = field(factory=RolloutLimits, kw_only=True)
    _players: threading.local = field(factory=threading.local, init=False, repr=False)

    @classmethod
    def around(cls, engine: Engine, limits: RolloutLimits) -> Self:
        """Return an engine with the networks of another."""
        return cls(engine.evaluator, engine.pruner, rollout=limits)

    def rank(
        self,
        state: MatchState,
        plays: Sequence[Play] | None = None,
        limits: SearchLimits = DEFAULT_LIMITS,
        compared: PlayComparison | None = None,
    ) -> Ranking:
        """Return the plays of a roll, the best first; those that were rolled out come before the others."""
        clock = Clock(math.inf if limits.seconds is None else limits.seconds)
        ranking = super().rank(state, plays, _shortened(limits), compared or PlayComparison(self.rollout.most))
        close = [ranked for ranked in ranking.plays[: self.rollout.most] if self._is_close(ranking, ranked)]
        if len(close) < 2:
            return ranking
        candidates = play_candidates(state, [ranked.play for ranked in close], [""] * len(close))
        rolled = _Race(candidates, [ranked.equity for ranked in close], self.rollout)
        evaluations = self._roll(rolled, clock)
        if not rolled.count:
            return ranking
        estimates = [
            evolve(ranked, equity=float(equity), outcomes=rolled.outcomes(number), games=rolled.games(number))
            for number, (ranked, equity) in enumerate(zip(close, rolled.estimates(), strict=True))
        ]
        return _with_rolled(ranking, estimates, evaluations, clock.elapsed)

    def analyse_cube(self, state: MatchState, limits: SearchLimits = DEFAULT_LIMITS) -> CubeAnalysis:
        """Return the equity of the position before the roll, and the cube decision."""
        clock = Clock(math.inf if limits.seconds is None else limits.seconds)
        analysis = super().analyse_cube(state, _shortened(limits))
        verdict, stakes = analysis.verdict, Stakes.of(state)
        close = min(abs(verdict.no_double - verdict.double), abs(verdict.double_take - verdict.double_pass))
        if close > self.rollout.cube_margin or not verdict.may_double:
            return analysis
        rolled = _CubeRace(cube_candidates(state), [verdict.no_double, analysis.double_take], self.rollout, stakes)
        evaluations = self._roll(rolled, clock)
        if not rolled.count:
            return analysis
        no_double, double_take = map(float, rolled.estimates())
        return CubeAnalysis(
            CubeVerdict.of(stakes, state.owner, no_double, double_take),
            double_take,
            rolled.outcomes(0),
            SearchEffort(analysis.effort.plies, analysis.effort.evaluations + evaluations, clock.elapsed),
            rolled.games(0),
        )

    def _is_close(self, ranking: Ranking, ranked: RankedPlay) -> bool:
        return ranked.plies == ranking.best.plies > 0 and ranking.loss(ranked) <= self.rollout.margin

    def _roll(self, race: _Race, clock: Clock) -> int:
        """Roll candidates out, and return how many positions were evaluated."""
        players = self._players_of_thread()
        before = sum(player.evaluations for player in players)
        with ThreadPoolExecutor(self.rollout.threads) as pool:
            for block in range(self.rollout.trials // BLOCK):
                begun = clock.elapsed
                try:
                    race.play(block, players, pool, clock)
                except OutOfTimeError:
                    break
                if race.is_decided or clock.elapsed + _TIME_LEFT * (clock.elapsed - begun) >= clock.seconds:
                    break
        return sum(player.evaluations for player in players) - before

    def _players_of_thread(self) -> list[BlockPlayer]:
        players: list[BlockPlayer] | None = getattr(self._players, "players", None)
        if players is None:
            players = self._players.players = [BlockPlayer(self) for _ in range(self.rollout.threads)]
        return players


@define(eq=False)
class _Race:
    """Candidates that are rolled out with the same dice; those that are clearly behind are dropped."""

    candidates: Sequence[Candidate]
    searched: Sequence[float]
    """The equities by the search."""
    limits: RolloutLimits
    trials: list[list[Trials]] = field(init=False)
    """The blocks of each candidate."""
    running: list[int] = field(init=False)
    """The numbers of the candidates that are still rolled out."""

    def __attrs_post_init__(self) -> None:
        """Begin without games."""
        self.trials = [[] for _ in self.candidates]
        self.running = [*range(len(self.candidates))]

    @property
    def count(self) -> int:
        """The number of games of the candidates that are still rolled out."""
        return BLOCK * max(map(len, self.trials))

    def games(self, number: int) -> int:
        """Return the number of games of a candidate."""
        return BLOCK * len(self.trials[number])

    def outcomes(self, number: int) -> Floats64:
        """Return the six chances of a candidate by its games, shape (6,)."""
        return np.asarray(np.concatenate(self.trials[number])[:, :EQUITY].mean(axis=0).clip(0, 1))

    def play(self, block: int, players: Sequence[BlockPlayer], pool: ThreadPoolExecutor, clock: Clock) -> None:
        """Play a block of games of each candidate; raise OutOfTimeError if that takes too long."""
        plan = RolloutPlan(self.limits.trials, self.limits.truncated, seed=self.limits.seed)

        def play_some(number: int) -> list[Trials]:
            mine = [self.candidates[index] for index in self.running[number :: len(players)]]
            return players[number].play(mine, plan, block, clock)

        played = [*pool.map(play_some, range(len(players)))]
        for place, candidate in enumerate(self.running):
            self.trials[candidate].append(played[place % len(players)][place // len(players)])
        self.drop()

    def drop(self) -> None:
        """Drop the candidates that are clearly behind."""
        estimates = self.estimates()
        best = max(self.running, key=lambda index: float(estimates[index]))
        self.running = [
            index
            for index in self.running
            if index == best or self._behind(best, index)[0] <= self._clearly(best, index)
        ]

    def _clearly(self, best: int, other: int) -> float:
        return self.limits.clear * self._behind(best, other)[1]

    @property
    def is_decided(self) -> bool:
        """Whether nothing is left to find out."""
        return len(self.running) < 2

    def estimates(self) -> Floats64:
        """Return the equities of all candidates: those of the first one, and the differences to it."""
        first = _weighed(self._equities(0), self.searched[0], self.limits.play_error)[0]
        return np.array([first - self._behind(0, number)[0] for number in range(len(self.candidates))])

    def _equities(self, number: int) -> Floats64:
        return np.concatenate(self.trials[number])[:, EQUITY]

    def _behind(self, one: int, other: int) -> tuple[float, float]:
        """Return by how much the second is behind the first, and the standard error, from the games of both."""
        if one == other:
            return 0.0, 0.0
        both = min(self.games(one), self.games(other))
        differences = self._equities(one)[:both] - self._equities(other)[:both]
        return _weighed(differences, self.searched[one] - self.searched[other], self.limits.play_error)


@define(eq=False)
class _CubeRace(_Race):
    """No double, and double and take."""

    stakes: Stakes = field(kw_only=False)

    def drop(self) -> None:
        """Drop both when neither the double nor the answer is close any more."""
        (no_double, double_take), passed = self.estimates(), self.stakes.pass_value
        answer = abs(double_take - passed)
        doubled = abs(no_double - min(float(self.stakes.take_value(double_take)), passed))
        error = _weighed(self._equities(1) - self._equities(0), 0.0, self.limits.cube_error)[1]
        if answer > self.limits.clear * self._errors()[1] and doubled > self.limits.clear * error:
            self.running = []

    def estimates(self) -> Floats64:
        """Return the equities of both."""
        return np.array([self._weighed(number)[0] for number in range(2)])

    def _errors(self) -> list[float]:
        return [self._weighed(number)[1] for number in range(2)]

    def _weighed(self, number: int) -> tuple[float, float]:
        return _weighed(self._equities(number), self.searched[number], self.limits.cube_error)


def _weighed(trials: Floats64, searched: float, deviation: float) -> tuple[float, float]:
    """Return the mean of trials and of what the search found, by the inverse of their variances, and its error."""
    rolled, found = 1 / max(float(standard_error(trials)), 1e-9) ** 2, 1 / deviation**2
    return (rolled * float(trials.mean()) + found * searched) / (rolled + found), 1 / math.sqrt(rolled + found)


def _shortened(limits: SearchLimits) -> SearchLimits:
    """Return the limits of the search before."""
    return limits if limits.seconds is None else evolve(limits, seconds=SEARCH_SHARE * limits.seconds)


def _with_rolled(ranking: Ranking, rolled: Sequence[RankedPlay], evaluations: int, seconds: float) -> Ranking:
    """Return a ranking in which some plays were rolled out."""
    known = {ranked.play for ranked in rolled}
    first = sorted(rolled, key=lambda ranked: -ranked.equity)
    effort = ranking.effort
    return Ranking(
        (*first, *(ranked for ranked in ranking.plays if ranked.play not in known)),
        SearchEffort(effort.plies, effort.evaluations + evaluations, seconds),
    )
