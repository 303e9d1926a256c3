"""Studies many matches on all cores."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import Final, TypeAlias

from fibsbot import processes
from fibsbot.strategies.judge import Judge
from fibsbot.strategies.loader import StrategyError, load
from fibsbot.strategies.names import quick_judge
from fibsbot.study.analysis import Desk, StudyError
from fibsbot.study.model import MatchStudy
from fibsbot.transcript import Transcript, TranscriptError

Studied: TypeAlias = MatchStudy | StudyError | TranscriptError
"""A studied match, or why it cannot be studied."""
WAITING: Final = 4
"""Matches that wait or are done for each core, so that memory stays flat however many there are."""


@contextlib.contextmanager
def opened_judge(name: str) -> Iterator[Judge]:
    """Make the strategy of that name, and close it afterwards; raise StrategyError where it is no judge."""
    strategy = load(name)
    try:
        if not isinstance(strategy, Judge):
            raise StrategyError(f"strategy {name!r} is no judge: it cannot say what positions are worth")
        yield strategy
    finally:
        strategy.close()


@contextlib.contextmanager
def _opened_desk(judge: str) -> Iterator[Desk]:
    quick = quick_judge(judge)
    with contextlib.ExitStack() as held:
        ours = held.enter_context(opened_judge(judge))
        yield Desk(ours, held.enter_context(opened_judge(quick)) if quick != judge else None)


def study_all(
    transcripts: Iterable[Transcript],
    judge: str,
    *,
    luck: bool = True,
    cores: int | None = None,
) -> Iterator[Studied]:
    """Yield a study of each match in their order; one that cannot be studied yields its error, and stops nothing.

    `judge` is the name of a strategy, which every process makes for itself; luck is judged by its `quick_judge`.
    `cores` is how many are used, all by default. Raises StrategyError where a strategy is no judge, or takes its
    process down with it.
    """
    of = cores or processes.cores()
    left = iter(transcripts)
    first = list(islice(left, 2))
    every = chain(first, left)
    with _opened_desk(judge) as desk:
        if of == 1 or len(first) < 2:
            yield from (_studied(desk, transcript, luck=luck) for transcript in every)
            return
    context = multiprocessing.get_context("spawn")  # a fork would copy the locks of our threads
    pool = ProcessPoolExecutor(of, mp_context=context, initializer=_sit_down, initargs=(judge,))
    try:
        waiting: deque[Future[Studied]] = deque()
        for transcript in every:
            waiting.append(pool.submit(_study, transcript, luck=luck))
            if len(waiting) >= WAITING * of:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise StrategyError(f"a process in which {judge!r} judged has died") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _studied(desk: Desk, transcript: Transcript, *, luck: bool) -> Studied:
    try:
        return desk.study(transcript, luck=luck)
    except (StudyError, TranscriptError) as error:
        return error


_desk: list[Desk] = []
"""Where a process of `study_all` studies; it has one, and does nothing else."""
_held = contextlib.ExitStack()
"""Keeps its judges open for as long as it lives."""


def _sit_down(judge: str) -> None:
    _desk.append(_held.enter_context(_opened_desk(judge)))


def _study(transcript: Transcript, *, luck: bool) -> Studied:
    return _studied(_desk[0], transcript, luck=luck)
