"""Result = what it was worth at the start + luck - errors, to the last digit, where the judge is never wrong."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fibsbot.analysis.match_analysis import analyse_match
from fibsbot.match import MatchState
from fibsbot.rules import game as rules
from tests.analysis.exact_evaluator import ExactJudge, played_badly

JUDGE: Final = ExactJudge()
SEEDS: Final = st.integers(0, 2**32)


def unit(state: MatchState) -> float:
    """Return what a normalised equity of 1 is in the judge's stakes."""
    return (JUDGE.stake(state, state.cube) - JUDGE.stake(state, -state.cube)) / 2


@pytest.mark.slow
@given(SEEDS)
@settings(max_examples=50)
def test_result_is_start_and_luck_less_errors(seed: int) -> None:
    """For money in points, in a match in chances to win it; with cubes turned rightly and wrongly, and resignations."""
    transcript = played_badly(seed)
    (game,) = transcript.games
    first = game.start.turn
    start = rules.decision(game.start, first)
    assert start is not None
    assert game.result is not None
    total = unit(start) * JUDGE.value(start) + (JUDGE.stake(start, start.cube) + JUDGE.stake(start, -start.cube)) / 2
    for judged in analyse_match(transcript, JUDGE).games[0].judged:
        sign = 1 if judged.decision.seat is first else -1
        total += sign * ((judged.luck or 0.0) - judged.loss) * unit(judged.decision.state)
    points = game.result.points if game.result.winner is first else -game.result.points
    assert pytest.approx(JUDGE.stake(start, points), abs=1e-9) == total
