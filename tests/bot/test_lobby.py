"""Invitations that the agent accepts, and those that it sends because of its settings."""

from __future__ import annotations

import pytest

from fibs_protocol.session import State
from fibsbot.bot.events_and_actions import FinishRequested, PauseRequested
from fibsbot.bot.settings import ChatSettings
from fibsbot.policy import Lengths, NamePattern, Policy
from fibsbot.strategies.base import Opponent
from fibsbot.strategies.questions import AcceptAnswer, InvitationQuestion
from tests.bot.agent_script import ME, Script
from tests.bot.lobby_lines import INVITED, SAVED, who

# -- invitations of others ------------------------------------------------------------------------------------------


def test_an_invitation_is_joined_after_the_time_for_its_third_line() -> None:
    script = Script().to_lobby()
    script.server(who("ford"))
    assert [] == script.server(*INVITED)
    expected = InvitationQuestion(Opponent("ford", 1623.45, 2396, "client"), 5)
    assert expected == script.questions[0].question
    assert [] == script.verdict(accepted=True)
    assert [] == script.wait(0.9)
    assert ["join ford"] == script.wait(0.2)


def test_a_saved_match_is_resumed_instead_of_discarded() -> None:
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
    [("a 9 point", "I only play matches of 3 to 7 points."), ("a 1 point", "I only play matches of 3 to 7 points.")],
)
def test_an_invitation_beyond_our_limits_is_refused_with_a_sentence(length: str, sentence: str) -> None:
    script = Script(policy=Policy(lengths=Lengths(((3, 7),)))).to_lobby()
    assert [f"tell ford {sentence}"] == script.server(f"ford wants to play {length} match with you.")
    assert [] == script.questions


def test_a_refusal_is_explained_once_per_window() -> None:
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


def test_the_refusal_of_a_strategy_is_sent_as_one_plain_line() -> None:
    script = Script().to_lobby()
    script.server(*INVITED)
    assert ["tell ford Not on ? a *full moon*, sorry."] == script.answer(
        AcceptAnswer(accepted=False, reason="Not on \u263e\r\na **full moon**, sorry.")
    )
    assert {"code": "strategy", "codes": ["strategy"]}.items() <= script.events("invitation_refused")[0].items()


def test_unlimited_matches_are_played_if_enabled() -> None:
    script = Script(policy=Policy(lengths=Lengths(unlimited=True))).to_lobby()
    script.server("ford wants to play an unlimited match with you.")
    script.verdict(accepted=True)
    assert ["join ford"] == script.wait(1.5)


def test_an_answer_to_a_withdrawn_invitation_is_dropped() -> None:
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
def test_a_refused_join_is_not_repeated(refusal: str) -> None:
    script = Script().to_lobby()
    script.server(*INVITED)
    script.verdict(accepted=True)
    assert ["join ford"] == script.wait(1.5)
    assert [] == script.server(refusal)
    assert [] == script.wait(60)


def test_the_number_of_remembered_invitations_is_bounded() -> None:
    script = Script().to_lobby()
    for number in range(200):
        script.server(f"x{'a' * (number % 15)}{'b' * (number // 15)} wants to play a 5 point match with you.")
    assert 100 == len(script.questions)


# -- the policy -----------------------------------------------------------------------------------------------------


def test_all_reasons_for_a_refusal_are_recorded_and_the_first_is_sent() -> None:
    policy = Policy(lengths=Lengths(((1, 3),)), min_rating=1700, max_experience=2000, bots=False)
    script = Script(policy=policy).to_lobby()
    script.server(who("ford", client="fibsbot_0.2"))
    assert ["tell ford I only play people, not bots."] == script.server(*INVITED)
    expected = {
        "by": "ford",
        "length": 5,
        "reason": "I only play people, not bots.",
        "code": "bot",
        "codes": ["bot", "length", "rating_low", "experience_high"],
    }
    assert [expected] == script.events("invitation_refused")


