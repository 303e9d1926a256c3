"""Training labels: self-play games whose positions are labelled by a 1-ply lookahead, stored in files by all cores.

A 1-ply lookahead gives the error of the network at a position. The errors later in the same game, as long as best plays
were made, apply to earlier positions as well: their sum, discounted by distance, makes a label that has looked many
rolls ahead at the cost of one. This is TD(lambda) (Sutton 1988) without the luck of the dice at each step, or a
truncated rollout with variance reduction whose trials are the games themselves.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from attrs import frozen

from fibsbot.engine.arrays import (
    CELLS,
    CHANCE_OF_ROLL,
    OUTCOMES,
    OUTPUTS,
    ROLL_COUNT,
    Board,
    BoardGroups,
    Boards,
    BoolVector,
    Floats32,
    IntVector32,
    Matrix32,
    Outcomes,
    Vector32,
    boards_of,
    cubeless_equity,
    swapped,
)
from fibsbot.engine.bearoff import TableArrays
from fibsbot.engine.generator import successors
from fibsbot.engine.jit import compiled
from fibsbot.engine.network import NetworkError, load_arrays, write_whole
from fibsbot.engine.network_evaluator import ArrayEvaluator, is_settled
from fibsbot.engine.pruner import PlayFilter, Pruner, PrunerBuffers, expand, new_pruner_buffers
from fibsbot.engine.training.optimizer import EQUITY_WEIGHTS
from fibsbot.engine.training.random_positions import LEAST_TEMPERATURE, MOST_TEMPERATURE, Variety, rare_position
from fibsbot.match import ROLLS
from fibsbot.position import Position
from fibsbot.workers.pool import Piece, WorkerPool

_BATCH: Final = 64
"""Positions that are expanded together."""
_CHANCES: Final = CHANCE_OF_ROLL.astype(np.float32)


class OnePly(NamedTuple):
    """The result of a 1-ply lookahead for n positions."""

    outcomes: Outcomes
    """The chances of the player on roll, shape (n, 6)."""
    left: BoardGroups
    """The boards after the best play of each roll, seen by the opponent, shape (n, 21, 26)."""


def one_ply(evaluator: ArrayEvaluator, scales: PrunerBuffers, boards: Boards, chosen: PlayFilter) -> OnePly:
    """Return a 1-ply lookahead from boards, shape (n, 26). The games must not be over."""
    outcomes = np.zeros((len(boards), OUTCOMES), np.float32)
    left = np.empty((len(boards), ROLL_COUNT, CELLS), np.int8)
    found = np.empty((_BATCH * ROLL_COUNT * chosen.most + 1, CELLS), np.int8)
    slots = np.empty(len(found), np.int32)
    for first in range(0, len(boards), _BATCH):
        rows = slice(first, first + _BATCH)
        count = expand(scales, boards[rows], np.float32(chosen.margin), chosen.most, found, slots)
        theirs = evaluator.evaluate(found[:count])
        _settle(found, theirs, cubeless_equity(theirs), slots[:count], outcomes[rows], left[rows])
    return OnePly(outcomes, left)


@compiled
def _settle(
    found: Boards, theirs: Matrix32, equities: Vector32, slots: IntVector32, outcomes: Matrix32, left: BoardGroups
) -> None:
    """Write the board after the best play of each roll, and add the mean outcomes, seen by the player on roll."""
    place = 0
    while place < len(slots):
        slot = slots[place]
        best = place
        while place < len(slots) and slots[place] == slot:
            if equities[place] < equities[best]:
                best = place
            place += 1
        row, roll = slot // ROLL_COUNT, slot % ROLL_COUNT
        for cell in range(CELLS):
            left[row, roll, cell] = found[best, cell]
        for outcome in range(OUTCOMES):
            outcomes[row, outcome] += _CHANCES[roll] * theirs[best, (outcome + 3) % OUTCOMES]


GAMES_AT_ONCE: Final = 64
"""Games that are played in parallel."""
_LONGEST: Final = 1000
"""Maximum turns of a game."""
_SETTLED: Final = 16
"""Maximum turns of a game from a disputed position: later ones have little to do with it."""
FIVE: Final = [0, 1, 2, 4, 5]
"""The outcomes that a network learns."""

_START: Final = boards_of([Position.start()])[0]
_OPENING: Final = np.array([high != low for high, low in ROLLS]) / 15


@frozen(eq=False)
class Labeller:
    """The networks and settings by which a worker plays and labels games."""

    evaluator: ArrayEvaluator
    pruner: Pruner
    columns: TableArrays
    filter: PlayFilter
    variety: Variety
    disputed: Boards
    """Positions at which the last network disagreed most with its lookahead, from which games start, shape (n, 26)."""
    races: bool = False
    """Whether the evaluator has a network for races, at which games end then."""


class Labels(NamedTuple):
    """Labelled positions in the order of their games. The field names are the keys of the files."""

    boards: Boards
    """Shape (n, 26), seen by the player on roll."""
    ahead: Floats32
    """The five chances by a 1-ply lookahead, shape (n, OUTPUTS)."""
    missed: Floats32
    """These minus the network's chances without lookahead, same shape."""
    followed: npt.NDArray[np.bool_]
    """Whether the next position is the one after the best play of a roll, shape (n,)."""


