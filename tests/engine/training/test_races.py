"""Learning races: labels are what the best plays lead to, without the luck."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from fibsbot.engine.arrays import CHANCE_OF_ROLL, boards_of
from fibsbot.engine.bearoff import BearoffTables
from fibsbot.engine.bearoff.tables import indices_of
from fibsbot.engine.network_evaluator import RaceNetwork, Sides, is_home
from fibsbot.engine.training.optimizer import FitPlan
from fibsbot.engine.training.races import (
    SIDES_PER_BATCH,
    SideLabels,
    fit_sides,
    label_batch,
    label_sides,
    pip_count_labels,
    race_starts,
)
from fibsbot.match import ROLLS
from fibsbot.position import Position
from fibsbot.rules.plays import resulting_positions
from fibsbot.workers.pool import InProcessPool, LocalPool
from tests.engine.toys import solved, some_positions, toy_race

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tables() -> BearoffTables:
    """The one-sided tables."""
    return solved(1)


@functools.cache
def starts() -> Sides:
    """Return sides of random games at the beginning of a race."""
    return race_starts(boards_of(some_positions(4000, 2)))


def almost_home(count: int, seed: int) -> Sides:
    """Return sides with one checker on the bar point, which any roll can bring home."""
    rng = np.random.default_rng(seed)
    sides = np.zeros((count, 18), np.int8)
    for side in sides:
        np.add.at(side, rng.integers(0, 6, 14), 1)
    sides[:, 6] = 1
    return sides


def position(side: Sides) -> Position:
    """Return a side as a position; the opponent is far behind it."""
    return Position((0, *side.tolist(), 0, 0, 0, 0, 0, -1, 0))


def labels_of(sides: Sides, tables: BearoffTables, trace: float) -> SideLabels:
    return label_batch(toy_race(), tables.columns, sides, trace, np.random.default_rng(1))


def test_one_roll_from_home_a_label_comes_from_the_tables_after_the_best_plays(tables: BearoffTables) -> None:
    sides = almost_home(5, 1)
    throws = {}
    labels = labels_of(sides, tables, 0.0)
    for side, label in zip(labels.sides[~labels.first], labels.chances[~labels.first], strict=True):
        throws[tuple(side.tolist())] = label @ np.arange(len(label))
    for side in sides:
        expected = 1.0
        for chance, roll in zip(CHANCE_OF_ROLL, ROLLS, strict=True):
            home = np.array(
                [cells[1:7] for cells in resulting_positions(position(side).points, roll) if not any(cells[7:19])]
            )
            expected += chance * tables.columns.means[indices_of(home)].min()
        # A roll may leave the checker where it is only if that is best, which no toy can judge.
        assert throws[tuple(side.tolist())] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("trace", [0.0, 0.5, 1.0])
def test_labels_add_up_to_one_and_each_position_on_the_way_has_one(tables: BearoffTables, trace: float) -> None:
    sides = starts()[:40]
    labels = labels_of(sides, tables, trace)
    assert len(labels.sides) == len(labels.chances) == len(labels.first) > len(sides)
    assert not is_home(labels.sides).any()
    assert np.allclose(1, labels.chances.sum(axis=1), atol=1e-4)
    for aim in (labels.first, ~labels.first):
        assert {tuple(side) for side in sides.tolist()} <= {tuple(side) for side in labels.sides[aim].tolist()}


def test_counting_pips_is_nearly_right_and_less_so_than_the_tables(tables: BearoffTables) -> None:
    sides = almost_home(200, 4)
    counted, played = (
        pip_count_labels(sides),
        label_batch(toy_race(), tables.columns, sides, 0.0, np.random.default_rng(1)),
    )
    assert np.allclose(1, counted.chances.sum(axis=1), atol=1e-5)
    assert (counted.chances >= 0).all()
    for aim in (0, 1):
        means = [it.chances[it.first == aim][-len(sides) :] @ np.arange(32) for it in (counted, played)]
        assert 0 < np.abs(means[0] - means[1]).mean() < 1


@pytest.mark.slow
def test_the_labels_are_the_same_however_many_processes_make_them(tables: BearoffTables) -> None:
    sides = almost_home(SIDES_PER_BATCH + 20, 5)
    pools = InProcessPool(), LocalPool(2)
    one, two = (list(label_sides(toy_race(), tables.columns, sides, 1.0, 1, pool)) for pool in pools)
    assert [len(labels.sides) for labels in one] == [len(labels.sides) for labels in two]
    assert len(one) == 2
    for left, right in zip(one, two, strict=True):
        assert np.array_equal(left.sides, right.sides)
        assert np.array_equal(left.chances, right.chances)


def test_the_beginnings_are_all_different_and_none_is_home() -> None:
    sides = starts()
    assert len(sides) == len(np.unique(sides, axis=0)) > 10
    assert not is_home(sides).any()
    assert (sides >= 0).all()


def missed(race: RaceNetwork, labels: SideLabels) -> float:
    """Return by how many rolls the network's means differ from the labels', root mean square."""
    throws, _ = race.guess(labels.sides[~labels.first])
    means = (throws - labels.chances[~labels.first]) @ np.arange(throws.shape[1])
    return float(np.sqrt(np.mean(means**2)))


def test_a_network_learns_the_labels(tables: BearoffTables) -> None:
    labels = labels_of(almost_home(300, 3), tables, 1.0)
    race = toy_race()
    before = missed(race, labels)
    for _ in fit_sides(race.network, labels, FitPlan(epochs=400, batch=64, rate=0.01)):
        pass
    assert missed(RaceNetwork(race.network), labels) < 0.2 < before
