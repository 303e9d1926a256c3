"""The course of a game as seen by players, opponents and watchers (specification: "Game Play")."""

from __future__ import annotations

import pytest

from fibs_protocol.board import BoardState
from fibsbot.position import Position
from fibsbot.rules.state import Seat, Stage
from fibsbot.server.users import User
from fibsbot.server.world import Quirks
from tests.server.simulated_world import ListedDice, Simulation, boards, no_boards, set_state, two_players

BEAR_OFF = Position((0, -2, 0, 0, 0, 0, 2, *[0] * 18, 0))
"""Both sides have two checkers left: the player on roll on the 6 point, the opponent on the own 24 point."""


def test_a_match_begins_with_the_opening_roll_and_no_request_to_move() -> None:
    simulation, alice, bob = two_players((4, 4), (6, 2))
    board = "0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:-1:{}:1:1:1:0:{}:0:0:0:0:{}:0:0:0"
    assert [
        "** Player bob has joined you for a 3 point match.",
        "Starting a new game with bob.",
        "You rolled 4, bob rolled 4",
        "You rolled 6, bob rolled 2",
        "It's your turn to move.",
        "board:You:bob:3:0:0:" + board.format("6:2:0:0", "-1:1:25:0", 2),
    ] == simulation.received(alice)
    assert [
        "** You are now playing a 3 point match with alice",
        "Starting a new game with alice.",
        "You rolled 4, alice rolled 4",
        "You rolled 2, alice rolled 6",
        "alice makes the first move.",
        "board:You:alice:3:0:0:" + board.format("0:0:6:2", "1:-1:0:25", 0),
    ] == simulation.received(bob)


def test_equal_opening_dice_double_the_cube_if_both_want_it() -> None:
    simulation = Simulation(ListedDice((5, 5), (2, 2), (1, 6)))
    alice, bob = simulation.log_in("alice"), simulation.log_in("bob")
    for user in (alice, bob):
        simulation.say(user, "toggle autodouble")
    match = simulation.start(alice, bob)
    assert 4 == match.state.cube
    assert [
        "You rolled 5, bob rolled 5",
        "The number on the doubling cube is now 2",
        "You rolled 2, bob rolled 2",
        "The number on the doubling cube is now 4",
        "You rolled 1, bob rolled 6",
        "bob makes the first move.",
    ] == no_boards(simulation.received(alice))[2:]


def test_equal_opening_dice_change_nothing_if_one_player_does_not_want_it() -> None:
    simulation = Simulation(ListedDice((5, 5), (1, 6)))
    alice, bob = simulation.log_in("alice"), simulation.log_in("bob")
    simulation.say(alice, "toggle autodouble")
    assert 1 == simulation.start(alice, bob).state.cube


def test_a_move_sends_a_board_to_both_and_a_prompt_to_the_next_player() -> None:
    simulation, alice, bob = two_players((6, 4))
    received = simulation.say(alice, "move 12-16 17-23")
    assert 1 == len(received)
    assert received == boards(received)
    assert ["alice moves 12-16 17-23 .", "It's your turn. Please roll or double"] == no_boards(simulation.received(bob))
    assert 1 == len(boards(simulation.received(bob)))


def test_a_roll_sends_a_board_and_asks_for_the_move() -> None:
    simulation, alice, bob = two_players((6, 4), (5, 5))
    simulation.say(alice, "move 12-16 17-23")
    received = simulation.say(bob, "roll")
    assert ["You roll 5 and 5.", "Please move 4 pieces."] == no_boards(received)
    assert ["alice rolls 5 and 5."] != simulation.received(alice)
    assert ["bob rolls 5 and 5."] == no_boards(simulation.received(alice))
    assert "5:5:0:0" in boards(received)[0]
    assert "0:0:5:5" in boards(simulation.received(alice))[0]


def test_moreboards_off_means_no_board_after_rolls_and_autoboard_off_none_after_moves() -> None:
    simulation, alice, bob = two_players((6, 4), (5, 5))
    simulation.say(bob, "toggle moreboards")
    simulation.say(bob, "toggle autoboard")
    simulation.say(alice, "move 12-16 17-23")
    assert not boards(simulation.received(bob))
    assert not boards(simulation.say(bob, "roll"))


