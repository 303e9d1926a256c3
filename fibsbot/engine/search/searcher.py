"""Searcher: limits and results of a search, and deciding by lookahead which play, and what to do with the cube."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from attrs import define, frozen

from fibsbot.engine import MAX_PLIES
from fibsbot.engine.arrays import ROLL_COUNT, Boards, Outcomes, boards_of, cubeless_equity, other_side, swapped
from fibsbot.engine.bearoff import NO_TABLES
from fibsbot.engine.cube import DEFAULT_EFFICIENCY, THEIRS, CubeVerdict, Efficiency
from fibsbot.engine.evaluator import Evaluator
from fibsbot.engine.generator import successors
from fibsbot.engine.pruner import PlayFilter, Pruner
from fibsbot.engine.search.cache import CACHE_SIZE
from fibsbot.engine.search.cube_lines import OPPONENT_COLUMN, CubeLine, DecisionCubes
from fibsbot.engine.search.lookahead import Clock, Lookahead, OutOfTimeError, SearchFilters, argmin_of_slots
from fibsbot.match import ROLLS, MatchState
from fibsbot.position import Play, Position


@frozen
class SearchLimits:
    """How far a search may go."""

    plies: int = 2
    """Rolls that are looked ahead, at most; 0 is the network alone, as GNU Backgammon counts."""
    seconds: float | None = None
    """Time for the decision: as many plies as fit, the best so far at the deadline."""
    stop_when_decided: bool = False
    """Whether to stop as soon as only one play is left in the running: enough to play, not to study."""

    def __attrs_post_init__(self) -> None:
        """Raise ValueError for limits that are none."""
        if not 0 <= self.plies <= MAX_PLIES:
            raise ValueError(f"expected plies between 0 and {MAX_PLIES}, got {self.plies}")
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"expected a time above 0 seconds, got {self.seconds}")


@frozen
class PlayComparison:
    """Which plays are looked at as deep as the best one, so that their equities can be compared to the last digit."""

    most: int = 5
    """Plays, the best ones, that are looked at so."""
    least: int = 1
    """So many of them however far they are behind the best."""
    margin: float = 0.16
    """The others only if they are no further behind than this (GNU Backgammon's usual filter)."""
    also: Play | None = None
    """A play that is looked at so in any case: the one that was made."""


@frozen(eq=False)
class SearchEffort:
    """What an answer has cost."""

    plies: int
    """How far was looked ahead."""
    evaluations: int
    """Positions that the network or the tables valued."""
    seconds: float


@frozen(eq=False)
class RankedPlay:
    """A play, and what it is worth to who makes it."""

    play: Play
    position: Position
    """What the play leaves, seen by who made it."""
    outcomes: Outcomes
    """The six chances of who made it, shape (6,)."""
    equity: float
    """Worth with the cube, normalised: a single game at the present cube won is 1, lost -1; see `cube.Stakes`."""
    plies: int
    """How far was looked ahead after this play; only plays of equal plies can be compared to the last digit."""

    @property
    def cubeless(self) -> float:
        """Points per game without a cube, gammons counting two and backgammons three."""
        return float(cubeless_equity(self.outcomes))


@frozen(eq=False)
class Ranking:
    """The plays of a roll, the best first; what was looked at deeper stands before what was not."""

    plays: tuple[RankedPlay, ...]
    effort: SearchEffort

    @property
    def best(self) -> RankedPlay:
        """The play to make."""
        return self.plays[0]

    def loss(self, ranked: RankedPlay) -> float:
        """Return what a play gives away against the best one, never below 0."""
        return max(self.best.equity - ranked.equity, 0.0)


@frozen(eq=False)
class CubeAnalysis:
    """What the position is worth before a roll, and what to do with the cube."""

    verdict: CubeVerdict
    """No double, double and take, double and pass; normalised."""
    double_take: float
    """Worth of doubling when the opponent takes and does not beaver, even if the player may not double."""
    outcomes: Outcomes
    """The six chances of the player on roll, shape (6,)."""
    effort: SearchEffort

    @property
    def equity(self) -> float:
        """Worth with the cube, normalised, the player doubling where that gains."""
        return self.verdict.best

    @property
    def cubeless(self) -> float:
        """Points per game without a cube, gammons counting two and backgammons three."""
        return float(cubeless_equity(self.outcomes))


@define
class _SearchedPlay:
    """A play in the running."""

    number: int
    outcomes: Outcomes
    equity: float
    plies: int

    @property
    def rank(self) -> tuple[int, float]:
        """By what plays are compared, the best first: what was looked at deeper has outlasted the others."""
        return (-self.plies, -self.equity)


class Searcher:
    """Looks ahead for decisions; each thread needs its own."""

    def __init__(
        self,
        evaluator: Evaluator,
        pruner: Pruner,
        filters: SearchFilters | None = None,
        efficiency: Efficiency = DEFAULT_EFFICIENCY,
        size: int = CACHE_SIZE,
    ) -> None:
        """Make room; `size` says how many positions are remembered, a power of 2."""
        self.filters = filters or SearchFilters()
        self.lookahead = Lookahead(evaluator, pruner, self.filters, size)
        self._columns = getattr(evaluator, "columns", NO_TABLES)
        self._efficiency = efficiency

    def cubes(self, state: MatchState) -> DecisionCubes:
        """Return the cubes that can come up from a state on."""
        return DecisionCubes.of(state, self._columns, self._efficiency)

    def rank(
        self, state: MatchState, plays: Sequence[Play], limits: SearchLimits, compared: PlayComparison | None = None
    ) -> Ranking:
        """Return the plays, the best first; those that are to be compared are looked at as deep as the best one."""
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
                kept = _kept(entries, self.filters.root[plies - 1], plies - 1)
                if limits.stop_when_decided and len(kept) == 1:
                    break
                self._deepen(cubes, boards, kept, plies)
            if compared and plies:
                wanted = positions.index(state.position.play(compared.also)) if compared.also else -1
                for entry in _behind(entries, compared, plies, wanted):
                    self._look(cubes, boards, [entry], plies)
        except OutOfTimeError:
            pass
        entries.sort(key=lambda entry: entry.rank)
        ranked = tuple(
            RankedPlay(plays[it.number], positions[it.number], it.outcomes, it.equity, it.plies) for it in entries
        )
        return Ranking(ranked, SearchEffort(entries[0].plies, lookahead.evaluations, lookahead.clock.elapsed))

    def equities_by_roll(self, state: MatchState) -> list[float]:
        """Return what each roll is worth with its best play, without lookahead; every play is looked at."""
        lookahead = self._begin(SearchLimits(0))
        cubes = self.cubes(state)
        board = boards_of([state.position])[0]
        left = [swapped(successors(board, high, low)) for high, low in ROLLS]
        boards, slots = np.concatenate(left), np.repeat(np.arange(ROLL_COUNT, dtype=np.int32), [len(it) for it in left])
        found = lookahead.values(cubes, 1, (CubeLine(0, OPPONENT_COLUMN[cubes.start.column]),), boards, 0)
        best = argmin_of_slots(found.equities, slots, ROLL_COUNT)
        return [-float(found.equities[place, 0]) for place in best[:, 0]]

    def analyse_cube(self, state: MatchState, limits: SearchLimits) -> CubeAnalysis:
        """Return what the position is worth before the roll, and what to do with the cube."""
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
        """Return the plays as they look without lookahead."""
        seconds, self.lookahead.clock.seconds = self.lookahead.clock.seconds, math.inf
        entries = [_SearchedPlay(number, np.empty(0), 0.0, 0) for number in range(len(boards))]
        self._look(cubes, boards, entries, 0)
        self.lookahead.clock.seconds = seconds
        return sorted(entries, key=lambda entry: entry.rank)

    def _deepen(self, cubes: DecisionCubes, boards: Boards, entries: list[_SearchedPlay], plies: int) -> None:
        """Look deeper at the plays that are left, the best first; one by one where there is a deadline."""
        step = 1 if plies > 1 and self.lookahead.clock.limited else len(entries)
        for first in range(0, len(entries), step):
            self._look(cubes, boards, entries[first : first + step], plies)
        entries.sort(key=lambda entry: entry.rank)

    def _look(self, cubes: DecisionCubes, boards: Boards, entries: list[_SearchedPlay], plies: int) -> None:
        lines = (CubeLine(0, OPPONENT_COLUMN[cubes.start.column]),)
        found = self.lookahead.values(cubes, 1, lines, boards[[entry.number for entry in entries]], plies)
        for row, entry in enumerate(entries):
            entry.outcomes = other_side(found.outcomes[row])
            entry.equity = -float(found.equities[row, 0])
            entry.plies = plies


def _kept(entries: list[_SearchedPlay], chosen: PlayFilter, plies: int) -> list[_SearchedPlay]:
    """Return the plays that stay in the running, of those that have come so far."""
    running = sorted((entry for entry in entries if entry.plies == plies), key=lambda entry: entry.rank)
    least = running[0].equity - chosen.margin
    return [entry for entry in running[: chosen.most] if entry.equity >= least]


def _behind(entries: list[_SearchedPlay], compared: PlayComparison, plies: int, also: int) -> list[_SearchedPlay]:
    """Return the plays that are to be compared and have not been looked at so deep yet, the most promising first."""
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
