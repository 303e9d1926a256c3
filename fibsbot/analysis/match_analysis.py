"""Analysis of a match, or of many in several processes.

Every decision of both players is analysed, and the luck of every roll. The result does not depend on how matches are
split into chunks: no evaluator keeps state that changes its values.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final, TypeAlias

from attrs import define, evolve, field, frozen

from fibsbot.analysis.decision_analysis import DecisionAnalyser
from fibsbot.analysis.luck import RollValues, is_opening, match_chance_per_equity
from fibsbot.analysis.model import AnalysedDecision, GameAnalysis, MatchAnalysis, PlayerStatistics, sum_statistics
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.rules import game as rules
from fibsbot.strategies import luck_evaluator
from fibsbot.strategies.evaluator import Evaluator
from fibsbot.strategies.loader import StrategyError, find, load
from fibsbot.text import describe_error
from fibsbot.transcript import Game, Step, Throw, Transcript, TranscriptError, decisions, walk
from fibsbot.workers import processes as worker_processes


class AnalysisError(ValueError):
    """A match could not be analysed; the text says where and why, in one line."""


def analyse_match(transcript: Transcript, evaluator: Evaluator, *, luck: bool = True) -> MatchAnalysis:
    """Return the analysis of every decision of a match, and of the luck of every roll unless `luck` is false.

    Luck takes most of the time. Nothing is analysed across a gap. The same transcript and evaluator give the same
    analysis. Raises TranscriptError for an illegal transcript, AnalysisError if the evaluator fails.
    """
    return MatchAnalyser(evaluator).analyse(transcript, luck=luck)


@frozen
class EntryAnalysis:
    """Analysis of one entry of a transcript: its decisions, and its luck even if its play is unknown."""

    decisions: tuple[AnalysedDecision, ...]
    figures: tuple[PlayerStatistics, PlayerStatistics]


class MatchAnalyser:
    """Analyses matches one after another, and caches values of the evaluator."""

    def __init__(self, evaluator: Evaluator, luck_evaluator: Evaluator | None = None) -> None:
        """Use `evaluator` for decisions, and for luck too unless `luck_evaluator` is given.

        Luck needs 21 times as many values as decisions, and a faster evaluator gives an estimate just as unbiased.
        """
        self._evaluator = evaluator
        self._decision_analyser = DecisionAnalyser(evaluator)
        self._roll_values = RollValues(luck_evaluator) if luck_evaluator else self._decision_analyser.rolls

    def analyse(self, transcript: Transcript, *, luck: bool = True) -> MatchAnalysis:
        """Return the analysis of a match; see `analyse_match`."""
        entries = [self.analyse_entry(step, luck=luck) for game in transcript.games for step in walk(game)]
        return combine_entries(transcript, self.evaluator, entries, self.details)

    @property
    def evaluator(self) -> str:
        """Name of the evaluator."""
        return self._evaluator.name

    @property
    def details(self) -> str:
        """Version, networks and plies of the evaluator; empty if it has none to report."""
        return str(getattr(self._evaluator, "details", ""))

    def analyse_entry(self, step: Step, *, luck: bool) -> EntryAnalysis:
        """Return the analysis of one entry; raise AnalysisError if the evaluator fails."""
        try:
            return self._analyse_entry(step, luck=luck)
        except Exception as error:
            place = f"game {step.game}, turn {step.turn}"
            raise AnalysisError(f"{place}: {self.evaluator} cannot evaluate: {describe_error(error)}") from error

    def _analyse_entry(self, step: Step, *, luck: bool) -> EntryAnalysis:
        analysed = [self._decision_analyser.analyse(decision) for decision in decisions(step)]
        figures = [PlayerStatistics(), PlayerStatistics()]
        for one in analysed:
            seat = one.decision.seat
            figures[seat] += _statistics_of(one)
        if luck and isinstance(step.entry, Throw):
            state = _rolled_state(step, step.entry, analysed)
            roll_luck = self._roll_values.luck(state, opening=is_opening(step.before))
            analysed = [evolve(it, luck=roll_luck) if isinstance(it.decision.answer, Play) else it for it in analysed]
            seat = step.entry.seat
            figures[seat] += self._luck_statistics(state, roll_luck)
        return EntryAnalysis(tuple(analysed), (figures[0], figures[1]))

    def _luck_statistics(self, state: MatchState, luck: float) -> PlayerStatistics:
        in_chances = luck * match_chance_per_equity(self._evaluator, state)
        return PlayerStatistics(luck=luck, luck_in_points=luck * state.cube, luck_in_chances=in_chances)


def combine_entries(
    transcript: Transcript, evaluator: str, found: Sequence[EntryAnalysis], details: str = ""
) -> MatchAnalysis:
    """Return the analysis of a match from those of all its entries, in order; `evaluator` is a name."""
    left = iter(found)
    games = tuple(_game_analysis(game, list(islice(left, len(game.entries)))) for game in transcript.games)
    return MatchAnalysis(transcript, evaluator, games, sum_statistics(game.figures for game in games), details)


def _game_analysis(game: Game, found: list[EntryAnalysis]) -> GameAnalysis:
    return GameAnalysis(
        game.number, tuple(it for one in found for it in one.decisions), sum_statistics(it.figures for it in found)
    )


def _rolled_state(step: Step, roll: Throw, analysed: Iterable[AnalysedDecision]) -> MatchState:
    """Return the state with the dice on the board, also if their play is unknown."""
    played = (it.decision.state for it in analysed if isinstance(it.decision.answer, Play))
    state = next(played, None) or rules.decision(step.after, roll.seat)
    if state is None:
        raise TranscriptError(f"expected a roll that is to be played, got {roll}")
    return state


def _statistics_of(analysed: AnalysedDecision) -> PlayerStatistics:
    """Return the statistics of one decision, without luck."""
    if not analysed.counts:
        return PlayerStatistics()
    match analysed.decision.answer:
        case Play():
            return PlayerStatistics(decisions=1, loss=analysed.loss, play_loss=analysed.loss)
        case _ if analysed.cube is not None:
            return PlayerStatistics(decisions=1, loss=analysed.loss, cube_loss=analysed.loss)
    return PlayerStatistics(decisions=1, loss=analysed.loss)


AnalysisResult: TypeAlias = MatchAnalysis | AnalysisError | TranscriptError
"""The analysis of a match, or the error that prevented it."""
ChunkCallback: TypeAlias = Callable[[int, int], object]
"""Called with the number of entries just analysed, and of all entries of their match."""
CHUNK_SIZE: Final = 16
"""Entries per chunk with several processes: about a second of work, so that progress is seen. Smaller chunks make less
use of an evaluator's caches: with 4 entries the analysis takes a tenth longer."""
ENTRIES_PER_PROCESS: Final = 100
"""Entries per process that make another process worthwhile: loading the engine takes as long as analysing 20."""

