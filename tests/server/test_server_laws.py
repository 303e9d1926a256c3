"""Matches by other laws than those of FIBS: agreed on in the invitation, shown in plain words, unseen by others."""

from __future__ import annotations

import pytest
from attrs import evolve

from fibs_protocol import commands as c
from fibs_protocol.grammar import write_command
from fibs_protocol.words import Departure
from fibsbot.fibs_numbering import play_to_fibs
from fibsbot.position import Play, Position
from fibsbot.rules.laws import LAWS_1931
from fibsbot.rules.state import Seat, Stage
from fibsbot.server.users import ClientMode, ServerMatch, User
from tests.server.simulated_world import ListedDice, Simulation, boards, no_boards, set_state

POINT_GAME = (
    "The match is played by laws 1931 point (the laws of 1931; the Point Game: the winner scores for each checker that "
    "is left)."
)


def two_who_know(*dice: tuple[int, int], laws: str, length: int = 5) -> tuple[Simulation, User, User]:
    """Return a match of two clients that know other laws; alice invited."""
    simulation = Simulation(ListedDice(*dice))
    alice, bob = simulation.log_in("alice"), simulation.log_in("bob")
    for user in (alice, bob):
        simulation.say(user, "laws on")
        simulation.say(user, "toggle ready")
    simulation.say(alice, f"invite bob {length} laws {laws}")
    simulation.say(bob, "join alice")
    return simulation, alice, bob


def match_of(user: User) -> ServerMatch:
    assert user.match is not None
    assert user.match.game is None
    return user.match


def play(simulation: Simulation, user: User, *moves: tuple[int, int]) -> None:
    """Make a play in the player's own numbering."""
    match = match_of(user)
    command = c.Move(play_to_fibs(Play.of(*moves), match.direction(match.seat(user.name))))
    simulation.say(user, write_command(command))


def test_the_invited_is_shown_the_laws_in_plain_words() -> None:
    simulation = Simulation()
    alice, bob = simulation.log_in("alice"), simulation.log_in("bob", ClientMode.TELNET, client=None)
    simulation.say(bob, "toggle ready")
    assert ["** You invited bob to a 5 point match.", POINT_GAME] == simulation.say(
        alice, "invite bob 5 laws 1931 point"
    )
    expected = ["alice wants to play a 5 point match with you.", POINT_GAME, "Type 'join alice' to accept."]
    assert expected == simulation.received(bob)


def test_joining_agrees_and_both_are_told_by_which_laws_they_play() -> None:
    simulation, alice, bob = two_who_know((6, 4), laws="1931 point")
    assert POINT_GAME in simulation.received(alice)
    assert POINT_GAME in simulation.received(bob)
    laws = match_of(alice).state.laws
    assert ("1931", True, False) == (laws.name, laws.point_game, laws.crawford)
    assert [POINT_GAME] == simulation.say(bob, "laws")


def test_a_client_that_has_not_asked_is_not_invited_and_sees_nothing(simulation: Simulation) -> None:
    alice, bob = simulation.log_in("alice"), simulation.log_in("bob")
    simulation.say(bob, "toggle ready")
    refusal = ["** bob's client knows no other laws than those of FIBS."]
    assert refusal == simulation.say(alice, "invite bob 5 laws 1931")
    assert [] == simulation.received(bob)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("", "expected laws such as 1931, 1970, modern, fibs, got ''"),
        ("1930", "expected laws such as 1931, 1970, modern, fibs, got '1930'"),
        ("1931 points", "expected point, double, add-one, reject, no-triple, no-cube or limit, got 'points'"),
        ("1931 limit 4", "expected double, add-one or reject with limit, got limit alone"),
        ("1931 double limit", "expected a number from 2 to 4096 after limit, got ''"),
        ("1931 double add-one", "expected one word about automatic, got another: 'add-one'"),
        ("1931 double no-cube", "expected a cube where rolls can raise it, got no-cube"),
    ],
)
def test_words_that_name_no_laws_are_refused_with_what_was_expected(
    simulation: Simulation, alice: User, bob: User, words: str, reason: str
) -> None:
    simulation.say(bob, "laws on")
    simulation.say(bob, "toggle ready")
    assert [f"** Laws: {reason}."] == simulation.say(alice, f"invite bob 5 laws {words}")


