"""Replays one source and sums up what came of it, in memory that does not grow with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Final, TypeAlias

from attrs import define, field, frozen

from fibsbot.draw.markup import clean
from fibsbot.formats.errors import FormatError
from fibsbot.replay.deciding import Decider, Deciding, Findings
from fibsbot.replay.errors import CaptureError
from fibsbot.replay.happenings import Differed, GameBegan, GameEnded, Happened, Happening, MatchEnded
from fibsbot.replay.opening import Source, happenings_in
from fibsbot.replay.places import Place, PlaceError, starting_at
from fibsbot.replay.rows import Row, Rows
from fibsbot.replay.tellers import AskedTeller, JsonLines, Silence, Teller, Worst, line_of, list_of
from fibsbot.replay.telling import beginning_in_words, difference_in_words, gap_in_words, where_in_words
from fibsbot.transcript import Gap, TranscriptError, count_decisions

MOST_NOTES: Final = 1000
"""Differences and gaps of a file that are kept to be listed at the end."""


@frozen
class Task:
    """What is to be done with each file."""

    as_json: bool = False
    quiet: bool = False
    """Whether nothing is told but what it came to."""
    strict: bool = False
    """Whether the first difference ends it."""
    titled: bool = False
    """Whether a file's name stands above its move list."""
    start: Place | None = None
    deciding: Deciding | None = None


@define
class Tally:
    """What was replayed, counted."""

    files: int = 0
    bytes: int = 0
    """On the disk."""
    matches: int = 0
    games: int = 0
    decisions: int = 0
    differences: int = 0
    gaps: int = 0

    def add(self, other: Tally) -> None:
        """Take in what was counted elsewhere."""
        for name in Tally.__annotations__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def row(self) -> Row:
        """Return the counts by name."""
        return {name: getattr(self, name) for name in Tally.__annotations__}


@define
class Outcome:
    """What came of a source."""

    source: Source
    tally: Tally = field(factory=Tally)
    seconds: float = 0.0
    problem: str = ""
    """What is wrong with it, in one line; empty if nothing is."""
    contradiction: str = ""
    """The first difference, in one line, where that ends it."""
    notes: list[str] = field(factory=list)
    """Differences and gaps, MOST_NOTES at most."""
    findings: Findings = field(factory=Findings)
    worst: list[Worst] = field(factory=list)

    @property
    def skipped(self) -> bool:
        """Whether it is no capture and nobody has called it one: it was only found in a folder."""
        return bool(self.problem) and not self.source.named and not self.tally.matches


Advance: TypeAlias = Callable[[int], object]
"""Takes the number of bytes that have been read since it was called last; in the end it was told all on the disk."""
Write: TypeAlias = Callable[[str], object]
"""Takes text with its line ends."""


def replay_source(source: Source, task: Task, write: Write, advance: Advance) -> Outcome:
    """Replay a source and write what is to be told of it. Raises StrategyError, and whatever `write` raises."""
    teller = _teller(source, task)

    def tell(happenings: Iterator[Happening]) -> None:
        for happening in happenings:
            for line in teller.take(happening):
                write(f"{line}\n")

    outcome = follow(source, task, tell, advance)
    for line in teller.flush():
        write(f"{line}\n")
    if isinstance(teller, AskedTeller):
        outcome.findings, outcome.worst = teller.decider.findings, teller.worst
        teller.decider.close()
    if task.as_json and not outcome.skipped:
        write(f"{line_of(_file_row(outcome))}\n")
    return outcome


def follow(source: Source, task: Task, use: Callable[[Iterator[Happening]], None], advance: Advance) -> Outcome:
    """Have what happens in a source used. Whatever is wrong with the source is told in the outcome, and not raised."""
    outcome = Outcome(source)
    gauge = _Gauge(advance, source.size)
    began = perf_counter()
    try:
        use(_readable(starting_at(_counted(happenings_in(source, gauge.reach), outcome, task), task.start)))
    except _UnreadableError as error:
        outcome.problem = clean(str(error), 300)
    except _ContradictedError:
        pass
    gauge.reach(source.size)
    outcome.tally.files = 1
    outcome.tally.bytes = source.size
    outcome.seconds = perf_counter() - began
    return outcome


@define
class _Gauge:
    """Tells how far the reading of a file is. A compressed one holds more than the disk, and is soon told as read."""

    advance: Advance
    size: int
    _told: int = 0

    def reach(self, offset: int) -> None:
        """Take how many bytes have been read."""
        now = min(offset, self.size)
        self.advance(now - self._told)
        self._told = now


class _ContradictedError(Exception):
    """A difference has ended it."""


class _UnreadableError(Exception):
    """A source is not what it should be."""


def _readable(happenings: Iterator[Happening]) -> Iterator[Happening]:
    """Pass on what happens. What the reading raises becomes one error, which nobody takes for one of the writing."""
    try:
        yield from happenings
    except OSError as error:
        raise _UnreadableError(error.strerror or str(error)) from error
    except (CaptureError, FormatError, TranscriptError, PlaceError) as error:
        raise _UnreadableError(str(error)) from error


def _teller(source: Source, task: Task) -> Teller:
    if task.deciding:
        decider = Decider(*task.deciding.load(), task.deciding.sides)
        return AskedTeller(decider, Rows(source.name), task.as_json, task.quiet)
    if task.quiet:
        return Silence()
    return JsonLines(Rows(source.name)) if task.as_json else list_of(source.name if task.titled else None)


def _counted(happenings: Iterator[Happening], outcome: Outcome, task: Task) -> Iterator[Happening]:
    """Pass on what happens, counted; the first difference ends a strict replay."""
    tally = outcome.tally
    for happening in happenings:
        match happening:
            case Happened(step=step):
                tally.decisions += count_decisions(step)
                if isinstance(step.entry, Gap):
                    tally.gaps += 1
                    _note(outcome, gap_in_words(happening.match, step, step.entry))
            case MatchEnded():
                tally.matches += 1
            case GameBegan(match=match, game=game) if not game.entries and (missing := beginning_in_words(game)):
                tally.gaps += 1
                _note(outcome, f"match {match}, game {game.number}, turn {game.start.turns + 1}: {missing}")
            case GameEnded():
                tally.games += 1
            case Differed(differences=differences):
                tally.differences += len(differences)
                words = [f"{where_in_words(happening)}: {difference_in_words(it)}" for it in differences[:MOST_NOTES]]
                if task.strict and words:
                    outcome.contradiction = f"{source_name(outcome)}: {words[0]}"
                    raise _ContradictedError
                for text in words:
                    _note(outcome, text)
        yield happening


def source_name(outcome: Outcome) -> str:
    """Return the name of a source as it can be shown."""
    return clean(outcome.source.name)


def _note(outcome: Outcome, text: str) -> None:
    if len(outcome.notes) < MOST_NOTES:
        outcome.notes.append(f"{source_name(outcome)}: {text}")


def _file_row(outcome: Outcome) -> Row:
    problem = outcome.problem or outcome.contradiction or None
    counts = {name: count for name, count in outcome.tally.row().items() if name != "files"}
    return {"kind": "file", "file": outcome.source.name, **counts, "problem": problem}
