"""The random strategy repeats with its seed and visits everything it may do."""

from __future__ import annotations

from attrs import evolve

from fibsbot.match import MatchState, Phase
from fibsbot.position import Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.base import CubeAction, Opponent
from fibsbot.strategies.random_play import RandomStrategy

STATE = MatchState(Position.start(), phase=Phase.MOVE, dice=(3, 1), redoubles=1)
PLAYS = legal_plays(STATE.position, (3, 1))


def test_a_seed_repeats_all_answers() -> None:
    def answers(seed: int) -> list[object]:
        strategy = RandomStrategy(seed)
        return [
            (strategy.choose_play(STATE, PLAYS), strategy.offer_double(STATE), strategy.answer_double(STATE))
            for _ in range(20)
        ]

    assert answers(1) == answers(1)
    assert answers(1) != answers(2)


def test_everything_that_is_allowed_happens_and_nothing_else() -> None:
    strategy = RandomStrategy(1)
    many = range(3000)
    assert set(PLAYS) == {strategy.choose_play(STATE, PLAYS).play for _ in many}
    assert {CubeAction.ROLL, CubeAction.DOUBLE} == {strategy.offer_double(STATE).action for _ in many}
    answers = {CubeAction.TAKE, CubeAction.PASS}
    assert {*answers, CubeAction.BEAVER} == {strategy.answer_double(STATE).action for _ in many}
    without = evolve(STATE, redoubles=0)
    assert answers == {strategy.answer_double(without).action for _ in many}
    assert {True, False} == {strategy.accept_resignation(STATE) for _ in many}
    assert {0, 1} == {strategy.resign(STATE) for _ in many}
    assert strategy.accept_invitation(Opponent("ford"), 5) is None