def test_laws_after_another_game_are_refused(simulation: Simulation, alice: User) -> None:
    assert ["** Laws: expected options of nackgammon after colons, got other laws."] == simulation.say(
        alice, "invite bob 5 nackgammon laws 1931"
    )


def test_toggles_do_not_change_agreed_laws() -> None:
    _, alice, _ = two_who_know(laws="modern double limit 4")
    laws = match_of(alice).state.laws
    assert (True, 4, "modern") == (laws.crawford, laws.automatic_limit, laws.name)


def test_ties_add_one_to_the_cube_up_to_the_agreed_limit() -> None:
    simulation, alice, _ = two_who_know(*[(2, 2)] * 5, (6, 4), laws="1931 add-one limit 4")
    raised = [line for line in simulation.received(alice) if "doubling cube" in line]
    assert [f"The number on the doubling cube is now {cube}" for cube in (2, 3, 4)] == raised
    (board,) = boards(simulation.received(alice))
    assert ":4:1:1:0:" in board


def test_a_cube_of_three_is_doubled_to_six_and_shown() -> None:
    simulation, alice, bob = two_who_know((2, 2), (3, 3), (6, 4), laws="1931 add-one", length=20)
    play(simulation, alice, (24, 18), (13, 9))
    simulation.say(bob, "double")
    assert "You accept the double. The cube shows 6." in simulation.say(alice, "accept")
    simulation.collect()
    (board,) = boards(simulation.say(alice, "board"))
    assert ":6:1:0:" in board


def test_the_first_roll_may_be_rejected_and_the_second_has_to_be_played() -> None:
    simulation, alice, bob = two_who_know((2, 1), (6, 4), (6, 5), laws="modern reject")
    offer = "You may reject this roll: type 'rethrow', and the cube shows 2."
    assert offer in simulation.received(alice)
    assert offer not in simulation.received(bob)
    lines = no_boards(simulation.say(alice, "rethrow"))
    assert ["You reject the roll. The cube shows 2.", "You roll 6 and 4.", "Please move 2 pieces."] == lines
    assert "alice rejects the roll. The cube shows 2." in simulation.received(bob)
    assert ["** You can't reject this roll."] == simulation.say(alice, "rethrow")


def test_the_second_player_may_reject_too_and_nobody_later() -> None:
    simulation, alice, bob = two_who_know((6, 4), (2, 1), (3, 1), laws="modern reject")
    play(simulation, alice, (24, 18), (13, 9))
    assert "You may reject this roll: type 'rethrow', and the cube shows 2." in simulation.say(bob, "roll")
    assert "You reject the roll. The cube shows 2." in simulation.say(bob, "rethrow")
    simulation.say(
        bob, "move 8-5 6-5" if match_of(bob).direction(match_of(bob).seat("bob")) < 0 else "move 17-20 19-20"
    )
    assert not any("rethrow" in line for line in simulation.say(alice, "roll"))


def test_rethrow_is_refused_by_the_laws_of_fibs(simulation: Simulation, alice: User, bob: User) -> None:
    simulation.start(alice, bob)
    assert ["** You can't reject this roll."] == simulation.say(alice, "rethrow")


def test_the_point_game_scores_for_the_checkers_left_and_is_not_rated() -> None:
    simulation, alice, bob = two_who_know((6, 4), laws="1931 point")
    match = match_of(alice)
    seat = match.seat("alice")
    last = Position.from_sides(own=[1, *[0] * 24], opponent=[0] * 5 + [3] + [0] * 19)
    set_state(match, board=last, stage=Stage.MOVE, dice=(2, 1), turn=seat)
    set_state(match, scores=(4, 0) if seat is Seat.A else (0, 4))
    lines = simulation.say(alice, "off")
    assert "You win the game and get 3 points. Congratulations!" in lines
    assert "You win the 5 point match 7-0 ." in lines
    assert (1500.0, 1500.0) == (alice.account.rating, bob.account.rating)


