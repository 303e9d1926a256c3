"""Deciding: plays are ranked, cubes read, deadlines kept."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from fibsbot.engine.arrays import Boards, Outcomes
from fibsbot.engine.cube import cube_verdict
from fibsbot.engine.pruner import PlayFilter
from fibsbot.engine.search import PlayComparison, Searcher, SearchFilters, SearchLimits
from fibsbot.engine.search.lookahead import Clock
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.position import Position
from fibsbot.rules.plays import legal_plays
from tests.engine.search.brute_force import NO_FILTERS
from tests.engine.toy_engines import toy_engine
from tests.engine.toys import Recounted, some_positions, toy_pruner

STATE = MatchState(Position.start(), length=7, phase=Phase.MOVE, dice=(3, 1))
PLAYS = legal_plays(STATE.position, (3, 1))


def searcher(filters: SearchFilters | None = None) -> Searcher:
    return Searcher(Recounted(), toy_pruner(), filters)


@pytest.mark.parametrize("plies", [0, 1, 2])
def test_every_play_is_ranked_once_the_best_first(plies: int) -> None:
    ranking = searcher().rank(STATE, PLAYS, SearchLimits(plies))
    assert set(PLAYS) == {ranked.play for ranked in ranking.plays}
    assert len(PLAYS) == len(ranking.plays)
    ranks = [(-ranked.plies, -ranked.equity) for ranked in ranking.plays]
    assert sorted(ranks) == ranks
    assert plies == ranking.effort.plies == ranking.best.plies
    assert 0 == ranking.loss(ranking.best)
    assert all(ranking.loss(ranked) >= 0 for ranked in ranking.plays)
    for ranked in ranking.plays:
        assert STATE.position.play(ranked.play) == ranked.position
        assert 1 == pytest.approx(ranked.outcomes[0] + ranked.outcomes[3], abs=1e-5)


def test_the_value_of_a_play_is_the_opponents_loss_after_it() -> None:
    state = MatchState(STATE.position, phase=Phase.MOVE, dice=(3, 1), cubeless=True)
    for ranked in searcher(NO_FILTERS).rank(state, PLAYS, SearchLimits(1)).plays:
        theirs = MatchState(ranked.position.swapped(), cubeless=True)
        assert -searcher(NO_FILTERS).analyse_cube(theirs, SearchLimits(1)).equity == pytest.approx(
            ranked.equity, abs=1e-6
        )
        assert ranked.equity == pytest.approx(ranked.cubeless, abs=1e-5)


def test_a_filter_leaves_out_what_is_too_far_behind_or_too_many() -> None:
    narrow = SearchFilters((PlayFilter(1000, 3), PlayFilter(0.0, 3)), PlayFilter(), PlayFilter())
    ranking = searcher(narrow).rank(STATE, PLAYS, SearchLimits(2))
    assert {0, 1, 2} == {ranked.plies for ranked in ranking.plays}
    assert [2, 1, 1, 0] == [ranked.plies for ranked in ranking.plays[:4]]


def test_what_is_compared_is_looked_at_equally_deep() -> None:
    narrow = SearchFilters((PlayFilter(0.0, 1),) * 4, PlayFilter(), PlayFilter())
    ours = searcher(narrow)
    last = ours.rank(STATE, PLAYS, SearchLimits(0)).plays[-1].play
    assert [1, 0] == [it.plies for it in ours.rank(STATE, PLAYS, SearchLimits(1)).plays[:2]]
    ranking = ours.rank(STATE, PLAYS, SearchLimits(1), PlayComparison(4, 3, 0.0, also=last))
    assert 4 == sum(it.plies == 1 for it in ranking.plays)
    assert 1 == next(it.plies for it in ranking.plays if it.play == last)
    wide = ours.rank(STATE, PLAYS, SearchLimits(1), PlayComparison(len(PLAYS), 1, 1000.0))
    assert {1} == {it.plies for it in wide.plays}


def test_what_is_decided_is_looked_at_no_further() -> None:
    narrow = SearchFilters((PlayFilter(0.0, 3),) * 4, PlayFilter(), PlayFilter())
    toy = toy_engine()
    ours = Searcher(toy.evaluator, toy.pruner, narrow)
    assert 0 == ours.rank(STATE, PLAYS, SearchLimits(2, stop_when_decided=True)).effort.plies
    assert 2 == ours.rank(STATE, PLAYS, SearchLimits(2)).effort.plies
    assert 0 == searcher().rank(STATE, PLAYS[:1], SearchLimits(2, stop_when_decided=True)).effort.plies


def test_a_play_that_wins_is_the_best() -> None:
    position = Position.from_sides(own=[1, 0, 0, 0, 0, 1] + [0] * 19, opponent=[1] + [0] * 24)
    state = MatchState(position, phase=Phase.MOVE, dice=(6, 1))
    plays = legal_plays(position, (6, 1))
    for plies in (0, 1, 2):
        ranking = toy_engine().rank(state, plays, SearchLimits(plies))
        assert ranking.best.position.over
        assert 1 == pytest.approx(ranking.best.equity, abs=1e-6)


def test_without_looking_ahead_the_verdict_is_that_of_the_model() -> None:
    for position in some_positions(10, 4):
        for owner in (Owner.CENTRED, Owner.PLAYER):
            state = MatchState(position, length=5, owner=owner, score=(1, 2))
            reading = searcher().analyse_cube(state, SearchLimits(0))
            expected = cube_verdict(state, Recounted().evaluate(np.array([position.points], np.int8))[0])
            assert (expected.no_double, expected.double_take, expected.double_pass) == pytest.approx(
                (reading.verdict.no_double, reading.verdict.double_take, reading.verdict.double_pass), abs=1e-5
            )
            assert expected.words == reading.verdict.words


def test_a_beaver_is_in_the_verdict_but_not_in_the_equity_of_taking() -> None:
    position = Position.from_sides(own=[0] * 17 + [15] + [0] * 7, opponent=[0] * 7 + [15] + [0] * 17)
    behind = MatchState(position, redoubles=1)
    reading = searcher().analyse_cube(behind, SearchLimits(1))
    assert reading.double_take < 0
    assert 2 * reading.double_take == pytest.approx(reading.verdict.double_take)


class Slow:
    """An evaluator that takes its time, on a clock of its own."""

    name = "slow"

    def __init__(self) -> None:
        """Begin at 0 seconds."""
        self.now = 0.0

    def evaluate(self, boards: Boards) -> Outcomes:
        """Spend 20 microseconds per board."""
        self.now += len(boards) * 2e-5
        return Recounted().evaluate(boards)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.02, 0.1, 0.3])
def test_deadlines_are_kept(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = Slow()
    slow = Searcher(evaluator, toy_pruner())
    monkeypatch.setattr("fibsbot.engine.search.lookahead.time", SimpleNamespace(monotonic=lambda: evaluator.now))
    monkeypatch.setattr("fibsbot.engine.search.searcher.Clock", lambda limit: Clock(limit, evaluator.now))
    for limits in (SearchLimits(4, seconds), SearchLimits(4, seconds, stop_when_decided=True)):
        assert set(PLAYS) == {ranked.play for ranked in slow.rank(STATE, PLAYS, limits).plays}
        for search in (partial(slow.rank, STATE, PLAYS, limits), partial(slow.analyse_cube, STATE, limits)):
            effort = search().effort
            assert effort.plies < 4
            assert effort.seconds < seconds + 0.1


def test_more_time_looks_further() -> None:
    slow = Searcher(Slow(), toy_pruner())
    assert slow.analyse_cube(STATE, SearchLimits(4, 1e-6)).effort.plies == 0
    assert slow.analyse_cube(STATE, SearchLimits(2, 60)).effort.plies == 2
    assert slow.rank(STATE, PLAYS, SearchLimits(2, 1e-6)).effort.plies == 0


def test_limits_that_are_none_are_refused() -> None:
    for plies, seconds in ((-1, None), (5, None), (2, 0.0), (2, -1.0), (2, float("nan"))):
        with pytest.raises(ValueError, match="expected"):
            SearchLimits(plies, seconds)
    with pytest.raises(ValueError, match="at least one play"):
        searcher().rank(STATE, (), SearchLimits(0))
