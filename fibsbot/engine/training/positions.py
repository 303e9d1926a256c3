"""Positions to learn from: games that a pruner plays against itself, with some plays at random."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from attrs import field, frozen
from attrs.validators import and_, ge, le

from fibsbot.engine.boards import CELLS, Board, Boards, boards_of
from fibsbot.engine.compiled import compiled, inner
from fibsbot.engine.expanding import OUT_OF_REACH
from fibsbot.engine.generator import Scratch, copy, generate, plays_and_scratch, swap
from fibsbot.engine.network import Floats
from fibsbot.engine.pruner import Pruner, prune_value
from fibsbot.engine.student import CHANCES, write_ending
from fibsbot.position import Position

_LONGEST: Final = 400
"""Turns after which a game is given up."""
_share: Final = and_(ge(0.0), le(1.0))


@frozen
class Variety:
    """How far the games stray from what the pruner would play."""

    wild: float = field(default=0.7, validator=_share)
    """The part of the games in which plays are made at random now and then."""
    random: float = field(default=0.08, validator=_share)
    """The part of the plays made at random in them."""
    early: float = field(default=0.3, validator=_share)
    """The part of the games that begin with random plays, up to seven."""
    outplayed: float = field(default=0.0, validator=_share)
    """The part of the games that one side alone begins with random plays, up to twelve, which makes back games."""
    arranged: float = field(default=0.0, validator=_share)
    """The part of the games that begin with a rare position; see `arranging`."""
    disputed: float = field(default=0.0, validator=_share)
    """The part of the games that begin where the last network was most at odds with one roll ahead, and end soon."""


class _Room(NamedTuple):
    """Room to play."""

    plays: Boards
    scratch: Scratch
    board: Board
    swapped: Board


def play_positions(pruner: Pruner, count: int, variety: Variety, seed: int, kept: float = 0.5) -> Boards:
    """Return so many positions from games, shape (count, 26), seen by the player on roll; none of them is over.

    `kept` is the part of the positions that is kept: neighbours resemble each other.
    """
    boards = np.empty((count, CELLS), np.int8)
    start = boards_of([Position.start()])[0]
    chances = np.zeros(CHANCES, np.float32)
    room = _Room(*plays_and_scratch(), np.zeros(CELLS, np.int8), np.zeros(CELLS, np.int8))
    _play(pruner, room, start, boards, chances, kept, variety.wild, variety.random, variety.early, seed)
    return boards


@compiled
def _play(
    pruner: Pruner,
    room: _Room,
    start: Board,
    boards: Boards,
    chances: Floats,
    kept: float,
    wild: float,
    at_random: float,
    early: float,
    seed: int,
) -> None:
    np.random.seed(seed)  # noqa: NPY002 - compiled functions have no other generator of their own
    board = room.board
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
            plays = generate(board, max(one, other), min(one, other), room.plays, room.scratch)
            if plays > 1 and (turn < random_turns or np.random.random() < random_share):  # noqa: NPY002
                copy(room.plays[np.random.randint(0, plays)], board)  # noqa: NPY002
            elif plays:
                copy(room.plays[_best(pruner, room, plays)], board)
            swap(board, room.swapped)
            copy(room.swapped, board)
            if write_ending(board, chances):
                break


@inner
def _best(pruner: Pruner, room: _Room, plays: int) -> int:
    best, least = 0, OUT_OF_REACH
    for play in range(plays):
        swap(room.plays[play], room.swapped)
        theirs = np.float32(prune_value(pruner, room.swapped))
        if theirs < least:
            least, best = theirs, play
    return best
