"""One roll ahead: with nothing pruned, exactly what trying every play by the rules core gives."""

from __future__ import annotations

import numpy as np
import pytest

from fibsbot.engine.boards import Boards, boards_of
from fibsbot.engine.evaluator import Evaluator, NetworkEvaluator
from fibsbot.engine.generator import MOST_PLAYS
from fibsbot.engine.outcomes import cubeless_equity, other_side
from fibsbot.engine.ply import Filter, candidates, new_room, one_ply
from fibsbot.engine.pruner import prune_value
from fibsbot.position import Position
from tests.engine.toys import ROLLS, Recounted, board_of, cells, left_by, some_positions, toy_network, toy_pruner

EVERYTHING = Filter(margin=1000, most=MOST_PLAYS)
PRUNER = toy_pruner()
TOY = NetworkEvaluator("toy", toy_network())
LATE = [
    Position.from_sides(own=[2, 1] + [0] * 23, opponent=[1, 0, 1] + [0] * 22),
    Position.from_sides(own=[0] * 24 + [1], opponent=[2, 2, 2, 2, 2, 2] + [0] * 19),
    Position.from_sides(own=[0] * 12 + [15] + [0] * 12, opponent=[1] + [0] * 24),
]
"""The end of a bear-off, a checker that cannot enter, a gammon that threatens."""


def by_hand(evaluator: Evaluator, position: Position) -> list[float]:
    """Return the chances one roll ahead: the mean over 36 throws of what the best play leaves."""
    mean = np.zeros(6)
    for high, low in ROLLS:
        theirs = evaluator.evaluate(boards_of(Position(it).swapped() for it in left_by(position, (high, low))))
        best = theirs[int(np.argmin(cubeless_equity(theirs)))]
        mean += other_side(best.astype(float)) * (1 if high == low else 2) / 36
    return mean.tolist()


@pytest.mark.parametrize("evaluator", [TOY, Recounted()], ids=["network", "pips"])
def test_with_nothing_pruned_it_is_what_every_play_by_the_rules_core_gives(evaluator: Evaluator) -> None:
    some = [*some_positions(8, 3), *LATE]
    ahead = one_ply(evaluator, PRUNER, boards_of(some), EVERYTHING)
    assert (len(some), 6) == ahead.shape
    for row, position in zip(ahead, some, strict=True):
        assert by_hand(evaluator, position) == pytest.approx(row.tolist(), abs=1e-4), position


def test_a_won_bear_off_is_certain_one_roll_ahead() -> None:
    won = Position.from_sides(own=[2] + [0] * 24, opponent=[1] + [0] * 24)
    gammon = Position.from_sides(own=[1] + [0] * 24, opponent=[0] * 20 + [15] + [0] * 4)
    ahead = one_ply(TOY, PRUNER, boards_of([won, gammon]), Filter())
    assert [1, 0, 0, 0, 0, 0] == pytest.approx(ahead[0].tolist(), abs=1e-6)
    assert [1, 1, 1, 0, 0, 0] == pytest.approx(ahead[1].tolist(), abs=1e-6)


def test_many_are_looked_at_as_each_alone() -> None:
    """More positions than go through together, with a filter that leaves some plays out."""
    boards = boards_of(some_positions(150, 4))
    before = boards.copy()
    together = one_ply(TOY, PRUNER, boards, Filter())
    for row in (0, 77, 127, 128, 149):
        assert one_ply(TOY, PRUNER, boards[row : row + 1], Filter())[0] == pytest.approx(together[row], abs=1e-5)
    assert (before == boards).all()
    assert (0, 6) == one_ply(TOY, PRUNER, boards[:0], Filter()).shape


def test_chances_one_roll_ahead_are_chances() -> None:
    ahead = one_ply(TOY, PRUNER, boards_of(some_positions(40, 5)), Filter())
    assert np.ones(40) == pytest.approx(ahead[:, 0] + ahead[:, 3], abs=1e-5)
    assert (ahead >= 0).all()
    assert (np.diff(ahead[:, :3]) <= 1e-6).all()
    assert (np.diff(ahead[:, 3:]) <= 1e-6).all()


def found_by(position: Position, roll: tuple[int, int], chosen: Filter) -> Boards:
    """Return what the pruner leaves of a roll, seen by the opponent."""
    found = np.zeros((MOST_PLAYS, 26), np.int8)
    margin = np.float32(chosen.margin)
    count = candidates(PRUNER, new_room(), board_of(position), *roll, margin, chosen.most, found, 0)
    return found[:count]


@pytest.mark.parametrize("chosen", [Filter(), Filter(margin=0.5, most=3), Filter(margin=0, most=50), EVERYTHING])
def test_the_pruner_leaves_its_best_plays_within_the_margin(chosen: Filter) -> None:
    for position in some_positions(20, 6):
        for roll in ROLLS:
            every = boards_of(Position(it).swapped() for it in left_by(position, roll))
            worth = {cell: prune_value(PRUNER, board) for cell, board in zip(cells(every), every, strict=True)}
            best = min(worth.values())
            kept = cells(found_by(position, roll, chosen))
            assert len(set(kept)) == len(kept)
            good = sorted(value for value in worth.values() if value <= best + chosen.margin + 1e-6)
            assert good[: chosen.most] == pytest.approx([worth[it] for it in kept], abs=1e-5)
