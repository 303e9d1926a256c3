"""Replays many sources: on all cores, told in their order, in memory that does not grow with them."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import signal
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, Final

from attrs import define

from fibsbot.processes import cores, deaf, end_with_parent
from fibsbot.replay.opening import Source
from fibsbot.replay.working import Advance, Outcome, Task, Write, replay_source

AHEAD: Final = 64
"""Sources that may be finished before the one whose turn it is to be told."""
SMALL: Final = 2_000_000
"""Bytes that are replayed before another process would have started."""
_TICK: Final = 0.2
"""Seconds between two looks at how far the workers are."""


class WorkersLostError(RuntimeError):
    """A process that replayed files is gone: killed, or out of memory."""


def replay_all(
    sources: Sequence[Source], task: Task, write: Write, advance: Advance, jobs: int | None = None
) -> Iterator[Outcome]:
    """Replay all, and yield what came of each, in their order, after its text was written.

    `jobs` processes work at a time; None is as many as there are cores and work for. Raises StrategyError, and
    WorkersLostError if a process dies.
    """
    jobs = min(jobs or _useful(sources, task), len(sources))
    if jobs > 1:
        with tempfile.TemporaryDirectory(prefix="fibsbot-replay-") as folder:
            yield from _in_parallel(sources, task, write, advance, jobs, Path(folder))
        return
    for source in sources:
        yield replay_source(source, task, write, advance)


def _useful(sources: Sequence[Source], task: Task) -> int:
    """Return how many processes are worth their start."""
    return cores() if task.deciding else min(cores(), sum(source.size for source in sources) // SMALL)


def _in_parallel(  # noqa: PLR0913, PLR0917 - what replay_all was given, and where the texts wait
    sources: Sequence[Source], task: Task, write: Write, advance: Advance, jobs: int, folder: Path
) -> Iterator[Outcome]:
    context = multiprocessing.get_context("spawn")  # not forked: the progress bar has a thread of its own
    meter = _Meter(context.Value("q", 0), advance)
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(meter.done, gc.get_threshold()))
    waiting: deque[tuple[Path, Future[Outcome]]] = deque()
    try:
        for number, source in enumerate(sources):
            text = folder / str(number)
            with deaf(signal.SIGINT):  # as long as there are fewer than `jobs`, it starts a process
                waiting.append((text, pool.submit(_replay_into, source, task, text)))
            if len(waiting) == AHEAD:
                yield _told(*waiting.popleft(), write, meter)
        while waiting:
            yield _told(*waiting.popleft(), write, meter)
    except BrokenProcessPool:
        raise WorkersLostError("a process that replayed files has died; it may have been out of memory") from None
    except BaseException:
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()  # nobody waits for what they still do
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _told(text: Path, future: Future[Outcome], write: Write, meter: _Meter) -> Outcome:
    """Wait for what came of a source, and write its text."""
    while not future.done():
        with contextlib.suppress(TimeoutError):
            future.exception(_TICK)
        meter.look()
    outcome = future.result()
    with text.open(encoding="utf-8", newline="") as file:
        for chunk in iter(lambda: file.read(2**16), ""):
            write(chunk)
    text.unlink()
    return outcome


@define
class _Meter:
    """How many bytes the workers have read, told as it grows."""

    done: Any
    """A number that all processes share."""
    advance: Advance
    _told: int = 0

    def look(self) -> None:
        now = self.done.value
        self.advance(now - self._told)
        self._told = now


# -- in a worker ----------------------------------------------------------------------------------------------------

_done: Any = None
"""The number that this worker adds to."""


def _begin(done: Any, thresholds: tuple[int, int, int]) -> None:
    """Prepare a worker: it ends with the process that started it, however that one ends.

    It looks for garbage as seldom as that one: Python's own thresholds cost a replay a tenth of its time.
    """
    global _done  # noqa: PLW0603 - a pool hands its workers things in no other way
    gc.set_threshold(*thresholds)
    _done = done
    end_with_parent()


def _replay_into(source: Source, task: Task, text: Path) -> Outcome:
    """Replay a source, its text going to a file: nobody knows how long it becomes."""
    with text.open("w", encoding="utf-8", newline="") as file:
        return replay_source(source, task, file.write, _advance)


def _advance(count: int) -> None:
    with _done.get_lock():
        _done.value += count
