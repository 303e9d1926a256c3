"""Looking one roll ahead, for many positions at once: over all 21 rolls the best of the plays that a pruner leaves."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from fibsbot.engine.boards import CELLS, Boards
from fibsbot.engine.compiled import compiled
from fibsbot.engine.evaluator import Evaluator
from fibsbot.engine.expanding import Filter, Places, Scales, expand
from fibsbot.engine.network import Floats
from fibsbot.engine.outcomes import OUTCOMES, Outcomes, cubeless_equity
from fibsbot.engine.rolls import CHANCE_OF_ROLL, ROLLS

_BATCH: Final = 64
"""Positions that are looked at together."""
_CHANCES: Final = CHANCE_OF_ROLL.astype(np.float32)


class Ahead(NamedTuple):
    """What looking ahead has shown of n positions."""

    outcomes: Outcomes
    """The chances of who is on roll, shape (n, 6)."""
    left: Boards
    """What the best play of each roll leaves, seen by the opponent, shape (n, 21, 26)."""


def one_ply(evaluator: Evaluator, scales: Scales, boards: Boards, chosen: Filter) -> Ahead:
    """Look one roll ahead from boards, shape (n, 26). Games that are over have no further roll: leave them out."""
    outcomes = np.zeros((len(boards), OUTCOMES), np.float32)
    left = np.empty((len(boards), ROLLS, CELLS), np.int8)
    found = np.empty((_BATCH * ROLLS * chosen.most + 1, CELLS), np.int8)
    slots = np.empty(len(found), np.int32)
    for first in range(0, len(boards), _BATCH):
        rows = slice(first, first + _BATCH)
        count = expand(scales, boards[rows], np.float32(chosen.margin), chosen.most, found, slots)
        theirs = evaluator.evaluate(found[:count])
        _settle(found, theirs, cubeless_equity(theirs), slots[:count], outcomes[rows], left[rows])
    return Ahead(outcomes, left)


@compiled
def _settle(found: Boards, theirs: Floats, equities: Floats, slots: Places, outcomes: Floats, left: Boards) -> None:
    """Write what the best play of each roll leaves, and the mean over the rolls, seen by who is on roll.

    `outcomes` come full of 0.
    """
    place = 0
    while place < len(slots):
        slot = slots[place]
        best = place
        while place < len(slots) and slots[place] == slot:
            if equities[place] < equities[best]:
                best = place
            place += 1
        row, roll = slot // ROLLS, slot % ROLLS
        for cell in range(CELLS):
            left[row, roll, cell] = found[best, cell]
        for outcome in range(OUTCOMES):
            outcomes[row, outcome] += _CHANCES[roll] * theirs[best, (outcome + 3) % OUTCOMES]
