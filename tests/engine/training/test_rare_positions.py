"""Rare positions: possible, not over, unknown to tables, and of all the kinds that they are for."""

from __future__ import annotations

import numpy as np
import pytest

from fibsbot.engine.arrays import Boards, position_of
from fibsbot.engine.bearoff import TableArrays
from fibsbot.engine.network_evaluator import is_known
from fibsbot.engine.training.labels import play_games
from fibsbot.engine.training.random_positions import Variety, rare_position
from fibsbot.position import Position
from tests.engine.toys import solved, toy_teacher


@pytest.fixture(scope="module")
def columns() -> TableArrays:
    """Compute small tables."""
    return solved(2).columns


@pytest.fixture(scope="module")
def many(columns: TableArrays) -> Boards:
    """Arrange some hundreds."""
    rng = np.random.default_rng(1)
    return np.array([rare_position(rng, columns) for _ in range(600)])


@pytest.mark.slow
def test_they_are_possible_and_not_known(many: Boards, columns: TableArrays) -> None:
    assert not is_known(many, columns).any()
    for board in many:
        assert not position_of(board).status()
        assert not position_of(board).over


def test_they_are_of_all_kinds(many: Boards) -> None:
    own = np.maximum(many, 0)
    theirs = np.maximum(-many[:, ::-1], 0)
    off = 15 - theirs.sum(axis=1)
    closed = (own[:, 1:7] >= 2).all(axis=1)
    kinds = {
        "somebody on the bar before a closed board": closed & (theirs[:, 25] > 0),
        "the same, who has borne off already": closed & (theirs[:, 25] > 0) & (off > 0),
        "two anchors": (own[:, 19:25] >= 2).sum(axis=1) >= 2,
        "a crashed board": own[:, 1:4].sum(axis=1) >= 8,
        "a checker left behind": own[:, 19:].sum(axis=1) == 1,
    }
    assert [] == [kind for kind, found in kinds.items() if found.sum() < 3]


def test_the_seed_decides_which(columns: TableArrays) -> None:
    one, same = (rare_position(np.random.default_rng(7), columns) for _ in range(2))
    assert (one == same).all()


@pytest.mark.slow
def test_games_may_begin_with_them() -> None:
    plain, arranged = (
        play_games(toy_teacher(Variety(wild=0, random=0, early=0, arranged=share)), 64, 3).boards for share in (0, 1)
    )
    assert all(position_of(board) == Position.start() for board in plain)
    assert not any(position_of(board) == Position.start() for board in arranged)
