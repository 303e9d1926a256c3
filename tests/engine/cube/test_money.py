"""The cube for money: figures that every book has."""

from __future__ import annotations

import numpy as np
import pytest

from fibsbot.engine.cube import CENTRED, OWNED, THEIRS, TURNED, Market
from fibsbot.match import Owner
from tests.engine.cube.cube_samples import DEAD, LIVE, USUAL, chances, stakes


@pytest.mark.parametrize(("efficiency", "expected"), [(0.0, 0.25), (1.0, 0.2), (0.68, 0.5 / 2.34)])
def test_the_take_point_without_gammons(efficiency: float, expected: float) -> None:
    market = Market.of(stakes(), Owner.CENTRED, chances(0.6), np.array([efficiency, efficiency, 0.0]))
    assert market.cash_from is not None
    assert pytest.approx(expected, abs=1e-6) == 1 - market.cash_from
    assert pytest.approx(0.25) == 1 - market.dead_cash_from
    assert pytest.approx(0.2) == 1 - market.live_cash_from


def test_the_last_double_is_right_from_an_even_chance() -> None:
    """With a dead cube, where the player has access to it, doubling is right as soon as he is the favourite."""
    market = Market.of(stakes(), Owner.CENTRED, chances(0.6), DEAD)
    assert market.double_from is not None
    assert pytest.approx(0.5) == market.double_from


def test_janowskis_points() -> None:
    """Initial doubling point 70 %, redoubling point 72 % at his efficiency (2/3 or so), and the cash points of 78 %."""
    first, again = (Market.of(stakes(), owner, chances(0.6), USUAL) for owner in (Owner.CENTRED, Owner.PLAYER))
    assert pytest.approx(0.692, abs=1e-3) == first.double_from
    assert pytest.approx(0.718, abs=1e-3) == again.double_from
    assert pytest.approx(0.786, abs=1e-3) == first.cash_from == again.cash_from


def test_gammons_that_are_won_pull_the_window_down() -> None:
    """Janowski: take point (L - 0.5) / (W + L + 0.5 x), W and L are the mean points of won and lost games."""
    outcomes = chances(0.6, 0.24, 0.04)
    market = Market.of(stakes(), Owner.CENTRED, outcomes, USUAL)
    won, lost = 1 + 0.24 / 0.6, 1 + 0.04 / 0.4
    assert market.cash_from is not None
    assert market.cash_from == pytest.approx(1 - (won - 0.5) / (won + lost + 0.5 * 0.68), abs=1e-6)
    assert market.live_cash_from == pytest.approx(1 - (won - 0.5) / (won + lost + 0.5))


def test_owning_the_cube_is_better_than_centred_and_centred_better_than_the_opponents() -> None:
    held = stakes().no_double_values(chances(0.5), USUAL)[0]
    assert held[OWNED] > held[CENTRED] > held[THEIRS]
    assert pytest.approx(0.0) == held[CENTRED]
    assert pytest.approx(-held[THEIRS]) == held[OWNED]
    assert pytest.approx(2 * held[THEIRS]) == held[TURNED]


def test_with_a_dead_cube_the_equity_is_cubeless() -> None:
    outcomes = np.array([0.6, 0.2, 0.02, 0.4, 0.1, 0.01])
    held = stakes().no_double_values(outcomes, DEAD)[0]
    cubeless = 0.6 + 0.2 + 0.02 - 0.4 - 0.1 - 0.01
    assert pytest.approx([cubeless, cubeless, cubeless, 2 * cubeless]) == held
    assert pytest.approx(cubeless) == stakes().cubeless(outcomes)


def test_a_centred_cube_has_an_efficiency_of_its_own() -> None:
    outcomes = chances(0.6, 0.2, 0.1)
    dead, live = (stakes().no_double_values(outcomes, it)[0].tolist() for it in (DEAD, LIVE))
    others = slice(CENTRED + 1, None)
    for centred, owned, values in (
        (0.0, 1.0, [dead[CENTRED], *live[others]]),
        (1.0, 0.0, [live[CENTRED], *dead[others]]),
    ):
        found = stakes().no_double_values(outcomes, np.array([centred, owned, 0.0]))[0]
        assert pytest.approx(values) == found.tolist()
    assert dead[CENTRED] != pytest.approx(live[CENTRED])
    assert dead[OWNED] != pytest.approx(live[OWNED])


def test_under_the_jacoby_rule_gammons_do_not_count_before_the_cube_is_turned() -> None:
    gammonish, plain = chances(0.7, 0.5, 0.2), chances(0.7)
    jacoby = stakes(jacoby=True)
    assert (
        pytest.approx(stakes().no_double_values(plain, DEAD)[0, CENTRED])
        == jacoby.no_double_values(gammonish, DEAD)[0, CENTRED]
    )
    others = [OWNED, THEIRS, TURNED]
    assert (
        stakes().no_double_values(gammonish, USUAL)[0, others].tolist()
        == jacoby.no_double_values(gammonish, USUAL)[0, others].tolist()
    )


def test_nothing_is_too_good_under_the_jacoby_rule() -> None:
    outcomes = chances(0.9, 0.7)
    assert Market.of(stakes(), Owner.CENTRED, outcomes, USUAL).too_good_from is not None
    assert Market.of(stakes(jacoby=True), Owner.CENTRED, outcomes, USUAL).too_good_from is None
    again = Market.of(stakes(jacoby=True, cube=2, owner=Owner.PLAYER), Owner.PLAYER, outcomes, USUAL)
    assert again.too_good_from is not None


def test_a_corner_that_costs_is_not_used() -> None:
    """If four of five wins are gammons, a live cube is never cashed, and worth no less than a dead one."""
    outcomes = chances(0.6, 0.58)
    assert stakes().no_double_values(outcomes, LIVE)[0, OWNED] >= stakes().no_double_values(outcomes, DEAD)[0, OWNED]


def test_money_does_not_depend_on_what_the_cube_shows() -> None:
    outcomes = chances(0.63, 0.2, 0.1)
    one, eight = stakes(), stakes(cube=8, owner=Owner.PLAYER)
    assert one.no_double_values(outcomes, USUAL)[0] == pytest.approx(eight.no_double_values(outcomes, USUAL)[0])
    assert 2 * one.values(outcomes, USUAL)[0] == pytest.approx(one.turned.values(outcomes, USUAL)[0])
