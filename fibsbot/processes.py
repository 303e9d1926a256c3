"""Processes that work side by side for one that waits for them: on a core each, and gone when that one is gone."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final, TypeAlias

from attrs import define

EXIT_TIMEOUT: Final = 5.0
"""Seconds for a process to go by itself; then it is killed."""
THREAD_VARIABLES: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""What tells libraries how many threads to use."""

Stop: TypeAlias = Callable[[BaseProcess], None]
"""Ends a process in the middle of its work."""


class WorkerLostError(RuntimeError):
    """A process is gone before it was done; the text says how it ended."""

    def __init__(self, item: Any, status: int | None) -> None:
        """Say what it worked at, and with which status it ended."""
        super().__init__(f"was killed by signal {-status}" if status and status < 0 else f"ended with status {status}")
        self.item = item


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def signals_held_back(*signals: signal.Signals) -> Iterator[None]:
    """Start processes that never hear these signals: who started them ends them, and hears them a moment later.

    Ctrl-C goes to all processes of a terminal at once. Nothing is lost meanwhile: a signal that is held back comes
    afterwards, also one that another thread takes, and never in the middle of a start, which would leave an orphan.
    """
    resource_tracker.ensure_running()  # its start, with the first process, would let the signals through again
    held: list[int] = []
    handlers = {}
    if threading.current_thread() is threading.main_thread():
        for number in filter(lambda it: callable(signal.getsignal(it)), signals):
            handlers[number] = signal.signal(number, lambda it, _: held.append(it))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for one in dict.fromkeys(held):
            signal.raise_signal(one)


@contextlib.contextmanager
def single_threaded_libraries() -> Iterator[None]:
    """Start processes whose libraries use one thread each."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def exit_with_parent() -> None:
    """Have this process end when the one that started it is gone, killed perhaps."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def map_unordered(  # noqa: PLR0913 - what they do, at what, how many, and how they are started and stopped
    work: Callable[..., None],
    arguments: tuple[Any, ...],
    items: Iterable[Any],
    jobs: int,
    *,
    unheard: tuple[signal.Signals, ...] = (signal.SIGINT,),
    stop: Stop = BaseProcess.kill,
) -> Generator[Any, None, None]:
    """Have processes work at items, and yield what they answer, in any order.

    `work` is called in each with a connection and the arguments. It receives one item after the other and sends an
    answer to each, until it receives None or finds the connection closed. An answer that is an exception is raised
    here, WorkerLostError where a process is gone. However this ends, all processes are gone afterwards; who is at
    work then
    is stopped.
    """
    left = iter(items)
    workers: list[_Worker] = []
    try:
        for _, item in zip(range(jobs), left, strict=False):
            workers.append(worker := _start_worker(work, arguments, unheard))
            worker.give(item)
        while at_work := {worker.way: worker for worker in workers if worker.item is not None}:
            for worker in [at_work[way] for way in wait(list(at_work)) if isinstance(way, Connection)]:
                answer = worker.take()
                worker.give(next(left, None))
                yield answer
    finally:
        _stop_workers(workers, stop)


@define
class _Worker:
    """A process, and what it works at."""

    process: BaseProcess
    way: Connection
    item: Any = None

    def give(self, item: Any) -> None:
        """Have it work at this; None: it may go."""
        self.item = item
        with contextlib.suppress(OSError):  # it has died, which `take` will tell
            self.way.send(item)

    def take(self) -> Any:
        """Return its answer, or raise it."""
        try:
            answer = self.way.recv()
        except (EOFError, OSError):
            self.process.join(EXIT_TIMEOUT)
            raise WorkerLostError(self.item, self.process.exitcode) from None
        if isinstance(answer, Exception):
            raise answer
        return answer


def _start_worker(
    work: Callable[..., None], arguments: tuple[Any, ...], unheard: tuple[signal.Signals, ...]
) -> _Worker:
    context = multiprocessing.get_context("spawn")  # a fork would copy the locks of our threads
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs, *arguments), daemon=True)
    with signals_held_back(*unheard), single_threaded_libraries():
        process.start()
    theirs.close()
    return _Worker(process, ours)


def _stop_workers(workers: list[_Worker], stop: Stop) -> None:
    for worker in workers:
        if worker.item is not None and worker.process.is_alive():
            stop(worker.process)
        worker.way.close()
    for worker in workers:
        worker.process.join(EXIT_TIMEOUT)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
