"""Races: exact for a few checkers, estimated for many, and the estimates agree with what is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.match import PIPS_PER_ROLL
from fibsbot.strategies.heuristic.race import (
    MAX_EXACT_CHECKERS,
    chance_to_finish_first,
    exact_distribution,
    normal_distribution,
    race_chances,
    rolls_to_bear_off,
    rolls_to_reach,
    wastage,
)


def home(*counts: int) -> tuple[int, ...]:
    """Checkers on the points 1, 2, ... and nothing farther out."""
    return counts + (0,) * (24 - len(counts))


def mean(distribution: tuple[float, ...]) -> float:
    return sum(rolls * chance for rolls, chance in enumerate(distribution))


counts = st.lists(st.integers(1, 24), min_size=1, max_size=15).map(lambda ps: tuple(map(ps.count, range(1, 25))))


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        (home(1), 36 / 36),
        (home(0, 0, 0, 1), 34 / 36),
        (home(0, 0, 0, 0, 0, 1), 27 / 36),
        (home(0, 0, 0, 0, 1, 1), 6 / 36),
        (home(1, 0, 0, 0, 1), 23 / 36),
        (home(0, 2), 26 / 36),
        (home(0, 0, 1, 1), 17 / 36),
    ],
)
def test_two_checkers_go_off_in_one_roll_as_often_as_every_table_says(
    position: tuple[int, ...], expected: float
) -> None:
    assert pytest.approx(expected) == rolls_to_bear_off(position)[1]


def test_the_exact_expectation_of_a_checker_on_each_point_is_the_published_one() -> None:
    """3.4636 rolls, from a full one-sided table reckoned by another program."""
    assert pytest.approx(3.46364843) == mean(exact_distribution((1,) * 6))


@pytest.mark.parametrize(
    ("position", "rolls"),
    [
        # From the same table.
        (home(2, 2, 2, 3, 3, 3), 8.1389),
        (home(0, 0, 2, 4, 4, 5), 9.7085),
        (home(1, 1, 1, 2, 2, 1), 4.6202),
        (home(7, 3, 2, 1, 1, 1), 7.1201),
        (home(0, 0, 3, 4, 4, 4), 9.3826),
    ],
)
def test_the_estimated_rolls_agree_with_the_exact_ones(position: tuple[int, ...], rolls: float) -> None:
    assert pytest.approx(rolls, abs=0.15) == mean(rolls_to_bear_off(position))


@given(counts)
def test_distributions_are_chances(position: tuple[int, ...]) -> None:
    for distribution in (rolls_to_bear_off(position), rolls_to_reach(6, position), rolls_to_reach(18, position)):
        assert pytest.approx(1) == sum(distribution)
        assert all(chance >= 0 for chance in distribution)


@given(counts, st.integers(0, 23))
def test_a_checker_farther_back_never_helps(position: tuple[int, ...], point: int) -> None:
    """Within what the estimate of wastage allows: half a roll."""
    if not position[point] or point == 23:
        return
    back = list(position)
    back[point] -= 1
    back[point + 1] += 1
    assert mean(rolls_to_bear_off(tuple(back))) > mean(rolls_to_bear_off(position)) - 0.5


@given(counts, counts)
def test_race_chances_are_chances(own: tuple[int, ...], opponent: tuple[int, ...]) -> None:
    chances = race_chances(own, opponent)
    assert -1e-9 <= chances.win_backgammon <= chances.win_gammon <= chances.win <= 1 + 1e-9
    assert -1e-9 <= chances.lose_backgammon <= chances.lose_gammon <= 1 - chances.win + 1e-9


@given(counts, counts)
def test_being_on_roll_never_hurts(own: tuple[int, ...], opponent: tuple[int, ...]) -> None:
    assert race_chances(own, opponent).win >= 1 - race_chances(opponent, own).win - 1e-9


@pytest.mark.parametrize(("lead", "expected"), [(0, 0.58), (8, 0.724), (12, 0.784)])
def test_a_lead_of_so_many_percent_wins_about_as_often_as_kleinman_says(lead: int, expected: float) -> None:
    """A race of 100 pips against 100 and more, both sides spread alike."""
    even = [4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 8, 9, 9, 9, 9]
    behind = [point + (lead - n + 4) // 5 for n, point in enumerate(reversed(even[-5:]))] + even[:10]
    own, opponent = (tuple(map(side.count, range(1, 25))) for side in (even, behind))
    assert 100 + lead == sum(behind)
    assert pytest.approx(expected, abs=0.03) == race_chances(own, opponent).win


def test_a_gammon_needs_an_opponent_without_a_checker_off() -> None:
    far = (0,) * 17 + (15, *(0,) * 6)
    assert race_chances(home(2), far).win_gammon == 1
    assert race_chances(home(2), (0,) * 17 + (14, *(0,) * 6)).win_gammon == 0
    assert race_chances(home(2), (0,) * 23 + (15,)).win_backgammon == 1


@given(st.floats(4, 20), st.floats(0.2, 3))
def test_a_spread_keeps_its_mean(rolls: float, variance: float) -> None:
    assert pytest.approx(rolls, abs=0.05) == mean(normal_distribution(rolls, variance))


def test_the_player_on_roll_wins_a_tie() -> None:
    assert chance_to_finish_first((0, 1.0), (0, 1.0)) == 1
    assert chance_to_finish_first((0, 0, 1.0), (0, 1.0)) == 0
    assert pytest.approx(0.75) == chance_to_finish_first((0, 0.5, 0.5), (0, 0.5, 0.5))


def test_stacks_gaps_and_low_points_waste_pips() -> None:
    even = wastage(home(2, 2, 2, 3, 3, 3))
    assert wastage(home(0, 0, 0, 0, 0, 15)) > wastage(home(0, 0, 0, 5, 5, 5))
    assert wastage(home(15)) > 2 * even > PIPS_PER_ROLL
    assert 15 > MAX_EXACT_CHECKERS
