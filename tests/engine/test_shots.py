"""Shots are what the rules core finds: by which rolls a blot can be hit, and what that costs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given

from fibsbot.engine.features import SIDE_INPUTS, SideFeature, write_shots
from fibsbot.match import ROLLS, Dice
from fibsbot.position import BAR, Position
from fibsbot.rules.plays import resulting_positions
from tests.engine.toys import board_of, some_positions
from tests.hypothesis_strategies import positions


def written(position: Position) -> tuple[float, float, float]:
    """Return HIT, DOUBLE_HIT and HIT_PIPS of the player on roll."""
    (inputs,) = found = np.zeros((1, SIDE_INPUTS), np.float32)
    write_shots(board_of(position)[np.newaxis], found)
    return float(inputs[SideFeature.HIT]), float(inputs[SideFeature.DOUBLE_HIT]), float(inputs[SideFeature.HIT_PIPS])


def moves(position: Position, number: int) -> list[tuple[int, int]]:
    """Return source and target of each checker that one number can move on the board, by the laws."""
    points = position.points
    sources = [BAR] if points[BAR] else range(24, number, -1)
    return [(it, it - number) for it in sources if points[it] > 0 and points[it - number] > -2]


def hit_by(position: Position, roll: Dice) -> set[int]:
    """Return which blots some checker can hit with a roll, or with a part of it.

    Whoever can play a part only may have to play the other: that law is left out, as `shots` leaves it out.
    """
    first, second = roll
    orders = {(first,) * 4} if first == second else {(first, second), (second, first)}
    blots = {point for point in range(1, BAR) if position.points[point] == -1}
    hit: set[int] = set()
    for order in orders:
        now = {position.points}
        for number in order:
            then = set()
            for points in now:
                here = Position(points)
                for source, target in moves(here, number):
                    after = list(points)
                    after[source] -= 1
                    if after[target] < 0:
                        after[target] = 0
                        after[0] -= 1
                        hit.add(target)
                    after[target] += 1
                    then.add(tuple(after))
            now = then
    return hit & blots


def expected(position: Position) -> tuple[float, float, float]:
    """Return the same by trying every roll."""
    hits = [hit_by(position, (first, second)) for first, second in product(range(1, 7), repeat=2)]
    lost = sum(max(hit) for hit in hits if hit)  # what a hit checker has come so far, which is our point
    return sum(map(bool, hits)) / 36, sum(len(hit) > 1 for hit in hits) / 36, lost / 36 / 12


@given(positions())
def test_shots_are_what_trying_every_roll_finds(position: Position) -> None:
    assert expected(position) == pytest.approx(written(position), abs=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_shots_are_what_trying_every_roll_finds_in_random_games(seed: int) -> None:
    for position in some_positions(60, seed):
        assert expected(position) == pytest.approx(written(position), abs=1e-6), position


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_what_a_legal_play_hits_is_a_shot_and_only_the_duty_to_play_another_number_forbids_a_shot(seed: int) -> None:
    for position in some_positions(200, seed):
        for roll in ROLLS:
            plays = resulting_positions(position.points, roll)
            legal = any(after[0] < position.points[0] for after in plays)
            possible = bool(hit_by(position, roll))
            assert possible >= legal, (position, roll)
            if possible and not legal:
                used = {source - target for steps in plays.values() for source, target in steps}
                assert max(map(len, plays.values())) == 2 or used == {roll[0]}, (position, roll)
