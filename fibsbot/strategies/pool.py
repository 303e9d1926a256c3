"""A pool of strategies in threads, with a deadline for each question and a fallback for each strategy.

A `StrategyPool` holds the instances of one or several strategies and may be shared by any number of bots: questions
are answered in order, by the first idle instance. An instance that misses its deadline is abandoned and replaced, so
that one decision that hangs holds up nobody else.
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

from fibsbot.strategies.base import Strategy
from fibsbot.strategies.questions import InvalidAnswerError, LastResort, Question, StrategyAnswer
from fibsbot.text import describe_error

MAX_HANGING: Final = 8
"""So many instances of a strategy may hang at the same time before no further one is made."""

StrategyFactory: TypeAlias = Callable[[], Strategy]
_log = structlog.get_logger(__name__)


@frozen
class TimedAnswer:
    """An answer, and why it is not the first strategy's, if it is not."""

    answer: StrategyAnswer
    fallback: str | None = None
    seconds: float = 0.0
    """That strategies have worked on it."""
    waited: float = 0.0
    """Seconds that it waited for a strategy to be free."""


class StrategyChain:
    """Asks the first strategy; if it is late, raises or answers nonsense, the next; in the end the last resort.

    A strategy instance gets one question at a time. One that never returns keeps its thread, and is passed over.
    """

    def __init__(self, strategies: Sequence[Strategy | PooledStrategy], deadline: float) -> None:
        """Ask these strategies in their order, each for at most `deadline` seconds.

        A strategy is asked in a thread of this thinker's own, a kind in the pool that it belongs to.
        """
        self._own = StrategyPool(max(len(strategies), 1))
        self._kinds = [it if isinstance(it, PooledStrategy) else self._own.add(it.name, ready=it) for it in strategies]
        self._deadline = deadline

    def ask(self, question: Question, then: Callable[[TimedAnswer], None]) -> PendingQuestion:
        """Have a question answered, whatever the strategies do; `then` gets the answer, later, from the event loop."""
        return PendingQuestion(self._kinds, question, self._deadline, then)

    def close(self) -> None:
        """End this thinker's own threads; those of a pool go on."""
        self._own.close()


class PendingQuestion:
    """A question on its way from strategy to strategy.

    No task waits for it: while many bots play in one event loop, every further turn of the loop delays the command.
    """

    def __init__(
        self, kinds: Sequence[PooledStrategy], question: Question, deadline: float, then: Callable[[TimedAnswer], None]
    ) -> None:
        """Ask the first of these kinds."""
        self._kinds = deque(kinds)
        self._question = question
        self._deadline = deadline
        self._then = then
        self._faults: list[str] = []
        self._seconds = self._waited = 0.0
        self._job: PoolJob | None = None
        self._cancelled = False
        if kinds:
            self._ask_next()
        else:
            asyncio.get_running_loop().call_soon(self._ask_last)

    def cancel(self) -> None:
        """Let nobody hear of it any more; a strategy that is at work goes on for nothing."""
        self._cancelled = True
        if self._job is not None:
            self._job.wanted = False

    def _ask_next(self) -> None:
        kind, urgent = self._kinds.popleft(), bool(self._faults)
        self._job = kind.pool.start(kind, self._question, self._deadline, self._on_outcome, urgent=urgent)

    def _on_outcome(self, job: PoolJob, outcome: StrategyAnswer | StrategyFailedError) -> None:
        self._seconds, self._waited = self._seconds + job.seconds, self._waited + job.waited
        if not isinstance(outcome, StrategyFailedError):
            self._tell(outcome)
            return
        self._faults.append(f"{job.kind.name} {outcome}")
        if self._kinds:
            self._ask_next()
        else:
            self._ask_last()

    def _ask_last(self) -> None:
        if not self._cancelled:
            self._faults = self._faults or ["no strategy to ask"]
            self._tell(self._question.put_to(LastResort()))

    def _tell(self, answer: StrategyAnswer) -> None:
        self._then(TimedAnswer(answer, "; ".join(self._faults) or None, self._seconds, self._waited))


class StrategyFailedError(Exception):
    """A strategy has no answer; the text goes on after its name."""


