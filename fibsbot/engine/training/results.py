"""Results of a training: the files of its folder, the benchmark that measures its networks, reports, and the history.

student.npz               the TD network, and how many games it has played
distilled.npz             the deep network that knows what the TD network knows
pruner-0.npz, ...         the pruner that each round uses
labels-0/0000.npz, ...    the labels of each round
network-0.npz, ...        the network after each round
mean-7-9.npz              the mean of the networks of the last rounds
race-0.npz, ...           the race network that counts pips, and that of each of its rounds
sides-1.npz, ...          the labels of these rounds
games-0/0000.npz, ...     the labels of each refinement: of games
decisions-0/0000.npz, ... and of decisions
refined-0-0.npz, ...      the network after each sweep of a refinement
refined-0-0-00.npz, ...   the network of each pair of game plans, if it has one for each
refined-0.npz, ...        the network after each refinement
history.jsonl             what was measured after each step, and how long it took

The benchmark is a performance rating on decisions whose plays have reference equities. Its file is for measuring only:
nothing of it is ever learned from.
"""

from __future__ import annotations

import gzip
import json
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol, Self

import numpy as np
from attrs import define, field, frozen

from fibsbot.engine.arrays import Boards, Floats64, boards_of, cubeless_equity, swapped
from fibsbot.engine.engine import HISTORY
from fibsbot.engine.generator import successors
from fibsbot.engine.network_evaluator import ArrayEvaluator
from fibsbot.engine.training.optimizer import FitProgress
from fibsbot.engine.training.recipe import Recipe
from fibsbot.files import read_json
from fibsbot.notation.position_ids import parse_position_id
from fibsbot.text import one_line


def network_path(folder: Path, number: int) -> Path:
    """Return the path of the network of a round."""
    return folder / f"network-{number}.npz"


def pruner_path(folder: Path, number: int) -> Path:
    """Return the path of the pruner that a round uses, which the round before it has made."""
    return folder / f"pruner-{number}.npz"


def mean_path(folder: Path, recipe: Recipe) -> Path:
    """Return the path of the mean of the last rounds' networks."""
    rounds = recipe.averaged_rounds()
    return folder / f"mean-{rounds[0]}-{rounds[-1]}.npz"


def race_path(folder: Path, recipe: Recipe) -> Path:
    """Return the path of the finished race network."""
    return folder / f"race-{len(recipe.racing.expanded_rounds()) if recipe.racing else 0}.npz"


def refined_path(folder: Path, number: int) -> Path:
    """Return the path of the network of a refinement."""
    return folder / f"refined-{number}.npz"


# -- the benchmark -----------------------------------------------------------------------------------------------------


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


# -- reports -----------------------------------------------------------------------------------------------------------


class ProgressListener(Protocol):
    """Receives the progress of a training."""

    def begin(self, what: str, total: int) -> None:
        """Called when a step begins; `total` is its size."""
        ...

    def advance(self, units: int, note: str = "") -> None:
        """Called when a part of the step is done."""
        ...

    def measured(self, row: dict[str, Any]) -> None:
        """Called with the measurements after a step."""
        ...


@define
class Reporter:
    """Reports the fits of a training, and writes down what is measured after its steps."""

    _folder: Path
    _listener: ProgressListener
    _benchmark: CheckerBenchmark | None
    _since: float = field(factory=time.monotonic, init=False)

    def fit(self, what: str, batches: int, fitting: Iterator[FitProgress]) -> float:
        """Run a fit; return its mean squared error."""
        self._listener.begin(what, batches)
        loss = 0.0
        for progress in fitting:
            loss = progress.loss
            self._listener.advance(1, f"error {loss**0.5:.4f}")
        return loss

    def measure(self, row: dict[str, Any], evaluator: ArrayEvaluator) -> None:
        """Add the benchmark's figures and the seconds since the last call to a row, and append it to the history."""
        if self._benchmark is not None:
            row |= {kind: round(value, 3) for kind, value in self._benchmark.rating(evaluator).items()}
        since, self._since = self._since, time.monotonic()
        row["seconds"] = round(self._since - since)
        with (self._folder / HISTORY).open("ab+") as file:
            _cut_unfinished(file)
            file.write(f"{json.dumps(row)}\n".encode())
        self._listener.measured(row)


# -- history -----------------------------------------------------------------------------------------------------------


_COUNTS: Final = frozenset({"student_games", "round", "refined", "race_round", "pruner", "labels"})
_MEASURED: Final = frozenset({"PR", "seconds", *CLASSES.values(), "other"})
_MOST: Final = 1e12
"""The greatest count or figure that can be."""


def read_history(folder: Path, note: Callable[[str], object] = lambda _: None) -> list[dict[str, Any]]:
    """Return the rows of the history in a folder.

    A last line without its end, as a kill or a full disk leaves it, is left out, with a `note`. Raises ValueError with
    one line for another one that is no row, OSError if there is no history.
    """
    path = folder / HISTORY
    *lines, rest = path.read_bytes().split(b"\n")
    if rest:
        note(f"{path}, line {len(lines) + 1}: left out, as it breaks off")
    return [_row(line, f"{path}, line {number}") for number, line in enumerate(lines, 1)]


def _row(line: bytes, place: str) -> dict[str, Any]:
    try:
        row = read_json(line)
    except ValueError as error:
        raise ValueError(f"{place}: expected a JSON object, found {one_line(error)}") from None
    if not isinstance(row, dict):
        raise ValueError(f"{place}: expected a JSON object, got {one_line(row)[:40]}")  # noqa: TRY004 - bad input
    for name, value in row.items():
        if not _is_possible(name, value):
            raise ValueError(f"{place}: expected a possible value of {one_line(name)[:40]}, got {one_line(value)[:40]}")
    return row


def _is_possible(name: str, value: Any) -> bool:
    """Whether this can be the value of this name; of others than those that are used it always can."""
    if name == "averaged":
        return isinstance(value, list) and len(value) == 2 and all(_is_possible("round", number) for number in value)
    if name in _COUNTS:
        return type(value) is int and 0 <= value <= _MOST
    return name not in _MEASURED or (type(value) in {int, float} and 0 <= value <= _MOST)


def _cut_unfinished(file: BinaryIO) -> None:
    """Remove a last line without its end, to which the next one would be appended."""
    file.seek(0)
    kept = file.read().rfind(b"\n") + 1
    file.truncate(kept)
