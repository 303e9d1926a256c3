"""Doubles, redoubles, resignations: what all sides are told, and what is refused when."""

from __future__ import annotations

import pytest
from fibs_protocol.board import BoardState

from fibsbot.rules.game import Seat, Stage
from fibsbot.server.users import User
from tests.server.simulated_world import ListedDice, Room, boards, no_boards, set_state, two_players


def doubled(length: int | str = 3, redoubles: str = "none") -> tuple[Room, User, User]:
    """Return a room where bob has just doubled."""
    room = Room(ListedDice((6, 4)))
    alice, bob = room.enter("alice"), room.enter("bob")
    for user in (alice, bob):
        room.say(user, "toggle automove")
        room.say(user, f"set redoubles {redoubles}")
    room.start(alice, bob, length)
    room.say(alice, "move 12-16 17-23")
    room.say(bob, "double")
    return room, alice, bob


def test_a_double_is_offered_accepted_and_rolled_for() -> None:
    room, alice, bob = doubled()
    assert ["You double. Please wait for alice to accept or reject."] == room.told(bob)
    assert ["bob doubles. Type 'accept' or 'reject'."] == room.told(alice)
    assert ["You accept the double. The cube shows 2.", "bob rolls 3 and 1."] == no_boards(room.say(alice, "accept"))
    assert ["alice accepts the double. The cube shows 2.", "You roll 3 and 1.", "Please move 2 pieces."] == no_boards(
        room.told(bob)
    )


def test_a_refused_double_ends_the_game_at_the_old_value() -> None:
    room, alice, bob = doubled()
    assert "You give up. bob wins 1 point." == room.say(alice, "reject")[0]
    assert "alice gives up. You win 1 point." == room.told(bob)[0]


def test_while_a_double_waits_the_board_says_so_in_the_servers_own_way() -> None:
    room, alice, bob = doubled()
    mine, theirs = (BoardState.from_line(boards(room.say(user, "board"))[0]) for user in (alice, bob))
    assert mine.turn == mine.colour, "the turn is the answering player's"
    assert (False, False) == (mine.may_double, mine.opponent_may_double)
    assert (True, False) == (mine.was_doubled, theirs.was_doubled)


def test_may_double_stays_on_in_the_crawford_game_and_the_double_is_refused() -> None:
    room, alice, bob = two_players((6, 4))
    table = alice.table
    assert table is not None
    set_state(table, scores=(2, 0), crawford=True, turn=Seat.B, stage=Stage.ROLL, dice=None)
    board = BoardState.from_line(boards(room.say(bob, "board"))[0])
    assert (True, True, 0) == (board.may_double, board.opponent_may_double, board.post_crawford)
    assert ["** The Crawford rule doesn't allow you to double in this game."] == room.say(bob, "double")


def test_in_the_crawford_game_nobody_is_asked() -> None:
    room, alice, bob = two_players((6, 4), (2, 1), length=2)
    room.say(bob, "resign n")
    room.say(alice, "accept")
    room.say(alice, "join")
    room.say(bob, "join")
    room.say(alice, "move 24-23 13-11")
    assert ["You roll 3 and 1.", "Please move 2 pieces."] == no_boards(room.told(bob))[1:]


def test_the_crawford_rule_is_off_only_if_neither_player_wants_it() -> None:
    room = Room(ListedDice((6, 4)))
    alice, bob = room.enter("alice"), room.enter("bob")
    for user in (alice, bob):
        room.say(user, "toggle crawford")
    table = room.start(alice, bob)
    assert not table.state.laws.crawford
    assert 3 == table.board(Seat.A, "You", "bob").forced_move


def test_the_post_crawford_flag_is_field_51() -> None:
    room, alice, _ = two_players((6, 4))
    table = alice.table
    assert table is not None
    set_state(table, post_crawford=True)
    assert "1" == boards(room.say(alice, "board"))[0].split(":")[51]


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
    room, alice, _ = two_players((6, 4))
    assert alice.table is not None
    set_state(alice.table, **prepare)
    assert [refusal] == room.say(alice, command)


def test_while_a_double_waits_only_the_answer_is_taken() -> None:
    room, alice, bob = doubled()
    assert ["** It's not your turn to double"] == room.say(bob, "double")
    assert ["** alice hasn't responded to your double yet."] == room.say(bob, "roll")
    assert ["** alice hasn't responded to your double yet."] == room.say(bob, "resign n")
    assert ["** alice didn't double or resign."] == room.say(bob, "accept")
    assert ["** It's not your turn to roll the dice."] == room.say(alice, "roll")
    assert ["** It's not your turn to move."] == room.say(alice, "move 1-2")
    assert ["** It's not your turn."] == room.say(alice, "resign n")


