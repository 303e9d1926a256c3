"""Replays files: find them, turn each into events, write and count these, one after another or on all cores.

Output comes in the order of the files. Memory use does not grow with them.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from time import perf_counter
from typing import Any, Final, TypeAlias

from attrs import define, evolve, field, frozen

from fibsbot.draw.markup import clean
from fibsbot.formats import FormatError
from fibsbot.processes import exit_with_parent, signals_held_back, usable_cores
from fibsbot.replay.captures import Reach, read_captures
from fibsbot.replay.comparison import ComparisonOptions, ComparisonTotals, StrategyComparison
from fibsbot.replay.event_text import difference_place_text, difference_text, gap_text, missing_beginning_text
from fibsbot.replay.events import (
    DifferenceFound,
    EntryAdded,
    GameBegan,
    GameEnded,
    MatchBegan,
    MatchEnded,
    MatchEvent,
    Place,
    PlaceError,
    events_from,
)
from fibsbot.replay.match_files import CaptureError, find_format, group_log_parts, read_match_file
from fibsbot.replay.transcriber import events_of_capture
from fibsbot.replay.writers import (
    ComparisonWriter,
    EventWriter,
    JsonRows,
    JsonWriter,
    NullWriter,
    Row,
    WorstDecision,
    json_line,
    move_list_writer,
)
from fibsbot.transcript import Gap, Transcript, TranscriptError, count_decisions, walk


@frozen
class Source:
    """A file that is replayed, or several that continue each other."""

    paths: tuple[Path, ...]
    named: bool = True
    """Whether it was asked for by its own name; else it was found in a folder."""

    @property
    def name(self) -> str:
        """What it is called: as its first file."""
        return str(self.paths[0])

    @property
    def size(self) -> int:
        """Bytes on the disk; 0 for what has no size, as a pipe."""
        return sum(_size(path) for path in self.paths)


def find_sources(paths: Iterable[Path]) -> list[Source]:
    """List what is to be replayed, folders with all that is below them by name; the parts of a log are one source."""
    named = dict.fromkeys(path for path in paths if not path.is_dir())
    found = list(named)
    for path in paths:
        if path.is_dir():
            found += [it for it in _files_below(path) if it not in named]
    return [Source(group, named=group[0] in named) for group in group_log_parts(dict.fromkeys(found))]


def _files_below(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders.sort()
        paths = (Path(place, name) for name in sorted(files))
        yield from (path for path in paths if path.is_file())


def events_in(source: Source, reach: Reach) -> Iterator[MatchEvent]:
    """Yield what happens in a source.

    Raises CaptureError or FormatError where it is not what it should be, TranscriptError where a match breaks the
    rules, OSError where it cannot be read.
    """
    kind = find_format(source.paths[0]) if len(source.paths) == 1 else None
    if kind is None:
        yield from events_of_capture(read_captures(source.paths, reach))
        return
    for number, transcript in enumerate(read_match_file(source.paths[0], kind), 1):
        yield from events_of_transcript(number, transcript)


def events_of_transcript(match: int, transcript: Transcript) -> Iterator[MatchEvent]:
    """Yield what happens in a match on paper. Raises TranscriptError where it breaks the rules."""
    yield MatchBegan(match, evolve(transcript, games=(), ended=None), transcript.started)
    for game in transcript.games:
        yield GameBegan(match, evolve(game, entries=(), result=None))
        yield from (EntryAdded(match, step) for step in walk(game))
        yield GameEnded(match, game)
    yield MatchEnded(match, transcript)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


MAX_NOTES: Final = 1000
"""Differences and gaps of a file that are kept to be listed at the end."""


@frozen
class ReplayTask:
    """What is to be done with each file."""

    as_json: bool = False
    quiet: bool = False
    """Whether nothing is told but what it came to."""
    strict: bool = False
    """Whether the first difference ends it."""
    titled: bool = False
    """Whether a file's name stands above its move list."""
    start: Place | None = None
    deciding: ComparisonOptions | None = None


@define
class ReplayCounts:
    """What was replayed, counted."""

    files: int = 0
    bytes: int = 0
    """On the disk."""
    matches: int = 0
    games: int = 0
    decisions: int = 0
    differences: int = 0
    gaps: int = 0

    def add(self, other: ReplayCounts) -> None:
        """Take in what was counted elsewhere."""
        for name in ReplayCounts.__annotations__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def row(self) -> Row:
        """Return the counts by name."""
        return {name: getattr(self, name) for name in ReplayCounts.__annotations__}


@define
class SourceResult:
    """What came of a source."""

    source: Source
    tally: ReplayCounts = field(factory=ReplayCounts)
    seconds: float = 0.0
    problem: str = ""
    """What is wrong with it, in one line; empty if nothing is."""
    contradiction: str = ""
    """The first difference, in one line, where that ends it."""
    notes: list[str] = field(factory=list)
    """Differences and gaps, MAX_NOTES at most."""
    findings: ComparisonTotals = field(factory=ComparisonTotals)
    worst: list[WorstDecision] = field(factory=list)

    @property
    def skipped(self) -> bool:
        """Whether it is no capture and nobody has called it one: it was only found in a folder."""
        return bool(self.problem) and not self.source.named and not self.tally.matches


