"""Rollouts on disk: every block in a line as soon as it is played, so that a rollout can go on where it was stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from attrs import define, field

from fibsbot.engine.rollout.plan import BLOCK, Candidate, Plan
from fibsbot.engine.rollout.result import COLUMNS, RolloutError, Trials

VERSION: Final = 1
_PLAYED: Final = ("truncated", "cubeful", "reduced", "seed")
"""What of a plan decides how games go. How many there are and when to stop may change when a rollout goes on."""


@define
class Record:
    """A file with the blocks of one rollout: a line that describes it, then JSON, a block a line."""

    path: Path
    about: dict[str, Any]
    candidates: int
    blocks: dict[int, list[Trials]] = field(factory=dict)
    """What was played before, by number."""

    @classmethod
    def open(cls, path: Path, engine: str, candidates: Sequence[Candidate], plan: Plan) -> Record:
        """Read the file, or begin it. Raises RolloutError where it is of another rollout or cannot be read."""
        about: dict[str, Any] = {"rollout": VERSION, "engine": engine}
        about |= {name: getattr(plan, name) for name in _PLAYED}
        about["candidates"] = [candidate.name for candidate in candidates]
        about["states"] = hashlib.sha256(repr(candidates).encode()).hexdigest()[:16]
        record = cls(path, about, len(candidates))
        try:
            if path.exists() and path.stat().st_size:
                record._read()
            else:
                path.write_text(json.dumps(about) + "\n", "utf-8")
        except OSError as error:
            raise RolloutError(f"cannot keep the rollout in {path}: {error.strerror or error}") from error
        return record

    def add(self, number: int, trials: list[Trials]) -> None:
        """Keep a block."""
        line = json.dumps({"block": number, "trials": [part.tolist() for part in trials]})
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
        except OSError as error:
            raise RolloutError(f"cannot keep the rollout in {self.path}: {error.strerror or error}") from error

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
        if torn:  # somebody was stopped in the middle of a line
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
