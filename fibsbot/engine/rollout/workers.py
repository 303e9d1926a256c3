"""Blocks of a rollout on all cores: processes that play one after the other, each with an engine of its own."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Final, TypeAlias

from attrs import define, field, frozen

from fibsbot.engine.engine import Engine
from fibsbot.engine.rollout.plan import Candidate, Plan
from fibsbot.engine.rollout.playing import Roller
from fibsbot.engine.rollout.result import RolloutError, Trials

Maker: TypeAlias = Callable[[], Engine]
"""Makes the engine in each process; it must be something that can be pickled, such as `Engine.load`."""
Block: TypeAlias = tuple[int, list[Trials]]
"""The number of a block, and what its games gave by candidate."""

LEAVING: Final = 5.0
"""Seconds for a process to go."""
ONE_CORE: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""What tells libraries how many threads to use: every process has one core."""


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def play_blocks(
    make: Maker, candidates: Sequence[Candidate], plan: Plan, numbers: Iterable[int], jobs: int
) -> Generator[Block, None, None]:
    """Play these blocks in so many processes and yield each when it is done, in any order.

    Even one job gets a process: so the libraries calculate as they do in several. Raises RolloutError where a process
    cannot make its engine or dies. However this ends, all processes are gone afterwards.
    """
    left = iter(numbers)
    crew = _Crew()
    try:
        for _, number in zip(range(jobs), left, strict=False):
            crew.start(make, candidates, plan).give(number)
        while crew.at_work:
            for worker in crew.ready():
                block = worker.take()
                worker.give(next(left, None))
                yield block
    finally:
        crew.dismiss()


@define
class _Worker:
    """A process, and what it does."""

    process: BaseProcess
    way: Connection
    number: int | None = None
    """The block that it plays."""

    def give(self, number: int | None) -> None:
        """Have it play this block; None: it may go."""
        self.number = number
        with contextlib.suppress(OSError):  # it has died, which `take` will tell
            self.way.send(number)

    def take(self) -> Block:
        """Return the block that it has played. Raises RolloutError."""
        try:
            told: Block | RolloutError = self.way.recv()
        except (EOFError, OSError):
            self.process.join(LEAVING)
            how = self.process.exitcode
            what = f"was killed by signal {-how}" if how and how < 0 else f"ended with status {how}"
            raise RolloutError(f"a process of the rollout {what}") from None
        if isinstance(told, RolloutError):
            raise told
        return told


@frozen
class _Crew:
    """All processes of a rollout."""

    workers: list[_Worker] = field(factory=list)

    @property
    def at_work(self) -> list[_Worker]:
        """Those that play."""
        return [worker for worker in self.workers if worker.number is not None]

    def start(self, make: Maker, candidates: Sequence[Candidate], plan: Plan) -> _Worker:
        """Start a process."""
        context = multiprocessing.get_context("spawn")  # a fork would copy the locks of our threads
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, make, tuple(candidates), plan), daemon=True)
        with _alone():
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
        """End all of them, in the middle of a block if need be: nothing is lost but what they play."""
        for worker in self.workers:
            worker.way.close()
            if worker.number is not None:
                worker.process.kill()
        for worker in self.workers:
            worker.process.join(LEAVING)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Start processes with one thread each, that do not hear Ctrl-C: whoever started them ends them."""
    before = {name: os.environ.get(name) for name in ONE_CORE}
    os.environ.update(dict.fromkeys(ONE_CORE, "1"))
    main = threading.current_thread() is threading.main_thread()
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
    try:
        yield
    finally:
        if main:
            signal.signal(signal.SIGINT, heard)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _work(way: Connection, make: Maker, candidates: Sequence[Candidate], plan: Plan) -> None:
    """Play the blocks that come, until there are no more or nobody is there any longer. The whole of a process."""
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError), way:
        try:
            roller = Roller(make())
        except Exception as error:  # noqa: BLE001 - whatever it is, it has to be told in a line
            way.send(RolloutError(f"the engine cannot be made: {' '.join(str(error).split())}"))
            return
        while (number := way.recv()) is not None:
            way.send((number, roller.play(candidates, plan, number)))
