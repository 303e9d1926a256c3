"""Replays files: the events of each are written and counted, one file after another or by workers.

Workers of this machine read the files and write their output into files, as it may be too long for memory; those of
others are sent the content of the files, and return their output.

Output comes in the order of the files. Memory use does not grow with them.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import tempfile
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from time import perf_counter
from typing import Final, TypeAlias

from attrs import asdict, define, evolve, field, frozen

from fibsbot.drawing.markup import clean
from fibsbot.formats import FormatError
from fibsbot.replay.comparison import ComparisonOptions, ComparisonTotals, StrategyComparison, Totals
from fibsbot.replay.event_text import difference_place_text, difference_text, gap_text, missing_beginning_text
from fibsbot.replay.events import (
    DifferenceFound,
    EntryAdded,
    GameBegan,
    GameEnded,
    MatchEnded,
    MatchEvent,
    events_from,
)
from fibsbot.replay.log_reading import CaptureError
from fibsbot.replay.match_files import ReplaySource, SentContent, events_in
from fibsbot.replay.places import Place, PlaceError
from fibsbot.replay.writers import (
    ComparisonWriter,
    EventWriter,
    JsonRows,
    JsonWriter,
    Row,
    WorstDecision,
    json_line,
    move_list_writer,
)
from fibsbot.strategies.loader import check_portable
from fibsbot.transcript import Gap, TranscriptError, count_decisions
from fibsbot.workers.pool import InProcessPool, LocalPool, Piece, PoolProgress, ProgressCallback, WorkerPool
from fibsbot.workers.processes import usable_cores

MAX_NOTES: Final = 1000
"""Differences and gaps of a file that are kept to be listed at the end."""


@frozen
class ReplayTask:
    """The options that apply to each source."""

    as_json: bool = False
    quiet: bool = False
    """Whether only the summary is printed."""
    strict: bool = False
    """Whether the replay ends at the first difference."""
    with_file_name: bool = False
    """Whether each move list is preceded by the file's name."""
    start: Place | None = None
    comparison: ComparisonOptions | None = None


@define
class ReplayCounts(Totals):
    """Counts of a replay."""

    files: int = 0
    bytes: int = 0
    """On disk."""
    matches: int = 0
    games: int = 0
    decisions: int = 0
    differences: int = 0
    gaps: int = 0

    def row(self) -> Row:
        """Return the counts by name."""
        return asdict(self)


@define
class SourceResult:
    """The result of replaying a source."""

    source: ReplaySource
    counts: ReplayCounts = field(factory=ReplayCounts)
    seconds: float = 0.0
    error: str = ""
    """Why it could not be read, in one line; empty if it could."""
    first_difference: str = ""
    """The first difference, in one line, if the replay ended there."""
    notes: list[str] = field(factory=list)
    """Differences and gaps, MAX_NOTES at most."""
    totals: ComparisonTotals = field(factory=ComparisonTotals)
    worst: list[WorstDecision] = field(factory=list)

    @property
    def skipped(self) -> bool:
        """Whether it holds no match and was only found in a folder."""
        return bool(self.error) and not self.source.is_explicit and not self.counts.matches


BytesCallback: TypeAlias = Callable[[int], object]
"""Called with the bytes read since the last call; they add up to the size on disk."""
TextSink: TypeAlias = Callable[[str], object]
"""Called with text, line ends included."""


def replay_source(source: ReplaySource, task: ReplayTask, write: TextSink, on_bytes: BytesCallback) -> SourceResult:
    """Replay a source and write its output. Raises StrategyError, and whatever `write` raises."""
    writer = _writer_for(source, task)

    def write_events(events: Iterator[MatchEvent]) -> None:
        if writer is None:
            deque(events, maxlen=0)
            return
        for event in events:
            for line in writer.lines_for(event):
                write(f"{line}\n")

    result = process_source(source, task, write_events, on_bytes, logged_details=writer is not None)
    for line in writer.flush() if writer is not None else ():
        write(f"{line}\n")
    if isinstance(writer, ComparisonWriter):
        result.totals, result.worst = writer.comparison.totals, writer.worst
        writer.comparison.close()
    if task.as_json and not result.skipped:
        write(f"{json_line(_file_row(result))}\n")
    return result


