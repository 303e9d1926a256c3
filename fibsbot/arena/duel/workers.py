"""Worker processes that play pairs, with each strategy in a thread of its own: deadlines, faults, fallback, times."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final, TypeAlias

from attrs import field, frozen

from fibsbot.analysis.match_analysis import open_evaluator
from fibsbot.arena.duel.games import PairPlayer
from fibsbot.arena.duel.plan import DuelError, DuelPlan
from fibsbot.arena.duel.results import PairResult, StrategyStats, TimeHistogram
from fibsbot.processes import WorkerLostError, map_unordered
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import StrategyError, load
from fibsbot.strategies.questions import InvalidAnswerError, LastResort, PlayQuestion, Question, StrategyAnswer
from fibsbot.text import describe_error, one_line

START_TIMEOUT: Final = 300.0
"""Seconds for a strategy to be made: it may load networks and compile."""
CLOSE_TIMEOUT: Final = 2.0
"""Seconds for a strategy to be closed; then the process goes without it."""
MAX_HANGING: Final = 8
"""So many instances may hang before no further one is made."""
LONGEST_FAULT: Final = 200
"""Characters of a fault that are kept."""

MakeStrategy: TypeAlias = Callable[[], Strategy]


@frozen
class _Fault:
    """Why there is no answer; goes on after the strategy's name."""

    text: str


@frozen
class _ThreadQueues:
    """A thread that has made a strategy, and the ways to it and from it."""

    inbox: SimpleQueue[Question | None] = field(factory=SimpleQueue)
    outbox: SimpleQueue[tuple[StrategyAnswer | _Fault | None, float]] = field(factory=SimpleQueue)


class StrategyThread:
    """Puts one question after the other to a strategy; if it has no answer, the last resort has one."""

    def __init__(self, name: str, make: MakeStrategy, deadline: float) -> None:
        """Make the strategy, in the thread that will ask it. Raises StrategyError where it cannot be made."""
        self._name = name
        self._make = make
        self._deadline = deadline
        self._hanging = 0
        self._hand: _ThreadQueues | None = None
        self._thread: threading.Thread | None = None
        fault = self._begin()
        if fault:
            raise StrategyError(fault.text)
        self._fresh()

    def _fresh(self) -> None:
        self._plays = TimeHistogram()
        self._others = TimeHistogram()
        self._faults = 0
        self._example = ""

    def ask(self, question: Question) -> StrategyAnswer:
        """Return an answer, whatever the strategy does."""
        answer = self._answer(question)
        if not isinstance(answer, _Fault):
            return answer
        self._faults += 1
        self._example = self._example or f"{self._name} {answer.text}"[:LONGEST_FAULT]
        return question.put_to(LastResort())

    def collect(self) -> StrategyStats:
        """Return what was counted since the last time."""
        counted = StrategyStats(self._plays, self._others, self._faults, self._example)
        self._fresh()
        return counted

    def close(self) -> None:
        """Let the strategy be closed by its thread; one that does not come back is left."""
        if self._hand and self._thread:
            self._hand.inbox.put(None)
            self._thread.join(CLOSE_TIMEOUT)
            self._hand = None

    def _answer(self, question: Question) -> StrategyAnswer | _Fault:
        if self._hand is None:
            if self._hanging > MAX_HANGING:
                return _Fault("hangs")
            if fault := self._begin():
                return fault
        hand = self._hand
        assert hand is not None  # noqa: S101 - for the type checker: _begin has made one
        times = self._plays if isinstance(question, PlayQuestion) else self._others
        hand.inbox.put(question)
        try:
            answer, seconds = hand.outbox.get(timeout=self._deadline)
        except Empty:
            times.add(self._deadline)
            self._abandon(hand)
            return _Fault(f"gave no answer within {self._deadline:g} s")
        times.add(seconds)
        return _Fault("gave no answer") if answer is None else answer

    def _begin(self) -> _Fault | None:
        hand = _ThreadQueues()
        self._thread = threading.Thread(target=_serve, args=(hand, self._make), name=self._name, daemon=True)
        self._thread.start()
        try:
            answer, _ = hand.outbox.get(timeout=START_TIMEOUT)
        except Empty:
            self._abandon(hand)
            return _Fault(f"strategy {self._name!r} was not made within {START_TIMEOUT:g} s")
        if isinstance(answer, _Fault):
            return answer
        self._hand = hand
        return None

    def _abandon(self, hand: _ThreadQueues) -> None:
        """Go on without an instance that does not come back; should it ever, it is closed."""
        hand.inbox.put(None)
        self._hand = None
        self._hanging += 1


