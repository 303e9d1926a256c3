"""Deciding by looking ahead: which play, and what to do with the cube."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from attrs import define

from fibsbot.engine.bearoff import NO_COLUMNS
from fibsbot.engine.boards import Boards, boards_of, swapped
from fibsbot.engine.cube import DEFAULT, LOST, Efficiency, Verdict
from fibsbot.engine.evaluator import Evaluator
from fibsbot.engine.expanding import Filter
from fibsbot.engine.generator import successors
from fibsbot.engine.outcomes import Outcomes, other_side
from fibsbot.engine.pruner import Pruner
from fibsbot.engine.rolls import DICE, ROLLS
from fibsbot.engine.search.answers import Compared, Effort, Limits, RankedPlay, Ranking, Reading
from fibsbot.engine.search.cache import SIZE
from fibsbot.engine.search.clock import Clock, OutOfTimeError
from fibsbot.engine.search.filters import Filters
from fibsbot.engine.search.lines import OTHER, Cubes, Line
from fibsbot.engine.search.looking import Looker, least_of_slots
from fibsbot.match import MatchState
from fibsbot.position import Play


@define
class _Entry:
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
        filters: Filters | None = None,
        efficiency: Efficiency = DEFAULT,
        size: int = SIZE,
    ) -> None:
        """Make room; `size` says how many positions are remembered, a power of 2."""
        self.filters = filters or Filters()
        self.looker = Looker(evaluator, pruner, self.filters, size)
        self._columns = getattr(evaluator, "columns", NO_COLUMNS)
        self._efficiency = efficiency

    def cubes(self, state: MatchState) -> Cubes:
        """Return the cubes that can come up from a state on."""
        return Cubes.of(state, self._columns, self._efficiency)

    def rank(
        self, state: MatchState, plays: Sequence[Play], limits: Limits, compared: Compared | None = None
    ) -> Ranking:
        """Return the plays, the best first; those that are to be compared are looked at as deep as the best one."""
        if not plays:
            raise ValueError("expected at least one play")
        looker = self._begin(limits)
        cubes = self.cubes(state)
        positions = [state.position.play(play) for play in plays]
        boards = swapped(boards_of(positions))
        entries = self._first(cubes, boards)
        plies = 0
        try:
            while plies < limits.plies and not (limits.decided and len(entries) == 1):
                plies += 1
                kept = _kept(entries, self.filters.decided[plies - 1], plies - 1)
                if limits.decided and len(kept) == 1:
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
        return Ranking(ranked, Effort(entries[0].plies, looker.evaluations, looker.clock.elapsed))

    def value_rolls(self, state: MatchState) -> list[float]:
        """Return what each roll is worth with its best play, without looking ahead; every play is looked at."""
        looker = self._begin(Limits(0))
        cubes = self.cubes(state)
        board = boards_of([state.position])[0]
        left = [swapped(successors(board, high, low)) for high, low in DICE]
        boards, slots = np.concatenate(left), np.repeat(np.arange(ROLLS, dtype=np.int32), [len(it) for it in left])
        found = looker.values(cubes, 1, (Line(0, OTHER[cubes.start.column]),), boards, 0)
        best = least_of_slots(found.worths, slots, ROLLS)
        return [-float(found.worths[place, 0]) for place in best[:, 0]]

    def read(self, state: MatchState, limits: Limits) -> Reading:
        """Return what the position is worth before the throw, and what to do with the cube."""
        looker = self._begin(limits)
        cubes = self.cubes(state)
        lines = (cubes.start, Line(1, LOST))
        board = boards_of([state.position])
        looker.clock.seconds = math.inf  # without looking ahead there is no answer at all
        found, reached = looker.held(cubes, 0, lines, board, 0), 0
        looker.clock.seconds = _seconds(limits)
        try:
            for plies in range(1, limits.plies + 1):
                found, reached = looker.held(cubes, 0, lines, board, plies), plies
        except OutOfTimeError:
            pass
        no_double, double_take = found.worths[0]
        verdict = Verdict.of(cubes.stakes(0, 0), state.owner, no_double, double_take)
        effort = Effort(reached, looker.evaluations, looker.clock.elapsed)
        return Reading(verdict, float(double_take), found.outcomes[0], effort)

    def _begin(self, limits: Limits) -> Looker:
        self.looker.clock = Clock(_seconds(limits))
        self.looker.evaluations = 0
        return self.looker

    def _first(self, cubes: Cubes, boards: Boards) -> list[_Entry]:
        """Return the plays as they look without looking ahead."""
        seconds, self.looker.clock.seconds = self.looker.clock.seconds, math.inf
        entries = [_Entry(number, np.empty(0), 0.0, 0) for number in range(len(boards))]
        self._look(cubes, boards, entries, 0)
        self.looker.clock.seconds = seconds
        return sorted(entries, key=lambda entry: entry.rank)

    def _deepen(self, cubes: Cubes, boards: Boards, entries: list[_Entry], plies: int) -> None:
        """Look deeper at the plays that are left, the best first; one by one where there is a deadline."""
        step = 1 if plies > 1 and self.looker.clock.limited else len(entries)
        for first in range(0, len(entries), step):
            self._look(cubes, boards, entries[first : first + step], plies)
        entries.sort(key=lambda entry: entry.rank)

    def _look(self, cubes: Cubes, boards: Boards, entries: list[_Entry], plies: int) -> None:
        lines = (Line(0, OTHER[cubes.start.column]),)
        found = self.looker.values(cubes, 1, lines, boards[[entry.number for entry in entries]], plies)
        for row, entry in enumerate(entries):
            entry.outcomes = other_side(found.outcomes[row])
            entry.equity = -float(found.worths[row, 0])
            entry.plies = plies


def _kept(entries: list[_Entry], chosen: Filter, plies: int) -> list[_Entry]:
    """Return the plays that stay in the running, of those that have come so far."""
    running = sorted((entry for entry in entries if entry.plies == plies), key=lambda entry: entry.rank)
    least = running[0].equity - chosen.margin
    return [entry for entry in running[: chosen.most] if entry.equity >= least]


def _behind(entries: list[_Entry], compared: Compared, plies: int, also: int) -> list[_Entry]:
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


def _seconds(limits: Limits) -> float:
    return math.inf if limits.seconds is None else limits.seconds
