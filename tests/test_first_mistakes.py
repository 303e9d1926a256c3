"""What a programmer types first, and gets a clear line where it is wrong."""

from __future__ import annotations

import pytest
from attrs import evolve
from click.testing import CliRunner

from fibsbot.cli import main
from fibsbot.engine.engine import Engine
from fibsbot.games import load_ruleset
from fibsbot.match import MatchState, Phase
from fibsbot.policy.policy import is_game
from fibsbot.position import Position
from fibsbot.rules.backgammon import BACKGAMMON, first_board
from fibsbot.rules.errors import DiceError
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS
from fibsbot.rules.plays import legal_plays
from tests.formats.simulated_matches import simulate

START = Position.start()
STATE = MatchState(START, length=7)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.load(tables=False)


def test_plays_are_listed_of_a_position_or_a_state_with_dice_in_any_sequence() -> None:
    plays = legal_plays(START, (3, 1))
    assert plays
    for state in (START, STATE, start_match(FIBS, 7)):
        assert plays == legal_plays(state, [3, 1])


def test_impossible_dice_are_named() -> None:
    for dice in ([3], [3, 7], [1, 2, 3]):
        with pytest.raises(DiceError, match="expected two dice, each 1 to 6, got "):
            legal_plays(START, dice)


def test_rows_of_another_length_than_25_are_no_position() -> None:
    with pytest.raises(ValueError, match=r"expected 25 counts of checkers for each side, .* got 2 and 25"):
        Position.from_sides([1, 2], [0] * 25)


def test_backgammon_is_a_ruleset_like_any_other() -> None:
    assert load_ruleset("backgammon") is BACKGAMMON
    assert Position.start() == start_match(FIBS, 1).position == first_board(BACKGAMMON)


@pytest.mark.parametrize("command", [["duel", "pips", "random"], ["soak"], ["train"]])
@pytest.mark.parametrize("game", ["backgammon", "Backgammon:rethrow"])
def test_where_another_game_is_meant_backgammon_is_refused(command: list[str], game: str) -> None:
    done = CliRunner().invoke(main, [*command, "--game", game])
    assert 2 == done.exit_code
    assert f"expected another game than backgammon, got '{game}'" in done.output
    assert not is_game(game)


def test_a_single_position_is_not_evaluated_as_several(engine: Engine) -> None:
    with pytest.raises(TypeError, match=r"expected several positions, got a single one: evaluate\(\[position\]\)"):
        engine.evaluate(START)  # type: ignore[arg-type] # what a caller without a type checker may pass


def test_the_cube_is_not_analysed_after_the_roll(engine: Engine) -> None:
    with pytest.raises(ValueError, match=r"expected a state before the roll, got one with the dice \(3, 1\)"):
        engine.analyse_cube(evolve(STATE, phase=Phase.MOVE, dice=(3, 1)))


def test_engines_and_matches_are_shown_in_a_line(engine: Engine) -> None:
    assert f"<Engine {engine.name}>" == str(engine) == repr(engine)
    match = simulate(18, 5, names=("alice", "bob"))
    assert str(match).startswith("alice - bob, 5 point match, ")
    assert "alice - bob, unlimited match, 0 games, 0-0" == str(evolve(match, length=0, games=()))
