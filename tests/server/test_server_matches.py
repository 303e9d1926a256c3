"""Invitations, joining, leaving, resuming: texts and refusals (specification: "Invite", "Join", "Leave")."""

from __future__ import annotations

import pytest
from fibs_protocol import messages as m
from fibs_protocol.words import Departure

from fibsbot.rules.game import Seat, Stage
from fibsbot.server.users import User
from fibsbot.server.world import Quirks
from tests.server.simulated_world import ListedDice, Room, boards, set_state, two_players


@pytest.fixture
def bob(room: Room) -> User:
    user = room.enter("bob")
    room.say(user, "toggle ready")
    return user


# -- invite ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "offer"), [("5", "a 5 point match"), ("unlimited", "an unlimited match"), ("9", "a 9 point match")]
)
def test_an_invitation_is_told_to_both(room: Room, alice: User, bob: User, length: str, offer: str) -> None:
    assert [f"** You invited bob to {offer}."] == room.say(alice, f"invite bob {length}")
    assert [f"alice wants to play {offer} with you.", "Type 'join alice' to accept."] == room.told(bob)


def test_inviting_makes_ready_and_shows_it(room: Room, alice: User, bob: User) -> None:
    room.say(alice, "invite bob 5")
    assert alice.ready
    assert "5 alice - - 1 0 1500.00 0 0 1795176000 127.0.0.1 test -" in room.told(bob, status=True)


