"""Walking through a transcript yields every entry, and raises for an illegal one."""

from __future__ import annotations

import pytest
from attrs import evolve

from fibsbot.match import CubeAction, Phase
from fibsbot.position import Play
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.state import Ending, Seat, Stage
from fibsbot.transcript import Cube, Game, Gap, Resign, Throw, TranscriptError, decisions, walk

OPENING = Throw(seat=Seat.B, dice=(3, 1), play=Play.of((8, 5), (6, 5)))
START = start_match(FIBS, 3)


def test_a_double_a_take_and_a_resignation() -> None:
    game = Game(
        1,
        START,
        (
            OPENING,
            Cube(seat=Seat.A, action=CubeAction.DOUBLE),
            Cube(seat=Seat.B, action=CubeAction.TAKE),
            Throw(seat=Seat.A, dice=(6, 5), play=Play.of((24, 18), (18, 13))),
            Resign(seat=Seat.B, level=Level.SINGLE, accepted=False),
            Throw(seat=Seat.B, dice=(6, 6)),
            Resign(seat=Seat.B, level=Level.GAMMON, accepted=True),
        ),
    )
    steps = list(walk(game))
    assert [1, 2, 2, 2, 3, 3, 3] == [step.turn for step in steps]
    assert Stage.OVER is steps[-1].after.stage
    result = steps[-1].after.result
    assert result is not None
    assert (Seat.A, 4, Ending.RESIGNED) == (result.winner, result.points, result.how)
    made = [decision for step in steps for decision in decisions(step)]
    expected = ["8/5 6/5", "double", "take", "24/13", "resign 1", "reject", "roll", "accept"]
    assert expected == [decision.text for decision in made if decision.text != "resign 2"]
    phases = [Phase.MOVE, Phase.ROLL, Phase.DOUBLED, Phase.MOVE]
    assert phases == [decision.state.phase for decision in made][:4]


def test_an_illegal_entry_is_an_error_with_its_place() -> None:
    wrong = Throw(seat=Seat.A, dice=(6, 5), play=Play.of((24, 18), (8, 3)))
    steps = walk(Game(2, START, (OPENING, evolve(wrong, play=Play.of((24, 20), (8, 3))))))
    assert OPENING == next(steps).entry
    with pytest.raises(TranscriptError, match="game 2, turn 2: "):
        next(steps)


def test_a_game_first_seen_with_dice_on_the_board_allows_no_other_roll() -> None:
    begun = evolve(START, stage=Stage.MOVE, turn=Seat.A, dice=(6, 5))
    rolled = Throw(seat=Seat.A, dice=(5, 6), play=Play.of((24, 18), (18, 13)))
    assert [rolled] == [step.entry for step in walk(Game(1, begun, (rolled,)))]
    with pytest.raises(TranscriptError, match=r"expected the dice \(6, 5\), which lie on the board, got \(4, 3\)"):
        list(walk(Game(1, begun, (evolve(rolled, dice=(4, 3)),))))


def test_after_a_gap_the_game_continues_in_its_state() -> None:
    later = evolve(START, stage=Stage.ROLL, turn=Seat.A, turns=7)
    game = Game(1, START, (OPENING, Gap(reason="3 turns are missing", then=later)))
    assert later == list(walk(game))[-1].after
    assert not game.whole
    assert Game(1, START, (OPENING,)).whole


def test_the_opening_roll_keeps_its_order_and_its_winner() -> None:
    (step,) = walk(Game(1, START, (evolve(OPENING, dice=(1, 3)),)))
    assert Seat.A is step.after.turn
    (decision,) = decisions(step)
    assert (1, 3) == decision.state.dice