@define(eq=False)
class PooledStrategy:
    """A strategy that a pool knows: where its instances come from, and which are there."""

    pool: StrategyPool
    name: str
    make: StrategyFactory | None
    """Makes another instance, in the thread that will ask it; None: there is the one and no other."""
    idle: list[_Worker] = field(factory=list)
    late: int = 0
    """Instances that have not come back within their deadline."""
    living: int = 0
    """Instances that are idle, or at work and not late."""

    def may_grow(self) -> bool:
        """Whether another instance may be made."""
        return self.make is not None and self.late < MAX_HANGING


@define(eq=False)
class PoolJob:
    """A question on its way."""

    kind: PooledStrategy
    question: Question
    deadline: float
    then: Callable[[PoolJob, StrategyAnswer | StrategyFailedError], None]
    """Gets the outcome, once, unless nobody wants it any more."""
    loop: asyncio.AbstractEventLoop = field(factory=asyncio.get_running_loop)
    context: contextvars.Context = field(factory=contextvars.copy_context)
    """Whose question it is, for what is logged when the outcome comes: it comes from another thread."""
    wanted: bool = True
    seconds: float = 0.0
    """That the strategy worked on it."""
    waited: float = 0.0
    asked: float = field(factory=time.monotonic)
    timer: asyncio.TimerHandle | None = None

    def tell(self, outcome: StrategyAnswer | StrategyFailedError) -> None:
        """Tell the outcome to whoever wants it; what comes later is of no use."""
        wanted, self.wanted = self.wanted, False
        if wanted:
            self.context.run(self.then, self, outcome)


class StrategyPool:
    """Strategies in threads, at most so many at work at the same time.

    All methods are for the event loop's thread. A thread does not keep the program from ending.
    """

    def __init__(self, size: int) -> None:
        """Let `size` strategies work at the same time."""
        self._size = size
        self._kinds: list[PooledStrategy] = []
        self._working = 0
        self._waiting: deque[PoolJob] = deque()
        self._closed = False

    def add(self, name: str, make: StrategyFactory | None = None, *, ready: Strategy | None = None) -> PooledStrategy:
        """Let the pool know a strategy: an instance that is `ready`, a way to make others, or both.

        What was made here is closed here; the instance that was ready stays its owner's.
        """
        kind = PooledStrategy(self, name, make)
        self._kinds.append(kind)
        if ready is not None:
            kind.living += 1
            kind.idle.append(_Worker(kind, ready))
        return kind

    @property
    def waiting(self) -> int:
        """How many questions wait for a strategy."""
        return len(self._waiting)

    @property
    def late(self) -> int:
        """How many instances have not come back within their deadline."""
        return sum(kind.late for kind in self._kinds)

    def start(
        self,
        kind: PooledStrategy,
        question: Question,
        deadline: float,
        then: Callable[[PoolJob, StrategyAnswer | StrategyFailedError], None],
        *,
        urgent: bool = False,
    ) -> PoolJob:
        """Put a question to a strategy; `then` gets the job and its outcome, never before this method has returned.

        It is started within `deadline` seconds and answered within as many, or not at all. What is urgent goes first.
        """
        job = PoolJob(kind, question, deadline, then)
        if self._hopeless(kind):
            job.loop.call_soon(job.tell, StrategyFailedError("hangs" if kind.late else "cannot be asked"))
            return job
        if not self._waiting and self._begin(job):
            return job
        if urgent:
            self._waiting.appendleft(job)
        else:
            self._waiting.append(job)
        job.timer = job.loop.call_later(deadline, self._gave_up, job)
        self._go_on()
        return job

    def close(self) -> None:
        """Let idle threads end; those at work end when they come back."""
        self._closed = True
        for kind in self._kinds:
            for worker in kind.idle:
                worker.inbox.put(None)
            kind.idle.clear()

    # -- starting -----------------------------------------------------------------------------------------------

    def _hopeless(self, kind: PooledStrategy) -> bool:
        return self._closed or not (kind.living or kind.may_grow())

    def _go_on(self) -> None:
        """Start whatever can be started, in the order of the questions."""
        held: list[PoolJob] = []
        while self._waiting and self._working < self._size:
            job = self._waiting.popleft()
            if not job.wanted:
                _stop(job)
            elif self._hopeless(job.kind):
                _stop(job)
                job.loop.call_soon(job.tell, StrategyFailedError("hangs"))
            elif not self._begin(job):
                held.append(job)
        self._waiting.extendleft(reversed(held))

    def _begin(self, job: PoolJob) -> bool:
        """Give a job to a free instance; return whether there was one, or one could be made."""
        kind = job.kind
        if self._working >= self._size or not (kind.idle or kind.may_grow()):
            return False
        if kind.idle:
            worker = kind.idle.pop()
        else:
            worker = _Worker(kind, None)
            kind.living += 1
        _stop(job)
        job.waited = time.monotonic() - job.asked
        job.timer = job.loop.call_later(job.deadline, self._on_late, worker, job)
        self._working += 1
        worker.begin(job)
        return True

    def _gave_up(self, job: PoolJob) -> None:
        """Tell whoever waits that no instance was free in time."""
        self._waiting.remove(job)
        job.waited = job.deadline
        job.tell(StrategyFailedError(f"was busy for {job.deadline:g} s"))

    # -- ending -------------------------------------------------------------------------------------------------

    def _on_late(self, worker: _Worker, job: PoolJob) -> None:
        """Abandon an instance that does not come back; whoever waits goes on with another."""
        kind = job.kind
        worker.late = True
        job.seconds = job.deadline
        self._working -= 1
        kind.living -= 1
        kind.late += 1
        _log.warning("strategy hangs", strategy=kind.name, seconds=job.deadline, hanging=kind.late)
        self._go_on()
        job.tell(StrategyFailedError(f"gave no answer within {job.deadline:g} s"))

    def done(self, worker: _Worker, job: PoolJob, outcome: StrategyAnswer | StrategyFailedError) -> None:
        """Take what an instance came back with; for its thread, through the event loop."""
        kind = job.kind
        _stop(job)
        if worker.late:
            worker.late = False
            kind.late -= 1
            kind.living += 1
        else:
            self._working -= 1
        if self._closed or (worker.owned and kind.living > self._size):
            kind.living -= 1
            worker.inbox.put(None)
        else:
            kind.idle.append(worker)
        self._go_on()
        job.tell(outcome)


