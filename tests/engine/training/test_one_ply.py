"""One roll ahead: with nothing pruned, exactly what trying every play by the rules core gives."""

from __future__ import annotations

import numpy as np
import pytest

from fibsbot.engine.arrays import boards_of, cubeless_equity, other_side
from fibsbot.engine.generator import MAX_PLAYS
from fibsbot.engine.network_evaluator import ArrayEvaluator, NetworkEvaluator
from fibsbot.engine.pruner import PlayFilter, new_pruner_buffers
from fibsbot.engine.training.labels import one_ply
from fibsbot.match import ROLLS
from fibsbot.position import Position
from tests.engine.toys import Recounted, cells, left_by, some_positions, toy_network, toy_pruner

EVERYTHING = PlayFilter(margin=1000, most=MAX_PLAYS)
SCALES = new_pruner_buffers(toy_pruner())
TOY = NetworkEvaluator("toy", toy_network())
LATE = [
    Position.from_sides(own=[2, 1] + [0] * 23, opponent=[1, 0, 1] + [0] * 22),
    Position.from_sides(own=[0] * 24 + [1], opponent=[2, 2, 2, 2, 2, 2] + [0] * 19),
    Position.from_sides(own=[0] * 12 + [15] + [0] * 12, opponent=[1] + [0] * 24),
]
"""The end of a bear-off, a checker that cannot enter, a gammon that threatens."""


def by_hand(evaluator: ArrayEvaluator, position: Position) -> list[float]:
    """Return the chances one roll ahead: the mean over 36 rolls of what the best play leaves."""
    mean = np.zeros(6)
    for high, low in ROLLS:
        theirs = evaluator.evaluate(boards_of(Position(it).swapped() for it in left_by(position, (high, low))))
        best = theirs[int(np.argmin(cubeless_equity(theirs)))]
        mean += other_side(best.astype(float)) * (1 if high == low else 2) / 36
    return mean.tolist()


@pytest.mark.parametrize("evaluator", [TOY, Recounted()], ids=["network", "pips"])
def test_with_nothing_pruned_it_is_what_every_play_by_the_rules_core_gives(evaluator: ArrayEvaluator) -> None:
    some = [*some_positions(8, 3), *LATE]
    ahead = one_ply(evaluator, SCALES, boards_of(some), EVERYTHING).outcomes
    assert (len(some), 6) == ahead.shape
    for row, position in zip(ahead, some, strict=True):
        assert by_hand(evaluator, position) == pytest.approx(row.tolist(), abs=1e-4), position


@pytest.mark.parametrize("evaluator", [TOY, Recounted()], ids=["network", "pips"])
def test_what_is_left_of_each_roll_is_what_its_best_play_leaves(evaluator: ArrayEvaluator) -> None:
    some = [*some_positions(4, 8), *LATE]
    left = one_ply(evaluator, SCALES, boards_of(some), EVERYTHING).left
    assert (len(some), 21, 26) == left.shape
    for row, position in zip(left, some, strict=True):
        for board, roll in zip(row, ROLLS, strict=True):
            every = boards_of(Position(it).swapped() for it in left_by(position, roll))
            assert cells([board])[0] in cells(every)
            best = cubeless_equity(evaluator.evaluate(every)).min()
            assert best == pytest.approx(float(cubeless_equity(evaluator.evaluate(board[None]))[0]), abs=1e-4)


def test_a_won_bear_off_is_certain_one_roll_ahead() -> None:
    won = Position.from_sides(own=[2] + [0] * 24, opponent=[1] + [0] * 24)
    gammon = Position.from_sides(own=[1] + [0] * 24, opponent=[0] * 20 + [15] + [0] * 4)
    ahead = one_ply(TOY, SCALES, boards_of([won, gammon]), PlayFilter()).outcomes
    assert [1, 0, 0, 0, 0, 0] == pytest.approx(ahead[0].tolist(), abs=1e-6)
    assert [1, 1, 1, 0, 0, 0] == pytest.approx(ahead[1].tolist(), abs=1e-6)


def test_many_are_looked_at_as_each_alone() -> None:
    """More positions than go through together, with a filter that leaves some plays out."""
    boards = boards_of(some_positions(150, 4))
    before = boards.copy()
    together = one_ply(TOY, SCALES, boards, PlayFilter()).outcomes
    for row in (0, 77, 127, 128, 149):
        assert one_ply(TOY, SCALES, boards[row : row + 1], PlayFilter()).outcomes[0] == pytest.approx(
            together[row], abs=1e-5
        )
    assert (before == boards).all()
    assert (0, 6) == one_ply(TOY, SCALES, boards[:0], PlayFilter()).outcomes.shape


def test_chances_one_roll_ahead_are_chances() -> None:
    ahead = one_ply(TOY, SCALES, boards_of(some_positions(40, 5)), PlayFilter()).outcomes
    assert np.ones(40) == pytest.approx(ahead[:, 0] + ahead[:, 3], abs=1e-5)
    assert (ahead >= 0).all()
    assert (np.diff(ahead[:, :3]) <= 1e-6).all()
    assert (np.diff(ahead[:, 3:]) <= 1e-6).all()
