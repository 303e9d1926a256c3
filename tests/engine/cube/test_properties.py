"""Properties of the cube model for every game, score, cube and position."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine.arrays import Floats64, other_side
from fibsbot.engine.cube import CENTRED, OWNED, THEIRS, TURNED, Stakes
from fibsbot.engine.cube.verdict import along
from fibsbot.match import Owner
from tests.engine.cube.cube_samples import DEAD, LIVE, any_chances, any_stakes, efficiencies

CLOSE = 1e-9


@given(any_stakes(), any_chances())
def test_equities_are_between_the_worst_and_the_best_result(game: tuple[Stakes, Owner], outcomes: Floats64) -> None:
    here, _ = game
    for efficiency in (DEAD, LIVE):
        held = here.no_double_values(outcomes, efficiency)[0]
        assert here.equity(-3 * here.cube) - CLOSE <= held[:TURNED].min()
        assert held[:TURNED].max() <= here.equity(3 * here.cube) + CLOSE
        assert here.equity(-6 * here.cube) - CLOSE <= held[TURNED] <= here.equity(6 * here.cube) + CLOSE


@given(any_stakes(), any_chances(), efficiencies)
def test_owning_the_cube_never_hurts(game: tuple[Stakes, Owner], outcomes: Floats64, efficiency: Floats64) -> None:
    here, _ = game
    values = here.values(outcomes, efficiency)[0]
    assert values[THEIRS] <= values[OWNED] + CLOSE


@given(any_stakes(), any_chances())
def test_a_centred_live_cube_is_between_owned_and_not_owned(game: tuple[Stakes, Owner], outcomes: Floats64) -> None:
    here, _ = game
    if not here.jacoby:
        lost, centred, owned = here.no_double_values(outcomes, LIVE)[0, [THEIRS, CENTRED, OWNED]]
        assert lost - CLOSE <= centred <= owned + CLOSE


@given(any_stakes(), any_chances())
def test_a_live_cube_is_worth_more_to_its_owner_than_a_dead_one(game: tuple[Stakes, Owner], outcomes: Floats64) -> None:
    here, _ = game
    dead, live = here.no_double_values(outcomes, DEAD)[0], here.no_double_values(outcomes, LIVE)[0]
    assert dead[OWNED] <= live[OWNED] + CLOSE
    assert live[THEIRS] <= dead[THEIRS] + CLOSE
    assert live[TURNED] <= dead[TURNED] + CLOSE


@given(any_stakes(), any_chances(), st.floats(0, 1))
def test_equities_of_both_players_add_up_to_zero(game: tuple[Stakes, Owner], outcomes: Floats64, x: float) -> None:
    """Both players agree on the equity while nobody doubles at once, for any efficiency."""
    here, _ = game
    efficiency = np.array([x, x, 0.0])
    ours = here.no_double_values(outcomes, efficiency)[0]
    theirs = here.swapped.no_double_values(other_side(outcomes), efficiency)[0]
    assert pytest.approx([-theirs[CENTRED], -theirs[THEIRS], -theirs[OWNED]], abs=1e-7) == ours[:TURNED]


@given(any_stakes(), any_chances(), efficiencies)
def test_a_better_chance_to_win_is_never_worth_less(
    game: tuple[Stakes, Owner], outcomes: Floats64, efficiency: Floats64
) -> None:
    """Gammons in proportion; and small steps have small consequences."""
    here, _ = game
    line = along(np.linspace(0, 1, 401), outcomes)
    values = here.values(line, efficiency)
    steps = np.diff(values, axis=0)
    reach = here.equity(3 * here.cube) - here.equity(-3 * here.cube)
    assert steps.min() > -2e-3 * reach
    assert steps[1:-1].max() < 0.06 * reach


@given(any_stakes(), any_chances(), efficiencies)
def test_waiting_with_the_cube_is_worth_at_least_a_pass_where_a_double_would_be_passed(
    game: tuple[Stakes, Owner], outcomes: Floats64, efficiency: Floats64
) -> None:
    """A player whose double would be passed has at least the equity of the pass."""
    here, owner = game
    if not here.can_double(owner):
        return
    held = here.no_double_values(outcomes, efficiency)[0]
    values = here.values(outcomes, efficiency)[0]
    if here.take_value(held[TURNED]) >= here.pass_value:
        assert values[CENTRED] >= here.pass_value - CLOSE
        assert values[OWNED] >= here.pass_value - CLOSE


@given(any_stakes(), efficiencies)
def test_at_the_ends_the_game_counts_what_it_counts(game: tuple[Stakes, Owner], efficiency: Floats64) -> None:
    here, _ = game
    lost, won = np.array([0.0, 0, 0, 1, 1, 0]), np.array([1.0, 0, 0, 0, 0, 0])
    count = 1 if here.jacoby else 2
    assert pytest.approx(here.equity(-count * here.cube)) == here.no_double_values(lost, efficiency)[0, CENTRED]
    assert pytest.approx(here.equity(-2 * here.cube)) == here.no_double_values(lost, efficiency)[0, OWNED]
    assert pytest.approx(here.equity(here.cube)) == here.values(won, efficiency)[0, CENTRED]
    assert pytest.approx(here.pass_value) == here.equity(here.cube)


@given(any_stakes(), any_chances(), efficiencies)
def test_nothing_is_ever_undefined(game: tuple[Stakes, Owner], outcomes: Floats64, efficiency: Floats64) -> None:
    here, _ = game
    assert np.isfinite(here.no_double_values(outcomes, efficiency)).all()
    assert np.isfinite(here.no_double_values(outcomes.astype(np.float32), efficiency)).all()
    assert np.isfinite(here.cubeless(outcomes)).all()
    points = here.market(outcomes)
    assert ((points >= 0) & (points <= 1)).all()


@given(any_stakes(), st.sampled_from([-1e-6, 1e-6]))
def test_rounding_errors_in_chances_do_not_change_the_equity(game: tuple[Stakes, Owner], off: float) -> None:
    here, _ = game
    for exact in (np.array([1.0, 0, 0, 0, 0, 0]), np.array([0.0, 0, 0, 1, 1, 0])):
        for efficiency in (DEAD, LIVE):
            expected = here.no_double_values(exact, efficiency)
            assert pytest.approx(expected, abs=1e-3) == here.no_double_values(exact + off, efficiency)


@given(any_stakes(), any_chances())
def test_the_take_point_is_below_the_cash_point(game: tuple[Stakes, Owner], outcomes: Floats64) -> None:
    here, _ = game
    take, cash = here.market(outcomes)[1]
    if here.can_double(Owner.PLAYER) and here.swapped.can_double(Owner.PLAYER):
        assert take <= cash + CLOSE
