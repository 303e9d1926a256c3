"""Analysis of a match, or of many in several processes.

Every decision of both players is evaluated, and the luck of every roll.

The result does not depend on how matches are cut into chunks: an evaluator remembers nothing that changes its
answers.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import chain, islice
from multiprocessing.connection import Connection
from typing import Final, TypeAlias

from attrs import define, evolve, field, frozen

from fibsbot import processes
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

ProgressCallback: TypeAlias = Callable[[int, int], None]
"""Told how many entries of how many have been studied."""


class AnalysisError(ValueError):
    """A match cannot be studied; the text is one line and says where and why."""


def analyse_match(
    transcript: Transcript, judge: Evaluator, *, luck: bool = True, progress: ProgressCallback | None = None
) -> MatchAnalysis:
    """Judge every decision of a match and, unless told not to, work out the luck of every throw, which takes longer.

    Nothing is judged across a gap. The same transcript and judge give the same study. Raises TranscriptError where
    something illegal stands in the transcript, AnalysisError where the judge fails.
    """
    return MatchAnalyser(judge).study(transcript, luck=luck, progress=progress)


@frozen
class EntryAnalysis:
    """What one entry shows: about decisions, and about a throw, whose play may be unknown."""

    judged: tuple[AnalysedDecision, ...]
    figures: tuple[PlayerStatistics, PlayerStatistics]


class MatchAnalyser:
    """Studies one match after the other, and remembers what it has asked the judge."""

    def __init__(self, judge: Evaluator, luck_judge: Evaluator | None = None) -> None:
        """Ask this judge; about luck another one, if one is given.

        Luck asks for 21 times as much as decisions do, and is no less fair if a quicker judge tells it.
        """
        self._judge = judge
        self._examiner = DecisionAnalyser(judge)
        self._throws = RollValues(luck_judge) if luck_judge else self._examiner.throws

    def study(
        self, transcript: Transcript, *, luck: bool = True, progress: ProgressCallback | None = None
    ) -> MatchAnalysis:
        """Study a match; see the function of this name."""
        of = sum(len(game.entries) for game in transcript.games)
        found = []
        for done, step in enumerate((step for game in transcript.games for step in walk(game)), start=1):
            found.append(self.entry(step, luck=luck))
            if progress:
                progress(done, of)
        return combine_entries(transcript, self.judge, found, self.details)

    @property
    def judge(self) -> str:
        """Name of the strategy that judges."""
        return self._judge.name

    @property
    def details(self) -> str:
        """Version, networks and plies of the strategy that judges; empty where it does not say them."""
        return str(getattr(self._judge, "details", ""))

    def entry(self, step: Step, *, luck: bool) -> EntryAnalysis:
        """Judge the decisions of one entry, and its throw; raise AnalysisError where the judge fails."""
        try:
            return self._entry(step, luck=luck)
        except Exception as error:
            place = f"game {step.game}, turn {step.turn}"
            what = describe_error(error)
            raise AnalysisError(f"{place}: {self.judge} cannot judge: {what}") from error

    def _entry(self, step: Step, *, luck: bool) -> EntryAnalysis:
        judged = [self._examiner.examine(decision) for decision in decisions(step)]
        figures = [PlayerStatistics(), PlayerStatistics()]
        for one in judged:
            seat = one.decision.seat
            figures[seat] += _statistics_of(one)
        if luck and isinstance(step.entry, Throw):
            state = _rolled_state(step, step.entry, judged)
            lucky = self._throws.luck(state, opening=is_opening(step.before))
            judged = [evolve(it, luck=lucky) if isinstance(it.decision.answer, Play) else it for it in judged]
            seat = step.entry.seat
            figures[seat] += self._lucky(state, lucky)
        return EntryAnalysis(tuple(judged), (figures[0], figures[1]))

    def _lucky(self, state: MatchState, luck: float) -> PlayerStatistics:
        in_chances = luck * match_chance_per_equity(self._judge, state)
        return PlayerStatistics(luck=luck, luck_in_points=luck * state.cube, luck_in_chances=in_chances)


def combine_entries(
    transcript: Transcript, judge: str, found: Sequence[EntryAnalysis], details: str = ""
) -> MatchAnalysis:
    """Return the study of a match of what all its entries show, in their order; `judge` is who judged."""
    left = iter(found)
    games = tuple(_game_analysis(game, list(islice(left, len(game.entries)))) for game in transcript.games)
    return MatchAnalysis(transcript, judge, games, sum_statistics(game.figures for game in games), details)


def _game_analysis(game: Game, found: list[EntryAnalysis]) -> GameAnalysis:
    return GameAnalysis(
        game.number, tuple(it for one in found for it in one.judged), sum_statistics(it.figures for it in found)
    )


def _rolled_state(step: Step, throw: Throw, judged: Iterable[AnalysedDecision]) -> MatchState:
    """Return the state with the throw on the board, also of one that was not seen to be played."""
    played = (it.decision.state for it in judged if isinstance(it.decision.answer, Play))
    state = next(played, None) or rules.decision(step.after, throw.seat)
    if state is None:
        raise TranscriptError(f"expected a throw that is to be played, got {throw}")
    return state


def _statistics_of(judged: AnalysedDecision) -> PlayerStatistics:
    """Return what one decision adds to the figures of who made it, luck left out."""
    if not judged.counts:
        return PlayerStatistics()
    match judged.decision.answer:
        case Play():
            return PlayerStatistics(decisions=1, loss=judged.loss, play_loss=judged.loss)
        case _ if judged.cube is not None:
            return PlayerStatistics(decisions=1, loss=judged.loss, cube_loss=judged.loss)
    return PlayerStatistics(decisions=1, loss=judged.loss)


AnalysisResult: TypeAlias = MatchAnalysis | AnalysisError | TranscriptError
"""A studied match, or why it cannot be studied."""
ChunkCallback: TypeAlias = Callable[[int, int], object]
"""Takes how many entries have just been studied, and how many their match has."""
CHUNK_SIZE: Final = 16
"""Entries in a row that one of several processes studies at a time: about a second of work, so progress is seen. In
smaller pieces less of what a judge remembers is used again: 4 entries at a time take a tenth longer."""
ENTRIES_PER_PROCESS: Final = 100
"""Entries for each process before another one is started: to load the engine takes as long as to study 20."""

_NO_EVALUATOR: Final = "strategy {!r} is no judge: it cannot say what positions are worth"


def count_entries(transcript: Transcript) -> int:
    """Return how many entries a match has: throws, cube actions, resignations."""
    return sum(len(game.entries) for game in transcript.games)


@contextlib.contextmanager
def open_evaluator(name: str) -> Iterator[Evaluator]:
    """Make the strategy of that name, and close it afterwards; raise StrategyError where it is no judge."""
    strategy = load(name)
    try:
        if not isinstance(strategy, Evaluator):
            raise StrategyError(_NO_EVALUATOR.format(name))
        yield strategy
    finally:
        strategy.close()


@contextlib.contextmanager
def _open_analyser(judge: str) -> Iterator[MatchAnalyser]:
    quick = luck_evaluator(judge)
    with contextlib.ExitStack() as held:
        ours = held.enter_context(open_evaluator(judge))
        yield MatchAnalyser(ours, held.enter_context(open_evaluator(quick)) if quick != judge else None)


def analyse_matches(
    transcripts: Iterable[Transcript],
    judge: str,
    *,
    luck: bool = True,
    cores: int | None = None,
    tick: ChunkCallback = lambda _done, _of: None,
) -> Generator[AnalysisResult, None, None]:
    """Yield a study of each match in their order; one that cannot be studied yields its error, and stops nothing.

    `judge` is the name of a strategy, which every process makes for itself; luck is judged by its `luck_evaluator`.
    `cores` is how many are used; by default as many as there are and the work is worth. With one there is no further
    process. `tick` is called for each piece of work that is done. Closed or interrupted, it ends its processes at once.
    Raises StrategyError where a strategy is no judge, or takes its process down with it.
    """
    if not find(judge).is_judge():
        raise StrategyError(_NO_EVALUATOR.format(judge))
    left = iter(transcripts)
    known: list[Transcript] = []
    jobs = cores or _worthwhile_processes(left, known)
    size = 1 if jobs == 1 else CHUNK_SIZE
    waiting: deque[_PendingMatch] = deque()
    given: dict[int, tuple[_PendingMatch, int]] = {}
    pieces = _chunks(chain(known, left), judge, size, waiting, given)
    answers = _run_here(pieces, judge, luck=luck) if jobs == 1 else _run_in_processes(pieces, judge, jobs, luck=luck)
    with contextlib.closing(answers):
        for answer in answers:
            match, first = given.pop(answer.number)
            match.take(first, answer)
            tick(min(size, len(match.steps) - first), len(match.steps))
            while waiting and waiting[0].is_done:
                yield waiting.popleft().studied()
    yield from (match.studied() for match in waiting)


def _worthwhile_processes(transcripts: Iterator[Transcript], known: list[Transcript]) -> int:
    """Return how many processes are worth their start; the transcripts that had to be seen for that become known."""
    cores = processes.usable_cores()
    entries = 0
    while entries < cores * ENTRIES_PER_PROCESS and (transcript := next(transcripts, None)):
        known.append(transcript)
        entries += count_entries(transcript)
    return max(1, min(cores, entries // ENTRIES_PER_PROCESS))


def _chunks(
    transcripts: Iterable[Transcript],
    judge: str,
    size: int,
    waiting: deque[_PendingMatch],
    given: dict[int, tuple[_PendingMatch, int]],
) -> Iterator[_Chunk]:
    """Yield the pieces of matches, and note which matches these are and where in them each piece begins."""
    number = 0
    for transcript in transcripts:
        match = _PendingMatch.of(transcript, judge)
        waiting.append(match)
        for first in range(0, len(match.steps), size):
            if match.error:
                break
            match.open += 1
            given[number] = match, first
            yield _Chunk(number, match.steps[first : first + size])
            number += 1
        match.all_given = True


def _run_here(pieces: Iterable[_Chunk], judge: str, *, luck: bool) -> Generator[_ChunkResult, None, None]:
    """Study pieces in this process; without any the judge need not get ready."""
    every = iter(pieces)
    first = next(every, None)
    if first is None:
        return
    with _open_analyser(judge) as desk:
        for piece in chain((first,), every):
            yield _analyse_chunk(desk, piece, luck=luck)


def _run_in_processes(
    pieces: Iterable[_Chunk], judge: str, jobs: int, *, luck: bool
) -> Generator[_ChunkResult, None, None]:
    """Study pieces in several processes, in any order."""
    try:
        yield from processes.map_unordered(_worker, (judge, luck), pieces, jobs)
    except processes.WorkerLostError:
        raise StrategyError(f"a process in which {judge!r} judged has died") from None


def _worker(way: Connection, judge: str, luck: bool) -> None:  # noqa: FBT001 - called by position
    """Study the pieces that come, until there are no more or nobody is there any longer. The whole of a process."""
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError), way:
        try:
            with _open_analyser(judge) as desk:
                while (piece := way.recv()) is not None:
                    way.send(_analyse_chunk(desk, piece, luck=luck))
        except StrategyError as error:
            way.send(error)


@frozen
class _Chunk:
    """Entries that follow each other in a match, studied in one go."""

    number: int
    steps: tuple[Step, ...]


@frozen
class _ChunkResult:
    """What the entries of a piece show, or why they cannot be studied."""

    number: int
    """Of the piece."""
    judge: str
    """What the strategy that judged calls itself."""
    details: str
    found: tuple[EntryAnalysis, ...] | AnalysisError


def _analyse_chunk(desk: MatchAnalyser, piece: _Chunk, *, luck: bool) -> _ChunkResult:
    found: tuple[EntryAnalysis, ...] | AnalysisError
    try:
        found = tuple(desk.entry(step, luck=luck) for step in piece.steps)
    except AnalysisError as error:
        found = error
    return _ChunkResult(piece.number, desk.judge, desk.details, found)


@define
class _PendingMatch:
    """A match that is being studied."""

    transcript: Transcript
    judge: str
    """What the strategy that judges calls itself."""
    details: str = ""
    steps: tuple[Step, ...] = ()
    error: TranscriptError | AnalysisError | None = None
    open: int = 0
    """Pieces that are being studied."""
    all_given: bool = False
    found: dict[int, tuple[EntryAnalysis, ...]] = field(factory=dict)
    """By the place of the first entry."""
    failed: int = 0
    """Place of the piece that `error` is about."""

    @classmethod
    def of(cls, transcript: Transcript, judge: str) -> _PendingMatch:
        """Walk through a match."""
        try:
            return cls(transcript, judge, steps=tuple(step for game in transcript.games for step in walk(game)))
        except TranscriptError as error:
            return cls(transcript, judge, error=error)

    @property
    def is_done(self) -> bool:
        """Whether nothing is missing."""
        return self.all_given and not self.open

    def take(self, first: int, answer: _ChunkResult) -> None:
        """Keep what was found from an entry on; of several errors that of the earliest entry."""
        self.open -= 1
        self.judge, self.details = answer.judge, answer.details
        if not isinstance(answer.found, AnalysisError):
            self.found[first] = answer.found
        elif self.error is None or first < self.failed:
            self.error, self.failed = answer.found, first

    def studied(self) -> AnalysisResult:
        """Return the study of the whole match, or why there is none."""
        if self.error:
            return self.error
        found = [it for _, part in sorted(self.found.items(), key=lambda it: it[0]) for it in part]
        return combine_entries(self.transcript, self.judge, found, self.details)
