"""Inputs of the networks: each feature has the value that its description says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Final

import numpy as np
import pytest
from hypothesis import given

from fibsbot.engine.arrays import boards_of, swapped
from fibsbot.engine.features import (
    BAR_INPUT,
    ESCAPE_DISTANCE,
    ESCAPES,
    INPUTS,
    INPUTS_PER_POINT,
    OFF_INPUT,
    RAW_INPUTS,
    SIDE_INPUTS,
    Inputs,
    SideFeature,
    encode_all,
    input_names,
)
from fibsbot.position import BAR, Position
from tests.engine.toys import some_positions
from tests.hypothesis_strategies import bear_offs, positions


def seen(position: Position) -> Inputs:
    """Return the inputs of one position, shape (INPUTS,)."""
    inputs: Inputs = encode_all(boards_of([position]))[0]
    return inputs


def test_every_input_has_a_name_of_its_own() -> None:
    assert INPUTS == len(set(input_names())) == len(input_names())
    assert "own_1_blot" == input_names()[0]
    assert "own_pips" == input_names()[SideFeature.PIPS]
    assert "opponent_1_blot" == input_names()[SIDE_INPUTS]
    assert "opponent_rolls" == input_names()[-1]
    assert [*range(RAW_INPUTS, SIDE_INPUTS)] == [*SideFeature]


@given(positions(over=True))
def test_inputs_are_numbers_of_moderate_size(position: Position) -> None:
    inputs = seen(position)
    assert np.float32 == inputs.dtype
    assert np.isfinite(inputs).all()
    assert 0 <= inputs.min()
    assert inputs.max() <= 13, input_names()[int(inputs.argmax())]


@given(positions(over=True))
def test_each_side_sees_itself_as_the_other_would_in_its_place(position: Position) -> None:
    inputs, other = seen(position), seen(position.swapped())
    assert (inputs[:SIDE_INPUTS] == other[SIDE_INPUTS:]).all()
    assert (inputs[SIDE_INPUTS:] == other[:SIDE_INPUTS]).all()


def test_many_boards_are_seen_as_each_alone() -> None:
    some = some_positions(50, 1)
    boards = boards_of(some)
    inputs = encode_all(boards)
    assert (50, INPUTS) == inputs.shape
    assert all((row == seen(position)).all() for row, position in zip(inputs, some, strict=True))
    assert (boards == boards_of(some)).all(), "what was given is as it was"
    assert (inputs == np.roll(encode_all(swapped(boards)), SIDE_INPUTS, axis=1)).all()
    assert (0, INPUTS) == encode_all(boards[:0]).shape


def test_the_opening_position_is_symmetric() -> None:
    inputs = seen(Position.start())
    assert (inputs[:SIDE_INPUTS] == inputs[SIDE_INPUTS:]).all()


@given(positions(over=True))
def test_raw_inputs_count_checkers(position: Position) -> None:
    inputs = seen(position)
    for point in range(1, BAR):
        count = max(position.points[point], 0)
        blot, made, spare, more = inputs[(point - 1) * INPUTS_PER_POINT : point * INPUTS_PER_POINT]
        assert [count == 1, count == 2, count >= 3] == [bool(blot), bool(made), bool(spare)]
        assert max(count - 3, 0) / 2 == more
    assert position.bar / 2 == inputs[BAR_INPUT]
    assert position.off / 15 == pytest.approx(inputs[OFF_INPUT])


# -- the units, read from their descriptions ------------------------------------------------------------------------


def checkers(position: Position) -> list[int]:
    """Return the point of each own checker."""
    return [point for point in range(1, 26) for _ in range(max(position.points[point], 0))]


def made(position: Position) -> list[int]:
    """Return the points that the player on roll has made."""
    return [point for point in range(1, BAR) if position.points[point] >= 2]


def escape(position: Position, start: int) -> float:
    """Return the chance that a checker of the player on roll gets more than 6 pips ahead with the next roll.

    Points behind the last one are open; the checker goes alone, and every number of a double is tried as far as it
    goes.
    """

    def is_open(point: int) -> bool:
        return point < 1 or start - point > ESCAPE_DISTANCE or position.points[point] > -2

    count = 0
    for first, second in product(range(1, 7), repeat=2):
        ways: list[tuple[int, ...]] = [(first, second), (second, first)] if first != second else [(first,) * 4]
        reached = {0}
        for way in ways:
            point = start
            for number in way:
                if not is_open(point - number):
                    break
                point -= number
                reached.add(start - point)
        count += max(reached) > 6
    return count / 36


def prime(position: Position) -> tuple[int, int]:
    """Return the length of the longest prime and its highest point; of several the nearest to home."""
    best = (0, 0)
    for start in range(1, BAR):
        length = 0
        while start + length in made(position):
            length += 1
        if length > best[0]:
            best = (length, start + length - 1)
    return best


def their_way(position: Position) -> Iterator[float]:
    """Yield the escape of the opponent's rearmost checker from each point on its way through our half of the board."""
    them = position.swapped()
    for point in range(max(checkers(them), default=0), 12, -1):
        yield escape(them, point)


def anchors(position: Position) -> list[int]:
    """Return how deep the anchors lie: 1 is the opponent's ace point, 7 the bar point."""
    return [BAR - point for point in made(position) if point > 17]


def outside(position: Position) -> list[int]:
    """Return the points of the checkers that are not home."""
    return [point for point in checkers(position) if point > 6]


