"""Logging in, chat and watching: answers and refusals of every command about other users."""

from __future__ import annotations

import pytest

from fibs_protocol.words import Departure
from fibsbot.server.users import ClientMode, User
from tests.server.simulated_world import ListedDice, Simulation, boards, no_boards, two_players

# -- login ----------------------------------------------------------------------------------------------------------


def test_a_login_sends_everything_a_client_needs_in_order(simulation: Simulation, alice: User) -> None:
    simulation.say(alice, "message bob hello")  # no such user yet
    bob = simulation.log_in("bob")
    simulation.log_out(bob)
    simulation.say(alice, "message bob I'll log in at 10pm")
    bob = simulation.log_in("bob")
    received = simulation.received(bob, status=True)
    assert "1 bob 1795176000 127.0.0.1" == received[0]
    assert "2 bob 1 1 0 0 0 0 1 1 0 0 1 0 1 1500.00 0 0 0 0 0 UTC" == received[1]
    assert ("3", "4") == (received[2], received[11])
    assert [
        "9 alice 1795176000 I'll log in at 10pm",
        "5 alice - - 0 0 1500.00 0 0 1795176000 127.0.0.1 test -",
        "5 bob - - 0 0 1500.00 0 0 1795176000 127.0.0.1 test -",
        "6",
    ] == received[12:]
    assert ["7 bob bob logs in."] == simulation.received(alice)
    assert "5 bob - - 0 0 1500.00 0 0 1795176000 127.0.0.1 test -" in simulation.received(alice, status=True)


def test_logins_are_announced_on_request_but_every_client_gets_the_status(simulation: Simulation, alice: User) -> None:
    simulation.say(alice, "toggle notify")
    bob = simulation.log_in("bob")
    assert [] == simulation.received(alice)
    assert 2 == len(simulation.received(alice, status=True))
    simulation.log_out(bob, Departure.DROPPED)
    assert [] == simulation.received(alice, status=True)


@pytest.mark.parametrize(
    ("how", "text"),
    [
        (Departure.LOGGED_OUT, "8 bob bob logs out."),
        (Departure.DROPPED, "8 bob bob drops connection."),
        (Departure.TIMED_OUT, "8 bob Connection with bob timed out."),
        (Departure.NETWORK_ERROR, "8 bob Network error with bob."),
    ],
)
def test_logouts_are_announced(simulation: Simulation, alice: User, bob: User, how: Departure, text: str) -> None:
    simulation.log_out(bob, how)
    assert [text] == simulation.received(alice)


def test_a_person_reads_sentences(simulation: Simulation, alice: User) -> None:
    person = simulation.log_in("person", ClientMode.TELNET, client=None)
    assert not [line for line in simulation.received(person, status=True) if line[:1].isdigit()]
    simulation.say(alice, "tell person hi")
    assert ["alice says: hi"] == simulation.received(person)
    simulation.say(alice, "toggle ready")
    assert [] == simulation.received(person, status=True)


# -- chat -----------------------------------------------------------------------------------------------------------


def test_shouts_reach_users_who_are_not_silent(simulation: Simulation, alice: User, bob: User) -> None:
    carol = simulation.log_in("carol")
    simulation.say(carol, "toggle silent")
    assert ["17 hello, all"] == simulation.say(alice, "shout hello, all")
    assert ["13 alice hello, all"] == simulation.received(bob)
    assert [] == simulation.received(carol)
    assert ["** Please type 'toggle silent' again before you shout."] == simulation.say(carol, "shout me too")


