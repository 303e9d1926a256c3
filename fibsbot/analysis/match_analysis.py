"""Analysis of a match, or of many in several processes.

Every decision of both players is analysed, and the luck of every roll. Many matches are cut into chunks of a few
entries, each analysed from a fresh state of the evaluator: what it remembers changes the last digits of its values, so
that otherwise they would depend on which process got which chunk.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final, TypeAlias

from attrs import define, evolve, field, frozen

from fibsbot.analysis.decision_analysis import DecisionAnalyser
from fibsbot.analysis.decision_statistics import statistics_of
from fibsbot.analysis.luck import RollValues, is_opening, match_chance_per_equity, points_of_equity
from fibsbot.analysis.model import AnalysedDecision, GameAnalysis, MatchAnalysis, PlayerStatistics, sum_statistics
from fibsbot.match import MatchState
from fibsbot.position import Play, Position
from fibsbot.rules.backgammon import is_backgammon
from fibsbot.rules.ruleset import Ruleset
from fibsbot.rules.state import GameState, Stage
from fibsbot.strategies import luck_evaluator
from fibsbot.strategies.base import Evaluator, EvaluatorOfGames
from fibsbot.strategies.loader import NOT_AN_EVALUATOR, ReusedStrategies, StrategyError, check_portable, find
from fibsbot.text import describe_error
from fibsbot.transcript import Decision, Game, Step, Throw, Transcript, TranscriptError, decisions, walk
from fibsbot.workers.errors import WorkerLostError
from fibsbot.workers.fingerprint import digest
from fibsbot.workers.journal import Journal
from fibsbot.workers.pool import InProcessPool, LocalPool, Piece, ProgressCallback, WorkerPool
from fibsbot.workers.processes import usable_cores


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
        return combine_entries(transcript, self.evaluator, entries, self.details(transcript.rules))

    @property
    def evaluator(self) -> str:
        """Name of the evaluator."""
        return self._evaluator.name

    def details(self, rules: Ruleset) -> str:
        """Return version, networks and plies of the evaluator in a game; empty if it has none to report."""
        if isinstance(self._evaluator, EvaluatorOfGames):
            return self._evaluator.details_of(rules)
        return str(getattr(self._evaluator, "details", ""))

    def analyse_entry(self, step: Step, *, luck: bool) -> EntryAnalysis:
        """Return the analysis of one entry; raise AnalysisError if the evaluator fails, or does not know the game."""
        laws, rules = step.before.laws, step.before.rules
        if not (is_backgammon(rules) or _plays_game(self._evaluator, rules)):
            raise AnalysisError(f"{self.evaluator} does not know {rules.full_name}; engine does")
        if (laws.point_game or not laws.triple) and not getattr(self._evaluator, "knows_laws", False):
            name = "the Point Game" if laws.point_game else "games without triples"
            raise AnalysisError(f"{self.evaluator} does not know {name}; engine and heuristic do")
        try:
            return self._analyse_entry(step, luck=luck)
        except Exception as error:
            place = f"game {step.game}, turn {step.turn}"
            raise AnalysisError(f"{place}: {self.evaluator} cannot evaluate: {describe_error(error)}") from error

    def _analyse_entry(self, step: Step, *, luck: bool) -> EntryAnalysis:
        analysed = [self._analyse_decision(decision) for decision in decisions(step)]
        figures = [PlayerStatistics(), PlayerStatistics()]
        for one in analysed:
            seat = one.decision.seat
            figures[seat] += statistics_of(one)
        roll = step.entry if luck and isinstance(step.entry, Throw) else None
        state = None if roll is None else _state_of_roll(step, roll, analysed)
        if roll is not None and state is not None:
            roll_luck = self._roll_values.luck(state, opening=is_opening(step.before))
            analysed = [
                evolve(decision, luck=roll_luck) if isinstance(decision.decision.answer, Play) else decision
                for decision in analysed
            ]
            figures[roll.seat] += self._luck_statistics(state, roll_luck)
        return EntryAnalysis(tuple(analysed), (figures[0], figures[1]))

    def _analyse_decision(self, decision: Decision) -> AnalysedDecision:
        analysed = self._decision_analyser.analyse(decision)
        if not analysed.loss:
            return analysed
        in_chances = analysed.loss * match_chance_per_equity(self._evaluator, decision.state)
        return evolve(analysed, loss_in_chances=in_chances)

    def _luck_statistics(self, state: MatchState, luck: float) -> PlayerStatistics:
        in_chances = luck * match_chance_per_equity(self._evaluator, state)
        return PlayerStatistics(luck=luck, luck_in_points=luck * points_of_equity(state), luck_in_chances=in_chances)


def combine_entries(
    transcript: Transcript, evaluator: str, found: Sequence[EntryAnalysis], details: str = ""
) -> MatchAnalysis:
    """Return the analysis of a match from those of all its entries, in order; `evaluator` is a name."""
    left = iter(found)
    games = tuple(_game_analysis(game, list(islice(left, len(game.entries)))) for game in transcript.games)
    return MatchAnalysis(transcript, evaluator, games, sum_statistics(game.figures for game in games), details)


def _game_analysis(game: Game, found: list[EntryAnalysis]) -> GameAnalysis:
    return GameAnalysis(
        game.number,
        tuple(decision for entry in found for decision in entry.decisions),
        sum_statistics(entry.figures for entry in found),
    )


def _plays_game(evaluator: Evaluator, rules: Ruleset) -> bool:
    """Return whether a strategy says that it plays a game that is not like backgammon."""
    plays_game = getattr(evaluator, "plays_game", None)
    return plays_game is not None and bool(plays_game(rules))


def _state_of_roll(step: Step, roll: Throw, analysed: Iterable[AnalysedDecision]) -> MatchState | None:
    """Return the state of a roll as `RollValues.luck` sees it, also if its play is unknown.

    None for a game that was first seen with the dice on the board, unless it is backgammon.
    """
    if not isinstance(step.before.board, Position):
        return _state_before_roll(step.before, roll)
    played = (decision.decision.state for decision in analysed if isinstance(decision.decision.answer, Play))
    state = next(played, None) or MatchState.of(step.after, roll.seat)
    if state is None:
        raise TranscriptError(f"expected a roll that is to be played, got {roll}")
    return state


def _state_before_roll(before: GameState, roll: Throw) -> MatchState | None:
    """Return the state before a roll with its dice, as the player who rolls sees it; None if it is unknown."""
    if before.stage not in {Stage.OPENING, Stage.ROLL}:
        return None
    board = before.board if roll.seat is before.turn else before.board.swapped()
    state = MatchState.of(evolve(before, board=board, turn=roll.seat, stage=Stage.ROLL), roll.seat)
    return None if state is None else evolve(state, dice=roll.dice)


AnalysisResult: TypeAlias = MatchAnalysis | AnalysisError | TranscriptError
"""The analysis of a match, or the error that prevented it."""
ChunkCallback: TypeAlias = Callable[[int, int], object]
"""Called with the number of entries just analysed, and of all entries of their match."""
CHUNK_SIZE: Final = 16
"""Entries that are analysed together, from a fresh state of the evaluator: about a second of work. Smaller chunks make
less use of an evaluator's caches: with 4 entries the analysis takes a tenth longer."""
ENTRIES_PER_PROCESS: Final = 100
"""Entries per process that make another process worthwhile: loading the engine takes as long as analysing 20."""


