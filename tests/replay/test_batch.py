"""Batches of files: output in order, independent of each other, and no worker left behind."""

from __future__ import annotations

import contextlib
import gzip
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from unittest.mock import create_autospec

import pytest

from fibsbot.replay import batch, match_files
from fibsbot.replay.batch import ReplayTask, SourceResult, replay_all, replay_content, replay_source
from fibsbot.replay.comparison import ComparisonOptions
from fibsbot.replay.match_files import ReplaySource, find_sources
from fibsbot.strategies.loader import StrategyError
from fibsbot.workers.errors import WorkerLostError
from fibsbot.workers.pool import LocalPool, WorkerPool
from tests.patience import SOON

DATA: Final = Path(__file__).parent.parent / "data"
WATCHED: Final = (DATA / "protocol" / "session_watch.txt").read_bytes()
LOGGED: Final = (DATA / "bot" / "tigergammon.jsonl").read_bytes()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Make a folder of captures, large and small, damaged and none."""
    (tmp_path / "a.txt").write_bytes(WATCHED * 3)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "damaged.gz").write_bytes(gzip.compress(LOGGED)[:-900])
    (tmp_path / "b" / "log.jsonl").write_bytes(LOGGED)
    (tmp_path / "b" / "picture.png").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "b" / "empty").write_bytes(b"")
    (tmp_path / "c.txt").write_bytes(WATCHED)
    return tmp_path


@contextlib.contextmanager
def hidden(folder: Path) -> Iterator[None]:
    """Let a folder be missing."""
    folder.rename(folder.with_name("hidden"))
    try:
        yield
    finally:
        folder.with_name("hidden").rename(folder)


def run(path: Path, task: ReplayTask, jobs: int) -> tuple[str, list[SourceResult], int]:
    """Replay a folder; return what was told, what came of each source, and how many bytes were reported as read."""
    told: list[str] = []
    read: list[int] = []
    outcomes = list(replay_all(find_sources([path]), task, told.append, read.append, LocalPool(jobs)))
    return "".join(told), outcomes, sum(read)


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [False, True])
def test_several_processes_give_the_output_of_one(files: Path, as_json: bool) -> None:  # noqa: FBT001
    task = ReplayTask(as_json=as_json, with_file_name=True)
    alone, together = run(files, task, 1), run(files, task, 3)
    assert alone[0] == together[0]
    assert [it.source for it in alone[1]] == [it.source for it in together[1]]
    assert [it.counts for it in alone[1]] == [it.counts for it in together[1]]
    assert [it.error for it in alone[1]] == [it.error for it in together[1]]


def test_an_unreadable_file_does_not_stop_the_others(files: Path) -> None:
    told, outcomes, read = run(files, ReplayTask(with_file_name=True), 1)
    by_name = {Path(it.source.name).name: it for it in outcomes}
    assert ["a.txt", "c.txt", "damaged.gz", "empty", "log.jsonl", "picture.png"] == sorted(by_name)
    assert ["empty", "picture.png"] == [name for name, it in by_name.items() if it.skipped]
    assert "expected a session log or a capture, got a binary file" == by_name["picture.png"].error
    assert by_name["damaged.gz"].counts.decisions
    assert "expected a whole gzip file, got one that is cut off" == by_name["damaged.gz"].error
    assert f"== {files / 'c.txt'}\n" in told
    assert "picture" not in told
    assert read == sum(it.source.size for it in outcomes)


def test_the_parts_of_a_log_are_one_source(tmp_path: Path) -> None:
    for name in ("marvin.jsonl", "marvin-20261121T181502Z.jsonl", "marvin-20261120T181502Z.jsonl.gz", "eddie.jsonl"):
        (tmp_path / name).touch()
    found = [[path.name for path in source.paths] for source in find_sources([tmp_path])]
    parts = ["marvin-20261120T181502Z.jsonl.gz", "marvin-20261121T181502Z.jsonl", "marvin.jsonl"]
    assert [["eddie.jsonl"], parts] == sorted(found)


def test_a_file_that_is_named_and_found_is_replayed_once(files: Path) -> None:
    sources = find_sources([files / "c.txt", files, files / "c.txt"])
    assert [(files / "c.txt", True)] == [(it.paths[0], it.is_explicit) for it in sources if it.paths[0].name == "c.txt"]
    assert 6 == len(sources)


def test_circular_links_and_special_files_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    os.mkfifo(tmp_path / "pipe")
    assert [] == find_sources([tmp_path])


def test_an_error_of_the_consumer_is_not_reported_as_one_of_the_file(files: Path) -> None:
    def full(_: str) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        replay_source(ReplaySource((files / "c.txt",)), ReplayTask(), full, lambda _: None)


@pytest.mark.slow
def test_content_that_was_sent_gives_the_output_of_the_files(files: Path) -> None:
    """As for a worker on another machine, which has none of the files."""
    (files / "c.txt").chmod(0)
    sources = find_sources([files])
    missing = ReplaySource((files / "missing",))
    for number, source in enumerate([*sources, missing]):
        told: list[str] = []
        here = replay_source(source, ReplayTask(as_json=True), told.append, lambda _: None)
        sent = pickle.loads(pickle.dumps(source.with_content()))  # noqa: S301 - our own
        with hidden(files):
            text, there = replay_content(ReplayTask(as_json=True), sent)
        assert "".join(told) == zlib.decompress(text).decode(), number
        assert (here.counts, here.error, here.notes) == (there.counts, there.error, there.notes)
        assert here.source.size == there.source.size
        assert not there.source.sent or not there.source.sent.parts


def test_a_comparison_with_another_program_is_refused_on_other_machines(files: Path) -> None:
    pool = create_autospec(WorkerPool, is_local=False)
    task = ReplayTask(comparison=ComparisonOptions("ubgi:engine"))
    with pytest.raises(StrategyError, match="'ubgi:engine' works on this machine only, without --scheduler"):
        next(replay_all(find_sources([files]), task, lambda _: None, lambda _: None, pool))


def test_a_file_that_is_too_large_to_be_sent_is_reported(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_files, "LARGEST_SENT", 100)
    _, result = replay_content(ReplayTask(), ReplaySource((files / "c.txt",)).with_content())
    assert "expected at most 0 MiB to send to a worker, got 0 MiB" == result.error


def _die(*_: object) -> SourceResult:
    os._exit(9)


@pytest.mark.slow
def test_a_worker_that_dies_is_reported(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "replay_into_file", _die)
    with pytest.raises(WorkerLostError, match="ended with status 9"):
        run(files, ReplayTask(), 2)


@pytest.mark.slow
def test_stopping_early_leaves_no_process_behind(files: Path) -> None:
    outcomes = replay_all(find_sources([files]), ReplayTask(), lambda _: None, lambda _: None, LocalPool(2))
    next(outcomes)
    assert multiprocessing.active_children()
    outcomes.close()  # type: ignore[attr-defined]
    assert [] == multiprocessing.active_children()


# -- interrupted ----------------------------------------------------------------------------------------------------


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Make captures that take some minutes."""
    (tmp_path / "0.txt").write_bytes(WATCHED * 400)
    for number in range(1, 40):
        (tmp_path / f"{number}.txt").hardlink_to(tmp_path / "0.txt")
    return tmp_path