class SelfPlayGame:
    """Plays one game after another."""

    def __init__(self, columns: TableArrays, variety: Variety, disputed: Boards, rng: np.random.Generator) -> None:
        self._columns, self._variety, self._disputed = columns, variety, disputed
        self._rng = rng
        self.choices: Boards | None = None
        """The boards after each play, seen by the opponent, of a side that plays by a softmax."""
        self.begin()

    def begin(self) -> None:
        """Start a new game."""
        rng, variety, disputed = self._rng, self._variety, self._disputed
        self._turn, self._last = 0, _LONGEST
        kind = rng.random()
        self._opening = False
        if kind < variety.arranged:
            self.board = rare_position(rng, self._columns)
        elif kind < variety.arranged + variety.disputed and len(disputed):
            self.board, self._last = disputed[int(rng.integers(len(disputed)))], _SETTLED
        else:
            self.board, self._opening = _START, True
        self._random = variety.random if rng.random() < variety.wild else 0.0
        self._early = int(rng.integers(0, 8)) if rng.random() < variety.early else 0
        self._outplayed = int(rng.integers(2, 26)) if self._opening and rng.random() < variety.outplayed else 0
        # Without a share of soft games, the random numbers are those of recipes that have none.
        soft = variety.soft and rng.random() < variety.soft
        self._softness = tuple(_temperature(share) for share in rng.random(2)) if soft else ()

    def roll(self) -> tuple[int, bool]:
        """Begin a turn: return the number of the roll, and whether the play is made at random."""
        roll = int(self._rng.choice(ROLL_COUNT, p=CHANCE_OF_ROLL if self._turn or not self._opening else _OPENING))
        strays = self._strays()
        self._turn += 1
        return roll, strays

    def random(self, plays: int) -> int:
        """Return the number of a random play."""
        return int(self._rng.integers(plays))

    def go_on(self, left: Boards) -> bool:
        """Roll, and make the best or sometimes a random play; return whether the best play was made.

        `left` are the boards after the best play of each roll, seen by the opponent. False is returned for the last
        turn of a truncated game, too: no position follows. In a soft game `choices` wait for `choose` instead.
        """
        softness = self._softness and self._softness[self._turn % 2]
        roll, strays = self.roll()
        self.choices = None
        if not strays and not softness:
            self.board = left[roll]
            return not self.is_over()
        every = swapped(successors(self.board, *ROLLS[roll]))
        if strays:
            self.board = cast("Board", every[self.random(len(every))])
        else:
            self.choices, self._best, self._temperature = every, left[roll], softness
        return False

    def choose(self, equities: Floats32) -> bool:
        """Make one of the `choices` by the softmax of their equities, shape (n,), for the player who moves.

        Return what `go_on` returns.
        """
        if self.choices is None:
            raise RuntimeError("there is nothing to choose from")
        weights = np.exp((equities - equities.max()) / self._temperature)
        self.board = cast("Board", self.choices[int(self._rng.choice(len(weights), p=weights / weights.sum()))])
        return bool((self.board == self._best).all()) and not self.is_over()

    def is_over(self) -> bool:
        """Return whether the game has reached its maximum length."""
        return self._turn >= self._last

    def _strays(self) -> bool:
        """Return whether the next play is made at random."""
        outplayed = self._turn < self._outplayed and self._turn % 2 == self._outplayed % 2
        return outplayed or self._turn < self._early or self._rng.random() < self._random


