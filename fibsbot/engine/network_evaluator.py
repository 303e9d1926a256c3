"""Evaluators evaluate positions without lookahead (0-ply): the interface, and networks with bear-off tables.

Races beyond the tables have a small network for how many rolls each side still needs. Once the sides have passed each
other neither can hinder the other, and a race is two numbers of rolls. The network gives, for one side alone, the
distribution of rolls until all its checkers are off, and until the first one is, which decides gammons; each for a side
that plays for the least mean of that number. It continues the one-sided bear-off tables (see `bearoff.solver`).

A side is int8[18]: its checkers on its points 1 to 18. With one farther back, in the other's home board, a backgammon
may be lost, which numbers of rolls do not show; such races are left to the contact network.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from fibsbot.engine.arrays import (
    AS_INT,
    BAR,
    CELLS,
    CHECKERS,
    LOSE,
    LOSE_BACKGAMMON,
    LOSE_GAMMON,
    OUTCOMES,
    Boards,
    Bools,
    BoolVector,
    Floats32,
    Matrix32,
    Outcomes,
)
from fibsbot.engine.bearoff import NO_TABLES, TableArrays
from fibsbot.engine.bearoff.tables import MAX_ROLLS, chances_from_rolls, covered_chances, first_off, indices_of, look_up
from fibsbot.engine.bearoff.tables import POINTS as HOME_POINTS
from fibsbot.engine.features import Inputs, encode_all
from fibsbot.engine.game_plans import ContactNetwork, NetworksByPlan, networks_of, sums_by_plan
from fibsbot.engine.hash_tables import distinct
from fibsbot.engine.jit import compiled
from fibsbot.engine.network import Network, logistic
from fibsbot.engine.numerics import softmax
from fibsbot.engine.quantized import QuantizedNetwork, output_sums, quantize
from fibsbot.engine.simd import find_cells, highest_bit, lowest_bit

# -- races -------------------------------------------------------------------------------------------------------------


RACE_POINTS: Final = 18
"""The points on which a side of a race may have checkers."""
MAX_RACE_PIPS: Final = 180
"""Pips of a side that the network covers; more could take more rolls than its outputs have."""
ROLLS_TO_FIRST: Final = 24
"""Entries of the distribution of rolls until the first checker is off; MAX_ROLLS is that until all are."""
RACE_PIPS: Final = np.arange(1, RACE_POINTS + 1)
"""Pips of a checker on each point."""
_STEP: Final = 8
"""Pips per input, about as many as a roll moves."""
_STEPS: Final = np.arange(0, MAX_RACE_PIPS, _STEP, dtype=np.float32)
RACE_INPUTS: Final = 4 * RACE_POINTS + 1 + len(_STEPS)
RACE_OUTPUTS: Final = MAX_ROLLS + ROLLS_TO_FIRST

Sides: TypeAlias = Boards
"""Checkers on the points 1 to 18, shape (n, 18)."""


def sides_of(boards: Boards) -> tuple[Sides, Sides]:
    """Return the player's and the opponent's side of boards without contact, shape (n, 18) each."""
    return boards[:, 1 : RACE_POINTS + 1].clip(0), -boards[:, BAR - 1 : BAR - RACE_POINTS - 1 : -1].clip(max=0)


def is_race(boards: Boards) -> Bools:
    """Return whether the boards are races that `RaceNetwork` covers, shape (n,)."""
    found = np.empty(len(boards), np.bool_)
    _write_races(boards, found)
    return found


@compiled
def _write_races(boards: Boards, found: BoolVector) -> None:
    for row in range(len(boards)):
        board = boards[row]
        own, theirs = find_cells(board, 1, CHECKERS), find_cells(board, -CHECKERS, -1)
        found[row] = False
        if own and theirs:
            rearmost, theirs_rearmost = highest_bit(own), BAR - lowest_bit(theirs)
            if max(rearmost, theirs_rearmost) <= RACE_POINTS and rearmost + theirs_rearmost < BAR:
                pips, their_pips = 0, 0
                while own:
                    pips += lowest_bit(own) * board[lowest_bit(own)]
                    own &= own - 1
                while theirs:
                    their_pips -= (BAR - lowest_bit(theirs)) * board[lowest_bit(theirs)]
                    theirs &= theirs - 1
                found[row] = max(pips, their_pips) <= MAX_RACE_PIPS


def encode_sides(sides: Sides) -> Floats32:
    """Return the network's inputs for sides, shape (n, RACE_INPUTS)."""
    inputs = np.empty((len(sides), RACE_INPUTS), np.float32)
    for count in range(1, 4):
        inputs[:, (count - 1) * RACE_POINTS : count * RACE_POINTS] = sides >= count
    inputs[:, 3 * RACE_POINTS : 4 * RACE_POINTS] = 0.5 * np.maximum(sides - 3, 0)
    inputs[:, 4 * RACE_POINTS] = 1 - sides.sum(axis=1) / CHECKERS
    # The number of rolls mostly depends on the pips: with more pips, one input after the other rises from 0 to 1.
    inputs[:, 4 * RACE_POINTS + 1 :] = (((sides @ RACE_PIPS)[:, None] - _STEPS) / _STEP).clip(0, 1)
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
    return softmax(sums[:, :MAX_ROLLS]), softmax(sums[:, MAX_ROLLS:])