def passed(position: Position) -> bool:
    return max(checkers(position), default=0) + max(checkers(position.swapped()), default=0) <= BAR


def until_home_breaks(position: Position) -> int:
    """Return the pips of spare checkers at home, down to two a point, and of those on points 7 to 18 until home."""
    home = sum((position.points[point] - 2) * point for point in range(1, 7) if position.points[point] > 2)
    return home + sum(point - 6 for point in outside(position) if point < 19)


def spread(position: Position) -> float:
    points = checkers(position)
    mean = sum(points) / len(points) if points else 0
    return math.sqrt(sum((point - mean) ** 2 for point in points) / len(points)) if points else 0


def closed(position: Position) -> int:
    return sum(position.points[point] <= -2 for point in range(19, 25))


READINGS: Final[dict[SideFeature, Callable[[Position], float]]] = {
    SideFeature.PIPS: lambda it: it.pips / 100,
    SideFeature.REARMOST: lambda it: max(checkers(it), default=0) / 24,
    SideFeature.HOME: lambda it: sum(point < 7 for point in made(it)) / 6,
    SideFeature.HOME_SQUARED: lambda it: (sum(point < 7 for point in made(it)) / 6) ** 2,
    SideFeature.PRIME: lambda it: prime(it)[0] / 6,
    SideFeature.PRIME_PLACE: lambda it: prime(it)[1] / 24 if prime(it)[0] >= 3 else 0,
    SideFeature.ESCAPE: lambda it: next(their_way(it), 0),
    SideFeature.LEAST_ESCAPE: lambda it: min(their_way(it), default=0),
    SideFeature.CONTAINMENT: lambda it: sum(1 - chance for chance in their_way(it)) / 12,
    SideFeature.ANCHORS: lambda it: sum(depth < 7 for depth in anchors(it)) / 3,
    SideFeature.FOREMOST_ANCHOR: lambda it: max(anchors(it), default=0) / 7,
    SideFeature.DEEPEST_ANCHOR: lambda it: min(anchors(it), default=0) / 7,
    SideFeature.BACK_GAME: lambda it: sum(depth < 7 for depth in anchors(it)) >= 2,
    SideFeature.REAR: lambda it: sum(point > 18 for point in checkers(it)) / 6,
    SideFeature.OUTFIELD: lambda it: sum(7 <= point <= 18 for point in checkers(it)) / 10,
    SideFeature.CROSSOVERS: lambda it: sum((point - 1) // 6 for point in outside(it)) / 20,
    SideFeature.TO_COME_HOME: lambda it: sum(point - 6 for point in outside(it)) / 100,
    SideFeature.DEEP: lambda it: sum(point <= 3 for point in checkers(it)) / 8,
    SideFeature.STACKED: lambda it: sum(max(count - 4, 0) for count in it.points[1:25]) / 6,
    SideFeature.SPREAD: lambda it: spread(it) / 10,
    SideFeature.FREE: lambda it: (
        0 if passed(it) else sum((point - 6) * escape(it, point) for point in outside(it)) / 100
    ),
    SideFeature.STUCK: lambda it: 0 if passed(it) else sum(1 - escape(it, point) for point in outside(it)) / 8,
    SideFeature.SPARE: lambda it: until_home_breaks(it) / 60,
    SideFeature.DANCE: lambda it: (closed(it) / 6) ** 2 if it.bar and not passed(it) else 0,
    SideFeature.RACE: passed,
    SideFeature.OFF: lambda it: it.off > 0,
    SideFeature.OFF_HALF: lambda it: it.off >= 8,
    SideFeature.OFF_LAST: lambda it: max(it.off - 10, 0) / 5,
    SideFeature.ROLLS: lambda it: math.ceil(len(checkers(it)) / 2) / 8 if not outside(it) else 0,
}
"""Each unit but those of shots, which have tests of their own."""


def test_every_unit_is_read() -> None:
    assert {*SideFeature} - {SideFeature.HIT, SideFeature.DOUBLE_HIT, SideFeature.HIT_PIPS} == {*READINGS}


def assert_as_read(position: Position) -> None:
    inputs = seen(position)
    read = {unit.name: float(reading(position)) for unit, reading in READINGS.items()}
    assert read == pytest.approx({unit.name: float(inputs[unit]) for unit in READINGS}, abs=1e-4)


@given(positions())
def test_units_are_what_they_are_said_to_be(position: Position) -> None:
    assert_as_read(position)


@given(bear_offs())
def test_units_are_what_they_are_said_to_be_at_home(position: Position) -> None:
    assert_as_read(position)


def test_units_are_what_they_are_said_to_be_in_random_games() -> None:
    for position in some_positions(150, 5):
        assert_as_read(position)


def test_no_checker_escapes_a_full_prime_and_nearly_all_escape_an_empty_board() -> None:
    assert 0 == ESCAPES[0b111111]
    assert (1 << ESCAPE_DISTANCE,) == ESCAPES.shape
    more_than_six = sum(first + second > 6 for first, second in product(range(1, 7), repeat=2) if first != second)
    doubles = 5  # of 1-1 alone the four numbers make no more than 6
    assert (more_than_six + doubles) / 36 == pytest.approx(ESCAPES[0])
    assert (np.diff([ESCAPES[(1 << blocked) - 1] for blocked in range(7)]) <= 0).all()
