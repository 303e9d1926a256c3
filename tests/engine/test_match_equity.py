"""Match equities: the published table and what is made of it beyond its end."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from fibsbot.engine import match_equity
from fibsbot.engine.match_equity import GAMMON_RATE, TABLE_POINTS, after_crawford, equity_table, match_chance

LONGEST = 99
"""The longest match on FIBS."""


def chance(away: int, opponent_away: int) -> float:
    return match_chance(away, opponent_away, crawford_played=False)


def test_figures_everybody_knows() -> None:
    assert 0.5 == chance(7, 7)
    assert 0.67736 == chance(1, 2)
    assert pytest.approx(0.32264) == chance(2, 1)
    assert 0.59947 == chance(2, 3)
    assert 0.48803 == after_crawford(2)
    assert pytest.approx(1 - 0.48803) == match_chance(1, 2, crawford_played=True)


def test_who_needs_no_more_points_has_won() -> None:
    assert 1.0 == chance(0, 3)
    assert 1.0 == chance(-5, 1)
    assert 0.0 == chance(3, -1)
    assert 1.0 == after_crawford(0)


def test_crawford_makes_no_difference_while_both_need_more_than_a_point() -> None:
    assert match_chance(4, 9, crawford_played=True) == match_chance(4, 9, crawford_played=False)


@pytest.mark.parametrize("crawford_played", [False, True])
def test_what_one_has_the_other_lacks(crawford_played: bool) -> None:  # noqa: FBT001 - a parameter of the test
    for own in range(1, 60):
        for other in range(1, 60):
            both = match_chance(own, other, crawford_played=crawford_played) + match_chance(
                other, own, crawford_played=crawford_played
            )
            assert pytest.approx(1.0, abs=1e-12) == both


@pytest.mark.slow
def test_a_point_more_is_always_worth_something() -> None:
    for own in range(2, LONGEST + 1):
        row = [1 - chance(other, own) for other in range(own, LONGEST + 1)]  # for the trailer
        assert all(nearer > farther for nearer, farther in pairwise(1 - it for it in row))
        assert all(chance(own - 1, other) > chance(own, other) for other in range(2, own + 40))
    afterwards = [after_crawford(away) for away in range(1, LONGEST + 1)]
    assert all(nearer > farther for nearer, farther in pairwise(afterwards))


def test_nothing_jumps_where_the_table_ends() -> None:
    """Along each row a further point counts less and less; how much less changes little, and no more at the end."""
    for own in range(5, TABLE_POINTS + 1):
        steps = [chance(own, other + 1) - chance(own, other) for other in range(TABLE_POINTS - 4, TABLE_POINTS + 4)]
        ratios = [after / before for before, after in pairwise(steps)]
        assert max(abs(after - before) for before, after in pairwise(ratios)) < 0.02


def test_a_long_match_forgets_single_points() -> None:
    assert pytest.approx(0.5, abs=0.02) == chance(98, 99)
    assert chance(98, 99) - 0.5 < chance(24, 25) - 0.5


def test_after_crawford_the_second_point_of_two_is_worth_little() -> None:
    """The leader gives it away for nothing (the free drop), so an even number is nearly as far as the odd one above."""
    for even in range(2, LONGEST, 2):
        assert after_crawford(even - 1) - after_crawford(even) < (after_crawford(even) - after_crawford(even + 1)) / 2


def test_the_table_follows_the_logic_after_crawford() -> None:
    """On odd numbers there is no free drop: two points more are one more game on a cube of 2."""
    for odd in range(9, TABLE_POINTS + 1, 2):
        one, two = after_crawford(odd - 2), after_crawford(odd - 4)
        assert pytest.approx(after_crawford(odd), rel=0.012) == 0.5 * ((1 - GAMMON_RATE) * one + GAMMON_RATE * two)
    for even in range(6, TABLE_POINTS + 1, 2):
        one, two = after_crawford(even - 2), after_crawford(even - 4)
        assert 0.012 < 1 - after_crawford(even) / (0.5 * ((1 - GAMMON_RATE) * one + GAMMON_RATE * two)) < 0.03


def test_the_gammon_rate_is_that_of_the_end_of_the_table() -> None:
    """Solved for the rate, the recursion beyond the table gives the same for the table's odd numbers."""
    for odd in range(TABLE_POINTS - 4, TABLE_POINTS + 1, 2):
        now, single, gammon = (after_crawford(odd - won) for won in (0, 2, 4))
        assert pytest.approx((2 * now - single) / (gammon - single), abs=0.012) == GAMMON_RATE


def test_figures_beyond_the_end_of_the_table() -> None:
    assert pytest.approx([0.997197, 0.993602, 0.530238, 0.974359], abs=1e-6) == [
        chance(4, 30),
        chance(10, 40),
        chance(25, 26),
        chance(30, 64),
    ], "as the formula was fitted"
    assert pytest.approx(0.337 * 0.00182 + 0.163 * 0.00303) == after_crawford(26)
    assert pytest.approx(0.337 * 0.00123 + 0.163 * 0.00203) == after_crawford(27)
    assert pytest.approx(0.337 * after_crawford(25) + 0.163 * after_crawford(24)) == 1 - match_chance(
        1, 26, crawford_played=False
    )


def test_the_crawford_game_goes_on_beyond_the_table() -> None:
    row = [1 - chance(1, away) for away in range(20, 40)]
    assert all(0.55 < after / before < 0.85 for before, after in pairwise(row))


def test_the_table_is_in_the_package() -> None:
    assert TABLE_POINTS == len(equity_table().before) == len(equity_table().after)
    assert all(TABLE_POINTS == len(row) for row in equity_table().before)


def test_threads_that_extend_the_table_at_the_same_time_get_the_same_chances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each had appended its own chance of the same score, so that those of longer matches came out of place."""
    longest = TABLE_POINTS + 5
    alone = [after_crawford(away) for away in range(1, longest + 1)]
    met, chance_of = threading.Barrier(2), match_equity._doubled_at_once

    def slowly(single: float, gammon: float) -> float:
        with contextlib.suppress(threading.BrokenBarrierError):  # the other thread waits for its turn
            met.wait(0.02)
        return chance_of(single, gammon)

    monkeypatch.setattr(match_equity, "_doubled_at_once", slowly)
    match_equity._chances_after_crawford.cache_clear()
    assert match_equity._chances_after_crawford() == alone[:TABLE_POINTS]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(after_crawford, [longest, longest]))
    assert alone == [after_crawford(away) for away in range(1, longest + 1)]
