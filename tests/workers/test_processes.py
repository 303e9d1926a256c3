"""Processes side by side: everything is done once, nothing is left behind, whoever fails is told."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from fibsbot.workers.errors import WorkerLostError
from fibsbot.workers.processes import (
    THREAD_VARIABLES,
    WorkerProcesses,
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


def answers_of(
    work: Callable[..., Iterator[Any]], arguments: tuple[Any, ...], items: Iterable[Any], jobs: int
) -> Iterator[Any]:
    """Yield the answers of processes to items, as they come."""
    left = enumerate(items)
    with contextlib.closing(WorkerProcesses(work, arguments, jobs)) as processes:
        while True:
            for number, item in itertools.islice(left, processes.free):
                processes.submit(number, item)
            if not processes.in_flight:
                return
            yield from (answer for _, answer in processes.collect(0.2))


def gone() -> bool:
    return not multiprocessing.active_children()


@pytest.mark.parametrize("jobs", [1, 3])
def test_each_item_is_worked_on_once(jobs: int) -> None:
    assert [number * number + 5 for number in range(7)] == sorted(answers_of(square, (5,), range(7), jobs))
    assert gone()


def test_without_items_no_worker_is_started() -> None:
    assert [] == list(answers_of(square, (5,), (), 3))


def test_an_answer_that_is_an_exception_is_raised() -> None:
    with pytest.raises(ValueError, match="thirteen"):
        list(answers_of(square, (0,), [1, 13, 77], 3))
    assert gone()


@pytest.mark.parametrize(("number", "how"), [(99, "was killed by signal 9"), (98, "ended with status 3")])
def test_a_lost_worker_is_reported_with_its_item(number: int, how: str) -> None:
    with pytest.raises(WorkerLostError, match=how) as lost:
        list(answers_of(square, (0,), [number], 1))
    assert number == lost.value.item
    assert gone()


def test_a_worker_that_ends_just_when_it_is_stopped_hides_no_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    kill = os.kill

    def kill_and_miss(pid: int, number: int) -> None:
        kill(pid, number)
        raise ProcessLookupError

    monkeypatch.setattr(os, "kill", kill_and_miss)
    with pytest.raises(ValueError, match="thirteen"):
        list(answers_of(square, (0,), [1, 13, 77], 3))
    assert gone()


def test_an_exception_carries_the_traceback_of_the_worker() -> None:
    with pytest.raises(ValueError, match="thirteen") as raised:
        list(answers_of(square, (0,), [13], 1))
    assert "in square" in raised.value.__notes__[0]


def test_closing_the_generator_ends_all_workers() -> None:
    answers = answers_of(square, (0,), [2, 77, 77], 2)
    assert 4 == next(answers)
    answers.close()  # type: ignore[attr-defined]
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
    assert [False] * 2 == list(answers_of(hear, (), range(2), 2))


def chatter(items: Iterator[int]) -> Iterator[int]:
    """Print, to Python's stdout and to that of the process."""
    for item in items:
        sys.stdout.write("printed\n")
        sys.stdout.flush()
        os.write(1, b"written\n")
        yield item


def test_what_a_worker_prints_goes_to_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    assert [1] == list(answers_of(chatter, (), [1], 1))
    printed = capfd.readouterr()
    assert "" == printed.out
    assert ["printed", "written"] == printed.err.split()


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