def count_entries(transcript: Transcript) -> int:
    """Return the number of entries of a match: rolls, cube actions, resignations."""
    return sum(len(game.entries) for game in transcript.games)


@contextlib.contextmanager
def open_evaluator(name: str) -> Iterator[Evaluator]:
    """Open the strategy of this name, and close it on leaving; raise StrategyError if it is not an evaluator."""
    strategies = ReusedStrategies()
    try:
        yield strategies.fresh_evaluator(name)
    finally:
        strategies.close()


def analyse_matches(  # noqa: PLR0913 - what is analysed, by whom, and what follows it
    transcripts: Iterable[Transcript],
    evaluator: str,
    *,
    luck: bool = True,
    pool: WorkerPool | None = None,
    journal: Journal | None = None,
    tick: ChunkCallback = lambda _done, _of: None,
    on_progress: ProgressCallback = lambda _: None,
) -> Generator[AnalysisResult, None, None]:
    """Yield the analysis of each match, in order; for a match that cannot be analysed yield its error.

    Any workers give the same analyses, to the last bit on the same kind of processor. Closed or interrupted, the
    generator ends its processes at once. Raises StrategyError if a strategy is not an evaluator, or ends its process,
    and WorkError if the workers fail otherwise.

    Args:
        transcripts: the matches.
        evaluator: name of a strategy, which every worker opens for itself; its `luck_evaluator` values the rolls.
        luck: whether to analyse the luck of rolls.
        pool: the workers; by default all cores, as far as there is work, or this process for a little.
        journal: keeps the chunks that have been analysed.
        tick: called after each chunk.
        on_progress: called with the progress of the workers.
    """
    if not find(evaluator).is_evaluator():
        raise StrategyError(NOT_AN_EVALUATOR.format(evaluator))
    if pool is not None:
        check_portable([evaluator], pool)
    left = iter(transcripts)
    known: list[Transcript] = []
    pool = pool or _worthwhile_pool(left, known)
    pending: deque[_PendingMatch] = deque()
    pieces = _pieces(chain(known, left), evaluator, pending, luck=luck, with_content=journal is not None)
    with contextlib.closing(
        pool.run(
            analyse_chunk,
            pieces,
            shared=AnalysisSettings(evaluator, luck, ReusedStrategies.of(evaluator, luck_evaluator(evaluator))),
            journal=journal,
            on_progress=on_progress,
        )
    ) as results:
        try:
            for piece, result in results:
                match = next(pending_match for pending_match in pending if not pending_match.is_done)
                match.add(result)
                tick(len(piece.arguments), len(match.steps))
                while pending and pending[0].is_done:
                    yield pending.popleft().result()
        except WorkerLostError:
            raise StrategyError(f"a process in which {evaluator!r} analysed has died") from None
    yield from (match.result() for match in pending)


