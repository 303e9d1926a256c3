"""Pairs of games with the same dice and swapped seats: the strategies, the games, and the workers that play them.

Each pair begins with strategies that remember nothing, so that its result does not depend on the worker.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

from attrs import define, evolve, field, frozen

from fibsbot.analysis.match_analysis import AnalysisError, MatchAnalyser
from fibsbot.analysis.model import MatchAnalysis, PlayerStatistics
from fibsbot.arena.duel.games import DuelError, DuelPlan, GameDice, lost_worker_named, play_match, play_out
from fibsbot.arena.duel.results import PairResult, StrategyStats, TimeHistogram
from fibsbot.files import os_errors_as, replacing
from fibsbot.formats.mat import write_mat
from fibsbot.rules.backgammon import is_backgammon
from fibsbot.rules.state import Seat
from fibsbot.strategies.base import Evaluator, Strategy
from fibsbot.strategies.loader import Forgetful, ReusedStrategies, Seeded, StrategyError, check_portable
from fibsbot.strategies.pool import MAX_HANGING, StrategyFactory, StrategyOutcome, StrategyWorker
from fibsbot.strategies.questions import (
    AcceptAnswer,
    LastResort,
    PlayQuestion,
    Question,
    StrategyAnswer,
    StrategyFailedError,
)
from fibsbot.transcript import Player, Transcript
from fibsbot.workers.errors import WorkError
from fibsbot.workers.pool import Piece, ProgressCallback, WorkerPool

START_TIMEOUT: Final = 300.0
"""Seconds for a strategy to be made: it may load networks and compile."""
CLOSE_TIMEOUT: Final = 2.0
"""Seconds for a strategy to be closed; then the process ends without it."""
MAX_FAULT_LENGTH: Final = 200
"""Characters of a fault that are kept."""


class _StartQuestion:
    """A question that needs no decision: it makes the pool load the strategy."""

    def put_to(self, strategy: Strategy) -> StrategyAnswer:  # noqa: ARG002 - the interface
        return AcceptAnswer(accepted=True)


@frozen
class _FreshQuestion:
    """A question that needs no decision: it makes the strategy clear its caches and seed its random numbers."""

    seed: str

    def put_to(self, strategy: Strategy) -> StrategyAnswer:
        if isinstance(strategy, Forgetful):
            strategy.forget()
        if isinstance(strategy, Seeded):
            strategy.reseed(self.seed)
        return AcceptAnswer(accepted=True)


class TimedStrategy:
    """A strategy with a deadline, and what was counted of its answers; where it has none, the last resort answers.

    Like an instance in a `StrategyPool`, one that misses the deadline is abandoned and replaced by another one.
    """

    def __init__(self, name: str, make: StrategyFactory, deadline: float) -> None:
        """Make the strategy, in the thread in which it is asked. Raises StrategyError if it cannot be made."""
        self._name = name
        self._make = make
        self._deadline = deadline
        self._hanging = 0
        self._worker: StrategyWorker | None = None
        self._plays = TimeHistogram()
        self._others = TimeHistogram()
        self._faults = 0
        self._example = ""
        if failure := self._start():
            cause = failure.__cause__
            raise StrategyError(str(cause)) if isinstance(cause, StrategyError) else StrategyError(f"{name} {failure}")

    def ask(self, question: Question) -> StrategyAnswer:
        """Return the strategy's answer, or that of the last resort."""
        outcome = self._answer(question)
        if not isinstance(outcome, StrategyFailedError):
            return outcome
        self._faults += 1
        self._example = self._example or f"{self._name} {outcome}"[:MAX_FAULT_LENGTH]
        return question.put_to(LastResort())

    def begin(self, seed: str) -> None:
        """Let the strategy answer as a new one does, with random numbers by this seed."""
        if self._worker is not None:
            self._put(_FreshQuestion(seed), START_TIMEOUT)

    def collect(self) -> StrategyStats:
        """Return what was counted since the last call."""
        stats = StrategyStats(self._plays, self._others, self._faults, self._example)
        self._plays, self._others, self._faults, self._example = TimeHistogram(), TimeHistogram(), 0, ""
        return stats

    def close(self) -> None:
        """Let the strategy be closed by its thread; one that hangs is abandoned."""
        if self._worker is not None:
            self._worker.close(CLOSE_TIMEOUT)
            self._worker = None

    def _answer(self, question: Question) -> StrategyOutcome:
        if self._worker is None:
            if self._hanging >= MAX_HANGING:
                return StrategyFailedError("hangs")
            if failure := self._start():
                return failure
        outcome, seconds = self._put(question, self._deadline)
        times = self._plays if isinstance(question, PlayQuestion) else self._others
        times.add(seconds)
        return outcome

    def _start(self) -> StrategyFailedError | None:
        self._worker = StrategyWorker(self._name, self._make)
        outcome, _ = self._put(_StartQuestion(), START_TIMEOUT)
        if not isinstance(outcome, StrategyFailedError):
            return None
        self.close()
        return outcome

    def _put(self, question: Question, deadline: float) -> tuple[StrategyOutcome, float]:
        """Ask, wait for the outcome, and return it with the seconds that it took."""
        worker = self._worker
        assert worker is not None  # noqa: S101 - for the type checker
        outcomes: SimpleQueue[tuple[StrategyOutcome, float]] = SimpleQueue()
        worker.ask(question, lambda outcome, seconds: outcomes.put((outcome, seconds)))
        try:
            return outcomes.get(timeout=deadline)
        except Empty:
            worker.close()
            self._worker = None
            self._hanging += 1
            return StrategyFailedError(f"gave no answer within {deadline:g} s"), deadline


