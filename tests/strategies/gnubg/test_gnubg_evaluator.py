"""gnubg as an evaluator: the units of its values, and no loss of its own decisions."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest
from attrs import evolve
from hypothesis import given

from fibsbot.match import CubeAction, MatchState, Owner, Phase
from fibsbot.position import Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.base import DetailedEvaluator
from fibsbot.strategies.child_process.engine_process import EngineError
from fibsbot.strategies.gnubg import GnubgStrategy
from fibsbot.strategies.heuristic import HeuristicStrategy
from tests.engines import executable
from tests.examples import examples
from tests.formats.gnubg import requires_gnubg
from tests.hypothesis_strategies import match_states

pytestmark = pytest.mark.slow

START: Final = MatchState(Position.start(), length=7, score=(2, 3))


@requires_gnubg
def test_it_is_an_evaluator(gnubg: GnubgStrategy) -> None:
    assert isinstance(gnubg, DetailedEvaluator)


@requires_gnubg
def test_the_opening_favours_the_player_on_roll_a_little(gnubg: GnubgStrategy) -> None:
    for length in (0, 7):
        state = evolve(START, length=length, score=(0, 0))
        assert 0 < gnubg.value(state) < 0.15
        values = gnubg.value_cube(state)
        assert gnubg.value(state) == pytest.approx(values.best, abs=1e-6)
        assert values.double_take < values.no_double < values.double_pass == pytest.approx(1)


@requires_gnubg
def test_match_winning_chances_grow_with_the_points_and_add_up(gnubg: GnubgStrategy) -> None:
    chances = [gnubg.match_chance(START, points) for points in (-4, -2, -1, 1, 2, 3, 4, 5)]
    assert all(less < more for less, more in pairwise(chances))
    assert (0.0, 1.0) == (chances[0], chances[-1])
    other = START.swapped()
    for points in (1, 2, 3):
        assert 1 == pytest.approx(gnubg.match_chance(START, points) + gnubg.match_chance(other, -points), abs=1e-5)
    assert 0.5 == pytest.approx(gnubg.match_chance(evolve(START, score=(6, 5), crawford=True), -1), abs=1e-5)


@requires_gnubg
def test_points_without_a_match_are_refused(gnubg: GnubgStrategy) -> None:
    for state, points in ((START, 0), (evolve(START, length=0), 1)):
        with pytest.raises(ValueError, match="expected points in a match of some length"):
            gnubg.match_chance(state, points)


@requires_gnubg
def test_a_won_game_has_the_value_of_its_points(gnubg: GnubgStrategy) -> None:
    gammon = Position((0, 1, 1, *(0,) * 19, -5, -5, -5, 0, *(0,)))
    moving = MatchState(gammon, phase=Phase.MOVE, dice=(6, 5))
    plays = legal_plays(gammon, (6, 5))
    assert [2.0] == gnubg.value_plays(moving, plays)
    assert [1.0] == gnubg.value_plays(evolve(moving, jacoby=True), plays)
    assert [2.0] == gnubg.value_plays(evolve(moving, jacoby=True, cube=2, owner=Owner.PLAYER), plays)
    ahead = evolve(moving, length=7, score=(6, 3), post_crawford=True)
    assert [1.0] == gnubg.value_plays(ahead, plays)
    behind = evolve(moving, length=7, score=(2, 3))
    (ours,), (theirs,) = gnubg.value_plays(behind, plays), HeuristicStrategy().value_plays(behind, plays)
    assert theirs == pytest.approx(ours, abs=0.1)


@requires_gnubg
@examples(25)
@given(match_states(resignations=False))
def test_its_own_decisions_have_no_loss(gnubg: GnubgStrategy, state: MatchState) -> None:
    if state.phase is Phase.MOVE:
        assert state.dice is not None
        plays = legal_plays(state.position, state.dice)[:6]
        if plays:
            values = gnubg.value_plays(state, plays)
            assert len(plays) == len(values)
    elif state.phase is Phase.ROLL and state.owner is not Owner.OPPONENT and not state.crawford:
        cube = gnubg.value_cube(state)
        chosen = cube.double if gnubg.offer_double(state).action is CubeAction.DOUBLE else cube.no_double
        assert chosen == pytest.approx(cube.best, abs=1e-4)


@requires_gnubg
def test_it_chooses_the_play_with_the_highest_value(gnubg: GnubgStrategy) -> None:
    for dice in ((3, 1), (6, 4), (5, 5), (2, 1)):
        moving = evolve(START, phase=Phase.MOVE, dice=dice)
        plays = legal_plays(moving.position, dice)
        values = gnubg.value_plays(moving, plays)
        assert max(values) == values[plays.index(gnubg.choose_play(moving, plays).play)]


@requires_gnubg
def test_values_have_the_plies(gnubg: GnubgStrategy) -> None:
    moving = evolve(START, phase=Phase.MOVE, dice=(3, 1))
    plays = legal_plays(moving.position, (3, 1))
    compared = gnubg.compare_plays(moving, plays, plays[0])
    assert gnubg.value_plays(moving, plays) == [it.equity for it in compared]
    assert {gnubg.value_cube(START).plies} == {it.plies for it in compared} == {0}


@requires_gnubg
@pytest.mark.parametrize("length", [0, 7])
def test_values_have_the_chances(gnubg: GnubgStrategy, length: int) -> None:
    behind = Position((0, *(0,) * 17, 5, 5, 5, -5, -5, -5, *(0,) * 2))
    state = evolve(START, board=behind, length=length)
    chances = gnubg.value_cube(state).chances
    assert chances is not None
    position = gnubg.value_position(state)
    assert (gnubg.value(state), chances) == (position.equity, position.chances)
    assert chances[0] < 0.1, "the player on roll has the longer race"
    assert 1 == pytest.approx(chances[0] + chances[3])
    for won, gammon, backgammon in (chances[:3], chances[3:]):
        assert won >= gammon >= backgammon
    moving = evolve(state, phase=Phase.MOVE, dice=(2, 1))
    plays = legal_plays(behind, (2, 1))
    for it in gnubg.compare_plays(moving, plays, plays[0]):
        assert it.chances is not None
        assert it.chances[0] < 0.1
    for it in gnubg.compare_plays(evolve(moving, cubeless=True), plays, plays[0]):
        assert it.chances is not None
        assert (it.plies, 0.1 > it.chances[0]) == (0, True)


@requires_gnubg
def test_the_chances_of_a_match_without_a_cube_are_those_of_one_with_a_cube(gnubg: GnubgStrategy) -> None:
    cubeless, cubeful = (gnubg._values.value_cube(evolve(START, cubeless=it)).chances for it in (True, False))
    assert cubeful == pytest.approx(cubeless, abs=1e-3)


@requires_gnubg
def test_a_game_that_is_won_has_the_chances_of_its_result(gnubg: GnubgStrategy) -> None:
    gammon = Position((0, 1, 1, *(0,) * 19, -5, -5, -5, 0, *(0,)))
    plays = legal_plays(gammon, (6, 5))
    (won,) = gnubg.compare_plays(MatchState(gammon, phase=Phase.MOVE, dice=(6, 5)), plays, plays[0])
    assert (1, 1, 0, 0, 0, 0) == won.chances


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("=> what", "expected values as JSON"),
        ("=> [[[1, 2, 3]], []]", "expected 1 rows of 4 numbers"),
        ('=> [[[1, 2, 3, "4"]], []]', "expected 1 rows of 4 numbers"),
        ("=> [[[1, 2, 3, NaN]], []]", "expected 1 rows of 4 numbers"),
        ("=> [[], []]", "expected 1 rows of 4 numbers"),
        ("=> 7", "expected values as JSON"),
        ("hello", "gave no answer in time|said more than"),
    ],
)
def test_invalid_values_are_an_error(tmp_path: Path, answer: str, reason: str) -> None:
    program = executable(tmp_path / "gnubg", f"#!/bin/sh\nread question\necho '{answer}'\nsleep 3600\n")
    deadline = 0.7 if "in time" in reason else 60
    strategy = GnubgStrategy(f"0,deadline={deadline}", program=program)
    with pytest.raises(EngineError, match=reason):
        strategy.value(START)
    strategy.close()
