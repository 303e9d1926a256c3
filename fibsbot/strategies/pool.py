"""Strategies that are asked in threads, with a deadline for each question and a fallback for each strategy.

A `StrategyPool` holds the instances of one or several strategies and may be shared by any number of bots: questions
are answered in order, by the first idle instance. An instance that misses its deadline is abandoned and replaced, so
that one decision that hangs delays nobody else.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Final, TypeAlias

import structlog
from attrs import define, field, frozen

from fibsbot.strategies.base import Strategy, close_in_time, try_to_close
from fibsbot.strategies.questions import (
    LastResort,
    Question,
    StrategyAnswer,
    StrategyFailedError,
    ask_strategy,
)
from fibsbot.text import describe_error

MAX_HANGING: Final = 8
"""Instances of a strategy that may hang at the same time before no further one is made."""

StrategyFactory: TypeAlias = Callable[[], Strategy]
StrategyOutcome: TypeAlias = StrategyAnswer | StrategyFailedError
OnOutcome: TypeAlias = Callable[[StrategyOutcome, float], None]
"""Called with the outcome of a question and the seconds that the strategy took."""
_log = structlog.get_logger(__name__)


def close_strategy(strategy: Strategy, name: str) -> None:
    """Close a strategy; one that raises costs a warning."""
    _warn_if_not_closed(name, try_to_close(strategy))


def close_strategy_in_time(strategy: Strategy, name: str, timeout: float | None = None) -> None:
    """Close a strategy in time at the end of the program; one that cannot be closed costs a warning."""
    _warn_if_not_closed(name, close_in_time(strategy, timeout))


def _warn_if_not_closed(name: str, fault: str | None) -> None:
    if fault is not None:
        _log.warning("strategy cannot be closed", strategy=name, error=fault)


class StrategyWorker:
    """An instance of a strategy, and the thread in which it is made, asked and closed."""

    def __init__(self, name: str, make: StrategyFactory | None = None, *, instance: Strategy | None = None) -> None:
        """Use an instance, which is not closed here, or make one with the first question."""
        self.owned = instance is None
        """Whether the instance is made and closed here."""
        self._name = name
        self._make = make
        self._instance = instance
        self._inbox: SimpleQueue[tuple[Question, OnOutcome] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def ask(self, question: Question, on_outcome: OnOutcome) -> None:
        """Start to answer a question; `on_outcome` is called in the worker's thread."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"strategy {self._name}", daemon=True)
            self._thread.start()
        self._inbox.put((question, on_outcome))

    def close(self, timeout: float = 0.0) -> None:
        """Let the thread end once it is idle; wait for that at most `timeout` seconds."""
        self._inbox.put(None)
        if timeout and self._thread is not None:
            self._thread.join(timeout)

    def _run(self) -> None:
        while (item := self._inbox.get()) is not None:
            question, on_outcome = item
            began = time.perf_counter()
            outcome = self._ask(question)
            on_outcome(outcome, time.perf_counter() - began)
            del item, question, on_outcome, outcome  # keep nothing alive while waiting for the next question
        if self.owned and self._instance is not None:
            close_strategy(self._instance, self._name)

    def _ask(self, question: Question) -> StrategyOutcome:
        try:
            if self._instance is None and self._make is not None:
                self._instance = self._make()
        except BaseException as error:  # noqa: BLE001 - a plug-in may raise anything, SystemExit too
            failure = StrategyFailedError(f"raised {describe_error(error)}")
            failure.__cause__ = error
            return failure
        if self._instance is None:
            return StrategyFailedError("cannot be asked")
        try:
            return ask_strategy(self._instance, question)
        except StrategyFailedError as error:
            return error


@frozen
class TimedAnswer:
    """An answer, and why it is not the first strategy's, if it is not."""

    answer: StrategyAnswer | None
    """None if even the last resort has none, as to a question that makes no sense."""
    fallback: str | None = None
    seconds: float = 0.0
    """Time that strategies worked on it."""
    waited: float = 0.0
    """Time that it waited for an idle instance."""


class StrategyChain:
    """Strategies in the order in which they are asked: if one is late or fails, the next; at the end the last resort.

    An instance gets one question at a time. One that never returns keeps its thread, and is not asked again.
    """

    def __init__(self, strategies: Sequence[Strategy | PooledStrategy], deadline: float) -> None:
        """Give each strategy at most `deadline` seconds for a question.

        A `Strategy` is asked in a thread that belongs to the chain, a `PooledStrategy` in its pool.
        """
        self._own = StrategyPool(max(len(strategies), 1))
        self._strategies = [
            strategy if isinstance(strategy, PooledStrategy) else self._own.add(strategy.name, instance=strategy)
            for strategy in strategies
        ]
        self._deadline = deadline

    def ask(self, question: Question, on_answer: Callable[[TimedAnswer], None]) -> PendingQuestion:
        """Ask a question; `on_answer` is called from the event loop, after this method has returned."""
        pending = PendingQuestion(question, self._deadline, on_answer, deque(self._strategies))
        pending.start()
        return pending

    def close(self) -> None:
        """End the chain's own threads; those of a pool go on."""
        self._own.close()


