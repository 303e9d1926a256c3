"""Whether the first roll is rejected, and the question that asks it."""

from __future__ import annotations

import pytest
from attrs import evolve

from fibsbot.match import ROLLS, Dice, MatchState, Phase
from fibsbot.position import Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.base import PlayAnswer, gains_by_rejecting
from fibsbot.strategies.heuristic import HeuristicStrategy
from fibsbot.strategies.questions import (
    InvalidAnswerError,
    LastResort,
    PlayQuestion,
    RejectRollAnswer,
    ask_strategy,
)
from fibsbot.strategies.random_play import RandomStrategy

FIRST = MatchState(Position.start(), phase=Phase.MOVE, dice=(4, 1), may_reject=True)


def values(best: float, rest: float, dice: Dice = (4, 1)) -> list[float]:
    """Return equities by roll, with one for the roll that was made."""
    return [best if roll == dice else rest for roll in ROLLS]


@pytest.mark.parametrize(("kept", "others", "expected"), [(0.3, 0.1, False), (-0.1, 0.1, True), (0.1, -0.1, False)])
@pytest.mark.parametrize("length", [0, 25])
def test_a_roll_is_rejected_if_twice_the_mean_of_all_rolls_is_worth_more(
    *, kept: float, others: float, expected: bool, length: int
) -> None:
    state = evolve(FIRST, length=length)
    assert expected == gains_by_rejecting(state, lambda _: values(kept, others))


def test_nobody_rejects_a_roll_that_wins_the_match_at_the_present_cube_as_well() -> None:
    """At 1 point away each the cube is worth nothing: only a better roll counts."""
    state = evolve(FIRST, length=3, score=(2, 2))
    assert gains_by_rejecting(state, lambda _: values(0.0, 0.1))
    assert not gains_by_rejecting(state, lambda _: values(0.15, 0.1))


class Rejecting(RandomStrategy):
    """A strategy that gives a fixed answer about the first roll."""

    answer: object = True

    def reject_roll(self, state: MatchState) -> bool:  # noqa: ARG002 - it ignores the question
        """Return the fixed answer."""
        return self.answer  # type: ignore[return-value]


def test_a_strategy_is_asked_only_where_the_laws_allow_it() -> None:
    question = PlayQuestion(FIRST, legal_plays(FIRST.position, (4, 1)))
    assert RejectRollAnswer() == ask_strategy(Rejecting(), question)
    kept = PlayQuestion(evolve(FIRST, may_reject=False), question.plays)
    assert isinstance(ask_strategy(Rejecting(), kept), PlayAnswer)


def test_a_strategy_without_an_opinion_keeps_its_roll() -> None:
    question = PlayQuestion(FIRST, legal_plays(FIRST.position, (4, 1)))
    for strategy in (RandomStrategy(), LastResort()):
        assert isinstance(ask_strategy(strategy, question), PlayAnswer)


def test_an_answer_that_is_no_truth_value_is_nonsense() -> None:
    strategy = Rejecting()
    strategy.answer = "maybe"
    with pytest.raises(InvalidAnswerError, match="expected True or False, got 'maybe'"):
        PlayQuestion(FIRST).put_to(strategy)


def test_the_heuristic_keeps_a_roll_that_cannot_be_bettered() -> None:
    """Any roll bears the last two checkers off, and the match needs no more than this game."""
    winning = Position.from_sides(own=[2, *[0] * 24], opponent=[0] * 24 + [1])
    assert not HeuristicStrategy().reject_roll(
        MatchState(winning, length=1, phase=Phase.MOVE, dice=(2, 1), may_reject=True)
    )