def test_unknown_facts_are_no_reason_to_refuse() -> None:
    script = Script(policy=Policy(min_rating=1700, min_experience=9999, max_saved_games=None)).to_lobby()
    script.server(*INVITED)
    assert 1 == len(script.questions), "there was no `5` line about ford"


def test_an_invitation_is_recorded_when_it_is_accepted() -> None:
    script = Script().to_lobby()
    script.server(*INVITED)
    assert [] == script.events("invitation_accepted")
    script.verdict(accepted=True)
    assert [{"by": "ford", "length": 5}] == script.events("invitation_accepted")


def test_no_new_match_begins_during_a_pause() -> None:
    script = Script(invite="arthur").to_lobby()
    script.event(PauseRequested(script.now, paused=True))
    assert [] == script.server(who("arthur"))
    assert ["tell ford I'm taking a break and not starting new matches. Please try again later."] == script.server(
        *INVITED
    )
    assert ["invite arthur 1"] == script.event(PauseRequested(script.now, paused=False)) + script.server("16 ford I am")


def test_invitations_are_refused_before_logging_out() -> None:
    script = Script().to_lobby()
    assert ["bye"] == script.event(FinishRequested(script.now))
    assert [] == script.server(*INVITED)
    assert ["finishing"] == [event["code"] for event in script.events("invitation_refused")]


def test_after_a_match_the_same_opponent_has_a_cool_down() -> None:
    script = Script(policy=Policy(cool_down=600, max_per_day=2)).to_my_roll()
    script.questions.clear()
    script.server("ford gives up. You win 5 points.", "You win the 5 point match 5-0 .")
    assert ["tell ford We've just played. I can play you again in 10 minutes."] == script.server(*INVITED)
    script.server("16 ford We")
    assert [] == script.server("zaphod wants to play a 5 point match with you.")
    assert [InvitationQuestion(Opponent("zaphod"), 5)] == [ask.question for ask in script.questions]
    script.wait(601)
    script.questions.clear()
    script.server(*INVITED)
    assert 1 == len(script.questions)


def test_the_number_of_matches_per_day_is_limited() -> None:
    script = Script(policy=Policy(max_per_day=2)).to_lobby()
    memory = script.agent._connection.context.memory
    memory.load("ford", matches=[script.now - 86_399, script.now - 86_401, script.now - 10])
    assert ["max_per_day"] == [
        event["code"] for _ in script.server(*INVITED) for event in script.events("invitation_refused")
    ]
    script.wait(2)
    script.server(*INVITED)
    assert 1 == len(script.questions)


@pytest.mark.parametrize("rule", ["ford", "f*:from"])
def test_a_blocked_player_gets_neither_new_nor_saved_matches(rule: str) -> None:
    script = Script(policy=Policy(block=(NamePattern.parse(rule),))).to_lobby(saved=SAVED)
    assert ["tell ford My operator doesn't want me to play you, sorry."] == script.server(*INVITED)
    script.server("16 ford My")
    assert [] == script.server("ford wants to resume a saved match with you.")
    expected = [("blocked", 5), ("blocked", None)]
    assert expected == [(event["code"], event["length"]) for event in script.events("invitation_refused")]


def test_repeated_invitations_get_one_reply_per_chat_window() -> None:
    script = Script(policy=Policy(accept=False), chat=ChatSettings(greet=False, window=60)).to_lobby()
    sent = []
    for _ in range(25):
        sent += script.server(*INVITED, "16 ford I accept")
        script.wait(5)
    assert ["tell ford I'm not accepting invitations at the moment."] * 3 == [line for line in sent if "tell" in line]


def test_a_different_reason_is_sent_at_once() -> None:
    script = Script(
        policy=Policy(lengths=Lengths(((1, 7),)), max_rating=1600), chat=ChatSettings(greet=False)
    ).to_lobby()
    script.server(who("ford"))
    long = "ford wants to play a 9 point match with you."
    assert ["tell ford I only play matches of 1 to 7 points."] == script.server(long)
    assert [] == script.server("16 ford ...", long)
    assert ["tell ford I only play opponents rated at most 1600; your rating is 1623.45."] == script.server(*INVITED)


