"""Position and MatchState: views, counts and flaws."""

from __future__ import annotations

import pytest
from hypothesis import given

from fibsbot.match import MatchState
from fibsbot.position import CHECKERS, Flaw, Move, Play, Position
from tests.hypothesis_strategies import match_states, positions


@given(positions(over=True))
def test_swapping_twice_is_no_change(position: Position) -> None:
    assert position == position.swapped().swapped()


@given(positions(over=True))
def test_swapping_exchanges_what_is_counted(position: Position) -> None:
    other = position.swapped()
    assert (position.pips, position.off, position.bar) == (other.opponent_pips, other.opponent_off, other.opponent_bar)
    assert position.contact == other.contact
    assert position.over == other.over


@given(positions(over=True))
def test_both_sides_views_build_the_position_again(position: Position) -> None:
    own = [max(n, 0) for n in position.points[1:]]
    opponent = [max(n, 0) for n in position.swapped().points[1:]]
    assert position == Position.from_sides(own, opponent)
    assert CHECKERS == sum(own) + position.off


def test_lists_make_the_same_positions_and_plays_as_tuples() -> None:
    position, play = Position.start(), Play.of((8, 5), (6, 5))
    assert {position} == {Position(list(position.points)), Position(iter(position.points))}
    assert {play} == {Play(list(play.moves)), Play(iter(play.moves))}


@given(match_states())
def test_swapping_a_match_twice_is_no_change(state: MatchState) -> None:
    assert state == state.swapped().swapped()
    assert state.away == state.swapped().away[::-1]


def test_contact_ends_when_the_last_checkers_have_passed() -> None:
    assert Position.start().contact
    cells = [0] * 26
    cells[6], cells[7] = 2, -2
    assert not Position(tuple(cells)).contact
    cells[8] = 1
    assert Position(tuple(cells)).contact


def test_a_checker_on_the_bar_is_in_contact() -> None:
    cells = [0] * 26
    cells[25], cells[24] = 1, -1
    assert Position(tuple(cells)).contact


@pytest.mark.parametrize(
    ("cells", "flaws"),
    [
        ([0] * 25, Flaw.WRONG_LENGTH),
        ([1, *[0] * 24, -1], Flaw.BAR_SIGN),
        ([0, 16, -1, *[0] * 23], Flaw.TOO_MANY_CHECKERS),
        ([0, 1, -16, *[0] * 23], Flaw.TOO_MANY_OPPONENT_CHECKERS),
        ([0] * 26, Flaw.BOTH_HAVE_WON),
        ([1, 16, -16, *[0] * 23], Flaw.BAR_SIGN | Flaw.TOO_MANY_CHECKERS | Flaw.TOO_MANY_OPPONENT_CHECKERS),
        (Position.start().points, Flaw.VALID),
    ],
)
def test_all_flaws_of_a_position_are_reported(cells: list[int], flaws: Flaw) -> None:
    assert flaws == Position(tuple(cells)).status()


def test_moves_are_written_as_people_write_them() -> None:
    assert ["24/18", "bar/22", "6/off"] == [str(move) for move in (Move(24, 18), Move(25, 22), Move(6, 0))]


def test_points_still_needed_exist_in_matches_only() -> None:
    assert (3, 5) == MatchState(Position.start(), length=7, score=(4, 2)).away
    assert (0, 0) == MatchState(Position.start(), score=(4, 2)).away
