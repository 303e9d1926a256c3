"""Labels: what positions are worth one roll ahead, made by all cores, a file a chunk."""

from __future__ import annotations

import io
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Final

import numpy as np
from attrs import frozen

from fibsbot.engine.bearoff import Columns
from fibsbot.engine.boards import Boards
from fibsbot.engine.evaluator import Evaluator, NetworkEvaluator, is_known
from fibsbot.engine.network import Floats
from fibsbot.engine.ply import Filter, one_ply
from fibsbot.engine.pruner import Pruner
from fibsbot.engine.training.positions import Variety, play_positions

_ONE_THREAD: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""What tells a new process to keep its matrix products on one core: the processes share the cores among themselves."""

FIVE: Final = [0, 1, 2, 4, 5]
"""Which of the six outcomes a network learns."""


@frozen(eq=False)
class Teacher:
    """Who labels, and what: everything that a worker needs."""

    evaluator: NetworkEvaluator
    pruner: Pruner
    columns: Columns
    filter: Filter
    variety: Variety


@frozen
class Chunk:
    """Some labels to be made."""

    path: Path
    count: int
    seed: int


def label(teacher: Teacher, chunk: Chunk) -> tuple[Boards, Floats]:
    """Play, and return positions with their five chances one roll ahead; what tables or laws know is left out."""
    boards = play_positions(teacher.pruner, chunk.count, teacher.variety, chunk.seed)
    boards = boards[~is_known(boards, teacher.columns)]
    targets = one_ply(teacher.evaluator, teacher.pruner, boards, teacher.filter)[:, FIVE]
    return boards, targets.astype(np.float32)


def label_all(teacher: Teacher, chunks: Sequence[Chunk], jobs: int) -> Iterator[int]:
    """Make the chunks whose files are missing, side by side; yield after each how many labels it was meant to have."""
    missing = [chunk for chunk in chunks if not chunk.path.exists()]
    if not missing:
        return
    for variable in _ONE_THREAD:
        os.environ[variable] = "1"
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=spawn, initializer=_begin, initargs=(teacher,)) as pool:
        try:
            for done in as_completed([pool.submit(_make, chunk) for chunk in missing]):
                yield done.result()
        finally:
            pool.shutdown(cancel_futures=True)


def read_labels(paths: Sequence[Path]) -> tuple[Boards, Floats]:
    """Return all boards and targets of some chunks."""
    boards, targets = [], []
    for path in paths:
        with np.load(path, allow_pickle=False) as file:
            boards.append(file["boards"])
            targets.append(file["targets"])
    return np.concatenate(boards), np.concatenate(targets)


_teachers: list[Teacher] = []
"""The one teacher of a worker process."""


def _begin(teacher: Teacher) -> None:
    _teachers[:] = [teacher]


def _make(chunk: Chunk) -> int:
    boards, targets = label(_teachers[0], chunk)
    room = io.BytesIO()
    np.savez_compressed(room, boards=boards, targets=targets.astype(np.float16), allow_pickle=False)
    whole = chunk.path.with_suffix(".new")
    whole.write_bytes(room.getvalue())
    whole.replace(chunk.path)
    return chunk.count


def evaluate_five(evaluator: Evaluator, boards: Boards) -> Floats:
    """Return the five chances that a network learns, as an evaluator sees them without looking ahead."""
    return evaluator.evaluate(boards)[:, FIVE].astype(np.float32)
