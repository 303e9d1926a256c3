"""GameState: the actions that are allowed in each stage, and their results."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from fibsbot.games.state_json import state_to_json
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.notation import parse_play
from fibsbot.position import Play, Position
from fibsbot.records.store.transcripts import read_state
from fibsbot.rules import errors
from fibsbot.rules.game import (
    accept_resignation,
    double,
    drop,
    next_game,
    play,
    redouble,
    reject_resignation,
    reject_roll,
    resign,
    roll,
    roll_opening,
    start_match,
    take,
)
from fibsbot.rules.laws import FIBS, LAWS, LAWS_1970, Level
from fibsbot.rules.permissions import match_winner
from fibsbot.rules.state import Ending, GameState, Result, Seat, Stage

A, B = Seat.A, Seat.B
NEW = start_match(FIBS, 5)
OPENED = roll_opening(NEW, 3, 1)
"""A has 3-1 to play."""
B_TO_ROLL = play(OPENED, A, Play.of((8, 5), (6, 5)))
B_DOUBLED = double(B_TO_ROLL, B)
LAST_CHECKER = evolve(
    B_TO_ROLL, board=Position.from_sides(own=[1, *[0] * 24], opponent=[0] * 24 + [1]), stage=Stage.MOVE, dice=(6, 5)
)
"""B has 6-5 to bear off the last checker; A has one on the bar and all others off."""


def over(state: GameState = LAST_CHECKER) -> GameState:
    """Return a game that B has won."""
    return play(state, B, Play.of((1, 0)))


def test_the_higher_die_begins_and_plays_both_numbers() -> None:
    assert (Stage.MOVE, A, (3, 1)) == (OPENED.stage, OPENED.turn, OPENED.dice)
    opened = roll_opening(NEW, 2, 6)
    assert (Stage.MOVE, B, (6, 2)) == (opened.stage, opened.turn, opened.dice)


def test_law_1_two_persons_play() -> None:
    assert (Seat.B, Seat.A) == tuple(seat.other for seat in Seat)


def test_law_7_after_the_opening_the_players_throw_two_dice_in_turn() -> None:
    assert (B, Stage.ROLL) == (B_TO_ROLL.turn, B_TO_ROLL.stage)
    assert (A, Stage.ROLL) == (
        (after := play(roll(B_TO_ROLL, B, (3, 1)), B, Play.of((8, 5), (6, 5)))).turn,
        after.stage,
    )


def test_a_tie_is_rolled_again() -> None:
    assert NEW == roll_opening(NEW, 4, 4)


def test_after_a_play_the_other_player_sees_the_board_from_the_other_side() -> None:
    assert (Stage.ROLL, B, None) == (B_TO_ROLL.stage, B_TO_ROLL.turn, B_TO_ROLL.dice)
    expected = Position.start().play(Play.of((8, 5), (6, 5)))
    assert expected.swapped() == B_TO_ROLL.position
    assert expected == B_TO_ROLL.position_for(A)


def test_the_empty_play_is_a_dance_and_only_that() -> None:
    closed = Position.from_sides(own=[0] * 24 + [1], opponent=[2] * 6 + [0] * 19)
    danced = play(evolve(roll(B_TO_ROLL, B, (6, 5)), board=closed), B, Play())
    assert (A, Stage.ROLL, closed.swapped()) == (danced.turn, danced.stage, danced.position)
    with pytest.raises(errors.IllegalPlayError):
        play(OPENED, A, Play())


def test_the_last_checker_ends_the_game() -> None:
    state = over()
    assert Result(winner=B, points=1, level=Level.SINGLE, how=Ending.BORNE_OFF) == state.result
    assert (Stage.OVER, (0, 1), None) == (state.stage, state.scores, state.dice)
    assert 15 == state.position_for(B).off


def test_a_taken_double_gives_the_cube_to_the_taker_and_the_doubler_rolls() -> None:
    taken = take(B_DOUBLED, A)
    assert (2, A, Stage.ROLL, B, 0, None) == (
        taken.cube,
        taken.owner,
        taken.stage,
        taken.turn,
        taken.offered,
        taken.answering,
    )


def test_a_dropped_double_loses_the_previous_value_of_the_cube() -> None:
    dropped = drop(B_DOUBLED, A)
    assert Result(winner=B, points=1, level=Level.SINGLE, how=Ending.DROPPED) == dropped.result
    at_four = evolve(B_TO_ROLL, cube=4, owner=B)
    assert (0, 4) == drop(double(at_four, B), A).scores


@pytest.mark.parametrize("state", [OPENED, B_TO_ROLL, B_DOUBLED])
@pytest.mark.parametrize("seat", list(Seat))
def test_either_player_may_resign_at_any_time(state: GameState, seat: Seat) -> None:
    offered = resign(state, seat, Level.GAMMON)
    accepted = accept_resignation(offered, seat.other)
    assert Result(winner=seat.other, points=2, level=Level.GAMMON, how=Ending.RESIGNED) == accepted.result
    assert state == reject_resignation(offered, seat.other)


@pytest.mark.parametrize("level", [0, 4, -1])
def test_a_level_that_does_not_exist_is_not_resigned(level: Any) -> None:
    with pytest.raises(errors.RuleError, match="expected a single game"):
        resign(OPENED, A, level)


def test_a_resignation_counts_the_cube() -> None:
    offered = resign(take(B_DOUBLED, A), A, Level.BACKGAMMON)
    assert offered.resignation is not None
    assert 6 == offered.resignation.points


ACTIONS: tuple[Callable[[GameState], GameState], ...] = (
    lambda state: roll(state, B, (1, 2)),
    lambda state: double(state, B),
    lambda state: play(state, A, Play()),
    lambda state: take(state, A),
    lambda state: drop(state, A),
    lambda state: redouble(state, A),
    lambda state: resign(state, A, Level.SINGLE),
)
"""All actions of a player except answering a resignation."""


@pytest.mark.parametrize("state", [OPENED, B_TO_ROLL, B_DOUBLED])
@pytest.mark.parametrize("action", ACTIONS)
def test_while_a_resignation_is_pending_nothing_else_is_allowed(
    state: GameState, action: Callable[[GameState], GameState]
) -> None:
    with pytest.raises(errors.ResignationPendingError):
        action(resign(state, B, Level.SINGLE))


def test_a_player_cannot_answer_their_own_resignation() -> None:
    for answer in (accept_resignation, reject_resignation):
        with pytest.raises(errors.NotYourTurnError):
            answer(resign(OPENED, A, Level.SINGLE), A)


def test_the_opening_roll_waits_for_the_answer_to_a_resignation() -> None:
    with pytest.raises(errors.ResignationPendingError):
        roll_opening(resign(NEW, A, Level.SINGLE), 1, 2)


def test_no_action_is_allowed_before_the_opening_roll() -> None:
    for seat in Seat:
        with pytest.raises(errors.NotStartedError):
            roll(NEW, seat, (1, 2))
        with pytest.raises(errors.NotStartedError):
            double(NEW, seat)
        assert MatchState.of(NEW, seat) is None


def test_each_refusal_names_its_reason() -> None:
    with pytest.raises(errors.NotYourTurnError):
        roll(B_TO_ROLL, A, (1, 2))
    with pytest.raises(errors.RollFirstError):
        play(B_TO_ROLL, B, Play())
    with pytest.raises(errors.AlreadyRolledError):
        roll(OPENED, A, (1, 2))
    with pytest.raises(errors.AlreadyRolledError):
        double(OPENED, A)
    with pytest.raises(errors.AlreadyRolledError):
        roll_opening(OPENED, 1, 2)
    with pytest.raises(errors.DoublePendingError):
        roll(B_DOUBLED, B, (1, 2))
    with pytest.raises(errors.NotYourTurnError):
        take(B_DOUBLED, B)
    with pytest.raises(errors.NothingToAnswerError):
        take(B_TO_ROLL, A)
    with pytest.raises(errors.NothingToAnswerError):
        accept_resignation(B_TO_ROLL, A)
    with pytest.raises(errors.DiceError):
        roll(B_TO_ROLL, B, (0, 7))
    with pytest.raises(errors.DiceError):
        roll_opening(NEW, 0, 3)
    with pytest.raises(errors.DiceError):
        reject_roll(OPENED, A)
    with pytest.raises(errors.GameRunningError):
        next_game(B_TO_ROLL)


@pytest.mark.parametrize("action", ACTIONS)
def test_no_action_is_allowed_after_the_end_of_the_game(action: Callable[[GameState], GameState]) -> None:
    with pytest.raises(errors.GameOverError):
        action(over())


def test_nothing_is_answered_or_rolled_after_the_end() -> None:
    with pytest.raises(errors.GameOverError):
        accept_resignation(over(), A)
    with pytest.raises(errors.GameOverError):
        roll_opening(over(), 1, 2)


def test_every_refusal_is_a_value_error_with_one_line_of_text() -> None:
    with pytest.raises(ValueError, match=r"^it is the opponent's turn$"):
        roll(B_TO_ROLL, A, (1, 2))


def test_a_match_cannot_start_with_a_winning_score() -> None:
    for scores in ((5, 0), (0, 7), (-1, 0)):
        with pytest.raises(errors.RuleError):
            start_match(FIBS, 5, scores)
    with pytest.raises(errors.RuleError):
        start_match(FIBS, -1)


def test_the_match_is_over_when_a_score_reaches_its_length() -> None:
    won = over(evolve(LAST_CHECKER, scores=(4, 4), post_crawford=True))
    assert B is match_winner(won)
    with pytest.raises(errors.GameOverError):
        next_game(won)
    assert match_winner(over()) is None


def test_an_unlimited_match_never_ends() -> None:
    won = over(evolve(LAST_CHECKER, length=0, scores=(0, 10_000)))
    assert match_winner(won) is None
    assert (Stage.OPENING, (0, 10_001)) == (next_game(won).stage, next_game(won).scores)


def test_the_next_game_starts_afresh() -> None:
    assert start_match(FIBS, 5, (0, 1)) == next_game(over())


def test_every_player_sees_a_decision_from_their_own_side() -> None:
    state = MatchState.of(B_DOUBLED, A)
    assert state is not None
    assert MatchState.of(B_DOUBLED, B) is None
    assert (Phase.DOUBLED, 1, Owner.CENTRED) == (state.phase, state.cube, state.owner)
    assert B_DOUBLED.position_for(A) == state.position
    owning = evolve(take(B_DOUBLED, A), scores=(3, 2))
    theirs = MatchState.of(owning, B)
    assert theirs is not None
    assert (Phase.ROLL, 2, Owner.OPPONENT, (2, 3)) == (theirs.phase, theirs.cube, theirs.owner, theirs.score)
    mine = MatchState.of(OPENED, A)
    assert mine is not None
    assert (Phase.MOVE, (3, 1)) == (mine.phase, mine.dice)
    offered = MatchState.of(resign(OPENED, A, Level.GAMMON), B)
    assert offered is not None
    assert (Phase.RESIGNED, 2, None) == (offered.phase, offered.resignation, offered.dice)


def test_a_decision_shows_that_there_is_no_cube() -> None:
    with_cube, without = MatchState.of(OPENED, A), MatchState.of(evolve(OPENED, laws=evolve(FIBS, cube=False)), A)
    assert with_cube is not None
    assert evolve(with_cube, cubeless=True) == without


@pytest.mark.parametrize("name", sorted(LAWS))
def test_a_game_opens_the_same_under_every_set_of_laws(name: str) -> None:
    state = roll_opening(start_match(LAWS[name], 3), 6, 5)
    assert Stage.ROLL is play(state, A, parse_play("24/13", state.position, (6, 5))).stage


def test_a_state_survives_json() -> None:
    """A restarted server continues the game from its JSON."""
    for state in (NEW, OPENED, B_DOUBLED, resign(B_DOUBLED, A, Level.GAMMON), over(), start_match(LAWS_1970, 0)):
        assert state == read_state(json.loads(json.dumps(state_to_json(state))))