def test_alert(simulation: Simulation, alice: User, bob: User) -> None:
    """Like tell, but the other user's client gets line 20."""
    assert ["16 bob look here"] == simulation.say(alice, "alert bob look here")
    assert ["20 alice look here"] == simulation.received(bob)
    person = simulation.log_in("person", ClientMode.TELNET, client=None)
    assert ["16 person wake up"] == simulation.say(alice, "alert pers wake up")
    assert ["*** alice: wake up"] == simulation.received(person)
    assert ["You say: bob I do"] == simulation.say(person, "alert bob I do")
    assert ["You say to yourself: hm"] == simulation.say(alice, "alert alice hm")
    assert ["** There is no one called nobody_here"] == simulation.say(alice, "alert nobody_here hi")
    assert ["** Tell whom?"] == simulation.say(alice, "alert")
    simulation.say(bob, "toggle bell")
    simulation.say(alice, "alert bob hi")
    assert ["20 alice hi\x07"] == simulation.received(bob)
    simulation.say(bob, "away at lunch")
    assert ["16 bob hi", "bob is away: at lunch"] == simulation.say(alice, "alert bob hi")
    simulation.say(alice, "gag bob")
    assert ["** You can't talk if you won't listen."] == simulation.say(alice, "alert bob hi")
    simulation.say(bob, "alert alice hi")
    assert "** alice won't listen to you." in simulation.received(bob)
    assert [] == simulation.received(alice)


def test_tell(simulation: Simulation, alice: User, bob: User) -> None:
    assert ["16 bob good luck"] == simulation.say(alice, "tell bob good luck")
    assert ["12 alice good luck"] == simulation.received(bob)
    assert [] == simulation.say(alice, "tellx bob no echo")
    assert ["12 alice no echo"] == simulation.received(bob)
    assert ["You say to yourself: hm"] == simulation.say(alice, "tell alice hm")
    assert ["** There is no one called nobody_here"] == simulation.say(alice, "tell nobody_here hi")


def test_a_name_may_be_abbreviated_if_it_is_unambiguous(simulation: Simulation, alice: User) -> None:
    simulation.log_in("marvin")
    assert ["16 marvin hi"] == simulation.say(alice, "t ma hi")
    assert ["16 marvin hi"] == simulation.say(alice, "tell MAR hi")
    simulation.log_in("mama")
    assert ["** There is no one called ma"] == simulation.say(alice, "t ma hi")


def test_gag(simulation: Simulation, alice: User, bob: User) -> None:
    assert ["** Gagged users: none"] == simulation.say(alice, "gag")
    assert ["** You gag bob."] == simulation.say(alice, "gag bob")
    assert ["** Gagged users: bob"] == simulation.say(alice, "gag")
    assert ["** alice won't listen to you."] == simulation.say(bob, "tell alice hi")
    assert ["** You can't talk if you won't listen."] == simulation.say(alice, "tell bob hi")
    simulation.say(bob, "shout hi")
    assert [] == simulation.received(alice)
    assert ["** You ungag bob."] == simulation.say(alice, "gag bob")
    assert ["** You talk too much, don't you?"] == simulation.say(alice, "gag alice")
    assert ["** There is no one called nobody_here"] == simulation.say(alice, "gag nobody_here")


def test_say_kibitz_and_whisper_outside_of_matches(simulation: Simulation, alice: User) -> None:
    assert ["** 'say' can't be used outside a game"] == simulation.say(alice, "say hi")
    assert ["** You're not watching or playing."] == simulation.say(alice, "kibitz hi")
    assert ["** You're not watching or playing."] == simulation.say(alice, "whisper hi")


def test_say_kibitz_and_whisper_in_a_match() -> None:
    simulation, alice, bob = two_players((6, 4))
    carol, dave = simulation.log_in("carol"), simulation.log_in("dave")
    simulation.say(carol, "watch alice")
    simulation.say(dave, "watch bob")
    assert ["16 hi"] == simulation.say(alice, "say hi")
    assert ["12 alice hi"] == simulation.received(bob)
    assert ["19 nice", "** 3 users heard you."] == simulation.say(carol, "kibitz nice")
    for user in (alice, bob, dave):
        assert ["15 carol nice"] == simulation.received(user)
    assert ["18 psst", "** 1 user heard you."] == simulation.say(carol, "whisper psst")
    assert ["14 carol psst"] == simulation.received(dave)
    assert [] == simulation.received(alice)
    simulation.say(dave, "unwatch")
    assert ["18 psst", "** But nobody heard you."] == simulation.say(carol, "whisper psst")


