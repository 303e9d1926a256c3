"""Pairs of games with the same dice and swapped seats: the strategies, the games, and the processes that play them."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

from attrs import evolve, frozen

from fibsbot.analysis.match_analysis import AnalysisError, MatchAnalyser, open_evaluator
from fibsbot.analysis.model import MatchAnalysis, PlayerStatistics
from fibsbot.arena.duel.games import play_match, play_out
from fibsbot.arena.duel.plan import DuelError, DuelPlan, GameDice
from fibsbot.arena.duel.results import PairResult, StrategyStats, TimeHistogram
from fibsbot.files import replacing
from fibsbot.formats.mat import write_mat
from fibsbot.rules.state import Seat
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.evaluator import Evaluator
from fibsbot.strategies.loader import StrategyError, load
from fibsbot.strategies.pool import MAX_HANGING, Outcome, StrategyFactory, StrategyWorker
from fibsbot.strategies.questions import (
    AcceptAnswer,
    LastResort,
    PlayQuestion,
    Question,
    StrategyAnswer,
    StrategyFailedError,
)
from fibsbot.transcript import Player, Transcript
from fibsbot.workers.processes import WorkerLostError, map_unordered

START_TIMEOUT: Final = 300.0
"""Seconds for a strategy to be made: it may load networks and compile."""
CLOSE_TIMEOUT: Final = 2.0
"""Seconds for a strategy to be closed; then the process ends without it."""
MAX_FAULT_LENGTH: Final = 200
"""Characters of a fault that are kept."""


class _StartQuestion:
    """A question without a decision: it has the strategy made."""

    def put_to(self, strategy: Strategy) -> StrategyAnswer:  # noqa: ARG002 - the interface
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

    def _answer(self, question: Question) -> Outcome:
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

    def _put(self, question: Question, deadline: float) -> tuple[Outcome, float]:
        """Ask, wait for the outcome, and return it with the seconds that it took."""
        worker = self._worker
        assert worker is not None  # noqa: S101 - for the type checker
        outcomes: SimpleQueue[tuple[Outcome, float]] = SimpleQueue()
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


class PairPlayer:
    """Plays pair after pair with the same two strategies."""

    def __init__(
        self,
        plan: DuelPlan,
        players: tuple[TimedStrategy, TimedStrategy],
        evaluator: Evaluator | None = None,
        mat_folder: Path | None = None,
    ) -> None:
        """Let A and B play; every game or match is written into `mat_folder`, if there is one."""
        self._plan = plan
        self._players = players
        self._analyser = MatchAnalyser(evaluator) if evaluator else None
        self._mat_folder = mat_folder

    def play(self, number: int) -> PairResult:
        """Play a pair. Raises DuelError where a file cannot be written."""
        for player in self._players:
            player.collect()
        legs = tuple(self._leg(number, seat) for seat in Seat)
        luck = [it.luck for it in legs if it.luck is not None]
        return PairResult(
            number,
            (legs[0].result, legs[1].result),
            (luck[0], luck[1]) if len(luck) == len(legs) else None,
            sum(it.games for it in legs),
            (self._stats_of(0, legs), self._stats_of(1, legs)),
            next((it.evaluator_error for it in legs if it.evaluator_error), ""),
        )

    def _leg(self, number: int, seat: Seat) -> _Leg:
        """Play one game or match with A at this seat."""
        plan = self._plan
        match = play_match(plan.laws, plan.length, partial(GameDice, plan.seed, number))
        games = play_out(match, [self._players[it ^ seat].ask for it in Seat])
        names = [Player(plan.labels[it ^ seat]) for it in Seat]
        leg = f"{number + 1:06}{'ab'[seat]}"
        transcript = Transcript((names[0], names[1]), plan.length, games, given_id=f"duel-{plan.seed}-{leg}")
        if self._mat_folder:
            _write_mat_file(self._mat_folder / f"{leg}.mat", transcript)
        try:
            analysis = self._analyser.analyse(transcript) if self._analyser else None
        except AnalysisError as error:
            return evolve(_leg_result(plan, transcript, seat), evaluator_error=str(error))
        return _leg_result(plan, transcript, seat, analysis)

    def _stats_of(self, index: int, legs: Sequence[_Leg]) -> StrategyStats:
        figures = [it.figures[index] for it in legs]
        return evolve(
            self._players[index].collect(),
            judged=sum(it.decisions for it in figures),
            loss=sum(it.loss for it in figures),
        )


def _leg_result(plan: DuelPlan, transcript: Transcript, seat: Seat, analysis: MatchAnalysis | None = None) -> _Leg:
    """Return the result of A, who has this seat."""
    games = transcript.games
    points = {it: transcript.scores[it] for it in Seat}
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


def _write_mat_file(path: Path, transcript: Transcript) -> None:
    try:
        with replacing(path) as part:
            part.write_text(write_mat(transcript), "utf-8")
    except OSError as error:
        raise DuelError(f"cannot write {path}: {error.strerror}") from None


STOP_SIGNAL: Final = signal.SIGUSR1
"""Ends a worker in the middle of a pair. Ctrl-C and SIGTERM often go to all processes at once; only the process that
started the workers acts on them."""


def play_pairs(
    plan: DuelPlan, numbers: Iterable[int], jobs: int, mat_folder: Path | None = None
) -> Generator[PairResult, None, None]:
    """Play pairs in `jobs` processes and yield each when it is finished.

    Raises DuelError if a strategy cannot be made, a file cannot be written or a process dies. All processes have ended
    afterwards, whatever happens.
    """
    held_back = (signal.SIGINT, signal.SIGTERM)
    try:
        yield from map_unordered(_play_pairs, (plan, mat_folder), numbers, jobs, held_back=held_back, stop=STOP_SIGNAL)
    except WorkerLostError as error:
        raise DuelError(f"a process that played pair {error.item + 1} {error}") from None


def _play_pairs(numbers: Iterator[int], plan: DuelPlan, mat_folder: Path | None) -> Iterator[PairResult]:
    """Play pairs in a worker process."""
    signal.signal(STOP_SIGNAL, lambda *_: sys.exit(0))
    signal.signal(signal.SIGTERM, lambda *_: None)  # not ignored, lest programs that a strategy starts ignore it, too
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a strategy prints does not belong to the results
    with contextlib.ExitStack() as held:
        try:
            player = _open_player(held, plan, mat_folder)
            for number in numbers:
                yield player.play(number)
        except StrategyError as error:
            raise DuelError(str(error)) from error
        finally:
            signal.signal(STOP_SIGNAL, signal.SIG_IGN)  # it ends anyway


def _open_player(held: contextlib.ExitStack, plan: DuelPlan, mat_folder: Path | None) -> PairPlayer:
    players = []
    for label, name in zip(plan.labels, plan.strategies, strict=True):
        players.append(player := TimedStrategy(label, partial(load, name), plan.deadline))
        held.callback(player.close)
    evaluator = held.enter_context(open_evaluator(plan.judge)) if plan.judge else None
    return PairPlayer(plan, (players[0], players[1]), evaluator, mat_folder)