def process_source(
    source: ReplaySource,
    task: ReplayTask,
    consume: Callable[[Iterator[MatchEvent]], None],
    on_bytes: BytesCallback,
    *,
    logged_details: bool = True,
) -> SourceResult:
    """Pass the events of a source to `consume`. An error of the source is part of the result, and not raised."""
    result = SourceResult(source)
    progress = _SourceProgress(on_bytes, source.size)
    started = perf_counter()
    events = events_in(source, progress.on_offset, logged_details=logged_details)
    try:
        consume(_with_one_error(events_from(_counted(events, result, task), task.start)))
    except _UnreadableError as error:
        result.error = clean(str(error), 300)
    except _StrictDifferenceError:
        pass
    progress.on_offset(source.size)
    result.counts.files = 1
    result.counts.bytes = source.size
    result.seconds = perf_counter() - started
    return result


@define
class _SourceProgress:
    """Reports how much of a file has been read; a compressed one counts as read once its size on disk is reached."""

    on_bytes: BytesCallback
    size: int
    _reported: int = 0

    def on_offset(self, offset: int) -> None:
        """Report that the reading has come to this offset."""
        now = min(offset, self.size)
        self.on_bytes(now - self._reported)
        self._reported = now


class _StrictDifferenceError(Exception):
    """The first difference of a strict replay."""


class _UnreadableError(Exception):
    """A source cannot be read."""


def _with_one_error(events: Iterator[MatchEvent]) -> Iterator[MatchEvent]:
    """Pass events on; errors of reading become one class, to tell them from errors of writing."""
    try:
        yield from events
    except OSError as error:
        raise _UnreadableError(error.strerror or str(error)) from error
    except (CaptureError, FormatError, TranscriptError, PlaceError) as error:
        raise _UnreadableError(str(error)) from error


def _writer_for(source: ReplaySource, task: ReplayTask) -> EventWriter | None:
    """Return what writes the events of a source; None if they are only counted."""
    if task.comparison:
        comparison = StrategyComparison(*task.comparison.load(), task.comparison.selection)
        return ComparisonWriter(comparison, JsonRows(source.name), task.as_json, task.quiet)
    if task.quiet:
        return None
    return (
        JsonWriter(JsonRows(source.name))
        if task.as_json
        else move_list_writer(source.name if task.with_file_name else None)
    )


def _counted(events: Iterator[MatchEvent], result: SourceResult, task: ReplayTask) -> Iterator[MatchEvent]:
    """Count events and pass them on; the first difference ends a strict replay."""
    counts = result.counts
    for event in events:
        match event:
            case EntryAdded(step=step):
                counts.decisions += count_decisions(step)
                if isinstance(step.entry, Gap):
                    counts.gaps += 1
                    _add_note(result, gap_text(event.match, step, step.entry))
            case MatchEnded():
                counts.matches += 1
            case GameBegan(match=match, game=game) if not game.entries and (missing := missing_beginning_text(game)):
                counts.gaps += 1
                _add_note(result, f"match {match}, game {game.number}, turn {game.start.turns + 1}: {missing}")
            case GameEnded():
                counts.games += 1
            case DifferenceFound():
                _count_differences(event, result, task)
        yield event


def _count_differences(event: DifferenceFound, result: SourceResult, task: ReplayTask) -> None:
    """Count and note differences. Raises _StrictDifferenceError in a strict replay."""
    result.counts.differences += len(event.differences)
    texts = [
        f"{difference_place_text(event)}: {difference_text(difference)}" for difference in event.differences[:MAX_NOTES]
    ]
    if task.strict and texts:
        result.first_difference = f"{shown_source_name(result)}: {texts[0]}"
        raise _StrictDifferenceError
    for text in texts:
        _add_note(result, text)


def shown_source_name(result: SourceResult) -> str:
    """Return the name of a source without control characters."""
    return clean(result.source.name)


def _add_note(result: SourceResult, text: str) -> None:
    if len(result.notes) < MAX_NOTES:
        result.notes.append(f"{shown_source_name(result)}: {text}")


def _file_row(result: SourceResult) -> Row:
    error = result.error or result.first_difference or None
    counts = {name: count for name, count in result.counts.row().items() if name != "files"}
    return {"kind": "file", "file": result.source.name, **counts, "problem": error}


BYTES_WORTH_A_PROCESS: Final = 2_000_000
"""Bytes that are replayed in the time it takes to start a process."""


