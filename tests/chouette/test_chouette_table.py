"""A chouette on the server: seats, games, members' answers, the ledger."""

from __future__ import annotations

import pytest

from fibs_protocol import messages as m
from fibsbot.chouette.flow import DECISION_TIME
from fibsbot.chouette.table import all_tables
from fibsbot.rules.state import Seat
from fibsbot.server.users import ClientMode, User
from tests.chouette.chouette_simulation import CASTS, NAMES, Chouette, box_has_moved, doubled_by_the_box
from tests.server.simulated_world import ListedDice, Simulation, boards


@pytest.fixture
def chouette() -> Chouette:
    """Return a table of four after the box's first move, with the team to roll: bob is captain."""
    return box_has_moved()


def test_the_players_cast_for_the_order_and_box_and_captain_begin() -> None:
    game = Chouette((3, 1))
    assert game.news("dave") == [
        "cast for the order: alice 6, bob 5, carol 4, dave 3.",
        "alice's table, game 1: alice in the box against bob (captain), carol, dave.",
    ]
    lines = game.heard("alice")
    assert "Player bob has joined you for an unlimited match." in lines
    assert ["Starting a new game with bob.", "You rolled 3, bob rolled 1", "It's your turn to move."] == lines[-4:-1]
    assert "** You are now playing an unlimited match with alice" in game.heard("bob")
    assert boards(game.heard("dave"))[0].startswith("board:bob:alice:")


def test_ties_are_cast_again_among_the_tied() -> None:
    simulation = Simulation(ListedDice((2, 5), (5, 5), (1, 6), (4, 4), (2, 1)))
    users = [simulation.log_in(name) for name in NAMES]
    simulation.say(users[0], "chouette open")
    for user in users[1:]:
        simulation.say(user, "chouette join alice")
    simulation.say(users[0], "chouette start")
    casts = [line for line in simulation.received(users[1]) if "cast for" in line]
    assert casts == [
        "chouette: cast for the order: alice 2, bob 5, carol 5, dave 5.",
        "chouette: cast for the order: bob 1, carol 6, dave 4.",
    ]
    (table,) = all_tables(simulation.world)
    assert table.state is not None
    assert ("carol", "dave", "bob", "alice") == table.state.order


def test_all_at_the_table_see_the_board_in_their_own_style() -> None:
    game = Chouette((3, 1))
    game.say("carol", "set boardstyle 1")
    game.say("alice", "move 17-20 19-20")
    assert "alice moves 17-20 19-20 ." in game.heard("dave")
    assert boards(game.heard("dave"))
    assert not boards(game.heard("carol"))
    assert any("+13-14-15-16-17-18" in line for line in game.heard("carol"))
    assert boards(game.say("dave", "board"))
    assert ["Pipcounts: bob 167   alice 163"] == game.say("dave", "pip")


def test_only_the_captain_acts_for_the_team(chouette: Chouette) -> None:
    for command in ("roll", "double", "resign n", "move 8-5 6-5", "off"):
        assert ["** chouette: bob is the captain and acts for the team"] == chouette.say("carol", command)
    assert "bob rolls 3 and 1." in (chouette.say("bob", "roll"), chouette.heard("carol"))[1]


def test_the_box_answers_the_double_of_the_team_once_for_all(chouette: Chouette) -> None:
    assert ["You double. Please wait for alice to accept or reject."] == chouette.say("bob", "double")
    assert "bob doubles." in chouette.heard("dave")
    chouette.say("alice", "reject")
    assert "alice gives up. You win 1 point." in chouette.heard("bob")
    assert {"alice": -3, "bob": 1, "carol": 1, "dave": 1} == chouette.ledger()
    assert chouette.news("dave") == [
        "game 1: bob, carol, dave win 1 point each from alice.",
        "ledger: alice -3, bob +1, carol +1, dave +1.",
        "next game: bob in the box, carol captain, then dave, alice.",
    ]


