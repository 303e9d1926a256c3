"""The bot and matches by other laws than those of FIBS: invitations, the first roll, what a game counts."""

from __future__ import annotations

from typing import Any

import pytest

from fibsbot.bot.events_and_actions import SettingsChanged
from fibsbot.bot.settings import Timings
from fibsbot.policy import Policy
from fibsbot.strategies.questions import PlayQuestion, RejectRollAnswer
from tests.bot.agent_script import ME, Script, board
from tests.bot.live_bots import agent_settings
from tests.bot.lobby_lines import who

LAWS = "The match is played by laws {} (in plain words)."
INVITED = "ford wants to play a 5 point match with you."
HINT = "Type 'join ford' to accept."
ANY = Policy(laws=("any",))


KNOWN = "You will be shown invitations to matches by other laws than those of FIBS."


def in_lobby(policy: Policy, **settings: Any) -> Script:
    """Return an agent in the lobby, which has said that it knows other laws."""
    return Script(policy=policy, **settings).to_lobby()


def begun(words: str, *, dice: tuple[int, int] = (6, 4), **settings: Any) -> Script:
    """Return a match with ford by these laws, in which we have the first move."""
    script = in_lobby(ANY, **settings)
    script.server(INVITED, LAWS.format(words), HINT)
    script.verdict(accepted=True)
    script.wait(2)
    script.server("** You are now playing a 5 point match with ford", LAWS.format(words))
    script.server("Starting a new game with ford.", f"You rolled {dice[0]}, ford rolled {dice[1]}")
    return script


def test_a_bot_asks_for_other_laws_only_if_it_plays_by_any() -> None:
    assert "laws on" not in Script().to_lobby().sent_so_far
    assert "laws on" in Script(policy=Policy(laws=("1931",))).to_lobby().sent_so_far
    assert "laws on" in Script(invite_laws="1931 point").to_lobby().sent_so_far


def test_a_bot_asks_for_other_laws_and_games_when_its_settings_name_them() -> None:
    script = Script().to_lobby()
    policy = Policy(laws=("1931",), games=("plakoto",))
    settings = agent_settings(ME, "pass:word", policy=policy, timings=Timings(pause=0))
    assert ["laws on"] == script.event(SettingsChanged(script.now, settings))
    assert ["set games on"] == script.server(KNOWN)
    assert [] == script.server("Value of 'games' set to on.")
    assert [] == script.event(SettingsChanged(script.now, settings)), "it has asked"
    script.lose()
    assert [] == script.event(SettingsChanged(script.now, agent_settings(ME, "pass:word")))
    assert [] == script.event(SettingsChanged(script.now, settings)), "it asks after the login"


def test_an_invitation_by_laws_that_the_policy_names_is_joined() -> None:
    script = in_lobby(Policy(laws=("1931 point",)))
    script.server(who("ford"), INVITED, LAWS.format("1931 POINT"), HINT)
    script.verdict(accepted=True)
    assert ["join ford"] == script.wait(1.5)


@pytest.mark.parametrize("named", ["1931 add-one", "1931 add-one limit 8", "1931 limit 6 add-one"])
def test_the_limit_of_the_server_for_ties_that_add_one_makes_no_other_laws(named: str) -> None:
    script = in_lobby(Policy(laws=(named,)))
    script.server(who("ford"), INVITED, LAWS.format("1931 add-one limit 6"), HINT)
    script.verdict(accepted=True)
    assert ["join ford"] == script.wait(1.5)


def test_the_inviter_plays_by_the_laws_with_the_limit_of_the_server() -> None:
    script = in_lobby(Policy(), invite="ford", invite_length=7, invite_laws="1931 add-one")
    script.server("** Player ford has joined you for a 7 point match.", LAWS.format("1931 add-one limit 6"))
    assert [] == script.events("laws_swapped")


@pytest.mark.parametrize(
    ("policy", "words", "sentence"),
    [
        (Policy(), "1931", "I only play by the laws of FIBS."),
        (
            Policy(laws=("1931 add-one limit 4",)),
            "1931 add-one limit 6",
            "I only play by the laws of FIBS, or by laws 1931 add-one limit 4.",
        ),
        (Policy(laws=("1931 point",)), "1931", "I only play by the laws of FIBS, or by laws 1931 point."),
        (ANY, "of the jungle", "I only play by the laws of FIBS, or by laws any."),
    ],
)
def test_other_laws_are_declined_with_a_sentence(policy: Policy, words: str, sentence: str) -> None:
    script = in_lobby(policy)
    script.server(who("ford"), INVITED)
    assert [f"tell ford {sentence}"] == script.server(LAWS.format(words))
    assert ["laws"] == script.events("invitation_refused")[0]["codes"]
    assert "join ford" not in script.wait(5)


def test_a_match_by_laws_that_were_not_agreed_on_is_left() -> None:
    script = in_lobby(Policy(laws=("1931",)))
    script.server(who("ford"), INVITED, HINT)
    script.verdict(accepted=True)
    script.wait(2)
    script.server("** You are now playing a 5 point match with ford")
    assert ["leave"] == script.server(LAWS.format("1970 double"))
    assert [{"opponent": "ford", "laws": "1970 double"}] == [
        {key: it[key] for key in ("opponent", "laws")} for it in script.events("laws_swapped")
    ]


def test_the_bot_invites_by_the_laws_of_its_settings() -> None:
    script = in_lobby(Policy(), invite="ford", invite_length=7, invite_laws="1931 point")
    script.server(who("ford"), "6")
    assert "invite ford 7 laws 1931 point" in script.sent_so_far


def test_a_decision_shows_the_strategy_what_a_game_counts() -> None:
    script = begun("1931 point no-triple no-cube")
    script.server("It's your turn to move.", board(dice="6:4"))
    state = script.questions[0].question.state  # type: ignore[attr-defined]
    assert (True, False, True, False) == (state.point_game, state.triple, state.cubeless, state.crawford)


def test_without_the_crawford_rule_nobody_plays_a_crawford_game() -> None:
    script = begun("1931", strict=False)

    script.server("It's your turn to move.", board(dice="6:4", score="4:1"))
    assert not script.questions[0].question.state.crawford  # type: ignore[attr-defined]


def test_the_first_roll_is_rejected_where_the_strategy_wants_it() -> None:
    script = begun("modern reject")
    script.server("It's your turn to move.", "You may reject this roll: type 'rethrow', and the cube shows 2.")
    script.server(board(dice="6:4"))
    question = script.questions[0].question
    assert isinstance(question, PlayQuestion)
    assert question.state.may_reject
    assert ["rethrow"] == script.answer(RejectRollAnswer())
    script.server("You reject the roll. The cube shows 2.", "You roll 3 and 1.", board(dice="3:1", cube=2))
    question = script.questions[0].question
    assert isinstance(question, PlayQuestion)
    assert (False, 2, (3, 1)) == (question.state.may_reject, question.state.cube, question.state.dice)
    assert script.first_play()[0].startswith("move ")
    assert 0 == script.agent.counters.differences


def test_the_opponent_s_rejected_roll_raises_the_cube() -> None:
    script = begun("modern reject", dice=(4, 6))
    script.server("ford makes the first move.", board(turn=-1, other_dice="6:4"))
    script.server("ford rejects the roll. The cube shows 2.", "ford rolls 3 and 1.")
    script.server(board(turn=-1, other_dice="3:1", cube=2))
    state = script.agent.tracked.state
    assert state is not None
    assert 2 == state.cube
    assert 0 == script.agent.counters.differences
