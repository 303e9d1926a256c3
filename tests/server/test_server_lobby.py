"""Logging in, chat and watching: answers and refusals of every command about other users."""

from __future__ import annotations

import pytest
from fibs_protocol.words import Departure

from fibsbot.server.users import ClientMode, User
from tests.server.simulated_world import ListedDice, Room, boards, no_boards, two_players

# -- login ----------------------------------------------------------------------------------------------------------


def test_a_login_brings_everything_a_client_wants_in_order(room: Room, alice: User) -> None:
    room.say(alice, "message bob hello")  # no such user yet
    bob = room.enter("bob")
    room.leave(bob)
    room.say(alice, "message bob I'll log in at 10pm")
    bob = room.enter("bob")
    told = room.told(bob, status=True)
    assert "1 bob 1795176000 127.0.0.1" == told[0]
    assert "2 bob 1 1 0 1 0 0 1 1 0 0 1 0 1 1500.00 0 0 0 0 0 UTC" == told[1]
    assert ("3", "4") == (told[2], told[11])
    assert [
        "9 alice 1795176000 I'll log in at 10pm",
        "5 alice - - 0 0 1500.00 0 0 1795176000 127.0.0.1 test -",
        "5 bob - - 0 0 1500.00 0 0 1795176000 127.0.0.1 test -",
        "6",
    ] == told[12:]
    assert ["7 bob bob logs in."] == room.told(alice)
    assert "5 bob - - 0 0 1500.00 0 0 1795176000 127.0.0.1 test -" in room.told(alice, status=True)


def test_only_who_wants_it_hears_of_logins_but_every_client_sees_the_state(room: Room, alice: User) -> None:
    room.say(alice, "toggle notify")
    bob = room.enter("bob")
    assert [] == room.told(alice)
    assert 2 == len(room.told(alice, status=True))
    room.leave(bob, Departure.DROPPED)
    assert [] == room.told(alice, status=True)


@pytest.mark.parametrize(
    ("how", "text"),
    [
        (Departure.LOGGED_OUT, "8 bob bob logs out."),
        (Departure.DROPPED, "8 bob bob drops connection."),
        (Departure.TIMED_OUT, "8 bob Connection with bob timed out."),
        (Departure.NETWORK_ERROR, "8 bob Network error with bob."),
    ],
)
def test_logouts_are_told(room: Room, alice: User, bob: User, how: Departure, text: str) -> None:
    room.leave(bob, how)
    assert [text] == room.told(alice)


def test_a_person_reads_sentences(room: Room, alice: User) -> None:
    person = room.enter("person", ClientMode.TELNET, client=None)
    assert not [line for line in room.told(person, status=True) if line[:1].isdigit()]
    room.say(alice, "tell person hi")
    assert ["alice says: hi"] == room.told(person)
    room.say(alice, "toggle ready")
    assert [] == room.told(person, status=True)


# -- chat -----------------------------------------------------------------------------------------------------------


def test_shouts_reach_who_is_not_silent(room: Room, alice: User, bob: User) -> None:
    carol = room.enter("carol")
    room.say(carol, "toggle silent")
    assert ["17 hello, all"] == room.say(alice, "shout hello, all")
    assert ["13 alice hello, all"] == room.told(bob)
    assert [] == room.told(carol)
    assert ["** Please type 'toggle silent' again before you shout."] == room.say(carol, "shout me too")


def test_alerting(room: Room, alice: User, bob: User) -> None:
    """As tell, but the other's client gets line 20."""
    assert ["16 bob look here"] == room.say(alice, "alert bob look here")
    assert ["20 alice look here"] == room.told(bob)
    person = room.enter("person", ClientMode.TELNET, client=None)
    assert ["16 person wake up"] == room.say(alice, "alert pers wake up")
    assert ["*** alice: wake up"] == room.told(person)
    assert ["You say: bob I do"] == room.say(person, "alert bob I do")
    assert ["You say to yourself: hm"] == room.say(alice, "alert alice hm")
    assert ["** There is no one called nobody_here"] == room.say(alice, "alert nobody_here hi")
    assert ["** Tell whom?"] == room.say(alice, "alert")
    room.say(bob, "toggle bell")
    room.say(alice, "alert bob hi")
    assert ["20 alice hi\x07"] == room.told(bob)
    room.say(bob, "away at lunch")
    assert ["16 bob hi", "bob is away: at lunch"] == room.say(alice, "alert bob hi")
    room.say(alice, "gag bob")
    assert ["** You can't talk if you won't listen."] == room.say(alice, "alert bob hi")
    room.say(bob, "alert alice hi")
    assert "** alice won't listen to you." in room.told(bob)
    assert [] == room.told(alice)


