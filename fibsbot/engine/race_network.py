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

from fibsbot.engine.arrays import BAR, CHECKERS, Boards, Bools, Floats32, Outcomes, have_passed
from fibsbot.engine.bearoff import TableArrays
from fibsbot.engine.bearoff.lookup import MAX_ROLLS as THROWS
from fibsbot.engine.bearoff.lookup import POINTS as HOME
from fibsbot.engine.bearoff.lookup import chances_from_rolls, first_off, indices_of
from fibsbot.engine.network import Network
from fibsbot.engine.quantized import QuantizedNetwork, output_sums, quantize

POINTS: Final = 18
MAX_PIPS: Final = 180
"""Of a side; more would take more rolls than there is room for."""
ROLLS_TO_FIRST: Final = 24
"""Columns of the distribution of rolls until the first checker is off; `THROWS` are those until all are."""
PIPS: Final = np.arange(1, POINTS + 1)
"""Of a checker on each point."""
_STEP: Final = 8
"""Pips, about as many as a roll brings."""
_STEPS: Final = np.arange(0, MAX_PIPS, _STEP, dtype=np.float32)
RACE_INPUTS: Final = 4 * POINTS + 1 + len(_STEPS)
RACE_OUTPUTS: Final = THROWS + ROLLS_TO_FIRST

Sides: TypeAlias = npt.NDArray[np.int8]
"""Checkers on the points 1 to 18, shape (n, 18)."""


def sides_of(boards: Boards) -> tuple[Sides, Sides]:
    """Return the own and the opponent's side of boards without contact, shape (n, 18) each."""
    return boards[:, 1 : POINTS + 1].clip(0), -boards[:, BAR - 1 : BAR - POINTS - 1 : -1].clip(max=0)


def is_race(boards: Boards) -> Bools:
    """Return for each board whether the sides have passed each other and are where `RaceNetwork` knows them."""
    found = np.zeros(len(boards), np.bool_)
    apart = np.flatnonzero(have_passed(boards))
    if len(apart):
        some = boards[apart]
        near = (some[:, POINTS + 1 :] <= 0).all(axis=1) & (some[:, : BAR - POINTS] >= 0).all(axis=1)
        one, other = sides_of(some)
        found[apart] = near & (np.maximum(one @ PIPS, other @ PIPS) <= MAX_PIPS)
    return found


def encode_sides(sides: Sides) -> Floats32:
    """Return what the network sees of sides: shape (n, RACE_INPUTS)."""
    inputs = np.empty((len(sides), RACE_INPUTS), np.float32)
    for count in range(1, 4):
        inputs[:, (count - 1) * POINTS : count * POINTS] = sides >= count
    inputs[:, 3 * POINTS : 4 * POINTS] = 0.5 * np.maximum(sides - 3, 0)
    inputs[:, 4 * POINTS] = 1 - sides.sum(axis=1) / CHECKERS
    # How many rolls a side needs is first of all a matter of its pips: one input after the other fills up with them.
    inputs[:, 4 * POINTS + 1 :] = (((sides @ PIPS)[:, None] - _STEPS) / _STEP).clip(0, 1)
    return inputs


@frozen(eq=False)
class RaceNetwork:
    """Knows how many rolls a side needs."""

    network: Network
    _integers: QuantizedNetwork = field(init=False, repr=False)

    @_integers.default
    def _quantize(self) -> QuantizedNetwork:
        return quantize(self.network)

    def likely(self, sides: Sides, columns: TableArrays) -> tuple[Floats32, Floats32]:
        """Return how likely each number of rolls is until all checkers of a side are off, and until the first is.

        Shapes (n, THROWS) and (n, FIRST). What the bear-off tables cover is taken from them.
        """
        throws, first = np.zeros((len(sides), THROWS), np.float32), np.zeros((len(sides), ROLLS_TO_FIRST), np.float32)
        known = is_home(sides) & bool(len(columns.rolls))
        numbers = indices_of(sides[known, :HOME])
        throws[known] = columns.rolls[numbers]
        first[known, : columns.first.shape[1]] = first_off(numbers, columns)
        if not known.all():
            throws[~known], first[~known] = self.guess(sides[~known])
        first[sides.sum(axis=1) < CHECKERS] = np.eye(1, ROLLS_TO_FIRST, dtype=np.float32)
        return throws, first

    def guess(self, sides: Sides) -> tuple[Floats32, Floats32]:
        """Return what the network alone says; for sides that are not done."""
        return split_outputs(output_sums(self._integers, encode_sides(sides)))

    def evaluate(self, boards: Boards, columns: TableArrays) -> Outcomes:
        """Return the chances of the player on roll, shape (n, 6); for boards of which `is_race` is true."""
        own, theirs = sides_of(boards)
        throws, first = self.likely(np.concatenate([own, theirs]), columns)
        count = len(boards)
        return np.asarray(chances_from_rolls(throws[:count], first[:count], throws[count:], first[count:]))


def is_home(sides: Sides) -> Bools:
    """Return for each side whether all its checkers are on the points 1 to 6."""
    return np.asarray(~sides[:, HOME:].any(axis=1))


def split_outputs(sums: Floats32) -> tuple[Floats32, Floats32]:
    """Return the chances that the network's outputs mean, shapes (n, THROWS) and (n, FIRST)."""
    return _softmax(sums[:, :THROWS]), _softmax(sums[:, THROWS:])


def _softmax(sums: Floats32) -> npt.NDArray[Any]:
    sums = sums - sums.max(axis=1, keepdims=True)
    np.exp(sums, out=sums)
    sums /= sums.sum(axis=1, keepdims=True)
    return sums
