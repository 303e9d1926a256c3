"""Whom the agent invites, whose invitation it accepts, and how a saved match is taken up again."""

from __future__ import annotations

import pytest

from fibsbot.bot.questions import AcceptInvitation
from fibsbot.policy import Lengths, Policy
from fibsbot.strategies.base import Opponent
from protocol.session import State
from tests.bot.script import AFTER_61, ME, Script, board

SAVED = ("  opponent          matchlength   score (your points first)", " *ford                5              1 -  3")
INVITED = ("ford wants to play a 5 point match with you.", "Type 'join ford' to accept.")
RESUME = ("ford wants to resume a saved match with you.", "Type 'join ford' to accept.")


def who(name: str, opponent: str = "-", *, ready: bool = True) -> str:
    return f"5 {name} {opponent} - {int(ready)} 0 1623.45 2396 0 1 h client -"


# -- being invited --------------------------------------------------------------------------------------------------


def test_an_invitation_is_joined_after_the_time_for_its_third_line() -> None:
    script = Script().to_lobby()
    script.server(who("ford"))
    assert [] == script.server(*INVITED)
    expected = AcceptInvitation(Opponent("ford", 1623.45, 2396, "client"), 5)
    assert expected == script.questions[0].question
    assert [] == script.verdict(accepted=True)
    assert [] == script.wait(0.9)
    assert ["join ford"] == script.wait(0.2)


def test_joining_would_throw_a_saved_match_away_so_it_is_resumed() -> None:
    script = Script().to_lobby()
    warning = "WARNING: Don't accept if you want to continue the saved 3 point match!"
    assert ["invite ford"] == script.server(*INVITED, warning)
    assert [] == script.verdict(accepted=True)
    assert [] == script.wait(5)
    assert 1 == script.agent.counters.late_answers


def test_an_opponent_of_a_saved_match_gets_no_new_one() -> None:
    script = Script().to_lobby(saved=SAVED)
    script.server(*INVITED)
    script.verdict(accepted=True)
    assert ["invite ford"] == script.wait(1.5)


@pytest.mark.parametrize(
    ("length", "sentence"),
    [("a 9 point", "I play matches of 3 to 7 points."), ("a 1 point", "I play matches of 3 to 7 points.")],
)
def test_an_invitation_beyond_our_limits_is_refused_with_a_sentence(length: str, sentence: str) -> None:
    script = Script(policy=Policy(lengths=Lengths(((3, 7),)))).to_lobby()
    assert [f"tell ford {sentence}"] == script.server(f"ford wants to play {length} match with you.")
    assert [] == script.questions


def test_the_sentence_is_told_once_in_a_while_only() -> None:
    script = Script(policy=Policy(lengths=Lengths(((1, 3),)))).to_lobby()
    assert 1 == len(script.server(*INVITED))
    script.server("16 ford I play")
    assert [] == script.server(*INVITED)
    script.wait(301)
    assert any("tell ford" in line for line in [*script.server(*INVITED), *script.server("Monday, x")])


def test_the_strategy_may_refuse() -> None:
    script = Script().to_lobby()
    script.server(*INVITED)
    assert ["tell ford Not now, sorry."] == script.verdict(accepted=False)
    assert [] == script.wait(5)


def test_unlimited_matches_are_played_if_that_is_wanted() -> None:
    script = Script(policy=Policy(lengths=Lengths(unlimited=True))).to_lobby()
    script.server("ford wants to play an unlimited match with you.")
    script.verdict(accepted=True)
    assert ["join ford"] == script.wait(1.5)


def test_an_answer_to_an_invitation_that_is_gone_is_dropped() -> None:
    script = Script().to_lobby()
    script.server(*INVITED, "8 ford ford logs out.")
    assert [] == script.verdict(accepted=True)
    assert [] == script.wait(5)


@pytest.mark.parametrize(
    "refusal",
    [
        "** ford didn't invite you.",
        "** Error: can't find player ford",
        "** Error: ford is already playing with someone else.",
        "** ERROR: Saved match is corrupt. Please start another one.",
    ],
)
def test_a_join_that_is_refused_is_given_up(refusal: str) -> None:
    script = Script().to_lobby()
    script.server(*INVITED)
    script.verdict(accepted=True)
    assert ["join ford"] == script.wait(1.5)
    assert [] == script.server(refusal)
    assert [] == script.wait(60)


def test_invitations_are_not_counted_without_end() -> None:
    script = Script().to_lobby()
    for number in range(200):
        script.server(f"x{'a' * (number % 15)}{'b' * (number // 15)} wants to play a 5 point match with you.")
    assert 100 == len(script.questions)


# -- inviting -------------------------------------------------------------------------------------------------------


def test_whom_the_settings_name_is_invited_as_soon_as_he_is_free() -> None:
    script = Script(invite="ford", length=3).to_lobby()
    assert [] == script.server(who("ford", ready=False))
    assert [] == script.server(who("ford", "trillian"))
    assert ["invite ford 3"] == script.server(who("ford"))


def test_nobody_is_invited_again_and_again() -> None:
    script = Script(invite="ford").to_lobby()
    assert ["invite ford 1"] == script.server(who("ford"))
    script.server("** You invited ford to a 1 point match.")
    assert [] == script.wait(29)
    assert [] == script.server(who("ford"))
    assert ["invite ford 1"] == script.wait(2)


