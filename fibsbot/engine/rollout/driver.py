"""Run a rollout: blocks of games on all cores, in order, until the stopping rule is met.

Its file stores every block as soon as it is played, so that it can be resumed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import define, field, frozen

from fibsbot.engine.arrays import OUTCOMES, Outcomes, cubeless_equity
from fibsbot.engine.engine import Engine, check_state
from fibsbot.engine.rollout.games import BLOCK, COLUMNS, EQUITY, BlockPlayer, Candidate, RolloutPlan, Trials
from fibsbot.files import os_errors_as
from fibsbot.text import one_line
from fibsbot.workers.errors import WorkerLostError
from fibsbot.workers.pool import LocalPool, Piece, ProgressCallback, WorkerPool
from fibsbot.workers.processes import usable_cores


class RolloutError(Exception):
    """A rollout that cannot be started or resumed; the text is one line."""


@frozen(eq=False)
class CandidateResult:
    """The result of a candidate, seen by its player."""

    candidate: Candidate
    trials: Trials

    @property
    def count(self) -> int:
        """The number of games."""
        return len(self.trials)

    @property
    def outcomes(self) -> Outcomes:
        """The six chances, shape (6,)."""
        return np.asarray(self.trials[:, :OUTCOMES].mean(axis=0))

    @property
    def outcome_errors(self) -> Outcomes:
        """Their standard errors, shape (6,)."""
        return standard_error(self.trials[:, :OUTCOMES])

    @property
    def equity(self) -> float:
        """The equity, normalised (see `cube.Stakes`); cubeful unless the rollout had no cube."""
        return float(self.trials[:, EQUITY].mean())

    @property
    def error(self) -> float:
        """Its standard error."""
        return float(standard_error(self.trials[:, EQUITY]))

    @property
    def cubeless(self) -> float:
        """Points per game without a cube, per value of the candidate's cube."""
        return float(cubeless_equity(self.outcomes))

    @property
    def cubeless_error(self) -> float:
        """Its standard error."""
        return float(standard_error(cubeless_equity(self.trials[:, :OUTCOMES])))


@frozen(eq=False)
class RolloutResult:
    """The results of all candidates, in the given order."""

    plan: RolloutPlan
    results: tuple[CandidateResult, ...]
    seconds: float

    @property
    def best(self) -> CandidateResult:
        """The candidate with the highest equity."""
        return max(self.results, key=lambda result: result.equity)

    def ranked(self) -> list[CandidateResult]:
        """Return the candidates, the best first."""
        return sorted(self.results, key=lambda result: -result.equity)

    def behind(self, rolled: CandidateResult) -> tuple[float, float]:
        """Return the difference of a candidate to the best, and its standard error.

        All candidates get the same rolls, so the difference has a smaller error than its terms.
        """
        difference = self.best.trials[:, EQUITY] - rolled.trials[:, EQUITY]
        return float(difference.mean()), float(standard_error(difference))


def standard_error(trials: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
    """Return the standard error of the mean of trials, along the first axis; infinite for fewer than two."""
    if len(trials) < 2:
        return np.full(trials.shape[1:], np.inf)
    return np.asarray(trials.std(axis=0, ddof=1) / np.sqrt(len(trials)))


# -- the file ----------------------------------------------------------------------------------------------------------

VERSION: Final = 1
_PLAN_KEYS: Final = {"truncated": "truncated", "cubeful": "cubeful", "reduced": "variance_reduction", "seed": "seed"}
"""Keys in the file and the fields of a plan that decide how games are played.

The number of games and when to stop may change when a rollout is resumed.
"""


@define
class RolloutFile:
    """A file with the blocks of one rollout: a line that describes it, then JSON, a block a line."""

    path: Path
    about: dict[str, Any]
    candidates: int
    blocks: dict[int, list[Trials]] = field(factory=dict)
    """Blocks played so far, by number."""

    @classmethod
    def open(cls, path: Path, engine: str, candidates: Sequence[Candidate], plan: RolloutPlan) -> RolloutFile:
        """Read the file, or start it. Raises RolloutError if it belongs to another rollout or cannot be read."""
        about: dict[str, Any] = {"rollout": VERSION, "engine": engine}
        about |= {key: getattr(plan, name) for key, name in _PLAN_KEYS.items()}
        about["candidates"] = [candidate.name for candidate in candidates]
        about["states"] = hashlib.sha256(repr(candidates).encode()).hexdigest()[:16]
        record = cls(path, about, len(candidates))
        with os_errors_as(RolloutError, f"cannot keep the rollout in {path}"):
            if path.exists() and path.stat().st_size:
                record._read()
            else:
                path.write_text(json.dumps(about) + "\n", "utf-8")
        return record

    def add(self, number: int, trials: list[Trials]) -> None:
        """Append a block."""
        line = json.dumps({"block": number, "trials": [part.tolist() for part in trials]})
        said = f"cannot keep the rollout in {self.path}"
        with os_errors_as(RolloutError, said), self.path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def _read(self) -> None:
        text = self.path.read_bytes()
        whole, _, torn = text.rpartition(b"\n")
        lines = whole.splitlines()
        found = _json(lines[0]) if lines else None
        if not isinstance(found, dict) or "rollout" not in found:
            raise RolloutError(f"{self.path}: expected a rollout, found something else")
        if found != self.about:
            names = ", ".join(name for name in self.about if found.get(name) != self.about[name])
            raise RolloutError(f"{self.path}: expected the same rollout, found one with other {names}")
        for row, line in enumerate(lines[1:], 2):
            self._take(_json(line), row)
        if torn:  # the writer was stopped in the middle of a line
            self.path.write_bytes(whole + b"\n")

    def _take(self, found: object, row: int) -> None:
        try:
            number, trials = int(found["block"]), [np.array(part, np.float64) for part in found["trials"]]  # type: ignore[index]
        except (TypeError, KeyError, ValueError):
            number, trials = -1, []
        shapes = {part.shape for part in trials}
        if number < 0 or len(trials) != self.candidates or shapes != {(BLOCK, COLUMNS)}:
            raise RolloutError(f"{self.path}, line {row}: expected a block of {BLOCK} games of each candidate")
        self.blocks[number] = trials


def _json(line: bytes) -> object:
    try:
        found: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found


# -- running it --------------------------------------------------------------------------------------------------------


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
        ValueError: The state of a candidate is impossible.
        RolloutError: A local process dies, an engine cannot be made, or the file belongs to another rollout; one line.
    """
    if not candidates:
        raise RolloutError("expected at least one candidate to roll out, got none")
    for candidate in candidates:
        check_state(candidate.state)
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
    if plan.stop_at_error is not None and all(candidate.error <= plan.stop_at_error for candidate in result.results):
        return True
    others = [result.behind(candidate) for candidate in result.results if candidate is not result.best]
    return (
        plan.stop_at_deviations is not None
        and bool(others)
        and all(by > plan.stop_at_deviations * error for by, error in others)
    )