def test_a_saved_match_keeps_its_laws_and_its_list_of_moves_says_so() -> None:
    simulation, alice, bob = two_who_know((6, 4), laws="1931 no-triple")
    simulation.say(alice, "leave")
    assert "The match is played by laws 1931 no-triple (the laws of 1931; a backgammon counts as a gammon)." in (
        simulation.say(bob, "oldmoves alice")
    )
    simulation.say(alice, "invite bob")
    assert any("1931 no-triple" in line for line in simulation.received(bob))
    simulation.say(bob, "join alice")
    assert any("1931 no-triple" in line for line in simulation.received(alice))
    assert match_of(alice).agreed == match_of(alice).state.laws
    simulation.say(alice, "leave")
    simulation.say(bob, "laws off")
    assert ["** bob's client knows no other laws than those of FIBS."] == simulation.say(alice, "invite bob")


def test_a_client_that_has_not_asked_cannot_watch() -> None:
    simulation, alice, _ = two_who_know((6, 4), laws="modern reject")
    carol = simulation.log_in("carol")
    assert ["** carol's client knows no other laws than those of FIBS."] == simulation.say(carol, "watch alice")
    simulation.say(carol, "laws on")
    assert any("modern reject" in line for line in simulation.say(carol, "watch alice"))
    assert alice.match is not None


def test_a_watcher_who_knows_no_laws_stops_watching_when_such_a_match_begins() -> None:
    simulation = Simulation()
    alice, bob, carol = (simulation.log_in(name) for name in ("alice", "bob", "carol"))
    simulation.say(carol, "watch alice")
    simulation.say(bob, "laws on")
    simulation.say(bob, "toggle ready")
    simulation.say(alice, "invite bob 3 laws 1970")
    simulation.say(bob, "join alice")
    assert carol.watching is None
    assert not any("laws" in line for line in simulation.received(carol))


def test_house_laws_hold_between_users_who_know_them_and_nobody_else() -> None:
    simulation = Simulation()
    simulation.world.house_laws = evolve(LAWS_1931, triple=False)
    alice, bob, carol = (simulation.log_in(name) for name in ("alice", "bob", "carol"))
    for user in (alice, bob, carol):
        simulation.say(user, "toggle ready")
    for user in (alice, bob):
        simulation.say(user, "laws on")
    assert any("1931 no-triple" in line for line in simulation.say(alice, "invite bob 3"))
    assert ["** You invited carol to a 3 point match."] == simulation.say(alice, "invite carol 3")
    simulation.say(carol, "join alice")
    assert (None, "fibs") == (match_of(carol).agreed, match_of(carol).state.laws.name)


def test_the_short_forms_of_fibs_stay_its_own(simulation: Simulation, alice: User) -> None:
    assert not any("Unknown" in line for line in simulation.say(alice, "la"))
    assert ["** Unknown command: 'law'"] == simulation.say(alice, "law")
    assert simulation.say(alice, "help la") == simulation.say(alice, "help last")
    assert any("Point Game" in line for line in simulation.say(alice, "help laws"))


def test_breaking_off_a_match_by_other_laws_saves_it_for_both() -> None:
    simulation, alice, bob = two_who_know((6, 4), laws="1970 double limit 8")
    simulation.log_out(alice, Departure.DROPPED)
    row = simulation.store.match("alice", "bob")
    assert row is not None
    restored = ServerMatch.from_saved(row)
    assert restored is not None
    assert restored.agreed is not None
    assert ("1970", 8) == (restored.agreed.name, restored.agreed.automatic_limit)
    assert bob.match is None
