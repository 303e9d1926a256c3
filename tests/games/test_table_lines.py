"""A client that reads a `table:` line has the game that the server has, for every game and option."""

from __future__ import annotations

import attrs
import pytest

from fibs_protocol.grammar import parse, write
from fibs_protocol.messages import TableBoard
from fibs_protocol.table_state import TableCourse, TablePlayer
from fibs_protocol.words import YOU, Colour
from fibsbot.games import UnknownGameError, load_ruleset
from fibsbot.games.state_json import state_to_json
from fibsbot.rules.game import double, resign, start_match_of, take
from fibsbot.rules.laws import Level
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.table_lines import TableLineError, game_from_state, table_state
from tests.games.random_games import states, variants
from tests.marks import is_long, some_slow

LOOKED_AT = 120
"""Number of states of a game that are looked at."""
LOOKED_AT_WITH_AN_OPTION = 40
NOT_SHOWN = ("turns", "result", "reason", "drawn", "laws")
"""What a line does not show."""


def shown(game: GameState, seat: Seat = Seat.A) -> GameState:
    """Return what a client has after the line of a game was sent to it."""
    message = TableBoard(table_state(game, seat, YOU, "bob", Colour.X))
    assert message == parse(write(message))
    return game_from_state(message.state)


def facts(game: GameState) -> dict[str, object]:
    """Return all that a line shows."""
    return {name: value for name, value in state_to_json(game).items() if name not in NOT_SHOWN}


@pytest.mark.parametrize("game", some_slow(variants(), is_long))
def test_a_client_has_the_game_that_the_server_has(game: str) -> None:
    for number, state in enumerate(states(game)[: LOOKED_AT_WITH_AN_OPTION if ":" in game else LOOKED_AT]):
        seen = shown(state)
        if state.stage not in {Stage.OVER, Stage.OPENING}:
            assert (state.rules, state.todo, state.decides) == (seen.rules, seen.todo, seen.decides)
            if number % 5 == 0:
                assert facts(state) == facts(seen)
        if number % 5 == 0:
            other = table_state(state, Seat.B, YOU, "ann", Colour.O)
            assert (other.side.row, other.opponent_side.row) == (
                state.sides_for(Seat.B).own.row,
                state.sides_for(Seat.A).own.row,
            )


def test_offers_and_the_owner_of_the_cube_are_shown() -> None:
    state = attrs.evolve(start_match_of(load_ruleset("nackgammon"), 5), stage=Stage.ROLL)
    doubled = double(state, Seat.A)
    assert facts(doubled) == facts(shown(doubled))
    taken = take(doubled, Seat.B)
    assert Seat.B is shown(taken).owner
    resigned = resign(taken, Seat.A, Level.GAMMON)
    assert resigned.resignation == shown(resigned).resignation


TABLE = table_state(start_match_of(load_ruleset("plakoto"), 5), Seat.A, YOU, "bob", Colour.X)


def test_a_line_of_no_state_of_its_game_is_refused() -> None:
    with pytest.raises(UnknownGameError):
        game_from_state(attrs.evolve(TABLE, game="chess"))
    with pytest.raises(TableLineError, match="expected the course of plakoto, got same"):
        game_from_state(attrs.evolve(TABLE, course=TableCourse.SAME))
    with pytest.raises(TableLineError, match="expected 3 checkers a side in hyper, got 15"):
        game_from_state(attrs.evolve(TABLE, game="hyper"))
    marked = attrs.evolve(TABLE.side, marks=("blessed",))
    with pytest.raises(TableLineError, match="expected facts such as released, got 'blessed'"):
        game_from_state(attrs.evolve(TABLE, side=marked))
    rolled = attrs.evolve(TABLE, turn=TablePlayer.PLAYER, dice=(1, 2, 3))
    with pytest.raises(TableLineError, match="expected 2 dice, got 3"):
        game_from_state(rolled)
