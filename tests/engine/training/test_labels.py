"""Labels in files: the same by one process and by several."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from fibsbot.engine.arrays import boards_of
from fibsbot.engine.network import NetworkError
from fibsbot.engine.training.decision_labels import read_plays
from fibsbot.engine.training.labels import Chunk, Labeller, evaluate_five, label_all, play_games, read_labels, targets
from fibsbot.workers.pool import InProcessPool, LocalPool
from tests.engine.toys import Recounted, some_positions, toy_network, toy_teacher
from tests.patience import SOON

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def teacher() -> Labeller:
    """A toy that knows bear-off tables."""
    return toy_teacher()


def chunks(folder: Path, count: int) -> list[Chunk]:
    return [Chunk(folder / f"{number}.npz", 60, 100 + number) for number in range(count)]


def test_without_looking_ahead_a_label_is_what_the_evaluator_says() -> None:
    boards = boards_of(some_positions(20, 1))
    said = Recounted().evaluate(boards)
    assert (np.delete(said, 3, axis=1) == evaluate_five(Recounted(), boards)).all()


@pytest.mark.slow
def test_one_process_and_two_make_the_same_files(teacher: Labeller, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder, pool in ((one, InProcessPool()), (two, LocalPool(2))):
        folder.mkdir()
        assert [60] * 3 == list(label_all(teacher, chunks(folder, 3), pool))
        assert [] == list(label_all(teacher, chunks(folder, 3), pool)), "what is there is not made again"
    assert ["0.npz", "1.npz", "2.npz"] == sorted(path.name for path in one.iterdir())
    for chunk in chunks(one, 3):
        assert chunk.path.read_bytes() == (two / chunk.path.name).read_bytes()
    boards, learned = read_labels([chunk.path for chunk in chunks(one, 3)], 0.8)
    assert 180 == len(boards) == len(learned)
    first = play_games(teacher, 60, chunks(one, 1)[0].seed)
    assert (first.boards == boards[:60]).all()
    assert targets(first, 0.8) == pytest.approx(learned[:60], abs=1e-3)


@pytest.mark.parametrize(
    ("read", "labels"), [(partial(read_labels, trace=0.8), "labels"), (read_plays, "labels of decisions")]
)
def test_a_file_that_holds_no_labels_is_reported_in_one_line(
    tmp_path: Path, read: Callable[[list[Path]], object], labels: str
) -> None:
    path = tmp_path / "0000.npz"
    path.write_bytes(b"nonsense")
    with pytest.raises(NetworkError, match="expected a file of arrays"):
        read([path])
    toy_network().save(path)
    with pytest.raises(NetworkError, match=f"expected {labels}, found something else"):
        read([path])


LABEL_FOR_LONG = """
import signal
import sys
from pathlib import Path
from fibsbot.engine.training.labels import Chunk, label_all
from fibsbot.workers.pool import LocalPool
from tests.engine.toys import toy_teacher

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
    folder = Path(sys.argv[1])
    chunks = [Chunk(folder / "0.npz", 10, 1), Chunk(folder / "1.npz", 100_000_000, 1)]
    for _ in label_all(toy_teacher(), chunks, LocalPool(2)):
        print("one", flush=True)
"""


def children(process: int) -> set[int]:
    """Return the processes that this one has started, directly or not."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        parents[int(path.parent.name)] = int(fields[1])
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {process}


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_no_process_survives_its_parent(tmp_path: Path, how: signal.Signals) -> None:
    script = tmp_path / "script.py"
    script.write_text(LABEL_FOR_LONG)
    command = [sys.executable, str(script), str(tmp_path)]
    with subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert "one\n" == process.stdout.readline()
        started = children(process.pid)
        assert len(started) >= 2
        process.send_signal(how)
        process.wait(SOON)
        until = time.monotonic() + SOON
        while any(map(alive, started)) and time.monotonic() < until:
            time.sleep(0.01)
        assert not any(map(alive, started))
