"""Small things to test the engine with, and what boards are made of."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
from attrs import frozen

from fibsbot.engine.arrays import Board, Boards, Outcomes, boards_of
from fibsbot.engine.bearoff import BearoffTables
from fibsbot.engine.bearoff.solver import compute_tables
from fibsbot.engine.network import Network
from fibsbot.engine.network_evaluator import RACE_INPUTS, RACE_OUTPUTS, NetworkEvaluator, RaceNetwork
from fibsbot.engine.pruner import PlayFilter, Pruner, pruner_of, raw_columns
from fibsbot.match import ROLLS, Dice
from fibsbot.position import Position
from fibsbot.rules.plays import Cells, resulting_positions

if TYPE_CHECKING:
    from fibsbot.engine.training.labels import Labeller
    from fibsbot.engine.training.random_positions import Variety

TOY_RECIPE: Final = """\
pruner_hidden = 4
pruner_positions = 50
[student]
hidden = 4
games = 10
lesson = 5
[distilling]
positions = 50
"""
"""How a recipe for very small networks begins; more about distilling may follow."""


def board_of(position: Position) -> Board:
    """Return one position as one board, shape (26,)."""
    board: Board = boards_of([position])[0]
    return board


def cells(boards: Iterable[Boards]) -> list[Cells]:
    """Return boards as the rules core sees them."""
    return [tuple(board.tolist()) for board in boards]


def left_by(position: Position, roll: Dice) -> set[Cells]:
    """Return what the rules core says that a roll can leave; the position itself if nothing can move."""
    return set(resulting_positions(position.points, roll)) or {position.points}


def some_positions(count: int, seed: int) -> list[Position]:
    """Return positions from random games, none of them over."""
    rng = np.random.default_rng(seed)
    found: list[Position] = []
    position = Position.start()
    while len(found) < count:
        roll = ROLLS[int(rng.integers(len(ROLLS)))]
        after = sorted(left_by(position, roll))
        position = Position(after[int(rng.integers(len(after)))]).swapped()
        if position.over:
            position = Position.start()
        found.append(position)
    return found


def toy_race() -> RaceNetwork:
    """Return a small network for races that knows nothing."""
    return RaceNetwork(Network.new((8,), 1, RACE_INPUTS, RACE_OUTPUTS))


def toy_network(seed: int = 1, hidden: tuple[int, ...] = (12, 8)) -> Network:
    """Return a small network that knows nothing, but says it loudly."""
    network = Network.new(hidden, seed)
    network.weights[-1][:] *= 10
    return network


def toy_pruner(seed: int = 1, hidden: int = 10) -> Pruner:
    """Return a small pruner that knows nothing, but says it loudly."""
    return pruner_of(toy_pruner_network(seed, hidden))


def toy_pruner_network(seed: int = 1, hidden: int = 10) -> Network:
    """Return the network of which `toy_pruner` is made."""
    network = Network.new((hidden,), seed, len(raw_columns()))
    network.weights[-1][:] *= 10
    return network


@cache
def solved(checkers: int) -> BearoffTables:
    """Return bear-off tables, solved once; they are read-only."""
    return compute_tables(checkers)


def toy_teacher(variety: Variety | None = None) -> Labeller:
    """Return a teacher who knows nothing but some bear-off tables."""
    from fibsbot.engine.training.labels import Labeller  # noqa: PLC0415 - training needs a compiler, the rest here does not
    from fibsbot.engine.training.random_positions import Variety  # noqa: PLC0415 - the same

    columns = solved(2).columns
    network = NetworkEvaluator("toy", toy_network(), columns)
    disputed = boards_of(some_positions(5, 9))
    return Labeller(network, toy_pruner(), columns, PlayFilter(), variety or Variety(), disputed)


@frozen(eq=False)
class Recounted:
    """An evaluator by pip counts: quick, without a network, and never the same for a position and its mirror."""

    name: str = "pips"

    def evaluate(self, boards: Boards) -> Outcomes:
        """Return chances that follow from the pips of both sides."""
        points = np.arange(26)
        own = (np.maximum(boards, 0) * points).sum(axis=1)
        theirs = (np.maximum(-boards[:, ::-1], 0) * points).sum(axis=1)
        win = 1 / (1 + np.exp((own - theirs - 8) / 20))
        gammon, lost = win * theirs / 400, (1 - win) * own / 400
        return np.stack([win, gammon, gammon / 9, 1 - win, lost, lost / 9], axis=1).astype(np.float32)
