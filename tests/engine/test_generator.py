"""The fast generator knows the plays that the rules core knows, and each once."""

from __future__ import annotations

import gzip
import itertools
import json
import zlib
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given

from fibsbot.engine.generator import MAX_PLAYS, generate, plays_and_scratch, successors
from fibsbot.match import ROLLS, Dice
from fibsbot.notation.position_ids import parse_position_id, position_id
from fibsbot.position import Position
from fibsbot.rules.plays import resulting_positions
from tests.engine.perft import perft
from tests.engine.toys import board_of, cells, left_by, some_positions
from tests.hypothesis_strategies import bear_offs, dice, positions

DATA: Final = Path(__file__).parents[1] / "data" / "rules" / "legal_moves.jsonl.gz"


@pytest.mark.slow
def test_one_roll_from_the_opening_position_leaves_447_positions() -> None:
    assert 447 == perft(board_of(Position.start()), 1)


def test_two_rolls_from_the_opening_position_leave_202_782_positions() -> None:
    assert 202_782 == perft(board_of(Position.start()), 2)


@pytest.mark.slow
def test_three_rolls_from_the_opening_position_leave_116_154_993_positions() -> None:
    assert 116_154_993 == perft(board_of(Position.start()), 3)


def assert_same_plays(position: Position, roll: Dice) -> None:
    """Check that both know the same positions, that none is found twice, and that nothing else is changed."""
    board = board_of(position)
    plays, scratch = plays_and_scratch()
    plays[:] = 99
    count = generate(board, max(roll), min(roll), plays, scratch)
    found = cells(plays[:count])
    assert sorted(resulting_positions(position.points, roll)) == sorted(found)
    assert position.points == tuple(board.tolist())
    assert count <= MAX_PLAYS
    assert (plays[count + 1 :] == 99).all(), "at most one row beyond the results is written to"


@given(positions(), dice())
def test_both_generators_know_the_same_plays(position: Position, roll: Dice) -> None:
    assert_same_plays(position, roll)


@given(bear_offs(), dice())
def test_both_generators_bear_off_alike(position: Position, roll: Dice) -> None:
    assert_same_plays(position, roll)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_both_generators_know_the_same_plays_in_random_games(seed: int) -> None:
    for position in some_positions(100, seed):
        for roll in ROLLS:
            assert_same_plays(position, roll)


@pytest.mark.slow
def test_four_generators_know_the_same_plays() -> None:
    """2,000 positions with 21 rolls each: as many distinct results, and the same ones by checksum.

    The checksums are those of three independent programs; the rules core has them as well. IDs of every tenth position
    are computed: they take longest.
    """
    differences = []
    with gzip.open(DATA, "rt") as lines:
        rolls = json.loads(next(lines))["rolls"]
        for number, line in enumerate(lines):
            row = json.loads(line)
            position = parse_position_id(row["pos"])
            board = board_of(position)
            for roll, count, crc in zip(rolls, row["counts"], row["crc"], strict=True):
                high, low = sorted((int(roll[0]), int(roll[1])), reverse=True)
                plays, scratch = ROOM
                found = generate(board, high, low, plays, scratch)
                if found != count or (number % 10 == 0 and crc != checksum(cells(plays[:found]))):
                    differences.append((row["pos"], roll))
    assert [] == differences


ROOM: Final = plays_and_scratch()


def checksum(boards: list[tuple[int, ...]]) -> int:
    """Return the checksum of what a roll leaves, by the IDs of its positions in their order."""
    return zlib.crc32("\n".join(sorted(position_id(Position(board)) for board in boards)).encode())


@pytest.mark.slow
def test_both_generators_know_the_same_plays_in_100_positions() -> None:
    with gzip.open(DATA, "rt") as lines:
        next(lines)
        for line in itertools.islice(lines, 0, None, 20):
            position = parse_position_id(json.loads(line)["pos"])
            for roll in ROLLS:
                found = cells(successors(board_of(position), *roll))
                assert len(set(found)) == len(found)
                assert left_by(position, roll) == set(found)


def test_a_dance_leaves_the_board_as_it_is() -> None:
    closed = Position.from_sides(own=[0] * 24 + [1], opponent=[2, 2, 2, 2, 2, 2] + [0] * 19)
    for high, low in ROLLS:
        plays, scratch = plays_and_scratch()
        assert 0 == generate(board_of(closed), high, low, plays, scratch)
        assert [closed.points] == cells(successors(board_of(closed), high, low))


def test_the_most_plays_that_a_roll_can_leave_fit() -> None:
    """15 separate checkers without an opponent in the way have the most ways to share four moves."""
    spread = Position.from_sides(own=[0] * 9 + [1] * 15 + [0], opponent=[1] + [0] * 24)
    count = max(len(successors(board_of(spread), number, number)) for number in range(1, 7))
    assert 1000 < count < MAX_PLAYS


@given(positions(), dice())
def test_several_generate_side_by_side_with_scratch_of_their_own(position: Position, roll: Dice) -> None:
    """Old contents of the scratch arrays have no effect."""
    plays, scratch = plays_and_scratch()
    scratch[:] = 7
    count = generate(board_of(position), max(roll), min(roll), plays, scratch)
    assert left_by(position, roll) == (set(cells(plays[:count])) or {position.points})
