"""The student: a network of one small hidden layer that values one position after another inside compiled loops.

It learns by playing (`training.td`), and where a big network is too slow to look at every play, it says which ones are
worth a look.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fibsbot.engine.boards import BAR, CELLS, CHECKERS, Board, Boards
from fibsbot.engine.compiled import compiled, inner
from fibsbot.engine.generator import swap
from fibsbot.engine.inputs import ESCAPES, encode_into
from fibsbot.engine.units import INPUTS, SIDE, Inputs

Floats = npt.NDArray[np.float32]

CHANCES = 5
"""What networks say: win, win gammon, win backgammon, lose gammon, lose backgammon; to lose is what is left."""


class Student(NamedTuple):
    """The weights. Hidden units are softsign, outputs logistic."""

    inward: Floats
    """Shape (INPUTS, hidden)."""
    threshold: Floats
    """Shape (hidden,)."""
    outward: Floats
    """Shape (CHANCES, hidden)."""
    offset: Floats
    """Shape (CHANCES,)."""


class Desk(NamedTuple):
    """Room to value a position; each thread needs its own."""

    sides: Boards
    """The position as each side sees it, shape (2, 26)."""
    inputs: Inputs
    hidden: Floats
    chances: Floats
    """What the last position was worth to who was on roll; shape (CHANCES,)."""
    escapes: Inputs


def new_student(hidden: int, seed: int) -> Student:
    """Return a student that knows nothing but that gammons are rare."""
    rng = np.random.default_rng(seed)
    return Student(
        inward=(rng.standard_normal((INPUTS, hidden)) * 0.1).astype(np.float32),
        threshold=np.zeros(hidden, np.float32),
        outward=(rng.standard_normal((CHANCES, hidden)) * 0.1).astype(np.float32),
        offset=np.array([0, -1.5, -4, -1.5, -4], np.float32),
    )


def new_desk(student: Student) -> Desk:
    """Return room for a student's work."""
    return Desk(
        sides=np.zeros((2, CELLS), np.int8),
        inputs=np.zeros(INPUTS, np.float32),
        hidden=np.zeros(len(student.threshold), np.float32),
        chances=np.zeros(CHANCES, np.float32),
        escapes=ESCAPES,
    )


@compiled
def write_ending(board: Board, chances: Floats) -> bool:
    """If who is not on roll has borne off all checkers, write the chances of who is on roll; else return False."""
    for cell in range(BAR):
        if board[cell] < 0:
            return False
    left, behind = 0, 0
    for cell in range(1, CELLS):
        if board[cell] > 0:
            left += board[cell]
            if cell > 18:
                behind = 1
    gammon = 1.0 if left == CHECKERS else 0.0
    for chance in range(3):
        chances[chance] = 0.0
    chances[3] = gammon
    chances[4] = gammon * behind
    return True


@inner
def look_at(desk: Desk, board: Board) -> None:
    """Lay the inputs of a position on the desk."""
    for cell in range(CELLS):
        desk.sides[0, cell] = board[cell]
    swap(board, desk.sides[1])
    encode_into(desk.sides, desk.inputs.reshape(2, SIDE), desk.escapes)


@inner
def forward(student: Student, desk: Desk) -> None:
    """Write the chances of the position whose inputs lie on the desk."""
    hidden, chances, inputs = desk.hidden, desk.chances, desk.inputs
    units = len(hidden)
    for unit in range(units):
        hidden[unit] = student.threshold[unit]
    for place in range(len(inputs)):
        value = inputs[place]
        if value != 0.0:
            for unit in range(units):
                hidden[unit] += value * student.inward[place, unit]
    for unit in range(units):
        hidden[unit] /= np.float32(1.0) + abs(hidden[unit])
    for chance in range(CHANCES):
        total = student.offset[chance]
        for unit in range(units):
            total += hidden[unit] * student.outward[chance, unit]
        chances[chance] = 1.0 / (1.0 + np.exp(-total))


@compiled
def value(student: Student, desk: Desk, board: Board) -> float:
    """Return the cubeless equity of a position for the player on roll, and leave the chances on the desk."""
    chances = desk.chances
    if not write_ending(board, chances):
        look_at(desk, board)
        forward(student, desk)
        chances[1] = min(chances[1], chances[0])
        chances[2] = min(chances[2], chances[1])
        chances[3] = min(chances[3], 1 - chances[0])
        chances[4] = min(chances[4], chances[3])
    return float(2 * chances[0] - 1 + chances[1] + chances[2] - chances[3] - chances[4])