def replay_all(  # noqa: PLR0913, PLR0917 - what is replayed, where the output goes, who works
    sources: Sequence[ReplaySource],
    task: ReplayTask,
    write: TextSink,
    on_bytes: BytesCallback,
    pool: WorkerPool | None = None,
    on_progress: ProgressCallback = lambda _: None,
) -> Iterator[SourceResult]:
    """Replay all sources, and yield their results in order, each after its output was written.

    Without `pool` as many processes work as there are cores and work for. Raises StrategyError, and WorkError if the
    workers fail.
    """
    if task.comparison is not None and pool is not None:
        check_portable([task.comparison.strategy, task.comparison.evaluator_name], pool)
    pool = pool or _worthwhile_pool(sources, task)
    if pool.is_local and min(pool.size, len(sources)) <= 1:
        for source in sources:
            yield replay_source(source, task, write, on_bytes)
    else:
        work = _SharedReplay(sources, task, write, on_bytes, pool, on_progress)
        yield from work.in_processes() if pool.is_local else work.elsewhere()


def _worthwhile_pool(sources: Sequence[ReplaySource], task: ReplayTask) -> WorkerPool:
    """Return as many processes as are worth their start."""
    jobs = usable_cores()
    if not task.comparison:
        jobs = min(jobs, sum(source.size for source in sources) // BYTES_WORTH_A_PROCESS)
    return LocalPool(jobs) if jobs > 1 else InProcessPool()


@define(eq=False)
class _LocalWork:
    """What local processes share."""

    task: ReplayTask
    bytes_done: Synchronized[int]

    def add_bytes(self, count: int) -> None:
        """Report bytes that were read."""
        with self.bytes_done.get_lock():
            self.bytes_done.value += count


@frozen
class _SharedReplay:
    """A replay by several workers; its fields are the arguments of `replay_all`."""

    sources: Sequence[ReplaySource]
    task: ReplayTask
    write: TextSink
    on_bytes: BytesCallback
    pool: WorkerPool
    on_progress: ProgressCallback

    def in_processes(self) -> Iterator[SourceResult]:
        """Replay in processes of this machine."""
        work = _LocalWork(self.task, multiprocessing.get_context("spawn").Value("q", 0))
        reported = 0

        def follow(progress: PoolProgress) -> None:
            nonlocal reported
            now = work.bytes_done.value
            self.on_bytes(now - reported)
            reported = now
            self.on_progress(progress)

        with tempfile.TemporaryDirectory(prefix="fibsbot-replay-") as folder:
            pieces = (
                Piece(source.name, (source, Path(folder, str(number)))) for number, source in enumerate(self.sources)
            )
            with contextlib.closing(self.pool.run(replay_into_file, pieces, shared=work, on_progress=follow)) as done:
                for piece, result in done:
                    text: Path = piece.arguments[1]
                    with text.open(encoding="utf-8", newline="") as file:
                        for chunk in iter(lambda: file.read(2**16), ""):
                            self.write(chunk)
                    text.unlink()
                    yield result

    def elsewhere(self) -> Iterator[SourceResult]:
        """Replay in workers that have none of the files."""
        task = self.task
        if task.comparison is not None:
            task = evolve(task, comparison=task.comparison.with_networks())
        pieces = (Piece(source.name, source.with_content()) for source in self.sources)
        run = self.pool.run(replay_content, pieces, shared=task, on_progress=self.on_progress)
        with contextlib.closing(run) as done:
            for piece, (text, result) in done:
                self.on_bytes(result.source.size)
                self.write(zlib.decompress(text).decode())
                result.source = evolve(piece.arguments, sent=None)
                yield result


def replay_into_file(work: _LocalWork, source_and_text: tuple[ReplaySource, Path]) -> SourceResult:
    """Replay a source in a process of this machine, with its output in a file."""
    source, text = source_and_text
    with text.open("w", encoding="utf-8", newline="") as file:
        return replay_source(source, work.task, file.write, work.add_bytes)


def replay_content(task: ReplayTask, source: ReplaySource) -> tuple[bytes, SourceResult]:
    """Replay a source in a worker on another machine; return its output, compressed, and the result."""
    text = io.StringIO()
    result = replay_source(source, task, text.write, lambda _: None)
    result.source = evolve(source, sent=SentContent((), source.size))
    return zlib.compress(text.getvalue().encode(), 1), result