def test_away_is_told_to_who_invites(room: Room, alice: User, bob: User) -> None:
    room.say(bob, "away out to lunch")
    assert ["** You invited bob to a 1 point match.", "", "bob is away: out to lunch"] == room.say(
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
def test_refusals(room: Room, alice: User, bob: User, command: str, refusal: str) -> None:
    room.enter("carol")
    assert bob.ready
    assert [refusal] == room.say(alice, command)


@pytest.mark.usefixtures("bob")
def test_experience_above_fifty_opens_longer_matches(room: Room) -> None:
    veteran = room.enter("veteran", experience=51)
    assert ["** You invited bob to a 10 point match."] == room.say(veteran, "invite bob 10")


def test_who_plays_is_refused_and_refuses(room: Room, alice: User, bob: User) -> None:
    carol = room.enter("carol")
    room.start(alice, bob)
    assert ["** You are already playing."] == room.say(alice, "invite carol 3")
    assert ["** You can't play two games at once"] == room.say(alice, "join carol")
    assert ["** bob is already playing with someone else."] == room.say(carol, "invite bob 3")
    assert ["** Error: bob is already playing with someone else."] == room.say(carol, "join bob")


def test_a_second_invitation_cancels_the_first(room: Room, alice: User, bob: User) -> None:
    carol = room.enter("carol")
    room.say(carol, "toggle ready")
    room.say(alice, "invite bob 3")
    room.say(alice, "invite carol 3")
    assert ["** alice didn't invite you."] == room.say(bob, "join alice")
    assert room.say(carol, "join alice")
    assert carol.table is alice.table is not None


def test_an_inviter_who_is_no_longer_ready_refuses(room: Room, alice: User, bob: User) -> None:
    room.say(alice, "invite bob 3")
    room.say(alice, "toggle ready")
    assert ["** alice is refusing games."] == room.say(bob, "join alice")


def test_an_invitation_ends_with_the_login(room: Room, alice: User, bob: User) -> None:
    room.say(alice, "invite bob 3")
    room.leave(alice)
    again = room.enter("alice")
    room.say(again, "toggle ready")
    assert ["** alice didn't invite you."] == room.say(bob, "join alice")


def test_an_unlimited_match_begins_without_stars(room: Room, alice: User, bob: User) -> None:
    room.start(alice, bob, "unlimited")
    assert "** You are now playing an unlimited match with alice" == room.told(bob)[0]
    assert "Player bob has joined you for an unlimited match." == room.told(alice)[0]


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
def test_going_saves_the_match_and_tells_how(how: Departure, text: str) -> None:
    room, alice, bob = two_players((6, 4))
    room.leave(alice, how)
    assert text in room.told(bob)
    assert bob.table is None
    assert ["  opponent          matchlength   score (your points first)"] == room.say(bob, "show saved")[:1]


def test_leave_saves_the_match() -> None:
    room, alice, bob = two_players((6, 4))
    assert ["** You terminated the game. The game was saved."] == room.say(alice, "leave")
    assert ["** Player alice has left the game. The game was saved."] == room.told(bob)


def test_logging_out_tells_that_the_game_was_saved() -> None:
    room, alice, _ = two_players((6, 4))
    assert ["Your game with bob was saved.", "                             Goodbye."] == room.say(alice, "bye")[:2]


def test_a_resumed_match_goes_on_where_it_was_left() -> None:
    room, alice, bob = two_players((6, 4), (5, 3))
    room.say(alice, "move 12-16 17-23")
    room.say(bob, "roll")
    before = room.say(alice, "board")
    room.say(bob, "leave")
    assert ["** You invited alice to resume a saved match."] == room.say(bob, "invite alice")
    assert ["bob wants to resume a saved match with you.", "Type 'join bob' to accept."] == room.told(alice)
    assert [
        "You are now playing with bob. Your running match was loaded.",
        "turn: bob.",
        "match length: 3",
        "points for alice: 0",
        "points for bob: 0",
    ] == room.say(alice, "join bob")
    assert "alice has joined you. Your running match was loaded." == room.told(bob)[0]
    assert "Please move 2 pieces." == room.told(bob)[-1]
    assert before == room.say(alice, "board")
    assert 2 == len(room.say(bob, "move 13-8 6-3")) + 1


@pytest.mark.parametrize(("style", "asked", "count"), [(3, False, 0), (3, True, 1), (1, False, 1)])
def test_a_resumed_match_begins_with_a_board_for_people_and_for_programs_of_servers_that_send_one(
    style: int, count: int, *, asked: bool
) -> None:
    room, alice, bob = two_players((6, 4), quirks=Quirks(board_after_resume=asked))
    room.say(bob, "leave")
    room.say(alice, f"set boardstyle {style}")
    room.say(bob, "invite alice")
    room.say(alice, "join bob")
    assert count == sum(isinstance(message, m.Board) for message in room.messages(alice))


@pytest.mark.parametrize("offer", ["double", "resign n"])
def test_an_offer_that_waited_when_the_match_was_left_waits_again(offer: str) -> None:
    room, alice, bob = two_players((6, 4))
    room.say(alice, "move 12-16 17-23")
    room.say(bob, offer)
    asked = room.told(alice)
    room.say(alice, "leave")
    room.say(alice, "invite bob")
    room.say(bob, "join alice")
    assert asked == room.told(alice)[-1:]
    assert f"turn: {'alice' if offer == 'double' else 'bob'}." in room.told(alice)
    room.say(alice, "accept")
    assert bob.table is not None
    assert (Stage.MOVE if offer == "double" else Stage.OVER) is bob.table.state.stage


def test_a_match_left_between_two_games_goes_on_with_the_next_one() -> None:
    room, alice, bob = two_players((6, 4), (5, 1))
    room.say(bob, "resign n")
    room.say(alice, "accept")
    room.say(bob, "leave")
    room.say(bob, "invite alice")
    told = room.say(alice, "join bob")
    assert ["points for alice: 1", "points for bob: 0", "Starting a new game with bob."] == told[3:6]


def test_a_new_match_warns_of_the_saved_one_and_discards_it() -> None:
    room, alice, bob = two_players((6, 4), length=5)
    room.say(bob, "leave")
    room.say(bob, "invite alice 3")
    assert "WARNING: Don't accept if you want to continue the saved 5 point match!" == room.told(alice)[2]
    room.say(alice, "join bob")
    room.say(bob, "leave")
    assert "**alice                   3                0 -  0" == room.say(bob, "show saved")[1]


def test_a_corrupt_saved_match_is_refused_to_both() -> None:
    room, alice, bob = two_players((6, 4))
    room.say(bob, "leave")
    room.store._db.execute("UPDATE matches SET state = '{}'")
    room.say(bob, "invite alice")
    corrupt = ["** ERROR: Saved match is corrupt. Please start another one."]
    assert corrupt == room.say(alice, "join bob")
    assert corrupt == room.told(bob)
    assert ["no saved games."] == [line.strip() for line in room.say(alice, "show saved")]
    room.say(bob, "invite alice 3")
    assert room.say(alice, "join bob")


def test_a_second_login_ends_the_first_and_its_match() -> None:
    room, alice, bob = two_players((6, 4))
    again = room.enter("alice")
    assert alice is not again
    assert "8 alice Closed old connection with user alice." in room.told(bob)
    assert "7 alice alice logs in again." in room.told(bob)
    assert "** Warning: You are already logged in." == room.told(again)[0]
    assert bob.table is None


def test_finishing_a_match_leaves_nothing_to_resume() -> None:
    room, alice, bob = two_players((6, 4), length=1)
    room.say(bob, "resign n")
    room.say(alice, "accept")
    assert ["no saved games."] == room.say(alice, "show saved")
    assert ["** There's no saved match with bob. Please give a match length."] == room.say(alice, "invite bob")
    assert "X: wins" == room.say(alice, "oldmoves bob")[-1]


def test_the_score_of_a_long_unlimited_match_still_fits_on_a_board() -> None:
    room, alice, _ = two_players((6, 4), length="unlimited")
    assert alice.table is not None
    set_state(alice.table, scores=(12288, 0))
    assert "9999" == boards(room.say(alice, "board"))[0].split(":")[4]


def test_reports_tell_about_all_matches(room: Room, alice: User, bob: User) -> None:
    carol = room.enter("carol")
    room.say(carol, "toggle report")
    room.start(alice, bob, 5)
    assert ["alice and bob start a 5 point match."] == room.told(carol)
    room.say(bob, "leave")
    assert ["bob has left the game with alice."] == room.told(carol)
    room.say(alice, "invite bob")
    room.say(bob, "join alice")
    assert ["alice and bob are resuming their 5-point match."] == room.told(carol)
    assert alice.table is not None
    set_state(alice.table, scores=(4, 2))
    room.say(bob, "resign n")
    room.say(alice, "accept")
    assert ["alice wins a 5 point match against bob  5-2 ."] == room.told(carol)
    assert not [line for line in room.told(alice) if "against" in line]


def test_colours_are_drawn_for_the_first_game() -> None:
    seats = set()
    for coin in (False, True):
        room = Room(ListedDice((6, 4), coin=coin))
        table = room.start(room.enter("alice"), room.enter("bob"))
        seats.add(table.colours[Seat.A])
    assert {-1, 1} == {int(colour) for colour in seats}