@frozen
class _Leg:
    """One of the two games or matches of a pair, seen by A."""

    result: float
    luck: float | None
    games: int
    figures: tuple[PlayerStatistics, PlayerStatistics]
    """Of A and of B."""
    evaluator_error: str = ""


@frozen
class PlayedPair:
    """A pair that was played."""

    result: PairResult
    mats: dict[str, str] = field(factory=dict)
    """Its games or matches as .mat by file name, if they are wanted."""


class PairPlayer:
    """Plays pair after pair with the same two strategies."""

    def __init__(
        self,
        plan: DuelPlan,
        players: tuple[TimedStrategy, TimedStrategy],
        evaluator: Callable[[], Evaluator] | None = None,
        *,
        with_mats: bool = False,
    ) -> None:
        """Let A and B play.

        Args:
            plan: the settings.
            players: A and B.
            evaluator: returns the evaluator of luck and errors, as if new; called for each pair.
            with_mats: whether the games or matches are wanted as .mat.
        """
        self._plan = plan
        self._players = players
        self._evaluator = evaluator
        self._with_mats = with_mats

    def play(self, number: int) -> PlayedPair:
        """Play a pair."""
        for player, label in zip(self._players, "ab", strict=True):
            player.begin(f"{self._plan.seed} {number} {label}")
            player.collect()
        transcripts = {f"{number + 1:06}{'ab'[seat]}": self._transcript(number, seat) for seat in Seat}
        analyser = MatchAnalyser(self._evaluator()) if self._evaluator else None
        legs = [
            self._leg(transcript, seat, analyser) for transcript, seat in zip(transcripts.values(), Seat, strict=True)
        ]
        luck = [leg.luck for leg in legs if leg.luck is not None]
        result = PairResult(
            number,
            (legs[0].result, legs[1].result),
            (luck[0], luck[1]) if len(luck) == len(legs) else None,
            sum(leg.games for leg in legs),
            (self._stats_of(0, legs), self._stats_of(1, legs)),
            next((leg.evaluator_error for leg in legs if leg.evaluator_error), ""),
        )
        mats = (
            {f"{name}.mat": write_mat(transcript) for name, transcript in transcripts.items()}
            if self._with_mats
            else {}
        )
        return PlayedPair(result, mats)

    def _transcript(self, number: int, seat: Seat) -> Transcript:
        """Play one game or match with A at this seat."""
        plan = self._plan
        match = play_match(plan.laws, plan.length, partial(GameDice, plan.seed, number), plan.rules)
        games = play_out(match, [self._players[each_seat ^ seat].ask for each_seat in Seat])
        names = [Player(plan.labels[each_seat ^ seat]) for each_seat in Seat]
        given_id = f"duel-{plan.seed}-{number + 1:06}{'ab'[seat]}"
        return Transcript((names[0], names[1]), plan.length, games, given_id=given_id)

    def _leg(self, transcript: Transcript, seat: Seat, analyser: MatchAnalyser | None) -> _Leg:
        try:
            analysis = analyser.analyse(transcript) if analyser else None
        except AnalysisError as error:
            return evolve(_leg_result(self._plan, transcript, seat), evaluator_error=str(error))
        return _leg_result(self._plan, transcript, seat, analysis)

    def _stats_of(self, index: int, legs: Sequence[_Leg]) -> StrategyStats:
        figures = [leg.figures[index] for leg in legs]
        return evolve(
            self._players[index].collect(),
            judged=sum(statistics.decisions for statistics in figures),
            loss=sum(statistics.loss for statistics in figures),
        )


