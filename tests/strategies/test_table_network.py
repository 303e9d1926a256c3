"""The strategy with trained networks answers sensibly about plays, the cube and resignations."""

from __future__ import annotations

import random

import pytest

from fibsbot.evolve import evolve
from fibsbot.games import load_ruleset
from fibsbot.games.game import TableGame, choices, name, play, roll, roll_contest, roll_opening, start_at, start_match
from fibsbot.games.text import parse_table
from fibsbot.position import Play
from fibsbot.rules.laws import Level
from fibsbot.rules.state import Resignation, Seat, Stage
from fibsbot.strategies.table_games import TableStrategy, load_table_strategy

AHEAD = "1:2 / 6:15"
EVEN = "24:2 23:2 13:4 8:3 6:4 / 24:2 23:2 13:4 8:3 6:4"
DECISIONS = 60


@pytest.fixture(scope="module")
def engine() -> TableStrategy:
    return load_table_strategy("engine")


def at(game: str, board: str) -> TableGame:
    rules = load_ruleset(game)
    return start_at(rules, parse_table(board, rules))


@pytest.mark.parametrize("game", ["acey-deucey", "gioul", "irish:binding", "narde", "russian1", "tabula"])
def test_every_answer_is_legal(engine: TableStrategy, game: str) -> None:
    rng = random.Random(game)
    state = start_match(load_ruleset(game), 0)
    for _ in range(DECISIONS):
        seat = state.decides
        if state.stage is Stage.OPENING:
            state = roll_opening(state, rng.randint(1, 6), rng.randint(1, 6))
        elif state.stage is Stage.CONTEST:
            state = roll_contest(state, rng.randint(2, 12), rng.randint(2, 12))
        elif seat is None:
            break
        elif state.stage is Stage.ROLL:
            assert engine.resign(state) is None
            state = roll(state, seat, tuple(rng.randint(1, 6) for _ in range(state.rules.dice)))
        elif state.stage is Stage.NAME:
            assert engine.choose_name(state) in choices(state)
            state = name(state, seat, engine.choose_name(state))
        else:
            state = play(state, seat, engine.choose_play(state))


def test_a_play_that_wins_is_made(engine: TableStrategy) -> None:
    won = play(roll(at("nackgammon", "2 1 / 6:14"), Seat.A, (2, 1)), Seat.A, Play.of((2, 0), (1, 0)))
    state = roll(at("nackgammon", "2 1 / 6:14"), Seat.A, (2, 1))
    assert won == play(state, Seat.A, engine.choose_play(state))


def test_an_even_game_is_neither_doubled_nor_passed(engine: TableStrategy) -> None:
    assert not engine.offer_double(at("nackgammon", EVEN))
    assert engine.answer_double(at("nackgammon", EVEN))


def test_a_lost_game_is_passed_and_a_gammon_played_for(engine: TableStrategy) -> None:
    lost = at("nackgammon", AHEAD)
    assert not engine.answer_double(lost)
    assert not engine.offer_double(lost)


def test_nobody_doubles_who_has_enough_to_win_the_match(engine: TableStrategy) -> None:
    game = at("nackgammon", "6:3 5:3 4:3 / 6:3 5:3 4:3 3:3")
    assert engine.offer_double(game)
    assert not engine.offer_double(evolve(game, length=3, scores=(2, 0)))


def test_a_resignation_has_to_be_worth_the_game(engine: TableStrategy) -> None:
    game = at("nackgammon", AHEAD)
    single, gammon = (Resignation(Seat.B, level, int(level)) for level in (Level.SINGLE, Level.GAMMON))
    assert not engine.accept_resignation(evolve(game, resignation=single))
    assert engine.accept_resignation(evolve(game, resignation=gammon))
