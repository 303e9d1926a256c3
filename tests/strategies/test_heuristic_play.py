"""The heuristic strategy makes the plays that every player knows, and never fails on any position."""

from __future__ import annotations

import math
import random
from typing import Final

import pytest
from attrs import evolve
from hypothesis import given

from fibsbot.match import Dice, MatchState, Phase
from fibsbot.notation import format_play, parse_play
from fibsbot.position import CHECKERS, Play, Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.base import Opponent, Strategy
from fibsbot.strategies.heuristic import HeuristicStrategy
from fibsbot.strategies.heuristic.contact import TERMS, side_terms
from fibsbot.strategies.heuristic.strategy import position_chances
from fibsbot.strategies.questions import (
    PlayQuestion,
    Question,
    ResignationQuestion,
    RollQuestion,
    TakeQuestion,
)
from fibsbot.strategies.random_play import RandomStrategy
from tests.hypothesis_strategies import bear_offs, match_states, positions

STRATEGY: Final = HeuristicStrategy()
START: Final = Position.start()


def board(own: dict[int, int], opponent: dict[int, int]) -> Position:
    """Build a position; both sides number the points as their own, 25 is the bar."""
    return Position.from_sides(*([side.get(point, 0) for point in range(1, 26)] for side in (own, opponent)))


def chosen(position: Position, dice: Dice) -> Position:
    """Return the position after the play that the strategy chooses."""
    state = MatchState(position, phase=Phase.MOVE, dice=dice)
    return position.play(STRATEGY.choose_play(state, legal_plays(position, dice)).play)


@pytest.mark.parametrize(
    ("dice", "plays"),
    [
        ((3, 1), ["8/5 6/5"]),
        ((4, 2), ["8/4 6/4"]),
        ((6, 1), ["13/7 8/7"]),
        ((5, 3), ["8/3 6/3"]),
        ((6, 5), ["24/13"]),
        ((6, 4), ["24/14", "24/18 13/9", "8/2 6/2"]),
        ((4, 3), ["13/9 13/10", "24/20 13/10", "24/21 13/9", "13/10 24/20"]),
        ((3, 3), ["8/5(2) 6/3(2)", "24/21(2) 13/10(2)", "8/5(2) 13/10(2)", "24/21(2) 6/3(2)"]),
        ((6, 6), ["24/18(2) 13/7(2)"]),
    ],
)
def test_openings_are_those_of_the_books(dice: Dice, plays: list[str]) -> None:
    after = chosen(START, dice)
    best = STRATEGY.choose_play(MatchState(START, phase=Phase.MOVE, dice=dice), legal_plays(START, dice)).play
    assert after in [START.play(parse_play(play, START, dice)) for play in plays], format_play(best, START)


def test_the_point_on_ones_head_is_hit() -> None:
    """The opponent has slotted his 5 point from the opening position: every 4 hits."""
    slotted = board({6: 5, 8: 3, 13: 5, 24: 2}, {5: 1, 6: 4, 8: 3, 11: 1, 13: 4, 24: 2})
    for dice in ((4, 2), (4, 3), (5, 4), (6, 4)):
        assert chosen(slotted, dice).opponent_bar > 0


def test_a_full_prime_is_not_broken_while_there_is_something_else_to_play() -> None:
    primed = board({4: 2, 5: 2, 6: 2, 7: 2, 8: 2, 9: 2, 13: 3}, {6: 5, 8: 3, 13: 5, 23: 2})
    for dice in ((3, 1), (2, 1), (5, 3), (6, 2)):
        assert all(n > 1 for n in chosen(primed, dice).points[4:10])


def test_a_blot_is_not_left_for_nothing() -> None:
    """Two checkers from the midpoint past the opponent's last one: together they are safe."""
    position = board({2: 3, 3: 2, 4: 2, 5: 2, 6: 4, 13: 2}, {2: 3, 3: 2, 4: 3, 5: 2, 6: 3, 16: 2})
    assert 0 == chosen(position, (5, 5)).points.count(1)


def test_a_shot_that_decides_the_game_is_taken() -> None:
    """The opponent bears off and leaves a blot; we wait on his ace point with a closed board."""
    position = board({1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2, 7: 1, 24: 2}, {1: 0, 5: 1, 2: 4})
    assert 1 == chosen(position, (4, 1)).opponent_bar


@pytest.mark.parametrize(("dice", "off"), [((6, 5), 2), ((6, 6), 4), ((3, 2), 2), ((1, 1), 2)])
def test_a_race_is_run_without_waste(dice: Dice, off: int) -> None:
    position = board({2: 2, 3: 2, 4: 2, 5: 2, 6: 2}, {1: 2, 2: 2, 3: 2, 6: 4})
    assert 15 - 10 + off == chosen(position, dice).off