def test_each_member_answers_the_double_of_the_box_in_turn() -> None:
    game = doubled_by_the_box()
    assert "alice doubles. Type 'accept' or 'reject'." in game.heard("bob")
    assert "alice doubles." in game.heard("carol")
    assert ["** chouette: bob has to answer the double first"] == game.say("carol", "accept")
    game.say("bob", "accept")
    assert ["chouette: bob takes.", "alice doubles. Type 'accept' or 'reject'."] == game.heard("carol")
    game.say("carol", "reject")
    assert "chouette: carol passes and loses 1 point to alice." in game.heard("alice")
    game.say("dave", "accept")
    assert "bob accepts the double. The cube shows 2." in game.heard("alice")
    assert "alice rolls 3 and 1." in game.heard("dave"), "the team owns the cube, so the box is not asked"
    assert {"alice": 1, "bob": 0, "carol": -1, "dave": 0} == game.ledger()
    game.win(Seat.A)
    assert {"alice": 5, "bob": -2, "carol": -1, "dave": -2} == game.ledger()


def test_who_has_dropped_out_may_not_advise_any_more() -> None:
    game = doubled_by_the_box()
    for name, answer in (("bob", "accept"), ("carol", "reject"), ("dave", "accept")):
        game.say(name, answer)
    for command in ("chouette say run", "say run"):
        assert ["** chouette: only members of the team who are still in the game may advise"] == game.say(
            "carol", command
        )
    for command in ("kibitz run", "whisper run"):
        assert ["** chouette: you have dropped out of the game and may not give advice any more"] == game.say(
            "carol", command
        )
    assert ["chouette: dave advises: hit!"] == game.say("dave", "chouette say hit!")
    assert ["chouette: dave advises: hit!"] == game.heard("bob")
    assert [] == game.heard("alice") == game.heard("carol")
    assert "** 3 users heard you." in "\n".join(game.say("dave", "kibitz hello"))


def test_if_the_captain_passes_the_next_one_plays() -> None:
    game = doubled_by_the_box()
    game.say("bob", "reject")
    game.say("carol", "accept")
    game.say("dave", "accept")
    assert "chouette: carol is captain now." in game.heard("bob")
    assert "** You are now playing an unlimited match with alice" in game.heard("carol")
    assert boards(game.heard("carol"))[0].startswith("board:You:alice:")
    assert "carol accepts the double. The cube shows 2." in game.heard("alice")
    assert ("carol", None) == (game.users["alice"].opponent, game.users["bob"].match)
    game.win(Seat.B)
    assert {"alice": -3, "bob": -1, "carol": 2, "dave": 2} == game.ledger()
    assert "next game: carol in the box, bob captain, then dave, alice." in game.news("bob")


def test_if_everybody_passes_the_box_has_won() -> None:
    game = doubled_by_the_box()
    for name in ("bob", "carol", "dave"):
        game.say(name, "reject")
    assert "bob gives up. You win 1 point." in game.heard("alice")
    assert "game 1: nobody is left in the team, and alice wins." in game.news("alice")
    assert {"alice": 3, "bob": -1, "carol": -1, "dave": -1} == game.ledger()


def test_a_resignation_is_settled_with_every_member(chouette: Chouette) -> None:
    chouette.say("bob", "resign g")
    assert ["bob wants to resign. alice will win 2 points."] == chouette.heard("dave")
    chouette.say("alice", "accept")
    assert {"alice": 6, "bob": -2, "carol": -2, "dave": -2} == chouette.ledger()


def test_the_next_game_begins_when_all_have_joined_it(chouette: Chouette) -> None:
    chouette.win(Seat.A)
    assert "Type 'join' if you want to play the next game, type 'leave' if you don't." in chouette.heard("dave")
    assert ["** Please wait for bob to join too."] == chouette.say("alice", "join")
    for name in ("bob", "carol", "dave"):
        chouette.say(name, "join")
    assert "alice's table, game 2: alice in the box against carol (captain), dave, bob." in chouette.news("bob")
    assert ["** You can't play two games at once"] == chouette.say("bob", "join")
    assert 2 == chouette.table.games


def test_nobody_leaves_with_points_at_stake(chouette: Chouette) -> None:
    for name in NAMES:
        assert ["** chouette: you have points at stake; leave after this game"] == chouette.say(name, "leave")
    chouette.win(Seat.A)
    chouette.say("bob", "leave")
    assert None is chouette.users["bob"].table
    for name in ("alice", "carol", "dave"):
        chouette.say(name, "join")
    assert "alice's table, game 2: alice in the box against carol (captain), dave." in chouette.news("dave")
    assert -1 == chouette.ledger()["bob"]


