"""Saved matches: in which order, when, and by whose invitation they are resumed."""

from __future__ import annotations

import pytest

from fibs_protocol.session import State
from fibsbot.bot.events_and_actions import PauseRequested
from fibsbot.match import Phase
from fibsbot.policy import Lengths, NamePattern, Policy
from fibsbot.strategies.base import CubeAction
from tests.bot.agent_script import AFTER_61, ME, OWN_INFO, Script, board
from tests.bot.lobby_lines import INVITED, RESUME, SAVED, TIME, saved, who

LEFT = "** Player ford has left the game. The game was saved."
PROMISE = "tell ford You left our match; it is saved. I'll invite you once to resume it, in 5 minutes."
TOOK = "** You invited ford to resume a saved match."


FREE = who("ford")
BUSY = who("ford", "zaphod")


def invites(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("invite")]


def test_a_saved_match_is_resumed_when_its_opponent_is_online() -> None:
    script = Script(invite="trillian").to_lobby(saved=SAVED)
    assert ["invite ford"] == script.server(who("ford"))
    script.server("** You invited ford to resume a saved match.")
    assert ["board"] == script.server("ford has joined you. Your running match was loaded.")
    assert [] == script.server(board(score="1:3", cells=AFTER_61, dice="6:4"))
    known = {"rating": 1623.45, "experience": 2396, "client": "client"}
    assert {"opponent": "ford", "length": None, "resumed": True, **known} == script.events("match_started")[0]


@pytest.mark.parametrize("shown", [board(score="1:3", cells=AFTER_61, turn=turn) for turn in (1, -1)])
def test_a_resignation_that_was_open_is_answered_when_its_board_comes(shown: str) -> None:
    script = Script().to_lobby(saved=SAVED)
    script.server(who("ford"), "** You invited ford to resume a saved match.")
    offer = "ford wants to resign. You will win 1 point. Type 'accept' or 'reject'."
    assert ["board"] == script.server("ford has joined you. Your running match was loaded.", "turn: ford.", offer)
    script.server(shown)
    assert Phase.RESIGNED is script.key.phase
    assert ["reject"] == script.verdict(accepted=False)


def test_we_roll_when_our_own_resignation_that_was_open_is_rejected() -> None:
    script = Script().to_lobby(saved=SAVED)
    script.server(who("ford"), "** You invited ford to resume a saved match.")
    offer = "You want to resign. ford will win 1 point."
    script.server("ford has joined you. Your running match was loaded.", "turn: marvin.", offer)
    shown = board(score="1:3", cells=AFTER_61)
    assert [] == script.server(shown)
    assert ["board"] == script.server("ford rejects. The game continues.")
    script.server(shown)
    assert Phase.ROLL is script.key.phase
    assert ["roll"] == script.roll()


def test_a_saved_match_longer_than_our_limit_is_finished_if_points_were_played_for() -> None:
    only_short = Policy(lengths=Lengths(((1, 3),)))
    assert ["invite ford"] == Script(policy=only_short).to_lobby(saved=SAVED).server(who("ford"))
    swapped_in = (SAVED[0], SAVED[1].replace("1 -  3", "0 -  0"))
    assert [] == Script(policy=only_short).to_lobby(saved=swapped_in).server(who("ford"))


def test_an_invitation_to_resume_is_answered_with_our_own() -> None:
    script = Script().to_lobby(saved=SAVED)
    assert ["invite ford"] == script.server(*RESUME)


def test_of_two_mutual_inviters_the_first_one_joins() -> None:
    first = Script().to_lobby(saved=SAVED)
    assert ["invite ford"] == first.server(who("ford"))
    assert ["join ford"] == first.server("** You invited ford to resume a saved match.", *RESUME)
    second = Script().to_lobby(saved=SAVED)
    assert ["invite ford"] == second.server(who("ford"))
    assert [] == second.server(*RESUME, "** You invited ford to resume a saved match.")


