"""Benchmark of checker plays: performance rating on decisions whose plays have reference equities.

The file of decisions is for measuring only. Nothing of it is ever learned from.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from attrs import frozen

from fibsbot.engine.arrays import Boards, Floats64, boards_of, cubeless_equity, swapped
from fibsbot.engine.generator import successors
from fibsbot.engine.network_evaluator import ArrayEvaluator
from fibsbot.notation.position_ids import parse_position_id
from fibsbot.text import one_line

CLASSES: Final = {1: "over", 2: "bear-off", 3: "race", 4: "crashed", 5: "contact"}
"""Names of the file's position classes."""


@frozen
class RatedDecision:
    """A roll with all positions that it can lead to, and their reference equities."""

    kind: str
    boards: Boards
    """Shape (plays, 26), each seen by the opponent, who is then on roll."""
    reference: Floats64
    """Cubeless equities for the mover, shape (plays,); a play that the file does not rate gets the worst one."""


@frozen
class CheckerBenchmark:
    """Decisions of money games without a cube."""

    decisions: Sequence[RatedDecision]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file of JSON lines, gzipped; the first line describes the others.

        Each row has `pos` (GNUbg Position ID), `dice`, `cls` and `moves`, each move `id` (what it leaves, the mover
        still on roll) and the equities `g2` and `s3` by two engines, whose mean is the reference. Raises OSError, and
        ValueError with one line.
        """
        try:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                decisions = [_decision(json.loads(line)) for number, line in enumerate(file) if number]
        except (ValueError, KeyError, TypeError, EOFError, RecursionError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{path}: expected rated decisions, found {one_line(error)}") from error
        if not decisions:
            raise ValueError(f"{path}: expected rated decisions, found none")
        return cls(decisions)

    def rating(self, evaluator: ArrayEvaluator) -> dict[str, float]:
        """Return 500 x the mean equity lost by class, and over all as `PR`."""
        boards = np.concatenate([decision.boards for decision in self.decisions])
        theirs = cubeless_equity(evaluator.evaluate(boards))
        losses: dict[str, list[float]] = {}
        first = 0
        for decision in self.decisions:
            worth = theirs[first : first + len(decision.boards)]
            first += len(decision.boards)
            loss = decision.reference.max() - decision.reference[int(np.argmin(worth))]
            losses.setdefault(decision.kind, []).append(float(loss))
        rating = {kind: 500 * float(np.mean(losses[kind])) for kind in sorted(losses)}
        return {"PR": 500 * float(np.mean(np.concatenate(list(losses.values()))))} | rating


def _decision(row: dict[str, Any]) -> RatedDecision:
    if not row["moves"]:
        raise ValueError("a decision without moves")
    rated = swapped(boards_of(parse_position_id(move["id"]) for move in row["moves"]))
    worths = {board.tobytes(): (move["g2"] + move["s3"]) / 2 for board, move in zip(rated, row["moves"], strict=True)}
    high, low = sorted(row["dice"], reverse=True)
    if not {high, low} <= {1, 2, 3, 4, 5, 6}:
        raise ValueError(f"a roll of {high!r:.20} and {low!r:.20}")
    boards = swapped(successors(boards_of([parse_position_id(row["pos"])])[0], high, low))
    if not worths.keys() <= {board.tobytes() for board in boards}:
        raise ValueError(f"a move that {high}-{low} does not allow from {row['pos']}")
    worst = min(worths.values())
    reference = np.array([worths.get(board.tobytes(), worst) for board in boards])
    return RatedDecision(CLASSES.get(row["cls"], "other"), boards, reference)