def test_the_next_game_begins_when_the_last_one_who_has_not_joined_leaves(chouette: Chouette) -> None:
    chouette.win(Seat.A)
    for name in ("alice", "bob", "carol"):
        chouette.say(name, "join")
    chouette.say("dave", "leave")
    assert "alice's table, game 2: alice in the box against carol (captain), bob." in chouette.news("bob")
    chouette.pass_time(DECISION_TIME)
    assert {"alice": 1, "bob": 0, "carol": 0, "dave": -1} == chouette.ledger()


def test_the_option_of_the_rules_is_a_word_after_start() -> None:
    simulation = Simulation(ListedDice(*CASTS, (3, 1)))
    users = [simulation.log_in(name) for name in NAMES]
    simulation.say(users[0], "chouette open")
    for user in users[1:]:
        simulation.say(user, "chouette join alice")
    refusal = "** chouette: expected dropped_captain_last or nothing after start"
    assert [refusal] == simulation.say(users[0], "chouette start now")
    simulation.say(users[0], "chouette start dropped_captain_last")
    line = "chouette: a captain who drops out goes to the bottom of the rotation."
    assert line in simulation.received(users[3])
    (table,) = all_tables(simulation.world)
    assert table.state is not None
    assert table.state.dropped_captain_last


def test_newcomers_play_from_the_next_game_on(chouette: Chouette) -> None:
    chouette.users["erin"] = chouette.simulation.log_in("erin")
    chouette.say("erin", "chouette join carol")
    assert boards(chouette.say("erin", "board"))
    assert (
        "alice's table, game 1: alice in the box against bob (captain), carol, dave, erin (next game)."
        in (
            chouette.say("erin", "chouette"),
            chouette.news("erin"),
        )[1]
    )
    chouette.win(Seat.A)
    for name in NAMES:
        chouette.say(name, "join")
    assert {"alice": 3, "bob": -1, "carol": -1, "dave": -1, "erin": 0} == chouette.ledger()
    assert chouette.table.state is not None
    assert ("alice", "carol", "dave", "bob", "erin") == chouette.table.state.order


def test_a_table_with_fewer_than_three_players_is_closed() -> None:
    game = Chouette((3, 1), players=3)
    game.win(Seat.A)
    game.say("carol", "leave")
    assert game.news("bob") == [
        "carol leaves the table.",
        "fewer than three players are left, and the table is closed.",
        "ledger: alice +2, bob -1, carol -1.",
        "you have no seat at a table.",
    ]
    assert [] == all_tables(game.simulation.world)
    assert [] == game.simulation.store.saved_tables()
    assert not any(user.busy for user in game.users.values())


def test_commands_that_are_not_possible_are_refused_in_a_line() -> None:
    simulation = Simulation(ListedDice(*CASTS))
    alice, bob, carol = (simulation.log_in(name) for name in NAMES[:3])
    for command, refusal in (
        ("chouette start", "you have no seat at a table; 'help chouette' explains how to get one"),
        (
            "chouette dance",
            "expected open, invite NAME, join NAME, start, leave or say TEXT; 'help chouette' explains them",
        ),
        ("chouette join", "join whose table? 'chouette' lists them"),
        ("chouette join bob", "nobody of this name has a seat at a table; 'chouette' lists them"),
    ):
        assert [f"** chouette: {refusal}"] == simulation.say(alice, command)
    nothing = ["chouette: you have no seat at a table.", "chouette: there is no table; 'chouette open' opens one."]
    assert nothing == simulation.say(alice, "chouette")
    simulation.say(alice, "chouette open")
    simulation.say(bob, "chouette join alice")
    assert "chouette: alice's table, not started: alice, bob." == simulation.say(carol, "chouette")[1]
    for user, command, refusal in (
        (alice, "chouette start", "** chouette: expected 3 to 6 players, got 2"),
        (bob, "chouette start", "** chouette: only alice, who has opened the table, can start the first game"),
        (bob, "chouette say", "** chouette: say what?"),
        (bob, "chouette say hi", "** chouette: no game is being played"),
        (bob, "join", "** chouette: alice starts the first game with 'chouette start'"),
        (bob, "chouette open", "** You are already playing."),
        (bob, "invite carol 3", "** You are already playing."),
        (bob, "watch carol", "** You can't watch another game while you're playing."),
        (bob, "roll", "** You're not playing."),
        (carol, "invite bob 3", "** bob is already playing with someone else."),
    ):
        assert [refusal] == simulation.say(user, command)
    simulation.say(carol, "chouette join bob")
    others = [simulation.log_in(name) for name in ("dave", "erin", "frank", "grace")]
    replies = [simulation.say(other, "chouette join carol") for other in others]
    assert ["** chouette: a table has at most 6 players"] == replies[-1]
    for other in others:
        simulation.log_out(other)
    simulation.log_out(alice)
    (table,) = all_tables(simulation.world)
    assert ("bob", ["bob", "carol"]) == (table.host, table.seats)
    simulation.say(bob, "leave")
    simulation.say(carol, "leave")
    assert [] == all_tables(simulation.world)