def _stop(job: PoolJob) -> None:
    if job.timer is not None:
        job.timer.cancel()
        job.timer = None


class _Worker:
    """An instance of a strategy, and the thread in which it is asked."""

    def __init__(self, kind: PooledStrategy, strategy: Strategy | None) -> None:
        """Have an instance, or None to make one with the first question."""
        self.inbox: SimpleQueue[PoolJob | None] = SimpleQueue()
        self.owned = strategy is None
        self.late = False
        self._kind = kind
        self._strategy = strategy
        self._thread: threading.Thread | None = None

    def begin(self, job: PoolJob) -> None:
        """Have a question answered; `StrategyPool.done` gets the outcome."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=f"strategy {self._kind.name}", daemon=True)
            self._thread.start()
        self.inbox.put(job)

    def _work(self) -> None:
        while (job := self.inbox.get()) is not None:
            outcome = self._outcome(job)
            with contextlib.suppress(RuntimeError):  # the loop is gone, and so is the question
                job.loop.call_soon_threadsafe(self._kind.pool.done, self, job, outcome)
            del job, outcome  # what waits for the next question holds on to nothing
        if self.owned and self._strategy is not None:
            try:
                self._strategy.close()
            except BaseException as error:  # noqa: BLE001 - a plug-in may raise anything
                _log.warning("strategy cannot be closed", strategy=self._kind.name, error=describe_error(error))

    def _outcome(self, job: PoolJob) -> StrategyAnswer | StrategyFailedError:
        """Ask, whatever it takes and whatever comes of it."""
        began = time.monotonic()
        try:
            if self._strategy is None and self._kind.make is not None:
                self._strategy = self._kind.make()
            if self._strategy is None:
                return StrategyFailedError("cannot be asked")
            return job.question.put_to(self._strategy)
        except InvalidAnswerError as error:
            return StrategyFailedError(f"answered nonsense: {error}")
        except BaseException as error:  # noqa: BLE001 - a plug-in may raise anything, SystemExit too
            return StrategyFailedError(f"raised {describe_error(error)}")
        finally:
            if not self.late:
                job.seconds = time.monotonic() - began
