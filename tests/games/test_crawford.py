"""The Crawford game of matches that are played with a cube: when it is, what a saved game and a line say of it."""

from __future__ import annotations

import json
from itertools import pairwise, product
from typing import Final

import attrs
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibs_protocol.words import YOU, Colour
from fibsbot.drawing.board_text import draw_game
from fibsbot.drawing.svg import game_svg
from fibsbot.games import GAMES, load_ruleset
from fibsbot.games.sides_text import parse_sides
from fibsbot.games.state_json import state_from_json, state_to_json
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.rules.errors import CubeRefusal
from fibsbot.rules.game import (
    accept_resignation,
    double,
    drop,
    next_game,
    play,
    resign,
    roll,
    start_match,
    start_match_of,
    take,
)
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.permissions import match_winner, refusal_to_double
from fibsbot.rules.ruleset import Part
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.table_lines import game_from_state, table_state

CUBE_GAMES: Final = ("nackgammon", "longgammon", "hyper", "misere")
NACKGAMMON: Final = load_ruleset("nackgammon")


def refusals(state: GameState) -> set[CubeRefusal | None]:
    """Return why the players may not double."""
    return {refusal_to_double(state, seat) for seat in Seat}


def flags(state: GameState) -> tuple[bool, bool]:
    """Return whether this is the Crawford game, and whether it has been played."""
    return state.crawford, state.post_crawford


def ended(state: GameState, winner: Seat, level: Level = Level.SINGLE) -> GameState:
    """Return the game after it was resigned."""
    return accept_resignation(resign(evolve(state, stage=Stage.ROLL), winner.other, level), winner)


def without_rule(state: GameState) -> GameState:
    """Return a game of a match between two players who have left the Crawford game out."""
    return evolve(state, crawford=False, post_crawford=False, laws=evolve(state.laws, crawford=False))


def test_each_game_with_a_cube_has_a_crawford_game_and_no_other() -> None:
    assert set(CUBE_GAMES) == {game for game in GAMES if start_match_of(load_ruleset(game), 3, (2, 0)).crawford}
    with_option = {f"{game}:cube" for game in GAMES if game not in CUBE_GAMES}
    assert all(start_match_of(load_ruleset(game), 3, (2, 0)).crawford for game in with_option)


@pytest.mark.parametrize("game", [*CUBE_GAMES, "plakoto:cube", "portes:cube"])
def test_nobody_doubles_in_the_first_game_at_a_point_from_winning_and_then_the_cube_is_back(game: str) -> None:
    state = start_match_of(load_ruleset(game), 3)
    assert {None} == refusals(state)
    first = next_game(evolve(ended(state, Seat.A), scores=(2, 0)))
    assert {CubeRefusal.CRAWFORD} == refusals(first)
    second = next_game(ended(first, Seat.B))
    assert ((2, 1), (False, True), {None}) == (second.scores, flags(second), refusals(second))
    third = next_game(ended(second, Seat.B))
    assert ((2, 2), (False, True)) == (third.scores, flags(third))


@pytest.mark.parametrize("length", range(6))
def test_the_score_says_whether_it_is_the_crawford_game_as_in_backgammon(length: int) -> None:
    for a, b in product(range(length or 6), repeat=2):
        assert flags(start_match(FIBS, length, (a, b))) == flags(start_match_of(NACKGAMMON, length, (a, b)))


def test_a_crawford_game_that_nobody_wins_has_been_played() -> None:
    rules = load_ruleset("greek:cube")
    trapped = parse_sides("24 2:14 pinned=24 / 24 1:14", rules)
    moving = evolve(start_match_of(rules, 3, (2, 0)), stage=Stage.MOVE, board=trapped, dice=(2, 1), todo=(Part((1,)),))
    drawn = play(moving, Seat.A, Play.of((2, 1)))
    assert (True, (2, 0)) == (drawn.drawn, drawn.scores)
    assert (False, True) == flags(next_game(drawn))


def test_no_roll_raises_the_stake_in_the_crawford_game() -> None:
    rules = load_ruleset("acey-deucey:stakes:cube")
    cubes = [roll(start_match_of(rules, 3, scores, begins=Seat.A), Seat.A, (2, 1)).cube for scores in ((1, 0), (2, 0))]
    assert [2, 1] == cubes


def test_players_who_have_left_it_out_have_none_in_the_whole_match() -> None:
    state = next_game(evolve(ended(without_rule(start_match_of(NACKGAMMON, 3)), Seat.B), scores=(0, 2)))
    assert ((False, False), {None}) == (flags(state), refusals(state))