def test_a_gag_does_not_apply_to_watched_players() -> None:
    simulation, alice, bob = two_players((6, 4))
    carol = simulation.log_in("carol")
    simulation.say(carol, "watch bob")
    simulation.say(carol, "gag alice")
    simulation.say(bob, "gag carol")
    simulation.say(alice, "kibitz hello")
    assert ["15 alice hello"] == simulation.received(carol)
    assert ["19 hello", "** 1 user heard you."] == simulation.say(carol, "kibitz hello")
    assert [] == simulation.received(bob)


def test_messages(simulation: Simulation, alice: User, bob: User) -> None:
    assert ["There are no new messages for you."] == simulation.say(alice, "message")
    assert ["10 bob"] == simulation.say(alice, "message bob hi")
    assert ["9 alice 1795176000 hi"] == simulation.received(bob)
    assert ["9 alice 1795176000 hi"] == simulation.say(bob, "message")
    simulation.log_out(bob)
    assert ["11 bob"] == simulation.say(alice, "message bob later")
    assert ["** Don't know user nobody_here."] == simulation.say(alice, "message nobody_here hi")
    assert ["** usage: message <user> <text>"] == simulation.say(alice, "message bob")


def test_mail_is_bounded(simulation: Simulation, alice: User, bob: User) -> None:
    simulation.log_out(bob)
    answers = {simulation.say(alice, "message bob x")[0] for _ in range(101)}
    assert {"11 bob", "** bob won't listen to you."} == answers


def test_away_and_back(simulation: Simulation, alice: User, bob: User) -> None:
    assert ["None of the users is away."] == simulation.say(alice, "away")
    assert ["You're away. Please type 'back'"] == simulation.say(alice, "away out to lunch")
    assert "5 alice - - 0 1 1500.00 0 0 1795176000 127.0.0.1 test -" in simulation.received(bob, status=True)
    assert ["The following users are away:", "alice: out to lunch"] == simulation.say(bob, "away")
    assert ["The following users are away:", "You: out to lunch", "You're away. Please type 'back'"] == simulation.say(
        alice, "away"
    )
    assert ["16 alice hi", "alice is away: out to lunch"] == simulation.say(bob, "tell alice hi")
    assert ["Welcome back."] == simulation.say(alice, "back")
    assert ["** You're not away."] == simulation.say(alice, "back")


def test_waitfor(simulation: Simulation, alice: User) -> None:
    simulation.log_out(simulation.log_in("bob"))
    assert ["You are not waiting for any players."] == simulation.say(alice, "waitfor")
    assert [
        "** You'll receive a message when 'bob' logs in.",
        "** There is no user called 'nobody_here'.",
        "** Look behind you. Maybe you are waiting there.",
    ] == simulation.say(alice, "waitfor bob nobody_here alice")
    assert ["You are waiting for bob"] == simulation.say(alice, "waitfor")
    bob = simulation.log_in("bob")
    assert "** FINALLY!!! bob logs in.\x07\x07\x07" in simulation.received(alice)
    assert "** alice is waiting for you to log in." in simulation.received(bob)
    assert ["** 'bob' is already logged in."] == simulation.say(alice, "waitfor bob")


def test_waving_twice_logs_out(simulation: Simulation, alice: User, bob: User) -> None:
    assert ["You wave goodbye."] == simulation.say(alice, "wave")
    assert ["alice waves goodbye."] == simulation.received(bob)
    received = simulation.say(alice, "wave")
    assert "You wave goodbye again and log out." == received[0]
    assert "                             Goodbye." in received
    assert ["alice waves goodbye again.", "8 alice alice logs out."] == simulation.received(bob)


