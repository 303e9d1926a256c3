"""Doubles, redoubles, resignations: the messages to all sides, and when each command is refused."""

from __future__ import annotations

import pytest

from fibs_protocol.board import BoardState
from fibsbot.rules.state import Seat, Stage
from fibsbot.server.users import User
from tests.server.simulated_world import ListedDice, Simulation, boards, no_boards, set_state, two_players


def doubled(length: int | str = 3, redoubles: str = "none") -> tuple[Simulation, User, User]:
    """Return a simulation where bob has just doubled."""
    simulation = Simulation(ListedDice((6, 4)))
    alice, bob = simulation.log_in("alice"), simulation.log_in("bob")
    for user in (alice, bob):
        simulation.say(user, f"set redoubles {redoubles}")
    simulation.start(alice, bob, length)
    simulation.say(alice, "move 12-16 17-23")
    simulation.say(bob, "double")
    return simulation, alice, bob


def test_a_double_is_offered_accepted_and_rolled_for() -> None:
    simulation, alice, bob = doubled()
    assert ["You double. Please wait for alice to accept or reject."] == simulation.received(bob)
    assert ["bob doubles. Type 'accept' or 'reject'."] == simulation.received(alice)
    assert ["You accept the double. The cube shows 2.", "bob rolls 3 and 1."] == no_boards(
        simulation.say(alice, "accept")
    )
    assert ["alice accepts the double. The cube shows 2.", "You roll 3 and 1.", "Please move 2 pieces."] == no_boards(
        simulation.received(bob)
    )


def test_a_refused_double_ends_the_game_at_the_old_value() -> None:
    simulation, alice, bob = doubled()
    assert "You give up. bob wins 1 point." == simulation.say(alice, "reject")[0]
    assert "alice gives up. You win 1 point." == simulation.received(bob)[0]


def test_a_pending_double_shows_on_the_board_as_on_fibs() -> None:
    simulation, alice, bob = doubled()
    mine, theirs = (BoardState.from_line(boards(simulation.say(user, "board"))[0]) for user in (alice, bob))
    assert mine.turn == mine.colour, "the turn is the answering player's"
    assert (False, False) == (mine.may_double, mine.opponent_may_double)
    assert (True, False) == (mine.was_doubled, theirs.was_doubled)


def test_may_double_stays_on_in_the_crawford_game_and_the_double_is_refused() -> None:
    simulation, alice, bob = two_players((6, 4))
    match = alice.match
    assert match is not None
    set_state(match, scores=(2, 0), crawford=True, turn=Seat.B, stage=Stage.ROLL, dice=None)
    board = BoardState.from_line(boards(simulation.say(bob, "board"))[0])
    assert (True, True, 0) == (board.may_double, board.opponent_may_double, board.post_crawford)
    assert ["** The Crawford rule doesn't allow you to double in this game."] == simulation.say(bob, "double")


def test_in_the_crawford_game_the_server_rolls_without_asking() -> None:
    simulation, alice, bob = two_players((6, 4), (2, 1), length=2)
    simulation.say(bob, "resign n")
    simulation.say(alice, "accept")
    simulation.say(alice, "join")
    simulation.say(bob, "join")
    simulation.say(alice, "move 24-23 13-11")
    assert ["You roll 3 and 1.", "Please move 2 pieces."] == no_boards(simulation.received(bob))[1:]


def test_the_crawford_rule_is_off_only_if_neither_player_wants_it() -> None:
    simulation = Simulation(ListedDice((6, 4)))
    alice, bob = simulation.log_in("alice"), simulation.log_in("bob")
    for user in (alice, bob):
        simulation.say(user, "toggle crawford")
    match = simulation.start(alice, bob)
    assert not match.state.laws.crawford
    assert "3" == boards(simulation.say(alice, "board"))[0].split(":")[50]


def test_the_post_crawford_flag_is_field_51() -> None:
    simulation, alice, _ = two_players((6, 4))
    match = alice.match
    assert match is not None
    set_state(match, post_crawford=True)
    assert "1" == boards(simulation.say(alice, "board"))[0].split(":")[51]


@pytest.mark.parametrize(
    ("prepare", "command", "refusal"),
    [
        ({}, "double", "** You can only double before you roll the dice."),
        ({"stage": Stage.ROLL, "dice": None, "turn": Seat.B}, "double", "** Please wait until bob has moved."),
        ({"stage": Stage.ROLL, "dice": None, "owner": Seat.B, "cube": 2}, "double", "** It's not your turn to double"),
        ({}, "accept", "** bob didn't double or resign."),
        ({}, "reject", "** bob didn't double or resign."),
        ({}, "redouble", "** Instant redoubles are only available for unlimited matches."),
        ({}, "resign x", "** Type 'n' (normal), 'g' (gammon) or 'b' (backgammon) after resign."),
        ({}, "resign", "** Type 'n' (normal), 'g' (gammon) or 'b' (backgammon) after resign."),
    ],
)
def test_cube_commands_are_refused_in_the_servers_words(prepare: dict[str, object], command: str, refusal: str) -> None:
    simulation, alice, _ = two_players((6, 4))
    assert alice.match is not None
    set_state(alice.match, **prepare)
    assert [refusal] == simulation.say(alice, command)