# -- saved games of the inviter -------------------------------------------------------------------------------------


def few_saved_games(**policy: object) -> Script:
    return Script(policy=Policy(max_saved_games=8, **policy)).to_lobby()  # type: ignore[arg-type]  # its keywords


@pytest.mark.parametrize(
    ("said", "asked"), [("8 saved games", True), ("9 saved games", False), ("no saved games", True)]
)
def test_the_inviters_saved_games_are_asked_for_first(said: str, *, asked: bool) -> None:
    script = few_saved_games()
    assert ["show savedcount ford"] == script.server(*INVITED)
    assert [] == script.questions
    sent = script.server(f"ford has {said}.")
    assert asked == bool(script.questions)
    refusal = "tell ford You have 9 saved games, and I only play opponents with at most 8. Please finish some first."
    assert ([] if asked else [refusal]) == sent


def test_saved_games_are_not_requested_if_another_rule_refuses() -> None:
    script = few_saved_games(lengths=Lengths(((1, 3),)))
    assert ["tell ford I only play matches of 1 to 3 points."] == script.server(*INVITED)


@pytest.mark.parametrize("answer", [None, "** There is no one called ford.", "** Unknown command: 'show'"])
def test_unknown_saved_games_are_not_checked(answer: str | None) -> None:
    script = few_saved_games()
    script.server(*INVITED)
    if answer:
        script.server(answer)
    else:
        script.wait(8.1)
    assert 1 == len(script.questions)
    assert ["join ford"] == script.verdict(accepted=True) + script.wait(1)


def test_the_saved_count_of_another_player_is_ignored() -> None:
    script = few_saved_games()
    script.server(*INVITED)
    script.server("zaphod has 1 saved game.", "zaphod has 99 saved games.")
    assert [] == script.questions
    assert [] == script.events("invitation_refused")


# -- inviting -------------------------------------------------------------------------------------------------------


def test_the_configured_player_is_invited_when_free() -> None:
    script = Script(invite="ford", length=3).to_lobby()
    assert [] == script.server(who("ford", ready=False))
    assert [] == script.server(who("ford", "trillian"))
    assert ["invite ford 3"] == script.server(who("ford"))


def test_the_same_player_is_not_invited_repeatedly() -> None:
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


def test_a_match_of_swapped_length_is_left() -> None:
    script = Script().to_lobby()
    script.server(*INVITED)
    script.verdict(accepted=True)
    script.wait(1.5)
    sent = script.server("** You are now playing a 15 point match with ford", "Starting a new game with ford.")
    assert ["leave"] == sent
    assert {"opponent": "ford", "agreed": 5, "length": 15} == script.events("length_swapped")[0]


def test_only_our_own_invitation_agrees_to_the_length_of_a_match_that_we_invited_to() -> None:
    script = Script(invite="ford", length=5).to_lobby()
    assert ["invite ford 5"] == script.server(who("ford"))
    script.server("** You invited ford to a 5 point match.")
    assert ["leave"] == script.server("** Player ford has joined you for a 3 point match.")
    assert [{"opponent": "ford", "agreed": 5, "length": 3}] == script.events("length_swapped")


def test_the_bot_logs_out_after_the_last_match() -> None:
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


def test_the_saved_matches_are_recorded_once_the_list_is_complete() -> None:
    script = Script().to_lobby(saved=(*SAVED, "**arthur              7              0 -  2"))
    script.server("7 zaphod zaphod logs in.")
    assert [{"opponents": ["ford", "arthur"]}] == script.events("saved_matches")


def test_an_empty_list_of_saved_matches_is_recorded() -> None:
    assert [{"opponents": []}] == Script().to_lobby().events("saved_matches")


def test_an_incomplete_list_of_saved_matches_is_not_recorded() -> None:
    script = Script().to_lobby()
    script.server(*SAVED)
    script.lose()
    script.connect()
    assert [{"opponents": []}] == script.events("saved_matches")