# -- instant redoubles ----------------------------------------------------------------------------------------------


def test_redoubles_go_back_and_forth_up_to_the_limit() -> None:
    room, alice, bob = doubled("unlimited", "2")
    assert ["You double. Please wait for alice to accept, reject or redouble."] == room.told(bob)
    assert ["bob doubles. Type 'accept', 'reject' or 'redouble'."] == room.told(alice)
    assert [
        "You accept the double to 2 and redouble.",
        "Please wait for bob to accept, reject or redouble.",
    ] == room.say(alice, "beaver")
    assert ["alice redoubles to 4. Type 'accept', 'reject' or 'redouble'."] == room.told(bob)
    assert ["You accept the double to 4 and redouble.", "Please wait for alice to accept or reject."] == room.say(
        bob, "raccoon"
    )
    assert ["bob redoubles to 8. Type 'accept' or 'reject'."] == room.told(alice)
    assert ["** You are not allowed to redouble."] == room.say(alice, "redouble")
    assert ["You accept the redouble. The cube shows 8.", "bob rolls 3 and 1."] == no_boards(room.say(alice, "accept"))
    assert "alice accepts the redouble. The cube shows 8." == room.told(bob)[0]


def test_who_refuses_a_redouble_loses_what_was_accepted() -> None:
    room, alice, bob = doubled("unlimited", "unlimited")
    room.say(alice, "redouble")
    assert "You give up. alice wins 2 points." == room.say(bob, "reject")[0]


def test_the_animals_fit_only_their_own_redouble() -> None:
    room, alice, bob = doubled("unlimited", "unlimited")
    wrong = "** This redouble is not {}. Please type '{}' or 'redouble'."
    assert [wrong.format("a raccoon", "beaver")] == room.say(alice, "raccoon")
    assert [wrong.format("an otter", "beaver")] == room.say(alice, "otter")
    room.say(alice, "beaver")
    assert [wrong.format("a beaver", "raccoon")] == room.say(bob, "beaver")
    room.say(bob, "raccoon")
    room.say(alice, "otter")
    assert ["** This redouble is not a beaver. Please type 'redouble'."] == [
        line.rstrip(".") + "." for line in room.say(bob, "beaver")
    ]


def test_redoubles_are_refused_outside_of_a_double() -> None:
    room, alice, bob = two_players((6, 4), length="unlimited")
    assert ["** You are not allowed to redouble."] == room.say(alice, "beaver")
    assert bob.table is alice.table


def test_the_board_tells_how_many_redoubles_the_match_allows() -> None:
    room, alice, _ = doubled("unlimited", "5")
    assert "5" == boards(room.say(alice, "board"))[0].split(":")[52]


# -- resignations ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("level", "points"), [("n", "1 point"), ("gammon", "2 points"), ("b", "3 points")])
def test_a_resignation_offers_its_points(level: str, points: str) -> None:
    room, alice, bob = two_players((6, 4))
    assert [f"You want to resign. alice will win {points}."] == room.say(bob, f"resign {level}")
    assert [f"bob wants to resign. You will win {points}. Type 'accept' or 'reject'."] == room.told(alice)
    assert f"You accept and win {points}." == room.say(alice, "accept")[0]
    assert f"alice accepts and wins {points}." == room.told(bob)[0]


def test_a_rejected_resignation_lets_the_game_go_on_without_a_board() -> None:
    room, alice, bob = two_players((6, 4))
    room.say(bob, "resign n")
    assert ["You reject. The game continues."] == room.say(alice, "reject")
    assert ["alice rejects. The game continues."] == room.told(bob)


def test_while_a_resignation_waits_only_the_answer_is_taken() -> None:
    room, alice, bob = two_players((6, 4))
    room.say(bob, "resign n")
    for command in ("roll", "move 1-2 3-4", "off", "double", "redouble", "resign g"):
        assert ["** bob wanted to resign. Type 'accept' or 'reject'."] == room.say(alice, command)
    for command in ("roll", "move 1-2", "accept", "reject"):
        assert ["** alice hasn't accepted or rejected your resign yet."] == room.say(bob, command)
    assert ["** You already did that."] == room.say(bob, "resign n")