def test_users_who_read_drawings_get_no_board_after_rolls() -> None:
    simulation, alice, bob = two_players((6, 4), (5, 5))
    simulation.say(bob, "set boardstyle 1")
    simulation.say(alice, "move 12-16 17-23")
    drawing = simulation.received(bob)
    assert any("+13-14-15-16-17-18-------19-20-21-22-23-24-+ X: alice - score: 0" in line for line in drawing)
    assert any("O: bob - score: 0" in line for line in drawing)
    assert ["You roll 5 and 5.", "Please move 4 pieces."] == simulation.say(bob, "roll")


def test_a_player_who_cannot_move_loses_the_turn_without_a_board() -> None:
    simulation, alice, bob = two_players((6, 4), (6, 6))
    closed = Position.from_sides([2, 2, 2, 2, 2, 2, *[0] * 17, 3, 0], [0, 0, 0, 0, 0, 4, 0, 10, *[0] * 16, 1])
    match = alice.match
    assert match is not None
    set_state(match, board=closed.swapped(), turn=Seat.B, stage=Stage.ROLL, dice=None)
    received = simulation.say(bob, "roll")
    assert ["You roll 6 and 6.", "You can't move."] == no_boards(received)
    assert 1 == len(boards(received))
    assert ["bob rolls 6 and 6.", "bob can't move.", "It's your turn. Please roll or double"] == no_boards(
        simulation.received(alice)
    )
    assert 1 == len(boards(simulation.received(alice)))


def test_the_server_rolls_for_a_player_who_cannot_double() -> None:
    simulation, alice, bob = two_players((6, 4), (5, 2))
    simulation.say(bob, "toggle double")
    simulation.say(alice, "move 12-16 17-23")
    assert ["alice moves 12-16 17-23 .", "You roll 5 and 2.", "Please move 2 pieces."] == no_boards(
        simulation.received(bob)
    )


def test_automove_makes_forced_plays() -> None:
    simulation, alice, bob = two_players((6, 4), (6, 5))
    simulation.say(bob, "toggle automove")
    only = Position((0, *[0] * 5, -2, *[0] * 16, -2, 1, 0))
    match = alice.match
    assert match is not None
    set_state(match, board=only, turn=Seat.B, stage=Stage.ROLL, dice=None)
    assert ["You roll 6 and 5.", "The only possible move is 24-19 19-13 ."] == no_boards(simulation.say(bob, "roll"))
    assert [
        "bob rolls 6 and 5.",
        "The only possible move is 24-19 19-13 .",
        "It's your turn. Please roll or double",
    ] == (no_boards(simulation.received(alice)))


def bearing_off() -> tuple[Simulation, User, User]:
    """Return a match in which bob is to roll, and rolls 6-5, with four checkers on his 5- and 6-point."""
    simulation, alice, bob = two_players((6, 4), (6, 5))
    home = Position((0, *[0] * 4, 2, 2, *[0] * 17, -2, 0))
    assert alice.match is not None
    set_state(alice.match, board=home, turn=Seat.B, stage=Stage.ROLL, dice=None)
    return simulation, alice, bob


def test_greedy_bears_off_with_every_number() -> None:
    simulation, alice, bob = bearing_off()
    simulation.say(bob, "toggle greedy")
    assert ["You roll 6 and 5.", "Bearing off: 6 o 5 o"] == no_boards(simulation.say(bob, "roll"))
    assert ["Bearing off: 6 o 5 o", "bob moves 6-off 5-off ."] == no_boards(simulation.received(alice))[1:3]


def test_off_bears_off_on_request() -> None:
    simulation, _, bob = bearing_off()
    simulation.say(bob, "roll")
    assert ["Bearing off: 6 o 5 o"] == no_boards(simulation.say(bob, "off"))


@pytest.mark.parametrize("length", [1, 3])
def test_bearing_the_last_checkers_off_wins(length: int) -> None:
    simulation, alice, bob = two_players((6, 4), (6, 6), length=length)
    match = alice.match
    assert match is not None
    set_state(match, board=BEAR_OFF, turn=Seat.B, stage=Stage.MOVE, dice=(6, 6))
    received = simulation.say(bob, "move 6-off 6-off")
    if length == 1:
        assert ["You win the game and get 1 point. Congratulations!", "You win the 1 point match 1-0 ."] == received
        assert [
            "bob moves 6-off 6-off .",
            "bob wins the game and gets 1 point. Sorry.",
            "bob wins the 1 point match 1-0 .",
        ] == simulation.received(alice)
        assert bob.match is None
    else:
        assert [
            "You win the game and get 1 point. Congratulations!",
            "score in 3 point match: bob-1 alice-0",
            "Type 'join' if you want to play the next game, type 'leave' if you don't.",
        ] == received


