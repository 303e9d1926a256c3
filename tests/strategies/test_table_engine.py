"""The strategy `engine` answers sensibly about plays, the cube and resignations, by a network or as in backgammon."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from fibsbot.evolve import evolve
from fibsbot.games import load_ruleset
from fibsbot.games.text import parse_table
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game import choices, name, play, roll, roll_contest, roll_opening, start_at, start_match_of
from fibsbot.rules.laws import Level
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import GameState, Resignation, Seat, Stage
from fibsbot.strategies.base import PlayAnswer
from fibsbot.strategies.heuristic.strategy import HeuristicStrategy
from fibsbot.strategies.questions import InvalidAnswerError, TableQuestion, TablesOnlyStrategy
from fibsbot.strategies.table_games import PipStrategy, TableStrategy
from fibsbot.strategies.table_loader import UnknownTableStrategyError, load_table_strategy

pytestmark = pytest.mark.compiles_games

AHEAD = "1:2 / 6:15"
EVEN = "24:2 23:2 13:4 8:3 6:4 / 24:2 23:2 13:4 8:3 6:4"
CUBES = ("nackgammon", "portes:tavla:cube")
"""Games with a cube: one is played as backgammon, the other one by its network."""
DECISIONS = 40


@pytest.fixture(scope="module")
def engine() -> TableStrategy:
    return load_table_strategy("engine")


def at(game: str, board: str) -> GameState:
    rules = load_ruleset(game)
    return start_at(rules, parse_table(board, rules))


def doubled(state: GameState) -> GameState:
    return evolve(state, stage=Stage.DOUBLED, answering=Seat.B, offered=2)


@pytest.mark.parametrize("game", ["acey-deucey", "gioul", "irish:binding", "narde", "russian1", "tabula"])
def test_every_answer_is_legal(engine: TableStrategy, game: str) -> None:
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
            assert engine.resign(state) is None
            state = roll(state, seat, tuple(rng.randint(1, 6) for _ in range(state.rules.dice)))
        elif state.stage is Stage.NAME:
            assert engine.choose_name(state) in choices(state)
            state = name(state, seat, engine.choose_name(state))
        else:
            state = play(state, seat, engine.choose_play(state))


@pytest.mark.parametrize("game", CUBES)
def test_a_play_that_wins_is_made(engine: TableStrategy, game: str) -> None:
    state = roll(at(game, "2 1 / 6:14"), Seat.A, (2, 1))
    assert play(state, Seat.A, Play.of((2, 0), (1, 0))) == play(state, Seat.A, engine.choose_play(state))


@pytest.mark.parametrize("game", CUBES)
def test_an_even_game_is_neither_doubled_nor_passed(engine: TableStrategy, game: str) -> None:
    assert not engine.offer_double(at(game, EVEN))
    assert engine.answer_double(doubled(at(game, EVEN)))


@pytest.mark.parametrize("game", CUBES)
def test_a_lost_game_is_passed_and_a_gammon_played_for(engine: TableStrategy, game: str) -> None:
    lost = at(game, AHEAD)
    assert not engine.answer_double(doubled(lost))
    assert not engine.offer_double(lost)


@pytest.mark.parametrize("game", CUBES)
def test_nobody_doubles_who_has_enough_to_win_the_match(engine: TableStrategy, game: str) -> None:
    state = at(game, "6:3 5:3 4:3 / 6:3 5:3 4:3 3:3")
    assert engine.offer_double(state)
    assert not engine.offer_double(evolve(state, length=3, scores=(2, 0)))


@pytest.mark.parametrize("game", CUBES)
def test_a_resignation_has_to_be_worth_the_game(engine: TableStrategy, game: str) -> None:
    state = at(game, AHEAD)
    single, gammon = (Resignation(Seat.B, level, int(level)) for level in (Level.SINGLE, Level.GAMMON))
    assert not engine.accept_resignation(evolve(state, resignation=single))
    assert engine.accept_resignation(evolve(state, resignation=gammon))


def test_a_lost_game_is_resigned_as_in_backgammon(engine: TableStrategy) -> None:
    assert engine.resign(at("nackgammon", "13:15 / 1:2")) is Level.GAMMON
    assert engine.resign(at("nackgammon", EVEN)) is None


def test_no_play_is_the_empty_play(engine: TableStrategy) -> None:
    blocked = roll(at("nackgammon", "25 6:14 / 6:2 5:2 4:2 3:2 2:2 1:2 24:3"), Seat.A, (6, 6))
    assert Play() == engine.choose_play(blocked)


def test_nothing_is_named_in_backgammon(engine: TableStrategy) -> None:
    with pytest.raises(RuleError, match="there is nothing to name in Nackgammon"):
        engine.choose_name(at("nackgammon", EVEN))


def test_the_options_of_the_engine_follow_a_colon() -> None:
    assert "engine:0" == load_table_strategy("engine:0").name
    with pytest.raises(UnknownTableStrategyError, match="expected plies from 0 to"):
        load_table_strategy("engine:x")


def test_a_strategy_for_backgammon_is_asked_about_games_by_its_rules_itself() -> None:
    asked: list[MatchState] = []

    class Asked(HeuristicStrategy):
        def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
            asked.append(state)
            return PlayAnswer(plays[-1])

    answers = [TableQuestion(roll(at(game, EVEN), Seat.A, (3, 1))).put_to(Asked()) for game in CUBES]
    (state,) = asked
    assert answers[0] == PlayAnswer(legal_plays(state.position, (3, 1))[-1])


class Resigning(PipStrategy):
    """Resigns by a number."""

    def resign(self, game: GameState) -> Level | None:  # noqa: ARG002 - the interface
        """Return no level."""
        return 1  # type: ignore[return-value]  # nonsense


def test_a_number_is_no_level_to_resign() -> None:
    question = TableQuestion(at(CUBES[0], EVEN), resign_to=3)
    with pytest.raises(InvalidAnswerError, match="expected a level to resign or None, got 1"):
        question.put_to(TablesOnlyStrategy(Resigning()))