BytesCallback: TypeAlias = Callable[[int], object]
"""Takes the number of bytes that have been read since it was called last; in the end it was told all on the disk."""
TextSink: TypeAlias = Callable[[str], object]
"""Takes text with its line ends."""


def replay_source(source: Source, task: ReplayTask, write: TextSink, advance: BytesCallback) -> SourceResult:
    """Replay a source and write what is to be told of it. Raises StrategyError, and whatever `write` raises."""
    teller = _writer_for(source, task)

    def tell(happenings: Iterator[MatchEvent]) -> None:
        for happening in happenings:
            for line in teller.take(happening):
                write(f"{line}\n")

    outcome = process_source(source, task, tell, advance)
    for line in teller.flush():
        write(f"{line}\n")
    if isinstance(teller, ComparisonWriter):
        outcome.findings, outcome.worst = teller.decider.findings, teller.worst
        teller.decider.close()
    if task.as_json and not outcome.skipped:
        write(f"{json_line(_file_row(outcome))}\n")
    return outcome


def process_source(
    source: Source, task: ReplayTask, use: Callable[[Iterator[MatchEvent]], None], advance: BytesCallback
) -> SourceResult:
    """Have what happens in a source used. Whatever is wrong with the source is told in the outcome, and not raised."""
    outcome = SourceResult(source)
    gauge = _SourceProgress(advance, source.size)
    began = perf_counter()
    try:
        use(_with_one_error(events_from(_counted(events_in(source, gauge.reach), outcome, task), task.start)))
    except _UnreadableError as error:
        outcome.problem = clean(str(error), 300)
    except _StrictDifferenceError:
        pass
    gauge.reach(source.size)
    outcome.tally.files = 1
    outcome.tally.bytes = source.size
    outcome.seconds = perf_counter() - began
    return outcome


@define
class _SourceProgress:
    """Tells how far the reading of a file is. A compressed one holds more than the disk, and is soon told as read."""

    advance: BytesCallback
    size: int
    _told: int = 0

    def reach(self, offset: int) -> None:
        """Take how many bytes have been read."""
        now = min(offset, self.size)
        self.advance(now - self._told)
        self._told = now


class _StrictDifferenceError(Exception):
    """A difference has ended it."""


class _UnreadableError(Exception):
    """A source is not what it should be."""


def _with_one_error(happenings: Iterator[MatchEvent]) -> Iterator[MatchEvent]:
    """Pass on what happens. What the reading raises becomes one error, which nobody takes for one of the writing."""
    try:
        yield from happenings
    except OSError as error:
        raise _UnreadableError(error.strerror or str(error)) from error
    except (CaptureError, FormatError, TranscriptError, PlaceError) as error:
        raise _UnreadableError(str(error)) from error


def _writer_for(source: Source, task: ReplayTask) -> EventWriter:
    if task.deciding:
        decider = StrategyComparison(*task.deciding.load(), task.deciding.sides)
        return ComparisonWriter(decider, JsonRows(source.name), task.as_json, task.quiet)
    if task.quiet:
        return NullWriter()
    return JsonWriter(JsonRows(source.name)) if task.as_json else move_list_writer(source.name if task.titled else None)


def _counted(happenings: Iterator[MatchEvent], outcome: SourceResult, task: ReplayTask) -> Iterator[MatchEvent]:
    """Pass on what happens, counted; the first difference ends a strict replay."""
    tally = outcome.tally
    for happening in happenings:
        match happening:
            case EntryAdded(step=step):
                tally.decisions += count_decisions(step)
                if isinstance(step.entry, Gap):
                    tally.gaps += 1
                    _add_note(outcome, gap_text(happening.match, step, step.entry))
            case MatchEnded():
                tally.matches += 1
            case GameBegan(match=match, game=game) if not game.entries and (missing := missing_beginning_text(game)):
                tally.gaps += 1
                _add_note(outcome, f"match {match}, game {game.number}, turn {game.start.turns + 1}: {missing}")
            case GameEnded():
                tally.games += 1
            case DifferenceFound(differences=differences):
                tally.differences += len(differences)
                words = [f"{difference_place_text(happening)}: {difference_text(it)}" for it in differences[:MAX_NOTES]]
                if task.strict and words:
                    outcome.contradiction = f"{shown_source_name(outcome)}: {words[0]}"
                    raise _StrictDifferenceError
                for text in words:
                    _add_note(outcome, text)
        yield happening


def shown_source_name(outcome: SourceResult) -> str:
    """Return the name of a source as it can be shown."""
    return clean(outcome.source.name)