@pytest.mark.parametrize("said", ["There's no saved match with ford", "Theres no saved match with {0}"])
def test_a_match_that_does_not_exist_is_forgotten(said: str) -> None:
    script = Script().to_lobby(saved=SAVED)
    assert ["invite ford"] == script.server(who("ford"))
    script.server(f"** {said}. Please give a match length.")
    assert [] == script.wait(100)


def test_a_resumed_match_beyond_our_limits_is_left() -> None:
    script = Script(policy=Policy(lengths=Lengths(((1, 7),)))).to_lobby()
    assert ["invite ford"] == script.server(*RESUME)
    assert ["board"] == script.server("ford has joined you. Your running match was loaded.")
    assert ["leave"] == script.server(board(length=9, cells=AFTER_61, dice="6:4"))
    assert [] == script.server("** You terminated the game. The game was saved.")
    assert State.LOBBY is script.agent.state


def test_an_invitation_that_crosses_a_match_does_not_spoil_its_first_play() -> None:
    script = Script().to_lobby(saved=saved("ford", "zaphod"))
    assert ["invite ford"] == script.server(who("ford"), who("zaphod"), "6")
    assert ["invite zaphod"] == script.server(TOOK) + script.wait(30)
    shown = board(cells=AFTER_61, dice="6:4", score="1:3")
    script.server("ford has joined you. Your running match was loaded.", shown)
    assert [] == script.first_play(), "what zaphod was asked is still to be refused"
    assert ["move 24-20 24-18"] == script.server("** You are already playing.")
    assert [] == script.server(shown, "Please move 2 pieces.")


def test_a_match_that_the_opponent_left_is_resumed_on_their_return() -> None:
    script = Script().to_my_roll()
    script.server("ford drops connection. The game was saved.", "8 ford ford drops connection.")
    assert [] == script.wait(60)
    expected = {"opponent": "ford", "length": 5, "why": "opponent_gone", "how": "dropped connection"}
    assert expected == script.events("match_saved")[0]
    assert [] == script.server("7 ford ford logs in.", who("ford", ready=False))
    assert ["invite ford"] == script.server(who("ford"))


def test_a_match_that_the_connection_broke_is_resumed_after_the_next_login() -> None:
    script = Script().to_my_roll()
    script.lose()
    script.to_lobby()
    assert ["invite ford"] == script.server(who("ford"))


def quiet(script: Script, seconds: float, took: str = TOOK, ford: str = FREE) -> list[str]:
    """Advance the clock; ford is online and idle."""
    answers = {"time": (TIME,), "rawwho": (ford, who(ME), "6"), "invite ford": (took,)}
    end, sent = script.now + seconds, []
    while script.now < end:
        said = script.wait(1)
        while said:
            sent += said
            said = script.server(*(line for command in said for line in answers.get(command, ())))
    return sent


# -- which one, and when --------------------------------------------------------------------------------------------


def test_the_oldest_match_comes_first_and_recent_ones_last() -> None:
    script = Script().to_my_roll()
    script.lose()
    script.connect()
    script.raw(b"login: ")
    names = ("ford", "zaphod", "arthur")
    script.server(f"1 {ME} 1 h", OWN_INFO, *(who(name) for name in names), "6")
    sent = script.server(*saved(*names), "Value of 'boardstyle' set to 3.")
    for _ in names:
        sent += script.server(TOOK)
        sent += script.wait(30)
    assert ["invite zaphod", "invite arthur", "invite ford"] == invites(sent)[:3]


