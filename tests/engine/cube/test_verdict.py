"""Cube verdicts in GNU Backgammon's words, and the cost of the other actions."""

from __future__ import annotations

import numpy as np
import pytest

from fibsbot.engine.cube import (
    CENTRED,
    DEFAULT_EFFICIENCY,
    OWNER_COLUMN,
    CubeVerdict,
    DoubleAnswer,
    Efficiency,
    cube_verdict,
)
from fibsbot.match import CubeAction, Owner
from fibsbot.position import Position
from fibsbot.strategies.base import CubeValues
from tests.engine.cube.cube_samples import USUAL, chances, stakes, state


@pytest.mark.parametrize(
    ("equities", "owner", "words"),
    [
        ((0.671, 0.656, 1.0), Owner.CENTRED, "No double, take (4.4%)"),
        ((-1.032, -1.112, 1.0), Owner.PLAYER, "No redouble, take (3.8%)"),
        ((0.6, 0.8, 1.0), Owner.CENTRED, "Double, take"),
        ((0.883, 1.166, 1.0), Owner.PLAYER, "Redouble, pass"),
        ((1.2, 1.4, 1.0), Owner.CENTRED, "Too good to double, pass (50.0%)"),
        ((1.2, 0.9, 1.0), Owner.PLAYER, "Too good to redouble, take"),
        ((0.3, 0.3, 1.0), Owner.CENTRED, "Optional double, take"),
        ((1.0, 2.0, 1.0), Owner.CENTRED, "Double, pass"),
    ],
)
def test_verdicts_are_worded_as_gnubg_words_them(
    equities: tuple[float, float, float], owner: Owner, words: str
) -> None:
    assert words == CubeVerdict(*equities, owner=owner).words


def test_a_cube_that_the_player_may_not_turn_is_not_called_dead() -> None:
    assert "Cube not available" == CubeVerdict(0.6, 0.8, 1.0, may_double=False).words


def test_of_a_double_that_is_right_no_share_of_wrong_answers_is_told() -> None:
    verdict = CubeVerdict(no_double=0.6, double_take=0.8, double_pass=1.0)
    assert (CubeAction.DOUBLE, CubeAction.TAKE) == (verdict.action, verdict.answer)
    assert verdict.wrong_answers is None


def test_a_verdict_is_what_a_judge_answers() -> None:
    ours, judges = CubeVerdict(0.9, 1.2, 1.0), CubeValues(0.9, 1.2, 1.0)
    for name in ("no_double", "double_take", "double_pass", "double", "best"):
        assert getattr(judges, name) == getattr(ours, name)


def test_a_won_game_is_cashed() -> None:
    """Winning for certain without a gammon and being passed is the same: the double ends it."""
    verdict = cube_verdict(state(), chances(1.0))
    assert (CubeAction.DOUBLE, CubeAction.PASS) == (verdict.action, verdict.answer)
    assert "Double, pass" == verdict.words


def test_who_is_doubled_beavers_as_the_favourite_only() -> None:
    usual = DEFAULT_EFFICIENCY.of_position(Position.start())
    for win in (0.3, 0.45, 0.55, 0.7):
        verdict = cube_verdict(state(redoubles=1), chances(win))
        taken = stakes(redoubles=1).no_double_values(chances(win), usual)[0, -1]
        assert verdict.beaver == (taken < 0)
        assert pytest.approx(2 * taken if taken < 0 else taken) == verdict.double_take
    assert not cube_verdict(state(redoubles=0), chances(0.3)).beaver


def test_under_the_jacoby_rule_a_double_can_be_right_and_beavered() -> None:
    """It makes gammons count: an underdog who wins little else loses less on a cube of 4 than without them."""
    dead = Efficiency(contact=(0.0, 0.0), contact_swing=0.0)
    verdict = cube_verdict(state(jacoby=True, redoubles=1), chances(0.35, 0.28), dead)
    assert pytest.approx([-0.3, -0.08]) == [verdict.no_double, verdict.double_take]
    assert "Double, beaver" == verdict.words
    assert "No double, beaver" in cube_verdict(state(redoubles=1), chances(0.35, 0.28), dead).words


def test_a_match_knows_no_beavers() -> None:
    assert not cube_verdict(state(5, 5, redoubles=1), chances(0.3)).beaver


def test_a_cube_over_there_cannot_be_turned() -> None:
    verdict = cube_verdict(state(cube=2, owner=Owner.OPPONENT), chances(0.75))
    assert "Cube not available" == verdict.words
    assert verdict.best == verdict.no_double


@pytest.mark.parametrize(
    ("take", "beavers", "action"),
    [
        (-0.5, False, CubeAction.TAKE),
        (-1.1, True, CubeAction.PASS),
        (-1.0, False, CubeAction.TAKE),
        (0.2, False, CubeAction.TAKE),
        (0.2, True, CubeAction.BEAVER),
        (-0.2, True, CubeAction.TAKE),
    ],
)
def test_answers(take: float, beavers: bool, action: CubeAction) -> None:  # noqa: FBT001 - a parameter of the test
    answer = DoubleAnswer.of(take, beavers=beavers)
    assert action is answer.action
    assert {CubeAction.PASS: -1.0, CubeAction.TAKE: take, CubeAction.BEAVER: 2 * take}[action] == answer.best


def test_what_a_search_finds_deeper_is_decided_as_at_its_leaves() -> None:
    for here in (stakes(), stakes(5, 4), stakes(redoubles=1)):
        outcomes = np.array([chances(win, 0.2 * win) for win in (0.2, 0.5, 0.7, 0.9)])
        held, values = here.no_double_values(outcomes, USUAL), here.values(outcomes, USUAL)
        assert values[:, CENTRED].tolist() == here.best_action_value(held[:, CENTRED], held[:, 3]).tolist()
        for row, value in zip(held, values, strict=True):
            for owner in (Owner.CENTRED, Owner.PLAYER):
                verdict = CubeVerdict.of(here, owner, row[OWNER_COLUMN[owner]], row[3])
                assert pytest.approx(verdict.best) == value[OWNER_COLUMN[owner]]