def _worthwhile_pool(transcripts: Iterator[Transcript], known: list[Transcript]) -> WorkerPool:
    """Return as many processes as are worthwhile; transcripts read to find out are appended to `known`."""
    cores = usable_cores()
    entries = 0
    while entries < cores * ENTRIES_PER_PROCESS and (transcript := next(transcripts, None)):
        known.append(transcript)
        entries += count_entries(transcript)
    jobs = min(cores, entries // ENTRIES_PER_PROCESS)
    return LocalPool(jobs) if jobs > 1 else InProcessPool()


def _pieces(
    transcripts: Iterable[Transcript],
    evaluator: str,
    pending: deque[_PendingMatch],
    *,
    luck: bool,
    with_content: bool,
) -> Iterator[Piece]:
    """Yield the chunks of matches, and append each match to `pending`."""
    for number, transcript in enumerate(transcripts, 1):
        match = _PendingMatch.of(transcript, evaluator)
        pending.append(match)
        for first in range(0, len(match.steps), CHUNK_SIZE):
            chunk = match.steps[first : first + CHUNK_SIZE]
            key = f"match {number}, entries {first + 1} to {first + len(chunk)}"
            yield Piece(f"{key} {digest(evaluator, luck, repr(chunk))}" if with_content else key, chunk)


@define(eq=False)
class AnalysisSettings:
    """What all chunks share: the evaluator, which each worker opens once."""

    evaluator: str
    luck: bool
    strategies: ReusedStrategies = field(factory=ReusedStrategies)

    def analyser(self) -> MatchAnalyser:
        """Return an analyser that remembers nothing."""
        quick = luck_evaluator(self.evaluator)
        evaluator = self.strategies.fresh_evaluator(self.evaluator)
        return MatchAnalyser(evaluator, self.strategies.fresh_evaluator(quick) if quick != self.evaluator else None)

    def close(self) -> None:
        """Close the evaluators."""
        self.strategies.close()


@frozen
class ChunkAnalysis:
    """Analyses of the entries of a chunk, or the error that prevented them."""

    evaluator: str
    """Name of the evaluator."""
    details: str
    entries: tuple[EntryAnalysis, ...] | AnalysisError


def analyse_chunk(settings: AnalysisSettings, chunk: Sequence[Step]) -> ChunkAnalysis:
    """Analyse consecutive entries of a match, in a worker."""
    analyser = settings.analyser()
    found: tuple[EntryAnalysis, ...] | AnalysisError
    try:
        found = tuple(analyser.analyse_entry(step, luck=settings.luck) for step in chunk)
    except AnalysisError as error:
        found = error
    return ChunkAnalysis(analyser.evaluator, analyser.details(chunk[0].before.rules), found)


@define
class _PendingMatch:
    """A match some of whose chunks are still being analysed."""

    transcript: Transcript
    evaluator: str
    """Name of the evaluator."""
    details: str = ""
    steps: tuple[Step, ...] = ()
    error: TranscriptError | AnalysisError | None = None
    """Of several errors the earliest."""
    open: int = 0
    """Number of chunks that are to be analysed."""
    entries: list[EntryAnalysis] = field(factory=list)

    @classmethod
    def of(cls, transcript: Transcript, evaluator: str) -> _PendingMatch:
        """Replay a match."""
        try:
            steps = tuple(step for game in transcript.games for step in walk(game))
        except TranscriptError as error:
            return cls(transcript, evaluator, error=error)
        return cls(transcript, evaluator, steps=steps, open=-(-len(steps) // CHUNK_SIZE))

    @property
    def is_done(self) -> bool:
        """Whether all chunks have been analysed."""
        return not self.open

    def add(self, chunk: ChunkAnalysis) -> None:
        """Store the result of the next chunk."""
        self.open -= 1
        self.evaluator, self.details = chunk.evaluator, chunk.details
        if not isinstance(chunk.entries, AnalysisError):
            self.entries += chunk.entries
        elif self.error is None:
            self.error = chunk.entries

    def result(self) -> AnalysisResult:
        """Return the analysis of the whole match, or its error."""
        return self.error or combine_entries(self.transcript, self.evaluator, self.entries, self.details)