def test_the_oldest_match_is_known_from_the_store() -> None:
    script = Script()
    names = ("ford", "zaphod", "arthur", "trillian")
    for age, name in enumerate(("ford", "arthur", "zaphod")):
        script.agent._connection.context.memory.load(name, broke_off=-100.0 * (age + 1))
    script.connect()
    script.raw(b"login: ")
    script.server(f"1 {ME} 1 h", OWN_INFO, *(who(name) for name in names), "6")
    sent = script.server(*saved(*names), "Value of 'boardstyle' set to 3.")
    for _ in names:
        sent += script.server(TOOK)
        sent += script.wait(30)
    assert ["invite trillian", "invite zaphod", "invite arthur", "invite ford"] == invites(sent)[:4]


def test_the_age_of_a_match_survives_a_crash_of_the_run() -> None:
    script = Script().to_my_roll()
    script.lose()
    assert script.now == script.agent._connection.context.memory.history_of("ford").broke_off


def test_one_opponent_is_asked_at_a_time() -> None:
    script = Script().to_lobby(saved=saved("ford", "zaphod"))
    assert ["invite ford"] == script.server(who("ford"))
    assert [] == script.server(TOOK, who("zaphod"))
    assert [] == script.wait(28)
    assert ["invite zaphod"] == script.wait(2)


def test_after_each_match_the_saved_ones_come_first() -> None:
    script = Script(invite="arthur").to_lobby(saved=saved("ford"))
    script.server(BUSY, who("arthur"))
    script.server("** Player arthur has joined you for a 1 point match.", who("ford"))
    assert ["invite ford"] == script.server("You win the 1 point match 1-0 .")


def test_an_accepted_invitation_waits_for_a_saved_match() -> None:
    script = Script().to_lobby(saved=saved("zaphod"))
    script.server(*INVITED)
    script.verdict(accepted=True)
    assert ["invite zaphod"] == script.server(who("zaphod"))
    script.server("** You invited zaphod to resume a saved match.")
    assert [] == script.wait(28)
    assert ["join ford"] == script.wait(3), "zaphod does not answer"


def test_saved_matches_are_resumed_during_a_pause() -> None:
    script = Script(policy=Policy(accept=False, people=False)).to_lobby(saved=SAVED)
    script.event(PauseRequested(script.now, paused=True))
    assert ["invite ford"] == script.server(who("ford"))


def test_an_opponent_who_does_not_answer_is_invited_less_and_less_often() -> None:
    script = Script().to_lobby(saved=SAVED)
    start = script.now
    assert ["invite ford"] == script.server(who("ford"), TOOK)
    times = [script.now - start for _ in range(8000) if invites(quiet(script, 1))]
    assert pytest.approx([30, 90, 210, 450, 930, 1890, 3810, 7650], abs=10) == times


def test_a_returning_opponent_is_invited_at_once() -> None:
    script = Script().to_lobby(saved=SAVED)
    script.server(who("ford"), TOOK)
    quiet(script, 500)
    assert [] == script.server(BUSY)
    assert ["invite ford"] == script.server(who("ford"))


def test_a_login_without_a_status_line_is_looked_up() -> None:
    script = Script().to_lobby(saved=SAVED)
    assert [] == script.server("7 ford ford logs in.")
    assert ["rawwho"] == script.wait(1.1)
    assert ["invite ford"] == script.server(who("ford"), who(ME), "6")


def test_a_list_of_users_that_does_not_come_is_requested_once_more() -> None:
    script = Script().to_lobby(saved=SAVED)
    script.server("7 ford ford logs in.")
    assert ["rawwho"] == script.wait(1.1)
    assert ["rawwho"] == [line for line in quiet(script, 60) if line == "rawwho"]


def test_a_list_of_users_that_never_comes_is_requested_twice_each_time() -> None:
    script = Script().to_lobby(saved=SAVED)
    script.server("7 ford ford logs in.")
    began, times = script.now, []
    for _ in range(700):
        sent = script.wait(1)
        script.server(*[TIME] * sent.count("time"))
        times += [round(script.now - began)] * sent.count("rawwho")
    assert [1, 9, 317, 325, 633, 641] == times


