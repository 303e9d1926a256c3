"""Rollout results, and the file that stores every block as soon as it is played, so that a rollout can be resumed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from attrs import define, field, frozen

from fibsbot.engine.arrays import OUTCOMES, Outcomes, cubeless_equity
from fibsbot.engine.rollout.plan import BLOCK, Candidate, RolloutPlan
from fibsbot.files import os_errors_as


class RolloutError(Exception):
    """A rollout that cannot be started or resumed; the text is one line."""


Trials = npt.NDArray[np.float64]
"""The results of a candidate's games: the six chances and the cubeful equity, shape (trials, 7)."""
EQUITY = OUTCOMES
"""The column of the equity."""
COLUMNS = OUTCOMES + 1


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
        return max(self.results, key=lambda it: it.equity)

    def ranked(self) -> list[CandidateResult]:
        """Return the candidates, the best first."""
        return sorted(self.results, key=lambda it: -it.equity)

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