# -- all positions -----------------------------------------------------------------------------------------------------


_THEIR_HOME: Final = BAR - 6
"""The first cell from which a gammon lost is a backgammon: their home board and the bar."""


@runtime_checkable
class ArrayEvaluator(Protocol):
    """Evaluates positions without lookahead (0-ply)."""

    @property
    def name(self) -> str:
        """The name of the networks and tables."""
        ...

    def evaluate(self, boards: Boards) -> Outcomes:
        """Return the chances of the player on roll, shape (n, 6) for n boards of shape (n, 26); see `engine.arrays`.

        In a game that is over, the player on roll has lost.
        """
        ...


@frozen(eq=False)
class NetworkEvaluator:
    """Networks for contact, and optionally one for races; finished games and the bear-off tables are exact."""

    name: str
    network: ContactNetwork
    columns: TableArrays = NO_TABLES
    """The bear-off tables."""
    race: RaceNetwork | None = None
    encode: Callable[[Boards], Inputs] = encode_all
    """Encodes boards as the network's inputs."""
    _integers: dict[int, QuantizedNetwork] = field(factory=dict, init=False, repr=False)
    """The networks that were needed so far."""

    def evaluate(self, boards: Boards) -> Outcomes:
        """Return the chances of the player on roll, shape (n, 6); each board is independent of the others."""
        return evaluate_with(boards, self.columns, self._chances, self.race)

    def _chances(self, boards: Boards) -> Floats32:
        if isinstance(self.network, NetworksByPlan):
            return logistic(sums_by_plan(self._quantized, boards, self.encode))
        return logistic(output_sums(self._quantized(0), self.encode(boards)))

    def _quantized(self, number: int) -> QuantizedNetwork:
        found = self._integers.get(number)
        if found is None:  # if two threads come here at once, both make the same
            found = self._integers[number] = quantize(networks_of(self.network)[number])
        return found


def evaluate_with(
    boards: Boards, columns: TableArrays, chances: Callable[[Boards], Floats32], race: RaceNetwork | None = None
) -> Outcomes:
    """Return six chances per board: exact where the game is over or in the tables, else by `race` or `chances`."""
    outcomes = np.empty((len(boards), OUTCOMES), np.float32)
    unknown = _write_known(boards, columns, outcomes)
    if race is not None and (racing := unknown & is_race(boards)).any():
        outcomes[racing] = race.evaluate(boards[racing], columns)
        unknown &= ~racing
    rest = np.flatnonzero(unknown)
    if len(rest) == len(boards):
        _write_outcomes(boards, chances(boards), outcomes)
    elif len(rest):
        found = np.empty((len(rest), OUTCOMES), np.float32)
        _write_outcomes(boards[rest], chances(boards[rest]), found)
        outcomes[rest] = found
    return outcomes