def test_the_list_of_users_is_refreshed_while_waiting_for_a_player() -> None:
    script = Script().to_lobby(saved=SAVED)
    script.server(BUSY, who("zaphod", "ford"))
    sent: list[str] = []
    while "rawwho" not in sent:
        sent += script.wait(10)
        script.server(TIME)
    assert 1300 == pytest.approx(script.now, abs=11)
    assert ["invite ford"] == script.server(who(ME), who("ford"), "6"), "the line that freed him got lost"
    assert {ME, "ford"} == set(script.agent._connection._lobby.players.users)


def test_a_saved_match_that_is_corrupt_is_forgotten() -> None:
    script = Script().to_lobby(saved=SAVED)
    script.server(who("ford"), TOOK)
    script.server("** ERROR: Saved match is corrupt. Please start another one.")
    assert {} == script.agent._connection.saved_matches.matches


def test_the_list_of_saved_matches_is_asked_for_again_if_it_gets_lost() -> None:
    script = Script()
    script.connect()
    script.raw(b"login: ")
    script.server(f"1 {ME} 1 h", OWN_INFO, "6", "Value of 'boardstyle' set to 3.")
    assert "show saved" in script.sent_so_far
    assert ["set boardstyle 3"] == script.wait(4.1)
    assert ["show saved"] == script.server("Value of 'boardstyle' set to 3.")
    assert ["invite ford"] == invites(script.server(who("ford"), *saved("ford"), TIME))


# -- whose invitation -----------------------------------------------------------------------------------------------


def test_a_waiting_opponent_comes_before_an_unanswered_invitation() -> None:
    script = Script().to_lobby(saved=saved("zaphod", "ford"))
    assert ["invite zaphod"] == script.server(who("zaphod"))
    assert [] == script.server(*RESUME), "one command at a time"
    assert ["invite ford"] == script.server("** You invited zaphod to resume a saved match.")


def test_an_invitation_to_resume_that_we_have_not_made_is_answered_though_ford_seems_busy() -> None:
    script = Script().to_lobby(saved=SAVED)
    script.server(BUSY)
    assert ["invite ford"] == script.server(*RESUME)
    assert [{"by": "ford", "length": None}] == script.events("invitation_accepted")
    assert [{"name": "ford", "length": None, "why": "resume"}] == script.events("inviting")


def test_a_join_that_fails_is_followed_by_our_own_invitation() -> None:
    script = Script().to_lobby(saved=SAVED)
    script.server(who("ford"), TOOK)
    assert ["join ford"] == script.server(*RESUME)
    script.server("** ford didn't invite you.")
    assert ["invite ford"] == script.server(*RESUME)


def leave_swapped(script: Script, length: int) -> None:
    """Accept an invitation that becomes a match of another length, which is left."""
    script.server(*INVITED)
    script.verdict(accepted=True)
    script.wait(1.5)
    assert ["leave"] == script.server(f"** You are now playing a {length} point match with ford")
    script.server("** You terminated the game. The game was saved.")
    assert [] == script.server(who("ford"))


def test_a_match_of_swapped_excessive_length_is_not_resumed() -> None:
    script = Script(policy=Policy(lengths=Lengths(((1, 7),)))).to_lobby()
    leave_swapped(script, 15)
    assert ["tell ford I only play matches of 1 to 7 points."] == script.server(*RESUME)
    script.server("16 ford I play")
    warning = "WARNING: Don't accept if you want to continue the saved 15 point match!"
    assert [] == script.server(*INVITED, warning)
    script.verdict(accepted=True)
    assert ["join ford"] == script.wait(1.5), "a new match may take its place"


def test_a_match_of_swapped_acceptable_length_is_resumed_on_request() -> None:
    script = Script().to_lobby()
    leave_swapped(script, 7)
    assert ["invite ford"] == script.server(*RESUME)


