"""The race network: numbers of rolls, continuing where the bear-off tables end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine.arrays import LOSE, WIN, Boards, boards_of, swapped
from fibsbot.engine.bearoff import NO_TABLES, BearoffTables
from fibsbot.engine.bearoff.tables import MAX_ROLLS
from fibsbot.engine.network_evaluator import MAX_RACE_PIPS, ROLLS_TO_FIRST, NetworkEvaluator, is_race, sides_of
from fibsbot.position import Position
from tests.engine.toys import solved, toy_network, toy_race
from tests.hypothesis_strategies import position_with, positions, races

RACE = toy_race()


@pytest.fixture(scope="module")
def tables() -> BearoffTables:
    """Tables that know hardly anything about both sides together."""
    return solved(1)


def rearmost(position: Position) -> int:
    return max((point for point in range(1, 26) if position.points[point] > 0), default=0)


def belongs(position: Position) -> bool:
    """Whether the network for races knows a position, in the words of the laws."""
    both = (position, position.swapped())
    near = all(0 < rearmost(side) <= 18 and side.pips <= MAX_RACE_PIPS for side in both)
    return near and not position.contact and not position.over


@given(st.lists(positions(over=True) | races(), min_size=1, max_size=5))
def test_races_are_reported_from_contact(some: list[Position]) -> None:
    assert [belongs(position) for position in some] == is_race(boards_of(some)).tolist()


@given(positions())
def test_a_side_does_not_depend_on_the_point_of_view(position: Position) -> None:
    boards = boards_of([position])
    own, theirs = sides_of(boards)
    assert [max(0, count) for count in position.points[1:19]] == own[0].tolist()
    assert np.array_equal(theirs, sides_of(swapped(boards))[0])


@given(st.lists(races(), min_size=1, max_size=5))
def test_outputs_are_probabilities_of_numbers_of_rolls(some: list[Position]) -> None:
    sides, _ = sides_of(boards_of(some))
    throws, first = RACE.likely(sides, NO_TABLES)
    assert (len(some), MAX_ROLLS) == throws.shape
    assert (len(some), ROLLS_TO_FIRST) == first.shape
    for chances in (throws, first):
        assert (chances >= 0).all()
        assert np.allclose(1, chances.sum(axis=1), atol=1e-5)
    off = [position.off > 0 for position in some]
    assert [1.0] * sum(off) == first[off, 0].tolist(), "where one is off already, no throw is needed"


def at_home(board: Boards, tables: BearoffTables) -> bool:
    return bool(tables.covers(board)[0]) and not tables.covers_money(board)[0]


@pytest.mark.slow
@given(st.lists(st.integers(1, 6), min_size=2, max_size=15), st.lists(st.integers(19, 24), min_size=2, max_size=15))
def test_at_home_it_says_what_the_tables_say(tables: BearoffTables, own: list[int], theirs: list[int]) -> None:
    board = boards_of([position_with(own, theirs)])
    assert at_home(board, tables)
    assert np.allclose(tables.evaluate(board), RACE.evaluate(board, tables.columns), atol=1e-5)


@pytest.mark.slow
@given(st.lists(races(), min_size=1, max_size=6))
def test_the_evaluator_asks_it_about_races_alone(tables: BearoffTables, some: list[Position]) -> None:
    boards = boards_of(some)
    plain = NetworkEvaluator("toy", toy_network(), tables.columns)
    both = NetworkEvaluator("toy", toy_network(), tables.columns, RACE)
    outcomes = both.evaluate(boards)
    racing = is_race(boards) & ~tables.covers(boards)
    # Not to the last digit: a matrix product depends a little on how many rows go through it together.
    assert np.allclose(outcomes[~racing], plain.evaluate(boards)[~racing], atol=1e-5)
    assert np.allclose(outcomes[racing], RACE.evaluate(boards[racing], tables.columns), atol=1e-6)
    assert np.allclose(1, outcomes[:, WIN] + outcomes[:, LOSE])