def test_telling(room: Room, alice: User, bob: User) -> None:
    assert ["16 bob good luck"] == room.say(alice, "tell bob good luck")
    assert ["12 alice good luck"] == room.told(bob)
    assert [] == room.say(alice, "tellx bob no echo")
    assert ["12 alice no echo"] == room.told(bob)
    assert ["You say to yourself: hm"] == room.say(alice, "tell alice hm")
    assert ["** There is no one called nobody_here"] == room.say(alice, "tell nobody_here hi")


def test_a_name_may_be_cut_short_if_only_one_user_fits(room: Room, alice: User) -> None:
    room.enter("marvin")
    assert ["16 marvin hi"] == room.say(alice, "t ma hi")
    assert ["16 marvin hi"] == room.say(alice, "tell MAR hi")
    room.enter("mama")
    assert ["** There is no one called ma"] == room.say(alice, "t ma hi")


def test_gagging(room: Room, alice: User, bob: User) -> None:
    assert ["** Gagged users: none"] == room.say(alice, "gag")
    assert ["** You gag bob."] == room.say(alice, "gag bob")
    assert ["** Gagged users: bob"] == room.say(alice, "gag")
    assert ["** alice won't listen to you."] == room.say(bob, "tell alice hi")
    assert ["** You can't talk if you won't listen."] == room.say(alice, "tell bob hi")
    room.say(bob, "shout hi")
    assert [] == room.told(alice)
    assert ["** You ungag bob."] == room.say(alice, "gag bob")
    assert ["** You talk too much, don't you?"] == room.say(alice, "gag alice")
    assert ["** There is no one called nobody_here"] == room.say(alice, "gag nobody_here")


def test_say_kibitz_and_whisper_outside_of_matches(room: Room, alice: User) -> None:
    assert ["** 'say' can't be used outside a game"] == room.say(alice, "say hi")
    assert ["** You're not watching or playing."] == room.say(alice, "kibitz hi")
    assert ["** You're not watching or playing."] == room.say(alice, "whisper hi")


def test_say_kibitz_and_whisper_at_a_table() -> None:
    room, alice, bob = two_players((6, 4))
    carol, dave = room.enter("carol"), room.enter("dave")
    room.say(carol, "watch alice")
    room.say(dave, "watch bob")
    assert ["16 hi"] == room.say(alice, "say hi")
    assert ["12 alice hi"] == room.told(bob)
    assert ["19 nice", "** 3 users heard you."] == room.say(carol, "kibitz nice")
    for user in (alice, bob, dave):
        assert ["15 carol nice"] == room.told(user)
    assert ["18 psst", "** 1 user heard you."] == room.say(carol, "whisper psst")
    assert ["14 carol psst"] == room.told(dave)
    assert [] == room.told(alice)
    room.say(dave, "unwatch")
    assert ["18 psst", "** But nobody heard you."] == room.say(carol, "whisper psst")


def test_a_gag_does_not_help_against_the_players_one_watches() -> None:
    room, alice, bob = two_players((6, 4))
    carol = room.enter("carol")
    room.say(carol, "watch bob")
    room.say(carol, "gag alice")
    room.say(bob, "gag carol")
    room.say(alice, "kibitz hello")
    assert ["15 alice hello"] == room.told(carol)
    assert ["19 hello", "** 1 user heard you."] == room.say(carol, "kibitz hello")
    assert [] == room.told(bob)


def test_messages(room: Room, alice: User, bob: User) -> None:
    assert ["There are no new messages for you."] == room.say(alice, "message")
    assert ["10 bob"] == room.say(alice, "message bob hi")
    assert ["9 alice 1795176000 hi"] == room.told(bob)
    assert ["9 alice 1795176000 hi"] == room.say(bob, "message")
    room.leave(bob)
    assert ["11 bob"] == room.say(alice, "message bob later")
    assert ["** Don't know user nobody_here."] == room.say(alice, "message nobody_here hi")
    assert ["** usage: message <user> <text>"] == room.say(alice, "message bob")


