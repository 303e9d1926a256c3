"""Processes side by side: everything is done once, nothing is left behind, whoever fails is told."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from fibsbot.workers import processes as worker_processes
from fibsbot.workers.processes import (
    THREAD_VARIABLES,
    WorkerLostError,
    map_ordered,
    map_unordered,
    signals_held_back,
    single_threaded_libraries,
)

pytestmark = pytest.mark.slow


def square(numbers: Iterator[int], plus: int) -> Iterator[int]:
    """Yield the squares of numbers; some numbers have another effect."""
    for number in numbers:
        if number == 13:
            raise ValueError("thirteen")
        if number == 99:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 98:
            os._exit(3)
        if number == 77:
            time.sleep(1000)
        if number == 50:
            time.sleep(1)
        yield number * number + plus


def gone() -> bool:
    return not multiprocessing.active_children()


@pytest.mark.parametrize("jobs", [1, 3])
def test_each_item_is_worked_on_once(jobs: int) -> None:
    assert [number * number + 5 for number in range(7)] == sorted(map_unordered(square, (5,), range(7), jobs))
    assert gone()


def test_without_items_no_worker_is_started() -> None:
    assert [] == list(map_unordered(square, (5,), (), 3))


def test_an_answer_that_is_an_exception_is_raised() -> None:
    with pytest.raises(ValueError, match="thirteen"):
        list(map_unordered(square, (0,), [1, 13, 77], 3))
    assert gone()


@pytest.mark.parametrize(("number", "how"), [(99, "was killed by signal 9"), (98, "ended with status 3")])
def test_a_lost_worker_is_reported_with_its_item(number: int, how: str) -> None:
    with pytest.raises(WorkerLostError, match=how) as lost:
        list(map_unordered(square, (0,), [number], 1))
    assert number == lost.value.item
    assert gone()


def test_an_exception_carries_the_traceback_of_the_worker() -> None:
    with pytest.raises(ValueError, match="thirteen") as raised:
        list(map_unordered(square, (0,), [13], 1))
    assert "in square" in raised.value.__notes__[0]


def test_ordered_answers_come_in_the_order_of_the_items() -> None:
    waits: list[None] = []
    assert [2500, 1, 4, 9] == list(map_ordered(square, (0,), [50, 1, 2, 3], 2, lambda: waits.append(None)))
    assert len(waits) > 4
    assert gone()


def test_workers_are_only_so_far_ahead_of_the_next_ordered_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_processes, "MAX_AHEAD", 3)
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in [50, *range(12)]:
            taken.append(number)
            yield number

    answers = map_ordered(square, (0,), items(), 2)
    assert 2500 == next(answers)
    assert len(taken) <= 5
    assert [number * number for number in range(12)] == list(answers)
    assert 13 == len(taken)


def test_closing_the_generator_ends_all_workers() -> None:
    answers = map_unordered(square, (0,), [2, 77, 77], 2)
    assert 4 == next(answers)
    answers.close()
    assert gone()


def test_libraries_have_one_thread_in_workers_and_as_many_as_before_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(THREAD_VARIABLES[0], "7")
    monkeypatch.delenv(THREAD_VARIABLES[1], raising=False)
    with single_threaded_libraries():
        assert {"1"} == {os.environ[name] for name in THREAD_VARIABLES}
    assert "7" == os.environ[THREAD_VARIABLES[0]]
    assert THREAD_VARIABLES[1] not in os.environ


def hear(items: Iterator[int]) -> Iterator[bool]:
    """Yield whether an interrupt would be heard."""
    for _ in items:
        yield signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_workers_do_not_receive_an_interrupt() -> None:
    assert [False] * 2 == list(map_unordered(hear, (), range(2), 2))
    assert [True] * 2 == list(map_unordered(hear, (), range(2), 2, held_back=()))


def test_a_signal_that_another_thread_takes_is_held_back_as_well() -> None:
    heard: list[int] = []
    usual = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    now = threading.Event()

    def take() -> None:
        now.wait()
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    other = threading.Thread(target=take)
    other.start()
    try:
        with signals_held_back(signal.SIGINT):
            now.set()
            other.join()
            assert not heard
        assert [signal.SIGINT] == heard
    finally:
        signal.signal(signal.SIGINT, usual)
