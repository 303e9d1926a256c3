"""The generator of plays: properties, exact counts, and agreement with three independent generators."""

from __future__ import annotations

import gzip
import itertools
import json
import zlib
from pathlib import Path
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fibsbot.match import Dice
from fibsbot.notation.position_ids import parse_position_id, position_id
from fibsbot.position import OFF, Play, Position
from fibsbot.rules.errors import DiceError, IllegalPlayError, InvalidPlayError, Law
from fibsbot.rules.plays import (
    PERFT_START,
    PerftCount,
    can_move,
    check_play,
    has_choice,
    legal_plays,
    perft_count,
    perft_level,
    play_between,
    resulting_positions,
    resulting_positions_via,
)
from tests.examples import more_examples
from tests.hypothesis_strategies import bear_offs, dice, positions

DATA: Final = Path(__file__).parent.parent / "data" / "rules"


def test_one_roll_from_the_opening_position_leaves_447_positions() -> None:
    assert PerftCount(positions=447, without_play=0) == perft_count(PERFT_START.items())


@pytest.mark.slow
def test_two_rolls_from_the_opening_position_leave_202_782_positions() -> None:
    assert PerftCount(positions=202_782, without_play=0) == perft_count(perft_level(PERFT_START).items())


def test_merging_equal_positions_loses_none() -> None:
    assert 447 == sum(perft_level(PERFT_START).values())


def test_a_roll_that_leaves_no_play_counts_one() -> None:
    closed = Position.from_sides(own=[0] * 24 + [1], opponent=[2, 2, 2, 2, 2, 2] + [0] * 19)
    assert PerftCount(positions=21, without_play=21) == perft_count([(closed.points, 1)])
    assert {closed.swapped().points: 21} == perft_level({closed.points: 1})


def test_counts_of_parts_add_up() -> None:
    assert PerftCount(4, 6) == PerftCount(1, 2) + PerftCount(3, 4)


@pytest.mark.slow
def test_three_independent_generators_give_the_same_plays() -> None:
    """Every sixteenth of 2,000 positions, with 21 rolls each: as many distinct results, and the same by checksum.

    The engine's generator is held to all of them, and to this one (tests/engine/test_generator.py).
    """
    differences = []
    with gzip.open(DATA / "legal_moves.jsonl.gz", "rt") as lines:
        rolls = json.loads(next(lines))["rolls"]
        for line in itertools.islice(lines, None, None, 16):
            row = json.loads(line)
            position = parse_position_id(row["pos"])
            for roll, count, crc in zip(rolls, row["counts"], row["crc"], strict=True):
                plays = legal_plays(position, (int(roll[0]), int(roll[1])))
                ids = sorted(position_id(position.play(play)) for play in plays)
                if (count, crc) != (len(ids), zlib.crc32("\n".join(ids).encode())):
                    differences.append((row["pos"], roll))
    assert [] == differences


@more_examples(5)
@given(positions() | bear_offs(), dice())
def test_every_legal_play_is_accepted_in_any_order_of_its_moves(position: Position, roll: Dice) -> None:
    for play in legal_plays(position, roll):
        assert play == check_play(position, roll, Play(play.moves[::-1]))


@more_examples(2.5)
@given(positions() | bear_offs(), dice())
def test_there_is_a_choice_where_there_are_several_plays(position: Position, roll: Dice) -> None:
    assert (len(legal_plays(position, roll)) > 1) is has_choice(position.points, roll)


@more_examples(2.5)
@given(positions(), dice())
def test_plays_lead_to_distinct_possible_positions_other_than_the_start(position: Position, roll: Dice) -> None:
    after = [position.play(play) for play in legal_plays(position, roll)]
    assert len(after) == len(set(after))
    assert position not in after
    assert all(not reached.status() for reached in after)


