"""Pools: every piece is done once, in order if asked, and what the journal has is not done again."""

from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import pytest

from fibsbot.workers.errors import WorkerLostError
from fibsbot.workers.journal import Journal, JournalError
from fibsbot.workers.opening import open_pool
from fibsbot.workers.pool import InProcessPool, LocalPool, Piece, PoolProgress, WorkerPool
from fibsbot.workers.processes import usable_cores
from tests.workers.pieces import Shared, add, count, die, fail

POOLS = [InProcessPool(), LocalPool(1), LocalPool(3)]


def pieces(*numbers: int) -> Iterator[Piece]:
    """Yield a piece for each number."""
    for number in numbers:
        yield Piece(f"number {number}", number)


@pytest.mark.parametrize("pool", POOLS)
def test_results_come_in_the_order_of_the_pieces(pool: WorkerPool) -> None:
    numbers = [-20, 1, 2, 3, -5, 4, 5]
    found = list(pool.run(add, pieces(*numbers), shared=100))
    assert [(f"number {it}", 100 + it) for it in numbers] == [(piece.key, result) for piece, result in found]
    assert [] == multiprocessing.active_children()


def test_unordered_results_come_as_they_are_finished() -> None:
    assert [1, 2, 3, -50] == [
        result for _, result in LocalPool(2).run(add, pieces(-50, 1, 2, 3), shared=0, ordered=False)
    ]


@pytest.mark.parametrize("pool", POOLS)
def test_without_pieces_there_are_no_results(pool: WorkerPool) -> None:
    assert [] == list(pool.run(add, [], shared=1))


@pytest.mark.parametrize("pool", POOLS)
def test_endless_pieces_are_taken_only_a_few_ahead(pool: WorkerPool) -> None:
    taken = itertools.count()
    run = pool.run(add, (Piece(str(number), number) for number in taken), shared=0)
    assert list(range(5)) == [result for _, result in itertools.islice(run, 5)]
    run.close()
    assert next(taken) <= 5 + 64
    assert [] == multiprocessing.active_children()


@pytest.mark.parametrize("pool", POOLS)
def test_an_exception_of_a_piece_is_raised_and_ends_the_run(pool: WorkerPool) -> None:
    with pytest.raises(ValueError, match="three is not allowed"):
        list(pool.run(fail, pieces(1, 2, 3, 4)))
    assert [] == multiprocessing.active_children()


def test_a_process_that_dies_is_reported() -> None:
    with pytest.raises(WorkerLostError, match="was killed by signal 9"):
        list(LocalPool(2).run(die, pieces(1, 2, 3)))


@pytest.mark.parametrize("pool", POOLS)
def test_what_is_shared_is_made_once_in_each_process_and_closed_in_the_end(pool: WorkerPool, tmp_path: Path) -> None:
    shared = Shared(10, tmp_path / "closed")
    assert [10, 11, 12] == [result for _, result in pool.run(count, pieces(0, 1, 2), shared=shared)]
    assert int((tmp_path / "closed").read_text()) in ({3} if pool.size == 1 else {0, 1, 2, 3})


@pytest.mark.parametrize("pool", POOLS)
def test_what_is_shared_is_closed_when_a_run_is_given_up(pool: WorkerPool, tmp_path: Path) -> None:
    run = pool.run(count, (Piece(str(it), it) for it in itertools.count()), shared=Shared(0, tmp_path / "closed"))
    next(run)
    run.close()
    assert (tmp_path / "closed").exists()


@pytest.mark.parametrize("pool", POOLS)
def test_finished_pieces_of_the_journal_are_not_done_again(pool: WorkerPool, tmp_path: Path) -> None:
    with Journal(tmp_path / "journal", "f1") as journal:
        assert [11, 12] == [result for _, result in pool.run(add, pieces(1, 2), shared=10, journal=journal)]
    progress: list[PoolProgress] = []
    with Journal(tmp_path / "journal", "f1") as journal:
        again = list(pool.run(add, pieces(2, 3, 1), shared=50, journal=journal, on_progress=progress.append))
    assert [12, 53, 11] == [result for _, result in again]
    assert (1, 2) == (progress[-1].done, progress[-1].resumed)