def is_known(boards: Boards, columns: TableArrays) -> npt.NDArray[np.bool_]:
    """Return for each board whether its game is over or the bear-off tables cover it, shape (n,)."""
    return ~_write_known(boards, columns, np.empty((len(boards), OUTCOMES), np.float32))


def is_settled(boards: Boards, columns: TableArrays, *, races: bool) -> npt.NDArray[np.bool_]:
    """Return for each board whether it is known or, if there is a network for them (`races`), a race, shape (n,)."""
    known = is_known(boards, columns)
    return known | is_race(boards) if races else known


def _write_known(boards: Boards, columns: TableArrays, outcomes: Floats32) -> npt.NDArray[np.bool_]:
    """Write the chances of games that are over and of what the tables cover; return which boards are neither."""
    unknown = np.empty(len(boards), np.bool_)
    if _write_playing(boards, unknown) < len(boards):
        outcomes[~unknown] = _lost(boards[~unknown])
    places, own, opponent = look_up(boards, columns.rolls)
    if len(places):
        outcomes[places] = covered_chances(own, opponent, columns)
        unknown[places] = False
    return unknown


@compiled
def _write_playing(boards: Boards, playing: BoolVector) -> int:
    """Write for each board whether the opponent has checkers left, and return for how many."""
    count = 0
    for row in range(len(boards)):
        playing[row] = find_cells(boards[row], -CHECKERS, -1) != 0
        count += playing[row]
    return count


def _lost(boards: Boards) -> Outcomes:
    """Return the chances of the player on roll where the opponent has borne off all checkers.

    `generator.write_game_over` does the same inside compiled loops; this function needs nothing compiled. A test
    compares the two.
    """
    gammon = boards.clip(0).sum(axis=1) == CHECKERS
    outcomes = np.zeros((len(boards), OUTCOMES), np.float32)
    outcomes[:, LOSE] = 1
    outcomes[:, LOSE_GAMMON] = gammon
    outcomes[:, LOSE_BACKGAMMON] = gammon & (boards[:, _THEIR_HOME:] > 0).any(axis=1)
    return outcomes


@compiled
def _write_outcomes(boards: Boards, chances: Matrix32, outcomes: Matrix32) -> None:
    """Write the six outcomes from the five outputs, with impossible results removed.

    A side that has borne off a checker loses no gammon. Once the sides have passed each other, a side without checkers
    in the other's home board loses no backgammon.
    """
    for row in range(len(boards)):
        board = boards[row]
        own, theirs = 0, 0
        for cell in range(CELLS):
            own += max(AS_INT + board[cell], 0)
            theirs += max(-(AS_INT + board[cell]), 0)
        ours, others = find_cells(board, 1, CHECKERS), find_cells(board, -CHECKERS, -1)
        rearmost = highest_bit(ours) if ours else 0
        theirs_rearmost = BAR - lowest_bit(others) if others else 0
        race = rearmost + theirs_rearmost < BAR
        win = chances[row, 0]
        win_gammon = min(chances[row, 1], win) if theirs == CHECKERS else np.float32(0)
        lose_gammon = min(chances[row, 3], np.float32(1) - win) if own == CHECKERS else np.float32(0)
        outcomes[row, 0] = win
        outcomes[row, 1] = win_gammon
        outcomes[row, 2] = 0 if race and theirs_rearmost < 19 else min(chances[row, 2], win_gammon)
        outcomes[row, 3] = 1 - win
        outcomes[row, 4] = lose_gammon
        outcomes[row, 5] = 0 if race and rearmost < 19 else min(chances[row, 4], lose_gammon)