def test_a_match_that_we_began_is_finished_although_its_length_is_no_longer_played() -> None:
    script = Script(policy=Policy(lengths=Lengths(((5, 5),)))).to_my_roll()
    only_short = Policy(lengths=Lengths(((1, 3),)))
    script.agent._connection.context.settings = Script(policy=only_short).agent._connection.context.settings
    script.server("ford drops connection. The game was saved.", "8 ford ford drops connection.")
    assert ["invite ford"] == script.server(who("ford"))
    script.server("ford has joined you. Your running match was loaded.")
    assert [] == script.server(board(cells=AFTER_61, dice="6:4"))


def test_an_unlimited_match_is_resumed_only_if_unlimited_matches_are_played() -> None:
    rows = saved("ford", length="unlimited")
    assert [] == Script().to_lobby(saved=rows).server(who("ford"))
    endless = Policy(lengths=Lengths(unlimited=True))
    assert ["invite ford"] == Script(policy=endless).to_lobby(saved=rows).server(who("ford"))


def test_a_new_match_is_not_joined_while_a_saved_one_is_resumed() -> None:
    script = Script().to_lobby(saved=SAVED)
    script.server(*INVITED)
    script.verdict(accepted=True)
    assert ["invite ford"] == script.wait(1.1)
    script.server(TOOK)
    assert [] == script.wait(20)


def test_a_player_whom_we_may_not_invite_may_still_ask_to_resume() -> None:
    script = Script(policy=Policy(block=(NamePattern("ford", from_them=False),))).to_lobby(saved=SAVED)
    assert [] == script.server(who("ford"))
    assert ["invite ford"] == script.server(*RESUME)


def test_a_status_line_of_a_dropped_opponent_is_ignored() -> None:
    script = Script().to_my_roll()
    script.server(BUSY)
    assert [] == script.server("ford drops connection. The game was saved.", FREE)
    assert [] == invites(script.server("8 ford ford drops connection."))
    assert [] == invites(quiet(script, 10, ford=who("zaphod")))
    assert ["invite ford"] == script.server("7 ford ford logs in.", FREE)


def test_an_opponent_who_reconnects_is_invited_after_a_moment() -> None:
    script = Script().to_my_roll()
    script.server(BUSY)
    assert [] == script.server("Network error with ford. The game was saved.", FREE)
    assert [] == invites(script.wait(0.9))
    assert ["invite ford"] == invites(script.wait(0.2))


# -- an opponent who left -------------------------------------------------------------------------------------------


def after_leave() -> Script:
    script = Script().to_my_roll()
    assert [PROMISE] == script.server(LEFT)
    assert [] == script.server("16 ford You left", who("ford")), "ready at once, and left alone"
    return script


@pytest.mark.parametrize("line", [LEFT, "** Player ford terminated the game. The game was saved."])
def test_an_opponent_who_left_gets_a_message_and_one_invitation_after_five_minutes(line: str) -> None:
    script = Script().to_my_roll()
    assert [PROMISE] == script.server(line)
    script.server("16 ford You left", who("ford"))
    assert [] == invites(quiet(script, 299))
    assert ["invite ford"] == invites(quiet(script, 2))
    script.server(TOOK)
    assert [] == invites(quiet(script, 10_000))


def test_an_opponent_who_left_and_is_busy_is_invited_later() -> None:
    script = after_leave()
    script.server(BUSY)
    assert [] == invites(quiet(script, 400, ford=BUSY))
    assert ["invite ford"] == script.server(FREE)
    assert [] == script.server(TOOK, BUSY, FREE)


def test_an_undelivered_invitation_to_an_opponent_who_left_does_not_count() -> None:
    script = after_leave()
    already = "** ford is already playing with someone else."
    assert ["invite ford"] == invites(quiet(script, 302, took=already))
    assert [] == invites(quiet(script, 20))
    assert ["invite ford"] == invites(quiet(script, 1000)), "the next list of users shows that he is free"


