"""Positions to learn from: possible ones, in as many as asked for, of games that can have been."""

from __future__ import annotations

import numpy as np
import pytest

from fibsbot.engine.arrays import position_of
from fibsbot.engine.training.random_positions import Variety, play_positions
from fibsbot.match import ROLLS
from fibsbot.position import Position
from tests.engine.toys import left_by, toy_pruner

PRUNER = toy_pruner()
WILD = Variety(wild=1, random=1, early=0)


@pytest.mark.slow
@pytest.mark.parametrize("variety", [Variety(), WILD, Variety(wild=0, random=0, early=1)])
def test_they_are_possible_and_not_over(variety: Variety) -> None:
    boards = play_positions(PRUNER, 700, variety, seed=1)
    assert (700, 26) == boards.shape
    for board in boards:
        position = position_of(board)
        assert not position.status()
        assert not position.over
        assert position != Position.start()


@pytest.mark.slow
def test_each_follows_from_the_one_before_or_from_the_opening() -> None:
    """With all positions kept, neighbours are a roll apart; the first roll of a game is no double."""
    games = 0
    before = Position.start()
    first = {Position(it).swapped() for roll in ROLLS if roll[0] != roll[1] for it in left_by(before, roll)}
    for board in play_positions(PRUNER, 200, WILD, seed=2, kept=1):
        position = position_of(board)
        follow = {Position(it).swapped() for roll in ROLLS for it in left_by(before, roll)}
        if before == Position.start() or position not in follow:
            assert position in first
            assert games == 0 or any(it.over for it in follow), "the last game has ended"
            games += 1
        before = position
    assert games > 2


def test_the_seed_decides_which() -> None:
    boards = play_positions(PRUNER, 200, Variety(), seed=3)
    assert (boards == play_positions(PRUNER, 200, Variety(), seed=3)).all()
    assert (boards[:50] == play_positions(PRUNER, 50, Variety(), seed=3)).all()
    assert (boards != play_positions(PRUNER, 200, Variety(), seed=4)).any()
    assert (0, 26) == play_positions(PRUNER, 0, Variety(), seed=3).shape


def test_random_plays_lead_elsewhere() -> None:
    tame = Variety(wild=0, random=0, early=0)
    few, many = (len(np.unique(play_positions(PRUNER, 3000, variety, seed=5), axis=0)) for variety in (tame, WILD))
    assert few <= many


@pytest.mark.parametrize("bad", [{"wild": 1.1}, {"random": -0.1}, {"early": 2}])
def test_shares_beyond_all_or_nothing_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=f"'{next(iter(bad))}' must be"):
        Variety(**bad)