def test_both_have_to_join_the_next_game_and_then_the_colours_are_swapped() -> None:
    simulation, alice, bob = two_players((6, 4), (5, 1))
    match = alice.match
    assert match is not None
    before = match.colours
    simulation.say(bob, "resign n")
    simulation.say(alice, "accept")
    assert ["** Please wait for bob to join too."] == simulation.say(alice, "join")
    assert ["** Please wait for bob to join too."] == simulation.say(alice, "join")
    assert "Starting a new game with alice." == simulation.say(bob, "join bob")[0]
    assert before[::-1] == match.colours


def test_every_game_resets_three_toggles() -> None:
    simulation, alice, bob = two_players((6, 4), (5, 1))
    for toggle in ("double", "greedy", "moves"):
        simulation.say(alice, f"toggle {toggle}")
    simulation.say(bob, "resign n")
    simulation.say(alice, "accept")
    simulation.say(alice, "join")
    simulation.say(bob, "join")
    received = simulation.say(alice, "toggle")
    assert {"double          YES", "greedy          NO", "moves           NO"} <= set(received)


@pytest.mark.parametrize("glued", [False, True])
def test_the_list_of_moves_comes_between_result_and_score(*, glued: bool) -> None:
    simulation, alice, bob = two_players((6, 4), (5, 1), quirks=Quirks(glue_moves=glued))
    simulation.say(alice, "move 12-16 17-23")
    simulation.say(alice, "toggle moves")
    simulation.say(bob, "double")
    simulation.say(alice, "reject")
    head = ["You give up. bob wins 1 point.", "Score is 0-1 in a 3 point match."]
    assert [
        *(["".join(head)] if glued else head),
        "alice is X - bob is O",
        "",
        "X: (6 4) 12-16 17-23",
        "O: doubles",
        "X: rejects",
        "O: wins",
        "score in 3 point match: alice-0 bob-1",
        "Type 'join' if you want to play the next game, type 'leave' if you don't.",
    ] == simulation.received(alice)


def test_the_rating_calculation_comes_before_the_end_of_the_match() -> None:
    simulation = Simulation(ListedDice((6, 4)))
    myself = simulation.log_in("myself", rating=1655.634835, experience=2761)
    someplayer = simulation.log_in("someplayer", rating=1500.0, experience=187)
    simulation.start(myself, someplayer)
    simulation.say(myself, "toggle ratings")
    set_state(simulation.world.users["myself"].match, scores=(2, 0))  # type: ignore[arg-type] # they are playing
    simulation.say(someplayer, "resign n")
    assert [
        "You accept and win 1 point.",
        "rating calculation:",
        "rating difference D=155.634835",
        "match length      N=3",
        "Experience: myself 2761 - someplayer 187",
        "Probability that underdog wins: Pu=1/(10^(D*sqrt(N)/2000)+1)=0.423029",
        "P=0.423029 is 1-Pu if underdog wins and Pu if favorite wins",
        "K=max(1 , -Experience/100+5) for myself: 1.000000",
        "change for myself: 4*K*sqrt(N)*P=2.930831",
        "K=max(1 , -Experience/100+5) for someplayer: 3.130000",
        "change for someplayer: -4*K*sqrt(N)*P=-9.173502",
        "You win the 3 point match 3-0 .",
    ] == simulation.say(myself, "accept")
    assert (1658.565666, 2764) == (round(myself.account.rating, 6), myself.account.experience)
    saved = simulation.store.account("someplayer")
    assert saved is not None
    assert (1490.826498, 190) == (round(saved.rating, 6), saved.experience)


def test_unlimited_matches_are_not_rated() -> None:
    simulation, alice, bob = two_players((6, 4), length="unlimited")
    simulation.say(bob, "resign b")
    assert "You accept and win 3 points." == simulation.say(alice, "accept")[0]
    assert "score in unlimited match: alice-3 bob-0" == simulation.received(alice)[1]
    assert 0 == alice.account.experience


def test_the_cells_of_a_board_are_those_of_the_specification_for_both_colours() -> None:
    simulation, alice, bob = two_players((6, 2))
    states = [BoardState.from_line(boards(simulation.say(user, "board"))[0]) for user in (alice, bob)]
    assert states[0].points == states[1].points
    assert [-1, 1] == [state.colour for state in states]
    assert [1, -1] == [state.direction for state in states]
