"""Results of a training: the files of its folder, the benchmark that measures its networks, reports, and bundles.

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

A bundle has the networks at half precision, with cards that describe them. A training can resume in another folder from
networks that were bundled after a checkpoint.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol, Self

import numpy as np
from attrs import define, field, frozen

from fibsbot.engine.arrays import Boards, Floats64, boards_of, cubeless_equity, swapped
from fibsbot.engine.engine import CARDS, CONTACT, HISTORY, PRECISION, PRUNER, RACE
from fibsbot.engine.game_plans import load_contact
from fibsbot.engine.generator import successors
from fibsbot.engine.network import Network
from fibsbot.engine.network_evaluator import RACE_OUTPUTS, ArrayEvaluator
from fibsbot.engine.training.optimizer import FitProgress
from fibsbot.engine.training.recipe import Recipe, RecipeError, read_recipe
from fibsbot.files import read_json, read_toml
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


# -- bundles -----------------------------------------------------------------------------------------------------------


_FIGURES: Final = ("PR", "contact", "crashed", "race", "bear-off")


def pack(folder: Path, recipe: Path, target: Path, note: Callable[[str], object] = lambda _: None) -> Path:
    """Write the last networks of a training folder, their cards and the history into `target`; return the cards' path.

    `note` takes a line of the history that was left out. Raises OSError if something cannot be read or written,
    ValueError if no round has ended yet or the recipe or the history is invalid.
    """
    steps = read_recipe(recipe)
    history = read_history(folder, note)
    rounds = [row for row in history if "round" in row]
    if not rounds:
        raise ValueError(f"{folder}: expected the network of a round, found none")
    number: int = rounds[-1]["round"]
    which, path, last = _chosen(history, rounds[-1], folder)
    target.mkdir(parents=True, exist_ok=True)
    contact = load_contact(path)
    contact.save(target / CONTACT, PRECISION)
    pruner = Network.load(pruner_path(folder, number + 1))
    pruner.save(target / PRUNER, PRECISION)
    card = {
        "recipe": recipe.name,
        "rounds": number + 1,
        "shape": contact.shape,
        "student_games": max((row["student_games"] for row in history if "student_games" in row), default=0),
        "labels": sum(steps.chunks(one) * steps.chunk for one in range(number + 1))
        + sum(row.get("labels", 0) for row in history if "refined" in row),
        "hours": _hours([row for row in history if "race_round" not in row]),
    }
    refined = [row for row in history if "refined" in row]
    if refined:
        card["refinements"] = refined[-1]["refined"] + 1
    races = [row for row in history if "race_round" in row]
    # The training may have been killed between writing a pruner and its row.
    pruned = [row for row in history if row.get("pruner") == number + 1]
    name = f"contact {contact.shape}, {which}"
    if races:
        name += f"; races, round {races[-1]['race_round']}"
    lines = [
        "# The bundled networks, written by `fibsbot train --pack`.",
        f'name = "{name}"',
        "",
        *_table("contact", {"sha256": _sha256(target / CONTACT)} | card | _figures(last, _FIGURES)),
        "",
        *_table("pruner", _pruner_card(pruner, pruned, target) | {"recipe": recipe.name}),
    ]
    if races:
        lines += ["", *_table("race", _pack_race(folder, races, target) | {"recipe": recipe.name})]
    (target / HISTORY).write_text("".join(json.dumps(row) + "\n" for row in history))
    cards = target / CARDS
    cards.write_text("\n".join([*lines, ""]))
    return cards


def unpack(packed: Path, folder: Path, recipe: Recipe) -> None:
    """Copy packed networks to a new folder, for a training to resume there.

    They must have been packed after a checkpoint of the recipe, or after its rounds and races. If they are there
    already, nothing changes; an interrupted copy is repeated. Raises RecipeError if the recipe does not continue from
    there or the folder contains something else, ValueError for an invalid history, OSError if something cannot be read
    or written.
    """
    copies = _copies(packed, folder, recipe)
    begun = copies[-1][1]
    if begun.exists() and begun.read_bytes() == (packed / CONTACT).read_bytes():
        return  # the same command was repeated
    # Fewer files than these are left by an unpacking that was killed.
    laid = {HISTORY, *(to.name for _, to in copies)}
    if folder.exists() and not laid.issuperset(path.name for path in folder.iterdir()):
        raise RecipeError(f"{folder}: expected a new folder to go on in, found one with files")
    folder.mkdir(parents=True, exist_ok=True)
    rows = read_history(packed)
    with_races = any(name == RACE for name, _ in copies)
    (folder / HISTORY).write_text(
        "".join(json.dumps(row) + "\n" for row in rows if with_races or "race_round" not in row)
    )
    for name, to in copies:
        shutil.copyfile(packed / name, to)


def _copies(packed: Path, folder: Path, recipe: Recipe) -> list[tuple[str, Path]]:
    """Return which file of packed networks is copied to which path, the contact network last."""
    last, refined = _last_steps(packed)
    pruner = PRUNER, pruner_path(folder, last + 1)
    if last in [number for number, one in enumerate(recipe.expanded_rounds()) if one.checkpoint]:
        return [pruner, (CONTACT, network_path(folder, last))]
    if refined >= len(recipe.refining) or last + 1 != len(recipe.expanded_rounds()):
        raise RecipeError(f"{packed}: expected networks of a checkpoint of the recipe, found those of round {last}")
    if refined:
        contact = refined_path(folder, refined - 1)
    else:
        contact = mean_path(folder, recipe) if recipe.averaged > 1 else network_path(folder, last)
    races = [(RACE, race_path(folder, recipe))] if recipe.racing else []
    return [pruner, *races, (CONTACT, contact)]


def _last_steps(packed: Path) -> tuple[int, int]:
    """Return the number of the round after which networks were packed, and how many refinements followed."""
    try:
        card = read_toml((packed / CARDS).read_bytes())["contact"]
        return int(card["rounds"]) - 1, int(card.get("refinements", 0))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecipeError(f"{packed / CARDS}: expected cards of packed networks, found none") from error


def _chosen(history: list[dict[str, Any]], last: dict[str, Any], folder: Path) -> tuple[str, Path, dict[str, Any]]:
    """Return name, file and measurements of the network to pack: the last one that was made."""
    number = last["round"]
    for row in reversed(history):
        if "refined" in row:
            return f"refinement {row['refined']}", refined_path(folder, row["refined"]), row
        if "averaged" in row and row["averaged"][1] == number:
            first = row["averaged"][0]
            return f"rounds {first} to {number}", folder / f"mean-{first}-{number}.npz", row
    return f"round {number}", network_path(folder, number), last


def _pruner_card(pruner: Network, rows: list[dict[str, Any]], target: Path) -> dict[str, Any]:
    card: dict[str, Any] = {"sha256": _sha256(target / PRUNER), "shape": pruner.shape}
    for row in rows[-1:]:
        card |= {"labels": row.get("labels", 0), "hours": _hours([row]), **_figures(row, _FIGURES)}
    return card


def _pack_race(folder: Path, rounds: list[dict[str, Any]], target: Path) -> dict[str, Any]:
    """Write the race network, which is small enough for single precision; return its card."""
    last = rounds[-1]
    race = Network.load(folder / f"race-{last['race_round']}.npz", RACE_OUTPUTS)
    race.save(target / RACE)
    labels = sum(row.get("labels", 0) for row in rounds)
    card = {"rounds": len(rounds), "shape": race.shape, "labels": labels, "hours": _hours(rounds)}
    return {"sha256": _sha256(target / RACE)} | card | _figures(last, ("PR", "race"))


def _hours(rows: list[dict[str, Any]]) -> float:
    return round(sum(float(row.get("seconds", 0)) for row in rows) / 3600, 2)


def _figures(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, float]:
    return {name.replace("-", "_").lower(): row[name] for name in names if name in row}


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _table(name: str, entries: dict[str, Any]) -> list[str]:
    return [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in entries.items())]
