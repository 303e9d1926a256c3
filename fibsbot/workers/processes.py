"""Worker processes, one per core, that end with the process that started them."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from attrs import define

from fibsbot.workers.errors import WorkerLostError

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext

BACKGROUND_NICENESS: Final = 15
"""Of processes that work in the background; 0 is usual, 19 the most."""
EXIT_TIMEOUT: Final = 5.0
"""Seconds for a worker to exit by itself before it is killed."""
THREAD_VARIABLES: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Environment variables that set the number of threads of libraries."""
GRACEFUL_STOP: Final = signal.SIGUSR1
"""Lets a worker process end its generator before it exits."""
CONTEXT: SpawnContext | ForkServerContext = multiprocessing.get_context("spawn")
"""How they are started. A fork would copy the locks of our threads."""


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
        for number in filter(lambda signal_number: callable(signal.getsignal(signal_number)), signals):
            handlers[number] = signal.signal(number, lambda received, _: held.append(received))
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


def start_without_main_module(process: BaseProcess) -> None:
    """Start a process that does not import the main module, unless what it is given is defined there.

    It would run a script again that calls us without asking for `__name__ == "__main__"`, as most scripts do.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        process.start()
    except (pickle.PicklingError, AttributeError):  # raised before anything is started
        sys.modules["__main__"] = main
        process.start()
    finally:
        sys.modules["__main__"] = main


class WorkerProcesses:
    """Worker processes that are given numbered items one by one. They are started when there is work for them."""

    def __init__(
        self,
        work: Callable[..., Iterator[Any]],
        arguments: tuple[Any, ...],
        jobs: int,
        *,
        graceful: bool = False,
        background: bool = False,
    ) -> None:
        """Prepare up to `jobs` processes.

        Args:
            work: a generator function, called in each process with an iterator of items and the arguments; it must
                yield one answer to each item before it takes the next.
            arguments: for `work`.
            jobs: the number of processes.
            graceful: whether a process that is stopped ends its generator first; else it is killed. Such a process
                never acts on SIGINT or SIGTERM, which often go to all processes at once.
            background: whether they leave the cores to other processes that need them.
        """
        self._background = background
        self._work = work
        self._arguments = arguments
        self._jobs = jobs
        self._stop = GRACEFUL_STOP if graceful else signal.SIGKILL
        self._workers: list[_Worker] = []

    @property
    def free(self) -> int:
        """Processes without an item."""
        return self._jobs - self.in_flight

    @property
    def in_flight(self) -> int:
        """Processes with an item."""
        return sum(worker.item is not None for worker in self._workers)

    @property
    def workers(self) -> int:
        """Processes that were started."""
        return len(self._workers)

    def submit(self, number: int, item: Any) -> None:
        """Give an item to a free process."""
        worker = next((candidate for candidate in self._workers if candidate.item is None), None)
        if worker is None:
            held_back = (signal.SIGINT, signal.SIGTERM) if self._stop is GRACEFUL_STOP else (signal.SIGINT,)
            worker = _start_worker(self._work, self._arguments, held_back, self._stop)
            if self._background and worker.process.pid is not None:
                with contextlib.suppress(OSError):  # it has ended, which `collect` reports
                    os.setpriority(os.PRIO_PROCESS, worker.process.pid, BACKGROUND_NICENESS)
            self._workers.append(worker)
        worker.send(number, item)

    def collect(self, seconds: float) -> list[tuple[int, Any]]:
        """Return the answers that have come, each with the number of its item; wait for one, at most these seconds.

        Raises what `work` has raised, and WorkerLostError if a process has ended.
        """
        at_work = {worker.connection: worker for worker in self._workers if worker.item is not None}
        ready = [at_work[source] for source in wait(list(at_work), seconds) if isinstance(source, Connection)]
        return [(worker.number, worker.receive()) for worker in ready]

    def close(self) -> None:
        """End all processes; those still at work are stopped."""
        _stop_workers(self._workers, self._stop)
        self._workers = []


@define
class _Worker:
    """A worker process, its connection and its current item."""

    process: BaseProcess
    connection: Connection
    number: int = 0
    """Of the item."""
    item: Any = None
    """None while it has nothing to do."""

    def send(self, number: int, item: Any) -> None:
        """Send the next item, or None to let the worker end."""
        self.number, self.item = number, item
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
        self.item = None
        return answer


def _start_worker(
    work: Callable[..., Iterator[Any]],
    arguments: tuple[Any, ...],
    held_back: tuple[signal.Signals, ...],
    stop: signal.Signals,
) -> _Worker:
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=_run_worker, args=(theirs, work, arguments, stop, gc.get_threshold()), daemon=True)
    with signals_held_back(*held_back), single_threaded_libraries():
        start_without_main_module(process)
    theirs.close()
    return _Worker(process, ours)


def _stop_workers(workers: list[_Worker], stop: signal.Signals) -> None:
    for worker in workers:
        if worker.item is not None and worker.process.is_alive() and worker.process.pid is not None:
            with contextlib.suppress(ProcessLookupError):  # it has ended just now
                os.kill(worker.process.pid, stop)
        worker.connection.close()
    for worker in workers:
        worker.process.join(EXIT_TIMEOUT)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


def _run_worker(
    connection: Connection,
    work: Callable[..., Iterator[Any]],
    arguments: tuple[Any, ...],
    stop: signal.Signals,
    thresholds: tuple[int, int, int],
) -> None:
    """Run a worker process: send answers until there are no more items, or the parent has ended.

    It collects garbage as rarely as its parent: Python's default thresholds would cost a replay a tenth of its time.
    What it prints goes to stderr: stdout is for the results, which the parent prints.
    """
    gc.set_threshold(*thresholds)
    os.dup2(2, 1)
    if stop is GRACEFUL_STOP:
        _stop_gracefully()
    threading.Thread(target=_stop_with_parent, args=(stop,), daemon=True).start()
    answers = _with_error(work(_items_from(connection), *arguments))
    with connection, contextlib.closing(answers), contextlib.suppress(BrokenPipeError, ConnectionResetError):
        for answer in answers:
            connection.send(answer)


def _stop_gracefully() -> None:
    """Exit by an exception at GRACEFUL_STOP, and do nothing at SIGTERM."""

    def end(*_: object) -> None:
        signal.signal(GRACEFUL_STOP, signal.SIG_IGN)  # it ends already
        sys.exit(0)

    signal.signal(GRACEFUL_STOP, end)
    signal.signal(signal.SIGTERM, lambda *_: None)  # not ignored, lest child processes ignore it, too
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def _stop_with_parent(stop: signal.Signals) -> None:
    """Stop this process as soon as its parent has ended, even if it was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), stop)


def _items_from(connection: Connection) -> Iterator[Any]:
    with contextlib.suppress(EOFError, ConnectionResetError):  # the parent has closed its end
        while (item := connection.recv()) is not None:
            yield item


def _with_error(answers: Iterator[Any]) -> Generator[Any, None, None]:
    """Yield answers; the exception that ends them becomes the last one."""
    try:
        yield from answers
    except Exception as error:  # noqa: BLE001 - the parent raises it
        error.add_note(f"In a worker process:\n{traceback.format_exc()}")
        yield error