_NO_EVALUATOR: Final = "strategy {!r} is not an evaluator: it cannot value positions"


def count_entries(transcript: Transcript) -> int:
    """Return the number of entries of a match: rolls, cube actions, resignations."""
    return sum(len(game.entries) for game in transcript.games)


@contextlib.contextmanager
def open_evaluator(name: str) -> Iterator[Evaluator]:
    """Open the strategy of this name, and close it on leaving; raise StrategyError if it is not an evaluator."""
    strategy = load(name)
    try:
        if not isinstance(strategy, Evaluator):
            raise StrategyError(_NO_EVALUATOR.format(name))
        yield strategy
    finally:
        strategy.close()


@contextlib.contextmanager
def _open_analyser(evaluator: str) -> Iterator[MatchAnalyser]:
    quick = luck_evaluator(evaluator)
    with contextlib.ExitStack() as held:
        ours = held.enter_context(open_evaluator(evaluator))
        yield MatchAnalyser(ours, held.enter_context(open_evaluator(quick)) if quick != evaluator else None)


def analyse_matches(
    transcripts: Iterable[Transcript],
    evaluator: str,
    *,
    luck: bool = True,
    cores: int | None = None,
    tick: ChunkCallback = lambda _done, _of: None,
) -> Generator[AnalysisResult, None, None]:
    """Yield the analysis of each match, in order; for a match that cannot be analysed yield its error.

    Closed or interrupted, the generator ends its processes at once. Raises StrategyError if a strategy is not an
    evaluator, or ends its process.

    Args:
        transcripts: the matches.
        evaluator: name of a strategy, which every process opens for itself; its `luck_evaluator` values the rolls.
        luck: whether to analyse the luck of rolls.
        cores: number of processes; by default all cores, as far as there is work. With 1 no process is started.
        tick: called after each chunk.
    """
    if not find(evaluator).is_evaluator():
        raise StrategyError(_NO_EVALUATOR.format(evaluator))
    left = iter(transcripts)
    known: list[Transcript] = []
    jobs = cores or _worthwhile_processes(left, known)
    size = 1 if jobs == 1 else CHUNK_SIZE
    pending: deque[_PendingMatch] = deque()
    assigned: dict[int, tuple[_PendingMatch, int]] = {}
    chunks = _chunks(chain(known, left), evaluator, size, pending, assigned)
    results = (
        _analyse_here(chunks, evaluator, luck=luck)
        if jobs == 1
        else _analyse_in_processes(chunks, evaluator, jobs, luck=luck)
    )
    with contextlib.closing(results):
        for result in results:
            match, first = assigned.pop(result.number)
            match.add(first, result)
            tick(min(size, len(match.steps) - first), len(match.steps))
            while pending and pending[0].is_done:
                yield pending.popleft().result()
    yield from (match.result() for match in pending)


