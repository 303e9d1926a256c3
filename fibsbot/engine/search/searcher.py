"""Searcher: plays and cube decisions by lookahead, with the limits and results of a search."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from attrs import define, frozen

from fibsbot.engine import MAX_PLIES
from fibsbot.engine.arrays import ROLL_COUNT, Boards, Outcomes, boards_of, cubeless_equity, other_side, swapped
from fibsbot.engine.bearoff import NO_TABLES
from fibsbot.engine.cube import DEFAULT_EFFICIENCY, THEIRS, CubeVerdict, Efficiency
from fibsbot.engine.generator import successors
from fibsbot.engine.hash_tables import CACHE_SIZE
from fibsbot.engine.network_evaluator import ArrayEvaluator
from fibsbot.engine.pruner import PlayFilter, Pruner
from fibsbot.engine.search.lookahead import (
    OPPONENT_COLUMN,
    Clock,
    CubeLine,
    DecisionCubes,
    Lookahead,
    OutOfTimeError,
    SearchFilters,
    argmin_of_slots,
)
from fibsbot.match import ROLLS, MatchState
from fibsbot.position import Play, Position


@frozen
class SearchLimits:
    """Limits of a search."""

    plies: int = 2
    """The maximum depth in rolls, as GNU Backgammon counts; 0 is the network alone."""
    seconds: float | None = None
    """Time for the decision: depth increases until the deadline, and the result so far is returned."""
    stop_when_decided: bool = False
    """Whether to stop as soon as only one play remains: enough to play, but not to analyse."""

    def __attrs_post_init__(self) -> None:
        """Raise ValueError for invalid limits."""
        if not 0 <= self.plies <= MAX_PLIES:
            raise ValueError(f"expected plies between 0 and {MAX_PLIES}, got {self.plies}")
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"expected a time above 0 seconds, got {self.seconds}")


@frozen
class PlayComparison:
    """The plays that are searched as deep as the best one, so that their equities can be compared."""

    most: int = 5
    """The maximum number of plays, the best ones."""
    least: int = 1
    """The number of plays that are searched in any case."""
    margin: float = 0.16
    """The largest difference to the best play for the others (GNU Backgammon's usual filter)."""
    also: Play | None = None
    """A play that is searched in any case: the one that was made."""


@frozen(eq=False)
class SearchEffort:
    """The cost of a search."""

    plies: int
    """The depth that was reached."""
    evaluations: int
    """Positions that the network or the tables evaluated."""
    seconds: float


@frozen(eq=False)
class RankedPlay:
    """A play and its value to the mover."""

    play: Play
    position: Position
    """The position after the play, seen by the mover."""
    outcomes: Outcomes
    """The six chances of the mover, shape (6,)."""
    equity: float
    """Cubeful equity, normalised: a single game at the present cube won is 1, lost -1; see `cube.Stakes`."""
    plies: int
    """The depth of the search after this play; only plays of equal depth can be compared exactly."""
    games: int = 0
    """The number of games by which it was rolled out after the search."""

    @property
    def cubeless(self) -> float:
        """Points per game without a cube, gammons counting two and backgammons three."""
        return float(cubeless_equity(self.outcomes))


@frozen(eq=False)
class Ranking:
    """The plays of a roll, the best first; plays that were searched deeper come before the others."""

    plays: tuple[RankedPlay, ...]
    effort: SearchEffort

    @property
    def best(self) -> RankedPlay:
        """The play to make."""
        return self.plays[0]

    def loss(self, ranked: RankedPlay) -> float:
        """Return the loss of a play against the best one, never below 0."""
        return max(self.best.equity - ranked.equity, 0.0)


@frozen(eq=False)
class CubeAnalysis:
    """The equity of a position before a roll, and the cube decision."""

    verdict: CubeVerdict
    """No double, double and take, double and pass; normalised."""
    double_take: float
    """Equity of doubling if the opponent takes and does not beaver, even if the player may not double."""
    outcomes: Outcomes
    """The six chances of the player on roll, shape (6,)."""
    effort: SearchEffort
    games: int = 0
    """The number of games by which each action was rolled out after the search."""

    @property
    def equity(self) -> float:
        """Cubeful equity, normalised, with the player doubling where that gains."""
        return self.verdict.best

    @property
    def cubeless(self) -> float:
        """Points per game without a cube, gammons counting two and backgammons three."""
        return float(cubeless_equity(self.outcomes))


@define
class _SearchedPlay:
    """A play that is being searched."""

    number: int
    outcomes: Outcomes
    equity: float
    plies: int
    ends: bool
    """Whether it ends the game."""

    @property
    def rank(self) -> tuple[int, float, bool]:
        """The sort key: deeper searched plays first, then those of higher equity, then those that end the game."""
        return (-self.plies, -self.equity, not self.ends)


class Searcher:
    """Searches for the best play or cube action; each thread needs its own."""

    def __init__(
        self,
        evaluator: ArrayEvaluator,
        pruner: Pruner,
        filters: SearchFilters | None = None,
        efficiency: Efficiency = DEFAULT_EFFICIENCY,
        size: int = CACHE_SIZE,
    ) -> None:
        """`size` is the number of positions in the cache, a power of 2."""
        self.filters = filters or SearchFilters()
        self.lookahead = Lookahead(evaluator, pruner, self.filters, size)
        self._columns = getattr(evaluator, "columns", NO_TABLES)
        self._efficiency = efficiency

    def cubes(self, state: MatchState) -> DecisionCubes:
        """Return the cubes that can occur from a state on."""
        return DecisionCubes.of(state, self._columns, self._efficiency)

    def rank(
        self, state: MatchState, plays: Sequence[Play], limits: SearchLimits, compared: PlayComparison | None = None
    ) -> Ranking:
        """Return the plays, the best first; those to be compared are searched as deep as the best one."""
        if not plays:
            raise ValueError("expected at least one play")
        lookahead = self._begin(limits)
        cubes = self.cubes(state)
        positions = [state.position.play(play) for play in plays]
        boards = swapped(boards_of(positions))
        entries = self._first(cubes, boards)
        plies = 0
        try:
            while plies < limits.plies and not (limits.stop_when_decided and len(entries) == 1):
                plies += 1
                remaining = _passing(entries, self.filters.root[plies - 1], plies - 1)
                if limits.stop_when_decided and len(remaining) == 1:
                    break
                self._deepen(cubes, boards, remaining, plies)
            if compared and plies:
                wanted = positions.index(state.position.play(compared.also)) if compared.also else -1
                for entry in _behind(entries, compared, plies, wanted):
                    self._search(cubes, boards, [entry], plies)
        except OutOfTimeError:
            pass
        entries.sort(key=lambda entry: entry.rank)
        ranked = tuple(
            RankedPlay(plays[play.number], positions[play.number], play.outcomes, play.equity, play.plies)
            for play in entries
        )
        return Ranking(ranked, SearchEffort(entries[0].plies, lookahead.evaluations, lookahead.clock.elapsed))

    def equities_by_roll(self, state: MatchState) -> list[float]:
        """Return the equity of each roll with its best play, without lookahead; every play is evaluated."""
        lookahead = self._begin(SearchLimits(0))
        cubes = self.cubes(state)
        board = boards_of([state.position])[0]
        left = [swapped(successors(board, high, low)) for high, low in ROLLS]
        boards = np.concatenate(left)
        slots = np.repeat(np.arange(ROLL_COUNT, dtype=np.int32), [len(reached) for reached in left])
        found = lookahead.values(cubes, 1, (CubeLine(0, OPPONENT_COLUMN[cubes.start.column]),), boards, 0)
        best = argmin_of_slots(found.equities, slots, ROLL_COUNT)
        return [-float(found.equities[place, 0]) for place in best[:, 0]]

    def analyse_cube(self, state: MatchState, limits: SearchLimits) -> CubeAnalysis:
        """Return the equity of the position before the roll, and the cube decision."""
        lookahead = self._begin(limits)
        cubes = self.cubes(state)
        lines = (cubes.start, CubeLine(1, THEIRS))
        board = boards_of([state.position])
        lookahead.clock.seconds = math.inf  # without lookahead there is no answer at all
        found, reached = lookahead.no_double_values(cubes, 0, lines, board, 0), 0
        lookahead.clock.seconds = _seconds(limits)
        try:
            for plies in range(1, limits.plies + 1):
                found, reached = lookahead.no_double_values(cubes, 0, lines, board, plies), plies
        except OutOfTimeError:
            pass
        no_double, double_take = found.equities[0]
        verdict = CubeVerdict.of(cubes.stakes(0, 0), state.owner, no_double, double_take)
        effort = SearchEffort(reached, lookahead.evaluations, lookahead.clock.elapsed)
        return CubeAnalysis(verdict, float(double_take), found.outcomes[0], effort)

    def _begin(self, limits: SearchLimits) -> Lookahead:
        self.lookahead.clock = Clock(_seconds(limits))
        self.lookahead.evaluations = 0
        return self.lookahead

    def _first(self, cubes: DecisionCubes, boards: Boards) -> list[_SearchedPlay]:
        """Return the plays evaluated without lookahead, the best first."""
        seconds, self.lookahead.clock.seconds = self.lookahead.clock.seconds, math.inf
        ends: list[bool] = np.all(boards >= 0, axis=1).tolist()
        entries = [_SearchedPlay(number, np.empty(0), 0.0, 0, end) for number, end in enumerate(ends)]
        self._search(cubes, boards, entries, 0)
        self.lookahead.clock.seconds = seconds
        return sorted(entries, key=lambda entry: entry.rank)

    def _deepen(self, cubes: DecisionCubes, boards: Boards, entries: list[_SearchedPlay], plies: int) -> None:
        """Search the remaining plays deeper, the best first; one by one if there is a deadline."""
        step = 1 if plies > 1 and self.lookahead.clock.limited else len(entries)
        for first in range(0, len(entries), step):
            self._search(cubes, boards, entries[first : first + step], plies)
        entries.sort(key=lambda entry: entry.rank)

    def _search(self, cubes: DecisionCubes, boards: Boards, entries: list[_SearchedPlay], plies: int) -> None:
        lines = (CubeLine(0, OPPONENT_COLUMN[cubes.start.column]),)
        found = self.lookahead.values(cubes, 1, lines, boards[[entry.number for entry in entries]], plies)
        for row, entry in enumerate(entries):
            entry.outcomes = other_side(found.outcomes[row])
            entry.equity = -float(found.equities[row, 0])
            entry.plies = plies


def _passing(entries: list[_SearchedPlay], play_filter: PlayFilter, plies: int) -> list[_SearchedPlay]:
    """Return the plays to be searched deeper, of those searched to this depth."""
    running = sorted((entry for entry in entries if entry.plies == plies), key=lambda entry: entry.rank)
    least = running[0].equity - play_filter.margin
    return [entry for entry in running[: play_filter.most] if entry.equity >= least]


def _behind(entries: list[_SearchedPlay], compared: PlayComparison, plies: int, also: int) -> list[_SearchedPlay]:
    """Return the plays to be compared that have not been searched to this depth, the most promising first."""
    deepest = max(entry.equity for entry in entries if entry.plies == plies)
    ranked = sorted(entries, key=lambda entry: -entry.equity)
    chosen = [
        entry
        for place, entry in enumerate(ranked)
        if place < compared.least
        or (place < compared.most and entry.equity >= deepest - compared.margin)
        or entry.number == also
    ]
    return [entry for entry in chosen if entry.plies < plies]


def _seconds(limits: SearchLimits) -> float:
    return math.inf if limits.seconds is None else limits.seconds