def _add_note(outcome: SourceResult, text: str) -> None:
    if len(outcome.notes) < MAX_NOTES:
        outcome.notes.append(f"{shown_source_name(outcome)}: {text}")


def _file_row(outcome: SourceResult) -> Row:
    problem = outcome.problem or outcome.contradiction or None
    counts = {name: count for name, count in outcome.tally.row().items() if name != "files"}
    return {"kind": "file", "file": outcome.source.name, **counts, "problem": problem}


MAX_FINISHED_AHEAD: Final = 64
"""Sources that may be finished before the one whose turn it is to be told."""
BYTES_WORTH_A_PROCESS: Final = 2_000_000
"""Bytes that are replayed before another process would have started."""
_PROGRESS_SECONDS: Final = 0.2
"""Seconds between two looks at how far the workers are."""


class WorkersLostError(RuntimeError):
    """A process that replayed files is gone: killed, or out of memory."""


def replay_all(
    sources: Sequence[Source], task: ReplayTask, write: TextSink, advance: BytesCallback, jobs: int | None = None
) -> Iterator[SourceResult]:
    """Replay all, and yield what came of each, in their order, after its text was written.

    `jobs` processes work at a time; None is as many as there are cores and work for. Raises StrategyError, and
    WorkersLostError if a process dies.
    """
    jobs = min(jobs or _useful_jobs(sources, task), len(sources))
    if jobs > 1:
        with tempfile.TemporaryDirectory(prefix="fibsbot-replay-") as folder:
            yield from _in_parallel(sources, task, write, advance, jobs, Path(folder))
        return
    for source in sources:
        yield replay_source(source, task, write, advance)


def _useful_jobs(sources: Sequence[Source], task: ReplayTask) -> int:
    """Return how many processes are worth their start."""
    return (
        usable_cores()
        if task.deciding
        else min(usable_cores(), sum(source.size for source in sources) // BYTES_WORTH_A_PROCESS)
    )


def _in_parallel(  # noqa: PLR0913, PLR0917 - what replay_all was given, and where the texts wait
    sources: Sequence[Source], task: ReplayTask, write: TextSink, advance: BytesCallback, jobs: int, folder: Path
) -> Iterator[SourceResult]:
    context = multiprocessing.get_context("spawn")  # not forked: the progress bar has a thread of its own
    meter = _WorkerProgress(context.Value("q", 0), advance)
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        jobs, mp_context=context, initializer=_start_worker, initargs=(meter.done, gc.get_threshold())
    )
    waiting: deque[tuple[Path, Future[SourceResult]]] = deque()
    try:
        for number, source in enumerate(sources):
            text = folder / str(number)
            with signals_held_back(signal.SIGINT):  # as long as there are fewer than `jobs`, it starts a process
                waiting.append((text, pool.submit(_replay_into, source, task, text)))
            if len(waiting) == MAX_FINISHED_AHEAD:
                yield _write_result(*waiting.popleft(), write, meter)
        while waiting:
            yield _write_result(*waiting.popleft(), write, meter)
    except BrokenProcessPool:
        raise WorkersLostError("a process that replayed files has died; it may have been out of memory") from None
    except BaseException:
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()  # nobody waits for what they still do
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _write_result(text: Path, future: Future[SourceResult], write: TextSink, meter: _WorkerProgress) -> SourceResult:
    """Wait for what came of a source, and write its text."""
    while not future.done():
        with contextlib.suppress(TimeoutError):
            future.exception(_PROGRESS_SECONDS)
        meter.look()
    outcome = future.result()
    with text.open(encoding="utf-8", newline="") as file:
        for chunk in iter(lambda: file.read(2**16), ""):
            write(chunk)
    text.unlink()
    return outcome


@define
class _WorkerProgress:
    """How many bytes the workers have read, told as it grows."""

    done: Any
    """A number that all processes share."""
    advance: BytesCallback
    _told: int = 0

    def look(self) -> None:
        now = self.done.value
        self.advance(now - self._told)
        self._told = now


# -- in a worker ----------------------------------------------------------------------------------------------------

_done: Any = None
"""The number that this worker adds to."""


def _start_worker(done: Any, thresholds: tuple[int, int, int]) -> None:
    """Prepare a worker: it ends with the process that started it, however that one ends.

    It looks for garbage as seldom as that one: Python's own thresholds cost a replay a tenth of its time.
    """
    global _done  # noqa: PLW0603 - a pool hands its workers things in no other way
    gc.set_threshold(*thresholds)
    _done = done
    exit_with_parent()


def _replay_into(source: Source, task: ReplayTask, text: Path) -> SourceResult:
    """Replay a source, its text going to a file: nobody knows how long it becomes."""
    with text.open("w", encoding="utf-8", newline="") as file:
        return replay_source(source, task, file.write, _add_bytes)


def _add_bytes(count: int) -> None:
    with _done.get_lock():
        _done.value += count
