"""Invitations, joining, leaving, resuming: texts and refusals (specification: "Invite", "Join", "Leave")."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from fibs_protocol import messages as m
from fibs_protocol.words import Departure
from fibsbot.games.state_json import state_from_json
from fibsbot.rules.state import Seat, Stage
from fibsbot.server.database import SavedMatchRow
from fibsbot.server.users import User
from fibsbot.server.world import Quirks
from tests.server.simulated_world import ListedDice, Simulation, boards, set_state, two_players

SAVED: Final[dict[str, dict[str, Any]]] = json.loads(
    (Path(__file__).parent.parent / "data" / "server" / "saved_matches.json").read_text()
)
"""Matches of alice and bob as earlier versions have saved them."""


@pytest.fixture
def bob(simulation: Simulation) -> User:
    user = simulation.log_in("bob")
    simulation.say(user, "toggle ready")
    return user


# -- invite ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "offer"), [("5", "a 5 point match"), ("unlimited", "an unlimited match"), ("9", "a 9 point match")]
)
def test_an_invitation_is_announced_to_both(
    simulation: Simulation, alice: User, bob: User, length: str, offer: str
) -> None:
    assert [f"** You invited bob to {offer}."] == simulation.say(alice, f"invite bob {length}")
    assert [f"alice wants to play {offer} with you.", "Type 'join alice' to accept."] == simulation.received(bob)


def test_inviting_sets_the_inviter_ready_and_shows_it(simulation: Simulation, alice: User, bob: User) -> None:
    simulation.say(alice, "invite bob 5")
    assert alice.ready
    assert "5 alice - - 1 0 1500.00 0 0 1795176000 127.0.0.1 test -" in simulation.received(bob, status=True)


def test_an_inviter_is_notified_that_the_guest_is_away(simulation: Simulation, alice: User, bob: User) -> None:
    simulation.say(bob, "away out to lunch")
    assert ["** You invited bob to a 1 point match.", "", "bob is away: out to lunch"] == simulation.say(
        alice, "invite bob 1"
    )


@pytest.mark.parametrize(
    ("command", "refusal"),
    [
        ("invite", "** invite who?"),
        ("invite nobody_here 5", "** There is no one called nobody_here"),
        ("invite alice 5", "** You can't invite yourself."),
        ("invite bob five", "** The second argument to 'invite' has to be a number or the word 'unlimited'"),
        ("invite bob 0", "** The second argument to 'invite' has to be a number or the word 'unlimited'"),
        ("invite bob 1000", "** The second argument to 'invite' has to be a number or the word 'unlimited'"),
        ("invite bob 10", "** You're not experienced enough to play a match of that length."),
        ("invite bob", "** There's no saved match with bob. Please give a match length."),
        ("invite carol 5", "** carol is refusing games."),
        ("join", "** Error: Join who?"),
        ("join bob", "** bob didn't invite you."),
        ("join carol", "** carol is refusing games."),
        ("join nobody_here", "** Error: can't find player nobody_here"),
        ("leave", "** Error: No one to leave."),
    ],
)
def test_refusals(simulation: Simulation, alice: User, bob: User, command: str, refusal: str) -> None:
    simulation.log_in("carol")
    assert bob.ready
    assert [refusal] == simulation.say(alice, command)


@pytest.mark.usefixtures("bob")
def test_experience_above_fifty_allows_longer_matches(simulation: Simulation) -> None:
    veteran = simulation.log_in("veteran", experience=51)
    assert ["** You invited bob to a 10 point match."] == simulation.say(veteran, "invite bob 10")


def test_users_in_a_match_cannot_invite_or_be_invited(simulation: Simulation, alice: User, bob: User) -> None:
    carol = simulation.log_in("carol")
    simulation.start(alice, bob)
    assert ["** You are already playing."] == simulation.say(alice, "invite carol 3")
    assert ["** You can't play two games at once"] == simulation.say(alice, "join carol")
    assert ["** bob is already playing with someone else."] == simulation.say(carol, "invite bob 3")
    assert ["** Error: bob is already playing with someone else."] == simulation.say(carol, "join bob")


def test_a_second_invitation_cancels_the_first(simulation: Simulation, alice: User, bob: User) -> None:
    carol = simulation.log_in("carol")
    simulation.say(carol, "toggle ready")
    simulation.say(alice, "invite bob 3")
    simulation.say(alice, "invite carol 3")
    assert ["** alice didn't invite you."] == simulation.say(bob, "join alice")
    assert simulation.say(carol, "join alice")
    assert carol.match is alice.match is not None


def test_an_inviter_who_is_no_longer_ready_cannot_be_joined(simulation: Simulation, alice: User, bob: User) -> None:
    simulation.say(alice, "invite bob 3")
    simulation.say(alice, "toggle ready")
    assert ["** alice is refusing games."] == simulation.say(bob, "join alice")


def test_an_invitation_ends_when_the_inviter_logs_out(simulation: Simulation, alice: User, bob: User) -> None:
    simulation.say(alice, "invite bob 3")
    simulation.log_out(alice)
    again = simulation.log_in("alice")
    simulation.say(again, "toggle ready")
    assert ["** alice didn't invite you."] == simulation.say(bob, "join alice")


def test_an_unlimited_match_begins_without_stars(simulation: Simulation, alice: User, bob: User) -> None:
    simulation.start(alice, bob, "unlimited")
    assert "** You are now playing an unlimited match with alice" == simulation.received(bob)[0]
    assert "Player bob has joined you for an unlimited match." == simulation.received(alice)[0]


# -- leaving and resuming -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "text"),
    [
        (Departure.LOGGED_OUT, "alice logs out. The game was saved."),
        (Departure.DROPPED, "alice drops connection. The game was saved."),
        (Departure.TIMED_OUT, "Connection with alice timed out. The game was saved."),
        (Departure.RECONNECTED, "Closed old connection with user alice. The game was saved."),
        (Departure.NETWORK_ERROR, "Network error with alice. The game was saved."),
    ],
)
def test_logging_out_saves_the_match_and_names_the_reason(how: Departure, text: str) -> None:
    simulation, alice, bob = two_players((6, 4))
    simulation.log_out(alice, how)
    assert text in simulation.received(bob)
    assert bob.match is None
    assert ["  opponent          matchlength   score (your points first)"] == simulation.say(bob, "show saved")[:1]


def test_leave_saves_the_match() -> None:
    simulation, alice, bob = two_players((6, 4))
    assert ["** You terminated the game. The game was saved."] == simulation.say(alice, "leave")
    assert ["** Player alice has left the game. The game was saved."] == simulation.received(bob)


def test_logging_out_reports_that_the_game_was_saved() -> None:
    simulation, alice, _ = two_players((6, 4))
    assert ["Your game with bob was saved.", "                             Goodbye."] == simulation.say(alice, "bye")[
        :2
    ]


def test_a_resumed_match_continues_where_it_was_left() -> None:
    simulation, alice, bob = two_players((6, 4), (5, 3))
    simulation.say(alice, "move 12-16 17-23")
    simulation.say(bob, "roll")
    before = simulation.say(alice, "board")
    simulation.say(bob, "leave")
    assert ["** You invited alice to resume a saved match."] == simulation.say(bob, "invite alice")
    assert ["bob wants to resume a saved match with you.", "Type 'join bob' to accept."] == simulation.received(alice)
    assert [
        "You are now playing with bob. Your running match was loaded.",
        "turn: bob.",
        "match length: 3",
        "points for alice: 0",
        "points for bob: 0",
    ] == simulation.say(alice, "join bob")
    assert "alice has joined you. Your running match was loaded." == simulation.received(bob)[0]
    assert "Please move 2 pieces." == simulation.received(bob)[-1]
    assert before == simulation.say(alice, "board")
    assert 2 == len(simulation.say(bob, "move 13-8 6-3")) + 1


@pytest.mark.parametrize(("style", "asked", "count"), [(3, False, 0), (3, True, 1), (1, False, 1)])
def test_a_resumed_match_begins_with_a_board_for_people_and_for_programs_of_servers_that_send_one(
    style: int, count: int, *, asked: bool
) -> None:
    simulation, alice, bob = two_players((6, 4), quirks=Quirks(board_after_resume=asked))
    simulation.say(bob, "leave")
    simulation.say(alice, f"set boardstyle {style}")
    simulation.say(bob, "invite alice")
    simulation.say(alice, "join bob")
    assert count == sum(isinstance(message, m.Board) for message in simulation.messages(alice))


@pytest.mark.parametrize("offer", ["double", "resign n"])
def test_a_pending_offer_is_pending_again_in_a_resumed_match(offer: str) -> None:
    simulation, alice, bob = two_players((6, 4))
    simulation.say(alice, "move 12-16 17-23")
    simulation.say(bob, offer)
    asked = simulation.received(alice)
    simulation.say(alice, "leave")
    simulation.say(alice, "invite bob")
    simulation.say(bob, "join alice")
    assert asked == simulation.received(alice)[-1:]
    assert f"turn: {'alice' if offer == 'double' else 'bob'}." in simulation.received(alice)
    simulation.say(alice, "accept")
    assert bob.match is not None
    assert (Stage.MOVE if offer == "double" else Stage.OVER) is bob.match.state.stage


def test_a_match_left_between_two_games_continues_with_the_next_one() -> None:
    simulation, alice, bob = two_players((6, 4), (5, 1))
    simulation.say(bob, "resign n")
    simulation.say(alice, "accept")
    simulation.say(bob, "leave")
    simulation.say(bob, "invite alice")
    received = simulation.say(alice, "join bob")
    assert ["points for alice: 1", "points for bob: 0", "Starting a new game with bob."] == received[3:6]


def test_a_new_match_warns_of_the_saved_one_and_discards_it() -> None:
    simulation, alice, bob = two_players((6, 4), length=5)
    simulation.say(bob, "leave")
    simulation.say(bob, "invite alice 3")
    assert "WARNING: Don't accept if you want to continue the saved 5 point match!" == simulation.received(alice)[2]
    simulation.say(alice, "join bob")
    simulation.say(bob, "leave")
    assert "**alice                   3                0 -  0" == simulation.say(bob, "show saved")[1]


def test_a_corrupt_saved_match_is_refused_to_both() -> None:
    simulation, alice, bob = two_players((6, 4))
    simulation.say(bob, "leave")
    simulation.store._db.execute("UPDATE matches SET state = '{}'")
    simulation.say(bob, "invite alice")
    corrupt = ["** ERROR: Saved match is corrupt. Please start another one."]
    assert corrupt == simulation.say(alice, "join bob")
    assert corrupt == simulation.received(bob)
    assert ["no saved games."] == [line.strip() for line in simulation.say(alice, "show saved")]
    simulation.say(bob, "invite alice 3")
    assert simulation.say(alice, "join bob")


def test_a_second_login_ends_the_first_and_its_match() -> None:
    simulation, alice, bob = two_players((6, 4))
    again = simulation.log_in("alice")
    assert alice is not again
    assert "8 alice Closed old connection with user alice." in simulation.received(bob)
    assert "7 alice alice logs in again." in simulation.received(bob)
    assert "** Warning: You are already logged in." == simulation.received(again)[0]
    assert bob.match is None


def test_finishing_a_match_leaves_nothing_to_resume() -> None:
    simulation, alice, bob = two_players((6, 4), length=1)
    simulation.say(bob, "resign n")
    simulation.say(alice, "accept")
    assert ["no saved games."] == simulation.say(alice, "show saved")
    assert ["** There's no saved match with bob. Please give a match length."] == simulation.say(alice, "invite bob")
    assert "X: wins" == simulation.say(alice, "oldmoves bob")[-1]


def test_the_score_of_a_long_unlimited_match_still_fits_on_a_board() -> None:
    simulation, alice, _ = two_players((6, 4), length="unlimited")
    assert alice.match is not None
    set_state(alice.match, scores=(12288, 0))
    assert "9999" == boards(simulation.say(alice, "board"))[0].split(":")[4]


def test_reports_cover_all_matches(simulation: Simulation, alice: User, bob: User) -> None:
    carol = simulation.log_in("carol")
    simulation.say(carol, "toggle report")
    simulation.start(alice, bob, 5)
    assert ["alice and bob start a 5 point match."] == simulation.received(carol)
    simulation.say(bob, "leave")
    assert ["bob has left the game with alice."] == simulation.received(carol)
    simulation.say(alice, "invite bob")
    simulation.say(bob, "join alice")
    assert ["alice and bob are resuming their 5-point match."] == simulation.received(carol)
    assert alice.match is not None
    set_state(alice.match, scores=(4, 2))
    simulation.say(bob, "resign n")
    simulation.say(alice, "accept")
    assert ["alice wins a 5 point match against bob  5-2 ."] == simulation.received(carol)
    assert not [line for line in simulation.received(alice) if "against" in line]


def test_colours_are_drawn_for_the_first_game() -> None:
    seats = set()
    for coin in (False, True):
        simulation = Simulation(ListedDice((6, 4), coin=coin))
        match = simulation.start(simulation.log_in("alice"), simulation.log_in("bob"))
        seats.add(match.colours[Seat.A])
    assert {-1, 1} == {int(colour) for colour in seats}


@pytest.mark.parametrize(
    ("name", "turn"), [("backgammon", "bob"), ("laws", "bob"), ("tabula", "alice"), ("nackgammon", "alice")]
)
def test_a_match_that_an_earlier_version_has_saved_goes_on(
    simulation: Simulation, alice: User, bob: User, name: str, turn: str
) -> None:
    saved = SAVED[name]
    row = SavedMatchRow(("alice", "bob"), saved["serial"], over=False, state=json.dumps(saved))
    simulation.store.save_match(row, simulation.time)
    for user in (alice, bob):
        for line in ("laws on", "set games on"):
            simulation.say(user, line)
    simulation.say(alice, "invite bob")
    assert f"turn: {turn}." in simulation.say(bob, "join alice")
    match = alice.match
    assert match is not None
    assert (saved.get("throws", saved.get("rolls")), saved["moves"]) == (match.rolls, match.moves)
    assert (name == "laws", tuple(saved.get("can_move", (0, 0)))) == (match.agreed is not None, match.can_move)
    written = json.loads(match.to_json())
    kept = {"names", "colours", "serial", "moves", "can_move", "agreed"} & saved.keys()
    assert {key: saved[key] for key in kept} == {key: written[key] for key in kept}
    assert match.state == state_from_json(written["state"])
    assert match.state.stage in {Stage.MOVE, Stage.ROLL}
