"""Which tables games are backgammon from another set-up, and what backgammon makes of them."""

from __future__ import annotations

import random

import pytest

from fibsbot.games import GAMES, load_ruleset
from fibsbot.match import MatchState
from fibsbot.position import Play, Position
from fibsbot.rules.backgammon import is_another_set_up, is_backgammon, position_of
from fibsbot.rules.game import play, roll, roll_opening, start_match_of
from fibsbot.rules.general_plays import resulting_boards
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import GameState, Stage

BACKGAMMON = ["nackgammon", "portes", "longgammon"]


def test_nackgammon_longgammon_and_portes_are_backgammon() -> None:
    assert BACKGAMMON == [game for game in GAMES if is_backgammon(load_ruleset(game))]
    assert not is_backgammon(load_ruleset("portes:tavla"))
    assert is_backgammon(load_ruleset("portes:cube:both"))


def test_portes_has_more_of_its_own_than_its_set_up() -> None:
    assert ["nackgammon", "longgammon"] == [game for game in GAMES if is_another_set_up(load_ruleset(game))]
    assert not any(is_another_set_up(load_ruleset(f"nackgammon:{it}")) for it in ("rethrow", "winner-begins"))


def test_the_set_up_of_portes_is_that_of_backgammon() -> None:
    assert Position.start() == position_of(load_ruleset("portes").start())


@pytest.mark.parametrize("game", BACKGAMMON)
def test_backgammon_finds_the_same_plays_and_ends(game: str) -> None:
    rng = random.Random(game)
    state = start_match_of(load_ruleset(game), 5)
    while state.stage is not Stage.OVER:
        dice = rng.randint(1, 6), rng.randint(1, 6)
        if state.stage is Stage.MOVE:
            state = _played(state, rng)
        else:
            state = roll_opening(state, *dice) if state.stage is Stage.OPENING else roll(state, state.turn, dice)
        assert state.position == position_of(state.sides)


def _played(state: GameState, rng: random.Random) -> GameState:
    seen = MatchState.of(state, state.turn)
    assert seen is not None
    plays = legal_plays(seen.position, seen.dice or (0, 0))
    found = {position_of(it) for it in resulting_boards(state.rules, state.sides, state.part)}
    assert found == {seen.position.play(it) for it in plays if it}
    return play(state, state.turn, rng.choice(plays) if plays else Play())
