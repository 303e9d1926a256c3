"""Races beyond the bear-off tables: a small network for how many rolls each side still needs.

Once the sides have passed each other neither can hinder the other, and a race is two numbers of rolls. The network
gives, for one side alone, the distribution of rolls until all its checkers are off, and until the first one is, which
decides gammons; each for a side that plays for the least mean of that number. It continues the one-sided bear-off
tables (see `bearoff.solver`).

A side is int8[18]: its checkers on its points 1 to 18. With one farther back, in the other's home board, a backgammon
may be lost, which numbers of rolls do not show; such races are left to the contact network.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from fibsbot.engine.arrays import BAR, CHECKERS, Boards, Bools, Floats32, Outcomes
from fibsbot.engine.bearoff import TableArrays
from fibsbot.engine.bearoff.tables import MAX_ROLLS, chances_from_rolls, first_off, indices_of
from fibsbot.engine.bearoff.tables import POINTS as HOME_POINTS
from fibsbot.engine.hash_tables import distinct
from fibsbot.engine.jit import compiled
from fibsbot.engine.network import Network
from fibsbot.engine.quantized import QuantizedNetwork, output_sums, quantize
from fibsbot.engine.simd import find_cells, highest_bit, lowest_bit

POINTS: Final = 18
MAX_PIPS: Final = 180
"""Pips of a side that the network covers; more could take more rolls than its outputs have."""
ROLLS_TO_FIRST: Final = 24
"""Entries of the distribution of rolls until the first checker is off; MAX_ROLLS is that until all are."""
PIPS: Final = np.arange(1, POINTS + 1)
"""Pips of a checker on each point."""
_STEP: Final = 8
"""Pips per input, about as many as a roll moves."""
_STEPS: Final = np.arange(0, MAX_PIPS, _STEP, dtype=np.float32)
RACE_INPUTS: Final = 4 * POINTS + 1 + len(_STEPS)
RACE_OUTPUTS: Final = MAX_ROLLS + ROLLS_TO_FIRST

Sides: TypeAlias = npt.NDArray[np.int8]
"""Checkers on the points 1 to 18, shape (n, 18)."""


def sides_of(boards: Boards) -> tuple[Sides, Sides]:
    """Return the own and the opponent's side of boards without contact, shape (n, 18) each."""
    return boards[:, 1 : POINTS + 1].clip(0), -boards[:, BAR - 1 : BAR - POINTS - 1 : -1].clip(max=0)


def is_race(boards: Boards) -> Bools:
    """Return whether the boards are races that `RaceNetwork` covers, shape (n,)."""
    found = np.empty(len(boards), np.bool_)
    _write_races(boards, found)
    return found


@compiled
def _write_races(boards: Boards, found: Bools) -> None:
    for row in range(len(boards)):
        board = boards[row]
        own, theirs = find_cells(board, 1, CHECKERS), find_cells(board, -CHECKERS, -1)
        found[row] = False
        if own and theirs:
            rearmost, theirs_rearmost = highest_bit(own), BAR - lowest_bit(theirs)
            if max(rearmost, theirs_rearmost) <= POINTS and rearmost + theirs_rearmost < BAR:
                pips, their_pips = 0, 0
                while own:
                    pips += lowest_bit(own) * board[lowest_bit(own)]
                    own &= own - 1
                while theirs:
                    their_pips -= (BAR - lowest_bit(theirs)) * board[lowest_bit(theirs)]
                    theirs &= theirs - 1
                found[row] = max(pips, their_pips) <= MAX_PIPS


def encode_sides(sides: Sides) -> Floats32:
    """Return the network's inputs for sides, shape (n, RACE_INPUTS)."""
    inputs = np.empty((len(sides), RACE_INPUTS), np.float32)
    for count in range(1, 4):
        inputs[:, (count - 1) * POINTS : count * POINTS] = sides >= count
    inputs[:, 3 * POINTS : 4 * POINTS] = 0.5 * np.maximum(sides - 3, 0)
    inputs[:, 4 * POINTS] = 1 - sides.sum(axis=1) / CHECKERS
    # The number of rolls mostly depends on the pips: with more pips, one input after the other rises from 0 to 1.
    inputs[:, 4 * POINTS + 1 :] = (((sides @ PIPS)[:, None] - _STEPS) / _STEP).clip(0, 1)
    return inputs


@frozen(eq=False)
class RaceNetwork:
    """A network for the number of rolls that a side needs."""

    network: Network
    _integers: QuantizedNetwork = field(init=False, repr=False)

    @_integers.default
    def _quantize(self) -> QuantizedNetwork:
        return quantize(self.network)

    def likely(self, sides: Sides, columns: TableArrays) -> tuple[Floats32, Floats32]:
        """Return the distributions of the rolls until all checkers of a side are off, and until the first is.

        Shapes (n, MAX_ROLLS) and (n, ROLLS_TO_FIRST). Sides that the bear-off tables cover are looked up there.
        """
        rolls, first = (
            np.zeros((len(sides), MAX_ROLLS), np.float32),
            np.zeros((len(sides), ROLLS_TO_FIRST), np.float32),
        )
        known = is_home(sides) & bool(len(columns.rolls))
        numbers = indices_of(sides[known, :HOME_POINTS])
        rolls[known] = columns.rolls[numbers]
        first[known, : columns.first.shape[1]] = first_off(numbers, columns)
        if not known.all():
            rolls[~known], first[~known] = self.guess(sides[~known])
        first[sides.sum(axis=1) < CHECKERS] = np.eye(1, ROLLS_TO_FIRST, dtype=np.float32)
        return rolls, first

    def guess(self, sides: Sides) -> tuple[Floats32, Floats32]:
        """Return the distributions by the network alone, for sides with checkers left."""
        return split_outputs(output_sums(self._integers, encode_sides(sides)))

    def evaluate(self, boards: Boards, columns: TableArrays) -> Outcomes:
        """Return the chances of the player on roll, shape (n, 6); for boards of which `is_race` is true."""
        sides = np.concatenate(sides_of(boards))
        which, number = distinct(sides)  # positions that a search compares have most of their sides in common
        rolls, first = self.likely(sides[which], columns)
        own, theirs = number[: len(boards)], number[len(boards) :]
        return np.asarray(chances_from_rolls(rolls[own], first[own], rolls[theirs], first[theirs]))


def is_home(sides: Sides) -> Bools:
    """Return for each side whether all its checkers are on the points 1 to 6."""
    return np.asarray(~sides[:, HOME_POINTS:].any(axis=1))


def split_outputs(sums: Floats32) -> tuple[Floats32, Floats32]:
    """Return the distributions from the sums of the outputs, shapes (n, MAX_ROLLS) and (n, ROLLS_TO_FIRST)."""
    return _softmax(sums[:, :MAX_ROLLS]), _softmax(sums[:, MAX_ROLLS:])


def _softmax(sums: Floats32) -> npt.NDArray[Any]:
    sums = sums - sums.max(axis=1, keepdims=True)
    np.exp(sums, out=sums)
    sums /= sums.sum(axis=1, keepdims=True)
    return sums