@more_examples(2.5)
@given(positions(), dice())
def test_a_play_conserves_checkers_and_moves_no_more_pips_than_rolled(position: Position, roll: Dice) -> None:
    for play in legal_plays(position, roll):
        after = position.play(play)
        borne_off = sum(move.target == OFF for move in play.moves)
        assert position.off + borne_off == after.off
        assert position.opponent_off == after.opponent_off
        assert position.pips - after.pips == sum(move.pips for move in play.moves)
        assert position.pips - after.pips <= sum(roll) * (2 if roll[0] == roll[1] else 1)


@more_examples(2.5)
@given(positions(), dice())
def test_the_order_of_the_dice_does_not_matter(position: Position, roll: Dice) -> None:
    reached = {position.play(play) for play in legal_plays(position, roll)}
    assert reached == {position.play(play) for play in legal_plays(position, roll[::-1])}


@more_examples(2.5)
@given(positions(), dice())
def test_the_empty_play_is_legal_exactly_when_nothing_can_move(position: Position, roll: Dice) -> None:
    if legal_plays(position, roll):
        with pytest.raises(IllegalPlayError):
            check_play(position, roll, Play())
    else:
        assert Play() == check_play(position, roll, Play())


@more_examples(2.5)
@given(positions(), dice(), positions(), dice())
def test_only_plays_to_a_legal_position_are_accepted(
    position: Position, roll: Dice, other: Position, other_roll: Dice
) -> None:
    """Reordered, shortened and other plays are only legal if a legal play has their result."""
    legal = legal_plays(position, roll)
    reached = {position.play(play) for play in legal}
    reordered = [Play(play.moves[::-1]) for play in legal]
    shortened = [Play(play.moves[:-1]) for play in legal]
    accepted = 0
    for play in [*reordered, *shortened, *legal_plays(position, other_roll), *legal_plays(other, roll)]:
        try:
            checked = check_play(position, roll, play)
        except IllegalPlayError:
            continue
        accepted += 1
        assert position.play(checked) in reached or position.play(checked).over
    assert accepted >= len(legal)


@given(positions() | bear_offs(), dice())
def test_a_play_of_all_numbers_is_found_by_its_result_alone(position: Position, roll: Dice) -> None:
    numbers = 4 if roll[0] == roll[1] else 2
    for after, steps in resulting_positions(position.points, roll).items():
        assert (steps if len(steps) == numbers else ()) == play_between(position.points, roll, after)


ONE_BLOCKED_CHECKER: Final = Position.from_sides(own=[0] * 12 + [1] + [0] * 12, opponent=[0] * 22 + [2, 0, 0])
"""It can move six points or five, and then no farther; three rejects the result of the six."""


@example(ONE_BLOCKED_CHECKER, (6, 5), 3)
@given(positions() | bear_offs(), dice(), st.integers(2, 7))
def test_results_can_be_filtered_while_they_are_generated(position: Position, roll: Dice, divisor: int) -> None:
    def keep(after: tuple[int, ...], left: int) -> bool:
        return left > 0 or sum(point * count for point, count in enumerate(after)) % divisor != 0

    kept = {after for after in resulting_positions(position.points, roll) if keep(after, 0)}
    assert kept == resulting_positions_via(position.points, roll, keep).keys()


@pytest.mark.parametrize("roll", [(0, 1), (7, 1), (1, -1), (3,), (3, 1, 1), "31"])
def test_impossible_dice_are_refused(roll: Dice) -> None:
    for refuses in (legal_plays, can_move):
        with pytest.raises(DiceError, match="expected two dice, each 1 to 6, got "):
            refuses(Position.start(), roll)


@pytest.mark.parametrize(("source", "target"), [(26, 20), (0, 0), (24, 25), (13, -1)])
def test_a_point_that_does_not_exist_makes_a_play_invalid(source: int, target: int) -> None:
    with pytest.raises(InvalidPlayError):
        check_play(Position.start(), (6, 1), Play.of((source, target)))


def test_three_moves_are_too_many_for_two_dice() -> None:
    with pytest.raises(IllegalPlayError) as caught:
        check_play(Position.start(), (3, 1), Play.of((8, 5), (6, 5), (24, 23)))
    assert Law.TOO_MANY_MOVES is caught.value.law
