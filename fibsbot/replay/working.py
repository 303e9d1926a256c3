"""Replays one file: what it holds goes out as text, and what it came to is summed up. Memory does not grow with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from heapq import nsmallest
from pathlib import Path
from time import perf_counter
from typing import Final, TypeAlias

from attrs import define, evolve, field, frozen

from fibsbot.draw.markup import clean
from fibsbot.formats.errors import FormatError
from fibsbot.replay.captures import CaptureError
from fibsbot.replay.deciding import Asked, Decider, Findings, Sides
from fibsbot.replay.happenings import Differed, GameBegan, Happened, Happening, MatchBegan
from fibsbot.replay.opening import Advance, happenings_in
from fibsbot.replay.places import Place, PlaceError, starting_at
from fibsbot.replay.rows import Row, Rows, findings_row
from fibsbot.replay.telling import (
    MoveList,
    asked_in_words,
    difference_in_words,
    gap_in_words,
    names_of,
    where_in_words,
)
from fibsbot.rules.errors import RuleError
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.judge import Judge
from fibsbot.strategies.loader import StrategyError, load
from fibsbot.transcript import Gap, TranscriptError, decisions

Write: TypeAlias = Callable[[str], object]
"""Takes a line without its end."""

MOST_NOTES: Final = 1000
"""Differences and gaps that are kept to be listed at the end."""
WORST: Final = 10
"""Decisions in the table of those that differ most."""


@frozen
class Deciding:
    """Which strategy is asked, about whom, and who says what differences are worth."""

    strategy: str
    judge: str | None = None
    """None: the strategy itself, or DEFAULT_JUDGE where it is no judge."""
    sides: Sides = field(factory=Sides)
    seed: int | None = None
    """For a strategy that leaves things to chance; each file begins with it anew."""

    def load(self) -> tuple[Strategy, Judge]:
        """Make both. Raises StrategyError."""
        options = {} if self.seed is None else {"seed": self.seed}
        strategy = load(self.strategy, **options)
        if self.judge is None and isinstance(strategy, Judge):
            return strategy, strategy
        judge: object = load(self.judge or DEFAULT_JUDGE)
        if not isinstance(judge, Judge):
            raise StrategyError(f"strategy {self.judge!r} is no judge: it does not say what positions are worth")
        return strategy, judge


DEFAULT_JUDGE: Final = "handmade"


@frozen
class Task:
    """What is to be done with each file."""

    as_json: bool = False
    quiet: bool = False
    """Whether nothing is told but totals, differences and gaps."""
    strict: bool = False
    """Whether the first difference ends it."""
    start: Place | None = None
    deciding: Deciding | None = None


@define
class Tally:
    """What was replayed, counted."""

    files: int = 0
    bytes: int = 0
    matches: int = 0
    games: int = 0
    decisions: int = 0
    differences: int = 0
    gaps: int = 0

    def add(self, other: Tally) -> None:
        """Take in what was counted elsewhere."""
        for name in Tally.__annotations__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@frozen
class Worst:
    """A decision that the strategy would have made differently, as the table shows it."""

    cost: float
    file: str
    place: Place
    line: str


@define
class Outcome:
    """What came of a file."""

    path: Path
    tally: Tally = field(factory=Tally)
    seconds: float = 0.0
    problem: str = ""
    """What is wrong with the file, in one line; empty if nothing is."""
    notes: list[str] = field(factory=list)
    """Differences and gaps, MOST_NOTES of them at most."""
    contradiction: str = ""
    """The first difference, where that ends it."""
    findings: Findings | None = None
    worst: list[Worst] = field(factory=list)

    @property
    def empty(self) -> bool:
        """Whether nothing at all was in it."""
        return not self.tally.matches


class _ContradictedError(Exception):
    """A difference has ended it."""


@define
class _Worker:
    """Takes in what happens in one file, and writes what is to be told of it."""

    task: Task
    outcome: Outcome
    write: Write
    decider: Decider | None
    _rows: Rows = field(init=False)
    _list: MoveList = field(factory=MoveList)
    _names: tuple[str, str] = ("?", "?")

    def __attrs_post_init__(self) -> None:
        self._rows = Rows(str(self.outcome.path))

    def count(self, happenings: Iterator[Happening]) -> Iterator[Happening]:
        """Pass on what happens, counted, the first difference of a strict replay not any more."""
        tally = self.outcome.tally
        for happening in happenings:
            match happening:
                case MatchBegan():
                    tally.matches += 1
                case GameBegan():
                    tally.games += 1
                case Happened(step=step):
                    tally.decisions += len(decisions(step))
                    if isinstance(step.entry, Gap):
                        tally.gaps += 1
                        self._note(gap_in_words(happening.match, step, step.entry))
                case Differed():
                    self._differ(happening)
            yield happening

    def _differ(self, differed: Differed) -> None:
        self.outcome.tally.differences += len(differed.differences)
        where = where_in_words(differed)
        if self.task.strict:
            what = "; ".join(map(difference_in_words, differed.differences[:8]))
            self.outcome.contradiction = f"{where}: {what}"
            raise _ContradictedError
        for difference in differed.differences:
            self._note(f"{where}: {difference_in_words(difference)}")

    def _note(self, text: str) -> None:
        if len(self.outcome.notes) < MOST_NOTES:
            self.outcome.notes.append(f"{self.outcome.path}: {text}")

    def tell(self, happening: Happening) -> None:
        """Write what is to be told."""
        if isinstance(happening, MatchBegan):
            players = happening.transcript.players
            self._names = (players[0].name, players[1].name)
            self._shown = names_of(happening.transcript)
        if self.decider:
            for asked in self.decider.take(happening):
                self._tell_asked(asked, self.decider.strategy.name)
        elif self.task.quiet:
            return
        elif self.task.as_json:
            for row in self._rows.of(happening, self._names):
                self._write_row(row)
        else:
            for line in self._list.take(happening):
                self.write(line)

    def end(self) -> None:
        """Write what is still held back, and what the file came to."""
        outcome = self.outcome
        if self.decider:
            outcome.findings = self.decider.findings
        for line in self._list.flush():
            self.write(line)
        if self.task.as_json:
            self._write_row(file_row(outcome))
