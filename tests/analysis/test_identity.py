"""Result = value of the start + luck - errors, to the last digit, with an exact evaluator."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.analysis.match_analysis import analyse_match
from fibsbot.match import MatchState
from tests.analysis.exact_evaluator import ExactEvaluator, played_badly
from tests.examples import examples

EVALUATOR: Final = ExactEvaluator()
SEEDS: Final = st.integers(0, 2**32)


def unit(state: MatchState) -> float:
    """Return the stake that a normalised equity of 1 stands for."""
    return (EVALUATOR.stake(state, state.cube) - EVALUATOR.stake(state, -state.cube)) / 2


@pytest.mark.slow
@given(SEEDS)
@examples(12)
def test_result_is_start_plus_luck_minus_errors(seed: int) -> None:
    """For money in points, in a match in winning chances; with good and bad cube actions, and resignations."""
    transcript = played_badly(seed)
    (game,) = transcript.games
    first = game.start.turn
    start = MatchState.of(game.start, first)
    assert start is not None
    assert game.result is not None
    total = (
        unit(start) * EVALUATOR.value(start)
        + (EVALUATOR.stake(start, start.cube) + EVALUATOR.stake(start, -start.cube)) / 2
    )
    for analysed in analyse_match(transcript, EVALUATOR).games[0].decisions:
        sign = 1 if analysed.decision.seat is first else -1
        total += sign * ((analysed.luck or 0.0) - analysed.loss) * unit(analysed.decision.state)
    points = game.result.points if game.result.winner is first else -game.result.points
    assert pytest.approx(EVALUATOR.stake(start, points), abs=1e-9) == total