def _worthwhile_processes(transcripts: Iterator[Transcript], known: list[Transcript]) -> int:
    """Return how many processes are worthwhile; transcripts read to find out are appended to `known`."""
    cores = worker_processes.usable_cores()
    entries = 0
    while entries < cores * ENTRIES_PER_PROCESS and (transcript := next(transcripts, None)):
        known.append(transcript)
        entries += count_entries(transcript)
    return max(1, min(cores, entries // ENTRIES_PER_PROCESS))


def _chunks(
    transcripts: Iterable[Transcript],
    evaluator: str,
    size: int,
    pending: deque[_PendingMatch],
    assigned: dict[int, tuple[_PendingMatch, int]],
) -> Iterator[_Chunk]:
    """Yield the chunks of matches; append each match to `pending`, and enter each chunk into `assigned`."""
    number = 0
    for transcript in transcripts:
        match = _PendingMatch.of(transcript, evaluator)
        pending.append(match)
        for first in range(0, len(match.steps), size):
            if match.error:
                break
            match.open += 1
            assigned[number] = match, first
            yield _Chunk(number, match.steps[first : first + size])
            number += 1
        match.all_assigned = True


def _analyse_here(chunks: Iterable[_Chunk], evaluator: str, *, luck: bool) -> Generator[_ChunkResult, None, None]:
    """Analyse chunks in this process; the evaluator is opened only if there are any."""
    every = iter(chunks)
    first = next(every, None)
    if first is not None:
        yield from _analyse_chunks(chain((first,), every), evaluator, luck=luck)


def _analyse_in_processes(
    chunks: Iterable[_Chunk], evaluator: str, jobs: int, *, luck: bool
) -> Generator[_ChunkResult, None, None]:
    """Analyse chunks in several processes; results come in any order."""
    try:
        yield from worker_processes.map_unordered(_analyse_chunks, (evaluator, luck), chunks, jobs)
    except worker_processes.WorkerLostError:
        raise StrategyError(f"a process in which {evaluator!r} analysed has died") from None


def _analyse_chunks(chunks: Iterable[_Chunk], evaluator: str, luck: bool) -> Iterator[_ChunkResult]:  # noqa: FBT001 - called by position
    with _open_analyser(evaluator) as analyser:
        for chunk in chunks:
            yield _analyse_chunk(analyser, chunk, luck=luck)


@frozen
class _Chunk:
    """Consecutive entries of a match, analysed together."""

    number: int
    steps: tuple[Step, ...]


@frozen
class _ChunkResult:
    """Analyses of the entries of a chunk, or the error that prevented them."""

    number: int
    """Of the chunk."""
    evaluator: str
    """Name of the evaluator."""
    details: str
    results: tuple[EntryAnalysis, ...] | AnalysisError


def _analyse_chunk(analyser: MatchAnalyser, chunk: _Chunk, *, luck: bool) -> _ChunkResult:
    found: tuple[EntryAnalysis, ...] | AnalysisError
    try:
        found = tuple(analyser.analyse_entry(step, luck=luck) for step in chunk.steps)
    except AnalysisError as error:
        found = error
    return _ChunkResult(chunk.number, analyser.evaluator, analyser.details, found)


@define
class _PendingMatch:
    """A match some of whose chunks are still being analysed."""

    transcript: Transcript
    evaluator: str
    """Name of the evaluator."""
    details: str = ""
    steps: tuple[Step, ...] = ()
    error: TranscriptError | AnalysisError | None = None
    open: int = 0
    """Number of chunks being analysed."""
    all_assigned: bool = False
    results: dict[int, tuple[EntryAnalysis, ...]] = field(factory=dict)
    """Results by the index of their first entry."""
    failed: int = 0
    """Index of the first entry of the chunk that `error` is about."""

    @classmethod
    def of(cls, transcript: Transcript, evaluator: str) -> _PendingMatch:
        """Replay a match."""
        try:
            return cls(transcript, evaluator, steps=tuple(step for game in transcript.games for step in walk(game)))
        except TranscriptError as error:
            return cls(transcript, evaluator, error=error)

    @property
    def is_done(self) -> bool:
        """Whether all chunks have been analysed."""
        return self.all_assigned and not self.open

    def add(self, first: int, result: _ChunkResult) -> None:
        """Store the result of the chunk that begins at `first`; of several errors keep the earliest."""
        self.open -= 1
        self.evaluator, self.details = result.evaluator, result.details
        if not isinstance(result.results, AnalysisError):
            self.results[first] = result.results
        elif self.error is None or first < self.failed:
            self.error, self.failed = result.results, first

    def result(self) -> AnalysisResult:
        """Return the analysis of the whole match, or its error."""
        if self.error:
            return self.error
        found = [it for _, part in sorted(self.results.items(), key=lambda it: it[0]) for it in part]
        return combine_entries(self.transcript, self.evaluator, found, self.details)
