"""Conversion between the server's numbering and our own."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fibs_protocol.board import BoardState
from fibs_protocol.words import UNLIMITED, Colour, FibsMove
from fibsbot.fibs_numbering import (
    DIRECTIONS,
    cells_from_position,
    cube_owner,
    from_fibs,
    is_crawford,
    length_from_fibs,
    length_to_fibs,
    match_state,
    play_from_fibs,
    play_to_fibs,
    player_position,
    to_fibs,
)
from fibsbot.match import Owner, Phase
from fibsbot.position import BAR, OFF, Move, Play, Position

START_O = (0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0)
"""The cells of the specification's example, in which O moves from 24 to 1."""

directions = st.sampled_from([-1, 1])
colours = st.sampled_from(list(Colour))
moves = st.builds(Move, st.integers(1, BAR), st.integers(OFF, 24)).filter(lambda m: m.source > m.target)
sides = st.lists(st.integers(1, BAR), min_size=1, max_size=15).map(lambda ps: [ps.count(p) for p in range(1, BAR + 1)])


@st.composite
def positions(draw: st.DrawFn) -> Position:
    own, other = draw(sides), draw(sides)
    return Position.from_sides(own, [0 if i < 24 and own[23 - i] else n for i, n in enumerate(other)])


def board(**changes: object) -> BoardState:
    fields: dict[str, object] = {
        "player": "You", "opponent": "ford", "length": 5, "score": 0, "opponent_score": 0, "points": START_O,
        "turn": Colour.O, "dice": (6, 2), "opponent_dice": (0, 0), "cube": 1, "may_double": True,
        "opponent_may_double": True, "was_doubled": False, "colour": Colour.O, "direction": -1, "home": 0, "bar": 25,
        "off": 0, "opponent_off": 0, "on_bar": 0, "opponent_on_bar": 0, "can_move": 2, "forced_move": 0,
        "post_crawford": 0, "redoubles": 0,
    }  # fmt: skip
    return BoardState(**{**fields, **changes})  # type: ignore[arg-type]  # one table of all fields


@given(moves, directions)
def test_a_move_survives_conversion(move: Move, direction: int) -> None:
    assert move == from_fibs(to_fibs(move, direction), direction)


@given(positions(), colours, directions)
def test_a_position_survives_conversion(position: Position, colour: Colour, direction: int) -> None:
    assert position == player_position(
        board(points=cells_from_position(position, colour, direction), colour=colour, direction=direction)
    )


@given(positions(), colours)
def test_both_players_see_the_same_cells(position: Position, colour: Colour) -> None:
    mine = cells_from_position(position, colour, DIRECTIONS[colour])
    other = Colour(-colour)
    assert mine == cells_from_position(position.swapped(), other, DIRECTIONS[other])


@given(positions(), colours, directions, st.data())
def test_a_move_made_in_either_numbering_gives_the_same_position(
    position: Position, colour: Colour, direction: int, data: st.DataObject
) -> None:
    own = [point for point, n in enumerate(position.points) if n > 0 and point]
    assume(own)
    source = data.draw(st.sampled_from(own))
    target = data.draw(st.integers(OFF, source - 1).filter(lambda p: p == OFF or position.points[p] >= -1))
    move = Move(source, target)
    fibs_move = to_fibs(move, direction)
    bar, other_bar = (25, 0) if direction < 0 else (0, 25)
    cells = list(cells_from_position(position, colour, direction))
    cells[bar if fibs_move.source is None else fibs_move.source] -= colour
    if fibs_move.target is not None:
        if cells[fibs_move.target] == -colour:
            cells[fibs_move.target] = 0
            cells[other_bar] -= colour
        cells[fibs_move.target] += colour
    assert position.after(move) == player_position(board(points=tuple(cells), colour=colour, direction=direction))


def test_the_opening_position_is_the_same_for_both_colours() -> None:
    assert Position.start() == player_position(board(points=START_O, colour=Colour.O, direction=-1))
    assert Position.start() == player_position(board(points=START_O, colour=Colour.X, direction=1))


@pytest.mark.parametrize(
    ("move", "direction", "expected"),
    [
        (Move(24, 18), -1, FibsMove(24, 18)),
        (Move(24, 18), 1, FibsMove(1, 7)),
        (Move(BAR, 20), -1, FibsMove(None, 20)),
        (Move(BAR, 20), 1, FibsMove(None, 5)),
        (Move(6, OFF), -1, FibsMove(6, None)),
        (Move(6, OFF), 1, FibsMove(19, None)),
    ],
)
def test_bar_and_off_have_no_number(move: Move, direction: int, expected: FibsMove) -> None:
    assert expected == to_fibs(move, direction)


def test_a_play_is_sent_with_the_bar_first_and_checkers_off_last_from_the_highest() -> None:
    play = Play((Move(3, OFF), Move(6, 4), Move(5, OFF), Move(BAR, 22)))
    expected = (FibsMove(None, 22), FibsMove(6, 4), FibsMove(5, None), FibsMove(3, None))
    assert expected == play_to_fibs(play, -1)
    assert play.ordered == play_from_fibs(play_to_fibs(play, 1), 1).ordered


def test_a_board_is_read_from_its_players_side_on_either_turn() -> None:
    assert Position.start() == player_position(board(turn=Colour.X))


@pytest.mark.parametrize(
    ("mine", "other", "cube", "expected"),
    [
        (True, True, 1, Owner.CENTRED),
        (True, True, 2, Owner.CENTRED),
        (True, False, 2, Owner.PLAYER),
        (False, True, 2, Owner.OPPONENT),
        (False, False, 1, Owner.CENTRED),
        (False, False, 2, None),
    ],
)
def test_the_owner_of_the_cube_may_turn_it(mine: bool, other: bool, cube: int, expected: Owner | None) -> None:  # noqa: FBT001 - parametrized
    assert expected == cube_owner(board(may_double=mine, opponent_may_double=other, cube=cube))


def test_the_crawford_game_is_the_first_that_begins_one_point_from_the_end() -> None:
    assert not is_crawford(5, (3, 3), post_crawford=False)
    assert is_crawford(5, (4, 3), post_crawford=False)
    assert is_crawford(5, (0, 4), post_crawford=False)
    assert not is_crawford(5, (4, 4), post_crawford=True)
    assert not is_crawford(1, (0, 0), post_crawford=False)
    assert not is_crawford(0, (4, 3), post_crawford=False)


def test_match_state_reads_the_board_although_may_double_stays_true_in_the_crawford_game() -> None:
    state = match_state(board(score=4, opponent_score=2), phase=Phase.MOVE)
    assert (5, (4, 2), True, (6, 2), Owner.CENTRED) == (
        state.length, state.score, state.crawford, state.dice, state.owner,
    )  # fmt: skip


def test_a_pending_double_leaves_the_owner_to_the_caller() -> None:
    pending = board(may_double=False, opponent_may_double=False, cube=2, dice=(0, 0))
    assert Owner.OPPONENT == match_state(pending, phase=Phase.DOUBLED).owner
    assert Owner.PLAYER == match_state(pending, owner=Owner.PLAYER).owner


@given(st.one_of(st.just(0), st.integers(1, 99)))
def test_a_length_survives_conversion(length: int) -> None:
    assert length == length_from_fibs(length_to_fibs(length))
    assert UNLIMITED == length_to_fibs(0)
