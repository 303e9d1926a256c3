"""Run a rollout: blocks of games on all cores, in order, until the stopping rule is met."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from attrs import define

from fibsbot.engine.engine import Engine
from fibsbot.engine.rollout.games import BlockPlayer
from fibsbot.engine.rollout.plan import BLOCK, Candidate, RolloutPlan
from fibsbot.engine.rollout.results import CandidateResult, RolloutError, RolloutFile, RolloutResult, Trials
from fibsbot.text import one_line
from fibsbot.workers.pool import LocalPool, Piece, ProgressCallback, WorkerPool
from fibsbot.workers.processes import WorkerLostError, usable_cores

EngineFactory: TypeAlias = Callable[[], Engine]
"""Makes the engine in each process; it must be picklable, such as `Engine.load`."""
PlayedBlock: TypeAlias = tuple[int, list[Trials]]
"""The number of a block, and the results of its games by candidate."""


@define(eq=False)
class BlockSettings:
    """What all blocks share, and the player of a worker process, which is made for its first block."""

    make: EngineFactory
    candidates: tuple[Candidate, ...]
    plan: RolloutPlan
    _player: BlockPlayer | None = None

    @property
    def player(self) -> BlockPlayer:
        """The player of this process; raise RolloutError if its engine cannot be made."""
        if self._player is None:
            try:
                self._player = BlockPlayer(self.make())
            except Exception as error:
                raise RolloutError(f"the engine cannot be made: {one_line(error)}") from error
        return self._player


def play_blocks(
    make: EngineFactory,
    candidates: Sequence[Candidate],
    plan: RolloutPlan,
    numbers: Iterable[int],
    pool: WorkerPool,
    on_work: ProgressCallback = lambda _: None,
) -> Generator[PlayedBlock, None, None]:
    """Have workers play blocks, and yield each when it is done, in any order.

    Raises RolloutError if a worker cannot make its engine or dies. All local processes have ended afterwards.
    """
    shared = BlockSettings(make, tuple(candidates), plan)
    pieces = (Piece(f"block {number}", number) for number in numbers)
    try:
        with contextlib.closing(
            pool.run(play_block, pieces, shared=shared, ordered=False, on_progress=on_work)
        ) as played:
            for piece, trials in played:
                yield piece.arguments, trials
    except WorkerLostError as error:
        raise RolloutError(f"a process of the rollout {error}") from None


def play_block(shared: BlockSettings, number: int) -> list[Trials]:
    """Play a block in a worker."""
    return shared.player.play(shared.candidates, shared.plan, number)


def rollout(
    make: EngineFactory,
    candidates: Sequence[Candidate],
    plan: RolloutPlan,
    *,
    pool: WorkerPool | None = None,
    file: Path | None = None,
    engine: str = "",
    on_progress: Callable[[RolloutResult], None] | None = None,
    on_work: ProgressCallback = lambda _: None,
) -> RolloutResult:
    """Roll out candidates, all with the same dice. The result does not depend on the workers.

    Args:
        make: Makes the engine in each process: `Engine.load`, or a `functools.partial` of it.
        candidates: The candidates; see `position_candidate`, `cube_candidates`, `play_candidates`.
        plan: The number of games, the stopping rule and so on.
        pool: The workers, by default a process per core.
        file: Receives each block as soon as it is played; an existing file is resumed.
        engine: The engine's name, which is stored in the file.
        on_progress: Called with the results so far after every 36 games of each candidate.
        on_work: Called with the progress of the workers, several times a second.

    Raises:
        RolloutError: A local process dies, an engine cannot be made, or the file belongs to another rollout; one line.
    """
    if not candidates:
        raise RolloutError("expected at least one candidate to roll out, got none")
    started = time.monotonic()
    record = RolloutFile.open(file, engine, candidates, plan) if file else None
    played: list[list[Trials]] = []
    result = None
    with contextlib.closing(
        _in_order(make, candidates, plan, pool or LocalPool(usable_cores()), record, on_work)
    ) as blocks:
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
    make: EngineFactory,
    candidates: Sequence[Candidate],
    plan: RolloutPlan,
    pool: WorkerPool,
    record: RolloutFile | None,
    on_work: ProgressCallback,
) -> Generator[list[Trials], None, None]:
    """Yield the blocks in order, so that the rollout stops at the same block whatever the workers."""
    numbers = range(plan.trials // BLOCK)
    known = dict(record.blocks) if record else {}
    missing = [number for number in numbers if number not in known]
    with contextlib.closing(_kept(play_blocks(make, candidates, plan, missing, pool, on_work), record)) as playing:
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
