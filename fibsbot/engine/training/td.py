"""TD(0): a student plays itself and learns from the next position what the last one was worth (Tesauro 1992)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fibsbot.engine.boards import CELLS, Board, Boards, boards_of
from fibsbot.engine.compiled import compiled, inner
from fibsbot.engine.generator import Scratch, copy, generate, plays_and_scratch, swap
from fibsbot.engine.student import CHANCES, Desk, Floats, Student, forward, look_at, new_desk, value, write_ending
from fibsbot.position import Position

MOST_TURNS = 2000
"""A game that goes on for longer is given up; beginners can build walls that last."""


class Table(NamedTuple):
    """Room for a game that is played; each thread needs its own."""

    plays: Boards
    scratch: Scratch
    start: Board
    board: Board
    swapped: Board
    """Shape (26,): room for a position seen by the other player."""
    desk: Desk
    teacher: Desk
    """Room to look at the next position, which teaches what the last was worth."""
    errors: Floats
    """Room for what the hidden units are told, shape (hidden,)."""
    told: npt.NDArray[np.float64]
    """Room for what is counted, shape (3,)."""


class Lesson(NamedTuple):
    """What was seen in some games."""

    games: int
    turns: int
    gammons: int
    error: float
    """Squared differences of equity between neighbouring positions, summed over turns."""


def new_table(student: Student) -> Table:
    """Return room for a student's games."""
    plays, scratch = plays_and_scratch()
    return Table(
        plays=plays,
        scratch=scratch,
        start=boards_of([Position.start()])[0],
        board=np.zeros(CELLS, np.int8),
        swapped=np.zeros(CELLS, np.int8),
        desk=new_desk(student),
        teacher=new_desk(student),
        errors=np.zeros(student.threshold.shape[0], np.float32),
        told=np.zeros(3),
    )


def learn(student: Student, table: Table, games: int, seed: int, rate: float) -> Lesson:
    """Play games against itself and change the student's weights by each turn."""
    table.told.fill(0)
    _learn(student, table, games, seed, np.float32(rate))
    turns, gammons, error = table.told.tolist()
    return Lesson(games, int(turns), int(gammons), error)


@inner
def best_play(student: Student, desk: Desk, plays: Boards, count: int, swapped: Board) -> int:
    """Return which of the positions that a roll leaves is worth most to who moved, by the student."""
    best = 0
    least = 1e9  # more than any equity; compiled functions know no infinity
    for play in range(count):
        swap(plays[play], swapped)
        theirs = value(student, desk, swapped)
        if theirs < least:
            least, best = theirs, play
    return best


@compiled
def _learn(student: Student, table: Table, games: int, seed: int, rate: np.float32) -> None:
    """Play, and add to `table.told` the turns, the gammons and the squared differences of equity."""
    np.random.seed(seed)  # noqa: NPY002 - compiled functions have no other generator of their own
    board, swapped, teacher, told = table.board, table.swapped, table.teacher, table.told
    for _ in range(games):
        copy(table.start, board)
        for turn in range(MOST_TURNS):
            one = np.random.randint(1, 7)  # noqa: NPY002
            other = np.random.randint(1, 7)  # noqa: NPY002
            while turn == 0 and one == other:
                other = np.random.randint(1, 7)  # noqa: NPY002
            count = generate(board, max(one, other), min(one, other), table.plays, table.scratch)
            look_at(table.desk, board)
            if count:
                copy(table.plays[best_play(student, teacher, table.plays, count, swapped)], board)
            swap(board, swapped)
            theirs = value(student, teacher, swapped)
            forward(student, table.desk)
            difference = _teach(student, table, rate)
            told[0] += 1
            told[2] += difference * difference
            copy(swapped, board)
            if write_ending(board, teacher.chances):
                if theirs < -1:
                    told[1] += 1
                break


@inner
def _teach(student: Student, table: Table, rate: np.float32) -> float:
    """Move the chances on the desk towards those that the teacher sees for the other side; return the difference."""
    learned, seen, errors = table.desk.chances, table.teacher.chances, table.errors
    hidden, inputs = table.desk.hidden, table.desk.inputs
    units = hidden.shape[0]
    for unit in range(units):
        errors[unit] = 0.0
    difference = 0.0
    for chance in range(CHANCES):
        target = np.float32(1.0) - seen[0] if chance == 0 else seen[chance + 2 if chance < 3 else chance - 2]
        miss = target - learned[chance]
        difference += miss if 1 <= chance <= 2 else -miss if chance else 2 * miss
        step = rate * miss
        student.offset[chance] += step
        for unit in range(units):
            errors[unit] += step * student.outward[chance, unit]
            student.outward[chance, unit] += step * hidden[unit]
    for unit in range(units):
        slope = np.float32(1.0) - abs(hidden[unit])
        errors[unit] *= slope * slope
        student.threshold[unit] += errors[unit]
    for place in range(inputs.shape[0]):
        amount = inputs[place]
        if amount != 0.0:
            for unit in range(units):
                student.inward[place, unit] += amount * errors[unit]
    return difference
