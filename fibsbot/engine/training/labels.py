"""Labels in files: made by all cores, a file a chunk."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from attrs import frozen

from fibsbot.engine.boards import Boards
from fibsbot.engine.evaluator import Evaluator
from fibsbot.engine.network import Floats, NetworkError, load_arrays, write_whole
from fibsbot.engine.training.games import FIVE, Labels, Teacher, play_games, targets
from fibsbot.processes import end_with_parent, share


@frozen
class Chunk:
    """Some labels to be made."""

    path: Path
    count: int
    seed: int


def label_all(teacher: Teacher, chunks: Sequence[Chunk], jobs: int) -> Iterator[int]:
    """Make the chunks whose files are missing, side by side; yield after each how many labels it was meant to have.

    Raises OSError for a file that cannot be written, LostError for a process that has died.
    """
    missing = [chunk for chunk in chunks if not chunk.path.exists()]
    yield from share(_work, (teacher, missing), range(len(missing)), jobs)


def read_labels(paths: Sequence[Path], trace: float) -> tuple[Boards, Floats]:
    """Return all boards of some chunks, and what a network is to learn of them; see `games.targets`.

    Raises NetworkError if a file is none, OSError if it is missing.
    """
    chunks = [read_chunk(path) for path in paths]
    boards = np.concatenate([chunk.boards for chunk in chunks])
    return boards, np.concatenate([targets(chunk, trace) for chunk in chunks])


def read_chunk(path: Path) -> Labels:
    """Return what a chunk holds; raise NetworkError if the file is none, OSError if it is missing."""
    arrays = load_arrays(path)
    if set(arrays) != {*Labels._fields}:
        raise NetworkError(f"{path}: expected labels, found something else")
    return Labels(**arrays)


def _work(way: Connection, teacher: Teacher, chunks: Sequence[Chunk]) -> None:
    """Make the chunks that come. The whole of a process."""
    end_with_parent()
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError), way:
        while (number := way.recv()) is not None:
            try:
                way.send(_make(teacher, chunks[number]))
            except OSError as error:
                way.send(error)


def _make(teacher: Teacher, chunk: Chunk) -> int:
    labels = play_games(teacher, chunk.count, chunk.seed)
    room = io.BytesIO()
    np.savez_compressed(room, allow_pickle=False, **labels._replace(missed=labels.missed.astype(np.float16))._asdict())
    write_whole(chunk.path, room.getvalue())
    return chunk.count


def evaluate_five(evaluator: Evaluator, boards: Boards) -> Floats:
    """Return the five chances that a network learns, as an evaluator sees them without looking ahead."""
    return evaluator.evaluate(boards)[:, FIVE].astype(np.float32)
