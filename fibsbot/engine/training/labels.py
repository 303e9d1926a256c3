"""Labels in files: made by all cores, a file a chunk."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Final

import numpy as np
from attrs import frozen

from fibsbot.engine.boards import Boards
from fibsbot.engine.evaluator import Evaluator
from fibsbot.engine.network import Floats, NetworkError, load_arrays, write_whole
from fibsbot.engine.training.games import FIVE, Labels, Teacher, play_games, targets

_ONE_THREAD: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""What tells a new process to keep its matrix products on one core: the processes share the cores among themselves."""


@frozen
class Chunk:
    """Some labels to be made."""

    path: Path
    count: int
    seed: int


def label_all(teacher: Teacher, chunks: Sequence[Chunk], jobs: int) -> Iterator[int]:
    """Make the chunks whose files are missing, side by side; yield after each how many labels it was meant to have.

    Raises OSError for a file that cannot be written, BrokenExecutor for a process that has died.
    """
    missing = [chunk for chunk in chunks if not chunk.path.exists()]
    if not missing:
        return
    for variable in _ONE_THREAD:
        os.environ[variable] = "1"
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=spawn, initializer=_begin, initargs=(teacher,)) as pool:
        try:
            with _deaf():  # the first ones start the processes
                chores = [pool.submit(_make, chunk) for chunk in missing[:jobs]]
            chores += [pool.submit(_make, chunk) for chunk in missing[jobs:]]
            for done in as_completed(chores):
                yield done.result()
        except BaseException:
            for worker in multiprocessing.active_children():
                worker.terminate()  # who stops does not wait for what is half done
            raise


def read_labels(paths: Sequence[Path], trace: float) -> tuple[Boards, Floats]:
    """Return all boards of some chunks, and what a network is to learn of them; see `games.targets`.

    Raises NetworkError if a file is none, OSError if it is missing.
    """
    chunks = [_read(path) for path in paths]
    boards = np.concatenate([chunk.boards for chunk in chunks])
    return boards, np.concatenate([targets(chunk, trace) for chunk in chunks])


def _read(path: Path) -> Labels:
    arrays = load_arrays(path)
    if set(arrays) != {*Labels._fields}:
        raise NetworkError(f"{path}: expected labels, found something else")
    return Labels(**arrays)


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Start processes that do not hear Ctrl-C: who started them ends them, and hears it a moment later."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_teachers: list[Teacher] = []
"""The one teacher of a worker process."""


def _begin(teacher: Teacher) -> None:
    _teachers[:] = [teacher]
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Leave when the process that started this one is gone, killed perhaps."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _make(chunk: Chunk) -> int:
    labels = play_games(_teachers[0], chunk.count, chunk.seed)
    room = io.BytesIO()
    np.savez_compressed(room, allow_pickle=False, **labels._replace(missed=labels.missed.astype(np.float16))._asdict())
    write_whole(chunk.path, room.getvalue())
    return chunk.count


def evaluate_five(evaluator: Evaluator, boards: Boards) -> Floats:
    """Return the five chances that a network learns, as an evaluator sees them without looking ahead."""
    return evaluator.evaluate(boards)[:, FIVE].astype(np.float32)
