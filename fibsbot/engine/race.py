"""Races: how many throws each side still needs, by a small network where the bear-off tables do not reach.

Once the sides have passed each other neither can hinder the other, and a race is two numbers of throws. The network
says of one side alone how likely each number is until all its checkers are off, and until the first one is, which
decides gammons: each for a side that plays for the least mean of that number, since who has to save a gammon does not
mind wasted pips. This is the continuation of the one-sided tables (see `bearoff.one_sided`).

A side is int8[18]: its checkers on its points 1 to 18. With one farther back, in the other's home board, a backgammon
may be lost, of which numbers of throws say nothing; such races are left to the network for contact.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import frozen

from fibsbot.engine.bearoff import Columns
from fibsbot.engine.bearoff.indexing import POINTS as HOME
from fibsbot.engine.bearoff.indexing import numbers_of, size
from fibsbot.engine.bearoff.one_sided import LONGEST as THROWS
from fibsbot.engine.boards import BAR, CHECKERS, Boards
from fibsbot.engine.network import Floats, Network
from fibsbot.engine.outcomes import LOSE, LOSE_GAMMON, OUTCOMES, WIN, WIN_GAMMON, Outcomes

POINTS: Final = 18
MOST_PIPS: Final = 180
"""Of a side; more would take more throws than there is room for."""
FIRST: Final = 24
"""Columns of the distribution of throws until the first checker is off; `THROWS` are those until all are."""
PIPS: Final = np.arange(1, POINTS + 1)
"""Of a checker on each point."""
_STEP: Final = 8
"""Pips, about as many as a throw brings."""
_STEPS: Final = np.arange(0, MOST_PIPS, _STEP, dtype=np.float32)
RACE_INPUTS: Final = 4 * POINTS + 1 + len(_STEPS)
RACE_OUTPUTS: Final = THROWS + FIRST

Sides: TypeAlias = npt.NDArray[np.int8]
"""Checkers on the points 1 to 18, shape (n, 18)."""
Mask: TypeAlias = npt.NDArray[np.bool_]

_FIFTEEN: Final = size(CHECKERS - 1)
"""The lowest number of a bear-off position of 15 checkers."""


def sides_of(boards: Boards) -> tuple[Sides, Sides]:
    """Return the own and the opponent's side of boards without contact, shape (n, 18) each."""
    return boards[:, 1 : POINTS + 1].clip(0), -boards[:, BAR - 1 : BAR - POINTS - 1 : -1].clip(max=0)


def is_race(boards: Boards) -> Mask:
    """Return for each board whether the sides have passed each other and are where `RaceNetwork` knows them."""
    own, theirs = boards > 0, boards < 0
    rearmost = BAR - own[:, ::-1].argmax(axis=1)
    apart = (rearmost < theirs.argmax(axis=1)) & (rearmost <= POINTS) & ~theirs[:, : BAR - POINTS].any(axis=1)
    found = np.flatnonzero(apart & own.any(axis=1))
    apart[:] = False
    one, other = sides_of(boards[found])
    apart[found] = np.maximum(one @ PIPS, other @ PIPS) <= MOST_PIPS
    return np.asarray(apart)


def encode_sides(sides: Sides) -> Floats:
    """Return what the network sees of sides: shape (n, RACE_INPUTS)."""
    inputs = np.empty((len(sides), RACE_INPUTS), np.float32)
    for count in range(1, 4):
        inputs[:, (count - 1) * POINTS : count * POINTS] = sides >= count
    inputs[:, 3 * POINTS : 4 * POINTS] = 0.5 * np.maximum(sides - 3, 0)
    inputs[:, 4 * POINTS] = 1 - sides.sum(axis=1) / CHECKERS
    # How many throws a side needs is first of all a matter of its pips: one input after the other fills up with them.
    inputs[:, 4 * POINTS + 1 :] = (((sides @ PIPS)[:, None] - _STEPS) / _STEP).clip(0, 1)
    return inputs


@frozen(eq=False)
class RaceNetwork:
    """Knows how many throws a side needs."""

    network: Network

    def likely(self, sides: Sides, columns: Columns) -> tuple[Floats, Floats]:
        """Return how likely each number of throws is until all checkers of a side are off, and until the first is.

        Shapes (n, THROWS) and (n, FIRST). What the bear-off tables cover is taken from them.
        """
        throws, first = np.zeros((len(sides), THROWS), np.float32), np.zeros((len(sides), FIRST), np.float32)
        known = is_home(sides) & bool(len(columns.throws))
        numbers = numbers_of(sides[known, :HOME])
        throws[known] = columns.throws[numbers]
        whole = sides.sum(axis=1) == CHECKERS
        of_fifteen = numbers[whole[known]] - _FIFTEEN
        first[known & whole, : columns.first.shape[1]] = columns.first[of_fifteen]
        if not known.all():
            throws[~known], first[~known] = self.guess(sides[~known])
        first[~whole] = np.eye(1, FIRST, dtype=np.float32)
        return throws, first

    def guess(self, sides: Sides) -> tuple[Floats, Floats]:
        """Return what the network alone says; for sides that are not done."""
        return split(self.network.sums(encode_sides(sides))[-1])

    def evaluate(self, boards: Boards, columns: Columns) -> Outcomes:
        """Return the chances of who is on roll, shape (n, 6); for boards of which `is_race` is true."""
        own, theirs = sides_of(boards)
        throws, first = self.likely(np.concatenate([own, theirs]), columns)
        count = len(boards)
        return race_chances(throws[:count], first[:count], throws[count:], first[count:])


def is_home(sides: Sides) -> Mask:
    """Return for each side whether all its checkers are on the points 1 to 6."""
    return np.asarray(~sides[:, HOME:].any(axis=1))


def race_chances(own: Floats, own_first: Floats, theirs: Floats, their_first: Floats) -> Outcomes:
    """Return the six chances of who is on roll, shape (n, 6), from both sides' numbers of throws."""
    outcomes = np.zeros((len(own), OUTCOMES), np.float32)
    outcomes[:, WIN] = np.einsum("nk,nk->n", own[:, 1:], _not_before(theirs)[:, 1:]).clip(0, 1)
    outcomes[:, LOSE] = 1 - outcomes[:, WIN]
    # Who is on roll has, when he is done, thrown once more than the opponent, and else as often as the opponent.
    gammon = np.einsum("nk,nk->n", own[:, 1:FIRST], _not_before(their_first)[:, 1:])
    lost = np.einsum("nk,nk->n", theirs[:, 1 : FIRST - 1], _not_before(own_first)[:, 2:])
    outcomes[:, WIN_GAMMON] = gammon.clip(0, outcomes[:, WIN])
    outcomes[:, LOSE_GAMMON] = lost.clip(0, outcomes[:, LOSE])
    return outcomes


def _not_before(chances: Floats) -> Floats:
    """Return how likely it is that not fewer than so many throws are needed."""
    return np.asarray(chances[:, ::-1].cumsum(axis=1)[:, ::-1])


def split(sums: Floats) -> tuple[Floats, Floats]:
    """Return the chances that the network's outputs mean, shapes (n, THROWS) and (n, FIRST)."""
    return _softmax(sums[:, :THROWS]), _softmax(sums[:, THROWS:])


def _softmax(sums: Floats) -> npt.NDArray[Any]:
    sums = sums - sums.max(axis=1, keepdims=True)
    np.exp(sums, out=sums)
    sums /= sums.sum(axis=1, keepdims=True)
    return sums
