"""The strategy `engine` answers sensibly about plays, the cube and resignations, by a network or as in backgammon."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from fibsbot.fast_evolve import fast_evolve
from fibsbot.games import load_ruleset
from fibsbot.games.sides_text import parse_sides
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.rules.game import choices, name, play, roll, roll_contest, roll_opening, start_at, start_match_of
from fibsbot.rules.laws import Level
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import GameState, Resignation, Seat, Stage
from fibsbot.strategies.base import PlayAnswer, Strategy
from fibsbot.strategies.heuristic.strategy import HeuristicStrategy
from fibsbot.strategies.loader import load
from fibsbot.strategies.questions import question_of
from tests.strategies.answers import accepts, chosen_name, chosen_play, decision, doubles, takes

pytestmark = pytest.mark.compiles_games

AHEAD = "1:2 / 6:15"
EVEN = "24:2 23:2 13:4 8:3 6:4 / 24:2 23:2 13:4 8:3 6:4"
CUBES = ("nackgammon", "portes:tavla:cube")
"""Games with a cube: one is played as backgammon, the other one by its network."""
DECISIONS = 40


@pytest.fixture(scope="module")
def engine() -> Strategy:
    return load("engine")


def at(game: str, board: str) -> GameState:
    rules = load_ruleset(game)
    return start_at(rules, parse_sides(board, rules))


def doubled(state: GameState) -> GameState:
    return fast_evolve(state, stage=Stage.DOUBLED, answering=Seat.B, offered=2)


@pytest.mark.parametrize("game", ["acey-deucey", "gioul", "irish:binding", "narde", "russian1", "tabula"])
def test_every_answer_is_legal(engine: Strategy, game: str) -> None:
    rng = random.Random(game)
    state = start_match_of(load_ruleset(game), 0)
    for _ in range(DECISIONS):
        seat = state.decides
        if state.stage is Stage.OPENING:
            state = roll_opening(state, rng.randint(1, 6), rng.randint(1, 6))
        elif state.stage is Stage.CONTEST:
            state = roll_contest(state, rng.randint(2, 12), rng.randint(2, 12))
        elif seat is None:
            break
        elif state.stage is Stage.ROLL:
            assert 0 == engine.resign(decision(state))
            state = roll(state, seat, tuple(rng.randint(1, 6) for _ in range(state.rules.dice)))
        elif state.stage is Stage.NAME:
            assert chosen_name(engine, state) in choices(state)
            state = name(state, seat, chosen_name(engine, state))
        else:
            state = play(state, seat, chosen_play(engine, state))


@pytest.mark.parametrize("game", CUBES)
def test_a_play_that_wins_is_made(engine: Strategy, game: str) -> None:
    state = roll(at(game, "2 1 / 6:14"), Seat.A, (2, 1))
    assert play(state, Seat.A, Play.of((2, 0), (1, 0))) == play(state, Seat.A, chosen_play(engine, state))


@pytest.mark.parametrize("game", CUBES)
def test_an_even_game_is_neither_doubled_nor_passed(engine: Strategy, game: str) -> None:
    assert not doubles(engine, at(game, EVEN))
    assert takes(engine, doubled(at(game, EVEN)))


@pytest.mark.parametrize("game", CUBES)
def test_a_lost_game_is_passed_and_a_gammon_played_for(engine: Strategy, game: str) -> None:
    lost = at(game, AHEAD)
    assert not takes(engine, doubled(lost))
    assert not doubles(engine, lost)


@pytest.mark.parametrize("game", CUBES)
def test_nobody_doubles_who_has_enough_to_win_the_match(engine: Strategy, game: str) -> None:
    state = at(game, "6:3 5:3 4:3 / 6:3 5:3 4:3 3:3")
    assert doubles(engine, state)
    assert not doubles(engine, fast_evolve(state, length=3, scores=(2, 0)))


@pytest.mark.parametrize("game", CUBES)
def test_a_resignation_has_to_be_worth_the_game(engine: Strategy, game: str) -> None:
    state = at(game, AHEAD)
    single, gammon = (Resignation(Seat.B, level, int(level)) for level in (Level.SINGLE, Level.GAMMON))
    assert not accepts(engine, fast_evolve(state, resignation=single))
    assert accepts(engine, fast_evolve(state, resignation=gammon))


def test_a_lost_game_is_resigned_as_in_backgammon(engine: Strategy) -> None:
    assert Level.GAMMON == engine.resign(decision(at("nackgammon", "13:15 / 1:2")))
    assert 0 == engine.resign(decision(at("nackgammon", EVEN)))


def test_no_play_is_the_empty_play(engine: Strategy) -> None:
    blocked = roll(at("nackgammon", "25 6:14 / 6:2 5:2 4:2 3:2 2:2 1:2 24:3"), Seat.A, (6, 6))
    assert Play() == chosen_play(engine, blocked)


def test_a_strategy_for_backgammon_is_asked_about_games_by_its_rules_itself() -> None:
    asked: list[MatchState] = []

    class Asked(HeuristicStrategy):
        def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
            asked.append(state)
            return PlayAnswer(plays[-1])

    answers = [question_of(decision(roll(at(game, EVEN), Seat.A, (3, 1)))).put_to(Asked()) for game in CUBES]
    (state,) = asked
    assert answers[0] == PlayAnswer(legal_plays(state.position, (3, 1))[-1])
