"""Simple strategies finish games of every ruleset, and choose what they are said to choose."""

from __future__ import annotations

import random

import pytest

from fibsbot.fast_evolve import fast_evolve
from fibsbot.games import GAMES, load_ruleset
from fibsbot.games.sides_text import parse_sides
from fibsbot.match import Phase
from fibsbot.rules.game import choices, name, play, roll, start_match_of
from fibsbot.rules.laws import Level
from fibsbot.rules.sides import Sides, side
from fibsbot.rules.state import GameState, Naming, Resignation, Seat, Stage
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import load
from fibsbot.strategies.questions import first_decisions
from fibsbot.strategies.simple_players import blots
from tests.games.random_games import rolled
from tests.marks import is_long, some_slow
from tests.strategies.answers import accepts, chosen_name, chosen_play, decision

CAUTIOUS = ("pips", "blots")
A_LONG_GAME = 400
"""Turns, after which a game is no longer followed here; all games have been seen to end."""


def advance(game: GameState, strategy: Strategy, rng: random.Random) -> GameState:
    if game.stage is Stage.ROLL:
        assert 0 == strategy.resign(decision(game))
    if (after := rolled(game, rng)) is not None:
        return after
    seat = game.decides
    assert seat is not None
    if game.stage is Stage.NAME:
        return name(game, seat, chosen_name(strategy, game))
    return play(game, seat, chosen_play(strategy, game))


@pytest.mark.parametrize("game", some_slow([*GAMES, "irish:binding"], is_long))
def test_every_answer_is_legal(game: str) -> None:
    rng = random.Random(game)
    strategies = {seat: load(which) for seat, which in zip(Seat, ("pips", "blots"), strict=True)}
    state = start_match_of(load_ruleset(game), 1)
    while state.stage is not Stage.OVER and state.turns < A_LONG_GAME:
        state = advance(state, strategies[state.decides or Seat.A], rng)
    assert state.stage is Stage.OVER or state.turns == A_LONG_GAME


def playing(game: str, board: str, *dice: int) -> GameState:
    rules = load_ruleset(game)
    state = fast_evolve(start_match_of(rules, 0, begins=Seat.A), board=parse_sides(board, rules))
    return roll(state, Seat.A, dice)


def after(state: GameState, strategy: str) -> Sides:
    return play(state, Seat.A, chosen_play(load(strategy), state)).sides_for(Seat.A)


def test_the_pip_counter_hits_and_the_blot_minimiser_makes_a_point() -> None:
    state = playing("portes", "24:2 13:5 8:3 6:5 / 24:2 21:1 13:5 8:3 6:4", 4, 2)
    hitting, safe = after(state, "pips"), after(state, "blots")
    assert 1 == hitting.opponent.row[25]
    assert (2, 2) == (safe.own.row[4], safe.own.row[8])


def test_in_misere_the_pip_counter_does_not_hit() -> None:
    board = "24:2 13:5 8:3 6:5 / 24:2 21:1 13:5 8:3 6:4"
    assert 1 == after(playing("portes", board, 4, 2), "pips").opponent.row[25]
    assert 0 == after(playing("misere", board, 4, 2), "pips").opponent.row[25]


def test_a_play_that_wins_is_preferred() -> None:
    state = playing("plakoto", "24:13 6 3 / 24 6:14", 5, 1)
    for strategy in ("pips", "blots"):
        assert after(state, strategy).opponent.pinned >> 24 & 1


def test_blots_that_nobody_can_reach_do_not_count() -> None:
    rules = load_ruleset("nackgammon")
    assert 0 == blots(rules, parse_sides("3 2 1 / 6:15", rules))
    assert 2 == blots(rules, Sides(side({8: 1, 4: 1, 24: 1, 0: 12}), side({20: 1, 0: 14})))


def test_the_double_with_the_best_play_is_named() -> None:
    state = playing("acey-deucey", "6:2 5:2 / 6:15", 2, 1)
    state = play(state, Seat.A, chosen_play(load("pips"), state))
    assert state.naming is Naming.DOUBLE
    chosen = chosen_name(load("pips"), state)
    assert chosen in choices(state)
    assert chosen in {5, 6}


@pytest.mark.parametrize(("row", "level", "accepted"), [
    ({6: 15}, Level.SINGLE, False),
    ({6: 15}, Level.GAMMON, True),
    ({6: 14, 0: 1}, Level.SINGLE, True),
])  # fmt: skip
def test_a_resignation_is_accepted_unless_a_gammon_can_be_won(
    row: dict[int, int], level: Level, *, accepted: bool
) -> None:
    state = start_match_of(load_ruleset("portes"), 0, begins=Seat.A)
    offer = Resignation(Seat.B, level, int(level))
    state = fast_evolve(state, board=Sides(side({1: 15}), side(row)), resignation=offer)
    assert all(accepted is accepts(load(name), state) for name in CAUTIOUS)


@pytest.mark.parametrize("game", GAMES)
def test_the_first_decisions_of_a_game_end_with_a_choice_between_plays(game: str) -> None:
    rules = load_ruleset(game)
    for named in (game, *(f"{game}:{option.name}" for option in (*rules.options, *rules.common_options))):
        *before, last = first_decisions(load_ruleset(named))
        assert Phase.MOVE is last.phase
        assert last.has_choice
        assert len(last.plays) > 1
        assert not any(state.phase is Phase.MOVE for state in before)
        assert not last.cubeless or not any(state.phase is Phase.ROLL for state in before)
