"""Worker processes, one per core, that end with the process that started them."""

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
"""Seconds for a worker to exit by itself before it is killed."""
THREAD_VARIABLES: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Environment variables that set the number of threads of libraries."""

Stop: TypeAlias = Callable[[BaseProcess], None]
"""Stops a worker in the middle of its work."""


class WorkerLostError(RuntimeError):
    """A worker ended before its work was done; the text says how."""

    def __init__(self, item: Any, status: int | None) -> None:
        """Create the error from the item that the worker had, and its exit status."""
        super().__init__(f"was killed by signal {-status}" if status and status < 0 else f"ended with status {status}")
        self.item = item


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def signals_held_back(*signals: signal.Signals) -> Iterator[None]:
    """Block signals while processes are started, which inherit the mask and never receive them.

    Ctrl-C goes to all processes of a terminal at once, but only the parent shall stop its workers. No signal is lost:
    one that arrives within the block, even in another thread, is raised after it, and never in the middle of a start,
    which would leave an orphan.
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
    """Set the environment so that libraries of started processes use one thread each."""
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
    """End this process as soon as its parent has ended, even if it was killed."""
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
    held_back: tuple[signal.Signals, ...] = (signal.SIGINT,),
    stop: Stop = BaseProcess.kill,
) -> Generator[Any, None, None]:
    """Let worker processes work on items, and yield their answers in any order.

    Each worker calls `work` with a connection and the arguments. It receives one item after another and sends an answer
    to each, until it receives None or the connection is closed. An answer that is an exception is raised here,
    WorkerLostError if a worker has ended. All workers have ended when this generator ends; those still at work are
    stopped. Workers never receive the signals in `held_back`.
    """
    left = iter(items)
    workers: list[_Worker] = []
    try:
        for _, item in zip(range(jobs), left, strict=False):
            workers.append(worker := _start_worker(work, arguments, held_back))
            worker.send(item)
        while at_work := {worker.connection: worker for worker in workers if worker.item is not None}:
            for worker in [at_work[ready] for ready in wait(list(at_work)) if isinstance(ready, Connection)]:
                answer = worker.receive()
                worker.send(next(left, None))
                yield answer
    finally:
        _stop_workers(workers, stop)


@define
class _Worker:
    """A worker process, its connection and its current item."""

    process: BaseProcess
    connection: Connection
    item: Any = None

    def send(self, item: Any) -> None:
        """Send the next item, or None to let the worker end."""
        self.item = item
        with contextlib.suppress(OSError):  # it has ended, which `receive` reports
            self.connection.send(item)

    def receive(self) -> Any:
        """Return the answer; raise it if it is an exception."""
        try:
            answer = self.connection.recv()
        except (EOFError, OSError):
            self.process.join(EXIT_TIMEOUT)
            raise WorkerLostError(self.item, self.process.exitcode) from None
        if isinstance(answer, Exception):
            raise answer
        return answer


def _start_worker(
    work: Callable[..., None], arguments: tuple[Any, ...], held_back: tuple[signal.Signals, ...]
) -> _Worker:
    context = multiprocessing.get_context("spawn")  # a fork would copy the locks of our threads
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs, *arguments), daemon=True)
    with signals_held_back(*held_back), single_threaded_libraries():
        process.start()
    theirs.close()
    return _Worker(process, ours)


def _stop_workers(workers: list[_Worker], stop: Stop) -> None:
    for worker in workers:
        if worker.item is not None and worker.process.is_alive():
            stop(worker.process)
        worker.connection.close()
    for worker in workers:
        worker.process.join(EXIT_TIMEOUT)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()