def test_a_lost_game_is_played_to_save_the_gammon() -> None:
    """The opponent has two checkers left: only the 6 from the last outside checker gets one home in time."""
    position = board({1: 5, 2: 5, 3: 3, 7: 1, 6: 1}, {1: 2})
    assert 1 == chosen(position, (6, 1)).off


def test_the_score_decides_what_a_gammon_is_worth() -> None:
    """With the match at stake, equities count the match and not the gammons."""
    closed = board({1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2, 8: 3}, {6: 5, 5: 4, 4: 4, 25: 2})
    state = MatchState(closed, phase=Phase.MOVE, dice=(2, 1))
    plays = legal_plays(closed, (2, 1))
    money = STRATEGY.choose_play(state, plays).equity
    last = STRATEGY.choose_play(evolve(state, length=5, score=(4, 4), post_crawford=True), plays).equity
    assert money is not None
    assert last is not None
    assert money > 1 >= last


@given(match_states())
def test_every_question_gets_a_possible_answer(state: MatchState) -> None:
    questions: dict[Phase, list[Question]] = {
        Phase.MOVE: [PlayQuestion(state)] if state.dice and legal_plays(state.position, state.dice) else [],
        Phase.ROLL: [RollQuestion(state, may_double=True, resign_to=0), RollQuestion(state, may_double=False)],
        Phase.DOUBLED: [TakeQuestion(state)],
        Phase.RESIGNED: [ResignationQuestion(state)],
    }
    for question in questions[state.phase]:
        question.put_to(STRATEGY)  # raises InvalidAnswerError for any other answer


@given(positions(over=True) | bear_offs())
def test_chances_are_chances(position: Position) -> None:
    ours = position_chances(position)
    assert 0 <= ours.win_backgammon <= ours.win_gammon <= ours.win <= 1
    assert 0 <= ours.lose_backgammon <= ours.lose_gammon <= 1 - ours.win + 1e-9
    assert -3 <= ours.equity <= 3
    assert math.isclose(ours.equity, -ours.reversed().equity, abs_tol=1e-9)
    if position.off:
        assert 0 == ours.lose_gammon
    if position.opponent_off:
        assert 0 == ours.win_gammon


def test_the_same_question_gets_the_same_answer() -> None:
    assert chosen(START, (4, 3)) == chosen(START, (4, 3))
    again = HeuristicStrategy().choose_play(
        MatchState(START, phase=Phase.MOVE, dice=(4, 3)), legal_plays(START, (4, 3))
    )
    assert chosen(START, (4, 3)) == START.play(again.play)


def test_being_on_roll_is_an_advantage_at_the_start() -> None:
    assert 0.5 < position_chances(START).win < 0.56
    assert 0.2 < position_chances(START).win_gammon / position_chances(START).win < 0.35


@given(positions())
def test_every_term_has_its_weights(position: Position) -> None:
    own = [max(n, 0) for n in position.points]
    opponent = [max(-n, 0) for n in position.points]
    assert len(TERMS) == len(side_terms(own, opponent))


def test_it_is_a_strategy_that_plays_anybody() -> None:
    assert isinstance(STRATEGY, Strategy)
    assert STRATEGY.accept_invitation(Opponent("ford", 1500.0, 0, None), 99) is None
    with pytest.raises(ValueError, match="expected at least one play"):
        STRATEGY.choose_play(MatchState(START, phase=Phase.MOVE, dice=(3, 1)), [])


def points_of_first(first: Strategy, second: Strategy, rng: random.Random) -> float:
    """Play a cubeless game, return what it brings the player who begins."""
    position, sign = START, 1
    while True:
        dice = rng.randint(1, 6), rng.randint(1, 6)
        state = MatchState(position, phase=Phase.MOVE, dice=dice)
        plays = legal_plays(position, dice) or (Play(),)
        mover = first if sign == 1 else second
        position = position.play(mover.choose_play(state, plays).play)
        if position.off == CHECKERS:
            return -sign * position_chances(position.swapped()).equity
        position, sign = position.swapped(), -sign


@pytest.mark.slow
def test_it_wins_about_two_points_a_game_from_the_random_one() -> None:
    other = RandomStrategy(1)
    total = 0.0
    for seed in range(10):
        total += points_of_first(STRATEGY, other, random.Random(seed))
        total -= points_of_first(other, STRATEGY, random.Random(seed))
    assert total / 20 > 2