def _serve(hand: _ThreadQueues, make: MakeStrategy) -> None:
    """Make a strategy, answer questions until there are no more, and close it."""
    try:
        strategy = make()
    except BaseException as error:  # noqa: BLE001 - a plug-in may raise anything
        hand.outbox.put((_Fault(str(error) if isinstance(error, StrategyError) else describe_error(error)), 0.0))
        return
    hand.outbox.put((None, 0.0))
    while (question := hand.inbox.get()) is not None:
        began = time.perf_counter()
        answer = _ask_strategy(question, strategy)
        hand.outbox.put((answer, time.perf_counter() - began))
    with contextlib.suppress(BaseException):  # a plug-in may raise anything, and nothing depends on it any more
        strategy.close()


def _ask_strategy(question: Question, strategy: Strategy) -> StrategyAnswer | _Fault:
    try:
        return question.put_to(strategy)
    except InvalidAnswerError as error:
        return _Fault(f"answered nonsense: {one_line(error)}")
    except BaseException as error:  # noqa: BLE001 - a plug-in may raise anything, SystemExit too
        return _Fault(f"raised {describe_error(error)}")


STOP_SIGNAL: Final = signal.SIGUSR1
"""What ends a process in the middle of a pair. Ctrl-C and SIGTERM often go to all processes at once; these are heard by
whoever started the others, and by nobody else."""


def play_pairs(
    plan: DuelPlan, numbers: Iterable[int], jobs: int, mats: Path | None = None
) -> Generator[PairResult, None, None]:
    """Play these pairs in so many processes and yield each when it is finished.

    Raises DuelError where a strategy cannot be made, a file cannot be written or a process dies. However this ends, all
    processes are gone afterwards.
    """
    unheard = (signal.SIGINT, signal.SIGTERM)
    try:
        yield from map_unordered(_run_worker, (plan, mats), numbers, jobs, unheard=unheard, stop=_stop)
    except WorkerLostError as error:
        raise DuelError(f"a process that played pair {error.item + 1} {error}") from None


def _stop(process: BaseProcess) -> None:
    if process.pid is not None:
        os.kill(process.pid, STOP_SIGNAL)


def _run_worker(way: Connection, plan: DuelPlan, mats: Path | None) -> None:
    """Play the pairs that come, until there are no more or nobody is there any longer. The whole of a process."""
    signal.signal(STOP_SIGNAL, lambda *_: sys.exit(0))
    signal.signal(signal.SIGTERM, lambda *_: None)  # not ignored, lest programs that a strategy starts ignore it, too
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a strategy prints is no result
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError), contextlib.ExitStack() as held:
        held.callback(way.close)
        try:
            room = _open_player(held, plan, mats)
            while (number := way.recv()) is not None:
                way.send(room.play(number))
        except StrategyError as error:
            way.send(DuelError(str(error)))
        except DuelError as error:
            way.send(error)
        finally:
            signal.signal(STOP_SIGNAL, signal.SIG_IGN)  # it goes anyway


def _open_player(held: contextlib.ExitStack, plan: DuelPlan, mats: Path | None) -> PairPlayer:
    askers = []
    for label, name in zip(plan.labels, plan.strategies, strict=True):
        askers.append(asker := StrategyThread(label, partial(load, name), plan.deadline))
        held.callback(asker.close)
    judge = held.enter_context(open_evaluator(plan.judge)) if plan.judge else None
    return PairPlayer(plan, (askers[0], askers[1]), judge, mats)
