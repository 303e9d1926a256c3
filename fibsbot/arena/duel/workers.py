"""Pairs on all cores: processes that play one pair after the other, each with strategies of its own."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Generator, Iterable, Iterator
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final, TypeAlias

from attrs import define, field, frozen

from fibsbot.arena.duel.asking import Asker
from fibsbot.arena.duel.pairs import Room
from fibsbot.arena.duel.plan import DuelError, Plan
from fibsbot.arena.duel.tally import Pair
from fibsbot.strategies.loader import StrategyError, load
from fibsbot.study.many import opened_judge

LEAVING: Final = 5.0
"""Seconds for a process to close its strategies; then it is killed."""
ONE_CORE: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""What tells libraries how many threads to use: here every process has one core."""

STOP: Final = signal.SIGUSR1
"""What ends a process in the middle of a pair. Ctrl-C and SIGTERM often go to all processes at once; these are heard by
whoever started the others, and by nobody else."""

Told: TypeAlias = Pair | DuelError
"""What a process answers: a pair, or why there are no more."""


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def play_pairs(plan: Plan, numbers: Iterable[int], jobs: int, mats: Path | None = None) -> Generator[Pair, None, None]:
    """Play these pairs in so many processes and yield each when it is finished.

    Raises DuelError where a strategy cannot be made, a file cannot be written or a process dies. However this ends, all
    processes are gone afterwards.
    """
    left = iter(numbers)
    crew = _Crew()
    try:
        for _, number in zip(range(jobs), left, strict=False):
            worker = crew.start(plan, mats)
            worker.give(number)
        while crew.at_work:
            for worker in crew.ready():
                pair = worker.take()
                worker.give(next(left, None))
                yield pair
    finally:
        crew.dismiss()


@define
class _Worker:
    """A process, and what it does."""

    process: BaseProcess
    way: Connection
    number: int | None = None
    """The pair that it plays."""

    def give(self, number: int | None) -> None:
        """Have it play this pair; None: it may go."""
        self.number = number
        with contextlib.suppress(OSError):  # it has died, which `take` will tell
            self.way.send(number)

    def stop(self) -> None:
        """Have it leave what it plays."""
        if self.process.pid is not None and self.process.is_alive():
            os.kill(self.process.pid, STOP)

    def take(self) -> Pair:
        """Return the pair that it has played. Raises DuelError."""
        try:
            told: Told = self.way.recv()
        except (EOFError, OSError):
            self.process.join(LEAVING)
            how = self.process.exitcode
            what = f"was killed by signal {-how}" if how and how < 0 else f"ended with status {how}"
            raise DuelError(f"a process that played pair {(self.number or 0) + 1} {what}") from None
        if isinstance(told, DuelError):
            raise told
        return told


@frozen
class _Crew:
    """All processes of a duel."""

    workers: list[_Worker] = field(factory=list)

    @property
    def at_work(self) -> list[_Worker]:
        """Those that play."""
        return [worker for worker in self.workers if worker.number is not None]

    def start(self, plan: Plan, mats: Path | None) -> _Worker:
        """Start a process."""
        context = multiprocessing.get_context("spawn")  # a fork would copy the locks of our threads
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, plan, mats), daemon=True)
        with _deaf():
            process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self.workers.append(worker)
        return worker

    def ready(self) -> list[_Worker]:
        """Wait until some have something to tell, and return them."""
        at_work = {worker.way: worker for worker in self.at_work}
        return [at_work[way] for way in wait(list(at_work)) if isinstance(way, Connection)]

    def dismiss(self) -> None:
        """End all of them: at once where they play, else when they have closed their strategies."""
        for worker in self.workers:
            if worker.number is not None:
                worker.stop()
            worker.way.close()
        for worker in self.workers:
            worker.process.join(LEAVING)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Start processes that hear neither Ctrl-C nor SIGTERM from their first moment on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _work(way: Connection, plan: Plan, mats: Path | None) -> None:
    """Play the pairs that come, until there are no more or nobody is there any longer. The whole of a process."""
    signal.signal(STOP, lambda *_: sys.exit(0))
    signal.signal(signal.SIGTERM, lambda *_: None)  # not ignored, lest programs that a strategy starts ignore it, too
    for name in ONE_CORE:
        os.environ.setdefault(name, "1")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a strategy prints is no result
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError), contextlib.ExitStack() as held:
        held.callback(way.close)
        try:
            room = _opened(held, plan, mats)
            while (number := way.recv()) is not None:
                way.send(room.play(number))
        except StrategyError as error:
            way.send(DuelError(str(error)))
        except DuelError as error:
            way.send(error)
        finally:
            signal.signal(STOP, signal.SIG_IGN)  # it goes anyway


def _opened(held: contextlib.ExitStack, plan: Plan, mats: Path | None) -> Room:
    askers = []
    for label, name in zip(plan.labels, plan.strategies, strict=True):
        askers.append(asker := Asker(label, partial(load, name), plan.deadline))
        held.callback(asker.close)
    judge = held.enter_context(opened_judge(plan.judge)) if plan.judge else None
    return Room(plan, (askers[0], askers[1]), judge, mats)