def test_strategies_for_backgammon_see_it() -> None:
    states = [start_match_of(NACKGAMMON, 3, (2, 0), begins=Seat.B)]
    states.append(evolve(next_game(ended(states[0], Seat.B)), stage=Stage.ROLL, turn=Seat.B))
    asked = [MatchState.of(state, state.turn) for state in states]
    assert [(True, False, False), (False, True, True)] == [
        (it.crawford, it.post_crawford, it.may_double) for it in asked if it is not None
    ]


def test_people_see_it_in_drawings() -> None:
    crawford, after = start_match_of(NACKGAMMON, 3, (2, 0)), start_match_of(NACKGAMMON, 3, (2, 2))
    names = ("marvin", "ford")
    assert "Cube: 1 (Crawford game)" in "\n".join(draw_game(crawford, Seat.A, names))
    assert "Crawford" not in "\n".join(draw_game(after, Seat.A, names))
    assert [True, False] == [">Crawford<" in game_svg(it, Seat.A, names=names) for it in (crawford, after)]


# -- saved games ----------------------------------------------------------------------------------------------------


def saved(state: GameState) -> GameState:
    """Return a game that was saved and read."""
    return state_from_json(json.loads(json.dumps(state_to_json(state))))


def test_a_saved_game_knows_whether_it_is_the_crawford_game() -> None:
    crawford = start_match_of(NACKGAMMON, 3, (2, 0))
    after = next_game(ended(crawford, Seat.B))
    for state in (start_match_of(NACKGAMMON, 3), crawford, ended(crawford, Seat.B), after, without_rule(crawford)):
        assert state == saved(state)


# -- lines ----------------------------------------------------------------------------------------------------------


def seen(state: GameState, seat: Seat) -> GameState:
    """Return the game that a client has of its line."""
    return game_from_state(table_state(state, seat, YOU, "bob", Colour.X))


def test_the_line_of_the_crawford_game_differs_in_who_may_double_alone() -> None:
    crawford = start_match_of(NACKGAMMON, 3, (2, 0), begins=Seat.B)
    plain, line = (table_state(it, Seat.A, YOU, "bob", Colour.X) for it in (without_rule(crawford), crawford))
    assert attrs.evolve(plain, may_double=False, opponent_may_double=False) == line


def test_a_line_of_a_game_without_a_cube_shows_no_crawford_game() -> None:
    assert (False, False) == flags(seen(start_match_of(load_ruleset("portes"), 3, (2, 0), begins=Seat.A), Seat.A))


@st.composite
def matches(draw: st.DrawFn) -> list[GameState]:
    """The states of a match, each game with a double that is offered, taken or refused where it may be offered."""
    game = draw(st.sampled_from([*CUBE_GAMES, "plakoto:cube", "portes:cube"]))
    state = start_match_of(load_ruleset(game), draw(st.integers(1, 7)))
    if state.length > 1 and draw(st.booleans()):
        state = without_rule(state)
    found = []
    while match_winner(state) is None:
        state = evolve(next_game(state) if state.stage is Stage.OVER else state, stage=Stage.ROLL)
        state = evolve(state, turn=draw(st.sampled_from(Seat)))
        found.append(state)
        if refusal_to_double(state, state.turn) is None and draw(st.booleans()):
            state = double(state, state.turn)
            found.append(state)
            state = drop(state, state.turn.other) if draw(st.booleans()) else take(state, state.turn.other)
        if state.stage is not Stage.OVER:
            found.append(state)
            state = ended(state, draw(st.sampled_from(Seat)), draw(st.sampled_from(Level)))
    return found


@given(matches())
def test_both_players_see_the_crawford_game_in_every_line_of_it_and_in_no_other(states: list[GameState]) -> None:
    for state in states:
        for seat in Seat:
            shown = seen(state, seat)
            assert state.crawford is shown.crawford
            if state.laws.crawford:
                assert state.post_crawford is shown.post_crawford
        assert state == saved(state)


@given(matches())
def test_a_match_has_at_most_one_crawford_game_the_first_at_a_point_from_its_end(states: list[GameState]) -> None:
    games = [states[0], *(now for last, now in pairwise(states) if last.scores != now.scores)]
    at_the_end = [it for it in games if it.length > 1 and it.length - 1 in it.scores and it.laws.crawford]
    assert at_the_end[:1] == [it for it in games if it.crawford]
    assert all(it.cube == 1 and it.stage is not Stage.DOUBLED for it in states if it.crawford)