def test_while_a_double_is_pending_only_an_answer_is_accepted() -> None:
    simulation, alice, bob = doubled()
    assert ["** It's not your turn to double"] == simulation.say(bob, "double")
    assert ["** alice hasn't responded to your double yet."] == simulation.say(bob, "roll")
    assert ["** alice hasn't responded to your double yet."] == simulation.say(bob, "resign n")
    assert ["** alice didn't double or resign."] == simulation.say(bob, "accept")
    assert ["** It's not your turn to roll the dice."] == simulation.say(alice, "roll")
    assert ["** It's not your turn to move."] == simulation.say(alice, "move 1-2")
    assert ["** It's not your turn."] == simulation.say(alice, "resign n")


# -- instant redoubles ----------------------------------------------------------------------------------------------


def test_redoubles_go_back_and_forth_up_to_the_limit() -> None:
    simulation, alice, bob = doubled("unlimited", "2")
    assert ["You double. Please wait for alice to accept, reject or redouble."] == simulation.received(bob)
    assert ["bob doubles. Type 'accept', 'reject' or 'redouble'."] == simulation.received(alice)
    assert [
        "You accept the double to 2 and redouble.",
        "Please wait for bob to accept, reject or redouble.",
    ] == simulation.say(alice, "beaver")
    assert ["alice redoubles to 4. Type 'accept', 'reject' or 'redouble'."] == simulation.received(bob)
    assert ["You accept the double to 4 and redouble.", "Please wait for alice to accept or reject."] == simulation.say(
        bob, "raccoon"
    )
    assert ["bob redoubles to 8. Type 'accept' or 'reject'."] == simulation.received(alice)
    assert ["** You are not allowed to redouble."] == simulation.say(alice, "redouble")
    assert ["You accept the redouble. The cube shows 8.", "bob rolls 3 and 1."] == no_boards(
        simulation.say(alice, "accept")
    )
    assert "alice accepts the redouble. The cube shows 8." == simulation.received(bob)[0]


def test_refusing_a_redouble_loses_the_accepted_value() -> None:
    simulation, alice, bob = doubled("unlimited", "unlimited")
    simulation.say(alice, "redouble")
    assert "You give up. alice wins 2 points." == simulation.say(bob, "reject")[0]


def test_beaver_raccoon_and_otter_are_accepted_only_in_their_order() -> None:
    simulation, alice, bob = doubled("unlimited", "unlimited")
    wrong = "** This redouble is not {}. Please type '{}' or 'redouble'."
    assert [wrong.format("a raccoon", "beaver")] == simulation.say(alice, "raccoon")
    assert [wrong.format("an otter", "beaver")] == simulation.say(alice, "otter")
    simulation.say(alice, "beaver")
    assert [wrong.format("a beaver", "raccoon")] == simulation.say(bob, "beaver")
    simulation.say(bob, "raccoon")
    simulation.say(alice, "otter")
    assert ["** This redouble is not a beaver. Please type 'redouble'."] == [
        line.rstrip(".") + "." for line in simulation.say(bob, "beaver")
    ]


def test_redoubles_are_refused_outside_of_a_double() -> None:
    simulation, alice, bob = two_players((6, 4), length="unlimited")
    assert ["** You are not allowed to redouble."] == simulation.say(alice, "beaver")
    assert bob.match is alice.match


def test_the_board_shows_how_many_redoubles_the_match_allows() -> None:
    simulation, alice, _ = doubled("unlimited", "5")
    assert "5" == boards(simulation.say(alice, "board"))[0].split(":")[52]


# -- resignations ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("level", "points"), [("n", "1 point"), ("gammon", "2 points"), ("b", "3 points")])
def test_a_resignation_offers_its_points(level: str, points: str) -> None:
    simulation, alice, bob = two_players((6, 4))
    assert [f"You want to resign. alice will win {points}."] == simulation.say(bob, f"resign {level}")
    assert [f"bob wants to resign. You will win {points}. Type 'accept' or 'reject'."] == simulation.received(alice)
    assert f"You accept and win {points}." == simulation.say(alice, "accept")[0]
    assert f"alice accepts and wins {points}." == simulation.received(bob)[0]


def test_a_rejected_resignation_lets_the_game_go_on_without_a_board() -> None:
    simulation, alice, bob = two_players((6, 4))
    simulation.say(bob, "resign n")
    assert ["You reject. The game continues."] == simulation.say(alice, "reject")
    assert ["alice rejects. The game continues."] == simulation.received(bob)


def test_while_a_resignation_is_pending_only_an_answer_is_accepted() -> None:
    simulation, alice, bob = two_players((6, 4))
    simulation.say(bob, "resign n")
    for command in ("roll", "move 1-2 3-4", "off", "double", "redouble", "resign g"):
        assert ["** bob wanted to resign. Type 'accept' or 'reject'."] == simulation.say(alice, command)
    for command in ("roll", "move 1-2", "accept", "reject"):
        assert ["** alice hasn't accepted or rejected your resign yet."] == simulation.say(bob, command)
    assert ["** You already did that."] == simulation.say(bob, "resign n")
