"""All plays of all rolls: the same that the pruner leaves when it is asked one position at a time."""

from __future__ import annotations

import numpy as np
import pytest

from fibsbot.engine.arrays import ROLL_COUNT, Board, Boards, boards_of, swapped
from fibsbot.engine.generator import MAX_PLAYS, successors
from fibsbot.engine.pruner import PlayFilter, expand, new_pruner_buffers, pruner_equity
from fibsbot.engine.search.lookahead import Lookahead, SearchFilters
from fibsbot.match import ROLLS
from fibsbot.position import Position
from tests.engine.toys import Recounted, some_positions, toy_pruner

PRUNER = toy_pruner()
ENDING = [
    Position.from_sides(own=[2] + [0] * 24, opponent=[1] + [0] * 24),
    Position.from_sides(own=[1, 1] + [0] * 23, opponent=[0] * 20 + [14, 0, 0, 0, 1]),
    Position.from_sides(own=[0] * 24 + [2], opponent=[2, 2, 2, 2, 2, 2] + [0] * 19),
    Position.from_sides(own=[6, 5, 4] + [0] * 22, opponent=[0, 0, 7, 0, 0, 8] + [0] * 19),
]
"""Games that end, with a gammon and a backgammon; a dance; many checkers on a point."""


def worth(board: Board) -> float:
    """Return what the pruner makes of a board; that a game is over is what its winner likes best."""
    return pruner_equity(PRUNER, board) if (board < 0).any() else -4.0


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [PlayFilter(0.2, 4), PlayFilter(0.0, 1), PlayFilter(100, MAX_PLAYS)])
def test_the_plays_kept_are_the_best_of_the_pruner(chosen: PlayFilter) -> None:
    boards = boards_of([*some_positions(30, 1), *ENDING])
    found, slots = Lookahead(Recounted(), PRUNER, SearchFilters(), 64).expand(boards, chosen)
    assert set(range(len(boards) * ROLL_COUNT)) == set(slots.tolist())
    assert (np.diff(slots) >= 0).all()
    for slot in range(len(boards) * ROLL_COUNT):
        kept = found[slots == slot]
        every = swapped(successors(boards[slot // ROLL_COUNT], *ROLLS[slot % ROLL_COUNT]))
        worths = np.array(sorted(map(worth, every)))
        expected = worths[worths <= worths[0] + chosen.margin + 1e-6][: chosen.most]
        assert expected.tolist() == pytest.approx([worth(it) for it in kept], abs=1e-4)
        assert {it.tobytes() for it in kept} <= {it.tobytes() for it in every}


def test_what_does_not_fit_is_reported() -> None:
    boards = boards_of(some_positions(3, 2))
    found, slots = np.empty((100, 26), np.int8), np.empty(100, np.int32)
    assert -1 == expand(new_pruner_buffers(PRUNER), boards, np.float32(0.2), 4, found, slots)


def test_boards_are_left_as_they_are() -> None:
    boards = boards_of(some_positions(3, 3))
    before: Boards = boards.copy()
    Lookahead(Recounted(), PRUNER, SearchFilters(), 64).expand(boards, PlayFilter())
    assert (before == boards).all()
