"""The market: doubling point, cash point, too good point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine.arrays import Floats64
from fibsbot.engine.cube import CENTRED, TURNED, Market
from fibsbot.engine.cube.verdict import along
from fibsbot.match import Owner
from tests.engine.cube.cube_samples import USUAL, any_chances, chances, stakes


@pytest.mark.parametrize("away", [(), (7, 7), (5, 3), (3, 5), (9, 2), (30, 28)])
def test_both_actions_have_equal_equity_at_the_edges(away: tuple[int, ...]) -> None:
    here, outcomes = stakes(*away), chances(0.6, 0.18, 0.08)
    market = Market.of(here, Owner.CENTRED, outcomes, USUAL)

    def excess(win: float | None) -> tuple[float, float, float]:
        assert win is not None
        held = here.no_double_values(along(np.array([win]), outcomes), USUAL)[0]
        taken, rolled = held[TURNED] - here.pass_value, held[CENTRED]
        return min(taken, 0.0) + here.pass_value - rolled, taken, rolled - here.pass_value

    assert pytest.approx(0.0, abs=1e-3) == excess(market.double_from)[0]
    assert pytest.approx(0.0, abs=1e-3) == excess(market.cash_from)[1]
    if market.too_good_from is not None:
        assert pytest.approx(0.0, abs=1e-3) == excess(market.too_good_from)[2]
        assert market.double_from is not None
        assert market.cash_from is not None
        assert market.double_from < market.cash_from < market.too_good_from


def test_only_a_cube_that_can_be_turned_has_a_market() -> None:
    with pytest.raises(ValueError, match="can turn"):
        Market.of(stakes(1, 3), Owner.CENTRED, chances(0.5), USUAL)
    with pytest.raises(ValueError, match="can turn"):
        Market.of(stakes(cube=2, owner=Owner.OPPONENT), Owner.OPPONENT, chances(0.5), USUAL)


@pytest.mark.parametrize("away", range(2, 6))
def test_the_trailer_after_the_crawford_game_always_doubles(away: int) -> None:
    assert 0.0 == Market.of(stakes(away, 1), Owner.CENTRED, chances(0.4, 0.1, 0.1), USUAL).double_from


def test_a_live_take_is_easier_than_a_dead_one() -> None:
    for away in ((), (7, 7), (5, 9), (11, 4)):
        market = Market.of(stakes(*away), Owner.CENTRED, chances(0.6, 0.1, 0.05), USUAL)
        assert market.cash_from is not None
        assert market.dead_cash_from - 1e-9 <= market.cash_from <= market.live_cash_from + 1e-9


def test_gammons_keep_their_proportion_along_the_way() -> None:
    line = along(np.array([0.0, 0.5, 1.0]), chances(0.6, 0.3, 0.1))
    expected = np.array([[0, 0, 0, 1, 0.25, 0], [0.5, 0.25, 0, 0.5, 0.125, 0], [1, 0.5, 0, 0, 0, 0]])
    assert pytest.approx(expected) == line


@given(any_chances(), st.floats(0, 1))
def test_the_way_begins_anywhere_and_passes_through_its_position(outcomes: Floats64, win: float) -> None:
    """Gammons of a game that is never won, or never lost, are unknown: there are none along the way."""
    assert pytest.approx(outcomes) == along(outcomes[:1], outcomes)[0]
    won, gammon, backgammon, lost, *others = along(np.array([win]), outcomes)[0]
    assert pytest.approx((win, 1 - win)) == (won, lost)
    if outcomes[0] == 0:
        assert (0, 0) == (gammon, backgammon)
    if outcomes[3] == 0:
        assert [0, 0] == others


@pytest.mark.parametrize("win", [0.0, 1.0])
def test_a_position_that_is_decided_has_the_market_of_one_without_gammons(win: float) -> None:
    here = stakes(7, 7)
    assert Market.of(here, Owner.CENTRED, chances(0.5), USUAL) == Market.of(here, Owner.CENTRED, chances(win), USUAL)