def test_progress_tells_rate_and_remaining_time() -> None:
    progress = PoolProgress(done=6, resumed=4, workers=2, seconds=3.0)
    assert 2.0 == progress.rate
    assert 5.0 == progress.remaining(20)
    assert PoolProgress(0, 4, 2, 3.0).remaining(20) is None


def test_without_a_scheduler_there_is_a_process_per_core() -> None:
    with open_pool() as pool:
        assert usable_cores() == pool.size
    with open_pool(jobs=3) as pool:
        assert 3 == pool.size


# -- the journal -----------------------------------------------------------------------------------------------------


def test_pieces_that_are_discarded_leave_the_others(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Journal(path, "f1") as journal:
        for number in range(4):
            journal.add(f"piece {number}", number)
        journal.discard(["piece 0", "piece 2", "no such piece"])
        journal.add("piece 4", 4)
        assert [1, 3, 4] == [journal.result(f"piece {number}") for number in (1, 3, 4)]
    with Journal(path, "f1") as journal:
        assert [1, 3, 4] == [number for number in range(5) if f"piece {number}" in journal]
        assert 3 == journal.result("piece 3")
    assert 3 == path.read_bytes().count(b"\n")


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_cut_last_line_of_the_journal_is_dropped(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "journal"
    with Journal(path, "f1") as journal:
        journal.add("first one", [1, 2.5])
        journal.add("second", {"a": "b"})
    path.write_bytes(path.read_bytes()[:-cut])
    with Journal(path, "f1") as journal:
        assert "second" not in journal
        assert [1, 2.5] == journal.result("first one")
        journal.add("second", "again")
    with Journal(path, "f1") as journal:
        assert [1, 2.5] == journal.result("first one")
        assert "again" == journal.result("second")


def test_results_of_another_fingerprint_are_not_taken(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal", "0a") as journal:
        journal.add("one", 1)
    with Journal(tmp_path / "journal", "0b") as journal:
        assert "one" not in journal
        journal.add("one", 2)
    with Journal(tmp_path / "journal", "0a") as journal:
        assert 1 == journal.result("one")


def test_a_damaged_journal_is_an_error_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(b"f1:one AAAA\n")
    with (
        Journal(tmp_path / "journal", "f1") as journal,
        pytest.raises(JournalError, match="cannot read the result of one"),
    ):
        journal.result("one")


def test_a_journal_that_cannot_be_opened_is_an_error_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="Is a directory"):
        Journal(tmp_path, "f1")


def test_a_journal_is_withdrawn_from_everybody_else(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.touch(mode=0o666)
    Journal(path, "f1").close()
    assert 0o600 == path.stat().st_mode & 0o777


@pytest.mark.parametrize(
    "text",
    [
        "abc; not a journal\nsecond line\nlast line without end",
        "f1:one AAAA and more\n",
        "f1: AAAA\n",
        "1234",
        "12:30 lunch",
        "f1",
        "f1d0:meet",
        "f1d0:30 meet\n11:00 x",
        "\n",
        ' ; [Player 1 "marvin"]\n\n1 point match',
    ],
)
def test_a_file_that_is_no_journal_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text)
    path.chmod(0o644)
    with pytest.raises(JournalError, match=r"notes\.txt: expected a journal or a new file, got something else"):
        Journal(path, "f1d0c3")
    assert (text, 0o644) == (path.read_text(), path.stat().st_mode & 0o777)


@pytest.mark.parametrize("cut", range(1, 20))
def test_a_journal_whose_only_line_was_cut_off_begins_anew(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "journal"
    with Journal(path, "f1") as journal:
        journal.add("one", 1)
    path.write_bytes(path.read_bytes()[:-cut])
    with Journal(path, "f1") as journal:
        assert "one" not in journal
        journal.add("one", 2)
        assert 2 == journal.result("one")