def _temperature(share: float) -> float:
    """Return a temperature of the softmax between the least (0) and the most (1), on a logarithmic scale."""
    return float(LEAST_TEMPERATURE * (MOST_TEMPERATURE / LEAST_TEMPERATURE) ** share)


def play_games(teacher: Labeller, count: int, seed: int) -> Labels:
    """Play and label `count` positions; positions whose evaluation is exact are left out."""
    rng = np.random.default_rng(seed)
    scales = new_pruner_buffers(teacher.pruner)
    lanes = [
        SelfPlayGame(teacher.columns, teacher.variety, teacher.disputed, rng) for _ in range(min(GAMES_AT_ONCE, count))
    ]
    turns = -(-count // max(len(lanes), 1))
    labels = _new_labels(len(lanes), turns)
    for turn in range(turns):
        boards = np.array([lane.board for lane in lanes])
        outcomes, left = one_ply(teacher.evaluator, scales, boards, teacher.filter)
        now = teacher.evaluator.evaluate(boards)
        best = np.array([lane.go_on(after) for lane, after in zip(lanes, left, strict=True)])
        _choose_softly(teacher.evaluator, lanes, best)
        after = np.array([lane.board for lane in lanes])
        known = is_settled(after, teacher.columns, races=teacher.races)
        ended = known | np.array([lane.is_over() for lane in lanes])
        labels.boards[:, turn] = boards
        labels.ahead[:, turn] = outcomes[:, FIVE]
        labels.missed[:, turn] = (outcomes - now)[:, FIVE]
        labels.followed[:, turn] = best & ~ended & (turn + 1 < turns)
        for row in np.flatnonzero(ended):
            lanes[row].begin()
    return _in_line(labels, count)


def _choose_softly(evaluator: ArrayEvaluator, games: list[SelfPlayGame], best: npt.NDArray[np.bool_]) -> None:
    """Let the sides that play by a softmax choose, and write whether each made the best play."""
    waiting = [(row, game.choices) for row, game in enumerate(games) if game.choices is not None]
    if waiting:
        equities = -cubeless_equity(evaluator.evaluate(np.concatenate([choices for _, choices in waiting])))
        place = 0
        for row, choices in waiting:
            best[row] = games[row].choose(equities[place : place + len(choices)])
            place += len(choices)


def most_disputed(labels: Labels, count: int) -> Boards:
    """Return the positions with the largest errors of the network's equity against 1-ply, shape (count, 26)."""
    missed = np.abs(labels.missed.astype(np.float32) @ EQUITY_WEIGHTS)
    return labels.boards[np.argsort(-missed, kind="stable")[:count]]


def _new_labels(lanes: int, turns: int) -> Labels:
    return Labels(
        np.empty((lanes, turns, CELLS), np.int8),
        np.empty((lanes, turns, OUTPUTS), np.float32),
        np.empty((lanes, turns, OUTPUTS), np.float32),
        np.empty((lanes, turns), np.bool_),
    )


def _in_line(labels: Labels, count: int) -> Labels:
    """Return the first `count` labels of all lanes, one lane after the other."""
    return Labels(
        labels.boards.reshape(-1, CELLS)[:count],
        labels.ahead.reshape(-1, OUTPUTS)[:count],
        labels.missed.reshape(-1, OUTPUTS)[:count],
        labels.followed.reshape(-1)[:count],
    )


def targets(labels: Labels, trace: float) -> Floats32:
    """Return the targets of the five chances, shape (n, OUTPUTS).

    They are the chances by 1-ply plus the network's errors later in the game, discounted by `trace` per turn (0: none
    of them, 1: all in full). They are unbiased and may be outside 0 to 1.
    """
    found = labels.ahead.astype(np.float32)
    later = np.zeros(OUTPUTS, np.float32)
    _add_later(found, labels.missed.astype(np.float32), labels.followed, np.float32(trace), later)
    return found


def corrected(labels: Labels, before: Floats32, now: Floats32) -> Labels:
    """Return labels as if a better network had evaluated the positions, as far as they are among the labels.

    `before` are the chances by the network that made the labels, `now` those by the other one, shape (n, OUTPUTS). With
    these labels a short trace has no more bias than a long one, and less noise.
    """
    gain = now - before
    later = np.zeros_like(gain)
    later[:-1] = gain[1:][:, [0, 3, 4, 1, 2]] * np.array([-1, 1, 1, 1, 1], np.float32)
    later[~labels.followed] = 0
    return labels._replace(ahead=labels.ahead + later, missed=labels.missed + later - gain)


@compiled
def _add_later(found: Matrix32, missed: Matrix32, followed: BoolVector, trace: np.float32, later: Vector32) -> None:
    """Add the discounted later errors to `found`; `later` is a buffer for the error at the next position."""
    for row in range(found.shape[0] - 1, -1, -1):
        if followed[row]:
            # Seen by the other side: what wins for one is lost by the other.
            win, gammon, backgammon = later[0], later[1], later[2]
            later[0] = -win
            later[1], later[2] = later[3], later[4]
            later[3], later[4] = gammon, backgammon
            for chance in range(OUTPUTS):
                later[chance] *= trace
                found[row, chance] += later[chance]
                later[chance] += missed[row, chance]
        else:
            for chance in range(OUTPUTS):
                later[chance] = missed[row, chance]


@frozen
class Chunk:
    """A file of labels to be made."""

    path: Path
    count: int
    seed: int


def label_all(teacher: Labeller, chunks: Sequence[Chunk], pool: WorkerPool) -> Iterator[int]:
    """Have the missing chunks made by workers, and write them; yield the number of labels after each.

    Raises OSError if a file cannot be written, WorkError if the workers fail.
    """
    return make_chunks(make_labels, teacher, chunks, pool)


def make_chunks(
    make: Callable[[Any, tuple[int, int]], bytes], teacher: object, chunks: Sequence[Chunk], pool: WorkerPool
) -> Iterator[int]:
    """Have the missing chunks made by workers that call `make(teacher, (count, seed))`; see `label_all`."""
    missing = {chunk.path.name: chunk for chunk in chunks if not chunk.path.exists()}
    pieces = [Piece(name, (chunk.count, chunk.seed)) for name, chunk in missing.items()]
    with contextlib.closing(pool.run(make, pieces, shared=teacher, ordered=False)) as made:
        for piece, content in made:
            chunk = missing[piece.key]
            write_whole(chunk.path, content)
            yield chunk.count


def read_labels(paths: Sequence[Path], trace: float) -> tuple[Boards, Floats32]:
    """Return all boards of some chunks and their targets; see `targets`.

    Raises NetworkError if a file is invalid, OSError if it is missing.
    """
    chunks = [read_chunk(path) for path in paths]
    boards = np.concatenate([chunk.boards for chunk in chunks])
    return boards, np.concatenate([targets(chunk, trace) for chunk in chunks])


def read_chunk(path: Path) -> Labels:
    """Read the labels of a chunk; raise NetworkError if the file is invalid, OSError if it is missing."""
    arrays = load_arrays(path)
    if set(arrays) != {*Labels._fields}:
        raise NetworkError(f"{path}: expected labels, found something else")
    return Labels(**arrays)


def make_labels(teacher: Labeller, count_and_seed: tuple[int, int]) -> bytes:
    """Return the content of a file of labels, in a worker."""
    labels = play_games(teacher, *count_and_seed)
    return content_of(labels._replace(missed=labels.missed.astype(np.float16))._asdict())


def content_of(arrays: dict[str, npt.NDArray[Any]]) -> bytes:
    """Return the content of a file of arrays."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def evaluate_five(evaluator: ArrayEvaluator, boards: Boards) -> Floats32:
    """Return the five chances that a network learns, by an evaluator without lookahead."""
    return evaluator.evaluate(boards)[:, FIVE].astype(np.float32)
