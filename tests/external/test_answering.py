"""A strategy's decisions in the words of engines; if it fails, another one decides."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.external import Answerer, NoAnswerError
from fibsbot.match import CubeAction, MatchState, Owner, Phase
from fibsbot.position import Play, Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.base import CubeAnswer, PlayAnswer
from fibsbot.strategies.child_process.wire_format import parse_play_choice
from fibsbot.strategies.random_play import RandomStrategy
from tests.hypothesis_strategies import match_states

START = MatchState(Position.start(), length=5)
MOVING = evolve(START, phase=Phase.MOVE, dice=(3, 1))


class Wrong(RandomStrategy):
    """Raises, and answers nonsense."""

    name = "wrong"

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Fail."""
        raise RuntimeError(f"{state} {plays}")

    def offer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002 - the interface
        """Answer nonsense."""
        return CubeAnswer(CubeAction.TAKE)


class Bold(RandomStrategy):
    """Doubles whenever it is asked, beavers if allowed and takes otherwise."""

    def offer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002 - the interface
        """Double."""
        return CubeAnswer(CubeAction.DOUBLE)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Beaver if allowed."""
        return CubeAnswer(CubeAction.BEAVER if state.redoubles else CubeAction.TAKE)


@given(match_states(resignations=False), st.integers(0, 9))
def test_every_decision_gets_a_possible_answer(state: MatchState, seed: int) -> None:
    answer = Answerer([RandomStrategy(seed)]).answer(state)
    match state.phase:
        case Phase.MOVE:
            assert state.dice is not None
            plays = legal_plays(state.position, state.dice)
            assert (parse_play_choice(answer, state, plays) in plays) if plays else answer == ""
        case Phase.ROLL:
            assert answer == "roll" or (answer == "double" and state.may_double)
        case _:
            assert answer in {"take", "drop"}


def test_if_a_strategy_fails_the_next_one_decides() -> None:
    answerer = Answerer([Wrong(1), RandomStrategy(1)])
    assert answerer.answer(MOVING)
    assert answerer.answer(START) in {"roll", "double"}


def test_failing_strategies_and_missing_decisions_raise() -> None:
    with pytest.raises(NoAnswerError):
        Answerer([Wrong(1)]).answer(MOVING)
    with pytest.raises(ValueError, match="not a resignation"):
        Answerer([Wrong(1)]).answer(evolve(START, phase=Phase.RESIGNED, resignation=1))
    with pytest.raises(ValueError, match="expected dice"):
        Answerer([Wrong(1)]).answer(evolve(MOVING, dice=None))


@pytest.mark.parametrize(
    "state",
    [
        evolve(START, owner=Owner.OPPONENT),
        evolve(START, score=(4, 0), crawford=True),
        evolve(START, score=(3, 0), cube=2, owner=Owner.PLAYER),
        evolve(START, cubeless=True),
    ],
)
def test_a_player_who_may_not_double_or_gains_nothing_is_not_asked(state: MatchState) -> None:
    assert "double" == Answerer([Bold()]).answer(START)
    assert "roll" == Answerer([Bold()]).answer(state)


def test_a_beaver_is_a_take() -> None:
    assert "take" == Answerer([Bold()]).answer(evolve(START, length=0, phase=Phase.DOUBLED, redoubles=1))