# -- others ----------------------------------------------------------------------------------------------------------


def test_a_chouette_is_no_match_of_its_players(chouette: Chouette) -> None:
    """Neither ratings nor saved matches change."""
    chouette.win(Seat.A)
    assert [] == chouette.simulation.store.matches("alice")
    assert [1500.0] * 4 == [user.account.rating for user in chouette.users.values()]


def test_people_without_a_client_read_the_same(chouette: Chouette) -> None:
    user: User = chouette.simulation.log_in("frank", ClientMode.TELNET)
    lines = chouette.simulation.say(user, "chouette")
    assert [
        "chouette: you have no seat at a table.",
        "chouette: alice's table, game 1: alice in the box against bob (captain), carol, dave.",
    ] == lines
    assert [m.ChouetteNoSeat, m.ChouetteTable] == [type(message) for message in chouette.simulation.messages(user)]


def test_who_has_opened_the_table_invites_whoever_can_play(chouette: Chouette) -> None:
    simulation = chouette.simulation
    frank, erin = simulation.log_in("frank"), simulation.log_in("erin")
    for command, refusal in (
        ("chouette invite", "** chouette: invite whom?"),
        ("chouette invite bob", "** bob is already playing with someone else."),
        ("chouette invite frank", "** frank is refusing games."),
        ("chouette invite nobody", "** There is no one called nobody"),
    ):
        assert [refusal] == chouette.say("alice", command)
    assert ["** chouette: only alice, who has opened the table, can invite"] == chouette.say(
        "bob", "chouette invite frank"
    )
    simulation.say(frank, "toggle ready")
    assert ["** frank plays backgammon only."] == chouette.say("alice", "chouette invite frank")
    simulation.say(frank, "set games on")
    assert ["chouette: you have invited frank."] == chouette.say("alice", "chouette invite frank")
    assert [
        "chouette: alice invites you to take a seat.",
        "chouette: type 'chouette join alice' to do so.",
    ] == simulation.received(frank)
    assert "chouette: you have a seat at the table of alice." == simulation.say(frank, "chouette join alice")[0]
    simulation.say(erin, "chouette join alice")
    simulation.log_in("ginger")
    assert ["** chouette: a table has at most 6 players"] == chouette.say("alice", "chouette invite ginger")


def test_the_table_asks_again_whose_decision_is_awaited(chouette: Chouette) -> None:
    assert "It's your turn. Please roll or double" == chouette.say("bob", "chouette")[-1]
    assert "chouette: waiting for bob." == chouette.say("alice", "chouette")[-1]
    chouette.win(Seat.B)
    chouette.say("carol", "join")
    assert "chouette: waiting for alice, bob, dave." == chouette.say("carol", "chouette")[-1]
    assert chouette.say("dave", "chouette")[-1].startswith("Type 'join' if you want to play the next game")


def test_a_member_is_not_ready_for_invitations(chouette: Chouette) -> None:
    for user in chouette.users.values():
        chouette.simulation.say(user, "toggle ready")
        assert not user.who_info(0).ready
    frank = chouette.simulation.log_in("frank")
    assert ["** carol is already playing with someone else."] == chouette.simulation.say(frank, "invite carol 1")
    assert ["** Error: carol is already playing with someone else."] == chouette.simulation.say(frank, "join carol")


def test_outsiders_can_watch_box_and_captain(chouette: Chouette) -> None:
    frank = chouette.simulation.log_in("frank")
    chouette.simulation.say(frank, "watch bob")
    chouette.say("bob", "roll")
    assert "bob rolls 3 and 1." in chouette.simulation.received(frank)
