"""Training of the race network: each side bears off alone, and each of its positions is labelled with the outcome.

The first network learns to count pips. Each further round takes sides from games and plays each of them home,
minimising the mean number of rolls according to the previous round's network: once until all checkers are off, and
once until the first one is, because saving a gammon takes different plays. A label is the mean over the best plays of
all 21 rolls, one roll later, plus `trace` times the network's error one roll later, as for the contact network
(`labels.targets`). Once all checkers are home the tables are exact, so with a trace of 1 a label is the outcome of the
game without the luck of its rolls.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from fibsbot.engine.arrays import (
    CELLS,
    CHANCE_OF_ROLL,
    CHECKERS,
    ROLL_COUNT,
    Board,
    Boards,
    Bools,
    Floats32,
    Int32s,
    IntVector32,
)
from fibsbot.engine.bearoff import TableArrays
from fibsbot.engine.bearoff.tables import MAX_ROLLS
from fibsbot.engine.bearoff.tables import POINTS as HOME_POINTS
from fibsbot.engine.generator import Scratch, generate, plays_and_scratch
from fibsbot.engine.jit import compiled
from fibsbot.engine.network import Network
from fibsbot.engine.network_evaluator import (
    RACE_PIPS,
    RACE_POINTS,
    ROLLS_TO_FIRST,
    RaceNetwork,
    Sides,
    encode_sides,
    is_home,
    is_race,
    sides_of,
    split_outputs,
)
from fibsbot.engine.training.optimizer import (
    Adam,
    Batch,
    FitPlan,
    FitProgress,
    backpropagate,
    batches,
    mean_loss,
    rate_of,
)
from fibsbot.match import PIPS_PER_ROLL
from fibsbot.workers.pool import Piece, WorkerPool

SIDES_PER_BATCH: Final = 512
"""Sides that are labelled together."""
_PLAYS: Final = 80
"""Average plays per roll that the first buffer can hold."""
_COUNTS: Final = np.arange(MAX_ROLLS, dtype=np.float32)
_SPREAD: Final = 4.3
"""Standard deviation of the pips of a roll."""
_WASTED: Final = 8
"""Pips that are wasted in bearing off, roughly."""


class SideLabels(NamedTuple):
    """Sides and the distributions of the rolls until all their checkers are off, or the first one."""

    sides: Sides
    chances: Floats32
    """Shape (n, MAX_ROLLS); in rows about the first checker, columns from ROLLS_TO_FIRST on are unused."""
    first: Bools
    """Whether each row is about the first checker off."""


class _Step(NamedTuple):
    """One roll of all sides that are not home yet."""

    rows: npt.NDArray[np.intp]
    """Indices of these sides among all."""
    sides: Sides
    backed: Floats32
    """Distribution after the best play of each roll, averaged over all rolls."""
    reached: Floats32
    """The network's distribution for the position that the actual roll led to."""


def race_starts(boards: Boards) -> Sides:
    """Return the sides of the races among boards that have a checker outside their home, each once."""
    racing = boards[is_race(boards)]
    sides = np.concatenate(sides_of(racing))
    return np.unique(sides[~is_home(sides)], axis=0)


def pip_count_labels(sides: Sides) -> SideLabels:
    """Return labels that depend on the pip count alone; a starting point for the first network."""
    home = sides @ np.maximum(RACE_PIPS - HOME_POINTS, 0)
    return _both(
        sides,
        _about(sides @ RACE_PIPS + home / 10 + _WASTED, MAX_ROLLS),
        sides,
        _about(home + PIPS_PER_ROLL, ROLLS_TO_FIRST),
    )


def _both(sides: Sides, rolls: Floats32, others: Sides, first: Floats32) -> SideLabels:
    """Return labels for bearing off all checkers of `sides`, and the first checker of `others`."""
    padded = np.pad(first, ((0, 0), (0, MAX_ROLLS - ROLLS_TO_FIRST)))
    of_first = np.arange(len(sides) + len(others)) >= len(sides)
    return SideLabels(np.concatenate([sides, others]), np.concatenate([rolls, padded]), of_first)


def _about(pips: npt.NDArray[Any], longest: int) -> Floats32:
    """Return the distribution of the number of rolls needed for a number of pips, as a normal distribution."""
    rolls = pips[:, None] / PIPS_PER_ROLL
    away = (np.arange(longest) - rolls) / (_SPREAD / PIPS_PER_ROLL * np.sqrt(rolls))
    chances = np.exp(-away * away / 2)
    return np.asarray(chances / chances.sum(axis=1, keepdims=True), np.float32)


