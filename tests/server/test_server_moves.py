"""Each `**` line about a move, exactly as the specification gives it, by what is wrong (section "Move")."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibs_protocol import messages as m
from fibs_protocol.words import FibsMove
from fibsbot.fibs_numbering import play_from_fibs, play_to_fibs
from fibsbot.position import Position
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.rules.errors import PlayError
from fibsbot.rules.game import start_at
from fibsbot.rules.game_plays import greedy_play, only_play
from fibsbot.rules.plays import check_play, legal_plays, most_moves
from fibsbot.rules.state import Seat, Stage
from fibsbot.server.match_lines import refusal_of_play
from fibsbot.server.users import User
from tests.server.simulated_world import Simulation, set_state, two_players

BAR_POSITION = Position((0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 1, 1))
HOME = Position((0, 0, 0, 2, 0, 3, *[0] * 18, -5, 0))
ONE_MOVE = Position((0, *[0] * 12, -2, *[0] * 4, -2, 0, 0, 0, 0, 0, 1, 0))
"""A last checker on the 24 point, and the opponent holds 18 and 13: of 6-5 only the 5 can be played."""


def at_move(position: Position, dice: tuple[int, int], *, mirrored: bool = False) -> tuple[Simulation, User]:
    """Return a simulation where bob (O, who moves downwards) or alice (X, upwards) has to play these dice."""
    simulation, alice, bob = two_players((6, 4))
    seat, user = (Seat.A, alice) if mirrored else (Seat.B, bob)
    assert user.match is not None
    set_state(user.match, board=position, turn=seat, stage=Stage.MOVE, dice=dice)
    return simulation, user


@pytest.mark.parametrize(
    ("position", "dice", "move", "refusal"),
    [
        (Position.start(), (6, 4), "24-18", "** You must give 2 moves."),
        (Position.start(), (4, 4), "24-20", "** You must give 4 moves."),
        (Position.start(), (6, 4), "24-18 13-9 8-4", "** Please don't give more than 2 moves."),
        (Position.start(), (6, 4), "7-1 13-9", "** You can't move from 7 in your first move."),
        (Position.start(), (6, 4), "13-9 12-6", "** You can't move from 12 in your second move."),
        (Position.start(), (6, 4), "13-8 13-7", "** You can't move 5 points in your first move."),
        (Position.start(), (6, 4), "13-7 24-18", "** You can't move 6 points in your second move."),
        (Position.start(), (5, 4), "13-9 24-19", "** You can't move to 19 in your second move."),
        (Position.start(), (6, 4), "6-off 8-4", "** You can't remove this piece in your first move."),
        (Position.start(), (6, 4), "13-19 24-20", "** You can't move 13-home in your first move."),
        (Position.start(), (6, 4), "13-13 24-20", "** You can't move 13-home in your first move."),
        (Position.start(), (6, 4), "bar-19 24-20", "** You can't move from 25 in your first move."),
        (BAR_POSITION, (4, 3), "13-9 13-10", "** You have to remove pieces from the bar in your first move."),
        (HOME, (4, 1), "5-1 3-off", "** You can't remove this piece in your second move."),
        (HOME, (6, 4), "5-off 3-off", "** You can't remove this piece in your second move."),
        (Position.start(), (6, 4), "24-x 1-2", None),
        (Position.start(), (6, 4), "24", None),
    ],
)
def test_an_illegal_play_is_refused_with_the_reason(
    position: Position, dice: tuple[int, int], move: str, refusal: str | None
) -> None:
    simulation, user = at_move(position, dice)
    words = "** first move: legal words are 'bar', 'home', 'off', 'b', 'h' and 'o'."
    form = "   A play is written as in 'move 13-7 8-7' or 'move bar/22 6/off'."
    assert ([refusal] if refusal else [words, form]) == simulation.say(user, f"move {move}")


@pytest.mark.parametrize("written", ["24-18 13-9", "24/18 13/9", "24 / 18 13-9"])
def test_a_play_may_be_written_with_slashes(written: str) -> None:
    simulation, user = at_move(Position.start(), (6, 4))
    assert not [line for line in simulation.say(user, f"move {written}") if line.startswith("**")]


def test_refusals_use_the_numbers_of_a_player_who_moves_upwards() -> None:
    simulation, user = at_move(Position.start(), (5, 4), mirrored=True)
    assert ["** You can't move to 6 in your second move."] == simulation.say(user, "move 12-16 1-6")
    assert ["** You can't move from 0 in your first move."] == simulation.say(user, "move bar-4 1-6")


def test_playing_the_lower_number_where_the_higher_one_is_required_is_refused() -> None:
    position = Position((0, *[0] * 5, 0, *[0] * 6, -2, *[0] * 10, 1, 0))
    assert 1 == most_moves(position.points, (6, 5))
    simulation, user = at_move(position, (6, 5))
    assert ["** You can't move 5 points in your first move."] == simulation.say(user, "move 24-19")


@pytest.mark.parametrize(
    ("stage", "turn", "command", "refusal"),
    [
        (Stage.ROLL, Seat.A, "move 1-2", "** You have to roll the dice before moving."),
        (Stage.ROLL, Seat.A, "off", "** You have to roll the dice before moving."),
        (Stage.ROLL, Seat.B, "move 1-2", "** It's not your turn to move."),
        (Stage.ROLL, Seat.B, "roll", "** It's not your turn to roll the dice."),
        (Stage.ROLL, Seat.B, "off", "** It's not your turn."),
        (Stage.MOVE, Seat.A, "roll", "** You did already roll the dice."),
        (Stage.MOVE, Seat.A, "off", "** You can't bear off with every number you have rolled."),
        (Stage.OVER, Seat.A, "roll", "** It's not your turn to roll the dice."),
        (Stage.OVER, Seat.A, "resign n", "** You're not playing."),
    ],
)
def test_commands_at_the_wrong_time_are_refused(stage: Stage, turn: Seat, command: str, refusal: str) -> None:
    simulation, alice, _ = two_players((6, 4))
    assert alice.match is not None
    set_state(alice.match, stage=stage, turn=turn, dice=(6, 4) if stage is Stage.MOVE else None)
    assert [refusal] == simulation.say(alice, command)


@pytest.mark.parametrize(
    "command", ["roll", "move 1-2", "off", "board", "double", "accept", "resign n", "redouble", "panic"]
)
def test_game_commands_are_refused_without_a_match(command: str) -> None:
    simulation = Simulation()
    assert ["** You're not playing."] == simulation.say(simulation.log_in("alice"), command)


def test_a_number_at_the_beginning_of_a_line_is_a_move() -> None:
    simulation, user = at_move(Position.start(), (6, 4))
    assert 1 == len(simulation.say(user, "24 18 13 - 9"))


# -- properties -----------------------------------------------------------------------------------------------------


def _cut(row: list[int]) -> list[int]:
    left = 15
    for index, count in enumerate(row):
        row[index] = min(count, left)
        left -= row[index]
    return row


positions = st.builds(
    Position.from_sides,
    st.lists(st.integers(0, 3), min_size=25, max_size=25).map(_cut),
    st.just([0] * 25),
)


any_move = st.builds(FibsMove, st.none() | st.integers(1, 24), st.none() | st.integers(1, 24))


@given(
    st.sampled_from([Position.start(), BAR_POSITION, HOME, ONE_MOVE]),
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    st.lists(any_move, min_size=0, max_size=5).map(tuple),
    st.sampled_from([1, -1]),
)
def test_every_illegal_play_gets_a_refusal_and_no_legal_play_does(
    position: Position, dice: tuple[int, int], played: tuple[FibsMove, ...], direction: int
) -> None:
    try:
        check_play(position, dice, play_from_fibs(played, direction))
    except PlayError:
        assert isinstance(refusal_of_play(position, dice, played, direction), m.Refusal)


@given(positions, st.tuples(st.integers(1, 6), st.integers(1, 6)))
def test_greedy_plays_are_legal_and_bear_off_only(position: Position, dice: tuple[int, int]) -> None:
    play = greedy_play(start_at(BACKGAMMON, position, dice))
    if play is not None:
        check_play(position, dice, play)
        assert {0} == {move.target for move in play.moves}
        assert play_to_fibs(play, -1)


@given(positions, st.tuples(st.integers(1, 6), st.integers(1, 6)))
def test_the_only_play_is_the_only_legal_one(position: Position, dice: tuple[int, int]) -> None:
    plays = legal_plays(position, dice)
    assert (plays[0] if len(plays) == 1 else None) == only_play(start_at(BACKGAMMON, position, dice))