def test_mail_is_bounded(room: Room, alice: User, bob: User) -> None:
    room.leave(bob)
    answers = {room.say(alice, "message bob x")[0] for _ in range(101)}
    assert {"11 bob", "** bob won't listen to you."} == answers


def test_away_and_back(room: Room, alice: User, bob: User) -> None:
    assert ["None of the users is away."] == room.say(alice, "away")
    assert ["You're away. Please type 'back'"] == room.say(alice, "away out to lunch")
    assert "5 alice - - 0 1 1500.00 0 0 1795176000 127.0.0.1 test -" in room.told(bob, status=True)
    assert ["The following users are away:", "alice: out to lunch"] == room.say(bob, "away")
    assert ["The following users are away:", "You: out to lunch", "You're away. Please type 'back'"] == room.say(
        alice, "away"
    )
    assert ["16 alice hi", "alice is away: out to lunch"] == room.say(bob, "tell alice hi")
    assert ["Welcome back."] == room.say(alice, "back")
    assert ["** You're not away."] == room.say(alice, "back")


def test_waitfor(room: Room, alice: User) -> None:
    room.leave(room.enter("bob"))
    assert ["You are not waiting for any players."] == room.say(alice, "waitfor")
    assert [
        "** You'll receive a message when 'bob' logs in.",
        "** There is no user called 'nobody_here'.",
        "** Look behind you. Maybe you are waiting there.",
    ] == room.say(alice, "waitfor bob nobody_here alice")
    assert ["You are waiting for bob"] == room.say(alice, "waitfor")
    bob = room.enter("bob")
    assert "** FINALLY!!! bob logs in.\x07\x07\x07" in room.told(alice)
    assert "** alice is waiting for you to log in." in room.told(bob)
    assert ["** 'bob' is already logged in."] == room.say(alice, "waitfor bob")


def test_waving_twice_logs_out(room: Room, alice: User, bob: User) -> None:
    assert ["You wave goodbye."] == room.say(alice, "wave")
    assert ["alice waves goodbye."] == room.told(bob)
    told = room.say(alice, "wave")
    assert "You wave goodbye again and log out." == told[0]
    assert "                             Goodbye." in told
    assert ["alice waves goodbye again.", "8 alice alice logs out."] == room.told(bob)


def test_the_bell_rings_for_who_wants_it(room: Room, alice: User, bob: User) -> None:
    room.say(bob, "toggle bell")
    room.say(bob, "toggle ready")
    room.say(alice, "tell bob hi")
    assert ["12 alice hi\x07"] == room.told(bob)
    room.say(alice, "invite bob 1")
    assert "alice wants to play a 1 point match with you.\x07" == room.told(bob)[0]


# -- watching -------------------------------------------------------------------------------------------------------


def test_watching_somebody_idle(room: Room, alice: User, bob: User) -> None:
    assert ["You're now watching bob.", "bob is not doing anything interesting."] == room.say(alice, "watch bob")
    assert ["alice is watching you."] == room.told(bob)
    assert "5 alice - bob 0 0 1500.00 0 0 1795176000 127.0.0.1 test -" in room.told(bob, status=True)
    assert ["** bob is not playing."] == room.say(alice, "board")
    assert ["You stop watching bob."] == room.say(alice, "unwatch")
    assert ["alice stops watching you."] == room.told(bob)
    assert ["** You're not watching."] == room.say(alice, "unwatch")


def test_refusals_to_watch_and_look(room: Room, alice: User, bob: User) -> None:
    assert ["** Watch who?"] == room.say(alice, "watch")
    assert ["** Look at who?"] == room.say(alice, "look")
    assert ["** Use a mirror to do that."] == room.say(alice, "watch alice")
    assert ["You look great."] == room.say(alice, "look alice")
    assert ["** There is no one called nobody_here"] == room.say(alice, "watch nobody_here")
    assert ["** bob is not playing."] == room.say(alice, "look bob")
    room.say(bob, "blind alice")
    assert ["** bob doesn't want you to watch."] == room.say(alice, "watch bob")
    assert ["** Blinded users: alice"] == room.say(bob, "blind")
    assert ["** You unblind alice."] == room.say(bob, "blind alice")
    assert ["** You can't read this message now, can you?"] == room.say(bob, "blind bob")


