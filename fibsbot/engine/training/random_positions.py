"""Positions to learn from: random games and rare positions.

In the games a pruner plays against itself with some random plays; the rare positions are set up at random.

Rare positions are those that games seldom reach: blockades against checkers on the bar of a side that has already
borne off checkers, back games, crashed boards, stragglers. Play continues from them, and they soon look natural.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import field, frozen
from attrs.validators import and_, ge, le

from fibsbot.engine.arrays import BAR, CELLS, CHECKERS, OUTPUTS, Board, Boards, Vector32, boards_of, position_of
from fibsbot.engine.bearoff import TableArrays
from fibsbot.engine.generator import Scratch, copy, generate, plays_and_scratch, swap, write_game_over
from fibsbot.engine.jit import compiled, inner
from fibsbot.engine.network_evaluator import is_known
from fibsbot.engine.pruner import WORST_EQUITY, Pruner, pruner_equity
from fibsbot.position import Position

_LONGEST: Final = 400
"""Turns after which a game is abandoned."""
LEAST_TEMPERATURE: Final = 0.006
MOST_TEMPERATURE: Final = 0.2
"""In points of equity: a play that is worse by the temperature is chosen 1/e as often."""
_share: Final = and_(ge(0.0), le(1.0))


@frozen
class Variety:
    """How far the games deviate from the plays that the pruner would choose."""

    wild: float = field(default=0.7, validator=_share)
    """Share of the games in which some plays are random."""
    random: float = field(default=0.08, validator=_share)
    """Share of random plays in these games."""
    early: float = field(default=0.3, validator=_share)
    """Share of the games that begin with up to seven random plays."""
    outplayed: float = field(default=0.0, validator=_share)
    """Share of the games in which one side alone begins with up to twelve random plays, which makes back games."""
    arranged: float = field(default=0.0, validator=_share)
    """Share of the games that begin with a rare position; see `random_positions`."""
    disputed: float = field(default=0.0, validator=_share)
    """Share of the (short) games that begin where the last network differed most from a one-roll lookahead."""
    soft: float = field(default=0.0, validator=_share)
    """Share of the games in which each side draws a temperature between `LEAST_TEMPERATURE` and `MOST_TEMPERATURE`.

    It chooses its plays by the softmax of their equities at 0-ply: close plays are often swapped, blunders are rare.
    Only games whose positions are labelled are played so, not those of decisions, nor those for the first networks.
    """


class _Buffers(NamedTuple):
    """Working memory of a game."""

    plays: Boards
    scratch: Scratch
    board: Board
    swapped: Board


def play_positions(pruner: Pruner, count: int, variety: Variety, seed: int, kept: float = 0.5) -> Boards:
    """Return `count` positions from games, shape (count, 26), seen by the player on roll; none of them is over.

    `kept` is the share of the positions that is kept: successive ones resemble each other.
    """
    boards = np.empty((count, CELLS), np.int8)
    start = boards_of([Position.start()])[0]
    chances = np.zeros(OUTPUTS, np.float32)
    buffers = _Buffers(*plays_and_scratch(), np.zeros(CELLS, np.int8), np.zeros(CELLS, np.int8))
    _play(pruner, buffers, start, boards, chances, kept, variety.wild, variety.random, variety.early, seed)
    return boards


@compiled
def _play(
    pruner: Pruner,
    buffers: _Buffers,
    start: Board,
    boards: Boards,
    chances: Vector32,
    kept: float,
    wild: float,
    at_random: float,
    early: float,
    seed: int,
) -> None:
    np.random.seed(seed)  # noqa: NPY002 - compiled functions have no other generator of their own
    board = buffers.board
    count = 0
    while count < boards.shape[0]:
        copy(start, board)
        random_share = at_random if np.random.random() < wild else 0.0  # noqa: NPY002
        random_turns = np.random.randint(0, 8) if np.random.random() < early else 0  # noqa: NPY002
        for turn in range(_LONGEST):
            if turn and np.random.random() < kept:  # noqa: NPY002
                copy(board, boards[count])
                count += 1
                if count == boards.shape[0]:
                    break
            one = np.random.randint(1, 7)  # noqa: NPY002
            other = np.random.randint(1, 7)  # noqa: NPY002
            while turn == 0 and one == other:
                other = np.random.randint(1, 7)  # noqa: NPY002
            plays = generate(board, max(one, other), min(one, other), buffers.plays, buffers.scratch)
            if plays > 1 and (turn < random_turns or np.random.random() < random_share):  # noqa: NPY002
                copy(buffers.plays[np.random.randint(0, plays)], board)  # noqa: NPY002
            elif plays:
                copy(buffers.plays[_best(pruner, buffers, plays)], board)
            swap(board, buffers.swapped)
            copy(buffers.swapped, board)
            if write_game_over(board, chances):
                break


@inner
def _best(pruner: Pruner, buffers: _Buffers, plays: int) -> int:
    best, least = 0, WORST_EQUITY
    for play in range(plays):
        swap(buffers.plays[play], buffers.swapped)
        theirs = np.float32(pruner_equity(pruner, buffers.swapped))
        if theirs < least:
            least, best = theirs, play
    return best


Counts: TypeAlias = npt.NDArray[np.int8]
"""Checkers of one side, seen by itself, shape (26,)."""

_REAR: Final = (0.3, 0.2, 0.2, 0.15, 0.1, 0.05)
"""Probability of each number of checkers in the opponent's home board or on the bar."""


def rare_position(rng: np.random.Generator, columns: TableArrays) -> Board:
    """Return a legal position that is not over and not in the bear-off tables, seen by the player on roll."""
    while True:
        own = _side(rng, np.ones(CELLS, np.bool_))
        free = own[::-1] == 0
        free[BAR] = True
        board: Board = (own - _side(rng, free)[::-1]).astype(np.int8)
        if rng.random() < 0.5:
            board = np.ascontiguousarray(-board[::-1])
        position = position_of(board)
        if not position.status() and not position.over and not is_known(board[None], columns)[0]:
            return board


def _side(rng: np.random.Generator, free: npt.NDArray[np.bool_]) -> Counts:
    """Return one side's checkers, on free points only."""
    off = int(rng.integers(1, 15)) if rng.random() < 0.3 else 0
    counts = np.zeros(CELLS, np.int8)
    left = CHECKERS - off
    rear = min(left, int(rng.choice(len(_REAR), p=_REAR)))
    _put(rng, counts, free, rear, np.arange(19, BAR + 1))
    left -= rear
    if rng.random() < 0.5:  # a blockade, perhaps a closed board
        length = int(rng.integers(4, 7))
        first = 1 if off or rng.random() < 0.5 else int(rng.integers(1, 9 - length + 1))
        for point in range(first, first + length):
            if left > 1 and free[point]:
                counts[point] += 2
                left -= 2
    farthest = 6 if off else int(rng.choice((6, 8, 13, 18)))
    _put(rng, counts, free, left, np.arange(1, farthest + 1))
    return counts


def _put(
    rng: np.random.Generator, counts: Counts, free: npt.NDArray[np.bool_], left: int, points: npt.NDArray[np.int64]
) -> None:
    """Put `left` checkers on random ones of the points, mostly in pairs, or on the bar if none is free."""
    points = points[free[points]]
    while left:
        point = int(rng.choice(points)) if len(points) else BAR
        together = min(left, 2 if rng.random() < 0.7 else 1)
        counts[point] += together
        left -= together