def started(path: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """Begin to replay a folder with two processes; return once both work, with their ids."""
    command = [sys.executable, "-m", "fibsbot", "replay", "-q", "-j", "2", str(path)]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no thread here holds a lock
    )
    end = time.monotonic() + SOON
    while time.monotonic() < end:
        workers = [pid for pid in children(process.pid) if "spawn_main" in command_of(pid)]
        if len(workers) == 2:
            return process, workers
        time.sleep(0.001)  # a worker that hears Ctrl-C does so while it starts
    raise TimeoutError("expected two processes")


def children(pid: int) -> list[int]:
    """List the processes that a process has started."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(it) for it in text.split()]


def command_of(pid: int) -> str:
    """Return a process's command line; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def gone(pids: list[int]) -> bool:
    """Wait for processes to end."""
    end = time.monotonic() + SOON
    while any(command_of(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(command_of(pid) for pid in pids)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to see processes")
@pytest.mark.parametrize("everybody", [False, True])
def test_an_interrupt_ends_all_workers_silently(many: Path, everybody: bool) -> None:  # noqa: FBT001
    process, workers = started(many)
    if everybody:
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    else:
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=SOON)
    assert 130 == process.returncode
    assert "" == errors.strip()
    assert gone(workers)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to see processes")
def test_workers_end_with_a_program_that_is_killed(many: Path) -> None:
    process, workers = started(many)
    process.kill()
    process.communicate(timeout=SOON)
    assert gone(workers)
