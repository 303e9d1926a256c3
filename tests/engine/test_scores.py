"""Scores at which a decision can be made."""

from __future__ import annotations

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.engine.scores import MOST_AWAY, at_score, away_scores, has_score, unlimited
from fibsbot.match import MatchState, Owner
from fibsbot.position import Position

START = MatchState(Position.start(), jacoby=True, redoubles=3)


@given(st.integers(2, MOST_AWAY), st.sampled_from([(1, Owner.CENTRED), (1, Owner.PLAYER), (4, Owner.OPPONENT)]))
def test_each_score_occurs_once_and_is_possible(most: int, cube: tuple[int, Owner]) -> None:
    state = evolve(START, cube=cube[0], owner=cube[1])
    axis = away_scores(state, most)
    found = [
        (there, has_score(there, mine, other))
        for mine in axis
        for other in axis
        if (there := at_score(state, mine, other))
    ]
    states = [there for there, _ in found]
    assert all(has for _, has in found)
    assert len(set(states)) == len(states) == most**2 + (2 * (most - 1) if cube == (1, Owner.CENTRED) else 0)
    for there in states:
        assert not (there.crawford and there.post_crawford)
        assert not there.crawford or 1 == min(there.away) < max(there.away)
        assert min(there.away) > 1 or there.crawford or there.post_crawford or there.length == 1
        assert (False, 0, state.board, cube) == (there.jacoby, there.redoubles, there.board, (there.cube, there.owner))


def test_an_unlimited_match_keeps_its_laws_and_gets_none() -> None:
    assert START == unlimited(START)
    assert MatchState(Position.start()) == unlimited(
        MatchState(Position.start(), length=3, score=(2, 1), crawford=True)
    )
