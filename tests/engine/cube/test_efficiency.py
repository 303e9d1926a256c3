"""How efficient the cube is taken to be, by position."""

from __future__ import annotations

import numpy as np
import pytest

from fibsbot.engine.arrays import boards_of
from fibsbot.engine.cube import DEFAULT_EFFICIENCY, Efficiency
from fibsbot.position import Position


def race(own: int, other: int = 3) -> Position:
    """Return a race with about this many own pips, from 15 checkers on adjacent points."""
    point, more = divmod(own, 15)
    counts = [0] * 25
    counts[point - 1] += 15 - more
    counts[point] += more
    return Position.from_sides(counts, [0] * (other - 1) + [15] + [0] * (25 - other))


def test_contact_has_the_figures_of_contact() -> None:
    assert [0.8, 0.74, 0.07] == DEFAULT_EFFICIENCY.of_position(Position.start()).tolist()


def test_one_checker_behind_the_others_is_contact_whatever_the_rest_has_passed() -> None:
    home = [0, 0, 0, 0, 0, 14, *[0] * 19]
    behind, past = home.copy(), home.copy()
    behind[23], past[0] = 1, 1  # on the player's ace point, and home
    own = [5, 5, 5, *[0] * 22]
    assert 0.07 == DEFAULT_EFFICIENCY.of_position(Position.from_sides([0, *own[:-1]], behind))[2]
    assert 0.07 != DEFAULT_EFFICIENCY.of_position(Position.from_sides([0, *own[:-1]], past))[2]


def test_a_race_is_more_efficient_the_longer_it_is() -> None:
    rows = DEFAULT_EFFICIENCY.of(boards_of([race(pips) for pips in (20, 30, 60, 100)]))
    assert (np.diff(rows[:, :2], axis=0) > 0).all()
    assert (np.diff(rows[:, 2]) < 0).all()
    assert ((rows >= 0) & (rows <= 1)).all()


def test_the_cube_is_dead_in_the_last_rolls() -> None:
    nearly_off = Position.from_sides([1] + [0] * 24, [0, 2] + [0] * 23)
    assert [0.0, 0.0, 0.4] == DEFAULT_EFFICIENCY.of_position(nearly_off).tolist()


def test_the_efficiency_is_a_parameter() -> None:
    assert [0.5, 0.4] == Efficiency(contact=(0.5, 0.4)).of_position(Position.start())[:2].tolist()


def test_many_boards_are_looked_at_each_for_itself() -> None:
    positions = [Position.start(), race(45), race(70)]
    together = DEFAULT_EFFICIENCY.of(boards_of(positions))
    for row, position in zip(together, positions, strict=True):
        assert pytest.approx(DEFAULT_EFFICIENCY.of_position(position).tolist()) == row.tolist()