def _leg_result(plan: DuelPlan, transcript: Transcript, seat: Seat, analysis: MatchAnalysis | None = None) -> _Leg:
    """Return the result of A, who has this seat."""
    games = transcript.games
    points = {each_seat: transcript.scores[each_seat] for each_seat in Seat}
    result = float(points[seat] - points[seat.other])
    if plan.length:
        result = float(transcript.winner is seat)
    if analysis is None:
        return _Leg(result, None, len(games), (PlayerStatistics(), PlayerStatistics()))
    own, theirs = analysis.figures_of(seat), analysis.figures_of(seat.other)
    luck = own.luck_in_points - theirs.luck_in_points
    if plan.length:
        luck = own.luck_in_chances - theirs.luck_in_chances
    return _Leg(result, luck, len(games), (own, theirs))


@define(eq=False)
class DuelWork:
    """What all pairs share, and the players of a worker process, which are made for its first pair."""

    plan: DuelPlan
    with_mats: bool
    strategies: ReusedStrategies
    _player: PairPlayer | None = field(default=None, init=False)
    _held: contextlib.ExitStack = field(factory=contextlib.ExitStack, init=False)

    def __reduce__(self) -> tuple[type[DuelWork], tuple[DuelPlan, bool, ReusedStrategies]]:
        return DuelWork, (self.plan, self.with_mats, self.strategies)

    @property
    def player(self) -> PairPlayer:
        """The player of this process; raise StrategyError if a strategy cannot be made."""
        if self._player is None:
            plan, players = self.plan, []
            for label, name in zip(plan.labels, plan.strategies, strict=True):
                players.append(player := TimedStrategy(label, partial(self.strategies.new, name), plan.deadline))
                self._held.callback(player.close)
            evaluator = None
            if plan.evaluator:
                evaluator = partial(self.strategies.fresh_evaluator, plan.evaluator)
                evaluator()
            self._player = PairPlayer(plan, (players[0], players[1]), evaluator, with_mats=self.with_mats)
        return self._player

    def close(self) -> None:
        """Close the strategies."""
        self._player = None
        self._held.close()
        self.strategies.close()


def play_pairs(
    plan: DuelPlan,
    numbers: Iterable[int],
    pool: WorkerPool,
    mat_folder: Path | None = None,
    on_progress: ProgressCallback = lambda _: None,
) -> Generator[PairResult, None, None]:
    """Have workers play pairs, and yield each when it is finished.

    Every game or match is written into `mat_folder`, if there is one. Raises DuelError if a strategy cannot be made or
    needs this machine, a file cannot be written or the workers fail. Local processes have ended afterwards, whatever
    happens.
    """
    if plan.is_compiled:
        from fibsbot.arena.duel.compiled_games import play_compiled_pairs  # noqa: PLC0415 - loads the compiled kernels

        yield from play_compiled_pairs(plan, numbers, pool, on_progress)
        return
    names = [*plan.strategies, *([plan.evaluator] if plan.evaluator else [])]
    pieces = (Piece(f"pair {number + 1}", number) for number in numbers)
    try:
        check_portable(names, pool)
        travelling = names if is_backgammon(plan.rules) else ()  # a folder of networks may have none for backgammon
        work = DuelWork(plan, mat_folder is not None, ReusedStrategies.of(*travelling))
        run = pool.run(play_pair, pieces, shared=work, ordered=False, on_progress=on_progress)
        with lost_worker_named(), contextlib.closing(run) as played:
            for _, pair in played:
                for name, text in pair.mats.items():
                    assert mat_folder is not None  # noqa: S101 - for the type checker
                    _write_mat_file(mat_folder / name, text)
                yield pair.result
    except (StrategyError, WorkError) as error:
        raise DuelError(str(error)) from None


def play_pair(work: DuelWork, number: int) -> PlayedPair:
    """Play a pair in a worker."""
    return work.player.play(number)


def _write_mat_file(path: Path, text: str) -> None:
    with os_errors_as(DuelError, f"cannot write {path}"), replacing(path) as part:
        part.write_text(text, "utf-8")