def test_the_bell_rings_for_users_with_the_toggle_on(simulation: Simulation, alice: User, bob: User) -> None:
    simulation.say(bob, "toggle bell")
    simulation.say(bob, "toggle ready")
    simulation.say(alice, "tell bob hi")
    assert ["12 alice hi\x07"] == simulation.received(bob)
    simulation.say(alice, "invite bob 1")
    assert "alice wants to play a 1 point match with you.\x07" == simulation.received(bob)[0]


def test_an_error_at_the_logout_does_not_block_the_account(
    simulation: Simulation, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulation.start(alice, bob)
    with monkeypatch.context() as patched:
        patched.setattr(simulation.world, "save_matches", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            simulation.log_out(alice)
    alice = simulation.log_in("alice")
    assert "** You terminated the game. The game was saved." in simulation.say(bob, "leave")
    simulation.say(alice, "invite bob")
    assert "You are now playing with alice. Your running match was loaded." in simulation.say(bob, "join alice")


# -- watching -------------------------------------------------------------------------------------------------------


def test_watching_an_idle_user(simulation: Simulation, alice: User, bob: User) -> None:
    assert ["You're now watching bob.", "bob is not doing anything interesting."] == simulation.say(alice, "watch bob")
    assert ["alice is watching you."] == simulation.received(bob)
    assert "5 alice - bob 0 0 1500.00 0 0 1795176000 127.0.0.1 test -" in simulation.received(bob, status=True)
    assert ["** bob is not playing."] == simulation.say(alice, "board")
    assert ["You stop watching bob."] == simulation.say(alice, "unwatch")
    assert ["alice stops watching you."] == simulation.received(bob)
    assert ["** You're not watching."] == simulation.say(alice, "unwatch")


def test_refusals_to_watch_and_look(simulation: Simulation, alice: User, bob: User) -> None:
    assert ["** Watch who?"] == simulation.say(alice, "watch")
    assert ["** Look at who?"] == simulation.say(alice, "look")
    assert ["** Use a mirror to do that."] == simulation.say(alice, "watch alice")
    assert ["You look great."] == simulation.say(alice, "look alice")
    assert ["** There is no one called nobody_here"] == simulation.say(alice, "watch nobody_here")
    assert ["** bob is not playing."] == simulation.say(alice, "look bob")
    simulation.say(bob, "blind alice")
    assert ["** bob doesn't want you to watch."] == simulation.say(alice, "watch bob")
    assert ["** Blinded users: alice"] == simulation.say(bob, "blind")
    assert ["** You unblind alice."] == simulation.say(bob, "blind alice")
    assert ["** You can't read this message now, can you?"] == simulation.say(bob, "blind bob")


def test_a_watcher_sees_the_game_from_the_watched_players_side() -> None:
    simulation, alice, bob = two_players((6, 4), (5, 2))
    carol = simulation.log_in("carol")
    assert ["You're now watching alice."] == simulation.say(carol, "watch alice")
    assert ["carol is watching you."] == simulation.received(alice)
    assert ["carol starts watching alice."] == simulation.received(bob)
    assert ["** You can't watch another game while you're playing."] == simulation.say(alice, "watch carol")
    simulation.say(alice, "move 12-16 17-23")
    assert ["alice moves 12-16 17-23 ."] == no_boards(simulation.received(carol))
    assert boards(simulation.received(carol))[0].startswith("board:alice:bob:3:")
    simulation.say(bob, "double")
    assert ["bob doubles."] == simulation.received(carol)
    simulation.say(alice, "accept")
    assert ["alice accepts the double.", "bob rolls 5 and 2."] == no_boards(simulation.received(carol))
    simulation.say(alice, "resign g")
    assert ["alice wants to resign. bob will win 4 points."] == simulation.received(carol)
    simulation.say(bob, "reject")
    assert ["bob rejects. The game continues."] == simulation.received(carol)
    assert simulation.say(carol, "pip")[0].startswith("Pipcounts: alice 157   bob 1")
    simulation.say(alice, "resign n")
    simulation.say(bob, "accept")
    assert ["bob accepts and wins 2 points.", "score in 3 point match: alice-0 bob-2"] == simulation.received(carol)
    simulation.say(alice, "leave")
    assert [] == simulation.received(carol)


def test_watching_continues_with_the_next_match() -> None:
    simulation = Simulation(ListedDice((6, 4)))
    alice, bob, carol = simulation.log_in("alice"), simulation.log_in("bob"), simulation.log_in("carol")
    simulation.say(carol, "watch bob")
    simulation.start(alice, bob, 5)
    assert [
        "alice and bob start a 5 point match.",
        "Starting a new game with alice.",
        "bob rolled 4, alice rolled 6",
        "alice makes the first move.",
    ] == no_boards(simulation.received(carol))


def test_starting_a_match_stops_watching(simulation: Simulation, alice: User, bob: User) -> None:
    carol = simulation.log_in("carol")
    simulation.say(alice, "watch carol")
    simulation.start(alice, bob)
    assert alice.watching is None
    assert "alice stops watching you." in simulation.received(carol)


@pytest.mark.parametrize(("watcher", "watched"), [("alice", "bob"), ("bob", "alice")])
@pytest.mark.parametrize("saved", [False, True])
def test_who_watches_the_opponent_stops_when_their_match_begins(*, watcher: str, watched: str, saved: bool) -> None:
    simulation, alice, bob = two_players((6, 4))
    users = {"alice": alice, "bob": bob}
    simulation.say(alice, "leave")
    simulation.say(users[watcher], f"watch {watched}")
    simulation.say(alice, "invite bob" if saved else "invite bob 5")
    simulation.say(bob, "join alice")
    assert users[watcher].watching is None
    assert f"{watcher} stops watching you." in simulation.received(users[watched])
    assert alice.match is bob.match is not None
    assert "** You terminated the game. The game was saved." in simulation.say(alice, "leave")


def test_blinding_a_watcher_ends_the_watching() -> None:
    simulation, alice, bob = two_players((6, 4))
    carol = simulation.log_in("carol")
    simulation.say(carol, "watch alice")
    assert "** You blind carol." == simulation.say(bob, "blind carol")[0]
    assert ["bob bans you from watching."] == simulation.received(carol)
    assert "bob bans carol from watching." in simulation.received(alice)
    assert carol.watching is None
    assert ["** alice doesn't want you to watch."] == simulation.say(carol, "watch alice")
    assert ["** alice doesn't want you to look."] == simulation.say(carol, "look alice")


def test_a_banned_watcher_only_gets_the_start_of_the_match(simulation: Simulation, alice: User, bob: User) -> None:
    carol = simulation.log_in("carol")
    simulation.say(carol, "watch bob")
    simulation.say(alice, "blind carol")
    simulation.start(alice, bob, 5)
    assert [
        "alice and bob start a 5 point match.",
        "** You can't watch the match between alice and bob.",
    ] == simulation.received(carol)


def test_watchers_get_a_message_when_the_watched_user_leaves(simulation: Simulation, alice: User, bob: User) -> None:
    simulation.say(alice, "watch bob")
    simulation.log_out(bob, Departure.DROPPED)
    assert "bob drops connection.. You're not watching anymore." == simulation.received(alice)[0]
    assert alice.watching is None


def test_look() -> None:
    simulation, alice, _ = two_players((6, 4))
    carol = simulation.log_in("carol")
    assert boards(simulation.say(carol, "look bob"))[0].startswith("board:bob:alice:3:")
    assert [] == simulation.received(alice)


def test_pip_counts_need_both_players_consent() -> None:
    simulation, alice, bob = two_players((6, 4))
    assert ["Pipcounts: You 167   bob 167"] == simulation.say(alice, "pip")
    simulation.say(bob, "toggle allowpip")
    assert ["** bob doesn't allow this. Ask bob to 'toggle allowpip'"] == simulation.say(alice, "pip")
    assert ["** Type 'toggle allowpip' first."] == simulation.say(bob, "pip")
    assert ["** You're not watching or playing."] == simulation.say(simulation.log_in("carol"), "pip")
