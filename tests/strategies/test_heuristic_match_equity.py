"""Match equities that nobody looked up agree with those that everybody does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.match import MatchState
from fibsbot.position import Position
from fibsbot.strategies.heuristic.cube import after_crawford, match_equity, worth_of

away = st.integers(1, 25)


@pytest.mark.parametrize(
    ("score", "published"),
    [
        # Neil Kazaross's table for eXtreme Gammon 2.
        ((1, 2), 0.677),
        ((1, 3), 0.751),
        ((1, 4), 0.814),
        ((1, 5), 0.842),
        ((2, 3), 0.599),
        ((2, 4), 0.669),
        ((2, 5), 0.744),
        ((3, 4), 0.572),
        ((3, 5), 0.648),
        ((3, 7), 0.762),
        ((4, 7), 0.699),
        ((5, 7), 0.626),
        ((6, 7), 0.563),
    ],
)
def test_before_crawford_the_published_table_is_met(score: tuple[int, int], published: float) -> None:
    assert pytest.approx(published, abs=0.007) == match_equity(*score, crawford_played=False)


@pytest.mark.parametrize(("points", "published"), [(2, 0.488), (3, 0.323), (4, 0.310), (5, 0.190), (6, 0.181)])
def test_after_crawford_the_published_table_is_met(points: int, published: float) -> None:
    assert pytest.approx(published, abs=0.006) == after_crawford(points)


@given(away, away, st.booleans())
def test_the_two_chances_add_up(own: int, other: int, played: bool) -> None:  # noqa: FBT001
    chance = match_equity(own, other, crawford_played=played)
    assert 0 < chance < 1
    assert pytest.approx(1) == chance + match_equity(other, own, crawford_played=played)


@given(away, away)
def test_a_point_more_is_worth_more(own: int, other: int) -> None:
    chance = match_equity(own, other, crawford_played=False)
    assert chance <= match_equity(own - 1, other, crawford_played=False)
    assert chance >= match_equity(own, other - 1, crawford_played=False)


@pytest.mark.slow
def test_the_longest_match_is_no_trouble() -> None:
    assert pytest.approx(0.5) == match_equity(99, 99, crawford_played=False)
    assert 0.99 < match_equity(1, 99, crawford_played=False) < 1


def test_money_is_worth_itself() -> None:
    worth = worth_of(MatchState(Position.start(), cube=4))
    assert (1, -2, 0.5) == (worth(4), worth(-8), worth(2))


def test_a_match_is_scaled_to_what_the_cube_decides() -> None:
    worth = worth_of(MatchState(Position.start(), length=7, score=(4, 2), cube=2))
    assert pytest.approx(1) == worth(2)
    assert pytest.approx(-1) == worth(-2)
    assert worth(4) == worth(3), "3 points win the match"
    assert worth(-8) < worth(-4) < -1
