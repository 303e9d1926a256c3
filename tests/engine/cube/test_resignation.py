"""Resignations: offered and accepted by their value at the score."""

from __future__ import annotations

import numpy as np
import pytest

from fibsbot.engine.cube import accepts_resignation, level_to_resign, resigned_equity
from fibsbot.match import Owner
from tests.engine.cube.cube_samples import USUAL, chances, stakes

LOST = chances(0.0)
GAMMON = chances(0.0, 0.0, 1.0)
BACKGAMMON = np.array([0.0, 0, 0, 1, 1, 1])


def test_an_offer_is_accepted_if_and_only_if_it_is_worth_the_position() -> None:
    money = stakes()
    assert accepts_resignation(money, Owner.CENTRED, 1, 1.0)
    assert accepts_resignation(money, Owner.CENTRED, 1, 0.4)
    assert not accepts_resignation(money, Owner.CENTRED, 1, 1.2)
    assert accepts_resignation(money, Owner.CENTRED, 2, 1.2)


def test_a_single_game_is_enough_where_gammons_do_not_count() -> None:
    outcomes = chances(1.0, 0.9)
    dmp = stakes(1, 1)
    assert accepts_resignation(dmp, Owner.CENTRED, 1, dmp.values(outcomes, USUAL)[0, 0])
    long = stakes(9, 9)
    assert not accepts_resignation(long, Owner.CENTRED, 1, long.values(outcomes, USUAL)[0, 0])
    jacoby = stakes(jacoby=True)
    assert accepts_resignation(jacoby, Owner.CENTRED, 1, jacoby.values(outcomes, USUAL)[0, 0])
    assert not accepts_resignation(jacoby, Owner.PLAYER, 1, jacoby.values(outcomes, USUAL)[0, 1])


@pytest.mark.parametrize(
    ("outcomes", "level"),
    [
        (LOST, 1),
        (GAMMON, 2),
        (BACKGAMMON, 3),
        (chances(0.01), 0),
        (chances(0.0, 0.0, 0.4), 0),
        (chances(0.2, 0.0, 0.2), 0),
        (chances(0.0, 0.0, 0.0002), 1),
    ],
)
def test_certain_losses_are_resigned(outcomes: np.ndarray, level: int) -> None:
    assert level == level_to_resign(stakes(), Owner.PLAYER, outcomes, USUAL)


def test_no_more_is_resigned_than_counts() -> None:
    assert 1 == level_to_resign(stakes(1, 1), Owner.CENTRED, GAMMON, USUAL)
    assert 1 == level_to_resign(stakes(5, 2, cube=2), Owner.OPPONENT, BACKGAMMON, USUAL)
    assert 2 == level_to_resign(stakes(5, 2), Owner.CENTRED, BACKGAMMON, USUAL)
    assert 1 == level_to_resign(stakes(jacoby=True), Owner.CENTRED, GAMMON, USUAL)
    assert 2 == level_to_resign(stakes(jacoby=True), Owner.OPPONENT, GAMMON, USUAL)


def test_what_is_resigned_is_accepted_by_who_knows() -> None:
    for away in ((), (3, 2), (7, 7), (2, 1)):
        for outcomes in (LOST, GAMMON, BACKGAMMON):
            here = stakes(*away)
            level = level_to_resign(here, Owner.CENTRED, outcomes, USUAL)
            worth = -here.values(outcomes, USUAL)[0, 0]
            assert accepts_resignation(here.swapped, Owner.CENTRED, level, worth)


def test_what_a_resignation_counts() -> None:
    assert pytest.approx(-2.0) == resigned_equity(stakes(), Owner.CENTRED, -2)
    assert pytest.approx(-1.0) == resigned_equity(stakes(jacoby=True), Owner.CENTRED, -2)
    assert pytest.approx(1.0) == resigned_equity(stakes(2, 2, cube=2), Owner.PLAYER, 3)