def test_a_watcher_sees_the_game_from_the_watched_players_side() -> None:
    room, alice, bob = two_players((6, 4), (5, 2))
    carol = room.enter("carol")
    assert ["You're now watching alice."] == room.say(carol, "watch alice")
    assert ["carol is watching you."] == room.told(alice)
    assert ["carol starts watching alice."] == room.told(bob)
    assert ["** You can't watch another game while you're playing."] == room.say(alice, "watch carol")
    room.say(alice, "move 12-16 17-23")
    assert ["alice moves 12-16 17-23 ."] == no_boards(room.told(carol))
    assert boards(room.told(carol))[0].startswith("board:alice:bob:3:")
    room.say(bob, "double")
    assert ["bob doubles."] == room.told(carol)
    room.say(alice, "accept")
    assert ["alice accepts the double.", "bob rolls 5 and 2."] == no_boards(room.told(carol))
    room.say(alice, "resign g")
    assert ["alice wants to resign. bob will win 4 points."] == room.told(carol)
    room.say(bob, "reject")
    assert ["bob rejects. The game continues."] == room.told(carol)
    assert room.say(carol, "pip")[0].startswith("Pipcounts: alice 157   bob 1")
    room.say(alice, "resign n")
    room.say(bob, "accept")
    assert ["bob accepts and wins 2 points.", "score in 3 point match: alice-0 bob-2"] == room.told(carol)
    room.say(alice, "leave")
    assert [] == room.told(carol)


def test_watching_goes_on_with_the_next_match() -> None:
    room = Room(ListedDice((6, 4)))
    alice, bob, carol = room.enter("alice"), room.enter("bob"), room.enter("carol")
    room.say(carol, "watch bob")
    room.start(alice, bob, 5)
    assert [
        "alice and bob start a 5 point match.",
        "Starting a new game with alice.",
        "bob rolled 4, alice rolled 6",
        "alice makes the first move.",
    ] == no_boards(room.told(carol))


def test_who_begins_to_play_stops_watching(room: Room, alice: User, bob: User) -> None:
    carol = room.enter("carol")
    room.say(alice, "watch carol")
    room.start(alice, bob)
    assert alice.watching is None
    assert "alice stops watching you." in room.told(carol)


def test_blinding_sends_watchers_away() -> None:
    room, alice, bob = two_players((6, 4))
    carol = room.enter("carol")
    room.say(carol, "watch alice")
    assert "** You blind carol." == room.say(bob, "blind carol")[0]
    assert ["bob bans you from watching."] == room.told(carol)
    assert "bob bans carol from watching." in room.told(alice)
    assert carol.watching is None
    assert ["** alice doesn't want you to watch."] == room.say(carol, "watch alice")
    assert ["** alice doesn't want you to look."] == room.say(carol, "look alice")


def test_a_banned_watcher_only_hears_that_the_match_begins(room: Room, alice: User, bob: User) -> None:
    carol = room.enter("carol")
    room.say(carol, "watch bob")
    room.say(alice, "blind carol")
    room.start(alice, bob, 5)
    assert [
        "alice and bob start a 5 point match.",
        "** You can't watch the match between alice and bob.",
    ] == room.told(carol)


def test_watchers_are_told_when_the_watched_user_leaves(room: Room, alice: User, bob: User) -> None:
    room.say(alice, "watch bob")
    room.leave(bob, Departure.DROPPED)
    assert "bob drops connection.. You're not watching anymore." == room.told(alice)[0]
    assert alice.watching is None


def test_looking_once() -> None:
    room, alice, _ = two_players((6, 4))
    carol = room.enter("carol")
    assert boards(room.say(carol, "look bob"))[0].startswith("board:bob:alice:3:")
    assert [] == room.told(alice)


def test_pip_counts_need_both_players_consent() -> None:
    room, alice, bob = two_players((6, 4))
    assert ["Pipcounts: You 167   bob 167"] == room.say(alice, "pip")
    room.say(bob, "toggle allowpip")
    assert ["** bob doesn't allow this. Ask bob to 'toggle allowpip'"] == room.say(alice, "pip")
    assert ["** Type 'toggle allowpip' first."] == room.say(bob, "pip")
    assert ["** You're not watching or playing."] == room.say(room.enter("carol"), "pip")
