"""Rollouts: candidates played to the end of the game, or some turns on, until it is known well enough which is best."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

import numpy as np

from fibsbot.engine.rollout.plan import BLOCK, Candidate, Plan
from fibsbot.engine.rollout.record import Record
from fibsbot.engine.rollout.result import RolledOut, RolloutError, RolloutResult, Trials
from fibsbot.engine.rollout.workers import Block, Maker, play_blocks
from fibsbot.processes import cores


def rollout(
    make: Maker,
    candidates: Sequence[Candidate],
    plan: Plan,
    *,
    jobs: int | None = None,
    file: Path | None = None,
    engine: str = "",
    show: Callable[[RolloutResult], None] | None = None,
) -> RolloutResult:
    """Roll out candidates, all with the same throws. The result does not depend on the number of jobs.

    Args:
        make: Makes the engine, in each process: `Engine.load`, or a `functools.partial` of it.
        candidates: What is rolled out; see `position`, `cube_actions`, `plays_of`.
        plan: How.
        jobs: Processes, as many as there are cores if not given.
        file: Where each block is kept as soon as it is played; if it is there, the rollout goes on from it.
        engine: The engine's name, which the file remembers.
        show: Told what is known so far after every 36 games of each candidate.

    Raises:
        RolloutError: A process dies, an engine cannot be made, or the file is none of this rollout; one line.
    """
    if not candidates:
        raise RolloutError("expected at least one candidate to roll out, got none")
    started = time.monotonic()
    record = Record.open(file, engine, candidates, plan) if file else None
    played: list[list[Trials]] = []
    result = None
    with contextlib.closing(_in_order(make, candidates, plan, jobs or cores(), record)) as blocks:
        for trials in blocks:
            played.append(trials)
            result = _result(candidates, plan, played, time.monotonic() - started)
            if show:
                show(result)
            if _enough(result):
                break
    if result is None:
        raise RolloutError("no game was played")
    return result


def _in_order(
    make: Maker, candidates: Sequence[Candidate], plan: Plan, jobs: int, record: Record | None
) -> Generator[list[Trials], None, None]:
    """Yield the blocks in their order, whoever is done first, so that all jobs stop at the same one."""
    numbers = range(plan.trials // BLOCK)
    known = dict(record.blocks) if record else {}
    missing = [number for number in numbers if number not in known]
    with contextlib.closing(_kept(play_blocks(make, candidates, plan, missing, jobs), record)) as playing:
        for number in numbers:
            while number not in known:
                done, trials = next(playing)
                known[done] = trials
            yield known.pop(number)


def _kept(blocks: Generator[Block, None, None], record: Record | None) -> Generator[Block, None, None]:
    with contextlib.closing(blocks):
        for number, trials in blocks:
            if record:
                record.add(number, trials)
            yield number, trials


def _result(
    candidates: Sequence[Candidate], plan: Plan, played: Sequence[Sequence[Trials]], seconds: float
) -> RolloutResult:
    rolled = [
        RolledOut(candidate, np.concatenate([block[place] for block in played]))
        for place, candidate in enumerate(candidates)
    ]
    return RolloutResult(plan, tuple(rolled), seconds)


def _enough(result: RolloutResult) -> bool:
    """Whether the rollout may stop: errors are small enough, or the best is far enough ahead."""
    plan = result.plan
    if result.rolled[0].count < plan.least:
        return False
    if plan.error is not None and all(it.error <= plan.error for it in result.rolled):
        return True
    others = [result.behind(it) for it in result.rolled if it is not result.best]
    return plan.apart is not None and bool(others) and all(by > plan.apart * error for by, error in others)