def test_an_opponent_who_left_and_logs_in_again_is_invited_at_once() -> None:
    script = after_leave()
    script.wait(10)
    assert [] == script.server("8 ford ford logs out.", "7 ford ford logs in.")
    assert ["invite ford"] == script.server(who("ford"))


def test_an_opponent_who_left_and_invites_us_is_invited_at_once() -> None:
    script = after_leave()
    assert ["invite ford"] == script.server(*RESUME)


def test_an_opponent_who_left_is_remembered_when_our_connection_breaks() -> None:
    script = after_leave()
    script.wait(100)
    script.lose()
    script.to_lobby(saved=SAVED)
    assert [] == script.server(who("ford"))
    assert ["invite ford"] == invites(quiet(script, 202))


def test_an_opponent_who_leaves_repeatedly_gets_one_message() -> None:
    script = after_leave()
    assert ["invite ford"] == script.server(*RESUME)
    script.server("ford has joined you. Your running match was loaded.", board(cells=AFTER_61))
    assert [] == [line for line in script.server(LEFT) if "tell" in line]


def test_an_opponent_whom_we_will_not_play_gets_no_promise() -> None:
    script = Script().to_my_roll()
    blocking = Policy(block=(NamePattern("ford"),))
    script.agent._connection.context.settings = Script(policy=blocking).agent._connection.context.settings
    assert [] == script.server(LEFT, who("ford"))
    assert [] == invites(quiet(script, 1000))
    assert State.LOBBY is script.agent.state


@pytest.mark.parametrize("mine", [True, False], ids=["our double", "the opponent's double"])
def test_a_pending_double_in_a_resumed_match_is_not_a_difference(*, mine: bool) -> None:
    script = Script().to_lobby(saved=SAVED)
    script.server(who("ford"), "** You invited ford to resume a saved match.")
    script.server("ford has joined you. Your running match was loaded.")
    # The board shows the turn of the player who has to answer.
    script.server(board(score="1:3", cells=AFTER_61, turn=-1 if mine else 1, may="0:0"))
    script.server(
        "You double. Please wait for ford to accept or reject." if mine else "ford doubles. Type 'accept' or 'reject'."
    )
    assert 0 == script.agent.counters.differences
    if mine:
        script.server("ford accepts the double. The cube shows 2.", "You roll 6 and 4.")
        assert 0 == script.agent.counters.differences
    else:
        assert ["accept"] == script.cube(CubeAction.TAKE)


def test_an_opponent_who_does_not_resume_for_some_minutes_is_not_invited_before() -> None:
    script = Script(strict=False).to_lobby(saved=SAVED)
    script.server("12 ford I will not attempt to resume for 5 minutes.")
    assert [] == [line for line in script.server(who("ford")) if line.startswith("invite")]
    said = []
    for _ in range(31):
        said += script.wait(10)
        for line in list(script.sent_so_far[-2:]):
            script.server(*{"time": [TIME], "rawwho": [who("ford"), "6"]}.get(line.split()[0], []))
        if script.now < 1000 + 299:
            assert "invite ford" not in said
    assert "invite ford" in script.sent_so_far


def test_an_opponent_who_asks_to_resume_after_all_does_not_have_to_wait() -> None:
    script = Script(strict=False).to_lobby(saved=SAVED)
    script.server("12 ford I will not attempt to resume for 5 minutes.", FREE, *RESUME)
    assert ["invite ford"] == script.server("** ford is already playing with someone else.", BUSY)
    assert [] == invites(quiet(script, 20, ford=BUSY))
    assert ["invite ford"] == script.server(FREE)


def test_the_match_that_is_being_played_is_not_counted_as_saved() -> None:
    script = Script(strict=False).to_lobby(saved=(*SAVED, "  zaphod  3  0 -  1"))
    assert 2 == script.agent.status.saved
    script.server("ford has joined you. Your running match was loaded.", board(score="1:3"))
    assert 1 == script.agent.status.saved
