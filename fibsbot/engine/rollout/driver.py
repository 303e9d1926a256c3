"""Run a rollout: blocks of games on all cores, in order, until the stopping rule is met."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from fibsbot.engine.engine import Engine
from fibsbot.engine.rollout.games import BlockPlayer
from fibsbot.engine.rollout.plan import BLOCK, Candidate, RolloutPlan
from fibsbot.engine.rollout.results import CandidateResult, RolloutError, RolloutFile, RolloutResult, Trials
from fibsbot.text import one_line
from fibsbot.workers.processes import WorkerLostError, map_unordered, usable_cores

EngineFactory: TypeAlias = Callable[[], Engine]
"""Makes the engine in each process; it must be picklable, such as `Engine.load`."""
PlayedBlock: TypeAlias = tuple[int, list[Trials]]
"""The number of a block, and the results of its games by candidate."""


def play_blocks(
    make: EngineFactory, candidates: Sequence[Candidate], plan: RolloutPlan, numbers: Iterable[int], jobs: int
) -> Generator[PlayedBlock, None, None]:
    """Play blocks in `jobs` processes and yield each when it is done, in any order.

    A single job has a process of its own, too, so that the libraries compute as they do in several. Raises RolloutError
    if a process cannot make its engine or dies. All processes have ended afterwards.
    """
    try:
        yield from map_unordered(_play, (make, tuple(candidates), plan), numbers, jobs)
    except WorkerLostError as error:
        raise RolloutError(f"a process of the rollout {error}") from None


def _play(
    numbers: Iterator[int], make: EngineFactory, candidates: Sequence[Candidate], plan: RolloutPlan
) -> Iterator[PlayedBlock]:
    try:
        player = BlockPlayer(make())
    except Exception as error:
        raise RolloutError(f"the engine cannot be made: {one_line(error)}") from error
    for number in numbers:
        yield number, player.play(candidates, plan, number)


def rollout(
    make: EngineFactory,
    candidates: Sequence[Candidate],
    plan: RolloutPlan,
    *,
    jobs: int | None = None,
    file: Path | None = None,
    engine: str = "",
    on_progress: Callable[[RolloutResult], None] | None = None,
) -> RolloutResult:
    """Roll out candidates, all with the same dice. The result does not depend on the number of jobs.

    Args:
        make: Makes the engine in each process: `Engine.load`, or a `functools.partial` of it.
        candidates: The candidates; see `position_candidate`, `cube_candidates`, `play_candidates`.
        plan: The number of games, the stopping rule and so on.
        jobs: Number of processes, by default the number of cores.
        file: Receives each block as soon as it is played; an existing file is resumed.
        engine: The engine's name, which is stored in the file.
        on_progress: Called with the results so far after every 36 games of each candidate.

    Raises:
        RolloutError: A process dies, an engine cannot be made, or the file belongs to another rollout; one line.
    """
    if not candidates:
        raise RolloutError("expected at least one candidate to roll out, got none")
    started = time.monotonic()
    record = RolloutFile.open(file, engine, candidates, plan) if file else None
    played: list[list[Trials]] = []
    result = None
    with contextlib.closing(_in_order(make, candidates, plan, jobs or usable_cores(), record)) as blocks:
        for trials in blocks:
            played.append(trials)
            result = _result(candidates, plan, played, time.monotonic() - started)
            if on_progress:
                on_progress(result)
            if _enough(result):
                break
    if result is None:
        raise RolloutError("no game was played")
    return result


def _in_order(
    make: EngineFactory, candidates: Sequence[Candidate], plan: RolloutPlan, jobs: int, record: RolloutFile | None
) -> Generator[list[Trials], None, None]:
    """Yield the blocks in order, so that the rollout stops at the same block for any number of jobs."""
    numbers = range(plan.trials // BLOCK)
    known = dict(record.blocks) if record else {}
    missing = [number for number in numbers if number not in known]
    with contextlib.closing(_kept(play_blocks(make, candidates, plan, missing, jobs), record)) as playing:
        for number in numbers:
            while number not in known:
                done, trials = next(playing)
                known[done] = trials
            yield known.pop(number)


def _kept(blocks: Generator[PlayedBlock, None, None], record: RolloutFile | None) -> Generator[PlayedBlock, None, None]:
    with contextlib.closing(blocks):
        for number, trials in blocks:
            if record:
                record.add(number, trials)
            yield number, trials


def _result(
    candidates: Sequence[Candidate], plan: RolloutPlan, played: Sequence[Sequence[Trials]], seconds: float
) -> RolloutResult:
    rolled = [
        CandidateResult(candidate, np.concatenate([block[place] for block in played]))
        for place, candidate in enumerate(candidates)
    ]
    return RolloutResult(plan, tuple(rolled), seconds)


def _enough(result: RolloutResult) -> bool:
    """Return whether the rollout may stop: errors are small enough, or the best is far enough ahead."""
    plan = result.plan
    if result.results[0].count < plan.min_trials:
        return False
    if plan.stop_at_error is not None and all(it.error <= plan.stop_at_error for it in result.results):
        return True
    others = [result.behind(it) for it in result.results if it is not result.best]
    return (
        plan.stop_at_deviations is not None
        and bool(others)
        and all(by > plan.stop_at_deviations * error for by, error in others)
    )
