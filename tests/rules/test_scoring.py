"""The score of a game."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given

from fibsbot.position import Play, Position
from fibsbot.rules.backgammon import sides_of
from fibsbot.rules.game import accept_resignation, double, drop, play, resign, roll_opening, start_match, take
from fibsbot.rules.laws import (
    FIBS,
    LAWS_1931,
    LAWS_1970,
    MODERN,
    AutomaticRaise,
    Laws,
    Level,
    point_game_score,
    win_level,
)
from fibsbot.rules.state import GameState, Seat, Stage
from tests.hypothesis_strategies import positions

A, B = Seat.A, Seat.B


def last_move(laws: Laws, theirs: dict[int, int], cube: int = 1, owner: Seat | None = None) -> GameState:
    """Return a game in which A bears off the last checker; `theirs` is in A's numbering, 0 is the opponent's bar."""
    cells = [0, 1, *[0] * 24]
    for point, count in theirs.items():
        cells[point] = -count
    state = start_match(laws, 0)
    return evolve(state, board=Position(tuple(cells)), stage=Stage.MOVE, dice=(2, 1), turn=A, cube=cube, owner=owner)


def points(laws: Laws, theirs: dict[int, int], cube: int = 1, owner: Seat | None = None) -> int:
    """Return the points that A wins."""
    return play(last_move(laws, theirs, cube, owner), A, Play.of((1, 0))).scores[A]


SINGLE = {19: 14}
GAMMON = {19: 10, 13: 5}
BACKGAMMON = {19: 10, 13: 4, 2: 1}
ON_THE_BAR = {19: 14, 0: 1}


@pytest.mark.parametrize("laws", [LAWS_1931, LAWS_1970, FIBS])
@pytest.mark.parametrize(("theirs", "expected"), [(SINGLE, 1), (GAMMON, 2), (BACKGAMMON, 3), (ON_THE_BAR, 3)])
def test_gammon_doubles_the_count_and_backgammon_triples_it(laws: Laws, theirs: dict[int, int], expected: int) -> None:
    assert expected == points(laws, theirs)


def test_gammon_and_backgammon_multiply_the_last_count() -> None:
    """Primer: a gammon with the cube at 4 wins 8."""
    assert (8, 12) == (points(FIBS, GAMMON, 4, B), points(FIBS, BACKGAMMON, 4, B))


def test_three_automatic_doubles_a_double_and_a_gammon_are_32() -> None:
    """Primer: "you might start playing for 1 per point but end up losing 32"."""
    state = start_match(evolve(LAWS_1970, automatic=AutomaticRaise.DOUBLE), 0)
    for _ in range(3):
        state = roll_opening(state, 2, 2)
    state = take(double(evolve(state, stage=Stage.ROLL), A), B)
    assert (32, 0) == accept_resignation(resign(state, B, Level.GAMMON), A).scores


def test_by_agreement_there_is_no_triple_game() -> None:
    """Primer: "many players agree not to play them"."""
    laws = evolve(MODERN, triple=False, jacoby=False)
    assert (2, 2) == (points(laws, BACKGAMMON), points(laws, GAMMON))


def test_jacoby_counts_gammons_only_after_an_accepted_double() -> None:
    assert (1, 1) == (points(MODERN, GAMMON), points(MODERN, BACKGAMMON))
    assert (4, 6) == (points(MODERN, GAMMON, 2, B), points(MODERN, BACKGAMMON, 2, A))


def test_jacoby_does_not_count_an_automatic_double() -> None:
    assert 2 == points(MODERN, GAMMON, cube=2)


def test_jacoby_is_not_played_in_matches() -> None:
    state = evolve(last_move(MODERN, GAMMON), length=5)
    assert 2 == play(state, A, Play.of((1, 0))).scores[A]


def test_jacoby_holds_for_resignations_too() -> None:
    state = accept_resignation(resign(last_move(MODERN, GAMMON), B, Level.GAMMON), A)
    assert 1 == state.scores[A]


@given(positions())
def test_a_game_is_a_single_one_if_the_loser_has_borne_off(position: Position) -> None:
    assert (Level.SINGLE is win_level(position)) == (position.opponent_off > 0)


# -- the Point Game (law 21 of 1931) --------------------------------------------------------------------------------

POINT_GAME = evolve(LAWS_1931, point_game=True)


@pytest.mark.parametrize(
    ("table", "expected"), [(range(19, 25), 1), (range(13, 19), 2), (range(7, 13), 3), (range(1, 7), 4), ((0,), 4)]
)
def test_each_checker_left_counts_by_the_table_it_is_in(table: range | tuple[int], expected: int) -> None:
    for point in table:
        cells = [0] * 26
        cells[point] = -1
        assert expected == point_game_score(sides_of(Position(tuple(cells))).opponent.row)


def test_the_winner_of_the_point_game_scores_for_every_checker_left() -> None:
    assert 2 * 1 + 3 * 2 + 1 * 3 + 1 * 4 == points(POINT_GAME, {24: 2, 14: 3, 9: 1, 2: 1})


def test_in_the_point_game_the_cube_multiplies_too() -> None:
    assert 6 == points(POINT_GAME, {24: 3}, cube=2, owner=A)


def test_resigning_the_point_game_loses_its_current_score() -> None:
    state = evolve(start_match(POINT_GAME, 0), stage=Stage.ROLL)
    opening = 5 * 1 + 3 * 2 + 5 * 3 + 2 * 4
    assert (opening, 0) == drop(double(state, A), B).scores
    assert (0, opening) == accept_resignation(resign(state, A, Level.SINGLE), B).scores
