"""The Crawford game of a match of another game in a replay: named where a line shows it, doubles in it are found."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest
from attrs import evolve

from fibs_protocol import messages as m
from fibsbot.games import load_ruleset
from fibsbot.replay.event_text import MoveList
from fibsbot.replay.events import GameBegan, MatchEvent
from fibsbot.replay.terminal import board_frames
from fibsbot.replay.writers import JsonRows
from fibsbot.rules.errors import CubeRefusal
from fibsbot.rules.game import next_game, roll, roll_opening, start_match_of
from fibsbot.rules.state import GameState, Seat, Stage
from tests.games.test_crawford import without_rule
from tests.replay.test_table_matches import Line, differences, replay, session, shown, step

DOUBLES = m.OpponentDoubles("ford")


def second_game(change: Callable[[GameState], GameState] = lambda state: state) -> tuple[list[Line], GameState]:
    """Return the lines of a match up to the moment at which ford may double or roll, a point from somebody's end.

    `change` is made to the first state of the second game.
    """
    points = max(session("hyper", length=30)[1].scores)
    lines, state = session("hyper", length=points + 1)
    state = roll_opening(change(next_game(state)), 5, 3)
    lines[-1:] = [m.GameStarts("ford"), m.OpeningRoll("You", 5, "ford", 3), shown(state)]
    state, move = step(state, random.Random(1))
    return [*lines, move, shown(state)], state


def games(events: list[MatchEvent]) -> list[tuple[int, bool]]:
    """Return the numbers of the games, and which is the Crawford game."""
    return [(event.game.number, event.game.start.crawford) for event in events if isinstance(event, GameBegan)]


def test_the_crawford_game_is_named_in_the_list_and_in_objects() -> None:
    events = list(replay(second_game()[0][:-2]))
    assert ([], [(1, False), (2, True)]) == (differences(events), games(events))
    moves = MoveList()
    text = [line for event in events if not isinstance(event, m.Message) for line in moves.lines_for(event)]
    assert ["  Game 1", "  Game 2, Crawford game"] == [line for line in text if line.startswith("  Game")]
    frames = [line for frame in board_frames(events) for line in frame.lines if line.startswith("  Game")]
    assert ["  Game 1", "  Game 2, Crawford game"] == frames
    rows = [row for event in events for row in JsonRows("log").rows_for(event, ("marvin", "ford"))]
    begun = [json.loads(json.dumps(row)) for row in rows if row["kind"] == "game"]
    assert [False, True] == [row["crawford"] for row in begun]


def test_a_double_in_the_crawford_game_is_a_difference() -> None:
    lines, _ = second_game()
    assert [("double", CubeRefusal.CRAWFORD.value, "doubles")] == differences(replay([*lines, DOUBLES]))[-1:]
    assert [] == differences(replay(lines))


def test_a_match_without_the_rule_has_no_crawford_game_and_its_doubles_are_right() -> None:
    lines, _ = second_game(without_rule)
    events = list(replay([*lines, DOUBLES]))
    assert ([], [(1, False), (2, False)]) == (differences(events), games(events))


def test_without_a_line_that_shows_it_a_game_is_not_taken_for_the_crawford_game() -> None:
    lines, _ = second_game(without_rule)
    at = max(number for number, line in enumerate(lines) if isinstance(line, m.GameStarts))
    drawn = [*lines[:at], *(line for line in lines[at:] if not isinstance(line, m.TableBoard))]
    events = list(replay([*drawn, DOUBLES]))
    assert ([], [(1, False), (2, False)]) == (differences(events), games(events))


def test_the_game_after_it_may_be_doubled() -> None:
    lines, state = second_game()
    over = evolve(state, stage=Stage.OVER, turn=Seat.B, dice=None)
    following = evolve(next_game(over), stage=Stage.ROLL, turn=Seat.B)
    events = list(replay([*lines, m.GaveUp("You", "ford", 1), m.GameStarts("ford"), shown(following), DOUBLES]))
    assert ([], [(1, False), (2, True), (3, False)]) == (differences(events), games(events))


@pytest.mark.parametrize("stop", [1, 2])
def test_a_crawford_game_whose_first_line_is_missing_is_not_named(stop: int) -> None:
    lines, _ = second_game()
    at = max(number for number, line in enumerate(lines) if isinstance(line, m.GameStarts))
    assert [(1, False)] == games(list(replay(lines[: at + stop])))


def test_a_line_between_two_rolls_of_a_turn_does_not_make_it_the_crawford_game_for_good() -> None:
    rules = load_ruleset("acey-deucey:cube")
    state = evolve(roll(start_match_of(rules, 3, (2, 0), begins=Seat.A), Seat.A, (6, 5)), crawford=False)
    between = evolve(state, stage=Stage.ROLL, dice=None, todo=(), throws=1, post_crawford=True)
    after = evolve(between, throws=0, turn=Seat.B, board=between.sides.swapped())
    lines: list[Line] = [m.Welcome("marvin", 1, "-"), m.YouResumed("ford"), *map(shown, (state, between, after))]
    events = list(replay([*lines, DOUBLES]))
    assert "double" not in [what for what, _, _ in differences(events)]
    assert [(1, False)] == games(events)
    assert [(1, False)] == games(list(replay([*lines[:2], shown(between), m.Rolls("You", (3, 1))])))