def test_an_unlimited_invitation_is_written_so() -> None:
    script = Script(invite="ford", length=5).to_lobby()
    assert ["invite ford 5"] == script.server(who("ford"))
    assert [] == script.server("** ford is refusing games.")


# -- saved matches --------------------------------------------------------------------------------------------------


def test_a_saved_match_is_resumed_when_its_opponent_is_there() -> None:
    script = Script(invite="trillian").to_lobby(saved=SAVED)
    assert ["invite ford"] == script.server(who("ford"))
    script.server("** You invited ford to resume a saved match.")
    assert ["board"] == script.server("ford has joined you. Your running match was loaded.")
    assert [] == script.server(board(score="1:3", cells=AFTER_61, dice="6:4"))
    known = {"rating": 1623.45, "experience": 2396, "client": "client"}
    assert {"opponent": "ford", "length": None, "resumed": True, **known} == script.events("match_started")[0]


def test_a_saved_match_longer_than_our_limit_is_finished_if_points_were_played_for() -> None:
    only_short = Policy(lengths=Lengths(((1, 3),)))
    assert ["invite ford"] == Script(policy=only_short).to_lobby(saved=SAVED).server(who("ford"))
    swapped_in = (SAVED[0], SAVED[1].replace("1 -  3", "0 -  0"))
    assert [] == Script(policy=only_short).to_lobby(saved=swapped_in).server(who("ford"))


def test_an_invitation_to_resume_is_answered_with_our_own() -> None:
    script = Script().to_lobby(saved=SAVED)
    assert ["invite ford"] == script.server(*RESUME)


def test_of_two_who_invite_each_other_the_one_whom_the_server_heard_first_joins() -> None:
    first = Script().to_lobby(saved=SAVED)
    assert ["invite ford"] == first.server(who("ford"))
    assert ["join ford"] == first.server("** You invited ford to resume a saved match.", *RESUME)
    second = Script().to_lobby(saved=SAVED)
    assert ["invite ford"] == second.server(who("ford"))
    assert [] == second.server(*RESUME, "** You invited ford to resume a saved match.")


def test_a_match_that_does_not_exist_is_forgotten() -> None:
    script = Script().to_lobby(saved=SAVED)
    assert ["invite ford"] == script.server(who("ford"))
    script.server("** There's no saved match with ford. Please give a match length.")
    assert [] == script.wait(100)


def test_a_match_of_swapped_length_is_left() -> None:
    script = Script().to_lobby()
    script.server(*INVITED)
    script.verdict(accepted=True)
    script.wait(1.5)
    sent = script.server("** You are now playing a 15 point match with ford", "Starting a new game with ford.")
    assert ["leave"] == sent
    assert {"opponent": "ford", "agreed": 5, "length": 15} == script.events("length_swapped")[0]


def test_a_resumed_match_beyond_our_limits_is_left() -> None:
    script = Script(policy=Policy(lengths=Lengths(((1, 7),)))).to_lobby()
    assert ["invite ford"] == script.server(*RESUME)
    assert ["board"] == script.server("ford has joined you. Your running match was loaded.")
    assert ["leave"] == script.server(board(length=9, cells=AFTER_61, dice="6:4"))
    assert [] == script.server("** You terminated the game. The game was saved.")
    assert State.LOBBY is script.agent.state


def test_a_match_that_the_opponent_left_is_resumed_when_he_is_back() -> None:
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


def test_after_the_last_match_it_logs_out() -> None:
    script = Script(matches=1).to_my_roll()
    assert ["bye"] == script.server("ford gives up. You win 5 points.", "You win the 5 point match 5-0 .")
    assert (1, 1) == (script.agent.counters.matches, script.agent.counters.wins)
    assert State.LOBBY is script.agent.state


def test_the_rest_of_a_match_is_played_before_the_end() -> None:
    script = Script().to_my_roll()
    assert [] == script.finish()
    assert ["roll"] == script.roll()
    script.server("ford gives up. You win 1 point.", f"score in 5 point match: {ME}-1 ford-0")
    assert ["join"] == script.server("Type 'join' if you want to play the next game, type 'leave' if you don't.")
    script.server("Starting a new game with ford.", "ford wins the game and gets 5 points. Sorry.")
    assert ["bye"] == script.server("ford wins the 5 point match 5-1 .")


# -- the list of saved matches ---------------------------------------------------------------------------------------


def test_the_saved_matches_are_told_once_their_list_is_whole() -> None:
    script = Script().to_lobby(saved=(*SAVED, "**arthur              7              0 -  2"))
    script.server("7 zaphod zaphod logs in.")
    assert [{"opponents": ["ford", "arthur"]}] == script.events("saved_matches")


def test_that_there_is_no_saved_match_is_told_too() -> None:
    assert [{"opponents": []}] == Script().to_lobby().events("saved_matches")


def test_a_list_that_the_connection_cut_off_is_not_told() -> None:
    script = Script().to_lobby()
    script.server(*SAVED)
    script.lose()
    script.connect()
    assert [{"opponents": []}] == script.events("saved_matches")