def label_sides(
    network: RaceNetwork, columns: TableArrays, begin: Sides, trace: float, seed: int, pool: WorkerPool
) -> Iterator[SideLabels]:
    """Have workers bear off; yield the labels of all positions on the way, in batches of `SIDES_PER_BATCH`.

    Their order and their values do not depend on the workers.
    """
    pieces = (
        Piece(f"batch {number}", (begin[number * SIDES_PER_BATCH : (number + 1) * SIDES_PER_BATCH], (seed, number)))
        for number in range(-(-len(begin) // SIDES_PER_BATCH))
    )
    with contextlib.closing(pool.run(label_piece, pieces, shared=(network, columns, trace))) as labelled:
        for _, labels in labelled:
            yield labels


def label_piece(
    shared: tuple[RaceNetwork, TableArrays, float], batch_and_seed: tuple[Sides, tuple[int, int]]
) -> SideLabels:
    """Return the labels of a batch, in a worker."""
    network, columns, trace = shared
    batch, seed = batch_and_seed
    return label_batch(network, columns, batch, trace, np.random.default_rng(seed))


def label_batch(
    network: RaceNetwork, columns: TableArrays, begin: Sides, trace: float, rng: np.random.Generator
) -> SideLabels:
    """Return the labels of these sides and of all positions that they pass through in both kinds of bear-off."""
    whole = begin[begin.sum(axis=1) == CHECKERS]
    rolls = _traced(list(_play(network, columns, begin, MAX_ROLLS, rng)), trace, MAX_ROLLS)
    first = _traced(list(_play(network, columns, whole, ROLLS_TO_FIRST, rng)), trace, ROLLS_TO_FIRST)
    return _both(*rolls, *first)


def _play(
    network: RaceNetwork, columns: TableArrays, sides: Sides, longest: int, rng: np.random.Generator
) -> Iterator[_Step]:
    """Play sides home in as few rolls as possible: until all checkers are off or, if `longest` says so, the first."""
    rows = np.arange(len(sides))
    while len(rows):
        chances, left = _best(network, columns, sides, longest)
        rolled = rng.choice(ROLL_COUNT, len(rows), p=CHANCE_OF_ROLL)
        each = np.arange(len(rows))
        mean = np.asarray(np.einsum("r,nrk->nk", CHANCE_OF_ROLL.astype(np.float32), chances))
        yield _Step(rows, sides, _later(mean), chances[each, rolled])
        sides = left[each, rolled]
        unfinished = ~is_home(sides)
        rows, sides = rows[unfinished], sides[unfinished]


def _later(chances: Floats32) -> Floats32:
    """Return the distributions with one roll more."""
    later = np.zeros_like(chances)
    later[:, 1:] = chances[:, :-1]
    later[:, -1] += chances[:, -1]
    return later


def _best(network: RaceNetwork, columns: TableArrays, sides: Sides, longest: int) -> tuple[Floats32, Sides]:
    """Return what the best play of each roll leaves: chances (n, 21, longest) and sides (n, 21, 18)."""
    found, slots = _expanded(sides)
    chances = network.likely(found, columns)[longest == ROLLS_TO_FIRST]
    order = np.lexsort((chances @ _COUNTS[:longest], slots))
    best = order[np.searchsorted(slots[order], np.arange(len(sides) * ROLL_COUNT))]
    shape = (len(sides), ROLL_COUNT, -1)
    return chances[best].reshape(shape), found[best].reshape(shape)


def _expanded(sides: Sides) -> tuple[Sides, Int32s]:
    capacity = len(sides) * ROLL_COUNT * _PLAYS
    while True:
        found, slots = np.empty((capacity, RACE_POINTS), np.int8), np.empty(capacity, np.int32)
        if (count := _expand(sides, np.zeros(CELLS, np.int8), *plays_and_scratch(), found, slots)) >= 0:
            return found[:count], slots[:count]
        capacity *= 2


@compiled
def _expand(sides: Sides, board: Board, plays: Boards, scratch: Scratch, found: Sides, slots: IntVector32) -> int:
    """Write the sides after all plays of all rolls, and the slot of each, `row * 21 + roll`.

    Return their number, or -1 if they do not fit. `board` is a scratch board filled with 0.
    """
    count = slot = 0
    for row in range(sides.shape[0]):
        for point in range(RACE_POINTS):
            board[point + 1] = sides[row, point]
        for high in range(1, 7):
            for low in range(1, high + 1):
                of = generate(board, high, low, plays, scratch)
                if count + of > found.shape[0]:
                    return -1
                for play in range(of):
                    for point in range(RACE_POINTS):
                        found[count, point] = plays[play, point + 1]
                    slots[count] = slot
                    count += 1
                slot += 1
    return count


def _traced(steps: list[_Step], trace: float, longest: int) -> tuple[Sides, Floats32]:
    """Return sides and their labels, from the last roll back to the first."""
    count = len(steps[0].rows) if steps else 0
    # The network's error for the position that each side reached; 0 where that is in the tables.
    missed = np.zeros((count, longest), np.float32)
    sides, labels = [np.empty((0, RACE_POINTS), np.int8)], [np.empty((0, longest), np.float32)]
    for place in range(len(steps) - 1, -1, -1):
        step = steps[place]
        target = step.backed + trace * _later(missed[step.rows])
        sides.append(step.sides)
        labels.append(target)
        if place:
            before = steps[place - 1]
            missed[step.rows] = target - before.reached[np.isin(before.rows, step.rows, assume_unique=True)]
    return np.concatenate(sides), np.concatenate(labels)


def fit_sides(network: Network, labels: SideLabels, plan: FitPlan) -> Iterator[FitProgress]:
    """Fit a race network in place, one step per batch; the loss is that of the mean number of rolls."""
    adam = Adam([*network.weights, *network.biases])
    loss = 0.0
    for batch in batches(len(labels.sides), plan):
        miss, gradients = _gradients(network, labels, batch)
        adam.step(gradients, rate_of(plan, batch))
        loss = mean_loss(loss, miss, batch)
        yield FitProgress(batch.epoch, batch.number, batch.of, loss)


def _gradients(network: Network, labels: SideLabels, batch: Batch) -> tuple[float, list[Any]]:
    """Return the mean squared error of the mean number of rolls, and the gradients of weights and biases."""
    rows = batch.rows
    layers = network.sums(encode_sides(labels.sides[rows]))
    rolls, first = split_outputs(layers[-1])
    chances, of_first = labels.chances[rows], labels.first[rows]
    error = np.concatenate([rolls - chances, first - chances[:, :ROLLS_TO_FIRST]], axis=1)
    error[of_first, :MAX_ROLLS] = 0
    error[~of_first, MAX_ROLLS:] = 0
    miss = error @ np.concatenate([_COUNTS, _COUNTS[:ROLLS_TO_FIRST]])
    error /= len(rows)
    return float(np.mean(miss * miss)), backpropagate(network, layers, error)