@define(eq=False)
class PendingQuestion:
    """A question on its way from strategy to strategy.

    No task waits for it: while many bots play in one event loop, every further turn of the loop delays the command.
    """

    question: Question
    deadline: float
    _on_answer: Callable[[TimedAnswer], None]
    _strategies: deque[PooledStrategy]
    """The strategy that is asked, and those to ask if it fails."""
    waited: float = 0.0
    seconds: float = 0.0
    cancelled: bool = False
    loop: asyncio.AbstractEventLoop = field(factory=asyncio.get_running_loop)
    timer: asyncio.TimerHandle | None = None
    """Ends the wait for an instance, or for its answer."""
    _submitted: float = 0.0
    """When the present strategy's pool got the question."""
    _faults: list[str] = field(factory=list)
    _context: contextvars.Context = field(factory=contextvars.copy_context)
    """The bot whose question it is, for the log: the outcome comes from another thread."""

    @property
    def strategy(self) -> PooledStrategy:
        """The strategy that is asked."""
        return self._strategies[0]

    def start(self) -> None:
        """Ask the first strategy."""
        if self._strategies:
            self._submit()
        else:
            self._faults.append("no strategy to ask")
            self.loop.call_soon(self._ask_last_resort)

    def cancel(self) -> None:
        """Drop the question; a strategy that is working on it is not interrupted."""
        self.cancelled = True

    def fail_soon(self, reason: str) -> None:
        """Let the present strategy fail, from the event loop."""
        self.loop.call_soon(self.on_outcome, StrategyFailedError(reason))

    def on_outcome(self, outcome: StrategyOutcome) -> None:
        """Deliver the answer, or go on with the next strategy."""
        if not self.cancelled:
            self._context.run(self._go_on, outcome)

    def _go_on(self, outcome: StrategyOutcome) -> None:
        if not isinstance(outcome, StrategyFailedError):
            self._deliver(outcome)
            return
        self._faults.append(f"{self._strategies.popleft().name} {outcome}")
        if self._strategies:
            self._submit()
        else:
            self._ask_last_resort()

    def _submit(self) -> None:
        self._submitted = time.monotonic()
        self.strategy.pool.submit(self, urgent=bool(self._faults))

    def _ask_last_resort(self) -> None:
        if self.cancelled:
            return
        try:
            answer = ask_strategy(LastResort(), self.question)
        except StrategyFailedError as error:
            self._faults.append(f"the last resort {error}")
            _log.exception("a question has no answer", error=str(error))
            self._deliver(None)
        else:
            self._deliver(answer)

    def _deliver(self, answer: StrategyAnswer | None) -> None:
        self._on_answer(TimedAnswer(answer, "; ".join(self._faults) or None, self.seconds, self.waited))

    def start_timer(self, callback: Callable[..., None], *args: object) -> None:
        """Call a method of the pool unless the question has moved on within the deadline."""
        self.timer = self.loop.call_later(self.deadline, callback, *args)

    def stop_timer(self) -> None:
        """Stop the timer, if it runs."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def stop_waiting(self) -> None:
        """Add the time since the pool got the question to the time that it waited."""
        self.stop_timer()
        self.waited += time.monotonic() - self._submitted


@define(eq=False)
class PooledStrategy:
    """A strategy of a pool: how its instances are made, and which there are."""

    pool: StrategyPool
    name: str
    make: StrategyFactory | None
    """Makes another instance, in the thread in which it is asked; None if there is only one."""
    idle: list[StrategyWorker] = field(factory=list)
    hanging: set[StrategyWorker] = field(factory=set)
    """Instances that have missed a deadline and not returned since."""
    living: int = 0
    """Instances that are idle, or working within their deadline."""

    @property
    def may_grow(self) -> bool:
        """Whether another instance may be made."""
        return self.make is not None and len(self.hanging) < MAX_HANGING


class StrategyPool:
    """Strategies in threads, of which at most `size` work at the same time.

    All methods must be called from the event loop's thread. The threads do not keep the program from ending.
    """

    def __init__(self, size: int) -> None:
        """Let `size` instances work at the same time."""
        self._size = size
        self._strategies: list[PooledStrategy] = []
        self._working = 0
        self._queue: deque[PendingQuestion] = deque()
        self._closed = False

    def add(
        self, name: str, make: StrategyFactory | None = None, *, instance: Strategy | None = None
    ) -> PooledStrategy:
        """Add a strategy: an instance, a way to make others, or both.

        Instances that the pool makes are closed by it; the one that it is given belongs to the caller.
        """
        strategy = PooledStrategy(self, name, make)
        self._strategies.append(strategy)
        if instance is not None:
            strategy.living += 1
            strategy.idle.append(StrategyWorker(name, instance=instance))
        return strategy

    @property
    def waiting(self) -> int:
        """Number of questions that wait for an idle instance."""
        return len(self._queue)

    @property
    def hanging(self) -> int:
        """Number of instances that have missed a deadline and not returned since."""
        return sum(len(strategy.hanging) for strategy in self._strategies)

    def submit(self, pending: PendingQuestion, *, urgent: bool = False) -> None:
        """Put a question to its present strategy; `pending.on_outcome` is called after this method has returned.

        The strategy must start within the question's deadline, and then answer within the same time. An urgent question
        goes first.
        """
        if self._unavailable(pending.strategy):
            pending.fail_soon("hangs" if pending.strategy.hanging else "cannot be asked")
        elif self._queue or not self._begin(pending):
            if urgent:
                self._queue.appendleft(pending)
            else:
                self._queue.append(pending)
            pending.start_timer(self._on_busy, pending)
            self._begin_queued()

    def close(self) -> None:
        """End the idle threads; the others end when they return."""
        self._closed = True
        for strategy in self._strategies:
            for worker in strategy.idle:
                worker.close()
            strategy.idle.clear()

    def _unavailable(self, strategy: PooledStrategy) -> bool:
        return self._closed or not (strategy.living or strategy.may_grow)

    def _begin_queued(self) -> None:
        """Begin all questions that can be begun, in their order."""
        held: list[PendingQuestion] = []
        while self._queue and self._working < self._size:
            pending = self._queue.popleft()
            if pending.cancelled:
                pending.stop_timer()
            elif self._unavailable(pending.strategy):
                pending.stop_timer()
                pending.fail_soon("hangs")
            elif not self._begin(pending):
                held.append(pending)
        self._queue.extendleft(reversed(held))

    def _begin(self, pending: PendingQuestion) -> bool:
        """Give a question to an idle instance or a new one; return whether there is any."""
        strategy = pending.strategy
        if self._working >= self._size or not (strategy.idle or strategy.may_grow):
            return False
        if strategy.idle:
            worker = strategy.idle.pop()
        else:
            worker = StrategyWorker(strategy.name, strategy.make)
            strategy.living += 1
        pending.stop_waiting()
        pending.start_timer(self._on_late, strategy, worker, pending)
        self._working += 1

        def on_outcome(outcome: StrategyOutcome, seconds: float) -> None:
            with contextlib.suppress(RuntimeError):  # the event loop is closed, and nobody waits any more
                pending.loop.call_soon_threadsafe(self._on_done, strategy, worker, pending, outcome, seconds)

        worker.ask(pending.question, on_outcome)
        return True

    def _on_busy(self, pending: PendingQuestion) -> None:
        """Fail a question for which no instance became idle in time."""
        self._queue.remove(pending)
        pending.stop_waiting()
        pending.on_outcome(StrategyFailedError(f"was busy for {pending.deadline:g} s"))

    def _on_late(self, strategy: PooledStrategy, worker: StrategyWorker, pending: PendingQuestion) -> None:
        """Abandon an instance that has missed its deadline."""
        strategy.hanging.add(worker)
        strategy.living -= 1
        self._working -= 1
        pending.seconds += pending.deadline
        _log.warning("strategy hangs", strategy=strategy.name, seconds=pending.deadline, hanging=len(strategy.hanging))
        self._begin_queued()
        pending.on_outcome(StrategyFailedError(f"gave no answer within {pending.deadline:g} s"))

    def _on_done(
        self,
        strategy: PooledStrategy,
        worker: StrategyWorker,
        pending: PendingQuestion,
        outcome: StrategyOutcome,
        seconds: float,
    ) -> None:
        """Take back an instance that has returned, and its outcome unless that comes too late."""
        late = worker in strategy.hanging
        if late:
            strategy.hanging.remove(worker)
            strategy.living += 1
        else:
            self._working -= 1
            pending.stop_timer()
            pending.seconds += seconds
        if self._closed or (worker.owned and strategy.living > self._size):
            strategy.living -= 1
            worker.close()
        else:
            strategy.idle.append(worker)
        self._begin_queued()
        if not late:
            pending.on_outcome(outcome)
