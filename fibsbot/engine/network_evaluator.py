"""Evaluators evaluate positions without lookahead (0-ply): the interface, and networks with bear-off tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol, runtime_checkable

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
    Floats32,
    Outcomes,
)
from fibsbot.engine.bearoff import NO_TABLES, TableArrays
from fibsbot.engine.bearoff.tables import covered_chances, look_up
from fibsbot.engine.features import Inputs, encode_all
from fibsbot.engine.jit import compiled
from fibsbot.engine.network import Network, logistic
from fibsbot.engine.quantized import QuantizedNetwork, output_sums, quantize
from fibsbot.engine.race_network import RaceNetwork, is_race
from fibsbot.engine.simd import find_cells, highest_bit, lowest_bit

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
    """A network for contact, and optionally one for races; finished games and the bear-off tables are exact."""

    name: str
    network: Network
    columns: TableArrays = NO_TABLES
    """The bear-off tables."""
    race: RaceNetwork | None = None
    encode: Callable[[Boards], Inputs] = encode_all
    """Encodes boards as the network's inputs."""
    _integers: QuantizedNetwork = field(init=False, repr=False)

    @_integers.default
    def _quantize(self) -> QuantizedNetwork:
        return quantize(self.network)

    def evaluate(self, boards: Boards) -> Outcomes:
        """Return the chances of the player on roll, shape (n, 6); each board is independent of the others."""
        return evaluate_with(boards, self.columns, self._chances, self.race)

    def _chances(self, boards: Boards) -> Floats32:
        return logistic(output_sums(self._integers, self.encode(boards)))


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
def _write_playing(boards: Boards, playing: Bools) -> int:
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
def _write_outcomes(boards: Boards, chances: Floats32, outcomes: Floats32) -> None:
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
