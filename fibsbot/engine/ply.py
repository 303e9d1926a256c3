"""Looking one roll ahead, for many positions at once: over all 21 rolls the best of the plays that a pruner leaves."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from attrs import field, frozen
from attrs.validators import ge, le

from fibsbot.engine.boards import CELLS, Board, Boards, swap
from fibsbot.engine.compiled import compiled
from fibsbot.engine.evaluator import Evaluator
from fibsbot.engine.generator import MOST_PLAYS, Scratch, generate, plays_and_scratch
from fibsbot.engine.network import Floats
from fibsbot.engine.outcomes import OUTCOMES, Outcomes, cubeless_equity
from fibsbot.engine.pruner import Pruner, prune_value

ROLLS: Final = 21
_CHANCES: Final = np.array(
    [(1 if high == low else 2) / 36 for high in range(1, 7) for low in range(1, high + 1)], np.float32
)
"""How likely each roll is, in the order in which `_collect` goes through them."""
OUT_OF_REACH: Final = np.float32(1e9)
"""More than any equity; compiled functions are fast because they know no infinity."""
_BATCH: Final = 128
"""Positions that are looked at together."""

Slots = npt.NDArray[np.int32]


@frozen
class Filter:
    """Which plays are looked at by the better network."""

    margin: float = field(default=0.2, validator=[ge(0), le(1000)])
    """How far, in equity, the pruner may hold a play below its best."""
    most: int = field(default=6, validator=[ge(1), le(MOST_PLAYS)])


class Room(NamedTuple):
    """Room to look ahead; each thread needs its own."""

    plays: Boards
    scratch: Scratch
    values: Floats
    swapped: Board


def new_room() -> Room:
    """Return room to look ahead."""
    plays, scratch = plays_and_scratch()
    return Room(plays, scratch, np.zeros(MOST_PLAYS, np.float32), np.zeros(CELLS, np.int8))


def one_ply(evaluator: Evaluator, pruner: Pruner, boards: Boards, chosen: Filter) -> Outcomes:
    """Return the chances of who is on roll one roll ahead, shape (n, 6) for n boards of shape (n, 26).

    Games that are over have no further roll: leave them out.
    """
    outcomes = np.empty((len(boards), OUTCOMES), np.float32)
    room = new_room()
    found = np.empty((_BATCH * ROLLS * chosen.most, CELLS), np.int8)
    slots = np.empty(len(found), np.int32)
    for first in range(0, len(boards), _BATCH):
        batch = boards[first : first + _BATCH]
        count = _collect(pruner, room, batch, np.float32(chosen.margin), chosen.most, found, slots)
        theirs = evaluator.evaluate(found[:count])
        _settle(theirs, cubeless_equity(theirs), slots[:count], outcomes[first : first + _BATCH])
    return outcomes


@compiled
def _collect(
    pruner: Pruner, room: Room, boards: Boards, margin: np.float32, most: int, found: Boards, slots: Slots
) -> int:
    """Write what deserves a look after each roll, seen by the opponent, who is then on roll; return how many.

    `slots` says of each from which board and roll it came: `row * 21 + roll`.
    """
    count = 0
    for row in range(boards.shape[0]):
        slot = row * ROLLS
        for high in range(1, 7):
            for low in range(1, high + 1):
                before = count
                count = candidates(pruner, room, boards[row], high, low, margin, most, found, count)
                slots[before:count] = slot
                slot += 1
    return count


@compiled
def candidates(
    pruner: Pruner,
    room: Room,
    board: Board,
    high: int,
    low: int,
    margin: np.float32,
    most: int,
    found: Boards,
    count: int,
) -> int:
    """Append what the plays that deserve a look leave, seen by the opponent; return how many there are then."""
    plays = generate(board, high, low, room.plays, room.scratch)
    if plays < 2:
        swap(room.plays[0] if plays else board, found[count])
        return count + 1
    values = room.values
    least = OUT_OF_REACH
    for play in range(plays):
        swap(room.plays[play], room.swapped)
        values[play] = prune_value(pruner, room.swapped)
        least = min(least, values[play])
    for _ in range(min(most, plays)):
        best = 0
        for play in range(1, plays):
            if values[play] < values[best]:
                best = play
        if values[best] > least + margin:
            break
        swap(room.plays[best], found[count])
        values[best] = OUT_OF_REACH
        count += 1
    return count


@compiled
def _settle(theirs: Floats, equities: Floats, slots: Slots, outcomes: Floats) -> None:
    """Write the mean over the rolls of what the best play leaves, seen by who is on roll."""
    outcomes[:] = 0.0
    place = 0
    while place < slots.shape[0]:
        slot = slots[place]
        best = place
        while place < slots.shape[0] and slots[place] == slot:
            if equities[place] < equities[best]:
                best = place
            place += 1
        row, roll = slot // ROLLS, slot % ROLLS
        for outcome in range(OUTCOMES):
            outcomes[row, outcome] += _CHANCES[roll] * theirs[best, (outcome + 3) % OUTCOMES]
